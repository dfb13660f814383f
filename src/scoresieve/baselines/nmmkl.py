"""``NMMKL``: one linear kernel a feature, for few features, as one conic programme in the weights.

    min  1/2 ||w_0||^2 + 1/2 sum_j s_j + C sum_i xi_i
    s.t. w_j^2 <= s_j d_j,  0 <= d_j <= 1,  sum_j d_j <= B,
         y_i <w, x_i> >= 1 - xi_i,  xi_i >= 0

with ``w_0`` the columns that are always in. It holds all of X, and one cone a column; Clarabel
solves it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._checks import check_C, check_positive
from scoresieve.baselines._baseline import Baseline, BinaryFit
from scoresieve.estimators.budget_model import DEFAULT_BUDGET
from scoresieve.estimators.linear_model import CertifiedMixin
from scoresieve.estimators.persistence.fields import array, each
from scoresieve.estimators.persistence.values import classifier
from scoresieve.regularizers import BudgetNorm
from scoresieve.risks import CutWeights
from scoresieve.solvers.engines import drop_small_weights, make_result
from scoresieve.solvers.limits import Limits, Status, Tracker, one_blas_thread
from scoresieve.solvers.master.conic import LARGEST_CAP, LEAST_SCALE, ConicProgramme, run_clarabel
from scoresieve.solvers.problem import Problem, budget_arguments, make_problems
from scoresieve.solvers.working import WorkingColumns

logger = logging.getLogger(__name__)

#: Most features. At 1,000 features and 300 rows a fit takes about ten seconds, with twice as many
#: features thirty, and the time grows in the same way with the number of rows.
MAX_FEATURES = 1000


@dataclass(eq=False, repr=False, kw_only=True)
class NMMKL(CertifiedMixin, Baseline):
    """``min_{d in D} min_w 1/2 sum_j w_j^2 / d_j + C sum_i max(0, 1 - y_i <w, x_i>)``.

    Non-monotonic feature selection (Xu, Jin, Ye, Lyu and King, ICML 2009) looks for the B features
    that minimise the dual of the SVM; these need not contain the best B - 1. It relaxes the choice
    to a multiple kernel learning problem with one base kernel per feature, whose weights are in
    ``D = {0 <= d_j <= 1, sum_j d_j <= B}``, and rounds the weights to B features. Mao and Tsang's
    problem with the Hamming loss is the same one; "NMMKL" is their name for the method.

    **Conventions**

    The same as in the original: the relaxed problem. Differences:

    * it is solved in the primal by Clarabel, as one conic program with a cone per feature. The
      original solves the dual with one kernel matrix per feature. Both hold all features at once,
      so more than 1,000 are refused: :class:`~scoresieve.MeasureSVC` with ``measure="accuracy"``
      has the same optimum and no such limit;
    * ``coef_`` is the relaxed solution, with more than B features. The B largest entries of
      ``kernel_weights_`` are the rounded choice;
    * kernels are linear;
    * the intercept is the weight of a constant column outside the budget, as in ``LinearSVC``; the
      original has an unregularised bias;
    * more than two classes, or an indicator matrix, are fitted one-vs-rest.

    Parameters
    ----------
    budget : int, optional
        B. 50 by default, or all features if there are fewer.
    C : float, default=1.0
        Weight of the loss, in the scale of ``LinearSVC(loss="hinge")``.
    tol : float, default=1e-4
        Certified relative gap to reach. The conic solver usually reaches 1e-7.
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

    _saved = classifier("problem_", "certificate") | {
        "kernel_weights_": each(array(np.float64, "features"))
    }

    def _problem(self, X: Any, y: FloatArray) -> Problem:
        """The problem that :func:`scoresieve.certify` knows."""
        scaling = check_positive(self.intercept_scaling, "intercept_scaling")
        (problem,) = make_problems(
            X,
            [y],
            measure="accuracy",
            bound="paper",
            C=check_C(self.C),
            intercept_scaling=scaling if self.fit_intercept else 0.0,
            **budget_arguments(self.budget, None, DEFAULT_BUDGET),
        )
        return problem

    def _fit_binary(self, X: Any, y: FloatArray) -> BinaryFit:
        if X.shape[1] > MAX_FEATURES:
            raise ValueError(
                f"X has {X.shape[1]} features; NMMKL takes at most {MAX_FEATURES}, because "
                "it keeps one kernel per feature in memory. MeasureSVC('accuracy') solves the same "
                "problem for any number of features."
            )
        problem = self._problem(X, y)
        limits = Limits(self.tol, 1, self.max_time)
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
            result = make_result(problem, tracker, working.scattered(w), primal, status)
        details = {"kernel_weights_": found.d[: X.shape[1]]}
        trouble = self._gap_trouble(result)
        fit = BinaryFit.of(result, problem, trouble=trouble, C=problem.C, details=details)
        return replace(fit, n_iter=found.n_steps)


