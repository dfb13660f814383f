"""``NMMKL``: one linear kernel a feature, for few features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_C, check_positive
from scoresieve.baselines._base import Baseline, BinaryFit
from scoresieve.baselines.conic_hinge import solve_hinge_conic
from scoresieve.estimators.budget_model import budget_arguments
from scoresieve.estimators.persistence.fields import fields_of
from scoresieve.risks import CutWeights
from scoresieve.solvers.limits import Limits, Status, Tracker, one_blas_thread
from scoresieve.solvers.problem import Problem, make_problems
from scoresieve.solvers.solve import drop_small_weights, finish
from scoresieve.solvers.working import WorkingColumns

#: Most features. At 1,000 features and 300 rows a fit takes about ten seconds, with twice as many
#: features thirty, and the time grows in the same way with the number of rows.
MAX_FEATURES = 1000


@dataclass(eq=False, repr=False, kw_only=True)
class NMMKL(Baseline):
    """``min_{d in D} min_w 1/2 sum_j w_j^2 / d_j + C sum_i max(0, 1 - y_i <w, x_i>)``.

    Non-monotonic feature selection (Xu, Jin, Ye, Lyu and King, ICML 2009) looks for the B features
    that give the least value of the SVM's dual, which need not contain the best B - 1. It relaxes
    the choice to a multiple kernel learning problem with one base kernel a feature, whose weights
    are in ``D = {0 <= d_j <= 1, sum_j d_j <= B}``, and rounds the weights to B features. Mao and
    Tsang's problem with the Hamming loss is the same one; "NMMKL" is their name for the method.

    **Conventions**

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
    tol : float, default=1e-4
        Certified relative gap that is asked for. The conic solver usually gives 1e-7.
    fit_intercept, intercept_scaling, max_time, n_jobs
        As in :class:`~scoresieve.MeasureSVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, primal_, dual_, gap_, \
status_
        As in :class:`~scoresieve.MeasureSVC`.
    kernel_weights_ : list of ndarray of shape (n_features,)
        d of each problem.
    n_iter_ : ndarray of int of shape (n_problems,)
        Steps of the conic solver.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import NMMKL
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = NMMKL(budget=2).fit(X, X[:, 3] + X[:, 7] > 0)
    >>> sorted(np.argsort(-model.kernel_weights_[0])[:2].tolist())
    [3, 7]
    """

    budget: int | None = None
    C: float = 1.0
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    tol: float = 1e-4
    max_time: float | None = None
    n_jobs: int | None = None

    _fields = fields_of("n_features_in_", "_arguments") | Baseline._fields
    _fields |= fields_of("primal_", "dual_", "gap_", "status_", "kernel_weights_")

    def _problem(self, X: Any, y: FloatArray) -> Problem:
        """The problem that our own solvers and :func:`scoresieve.certify` know."""
        scaling = check_positive(self.intercept_scaling, "intercept_scaling")
        (problem,) = make_problems(
            X,
            [y],
            measure="accuracy",
            bound="paper",
            C=check_C(self.C),
            intercept_scaling=scaling if self.fit_intercept else 0.0,
            **budget_arguments(self.budget, None),
        )
        return problem

    def _fit_binary(self, X: Any, y: FloatArray) -> BinaryFit:
        if X.shape[1] > MAX_FEATURES:
            raise ValueError(
                f"X has {X.shape[1]} features; NMMKL takes at most {MAX_FEATURES}, because its "
                "programme has one kernel for each feature, all of them at once. MeasureSVC("
                "'accuracy') solves the same problem for any number of features."
            )
        problem = self._problem(X, y)
        limits = Limits(self.tol, 1, self.max_time, find_smallest_C=False)
        tracker = Tracker(limits, problem.risk.no_dual_point())
        dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        if problem.constant:
            dense = np.column_stack([dense, np.full(y.size, problem.constant)])
        with one_blas_thread():
            found = solve_hinge_conic(dense, y, problem.norm, problem.C, max_time=self.max_time)
            tracker.primal = found.primal
            tracker.lower_bound(found.dual, lambda: as_labellings(found.alpha))
            # An interior-point method leaves tiny weights on all columns.
            working = WorkingColumns(problem)
            working.add(np.arange(problem.design.n_columns))
            w, primal = drop_small_weights(working, found.w[working.columns], tracker)
            status = Status.MAX_TIME if tracker.deadline.is_over else Status.STALLED
            result = finish(problem, tracker, working.scattered(w), primal, status)
        details = {"kernel_weights_": found.d[: X.shape[1]]}
        fit = BinaryFit.of(result, problem, trouble=self._gap_trouble(result), details=details)
        return replace(fit, n_iter=found.n_steps)


def as_labellings(alpha: FloatArray) -> CutWeights:
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
        cuts[k] = np.packbits(alpha >= value)
    return CutWeights(weights, cuts)
