"""``ClassModel``: the fitted linear model of one class, as a value.

    s(x) = sum_j w_j x_j + b       over the selected columns j;  an alarm where s(x) > threshold

Fit functions return it, estimators hold one for each class in ``models_``, and whatever tells,
draws or stores a model reads it and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    """The bounds of a fit, why it stopped, and what proves them.

    Attributes
    ----------
    primal, dual, gap : float
        Objective, its lower bound, and ``(primal - dual) / primal``.
    l0_gap : float
        The same gap to the best model with at most k features; NaN without a hard budget.
    refit_gap : float
        With a hard budget: how much lower other weights of the same features could be, as a share
        of ``primal``, at most; NaN without.
    status : Status or None
        Why the solver stopped; None for methods that do not say.
    history : list of Progress or None
        One row for each round; None in a model that was saved without its certificate.
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
    """For each number of columns that was tried, how many fits selected each column.

    A fit has all rows but those of one part. Sizes up to the chosen one use its selector; larger
    sizes use their own best.

    Attributes
    ----------
    rows : ndarray of int of shape (n_sizes,)
        Of ``cv_results_``: what selected, and its cross-validated score.
    counts : CSR array of int of shape (n_sizes, n_features)
    n_folds : int
        How many fits there were.
    """

    rows: IntArray
    counts: sp.csr_array
    n_folds: int


@dataclass(frozen=True, eq=False)
class ChoiceTable:
    """All settings that were compared by cross-validation, and the one that was taken.

    Attributes
    ----------
    table : dict
        ``cv_results_``: one row for each setting.
    row : int
        The one of the model.
    smaller : tuple of ClassModel
        What the same setting makes of all rows with fewer columns, by ascending number; the model
        itself comes last. Empty where these were not kept.
    folds : FoldSelections or None
        What the fits of the cross-validation selected.
    """

    table: Mapping[str, Any]
    row: int
    smaller: tuple[ClassModel, ...] = ()
    folds: FoldSelections | None = None

    @property
    def params(self) -> dict[str, Any]:
        """The setting that was taken."""
        return self.table["params"][self.row]

    @property
    def score(self) -> float:
        """Its cross-validated score, the best of all settings or close to it."""
        return float(self.table["mean_test_score"][self.row])


@dataclass(frozen=True, eq=False)
class ClassModel:
    """``s(x) = sum_j w_j x_j + b``, an alarm where ``s(x) > threshold``; see ``models_``.

    Attributes
    ----------
    columns : ndarray of int
        Sorted numbers of the selected columns: those with a weight, and those always in.
    weights : ndarray of shape (len(columns),)
        A positive one speaks for the class, whatever ``pos_label`` is.
    intercept : float
        As it was trained.
    threshold : float
        Where alarms begin. Of a calibrated model scores and threshold are log-odds.
    C : float or None
        Weight of the risk; None where nothing was regularised.
    price : float
        Of a false alarm in the bound that chose the columns; NaN without one.
    n_positives : int
        Training rows of the class.
    training_score : float
        On the rows of the fit (optimistic); NaN where it was not computed.
    n_iter : int
        Steps of the method's own kind.
    certificate : FitCertificate or None
    choice : ChoiceTable or None
        For models that were chosen by cross-validation.
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

    @property
    def proof(self) -> FitCertificate:
        """The certificate of a model that has one."""
        assert self.certificate is not None
        return self.certificate

    @property
    def decision_intercept(self) -> float:
        """``b - threshold``: alarms are where ``<w, x>`` plus this is above 0."""
        return self.intercept - self.threshold

    def scattered(self, n_features: int) -> FloatArray:
        """The weights of all columns."""
        weights = np.zeros(n_features)
        weights[self.columns] = self.weights
        return weights
