"""The restricted problem, solved by the method that suits its size.

    min_w  1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)      over the working columns

Small problems go to the interior-point method, which no scaling disturbs. Large ones are solved by
Newton steps; where these are slow and memory allows it, the interior-point method takes over, and
is the first choice from then on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from scoresieve.solvers.loss_interior_point import dense_columns, solve_interior
from scoresieve.solvers.loss_newton import NewtonSteps
from scoresieve.solvers.working_set import LossPoint, WorkingSet

FloatArray = NDArray[np.float64]

logger = logging.getLogger(__name__)

#: Multiplications of one step of the interior-point method up to which it is the first choice
#: (about 50 ms), and up to which it is the second one (about 2 s).
FEW_PRODUCTS, MANY_PRODUCTS = 2e8, 1e10
#: Numbers of a dense block up to which it may be made (32 MB).
DENSE_NUMBERS = 2**22
#: Most Newton steps of one call, and steps without progress after which rounding ends them.
MAX_STEPS, STALL_STEPS = 150, 5
#: Newton steps are slow if so many of them do not halve the gap.
PATIENCE = 10
#: How much of the first start's complementarity products further starts have.
STARTS = (1.0, 1e-2)


@dataclass(frozen=True, eq=False)
class Restricted:
    """A solution of the restricted problem.

    Attributes
    ----------
    point : LossPoint
        The best point.
    slopes : ndarray of shape (n_samples,)
        The dual point with the largest value on the working columns.
    dual : float
        That value.
    solved : bool
        Whether the relative gap is within the tolerance.
    stalled : bool
        Whether rounding, not a limit, ended the steps before that.
    """

    point: LossPoint
    slopes: FloatArray
    dual: float
    solved: bool
    stalled: bool = False


class RestrictedSolver:
    """Solves restricted problems on a growing working set, one after the other.

    Parameters
    ----------
    working : WorkingSet
    """

    def __init__(self, working: WorkingSet) -> None:
        self._working = working
        self._newton = NewtonSteps(working)
        self._newton_is_slow = False
        self._dense = np.zeros((working.problem.y.size, 0))

    def solve(self, point: LossPoint, tol: float, is_late: Callable[[], bool]) -> Restricted:
        """From the point to the relative gap ``tol`` on the working columns.

        Parameters
        ----------
        point : LossPoint
        tol : float
        is_late : callable
            Whether the time is over, asked after each step.
        """
        best = self._dual_side(point, tol)[0]
        n_rows, n_columns = np.count_nonzero(self._working.problem.weights), point.w.size
        n_products = n_rows * n_columns * min(n_rows, n_columns)
        can_be_dense = n_rows * n_columns <= DENSE_NUMBERS and 0 < n_products <= MANY_PRODUCTS
        if can_be_dense and (n_products <= FEW_PRODUCTS or self._newton_is_slow):
            best = self._interior_starts(best, tol, is_late)
        if not best.solved:
            best = self._newton_steps(best, tol, is_late, PATIENCE if can_be_dense else MAX_STEPS)
        if can_be_dense and not best.solved:
            best = self._interior_starts(best, tol, is_late)
            self._newton_is_slow = best.solved
        return best

    def _interior_starts(
        self, best: Restricted, tol: float, is_late: Callable[[], bool]
    ) -> Restricted:
        """The interior-point method from one start after the other, until one solves it."""
        for start in STARTS:
            if not best.solved and not is_late():
                best = self._interior(best, tol, start, is_late)
        return best

    def _dual_side(
        self, point: LossPoint, tol: float, last: Restricted | None = None
    ) -> tuple[Restricted, FloatArray]:
        """The point with the better dual point, its or the last, and minus the risk's gradient."""
        problem = self._working.problem
        slopes = problem.slopes(point.scores)
        correlations = self._working.block.correlate(problem.pull(slopes))
        theta, dual = problem.best_multiple(slopes, self._working.norm.dual_squared(correlations))
        slopes = problem.clipped(theta * slopes)
        if last is not None and not dual > last.dual:
            slopes, dual = last.slopes, last.dual
        solved = point.value - dual <= tol * point.value
        stalled = last is not None and last.stalled and not solved
        return Restricted(point, slopes, dual, solved, stalled), correlations

    def _newton_steps(
        self, best: Restricted, tol: float, is_late: Callable[[], bool], patience: int
    ) -> Restricted:
        """Newton steps until the relative gap, or until they lead nowhere or are slow."""
        n_idle, n_since, wanted = 0, 0, 0.5 * (best.point.value - best.dual)
        for _ in range(MAX_STEPS):
            best, correlations = self._dual_side(best.point, tol, best)
            if best.point.value - best.dual <= wanted:
                n_since, wanted = 0, 0.5 * (best.point.value - best.dual)
            if best.solved or max(n_idle - STALL_STEPS, n_since - patience) >= 0 or is_late():
                break
            before = best.point.value
            moved = self._newton.step(best.point, correlations)
            n_idle = 0 if moved.value < before * (1.0 - 1e-15) else n_idle + 1
            n_since += 1
            best = replace(best, point=moved, stalled=n_idle >= STALL_STEPS)
        return best

    def _interior(
        self, best: Restricted, tol: float, start: float, is_late: Callable[[], bool]
    ) -> Restricted:
        """The better one of what there is and the interior-point method's points."""
        working, n_known = self._working, self._dense.shape[1]
        if n_known < working.columns.size:
            new = working.problem.design.columns(working.columns[n_known:])
            self._dense = np.hstack([self._dense, dense_columns(new)])
        try:
            found = solve_interior(
                working.problem, working.norm, self._dense, best.slopes, tol, start, is_late
            )
        except LinAlgError as error:
            logger.info("the interior-point method cannot start: %s", error)
            return best
        point = working.point(found.w)
        point = point if point.value < best.point.value else best.point
        slopes, dual = best.slopes, best.dual
        if found.dual > dual:
            slopes, dual = found.slopes, found.dual
        solved = point.value - dual <= tol * point.value
        return Restricted(point, slopes, dual, solved, best.stalled and not solved)
