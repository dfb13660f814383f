"""What a sieve found: the table of all settings, the best for each size, what folds selected, and
what a model chosen so has beyond a linear one.

cv_results_: one row for each number of features, candidate and final model
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Columns
from scoresieve.estimators.linear_model import each_model
from scoresieve.estimators.model import THRESHOLD_GOALS, ClassModel, FoldSelections
from scoresieve.estimators.sieve.cross_fitting import ColumnSource, FoldScores
from scoresieve.estimators.sieve.plan import Plan
from scoresieve.estimators.sieve.scoring import (
    CVScores,
    best_setting,
    one_standard_error,
    probabilities,
)
from scoresieve.estimators.targets import Targets

#: How the columns of a table with numbers of features, or of instances, begin.
SIZE_PREFIX = "param_n_"


def tabulate(
    plan: Plan, sources: Sequence[ColumnSource], found: Sequence[CVScores]
) -> dict[str, Any]:
    """``cv_results_`` of one class: the settings of all sources, source by source.

    The parameters of a source are further columns.

    Parameters
    ----------
    found : sequence of CVScores
        For each source.
    """
    size_name = sources[0].size_name
    points = [
        {size_name: k, "selection": c.name, "final_model": f.name, "C": c.C} | source.settings
        for source in sources
        for k in plan.sizes
        for c in plan.candidates
        for f in plan.finals
    ]
    scores, errors = (
        np.concatenate([np.swapaxes(each, 0, 1).ravel() for each in of_sources])
        for of_sources in zip(*found, strict=True)
    )
    order = np.argsort(np.argsort(-scores, kind="stable"), kind="stable")

    def column(name: str) -> dict[str, Any]:
        return {f"param_{name}": np.array([point[name] for point in points], dtype=object)}

    return {
        f"param_{size_name}": np.array([point[size_name] for point in points]),
        **column("selection"),
        **column("final_model"),
        "params": points,
        "mean_test_score": scores,
        "std_test_score": errors,
        "rank_test_score": (order + 1).astype(np.int32),
        **{key: value for name in sources[0].settings for key, value in column(name).items()},
    }


def count_selections(
    rows: Sequence[int],
    settings: Sequence[tuple[int, int]],
    folds: Sequence[FoldScores],
    n_features: int,
) -> FoldSelections:
    """The number of cross-validation fits that selected each column.

    Parameters
    ----------
    rows : sequence of int
        Of ``cv_results_``, for each number of columns.
    settings : sequence of (int, int)
        Candidate and final model of these rows.
    """
    supports = [[fold.supports[c][k] for k, (c, _) in enumerate(settings)] for fold in folds]
    places = [np.full(part.size, at) for fit in supports for at, part in enumerate(fit)]
    columns = np.concatenate([part for fit in supports for part in fit])
    ones, shape = np.ones(columns.size, dtype=np.int64), (len(rows), n_features)
    # Entries of one place are added up.
    counts = sp.csr_array(sp.coo_array((ones, (np.concatenate(places), columns)), shape=shape))
    return FoldSelections(np.array(rows), counts, len(folds))


def find_vetoes(block: Columns, w: FloatArray, shift: float) -> IntArray:
    """``vetoes`` of the model that is positive where ``<w, x>`` plus the shift is above 0.

    Columns with entries in less than half of the rows, without which at least twice as many of
    these would be predicted positive.
    """
    scores, entries, found = block.scores(w) + shift, block.entries(), []
    for place in np.flatnonzero(w < 0.0):
        one = slice(*entries.starts[place : place + 2])
        rows = entries.rows[one]
        without = scores[rows] - w[place] * entries.values[one]
        n_with, n_without = (int(np.count_nonzero(each > 0.0)) for each in (scores[rows], without))
        if 2 * rows.size < scores.size and n_without >= 2 * max(n_with, 1):
            found.append((place, rows.size, n_with, n_without))
    return np.array(found, dtype=np.int64).reshape(-1, 4)


class FeatureCurve(NamedTuple):
    """One point for each number of features.

    Attributes
    ----------
    sizes : ndarray of int, ascending
    scores, errors : ndarray
        Cross-validated scores and their standard errors.
    rows : ndarray of int
        Row of the table: the setting chosen at this size.
    chosen : int
        Index of the smallest size within one standard error of the best, or of the size that the
        model chose.
    """

    sizes: IntArray
    scores: FloatArray
    errors: FloatArray
    rows: IntArray
    chosen: int

    @property
    def best(self) -> int:
        """Index of the highest score."""
        return int(np.argmax(self.scores))

    @property
    def floor(self) -> float:
        """The highest score less its standard error."""
        return float(self.scores[self.best] - self.errors[self.best])


def feature_curve(table: Mapping[str, Any], row: int | None = None) -> FeatureCurve:
    """The curve of a table.

    Parameters
    ----------
    table : dict
        ``cv_results_`` of a sieve for one class, or of a ``GridSearchCV`` over
        ``n_features_to_select``.
    row : int, optional
        The chosen row; by default by the one-standard-error rule.
    """
    size_name = size_column(table)
    sizes = np.asarray(table[size_name], dtype=np.int64)
    scores = np.asarray(table["mean_test_score"], dtype=np.float64)
    errors = standard_errors(table)
    is_seen = np.ones(sizes.size, dtype=bool)
    if "param_sigma" in table:  # one width serves all sizes
        sigma = np.asarray(table["param_sigma"])
        is_seen = sigma == sigma[int(np.nanargmax(scores)) if row is None else row]
    n_finals = len(set(table.get("param_final_model", [None])))
    rows = []
    for size in np.unique(sizes):
        places = np.flatnonzero((sizes == size) & is_seen)
        of_size = scores[places].reshape(-1, n_finals), errors[places].reshape(-1, n_finals)
        if "param_final_model" in table:
            selection, final = best_setting(*of_size)
            rows.append(places[selection * n_finals + final])
        else:
            rows.append(places[int(np.argmax(of_size[0]))])
    found = np.array(rows)
    chosen = one_standard_error(scores[found], errors[found])
    if row is not None:
        chosen = int(np.searchsorted(sizes[found], sizes[row]))
        found[chosen] = row
    return FeatureCurve(sizes[found], scores[found], errors[found], found, chosen)


def size_column(table: Mapping[str, Any]) -> str:
    """The name of the column with numbers of features."""
    names = [name for name in table if name.startswith(SIZE_PREFIX)]
    if "mean_test_score" not in table or len(names) != 1:
        raise ValueError(
            "cv_results must have mean_test_score and one column that begins with "
            f"{SIZE_PREFIX!r}; it has {', '.join(table) or 'none'}. Pass cv_results_ of a "
            "ScoreSieve, for several classes one of the tables."
        )
    return names[0]


def standard_errors(table: Mapping[str, Any]) -> FloatArray:
    """Standard errors: of a sieve as given, of a grid search from the deviation over splits."""
    deviations = np.asarray(table["std_test_score"], dtype=np.float64)
    n_splits = sum(name.startswith("split") for name in table)
    return deviations / np.sqrt(n_splits) if n_splits else deviations


class ChosenMixin:
    """``decision_function`` is the log-odds above those of the threshold; see ScoreSieve."""

    targets_: Targets
    models_: tuple[ClassModel, ...]
    decision_function: Any
    _problem_of: Any
    _refresh: Any

    thresholds_ = each_model(lambda model: expit(model.threshold))

    def _each_choice(self, get: Any) -> Any:
        """Of two classes what the one choice has, else a list."""
        found = [get(model.choice) for model in self.models_]
        return found[0] if self.targets_.kind == "binary" else found

    @property
    def cv_results_(self) -> Any:
        """All settings that were compared, one table per class."""
        return self._each_choice(lambda choice: choice.table)

    @property
    def best_params_(self) -> Any:
        """The chosen setting of each class."""
        return self._each_choice(lambda choice: choice.params)

    @property
    def best_score_(self) -> Any:
        """Its cross-validated score."""
        return self._each_choice(lambda choice: choice.score)

    def at(
        self,
        *,
        recall: float | None = None,
        precision: float | None = None,
        alarm_rate: float | None = None,
        cost_of_miss: float | None = None,
        cost_of_alarm: float | None = None,
        label: Any = None,
    ) -> Any:
        """A copy of the model with another threshold, chosen on the held-out scores of its fit.

        Give one of ``recall``, ``precision`` and ``alarm_rate``, or both costs. Columns, weights
        and probabilities stay; ``summary()`` shows precision, recall and alarm rate at the new
        threshold. The rows that chose it are those that these are of, so they are slightly
        optimistic.

        Parameters
        ----------
        recall : float, optional
            Least share of the positives to find; the highest threshold with it.
        precision : float, optional
            Least share of the alarms to be right; the lowest threshold with it.
        alarm_rate : float, optional
            Largest share of the rows to raise an alarm; the lowest threshold with it.
        cost_of_miss, cost_of_alarm : float, optional
            Of a missed positive and of a false alarm, in any unit; the threshold with the lowest
            total cost.
        label : object, optional
            The column of an indicator matrix; not needed for two classes.

        Returns
        -------
        estimator
            Of the same class; the model itself is not changed.

        Examples
        --------
        >>> import numpy as np
        >>> from scoresieve import ScoreSieve
        >>> X = np.random.default_rng(0).normal(size=(300, 5))
        >>> model = ScoreSieve(n_features_to_select=1, cv=3).fit(X, X[:, 3] > 1.0)
        >>> int(model.at(alarm_rate=0.1).predict(X).sum())  # of 300 rows
        33
        """
        problem = self._problem_of(label)
        if self.targets_.kind == "multiclass":
            raise ValueError(
                "predict of more than two classes takes the most probable one, whatever the "
                f"thresholds, so label={label!r} can have none; fit this class against the rest, "
                "with y == label."
            )
        given = {
            **{"recall": recall, "precision": precision, "alarm_rate": alarm_rate},
            **{"cost_of_miss": cost_of_miss, "cost_of_alarm": cost_of_alarm},
        }
        goal = check_goal({name: value for name, value in given.items() if value is not None})
        moved = copy(self)
        models = list(self.models_)
        models[problem] = with_threshold_for(models[problem], goal)
        moved.models_ = tuple(models)
        moved._refresh()
        return moved

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, calibrated on the cross-validated scores.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            For more than two classes, the one-vs-rest probabilities divided by their sum; for an
            indicator matrix, each column by itself.
        """
        check_is_fitted(self, "models_")
        log_odds = each_threshold(self.models_)
        return probabilities(self.targets_, self.decision_function(X), log_odds)


