"""The conic forms of both master problems, solved by Clarabel: the reference and the fall-back.

    master:  min  1/2 ||c_0||^2 + (B tau + sum_u s_u) / 2 - <q, alpha>
             s.t. ||c_u||^2 <= s_u + tau,  s >= 0,  tau >= 0,  alpha >= 0,  sum alpha <= C

with ``c = A^T alpha``, u the units and 0 the columns that are always in: the sum of the B largest
``||c_u||^2`` is ``min_tau B tau + sum_u (||c_u||^2 - tau)_+``.

    groups:  min  theta - <q, alpha>   s.t.  1/2 ||A_t^T alpha||^2 <= theta  for each group t

which is the paper's QCQP ((16), Corollary 1). This is the only module that imports Clarabel;
``scoresieve.baselines.conic_hinge`` has one more model.
"""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
from numpy.linalg import LinAlgError
from scipy import sparse

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.solvers.bundle.scaled import MasterProblem, MasterSolution

#: A larger cap of sum alpha, in scaled units, is taken as this one: Clarabel would lose accuracy.
LARGEST_CAP = 1e6
#: A unit that numbers are divided by is at least this.
SMALLEST_UNIT = 1e-300

_USABLE = {
    "Solved",
    "AlmostSolved",
    "InsufficientProgress",
    "MaxIterations",
    "MaxTime",
    "NumericalError",
}


def _settings(tol: float) -> clarabel.DefaultSettings:
    """One thread and the QDLDL factorisation: measured two to three times faster here."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.direct_solve_method = "qdldl"
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    return settings


@dataclass(frozen=True, eq=False)
class ConicProgramme:
    """``min 1/2 x^T P x + <linear, x>`` with ``sides - rows x`` in the product of the cones.

    The first rows are ``>= 0``. The last ones are of second-order cones, with these sizes.
    """

    quadratic: sparse.csc_matrix  # P, upper triangle
    linear: FloatArray
    rows: sparse.csc_matrix
    sides: FloatArray
    cone_sizes: list[int]


def run_clarabel(
    programme: ConicProgramme, tol: float, max_time: float | None = None
) -> tuple[FloatArray, FloatArray, int]:
    """Clarabel's (x, duals, steps), after at most ``max_time`` seconds."""
    settings = _settings(tol)
    if max_time is not None:
        settings.time_limit = max_time
    sizes = programme.cone_sizes
    cones = [clarabel.NonnegativeConeT(programme.sides.size - sum(sizes))]
    cones += [clarabel.SecondOrderConeT(size) for size in sizes]
    solver = clarabel.DefaultSolver(
        programme.quadratic,
        programme.linear,
        programme.rows,
        programme.sides,
        cones,
        settings,
    )
    answer = solver.solve()
    status = str(answer.status)
    if status not in _USABLE or not np.all(np.isfinite(answer.x)):
        raise LinAlgError(f"the conic solver ended with the status {status}")
    return np.array(answer.x), np.array(answer.z), int(answer.iterations)


def solve_master_conic(problem: MasterProblem, *, tol: float = 1e-9) -> MasterSolution:
    """Solve the master problem by Clarabel, to ``tol`` in scaled units.

    The points are made feasible, and their values are recomputed here.
    """
    n_cuts = problem.losses.size
    # The optimum of a large C often has sum alpha far below C, so C itself is no good scale.
    scale_alpha = problem.best_multiple(np.full(n_cuts, 1.0 / n_cuts))
    scale_loss = max(float(problem.losses.max()), SMALLEST_UNIT)
    places = _places(problem)
    x, duals, steps = run_clarabel(_master_programme(problem, places, scale_alpha, scale_loss), tol)
    alpha = problem.feasible(x[:n_cuts] * scale_alpha)
    w = np.zeros(problem.cuts.shape[1])
    # The cones' multipliers are the weights (stationarity in alpha): w_u = -2 z_u.
    w[places.columns] = -2.0 * np.sqrt(scale_alpha * scale_loss) * duals[places.rows]
    fixed = problem.norm.always
    w[fixed] = problem.cuts[:, fixed].T @ alpha
    w = min(w, _stretched(problem, w), key=problem.primal)
    return MasterSolution(w, alpha, problem.primal(w), problem.dual(alpha), steps)


