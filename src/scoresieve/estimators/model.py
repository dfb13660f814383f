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
    """

    table: Mapping[str, Any]
    row: int
    smaller: tuple[ClassModel, ...] = ()
    folds: FoldSelections | None = None

    @property
    def params(self) -> dict[str, Any]:
        """The chosen setting."""
        return self.table["params"][self.row]

    @property
    def score(self) -> float:
        """Its cross-validated score, the best of all settings or close to it."""
        return float(self.table["mean_test_score"][self.row])


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