def check_goal(goal: dict[str, Any]) -> dict[str, float]:
    """What a threshold shall reach: one share in (0, 1], or two positive costs."""
    if tuple(goal) not in THRESHOLD_GOALS:
        raise ValueError(
            f"at got {', '.join(goal) or 'nothing'}; give one of recall, precision and alarm_rate, "
            "or cost_of_miss and cost_of_alarm together."
        )
    for name, value in goal.items():
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        most = np.inf if name.startswith("cost") else 1.0
        if not is_number or not 0.0 < value <= most or not np.isfinite(value):
            wanted = "a positive number" if most > 1.0 else "above 0 and at most 1, such as 0.9"
            raise ValueError(f"{name} must be {wanted}; got {value!r}.")
    return {name: float(value) for name, value in goal.items()}


def with_threshold_for(model: ClassModel, goal: Mapping[str, float]) -> ClassModel:
    """The model with the best threshold for a goal, as is the last of its smaller ones."""
    choice = model.choice
    assert choice is not None
    assert choice.thresholds is not None
    place = choice.thresholds.place_for(goal)
    new: dict[str, Any] = {
        "threshold": float(choice.thresholds.thresholds[place]),
        "alarm_rate": float(choice.thresholds.alarm_rates[place]),
        "goal": goal,
    }
    own = [replace(each, **new) for each in choice.smaller[-1:]]
    return replace(model, choice=replace(choice, smaller=(*choice.smaller[:-1], *own)), **new)


def each_threshold(models: tuple[ClassModel, ...]) -> FloatArray:
    """Log-odds of the thresholds."""
    return np.array([model.threshold for model in models])
