"""``NMMKL``: one linear kernel a feature, for few features."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from scoresieve._checks import check_C, check_positive
from scoresieve.baselines._base import Baseline, BinaryFit, gap_trouble
from scoresieve.estimators._inputs import ProblemSettings, resolve_budget
from scoresieve.estimators._targets import Targets
from scoresieve.measures import get_measure
from scoresieve.solvers.conic_hinge import solve_hinge_conic
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.result import (
    DualPoint,
    Status,
    pack_delta,
    relative_gap,
    split_intercept,
)
from scoresieve.solvers.sparsify import drop_small_weights
from scoresieve.solvers.threads import one_blas_thread

FloatArray = NDArray[np.float64]

#: Most features. At 1,000 features and 300 rows a fit takes about ten seconds, with twice as many
#: features thirty, and the time grows in the same way with the number of rows.
MAX_FEATURES = 1000


class NMMKL(Baseline):
    """``min_{d in D} min_w 1/2 sum_j w_j^2 / d_j + C sum_i max(0, 1 - y_i <w, x_i>)``.

    Non-monotonic feature selection (Xu, Jin, Ye, Lyu and King, ICML 2009) looks for the B features
    that give the least value of the SVM's dual, which need not contain the best B - 1. It relaxes
    the choice to a multiple kernel learning problem with one base kernel a feature, whose weights
    are in ``D = {0 <= d_j <= 1, sum_j d_j <= B}``, and rounds the weights to B features. Mao and
    Tsang's problem with the Hamming loss is the same one; "NMMKL" is their name for the method.

    Conventions
    -----------
    What is the same: the relaxed problem. What differs:

    * it is solved in the primal, as one conic programme with a cone a feature, by Clarabel. The
      original solves the dual with one kernel matrix a feature. Both hold all features at once, so
      that more than 1,000 features are refused: :class:`~scoresieve.MeasureSVC` with
      ``measure="accuracy"`` has the same optimum and no such limit;
    * ``coef_`` is the solution of the relaxed problem, with more than B features. The B largest
      entries of ``kernel_weights_`` are the rounded choice;
    * kernels are linear;
    * the intercept, if there is one, is the weight of a constant column outside the budget, as in
      ``LinearSVC``, where the original has an unregularised bias;
    * more than two classes, or an indicator matrix, make one problem for each class.

    Parameters
    ----------
    budget : int, optional
        B. 50 by default, or all features if there are fewer.
    C : float, default=1.0
        Weight of the loss, in the scale of ``LinearSVC(loss="hinge")``.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Value of the constant column whose weight is the intercept.
    tol : float, default=1e-4
        Certified relative gap that is asked for. The conic solver usually gives 1e-7.
    max_time : float, optional
        Seconds for each class, honoured within one step of the conic solver.
    n_jobs : int, optional
        How many classes are fitted at a time.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray or CSR matrix of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    support_ : ndarray of int
    supports_ : list of ndarray of int
    n_features_selected_ : int
    kernel_weights_ : list of ndarray of shape (n_features,)
        d of each problem.
    primal_, dual_, dual_gap_ : ndarray of shape (n_problems,)
        Objective, its certified lower bound, and ``(primal - dual) / primal``.
    n_iter_ : ndarray of int of shape (n_problems,)
        Steps of the conic solver.
    status_ : list of Status
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import NMMKL
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = NMMKL(budget=2).fit(X, X[:, 3] + X[:, 7] > 0)
    >>> sorted(np.argsort(-model.kernel_weights_[0])[:2].tolist())
    [3, 7]
    """

    def __init__(
        self,
        *,
        budget: int | None = None,
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-4,
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.budget = budget
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_time = max_time
        self.n_jobs = n_jobs

    def _resolved(self, n_features: int) -> ProblemSettings:
        """The problem that our own solvers and :func:`scoresieve.certify` know."""
        scaling = check_positive(self.intercept_scaling, "intercept_scaling")
        none = np.empty(0, dtype=np.int64)
        return ProblemSettings(
            measure=get_measure("accuracy"),
            budget=resolve_budget(self.budget, None, n_features),
            C=check_C(self.C),
            intercept=scaling if self.fit_intercept else 0.0,
            always=none,
            excluded=none,
            feature_groups=None,
        )

    def _fit_binary(self, X: Any, y: FloatArray) -> BinaryFit:
        begin = perf_counter()
        if X.shape[1] > MAX_FEATURES:
            raise ValueError(
                f"X has {X.shape[1]} features; NMMKL takes at most {MAX_FEATURES}, because its "
                "programme has one kernel for each feature, all of them at once. MeasureSVC("
                "'accuracy') solves the same problem for any number of features."
            )
        settings, tol = self._resolved(X.shape[1]), check_positive(self.tol, "tol")
        problem = make_problem(X, y, **settings.arguments())
        dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        if settings.intercept:
            dense = np.column_stack([dense, np.full(y.size, settings.intercept)])
        with one_blas_thread():
            found = solve_hinge_conic(dense, y, problem.norm, problem.C, max_time=self.max_time)
            # An interior-point method leaves tiny weights on all columns.
            w, primal = drop_small_weights(
                problem,
                problem.design.columns(np.arange(problem.design.n_columns)),
                problem.norm,
                found.w,
                primal=found.primal,
                dual=found.dual,
                tol=tol,
            )
        w, bias = split_intercept(w, settings.intercept)
        gap = relative_gap(primal, found.dual)
        late = self.max_time is not None and perf_counter() - begin >= self.max_time
        status = Status.MAX_TIME if late else Status.STALLED
        if gap <= tol:
            status = Status.CONVERGED if np.any(w) else Status.ZERO_MODEL
        return BinaryFit(
            w=w,
            intercept=bias,
            n_iter=found.n_steps,
            trouble=gap_trouble(status, gap, tol),
            primal=primal,
            dual=found.dual,
            gap=gap,
            status=status,
            dual_point=as_labellings(found.alpha),
            details={"kernel_weights_": found.d[: X.shape[1]]},
        )

    def _store(
        self, X: Any, labels: list[FloatArray], targets: Targets, fits: list[BinaryFit]
    ) -> None:
        super()._store(X, labels, targets, fits)
        self._settings = self._resolved(self.n_features_in_)
        self.measure_ = self._settings.measure


def as_labellings(alpha: FloatArray) -> DualPoint:
    """``alpha = sum_k weight_k [alpha >= v_k]``: multipliers of rows as weights of labellings.

    With ``v_1 > v_2 > ...`` the distinct positive values, ``weight_k = v_k - v_{k+1}``. The
    weights sum to ``max_i alpha_i``, and their gain, with n errors counted as n, is
    ``sum_i alpha_i``: the same point of both duals of the hinge loss.

    Parameters
    ----------
    alpha : ndarray of shape (n_samples,)
        Not negative.
    """
    values = np.unique(alpha[alpha > 0.0])[::-1]
    weights = values - np.append(values[1:], 0.0)
    cuts = np.empty((values.size, -(-alpha.size // 8)), dtype=np.uint8)
    for k, value in enumerate(values):
        cuts[k] = pack_delta(alpha >= value, as_bits=True)
    return DualPoint(weights, cuts)
