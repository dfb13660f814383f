"""The restricted problem, solved by the method that suits its size.

    min_w  1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)      over the working columns

Small problems go to the interior-point method, which no scaling disturbs. Large ones are solved by
Newton steps; where these are slow and memory allows it, the interior-point method takes over, and
is the first choice from then on. What neither solves, because the sizes of the columns are many
orders apart, goes to the interior-point method that keeps w and c, if it is small.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray
from scoresieve.design import Columns
from scoresieve.risks import LossRisk
from scoresieve.solvers.interior.predictor_corrector import (
    Iterate,
    KKTSystem,
    predictor_corrector,
)
from scoresieve.solvers.smooth.graded import GradedSaddle
from scoresieve.solvers.smooth.newton import NewtonSteps
from scoresieve.solvers.smooth.saddle import SaddleKKT, starting_point
from scoresieve.solvers.working import Point, WorkingColumns

logger = logging.getLogger(__name__)

#: Multiplications of one step of the interior-point method up to which it is the first choice
#: (about 50 ms), and up to which it is the second one (about 2 s).
FEW_PRODUCTS, MANY_PRODUCTS = 2e8, 1e10
#: Numbers of a dense block up to which it may be made (32 MB), and columns made dense at a time.
DENSE_NUMBERS, COLUMNS_AT_ONCE = 2**22, 64
#: Such blocks that the interior-point method holds at once: X, its rows, and both with factors.
DENSE_COPIES = 4
#: Most Newton steps of one call, and steps without progress after which rounding ends them.
MAX_STEPS, STALL_STEPS = 150, 5
#: A step that lowers the objective by less than this share is no progress.
NO_PROGRESS = 1e-15
#: Newton steps are slow if so many of them do not halve the gap.
PATIENCE = 10
#: Most steps of the interior-point method, and steps without a smaller gap that end it. 10 to 20
#: are usual, 20 to 40 where C is large and the sizes of the columns differ widely.
INTERIOR_STEPS, INTERIOR_STALL_STEPS = 80, 15
#: Failures of the interior-point methods on the same columns, after which they are not asked.
MOST_FAILURES = 3
#: How much of the open gap the products of the interior-point method's starts share.
STARTS = (1.0, 1e-2)
#: Most rows, columns and units together of the method for columns of unlike sizes.
GRADED_SIZE = 600
#: ``C sum_i x_ij^2`` from which on it is tried first: beside that the norm's part of the other's
#: Newton matrix has less than four digits.
EXTREME = 1e12


@dataclass(frozen=True, eq=False)
class Restricted:
    """A solution of the restricted problem.

    Attributes
    ----------
    point : Point
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

    point: Point
    slopes: FloatArray
    dual: float
    solved: bool
    stalled: bool = False

    def judged(self, tol: float) -> Restricted:
        """The same with whether the gap of its points is within the tolerance."""
        solved = self.point.value - self.dual <= tol * self.point.value
        return replace(self, solved=solved, stalled=self.stalled and not solved)


