"""The linear programme of the l1-regularised bundle method, on the cuts and columns seen so far.

primal:  min  ||w||_1 + C xi      s.t.  xi >= q_k - <a_k, w>,  xi >= 0
dual:    max  <q, alpha>          s.t.  |A^T alpha|_j <= 1,  sum alpha <= C,  alpha >= 0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from scipy.optimize import linprog

from scoresieve._arrays import FloatArray

#: What ``linprog`` reports for a limit of time.
_AT_A_LIMIT = 1


@dataclass(frozen=True, eq=False)
class L1MasterSolution:
    """An optimal vertex.

    Attributes
    ----------
    w : ndarray of shape (n_columns,)
        At most as many non-zeros as cuts.
    alpha : ndarray of shape (n_cuts,)
        Feasible for the dual on these columns, up to the solver's tolerance.
    """

    w: FloatArray
    alpha: FloatArray


def solve_l1_master(
    cuts: FloatArray, losses: FloatArray, C: float, *, max_time: float | None = None
) -> L1MasterSolution | None:
    """Solve the programme by the dual simplex method of HiGHS; None if the time is over.

    Parameters
    ----------
    cuts : ndarray of shape (n_cuts, n_columns)
        ``A``.
    losses : ndarray of shape (n_cuts,)
        ``q``, not negative.
    max_time : float, optional
        Seconds.

    Raises
    ------
    numpy.linalg.LinAlgError
        If HiGHS fails.
    """
    n_cuts, n_columns = cuts.shape
    if max_time is not None and max_time <= 0.0:
        return None
    # HiGHS works with absolute tolerances, so the losses are brought to at most 1.
    unit = max(float(losses.max()), 1e-300)
    costs = np.append(np.ones(2 * n_columns), C)
    rows = np.hstack([-cuts, cuts, -np.ones((n_cuts, 1))])
    # Presolve takes several times as long as the simplex method itself on these dense rows.
    options = {"presolve": False, "time_limit": max_time}
    answer = linprog(costs, A_ub=rows, b_ub=-losses / unit, method="highs-ds", options=options)
    if answer.status == _AT_A_LIMIT:
        return None
    if answer.status != 0:
        raise LinAlgError(f"the linear programme was not solved: {answer.message}")
    parts = answer.x[:-1].reshape(2, n_columns)
    alpha = np.maximum(0.0, -answer.ineqlin.marginals)
    alpha *= min(1.0, C / max(float(alpha.sum()), np.finfo(float).tiny))
    return L1MasterSolution(unit * (parts[0] - parts[1]), alpha)
