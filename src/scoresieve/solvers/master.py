"""The restricted master problem: the cuts and columns seen so far, solved exactly.

    min_w   1/2 ||w||_B^2 + C max(0, max_k q_k - <a_k, w>)                       (primal)
    max_{alpha >= 0, sum alpha <= C}   <q, alpha> - 1/2 ||A^T alpha||_(B)^2      (dual)

K cuts, S columns, both of the order of hundreds. The structured interior-point method solves it;
the conic solver takes over when that fails, which is logged.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from scoresieve.regularizers import BudgetNorm

FloatArray = NDArray[np.float64]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class MasterProblem:
    """``min_w 1/2 ||w||_B^2 + C max(0, max_k losses_k - <cuts_k, w>)``.

    Parameters
    ----------
    cuts : ndarray of shape (n_cuts, n_columns)
        Row k is ``a_k = X_S^T delta_k``.
    losses : ndarray of shape (n_cuts,)
        ``q_k = U * Delta_k``, not negative.
    C : float
        Weight of the risk, in the user's scale.
    norm : BudgetNorm
        The budget norm on the ``n_columns`` columns of the working set.
    gram : ndarray of shape (n_cuts, n_cuts), optional
        Gram matrix of the cuts on the fixed columns, if the caller keeps it.
    """

    cuts: FloatArray
    losses: FloatArray
    C: float
    norm: BudgetNorm
    gram: FloatArray | None = None

    @property
    def is_quadratic_programme(self) -> bool:
        """Whether the budget covers every unit, so that nothing is left to choose."""
        return self.norm.n_units <= self.norm.budget

    @property
    def free_columns(self) -> NDArray[np.int64]:
        """Columns whose weight d_j is to be chosen; all others but the excluded have d_j = 1."""
        if self.is_quadratic_programme:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.norm.unit_of >= 0)

    @property
    def fixed_columns(self) -> NDArray[np.int64]:
        """The columns F with d_j = 1 for certain: those always in, or all if the budget allows."""
        unit_of = self.norm.unit_of
        return np.flatnonzero(unit_of >= -1 if self.is_quadratic_programme else unit_of == -1)

    def fixed_gram(self) -> FloatArray:
        """``A_F A_F^T`` on the columns F with d_j = 1 for certain."""
        if self.gram is not None:
            return self.gram
        part = self.cuts[:, self.fixed_columns]
        return part @ part.T

    def best_multiple(self, direction: FloatArray) -> float:
        """``min(C, <q, e> / ||A^T e||_(B)^2)``: the multiple of e with the largest dual value.

        Parameters
        ----------
        direction : ndarray of shape (n_cuts,)
            e, non-negative with sum 1.
        """
        curvature = self.norm.dual_squared(self.cuts.T @ direction)
        gain = float(self.losses @ direction)
        if curvature * self.C <= gain:
            return self.C
        return gain / curvature if gain > 0.0 else self.C

    def primal(self, w: FloatArray) -> float:
        """Value of the primal at ``w``: an upper bound of the optimum."""
        risk = max(0.0, float(np.max(self.losses - self.cuts @ w)))
        return 0.5 * self.norm.value_squared(w) + self.C * risk

    def dual(self, alpha: FloatArray) -> float:
        """Value of the dual at a feasible ``alpha``: a lower bound of the optimum."""
        correlations = self.cuts.T @ alpha
        return float(self.losses @ alpha) - 0.5 * self.norm.dual_squared(correlations)

    def feasible(self, alpha: FloatArray) -> FloatArray:
        """The nearest simple point with ``alpha >= 0`` and ``sum alpha <= C``."""
        alpha = np.maximum(alpha, 0.0)
        total = float(alpha.sum())
        return alpha * (self.C / total) if total > self.C else alpha


@dataclass(frozen=True, eq=False)
class MasterSolution:
    """A primal and a dual point of a master problem, with their values.

    Attributes
    ----------
    w : ndarray of shape (n_columns,)
    alpha : ndarray of shape (n_cuts,)
        Feasible: ``alpha >= 0`` and ``sum alpha <= C`` up to rounding.
    primal, dual : float
        Values of both points; the optimum lies between them.
    n_steps : int
        Newton steps.
    fell_back : bool
        Whether the conic solver gave this solution.
    """

    w: FloatArray
    alpha: FloatArray
    primal: float
    dual: float
    n_steps: int
    fell_back: bool = False

    @property
    def relative_gap(self) -> float:
        """``(primal - dual) / primal``."""
        return (self.primal - self.dual) / max(abs(self.primal), np.finfo(float).tiny)


def solve_master(
    problem: MasterProblem, *, tol: float = 1e-6, start: FloatArray | None = None
) -> MasterSolution:
    """Solve the master problem to the relative gap ``tol``.

    Parameters
    ----------
    problem : MasterProblem
    tol : float
        Relative gap at which the interior-point method stops.
    start : ndarray of shape (n_cuts,), optional
        A feasible alpha to start near: the last round's, with zeros for new cuts.

    Returns
    -------
    MasterSolution
        Of the interior-point method if it reached ``tol``, else the better one of its and the
        conic solver's.
    """
    from scoresieve.solvers.interior_point import solve_interior_point

    try:
        solution = solve_interior_point(problem, tol=tol, start=start)
    except LinAlgError as error:
        solution, reason = None, str(error)
    else:
        if solution.relative_gap <= tol:
            return solution
        reason = f"relative gap {solution.relative_gap:.1e} after {solution.n_steps} steps"
    return _fall_back(problem, solution, reason)


def _fall_back(
    problem: MasterProblem, solution: MasterSolution | None, reason: str
) -> MasterSolution:
    """The conic solver's solution, or the interior-point one if that is still the better."""
    from scoresieve.solvers.conic import solve_master_conic

    logger.warning(
        "the structured master stopped early (%s; %d cuts, %d columns); using the conic solver",
        reason,
        *problem.cuts.shape,
    )
    conic = solve_master_conic(problem)
    # Written so that a gap that is not a number loses.
    if solution is not None and not conic.relative_gap < solution.relative_gap:
        conic = solution
    return MasterSolution(
        conic.w, conic.alpha, conic.primal, conic.dual, conic.n_steps, fell_back=True
    )
