"""The choice among all that was cross-fitted, by the measure itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve.estimators.sieve.calibration import Sigmoid, fit_sigmoid
from scoresieve.estimators.sieve.cross_fitting import Plan
from scoresieve.measures import Measure
from scoresieve.solvers.row_weights import apply_weights

#: Settings whose measures differ by less than this share of a standard error are equally good.
SHARE_OF_ERROR = 0.25


class Judged(NamedTuple):
    """What the measure says of cross-fitted scores.

    Attributes
    ----------
    scores : ndarray of shape (selections, ks, finals)
        The measure of all rows together, each scored by a model that has not seen it, at the
        threshold that is best for them.
    errors : ndarray of the same shape
        Its standard error, by leaving out one part of the rows after the other.
    """

    scores: FloatArray
    errors: FloatArray


@dataclass(frozen=True, eq=False)
class Judge:
    """The measure of scores of some rows, each as often as it counts.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        In {-1, +1}.
    weights : ndarray of shape (n_samples,) or None
    part_of : ndarray of int of shape (n_samples,)
        The part in which each row was held out.
    """

    measure: Measure
    y: FloatArray
    weights: FloatArray | None
    part_of: IntArray

    def judged(self, scores: FloatArray) -> Judged:
        """The measure and its standard error of every setting.

        Parameters
        ----------
        scores : ndarray of shape (selections, ks, finals, n_samples)
        """
        flat = scores.reshape(-1, scores.shape[-1])
        found = np.array([self.at_best(row) for row in flat])
        errors = np.array([self.jackknife_error(row) for row in flat])
        return Judged(found.reshape(scores.shape[:-1]), errors.reshape(scores.shape[:-1]))

    def at_best(self, scores: FloatArray) -> float:
        """The measure at the threshold that is best for it on these rows."""
        measure, y, scores = self._counted(scores)
        return measure.score(y, scores - measure.threshold(y, scores))

    def threshold(self, scores: FloatArray) -> float:
        """A threshold that is almost the best on these rows, and steady."""
        measure, y, scores = self._counted(scores)
        return measure.steady_threshold(y, scores)

    def jackknife_error(self, scores: FloatArray) -> float:
        """``sqrt((F - 1) / F sum_f (s_f - mean)^2)``, s_f the measure without part f.

        A number k of alarms is lowered to the share of the rows that are left.
        """
        without = []
        for part in np.unique(self.part_of):
            kept = self.part_of != part
            if np.any(self.y[kept] != self.y[kept][0]):
                without.append(self._of_rows(kept).at_best(scores[kept]))
        if len(without) < 2:
            return 0.0
        spread = np.square(np.array(without) - np.mean(without)).sum()
        return float(np.sqrt((len(without) - 1) / len(without) * spread))

    def _of_rows(self, rows: BoolArray) -> Judge:
        weights = None if self.weights is None else self.weights[rows]
        share = np.count_nonzero(rows) / rows.size
        return Judge(self.measure.of_share(share), self.y[rows], weights, self.part_of[rows])

    def _counted(self, scores: FloatArray) -> tuple[Measure, FloatArray, FloatArray]:
        """The measure with the weights that it takes, and rows repeated for one that takes none."""
        scores, y, weights = apply_weights(self.measure, scores, self.y, self.weights)
        return self.measure if weights is None else self.measure.weighted(weights), y, scores


@dataclass(frozen=True, eq=False)
class Panel:
    """The judges of several rounds, in each of which every row is held out once: their means."""

    judges: list[Judge]

    @property
    def y(self) -> FloatArray:
        """The labels, in {-1, +1}."""
        return self.judges[0].y

    def judged(self, scores: FloatArray) -> Judged:
        """The measure and its standard error of every setting.

        The error is that of one round: another round has the same rows.

        Parameters
        ----------
        scores : ndarray of shape (selections, ks, finals, n_rounds, n_samples)
        """
        of_rounds = [judge.judged(scores[..., at, :]) for at, judge in enumerate(self.judges)]
        return Judged(*(np.mean(each, axis=0) for each in zip(*of_rounds, strict=True)))

    def threshold(self, scores: FloatArray) -> float:
        """The mean of thresholds that are almost the best in each round, and steady.

        Parameters
        ----------
        scores : ndarray of shape (n_rounds, n_samples)
        """
        pairs = zip(self.judges, scores, strict=True)
        return float(np.mean([judge.threshold(row) for judge, row in pairs]))

    def sigmoid(self, scores: FloatArray) -> Sigmoid:
        """The odds of the scores of all rounds together, of shape (n_rounds, n_samples)."""
        n_rounds, weights = len(self.judges), self.judges[0].weights
        weights = None if weights is None else np.tile(weights, n_rounds)
        return fit_sigmoid(np.tile(self.y, n_rounds), scores.ravel(), weights)


def best_of_each_size(judged: Judged) -> list[tuple[int, int]]:
    """Selection and final model for each number of features, see :func:`best_setting`."""
    n_sizes = judged.scores.shape[1]
    return [best_setting(judged.scores[:, k], judged.errors[:, k]) for k in range(n_sizes)]


def best_setting(scores: FloatArray, errors: FloatArray) -> tuple[int, int]:
    """The first whose measure is within a quarter of a standard error of the highest.

    Own models come first, and of them selections in their order, losses with the smallest C: where
    positives are few, scores say little, and what was held back more is better on other rows.

    Parameters
    ----------
    scores, errors : ndarray of shape (selections, finals)
        Selections in the order of the plan, those of a loss by ascending C.
    """
    top = np.unravel_index(int(np.argmax(scores)), scores.shape)
    is_as_good = scores >= scores[top] - SHARE_OF_ERROR * errors[top]
    final, selection = np.argwhere(is_as_good.T)[0]
    return int(selection), int(final)


def one_standard_error(scores: FloatArray, errors: FloatArray) -> int:
    """The first, smallest, size whose score is within one standard error of the best."""
    best = int(np.argmax(scores))
    return int(np.flatnonzero(scores >= scores[best] - errors[best])[0])


def tabulate(plan: Plan, judged: Judged) -> dict[str, Any]:
    """``cv_results_``: one row for each number of features, selection and final model."""
    rows = [
        (k, selection, final, *place)
        for at_k, k in enumerate(plan.ks)
        for at_s, selection in enumerate(plan.selections)
        for at_f, final in enumerate(plan.finals)
        for place in [(at_s, at_k, at_f)]
    ]
    places = tuple(np.array([row[3:] for row in rows]).T)
    scores = judged.scores[places]
    order = np.argsort(np.argsort(-scores, kind="stable"), kind="stable")
    return {
        "param_n_features_to_select": np.array([row[0] for row in rows]),
        "param_selection": np.array([row[1].name for row in rows], dtype=object),
        "param_final_model": np.array([row[2].name for row in rows], dtype=object),
        "params": [
            {"n_features_to_select": k, "selection": s.name, "final_model": f.name, "C": s.C}
            for k, s, f, *_ in rows
        ],
        "mean_test_score": scores,
        "std_test_score": judged.errors[places],
        "rank_test_score": (order + 1).astype(np.int32),
    }
