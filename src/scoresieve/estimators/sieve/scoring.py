"""Cross-validated scores: the measure of held-out scores, their threshold, and the choice by them.

score = M(y, s - t) ,   t the best threshold of all rows together
error = sqrt((F - 1) / F sum_f (score_f - mean)^2) ,   score_f without the rows of part f
P(y = 1 | s) = 1 / (1 + exp(-(a s + b)))
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.estimators.model import ThresholdTable
from scoresieve.estimators.targets import Targets
from scoresieve.measures import Measure
from scoresieve.measures.thresholds import all_tables
from scoresieve.solvers.limits import Deadline
from scoresieve.solvers.row_weights import apply_weights

#: Settings whose measures differ by less than this share of a standard error are equally good.
SHARE_OF_ERROR = 0.25
#: Almost no regularisation of the two numbers of a sigmoid.
SIGMOID_C = 1e6
#: Thresholds that a model keeps: their numbers of alarms grow by this factor at most, those of hits
#: by this share of the positives. About a thousand serve any number of rows.
ALARM_STEP, RECALL_STEP = 1.01, 0.005


class CVScores(NamedTuple):
    """The cross-validated score of every setting.

    Attributes
    ----------
    scores : ndarray of shape (candidates, sizes, finals)
        The measure of all held-out scores together, at their best threshold; NaN for settings that
        time was over for.
    errors : ndarray of the same shape
        Its standard error, by the jackknife over the parts.
    """

    scores: FloatArray
    errors: FloatArray


@dataclass(frozen=True, eq=False)
class CVScorer:
    """The measure of held-out scores, each row as often as it counts.

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

    def cv_scores(self, held_out: FloatArray, deadline: Deadline | None = None) -> CVScores:
        """The measure and its standard error for every setting, the candidates' own models first.

        Parameters
        ----------
        held_out : ndarray of shape (candidates, sizes, finals, n_samples)
            NaN where there is no model.
        deadline : Deadline, optional
            After it only one model is still scored for each size.
        """
        found = CVScores(*np.full((2, *held_out.shape[:-1]), np.nan))
        settings = [at for at in np.ndindex(held_out.shape[:-1]) if not np.isnan(held_out[at][0])]
        for at in sorted(settings, key=lambda at: at[2] > 0):
            _, size, _ = at
            is_over = deadline is not None and deadline.is_over
            if is_over and not np.all(np.isnan(found.scores[:, size])):
                continue
            # Measures sort the rows for the score, and again for each part that is left out: what
            # is in order is sorted in no time.
            order = np.argsort(-held_out[at], kind="stable")
            found.scores[at] = self.at_best(held_out[at], order)
            found.errors[at] = self.jackknife_error(held_out[at], order)
        return found

    def at_best(self, scores: FloatArray, rows: IntArray) -> float:
        """The measure of some rows at their best threshold.

        A number k of predicted positives is scaled to their fraction of all rows.
        """
        measure, y, scores = self._counted(scores, rows)
        return measure.score(y, scores - measure.threshold(y, scores))

    def jackknife_error(self, scores: FloatArray, rows: IntArray) -> float:
        """``sqrt((F - 1) / F sum_f (s_f - mean)^2)``, s_f the measure without part f.

        Parameters
        ----------
        rows : ndarray of int
            All of them, in any order.
        """
        part_of = self.part_of[rows]
        left = [self.at_best(scores, rows[part_of != part]) for part in self._parts]
        if len(left) < 2:
            return 0.0
        spread = np.square(np.array(left) - np.mean(left)).sum()
        return float(np.sqrt((len(left) - 1) / len(left) * spread))

    def threshold(self, scores: FloatArray) -> float:
        """A threshold that is almost the best on these rows, and stable."""
        measure, y, scores = self._counted(scores, np.arange(self.y.size))
        return measure.steady_threshold(y, scores)

    @cached_property
    def constant_score(self) -> float:
        """The measure of one prediction for all rows."""
        measure, y, _ = self._counted(self.y, np.arange(self.y.size))
        return measure.constant_score(y)

    @cached_property
    def _parts(self) -> list[int]:
        """The parts without which there are still rows of both classes."""
        parts = np.unique(self.part_of)
        kept = ((part, self.y[self.part_of != part]) for part in parts)
        return [part for part, y in kept if np.any(y != y[:1])]

    def _counted(
        self, scores: FloatArray, rows: IntArray
    ) -> tuple[Measure, FloatArray, FloatArray]:
        """The measure with the weights that it takes, and rows repeated for one that takes none."""
        measure = self.measure.of_share(rows.size / self.y.size)
        scores, y = scores[rows], self.y[rows]
        if self.weights is None:
            return measure, y, scores
        scores, y, weights = apply_weights(measure, scores, y, self.weights[rows])
        return measure if weights is None else measure.weighted(weights), y, scores