class RestrictedSolver:
    """Solves restricted problems on a growing working set, one after the other.

    Parameters
    ----------
    risk : LossRisk
        Smooth.
    """

    def __init__(self, working: WorkingColumns, risk: LossRisk) -> None:
        self._working, self._risk, self._C = working, risk, working.problem.C
        self._newton = NewtonSteps(working, risk)
        self._newton_is_slow = False
        #: Of the interior-point methods, by the number of working columns, which only grows.
        self._failures: dict[int, int] = {}
        self._dense = np.zeros((risk.y.size, 0))

    def solve(self, point: Point, tol: float, is_late: Callable[[], bool]) -> Restricted:
        """From the point to the relative gap ``tol`` on the working columns.

        Parameters
        ----------
        is_late : callable
            Whether the time is over, asked after each step.
        """
        best = self._dual_side(point, tol)[0]
        n_rows, n_columns = int(np.count_nonzero(self._risk.row_weights)), point.w.size
        n_products = n_rows * n_columns * min(n_rows, n_columns)
        can_be_dense = n_rows * n_columns <= DENSE_NUMBERS and 0 < n_products <= MANY_PRODUCTS
        # A fit on row blocks may have less memory than that.
        n_bytes = 8 * DENSE_COPIES * n_rows * n_columns
        can_be_dense = can_be_dense and self._working.problem.design.has_room(n_bytes)
        n_unknowns = n_rows + n_columns + self._working.norm.n_units
        can_be_graded = can_be_dense and n_unknowns <= GRADED_SIZE
        is_first_choice = can_be_dense and (n_products <= FEW_PRODUCTS or self._newton_is_slow)
        if is_first_choice:
            best = self._interior_points(best, tol, is_late, can_be_graded)
        if not best.solved:
            best = self._newton_steps(best, tol, is_late, PATIENCE if can_be_dense else MAX_STEPS)
        if can_be_dense and not best.solved:
            best = self._interior_points(best, tol, is_late, can_be_graded)
            self._newton_is_slow = best.solved
        return best

    def _interior_points(
        self, best: Restricted, tol: float, is_late: Callable[[], bool], can_be_graded: bool
    ) -> Restricted:
        """One interior-point method, then the other, the better suited first.

        Not again and again on columns where both have failed: a better start helps them little.
        """
        if self._failures.get(best.point.w.size, 0) >= MOST_FAILURES:
            return best
        methods = [self._interior_steps]
        if can_be_graded:
            squares = np.square(self._dense_block()).sum(axis=0)
            is_extreme = self._C * float(squares.max(initial=0.0)) > EXTREME
            methods.insert(0 if is_extreme else 1, self._graded_steps)
        for method in methods:
            best = best if best.solved else method(best, tol, is_late)
        if not best.solved:
            n_failures = self._failures.get(best.point.w.size, 0)
            self._failures = {best.point.w.size: n_failures + 1}
        return best

    def _dual_side(
        self, point: Point, tol: float, last: Restricted | None = None
    ) -> tuple[Restricted, FloatArray]:
        """The point with the better dual point, its or the last, and minus the risk's gradient."""
        risk, C, working = self._risk, self._C, self._working
        slopes = risk.slopes(point.scores)
        correlations = working.block.correlate(risk.vector(slopes, C))
        theta, dual = risk.best_multiple(slopes, working.norm.dual_squared(correlations), C)
        slopes = risk.clipped(theta * slopes)
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
            n_idle = 0 if moved.value < before * (1.0 - NO_PROGRESS) else n_idle + 1
            n_since += 1
            best = replace(best, point=moved, stalled=n_idle >= STALL_STEPS)
        return best

    def _interior_steps(
        self, best: Restricted, tol: float, is_late: Callable[[], bool]
    ) -> Restricted:
        """The interior-point method from one start after the other, until one solves it.

        What it finds is taken where it is better than what there is.
        """
        for start in STARTS:
            if best.solved or is_late():
                break
            system = SaddleKKT(self._risk, self._C, self._working.norm, self._dense_block())
            if self._run(system, starting_point(system, best.slopes, start), tol, is_late):
                best = better(best, self._working.point(system.w), system.slopes, system.bounds[1])
                best = best.judged(tol)
        return best

    def _graded_steps(
        self, best: Restricted, tol: float, is_late: Callable[[], bool]
    ) -> Restricted:
        """The same with the method for columns of unlike sizes."""
        for keeps_w in (False, True):
            if best.solved or is_late():
                break
            system = GradedSaddle(self._risk, self._C, self._working.norm, self._dense_block())
            w, open_gap = keeps_w * best.point.w, best.point.value - best.dual
            if self._run(system, system.start(w, best.slopes, open_gap), tol, is_late):
                w, slopes, dual = system.solution()
                best = better(best, self._working.point(w), slopes, dual).judged(tol)
        return best

    def _dense_block(self) -> FloatArray:
        """The working columns as an array, of which those of the last call are known."""
        working, n_known = self._working, self._dense.shape[1]
        if n_known < working.size:
            new = working.block.as_design().columns(np.arange(n_known, working.size))
            self._dense = np.hstack([self._dense, dense_columns(new)])
        return self._dense

    def _run(
        self, system: KKTSystem, start: Iterate, tol: float, is_late: Callable[[], bool]
    ) -> bool:
        """Interior-point steps of a system; whether there were any."""
        try:
            predictor_corrector(
                system,
                start,
                tol=tol,
                max_steps=INTERIOR_STEPS,
                stall_steps=INTERIOR_STALL_STEPS,
                is_late=is_late,
            )
        except LinAlgError as error:
            logger.info("the interior-point method cannot start: %s", error)
            return False
        return True


def better(best: Restricted, point: Point, slopes: FloatArray, dual: float) -> Restricted:
    """The better one of what there is and another pair of points."""
    if point.value < best.point.value:
        best = replace(best, point=point)
    if dual > best.dual:
        best = replace(best, slopes=slopes, dual=dual)
    return best


def dense_columns(block: Columns) -> FloatArray:
    """``X_S`` as an array of shape (n_samples, n_columns), column by column."""
    design, parts = block.as_design(), []
    for start in range(0, block.n_columns, COLUMNS_AT_ONCE):
        columns = np.arange(start, min(start + COLUMNS_AT_ONCE, block.n_columns))
        part = design.columns(columns)
        parts.append(np.column_stack([part.scores(unit) for unit in np.eye(columns.size)]))
    return np.hstack(parts) if parts else np.zeros((design.n_samples, 0))