def as_labellings(alpha: FloatArray) -> CutWeights:
    """``alpha = sum_k weight_k [alpha >= v_k]``: multipliers of rows as weights of labellings.

    With ``v_1 > v_2 > ...`` the distinct positive values, ``weight_k = v_k - v_{k+1}``. The
    weights sum to ``max_i alpha_i``, and their gain, with n errors counted as n, is
    ``sum_i alpha_i``: the same point of both duals of the hinge loss.
    """
    values = np.unique(alpha[alpha > 0.0])[::-1]
    weights = values - np.append(values[1:], 0.0)
    cuts = np.empty((values.size, -(-alpha.size // 8)), dtype=np.uint8)
    for k, value in enumerate(values):
        cuts[k] = np.packbits(alpha >= value)
    return CutWeights(weights, cuts)


class HingeSolution(NamedTuple):
    """``w``, kernel weights ``d`` and row multipliers ``alpha`` in [0, C], with values recomputed.

    ``primal = 1/2 ||w||_B^2 + C sum_i hinge_i``,
    ``dual = sum_i alpha_i - 1/2 ||X^T (alpha * y)||_(B)^2``; d is 1 for columns always in.
    """

    w: FloatArray
    d: FloatArray
    alpha: FloatArray
    primal: float
    dual: float
    n_steps: int


def solve_hinge_conic(
    X: FloatArray,
    y: FloatArray,
    norm: BudgetNorm,
    C: float,
    *,
    tol: float = 1e-8,
    max_time: float | None = None,
) -> HingeSolution:
    """``min_w 1/2 ||w||_B^2 + C sum_i (1 - y_i <w, x_i>)_+`` by Clarabel; w = 0 if that fails.

    Parameters
    ----------
    norm : BudgetNorm
        On the columns of X, without groups and without excluded columns.
    tol : float
        Clarabel's feasibility and gap tolerances.
    max_time : float, optional
        Seconds, after which the last point is returned; honoured within one of Clarabel's steps.
    """
    if norm.has_groups or norm.excluded.size:
        raise ValueError("norm must have no groups and no excluded columns here; use the bundle.")
    signed = y[:, np.newaxis] * X
    # Clarabel's tolerances suit rows of about unit length.
    length = max(float(np.sqrt(np.mean(np.sum(signed * signed, axis=1)))), LEAST_SCALE)
    programme = _programme(signed / length, norm, min(C * length**2, LARGEST_CAP))
    try:
        x, duals, n_steps = run_clarabel(programme, tol, max_time)
    except LinAlgError as error:
        logger.warning("no solution of the hinge problem: %s", error)
        x, duals, n_steps = np.zeros(programme.linear.size), np.zeros(y.size), 0
    w = x[: X.shape[1]] / length
    primal, w = min(
        ((_primal(signed, norm, C, each), each) for each in (w, _stretched(signed, w), 0.0 * w)),
        key=lambda pair: pair[0],
    )
    multipliers = (np.clip(duals[: y.size] / length**2, 0.0, C), np.full(y.size, C))
    dual, alpha = max(
        (_best_multiple(signed, norm, C, each) for each in multipliers), key=lambda pair: pair[0]
    )
    d = np.ones(X.shape[1])
    free = np.flatnonzero(norm.unit_of >= 0)
    d[free] = np.clip(x[X.shape[1] + free.size : X.shape[1] + 2 * free.size], 0.0, 1.0)
    return HingeSolution(w, d, alpha, primal, dual, n_steps)


def _primal(signed: FloatArray, norm: BudgetNorm, C: float, w: FloatArray) -> float:
    """``1/2 ||w||_B^2 + C sum_i (1 - y_i <w, x_i>)_+``."""
    return 0.5 * norm.value_squared(w) + C * float(np.maximum(0.0, 1.0 - signed @ w).sum())


def _stretched(signed: FloatArray, w: FloatArray) -> FloatArray:
    """The multiple of w with the margin 1, if it separates the classes; a cap of C needs it."""
    margin = float(np.min(signed @ w))
    return w / margin if 0.0 < margin < 1.0 else w


def _best_multiple(
    signed: FloatArray, norm: BudgetNorm, C: float, alpha: FloatArray
) -> tuple[float, FloatArray]:
    """``max_t t sum alpha - t^2/2 ||X^T (alpha * y)||_(B)^2``, ``t alpha <= C``; and t alpha."""
    total, strength = float(alpha.sum()), norm.dual_squared(signed.T @ alpha)
    if total == 0.0:
        return 0.0, alpha
    limit = C / float(alpha.max())
    factor = limit if limit * strength <= total else total / strength
    return factor * total - 0.5 * factor**2 * strength, np.minimum(factor * alpha, C)


def _programme(signed: FloatArray, norm: BudgetNorm, C: float) -> ConicProgramme:
    """Variables (w, s, d, xi); rows: margins, bounds of d and xi, the budget, one cone a column."""
    n_samples, n_columns = signed.shape
    free = np.flatnonzero(norm.unit_of >= 0)
    n_free = free.size
    fixed = np.zeros(n_columns)
    fixed[norm.always] = 1.0
    quadratic = sp.block_diag(
        [sp.diags_array(fixed), sp.csc_array((2 * n_free + n_samples,) * 2)], format="csc"
    )
    linear = np.concatenate(
        [np.zeros(n_columns), np.full(n_free, 0.5), np.zeros(n_free), np.full(n_samples, C)]
    )
    eye_d, eye_xi = sp.eye_array(n_free), sp.eye_array(n_samples)
    bounds = sp.block_array(
        [
            [sp.csc_array(-signed), sp.csc_array((n_samples, n_free)), None, -eye_xi],
            [None, None, eye_d, None],
            [None, None, -eye_d, None],
            [None, None, np.ones((1, n_free)), None],
            [None, None, None, -eye_xi],
        ]
    )
    sides = np.concatenate(
        [-np.ones(n_samples), np.ones(n_free), np.zeros(n_free), [norm.budget], np.zeros(n_samples)]
    )
    rows = sp.vstack([bounds, _cones(free, n_columns, n_samples)], format="csc")
    sides = np.concatenate([sides, np.zeros(3 * n_free)])
    rows, quadratic = sp.csc_matrix(rows), sp.csc_matrix(quadratic)
    return ConicProgramme(quadratic, linear, rows, sides, [3] * n_free)


def _cones(free: IntArray, n_columns: int, n_samples: int) -> sp.csc_array:
    """``||(s_j - d_j, 2 w_j)|| <= s_j + d_j`` for each column j that the budget counts."""
    n_free = free.size
    heads = 3 * np.arange(n_free)
    at_s, at_d = n_columns + np.arange(n_free), n_columns + n_free + np.arange(n_free)
    places = [(heads, at_s), (heads, at_d), (heads + 1, at_s), (heads + 1, at_d), (heads + 2, free)]
    values = np.repeat([-1.0, -1.0, -1.0, 1.0, -2.0], n_free)
    rows = np.concatenate([row for row, _ in places])
    columns = np.concatenate([column for _, column in places])
    shape = (3 * n_free, n_columns + 2 * n_free + n_samples)
    return sp.csc_array((values, (rows, columns)), shape=shape)
