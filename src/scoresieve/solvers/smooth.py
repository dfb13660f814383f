"""The solver for smooth losses: working columns, Newton steps on them, certified bounds.

Each round

1. solves the problem on the working columns, to an accuracy that follows the gap;
2. passes once over X for ``X^T v``: a certified lower bound, and the columns that would lower the
   objective, of which the most promising enter;
3. stops at the relative gap, or at a limit.

The first working set is that of the columns that are always in, so that the first pass sees what an
intercept leaves unexplained.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoresieve.solvers.loss_problem import LossDualPoint, LossProblem
from scoresieve.solvers.norm_piece import NormPiece
from scoresieve.solvers.restricted import Restricted, RestrictedSolver
from scoresieve.solvers.result import Status
from scoresieve.solvers.tracker import Tracker
from scoresieve.solvers.working_set import WorkingSet

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: How many units enter at once: times the budget, or of the units in use if that is more. Twice as
#: many as the bundle takes, since a column costs little here and a round a pass over X.
COLUMN_REACH, UNIT_REACH = 4, 0.5
#: The restricted problem's relative gap as a share of the whole one, and its bounds.
INNER_SHARE, INNER_COARSEST, INNER_FINEST = 0.3, 0.1, 1e-13


@dataclass(frozen=True, eq=False)
class WarmColumns:
    """What a fit can start from, whatever its C, budget or loss is.

    Attributes
    ----------
    columns : ndarray of int
        Columns of the design for the first working set.
    w : ndarray of shape (len(columns),)
        A point to start from; w = 0 is taken if that is better.
    """

    columns: IntArray
    w: FloatArray


class Smooth:
    """The state of the method between rounds.

    Parameters
    ----------
    problem : LossProblem
        With a smooth loss.
    tracker : Tracker
        Receives bounds and timings.
    warm : WarmColumns, optional

    Attributes
    ----------
    working : WorkingSet
    best : LossPoint
    """

    def __init__(
        self, problem: LossProblem, tracker: Tracker, warm: WarmColumns | None = None
    ) -> None:
        self.problem, self.tracker = problem, tracker
        with tracker.clock.part("setup"):
            self.working = WorkingSet(problem)
            self.best = self.working.point(np.zeros(self.working.columns.size))
            if warm is not None:
                self._start_near(warm)
        self._restricted = RestrictedSolver(self.working)
        self._refinement = 1.0
        tracker.primal = self.best.value
        tracker.dual_point = LossDualPoint(np.zeros(problem.y.size))

    def _start_near(self, warm: WarmColumns) -> None:
        """The columns of the warm start, and its point if it is better than w = 0."""
        self.working.add(warm.columns)
        self.best = self.best.padded(self.working.columns.size)
        weight_of = dict(zip(warm.columns.tolist(), warm.w.tolist(), strict=True))
        w = np.array([weight_of.get(column, 0.0) for column in self.working.columns.tolist()])
        point = self.working.point(w)
        if point.value < self.best.value:
            self.best = point

    def round(self) -> Status | None:
        """One round of the method; the reason to stop, or None."""
        tracker = self.tracker
        with tracker.clock.part("restricted"):
            restricted = self._restricted.solve(self.best, self._inner_tol(), self._is_late)
            self.best = restricted.point
            tracker.primal = self.best.value
        with tracker.clock.part("pass"):
            correlations = self._lower_bound(restricted)
        status = tracker.record(
            n_cuts=0,
            n_working=self.working.columns.size,
            n_support=int(np.count_nonzero(self.best.w)),
        )
        if status is not None:
            return status
        with tracker.clock.part("grow"):
            return self._grow(correlations, restricted)

    def _inner_tol(self) -> float:
        """How far the restricted problem is solved: no further than needed."""
        tol = min(INNER_COARSEST, INNER_SHARE * max(self.tracker.gap, self.tracker.limits.tol))
        return max(INNER_FINEST, tol * self._refinement)

    def _is_late(self) -> bool:
        max_time = self.tracker.limits.max_time
        return max_time is not None and self.tracker.clock.elapsed >= max_time

    def _lower_bound(self, restricted: Restricted) -> FloatArray:
        """The pass over all columns: ``X^T v``, and the bound it certifies."""
        problem, slopes = self.problem, restricted.slopes
        correlations = problem.design.correlate(problem.pull(slopes))
        theta, bound = problem.best_multiple(slopes, problem.norm.dual_squared(correlations))
        self.tracker.lower_bound(bound, lambda: LossDualPoint(problem.clipped(theta * slopes)))
        return correlations

    def _grow(self, correlations: FloatArray, restricted: Restricted) -> Status | None:
        """Add columns, or go on more finely on the same ones; say so if neither is possible."""
        if self.working.add(self._promising(correlations)):
            self.best = self.best.padded(self.working.columns.size)
            return None
        if restricted.stalled or self._inner_tol() <= INNER_FINEST:
            return Status.STALLED
        if restricted.solved:
            self._refinement *= 0.1
        return None

    def _promising(self, correlations: FloatArray) -> IntArray:
        """The columns of the outside units with the largest ``||c_u||`` above the kink at 0."""
        norm, used = self.problem.norm, self.working.norm.units.norms(self.best.w) > 0.0
        n_wanted = max(COLUMN_REACH * norm.budget, int(UNIT_REACH * np.count_nonzero(used)))
        outside = correlations.copy()
        outside[self.working.columns] = 0.0
        chosen = norm.with_budget(n_wanted).top_columns(outside)
        threshold = NormPiece(self.working.norm, self.best.w).threshold
        units = norm.restrict(chosen).units
        sizes = units.spread(units.norms(outside[chosen]), always=0.0, excluded=0.0)
        return chosen[sizes > threshold]


def run_smooth(
    problem: LossProblem, tracker: Tracker, warm: WarmColumns | None = None
) -> tuple[Smooth, Status]:
    """Run rounds until a reason to stop."""
    # Numbers may overflow where C or X is extreme; such points are not better and are refused.
    with np.errstate(over="ignore", invalid="ignore"):
        state = Smooth(problem, tracker, warm)
        status = None
        while status is None:
            status = state.round()
    return state, status
