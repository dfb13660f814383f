"""``ClassModel``: the fitted linear model of one class, as a value.

    s(x) = sum_j w_j x_j + b       over the selected columns j;  an alarm where s(x) > threshold

Fit functions return it, estimators hold one for each class in ``models_``, and whatever tells,
draws or stores a model reads it and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.certificate import Certificate
from scoresieve.risks import DualPoint
from scoresieve.solvers.limits import Progress, Status


@dataclass(frozen=True, eq=False)
class FitCertificate(Certificate):
    """Bounds of a fit, their proof, and why the fit stopped.

    Attributes
    ----------
    primal, dual, gap : float
        Objective, its lower bound, and ``(primal - dual) / primal``.
    l0_gap : float
        The same gap to the best model with at most k features; NaN without a hard budget.
    refit_gap : float
        With a hard budget: how far, at most, other weights of the same features could lower the
        objective, as a fraction of ``primal``; NaN without.
    status : Status or None
        Why the solver stopped; None for methods that do not report it.
    history : list of Progress or None
        One entry per round; None in a model that was saved without its certificate.
    dual_point : DualPoint or None
        Proves ``dual``; None likewise.
    """

    l0_gap: float = nan
    refit_gap: float = nan
    status: Status | None = None
    history: list[Progress] | None = None
    dual_point: DualPoint | None = None


@dataclass(frozen=True, eq=False)
class FoldSelections:
    """For each number of columns, how many cross-validation fits selected each column.

    Each fit leaves out one fold. Sizes up to the chosen one use its selector; larger sizes use
    their own best.

    Attributes
    ----------
    rows : ndarray of int of shape (n_sizes,)
        Rows of ``cv_results_``: the selector, and its cross-validated score.
    counts : CSR array of int of shape (n_sizes, n_features)
    n_folds : int
        Number of fits.
    """

    rows: IntArray
    counts: sp.csr_array
    n_folds: int


#: What a threshold can be chosen for, by the names of the arguments that go together.
THRESHOLD_GOALS = (
    *(("recall",), ("precision",), ("alarm_rate",)),
    ("cost_of_miss", "cost_of_alarm"),
)


@dataclass(frozen=True, eq=False)
class ThresholdTable:
    """``a`` hits and ``b`` false alarms above a threshold, among held-out rows.

        recall  a / P,   precision  a / (a + b),   alarm rate  (a + b) / (P + N)

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Log-odds, descending from no rows above to all of them. One is that of the fit.
    n_hits, n_false_alarms : ndarray of shape (n_thresholds,)
        Each row counts as often as it was held out, and by its weight.
    """

    thresholds: FloatArray
    n_hits: FloatArray
    n_false_alarms: FloatArray

    @property
    def n_alarms(self) -> FloatArray:
        """``a + b``."""
        return self.n_hits + self.n_false_alarms

    @property
    def recalls(self) -> FloatArray:
        """``a / P``."""
        return self.n_hits / self.n_hits[-1]

    @property
    def precisions(self) -> FloatArray:
        """``a / (a + b)``; 0 without alarms."""
        return self.n_hits / np.maximum(self.n_alarms, np.finfo(np.float64).tiny)

    @property
    def alarm_rates(self) -> FloatArray:
        """``(a + b) / (P + N)``."""
        return self.n_alarms / self.n_alarms[-1]

    def place(self, threshold: float) -> int:
        """The row of a threshold, or of the next lower one."""
        lower = np.flatnonzero(self.thresholds <= threshold)
        return int(lower[0]) if lower.size else self.thresholds.size - 1

    def place_for(self, goal: Mapping[str, float]) -> int:
        """The row with the best threshold for one of ``THRESHOLD_GOALS``.

        The highest threshold that reaches a recall; the lowest with a precision, or within an alarm
        rate; of equal costs ``cost_of_miss (P - a) + cost_of_alarm b`` the highest.
        """
        if "recall" in goal:
            return int(np.argmax(self.recalls >= goal["recall"]))
        if "cost_of_miss" in goal:
            misses = self.n_hits[-1] - self.n_hits
            costs = goal["cost_of_miss"] * misses + goal["cost_of_alarm"] * self.n_false_alarms
            return int(np.argmin(costs))
        ((name, value),) = goal.items()
        is_precision, has_alarms = name == "precision", self.n_alarms > 0
        found = self.precisions if is_precision else self.alarm_rates
        reached = has_alarms & (found >= value if is_precision else found <= value)
        if not reached.any():
            # Rounded to what can be reached.
            if is_precision:
                limit = f"the highest is {np.floor(1e3 * found.max()) / 1e3:g}; ask for at most"
            else:
                lowest = found[has_alarms].min()
                limit = f"the lowest is {np.ceil(1e6 * lowest) / 1e6:g}; ask for at least"
            raise ValueError(
                f"{name}={value:g} is not reached on the held-out rows, where {limit} that."
            )
        return int(np.flatnonzero(reached)[-1])


@dataclass(frozen=True, eq=False)
class ChoiceTable:
    """All settings compared by cross-validation, and the chosen one.

    Attributes
    ----------
    table : dict
        ``cv_results_``: one row per setting.
    row : int
        The row of the model.
    smaller : tuple of ClassModel
        Models of the same setting with fewer columns, fitted on all rows, by ascending number; the
        model itself comes last. Empty where these were not kept.
    folds : FoldSelections or None
        The selections of the cross-validation fits.
    thresholds : ThresholdTable or None
        What thresholds give on the held-out rows; None in models with fewer columns.
    """

    table: Mapping[str, Any]
    row: int
    smaller: tuple[ClassModel, ...] = ()
    folds: FoldSelections | None = None
    thresholds: ThresholdTable | None = None

    @property
    def params(self) -> dict[str, Any]:
        """The chosen setting."""
        return self.table["params"][self.row]

    @property
    def score(self) -> float:
        """Its cross-validated score, the best of all settings or close to it."""
        return float(self.table["mean_test_score"][self.row])

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(self.table["std_test_score"][self.row])


#: Of models whose weights are regularised.
NO_VETOES: IntArray = np.zeros((0, 4), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ClassModel:
    """``s(x) = sum_j w_j x_j + b``, positive where ``s(x) > threshold``; see ``models_``.

    Attributes
    ----------
    columns : ndarray of int
        Sorted indices of the selected columns: those with a non-zero weight, and
        ``always_features``.
    weights : ndarray of shape (len(columns),)
        A positive weight raises the score of the class, whatever ``pos_label`` is.
    intercept : float
        As trained.
    threshold : float
        Scores above it are predicted positive. In a calibrated model, scores and threshold are
        log-odds.
    C : float or None
        Weight of the risk; None without regularisation.
    price : float
        Cost of a false positive in the bound that chose the columns; NaN without one.
    n_positives : int
        Training rows of the class.
    training_score : float
        Score on the training rows (optimistic); NaN where it was not computed.
    constant_score : float
        The best score of one prediction for all training rows; NaN for a regression.
    alarm_rate : float
        Share of the rows above the threshold: of held-out rows in models chosen by
        cross-validation, else of the training rows. NaN where it was not computed.
    goal : dict or None
        What the threshold was chosen for after the fit: ``{"recall": 0.9}``.
    n_iter : int
        Iterations of the method.
    certificate : FitCertificate or None
    choice : ChoiceTable or None
        For models chosen by cross-validation.
    vetoes : ndarray of int of shape (n_vetoes, 4)
        Where nothing regularises the weights: selected columns that turn most predictions negative
        wherever they have an entry. The index among the selected columns, the training rows with an
        entry, those predicted positive, and those that would be without the column.
    """

    columns: IntArray
    weights: FloatArray
    intercept: float
    threshold: float = 0.0
    C: float | None = None
    price: float = nan
    n_positives: int = 0
    training_score: float = nan
    constant_score: float = nan
    alarm_rate: float = nan
    goal: Mapping[str, float] | None = None
    n_iter: int = 0
    certificate: FitCertificate | None = None
    choice: ChoiceTable | None = None
    vetoes: IntArray = field(default_factory=NO_VETOES.copy)

    @property
    def proof(self) -> FitCertificate:
        """The certificate of a model that has one."""
        assert self.certificate is not None
        return self.certificate

    @property
    def decision_intercept(self) -> float:
        """``b - threshold``: positive where ``<w, x>`` plus this is above 0."""
        return self.intercept - self.threshold

    def scattered(self, n_features: int) -> FloatArray:
        """The weights of all columns."""
        weights = np.zeros(n_features)
        weights[self.columns] = self.weights
        return weights
