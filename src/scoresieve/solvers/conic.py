"""The conic forms of both master problems, solved by Clarabel: the reference and the fall-back.

    master:  min  1/2 ||c_0||^2 + (B tau + sum_u s_u) / 2 - <q, alpha>
             s.t. ||c_u||^2 <= s_u + tau,  s >= 0,  tau >= 0,  alpha >= 0,  sum alpha <= C

with ``c = A^T alpha``, u the units and 0 the columns that are always in: the sum of the B largest
``||c_u||^2`` is ``min_tau B tau + sum_u (||c_u||^2 - tau)_+``.

    groups:  min  theta - <q, alpha>   s.t.  1/2 ||A_t^T alpha||^2 <= theta  for each group t

which is the paper's QCQP (Corollary 1). This is the only module that imports Clarabel.
"""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray
from scipy import sparse

from scoresieve.solvers.master import MasterProblem, MasterSolution

FloatArray = NDArray[np.float64]

_USABLE = {"Solved", "AlmostSolved", "InsufficientProgress", "MaxIterations", "NumericalError"}


def _settings(tol: float) -> clarabel.DefaultSettings:
    """One thread and the QDLDL factorisation: measured two to three times faster here."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.direct_solve_method = "qdldl"
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    return settings


def _run(
    quadratic: sparse.csc_matrix,
    linear: FloatArray,
    blocks: list[tuple[sparse.csc_matrix, FloatArray, object]],
    tol: float,
) -> tuple[FloatArray, FloatArray, int]:
    """Solve ``min 1/2 x'Px + q'x`` with ``b - A x`` in each block's cone; (x, duals, steps)."""
    rows = sparse.vstack([matrix for matrix, _, _ in blocks], format="csc")
    sides = np.concatenate([side for _, side, _ in blocks])
    cones = [cone for _, _, cone in blocks]
    solver = clarabel.DefaultSolver(quadratic, linear, rows, sides, cones, _settings(tol))
    answer = solver.solve()
    status = str(answer.status)
    if status not in _USABLE or not np.all(np.isfinite(answer.x)):
        raise LinAlgError(f"the conic solver ended with the status {status}")
    return np.array(answer.x), np.array(answer.z), int(answer.iterations)


def solve_master_conic(problem: MasterProblem, *, tol: float = 1e-9) -> MasterSolution:
    """Solve the master problem by Clarabel.

    Parameters
    ----------
    problem : MasterProblem
    tol : float
        Clarabel's feasibility and gap tolerances, in scaled units.

    Returns
    -------
    MasterSolution
        Its points are made feasible, and their values are recomputed here.
    """
    scale_alpha, scale_loss = problem.C, max(float(problem.losses.max()), 1e-300)
    cuts = problem.cuts * np.sqrt(scale_alpha / scale_loss)
    units = _unit_columns(problem)
    n_cuts, n_units = cuts.shape[0], len(units)
    fixed = np.flatnonzero(problem.norm.unit_of == -1)
    gram = cuts[:, fixed] @ cuts[:, fixed].T
    quadratic = sparse.block_diag([np.triu(gram), sparse.csc_matrix((n_units + 1,) * 2)], "csc")
    budget = float(problem.norm.budget)
    linear = np.concatenate([-problem.losses / scale_loss, np.full(n_units, 0.5), [0.5 * budget]])
    n = linear.size
    cap = sparse.csc_matrix(np.concatenate([np.ones(n_cuts), np.zeros(n_units + 1)])[None])
    blocks = [
        (-sparse.identity(n, format="csc"), np.zeros(n), clarabel.NonnegativeConeT(n)),
        (cap, np.ones(1), clarabel.NonnegativeConeT(1)),
    ]
    for u, columns in enumerate(units):
        blocks.append(_rotated_cone(cuts[:, columns], n, n_cuts + u))
    x, duals, steps = _run(quadratic, linear, blocks, tol)
    alpha = problem.feasible(x[:n_cuts] * scale_alpha)
    w = _weights_from_duals(problem, duals[n + 1 :], units, np.sqrt(scale_alpha * scale_loss))
    w[fixed] = problem.cuts[:, fixed].T @ alpha
    return MasterSolution(w, alpha, problem.primal(w), problem.dual(alpha), steps)


def _unit_columns(problem: MasterProblem) -> list[NDArray[np.int64]]:
    """The column numbers of each unit."""
    unit_of = problem.norm.unit_of
    order = np.argsort(unit_of, kind="stable")
    order = order[unit_of[order] >= 0]
    starts = np.searchsorted(unit_of[order], np.arange(problem.norm.n_units + 1))
    return [order[starts[u] : starts[u + 1]] for u in range(problem.norm.n_units)]