@dataclass(frozen=True, eq=False)
class RepeatedCVScorer:
    """The means over several rounds, in each of which every row is held out once."""

    rounds: list[CVScorer]

    @property
    def y(self) -> FloatArray:
        """The labels, in {-1, +1}."""
        return self.rounds[0].y

    def cv_scores(self, held_out: FloatArray, deadline: Deadline | None = None) -> CVScores:
        """The measure and its standard error for every setting.

        The error is that of one round: another round has the same rows.

        Parameters
        ----------
        held_out : ndarray of shape (candidates, sizes, finals, n_rounds, n_samples)
        """
        found = [
            each.cv_scores(held_out[..., at, :], deadline) for at, each in enumerate(self.rounds)
        ]
        return CVScores(*(np.mean(each, axis=0) for each in zip(*found, strict=True)))

    def threshold(self, scores: FloatArray) -> float:
        """The mean over rounds of stable, almost best thresholds.

        Parameters
        ----------
        scores : ndarray of shape (n_rounds, n_samples)
        """
        pairs = zip(self.rounds, scores, strict=True)
        return float(np.mean([scorer.threshold(row) for scorer, row in pairs]))

    def sigmoid(self, scores: FloatArray) -> Sigmoid:
        """The log-odds of the scores of all rounds together, of shape (n_rounds, n_samples)."""
        return fit_sigmoid(*self._pooled(scores))

    def alarm_rate(self, scores: FloatArray, threshold: float) -> float:
        """The share of all rounds' rows above a threshold."""
        _, pooled, weights = self._pooled(scores)
        return float(np.average(pooled > threshold, weights=weights))

    def threshold_table(self, scores: FloatArray, own: float, calibrate: Sigmoid) -> ThresholdTable:
        """Hits and false alarms of all rounds together above some thresholds, one of them ``own``.

        Parameters
        ----------
        scores : ndarray of shape (n_rounds, n_samples)
        own : float
            A threshold of these scores.
        calibrate : Sigmoid
            Makes log-odds of the thresholds.
        """
        y, pooled, weights = self._pooled(scores)
        tables = all_tables(y, pooled, weights)
        places = kept_places(tables.a)
        places = places[tables.thresholds[places] != own]
        thresholds = np.append(tables.thresholds[places], own)
        order = np.argsort(-thresholds, kind="stable")
        places = np.append(places, tables.place(pooled, own))[order]
        log_odds = calibrate.slope * thresholds[order] + calibrate.shift
        return ThresholdTable(log_odds, *(each[places].astype(float) for each in tables[1:]))

    def _pooled(self, scores: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Labels, scores and weights of all rounds together."""
        n_rounds, weights = len(self.rounds), self.rounds[0].weights
        weights = None if weights is None else np.tile(weights, n_rounds)
        return np.tile(self.y, n_rounds), scores.ravel(), weights


def kept_places(n_hits: FloatArray) -> IntArray:
    """The first and the last of all thresholds, and enough between them; see ``ALARM_STEP``."""
    last = n_hits.size - 1
    n_steps = int(np.log(last) / np.log(ALARM_STEP)) + 2
    by_alarms = np.geomspace(1, last, n_steps).astype(np.intp)
    recalls = np.linspace(0.0, n_hits[-1], round(1.0 / RECALL_STEP) + 1)
    by_recall = np.minimum(np.searchsorted(n_hits, recalls), last)
    return np.unique(np.concatenate([[0, last], by_alarms, by_recall]))


class Sigmoid(NamedTuple):
    """``slope s + shift`` is the log-odds of a score s; the slope is positive."""

    slope: float
    shift: float


def fit_sigmoid(y: FloatArray, scores: FloatArray, weights: FloatArray | None) -> Sigmoid:
    """The sigmoid of the scores (Platt 2000), by a logistic regression on one column.

    Where scores are uninformative or reversed the slope is a small positive number: a higher score
    never lowers the probability.
    """
    spread = float(np.std(scores)) or 1.0
    column = (scores / spread)[:, np.newaxis]
    model = LogisticRegression(C=SIGMOID_C).fit(column, y > 0, sample_weight=weights)
    slope = max(float(model.coef_[0, 0]), 1e-3) / spread
    return Sigmoid(slope, float(model.intercept_[0]))


def probabilities(targets: Targets, decision: FloatArray, log_odds: FloatArray) -> FloatArray:
    """``1 / (1 + exp(-log-odds))`` of each class, of shape (n_samples, n_classes).

    Of more than two classes they are divided by their sum, which leaves the most probable as it is;
    of an indicator matrix each column stands alone.

    Parameters
    ----------
    decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Log-odds above those of the threshold; of more than two classes log-odds themselves.
    log_odds : ndarray of shape (n_problems,)
        Of the thresholds.
    """
    if targets.kind == "binary":
        positive = expit(targets.sign * decision + log_odds[0])
        both = np.column_stack([1.0 - positive, positive])
        return both if targets.sign > 0 else both[:, ::-1]
    if targets.kind == "multilabel":
        return expit(decision + log_odds)
    each = expit(decision)
    return each / each.sum(axis=1, keepdims=True)


def choose(found: CVScores) -> tuple[list[tuple[int, int]], int]:
    """Candidate and final model for each size, and the index of the chosen size.

    Sizes up to the chosen one have its setting, larger ones the best of their own.
    """
    sizes = range(found.scores.shape[1])
    own = [best_setting(found.scores[:, k], found.errors[:, k]) for k in sizes]
    tops, errors = (np.array([values[c, k, f] for k, (c, f) in enumerate(own)]) for values in found)
    size = one_standard_error(tops, errors)
    return [own[size]] * size + own[size:], size


def best_setting(scores: FloatArray, errors: FloatArray) -> tuple[int, int]:
    """The first whose measure is within a quarter of a standard error of the highest.

    Own models come first, and of them candidates in their order, losses with the smallest C:
    cross-validated scores are noisy with few positives, so ties go to the stronger regularisation.

    Parameters
    ----------
    scores, errors : ndarray of shape (candidates, finals)
        Candidates in the order of the plan, those of a loss by ascending C; NaN for settings that
        were not scored.
    """
    top = np.unravel_index(int(np.nanargmax(scores)), scores.shape)
    is_as_good = scores >= scores[top] - SHARE_OF_ERROR * errors[top]
    final, candidate = np.argwhere(is_as_good.T)[0]
    return int(candidate), int(final)


def beats_constant(score: float, error: float, constant: float) -> bool:
    """Whether a score is above that of a constant prediction by more than its standard error."""
    return score > constant + error


def one_standard_error(scores: FloatArray, errors: FloatArray) -> int:
    """The first, smallest, size whose score is within one standard error of the best."""
    best = int(np.argmax(scores))
    return int(np.flatnonzero(scores >= scores[best] - errors[best])[0])
