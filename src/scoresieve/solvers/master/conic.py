"""The conic form of the master problem, solved by Clarabel: the reference and the fall-back.

    min  1/2 ||c_0||^2 + (B tau + sum_u s_u) / 2 - <q, alpha>
    s.t. ||c_u||^2 <= s_u + tau,  s >= 0,  tau >= 0,  alpha >= 0,  sum alpha <= C

with ``c = A^T alpha``, u the units and 0 the columns that are always in: the sum of the B largest
``||c_u||^2`` is ``min_tau B tau + sum_u (||c_u||^2 - tau)_+``.

This is the only module that imports Clarabel; ``scoresieve.baselines`` has two more models.
"""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
from numpy.linalg import LinAlgError
from scipy import sparse

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.solvers.master.problem import MasterProblem, MasterSolution

#: A larger cap of sum alpha, in scaled units, is taken as this one: Clarabel would lose accuracy.
LARGEST_CAP = 1e6
#: A scale that numbers are divided by is at least this.
LEAST_SCALE = 1e-300

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
    scale_loss = max(float(problem.losses.max()), LEAST_SCALE)
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