def _rotated_cone(
    cuts: FloatArray, n: int, slack_at: int
) -> tuple[sparse.csc_matrix, FloatArray, object]:
    """``||(t - 1, 2c)|| <= t + 1`` with ``t = s_u + tau`` and ``c = cuts^T alpha``."""
    size = cuts.shape[1] + 2
    rows = sparse.lil_matrix((size, n))
    rows[0, slack_at] = rows[0, n - 1] = rows[1, slack_at] = rows[1, n - 1] = -1.0
    rows[2:, : cuts.shape[0]] = -2.0 * cuts.T
    side = np.zeros(size)
    side[0], side[1] = 1.0, -1.0
    return rows.tocsc(), side, clarabel.SecondOrderConeT(size)


def _weights_from_duals(
    problem: MasterProblem, duals: FloatArray, units: list[NDArray[np.int64]], scale: float
) -> FloatArray:
    """``w_u = -2 z_u``: the cones' multipliers are the weights (stationarity in alpha)."""
    w = np.zeros(problem.cuts.shape[1])
    position = 0
    for columns in units:
        size = columns.size + 2
        w[columns] = -2.0 * scale * duals[position + 2 : position + size]
        position += size
    return w


@dataclass(frozen=True, eq=False)
class GroupSolution:
    """Solution of the paper's QCQP over groups.

    Attributes
    ----------
    alpha : ndarray of shape (n_cuts,)
    mu : ndarray of shape (n_groups,)
        Weight of each group, ``mu >= 0`` and ``sum mu = 1``; ``w_t = mu_t A_t^T alpha``.
    dual : float
        ``<q, alpha> - max_t 1/2 ||A_t^T alpha||^2``: the lower bound J_K of the restricted problem.
    """

    alpha: FloatArray
    mu: FloatArray
    dual: float


def solve_group_qcqp(
    groups: list[FloatArray], losses: FloatArray, C: float, *, tol: float = 1e-9
) -> GroupSolution:
    """``max <q, alpha> - theta`` with ``1/2 ||A_t^T alpha||^2 <= theta``, ``sum alpha <= C``.

    Parameters
    ----------
    groups : list of ndarray of shape (n_cuts, size of the group)
        ``A_t``: the cuts on the columns of each group.
    losses : ndarray of shape (n_cuts,)
        ``q``.
    C : float
    tol : float
        Clarabel's tolerances, in scaled units.
    """
    n_cuts, scale_loss = losses.size, max(float(losses.max()), 1e-300)
    n = n_cuts + 1
    factor = np.sqrt(C / scale_loss)
    linear = np.concatenate([-losses / scale_loss, [1.0]])
    bounds = sparse.identity(n, format="csc")[:n_cuts]
    cap = sparse.csc_matrix(np.concatenate([np.ones(n_cuts), [0.0]])[None])
    blocks = [
        (-bounds, np.zeros(n_cuts), clarabel.NonnegativeConeT(n_cuts)),
        (cap, np.ones(1), clarabel.NonnegativeConeT(1)),
    ]
    for cuts in groups:
        blocks.append(_group_cone(cuts * factor, n))
    x, duals, _ = _run(sparse.csc_matrix((n, n)), linear, blocks, tol)
    alpha = np.maximum(x[:n_cuts], 0.0)
    alpha *= C / max(alpha.sum(), 1.0) if alpha.sum() > 1.0 else C
    mu = _group_weights(duals[n:], blocks[2:])
    strongest = max(float(np.sum((cuts.T @ alpha) ** 2)) for cuts in groups)
    return GroupSolution(alpha, mu, float(losses @ alpha) - 0.5 * strongest)


def _group_cone(cuts: FloatArray, n: int) -> tuple[sparse.csc_matrix, FloatArray, object]:
    """``||(theta - 1/2, sqrt(2) R alpha)|| <= theta + 1/2``, with R the triangular factor of A_t^T.

    ``||R alpha|| = ||A_t^T alpha||``, and R has at most as many rows as there are cuts.
    """
    factor = np.linalg.qr(cuts.T, mode="r") if cuts.shape[1] > cuts.shape[0] else cuts.T
    rows = np.zeros((factor.shape[0] + 2, n))
    rows[0, -1] = rows[1, -1] = -1.0
    rows[2:, : cuts.shape[0]] = -factor
    side = np.zeros(rows.shape[0])
    side[0], side[1] = 0.5, -0.5
    return sparse.csc_matrix(rows), side, clarabel.SecondOrderConeT(rows.shape[0])


def _group_weights(duals: FloatArray, cones: list) -> FloatArray:
    """``mu_t``: the multiplier of theta in cone t, ``z_0 + z_1``; they sum to one."""
    mu, position = [], 0
    for _, side, _ in cones:
        mu.append(duals[position] + duals[position + 1])
        position += side.size
    mu = np.maximum(mu, 0.0)
    return mu / mu.sum()
