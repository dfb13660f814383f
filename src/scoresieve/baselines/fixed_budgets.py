"""Baselines with a fixed budget: all features, ``SVMPerf``, or one, ``SquaredL1SVM``."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from scoresieve.baselines._budget import BudgetBaseline
from scoresieve.measures import Measure


@dataclass(eq=False, repr=False)
class SVMPerf(BudgetBaseline):
    """``min_w 1/2 ||w||_2^2 + C R(X w)``: an SVM for the measure, with all features.

    SVM^perf (Joachims, "A support vector method for multivariate performance measures", ICML 2005)
    minimises this by cutting planes, with measures of the contingency table and the ROC area.

    **Conventions**

    The same as in the original: the problem, and with ``C_scale="svmperf"`` the scale of ``-c`` for
    all its percent losses. Its ``--b 0`` is ``fit_intercept=False``; its default ``--b 1`` is a
    constant column of 1, as here. Differences:

    * the solver is that of :class:`~scoresieve.MeasureSVC` with a budget of all columns. It stops
      at a certified relative gap, not at an absolute violation of the cuts (``-e``, on the scale of
      the loss);
    * every measure of this package can be optimised, and predictions of top-k measures and
      rankings use the training threshold;
    * more than two classes, or an indicator matrix, are fitted one-vs-rest;
    * the cuts are kept as dense vectors over all columns that occur, which takes K m numbers for
      K cuts (30 to 170 on text): 1 to 2 GB for a million columns.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk, in the scale of ``C_scale``.
    C_scale : {"linear_svc", "svmperf", "paper"}, default="linear_svc"
        The scale of C: that of ``LinearSVC`` and of this package, SVM^perf's ``-c`` (not for
        ``"accuracy"``), or the C of Mao and Tsang divided by n.
    tol : float, default=0.01
        The fit stops at this certified relative gap.
    measure, fit_intercept, intercept_scaling, pos_label, max_iter, max_time, n_jobs
        As in :class:`~scoresieve.MeasureSVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, supports_, n_features_selected_, primal_, dual_, gap_, n_iter_, \
status_, measure_
        As in :class:`~scoresieve.MeasureSVC`.
    support_ : ndarray of int
        Features with a non-zero weight: nearly all.
    C_ : ndarray of shape (n_problems,)
        C of each problem in the scale of ``LinearSVC``.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import SVMPerf
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> model = SVMPerf("f1", C=10.0).fit(X, X[:, 0] > 1)
    >>> model.n_features_selected_, bool(model.gap_[0] <= 0.01)
    (5, True)
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    C: float = 1.0
    C_scale: str = "linear_svc"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    pos_label: Any = None
    tol: float = 0.01
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None

    _drops_small_weights = False

    def _budget(self, n_features: int) -> int:
        return n_features


@dataclass(eq=False, repr=False)
class SquaredL1SVM(BudgetBaseline):
    """``min_w 1/2 ||w||_1^2 + C R(X w)``: the squared l1 norm, which is the budget B = 1.

    The support kernel machine (Bach, Lanckriet and Jordan, "Multiple kernel learning, conic
    duality, and the SMO algorithm", ICML 2004) minimises ``1/2 (sum_k g_k ||w_k||_2)^2 + C sum_i
    hinge_i`` over blocks k of features, with an unregularised bias, by sequential minimal
    optimisation on a smoothed dual. Mao and Tsang compare with the case of one block a feature and
    g_k = 1, (20), in which it is the squared l1 norm, their own problem with B = 1.

    **Conventions**

    The same as in the original: the problem with ``measure="accuracy"``, for which R is the sum of
    the hinge losses. Differences:

    * the solver is that of :class:`~scoresieve.MeasureSVC` with budget 1: it does not smooth the
      dual, and stops at a certified relative gap;
    * the intercept is the weight of a constant column outside the norm, with 1/2 of its square as
      regulariser, as in ``LinearSVC``;
    * every measure of this package can be optimised.

    Its path of solutions, over all C, is that of ``||w||_1 + C' R(X w)`` over all C'.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk, in the scale of ``C_scale``.
    C_scale, tol
        As in :class:`SVMPerf`.
    measure, fit_intercept, intercept_scaling, pos_label, max_iter, max_time, n_jobs
        As in :class:`~scoresieve.MeasureSVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, primal_, dual_, gap_, \
n_iter_, status_, measure_
        As in :class:`~scoresieve.MeasureSVC`.
    C_ : ndarray of shape (n_problems,)
        C of each problem in the scale of ``LinearSVC``.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import SquaredL1SVM
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> model = SquaredL1SVM(C=0.5).fit(X, X[:, 3] + X[:, 7] > 0)
    >>> sorted(np.argsort(-abs(model.coef_[0]))[:2].tolist())
    [3, 7]
    """

    measure: str | Measure = "accuracy"
    _: KW_ONLY
    C: float = 1.0
    C_scale: str = "linear_svc"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    pos_label: Any = None
    tol: float = 0.01
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None

    def _budget(self, n_features: int) -> int:
        return 1