def _stretched(problem: MasterProblem, w: FloatArray) -> FloatArray:
    """The multiple of w that just meets every cut; w itself where none does."""
    outputs, needed = problem.cuts @ w, problem.losses > 0.0
    if not np.all(outputs[needed] > 0.0):
        return w
    return w * (float(np.max(problem.losses[needed] / outputs[needed], initial=1.0)) + 1e-14)


@dataclass(frozen=True, eq=False)
class _Places:
    """Where the columns and the cones of the units stand among the rows of the programme.

    The first ``n + 1`` rows are the bounds of the n variables (alpha, s, tau) and the cap. The cone
    of unit u has two rows, then one for each of its columns.
    """

    columns: IntArray  # columns that belong to a unit, sorted by unit
    rows: IntArray  # row of each of these
    heads: IntArray  # first row of each unit's cone
    sizes: IntArray  # rows of each unit's cone


def _places(problem: MasterProblem) -> _Places:
    """Lay the cones out, one unit after the other."""
    unit_of, n_units = problem.norm.unit_of, problem.norm.n_units
    columns = np.argsort(unit_of, kind="stable")
    columns = columns[unit_of[columns] >= 0]
    sizes = np.bincount(unit_of[columns], minlength=n_units) + 2
    first = problem.losses.size + n_units + 2
    heads = first + np.cumsum(sizes) - sizes
    rows = first + np.arange(columns.size) + 2 * (unit_of[columns] + 1)
    return _Places(columns, rows, heads, sizes)


def _master_programme(
    problem: MasterProblem, places: _Places, scale_alpha: float, scale_loss: float
) -> ConicProgramme:
    """``||(t - 1, 2 c_u)|| <= t + 1`` with ``t = s_u + tau`` and ``c = A^T alpha``, for each u."""
    cuts = problem.cuts * np.sqrt(scale_alpha / scale_loss)
    n_cuts, n_units = cuts.shape[0], problem.norm.n_units
    n = n_cuts + n_units + 1
    fixed = cuts[:, problem.norm.always]
    quadratic = sparse.csc_matrix(np.triu(fixed @ fixed.T))
    quadratic.resize((n, n))
    budget = float(problem.norm.budget)
    linear = np.concatenate([-problem.losses / scale_loss, np.full(n_units, 0.5), [0.5 * budget]])
    sides = np.zeros(n + 1 + int(places.sizes.sum()))
    sides[n] = min(problem.C / scale_alpha, LARGEST_CAP)
    sides[places.heads], sides[places.heads + 1] = 1.0, -1.0
    rows = _master_rows(-2.0 * cuts[:, places.columns], places, n, sides.size)
    return ConicProgramme(quadratic, linear, rows, sides, places.sizes.tolist())


def _master_rows(block: FloatArray, places: _Places, n: int, n_rows: int) -> sparse.csc_matrix:
    """The constraint matrix, written column by column in CSC form.

    Column k of alpha has its bound, the cap and row k of ``block``; column u of s its bound and the
    head of its cone; the column of tau its bound and the heads of all cones.
    """
    n_cuts, n_units = block.shape[0], places.heads.size
    heads = np.column_stack([places.heads, places.heads + 1])
    of_alpha = np.empty((n_cuts, 2 + places.rows.size), dtype=np.int64)
    of_alpha[:, 0], of_alpha[:, 1], of_alpha[:, 2:] = np.arange(n_cuts), n, places.rows
    of_s = np.column_stack([n_cuts + np.arange(n_units), heads])
    indices = np.concatenate([of_alpha.ravel(), of_s.ravel(), [n - 1], heads.ravel()])
    values = np.full(of_alpha.shape, -1.0)
    values[:, 1], values[:, 2:] = 1.0, block
    data = np.concatenate([values.ravel(), np.full(indices.size - values.size, -1.0)])
    lengths = np.repeat([of_alpha.shape[1], 3, 1 + 2 * n_units], [n_cuts, n_units, 1])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    rows = sparse.csc_matrix((data, indices, indptr), shape=(n_rows, n))
    rows.eliminate_zeros()
    return rows


@dataclass(frozen=True, eq=False)
class QCQPSolution:
    """Solution of the paper's QCQP over groups.

    Attributes
    ----------
    alpha : ndarray of shape (n_cuts,)
    mu : ndarray of shape (n_groups,)
        Weight of each group, ``mu >= 0`` and ``sum mu = 1``.
    weights : list of ndarray
        ``w_t = mu_t A_t^T alpha`` for each group, from the multipliers of its cone: those meet the
        cuts to Clarabel's tolerance, the product only to its square root.
    dual : float
        ``<q, alpha> - max_t 1/2 ||A_t^T alpha||^2``: the lower bound J_K of the restricted problem.
    """

    alpha: FloatArray
    mu: FloatArray
    weights: list[FloatArray]
    dual: float


