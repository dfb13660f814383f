"""The hinge loss with the budget norm as one conic programme in the weights, solved by Clarabel.

    min  1/2 ||w_0||^2 + 1/2 sum_j s_j + C sum_i xi_i
    s.t. w_j^2 <= s_j d_j,  0 <= d_j <= 1,  sum_j d_j <= B,
         y_i <w, x_i> >= 1 - xi_i,  xi_i >= 0

with ``w_0`` the columns that are always in. It holds all of X, and one cone a column.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from scipy import sparse

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.conic import LARGEST_CAP, SMALLEST_UNIT, ConicProgramme, run_clarabel

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class HingeSolution:
    """What the conic solver found, with both values recomputed from the points.

    Attributes
    ----------
    w : ndarray of shape (n_columns,)
    d : ndarray of shape (n_columns,)
        The weights of the columns' kernels, 1 for those always in.
    alpha : ndarray of shape (n_samples,)
        Multipliers of the rows, in [0, C].
    primal, dual : float
        ``1/2 ||w||_B^2 + C sum_i hinge_i`` and ``sum_i alpha_i - 1/2 ||X^T (alpha * y)||_(B)^2``.
    n_steps : int
        Of the interior-point method.
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
    """``min_w 1/2 ||w||_B^2 + C sum_i (1 - y_i <w, x_i>)_+`` by Clarabel.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
    y : ndarray of shape (n_samples,), in {-1, +1}
    norm : BudgetNorm
        On the columns of X, without groups and without excluded columns.
    tol : float
        Clarabel's feasibility and gap tolerances.
    max_time : float, optional
        Seconds, after which the last point is returned; honoured within one of Clarabel's steps.

    Returns
    -------
    HingeSolution
        If Clarabel fails, w = 0 and what that is worth.
    """
    if norm.has_groups or norm.excluded.size:
        raise ValueError("norm must have no groups and no excluded columns here; use the bundle.")
    signed = y[:, np.newaxis] * X
    # Clarabel's tolerances suit rows of about unit length.
    length = max(float(np.sqrt(np.mean(np.sum(signed * signed, axis=1)))), SMALLEST_UNIT)
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
    quadratic = sparse.block_diag(
        [sparse.diags_array(fixed), sparse.csc_array((2 * n_free + n_samples,) * 2)], format="csc"
    )
    linear = np.concatenate(
        [np.zeros(n_columns), np.full(n_free, 0.5), np.zeros(n_free), np.full(n_samples, C)]
    )
    eye_d, eye_xi = sparse.eye_array(n_free), sparse.eye_array(n_samples)
    bounds = sparse.block_array(
        [
            [sparse.csc_array(-signed), sparse.csc_array((n_samples, n_free)), None, -eye_xi],
            [None, None, eye_d, None],
            [None, None, -eye_d, None],
            [None, None, np.ones((1, n_free)), None],
            [None, None, None, -eye_xi],
        ]
    )
    sides = np.concatenate(
        [-np.ones(n_samples), np.ones(n_free), np.zeros(n_free), [norm.budget], np.zeros(n_samples)]
    )
    rows = sparse.vstack([bounds, _cones(free, n_columns, n_samples)], format="csc")
    sides = np.concatenate([sides, np.zeros(3 * n_free)])
    rows, quadratic = sparse.csc_matrix(rows), sparse.csc_matrix(quadratic)
    return ConicProgramme(quadratic, linear, rows, sides, [3] * n_free)


def _cones(free: IntArray, n_columns: int, n_samples: int) -> sparse.csc_array:
    """``||(s_j - d_j, 2 w_j)|| <= s_j + d_j`` for each column j that the budget counts."""
    n_free = free.size
    heads = 3 * np.arange(n_free)
    at_s, at_d = n_columns + np.arange(n_free), n_columns + n_free + np.arange(n_free)
    places = [(heads, at_s), (heads, at_d), (heads + 1, at_s), (heads + 1, at_d), (heads + 2, free)]
    values = np.repeat([-1.0, -1.0, -1.0, 1.0, -2.0], n_free)
    rows = np.concatenate([row for row, _ in places])
    columns = np.concatenate([column for _, column in places])
    shape = (3 * n_free, n_columns + 2 * n_free + n_samples)
    return sparse.csc_array((values, (rows, columns)), shape=shape)
