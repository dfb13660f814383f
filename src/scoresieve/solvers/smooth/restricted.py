"""The restricted problem, solved by the method that suits its size.

    min_w  1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)      over the working columns

Small problems go to the interior-point method, which no scaling disturbs. Large ones are solved by
Newton steps; where these are slow and memory allows it, the interior-point method takes over, and
is the first choice from then on. Columns that are too large for its Newton matrix are equilibrated
first, see :mod:`scoresieve.solvers.ill_scaled`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray
from scoresieve.design import Columns
from scoresieve.risks import LossRisk
from scoresieve.solvers.ill_scaled import Equilibration, near_balance
from scoresieve.solvers.interior import predictor_corrector
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
#: Newton steps are slow if this many of them do not halve the gap.
PATIENCE = 10
#: Most steps of the interior-point method, and steps without a smaller gap that end it. 10 to 20
#: are usual, 20 to 40 where C is large and the sizes of the columns differ widely.
INTERIOR_STEPS, INTERIOR_STALL_STEPS = 80, 15
#: Failures of the interior-point methods on the same columns, after which they are not asked.
MOST_FAILURES = 3
#: How much of the open gap the products of the interior-point method's starts share.
STARTS = (1.0, 1e-2)
#: ``C sum_i x_ij^2`` from which on columns are equilibrated first: beside that the norm's part of
#: the Newton matrix has less than four digits.
EXTREME = 1e12
#: The coarsest relative gap of problems with equilibrated columns: other things widen it.
COARSEST_SCALED = 1e-3


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
    """Solves a sequence of restricted problems on a growing working set.

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
        is_first_choice = can_be_dense and (n_products <= FEW_PRODUCTS or self._newton_is_slow)
        if is_first_choice:
            best = self._interior_points(best, tol, is_late)
        if not best.solved:
            best = self._newton_steps(best, tol, is_late, PATIENCE if can_be_dense else MAX_STEPS)
        if can_be_dense and not best.solved:
            best = self._interior_points(best, tol, is_late)
            self._newton_is_slow = best.solved
        return best

    def _interior_points(
        self, best: Restricted, tol: float, is_late: Callable[[], bool]
    ) -> Restricted:
        """The interior-point method, first on equilibrated columns where these are extreme.

        Not again and again on columns where it has failed: a better start helps it little.
        """
        n_failures = self._failures.get(best.point.w.size, 0)
        if n_failures >= MOST_FAILURES:
            return best
        squares = np.square(self._dense_block()).sum(axis=0)
        if self._C * float(squares.max(initial=0.0)) > EXTREME:
            best = self._equilibrated_steps(best, tol, is_late)
        best = self._interior_steps(best, tol, is_late)
        if not best.solved:
            self._failures = {best.point.w.size: n_failures + 1}
        return best

    def _dual_side(
        self, point: Point, tol: float, last: Restricted | None = None
    ) -> tuple[Restricted, FloatArray]:
        """The point with the better dual point, its or the last, and minus the risk's gradient."""
        slopes, dual, correlations = self._best_multiple(self._risk.slopes(point.scores))
        if last is not None and not dual > last.dual:
            slopes, dual = last.slopes, last.dual
        solved = point.value - dual <= tol * point.value
        stalled = last is not None and last.stalled and not solved
        return Restricted(point, slopes, dual, solved, stalled), correlations

    def _best_multiple(
        self, slopes: FloatArray, factors: FloatArray | float = 1.0
    ) -> tuple[FloatArray, float, FloatArray]:
        """The best multiple of the slopes, its dual value, and ``X^T v`` of the slopes.

        Parameters
        ----------
        factors : ndarray of shape (n_columns,), optional
            Of the columns, on which the multiple is to be the best.
        """
        risk, C, working = self._risk, self._C, self._working
        correlations = working.block.correlate(risk.vector(slopes, C))
        theta, dual = risk.best_multiple(
            slopes, working.norm.dual_squared(factors * correlations), C
        )
        return risk.clipped(theta * slopes), dual, correlations

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

        Its result is taken where it is better than the present one.
        """
        for share in STARTS:
            if best.solved or is_late():
                break
            system = SaddleKKT(self._risk, self._C, self._working.norm, self._dense_block())
            if self._run(system, best.slopes, share, tol, is_late):
                best = better(best, self._working.point(system.w), system.slopes, system.bounds[1])
                best = best.judged(tol)
        return best

    def _equilibrated_steps(
        self, best: Restricted, tol: float, is_late: Callable[[], bool]
    ) -> Restricted:
        """The same on columns that are made smaller, each time from the last slopes."""
        risk, X, weights = self._risk, self._dense_block(), self._risk.row_weights
        is_class, scaled_tol = risk.loss.task == "classification", min(tol, COARSEST_SCALED)
        used = np.flatnonzero(weights)
        scaling = Equilibration(X[used], 1.0 if is_class else float(np.abs(risk.y).max()))
        start, near, is_solved = risk.slopes(best.point.scores), list[FloatArray](), True
        while is_solved and not (best.solved or is_late()):
            factors = scaling.factors(best.point.value)
            if factors is None:
                break
            if near:
                start = max(
                    (self._best_multiple(each, factors) for each in near), key=itemgetter(1)
                )[0]
            system = SaddleKKT(risk, self._C, self._working.norm, X * factors, best.point.value)
            if not self._run(system, start, 1.0, scaled_tol, is_late):
                break
            primal, dual = system.bounds
            is_solved = primal - dual <= scaled_tol * primal
            best = better(best, self._working.point(factors * system.w), best.slopes, best.dual)
            large = X[:, factors < 1.0] * weights[:, None]
            near = list(near_balance(system.slopes, large, *risk.loss.slope_range(risk.y)))
            for each in near:
                best = better(best, best.point, *self._best_multiple(each)[:2])
            best = best.judged(tol)
            scaling.follow((weights * system.slopes)[used])
        return best

    def _dense_block(self) -> FloatArray:
        """The working columns as an array, of which those of the last call are known."""
        working, n_known = self._working, self._dense.shape[1]
        if n_known < working.size:
            new = working.block.as_design().columns(np.arange(n_known, working.size))
            self._dense = np.hstack([self._dense, dense_columns(new)])
        return self._dense

    def _run(
        self,
        system: SaddleKKT,
        slopes: FloatArray,
        share: float,
        tol: float,
        is_late: Callable[[], bool],
    ) -> bool:
        """Interior-point steps of a system from near the slopes; whether there were any."""
        try:
            predictor_corrector(
                system,
                starting_point(system, slopes, share),
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
    """The better of the present and another pair of points."""
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