def solve_group_qcqp(
    groups: list[FloatArray], losses: FloatArray, C: float, *, tol: float = 1e-9
) -> QCQPSolution:
    """``max <q, alpha> - theta`` with ``1/2 ||A_t^T alpha||^2 <= theta``, ``sum alpha <= C``.

    Parameters
    ----------
    groups : list of ndarray of shape (n_cuts, size of the group)
        ``A_t``: the cuts on the columns of each group.
    losses : ndarray of shape (n_cuts,)
        ``q``.
    """
    n_cuts, scale_loss = losses.size, max(float(losses.max()), SMALLEST_UNIT)
    if not groups:
        alpha = C * (np.arange(n_cuts) == np.argmax(losses))
        return QCQPSolution(alpha, np.zeros(0), [], float(losses @ alpha))
    scale_alpha = _group_scale(groups, losses, C)
    bases = [_orthogonal_basis(cuts) for cuts in groups]
    scaled = [cuts * np.sqrt(scale_alpha / scale_loss) for cuts in groups]
    n = n_cuts + 1
    linear = np.concatenate([-losses / scale_loss, [1.0]])
    bounds = -sparse.identity(n, format="csc")[:n_cuts]
    cap = sparse.csc_matrix(np.concatenate([np.ones(n_cuts), [0.0]])[None])
    blocks = [_group_cone(basis, cuts) for basis, cuts in zip(bases, scaled, strict=True)]
    sizes = [block.shape[0] for block in blocks]
    heads = n + np.cumsum(sizes) - sizes
    sides = np.zeros(n + sum(sizes))
    sides[n_cuts], sides[heads], sides[heads + 1] = min(C / scale_alpha, LARGEST_CAP), 0.5, -0.5
    rows = sparse.vstack([bounds, cap, *blocks], format="csc")
    programme = ConicProgramme(sparse.csc_matrix((n, n)), linear, rows, sides, sizes)
    x, duals, _ = run_clarabel(programme, tol)
    alpha = scale_alpha * np.maximum(x[:n_cuts], 0.0)
    alpha *= min(1.0, C / max(alpha.sum(), np.finfo(float).tiny))
    # The multiplier of theta in cone t is z_0 + z_1; they sum to one. The others are -w_t.
    mu = np.maximum(duals[heads] + duals[heads + 1], 0.0)
    unit = -np.sqrt(scale_alpha * scale_loss)
    parts = np.split(duals[n:], np.cumsum(sizes)[:-1])
    weights = [unit * (basis @ z[2:]) for basis, z in zip(bases, parts, strict=True)]
    strongest = max(float(np.sum((cuts.T @ alpha) ** 2)) for cuts in groups)
    dual = float(losses @ alpha) - 0.5 * strongest
    return QCQPSolution(alpha, mu / max(mu.sum(), np.finfo(float).tiny), weights, dual)


def _group_scale(groups: list[FloatArray], losses: FloatArray, C: float) -> float:
    """``min(C, <q, e> / max_t ||A_t^T e||^2)``, e the equal weights of sum 1; C if q is below 0."""
    gain = float(losses.mean())
    curvature = max(float(np.sum(cuts.mean(axis=0) ** 2)) for cuts in groups)
    return gain / curvature if 0.0 < gain < curvature * C else C


def _orthogonal_basis(cuts: FloatArray) -> FloatArray | sparse.sparray:
    """Q with ``Q^T Q = I`` and ``Q Q^T A_t^T = A_t^T``, of at most as many columns as cuts."""
    if cuts.shape[1] > cuts.shape[0]:
        return np.linalg.qr(cuts.T)[0]
    return sparse.eye_array(cuts.shape[1], format="csr")


def _group_cone(basis: FloatArray | sparse.sparray, cuts: FloatArray) -> sparse.csc_matrix:
    """``||(theta - 1/2, Q^T A_t^T alpha)|| <= theta + 1/2``; ``||Q^T c|| = ||c||`` on its range."""
    factor = basis.T @ cuts.T
    rows = np.zeros((factor.shape[0] + 2, cuts.shape[0] + 1))
    rows[0, -1] = rows[1, -1] = -1.0
    rows[2:, :-1] = -factor
    return sparse.csc_matrix(rows)
