"""The engine for smooth losses: working columns, Newton steps on them, certified bounds.

Each round

1. solves the problem on the working columns, to an accuracy that follows the gap;
2. passes once over X for ``X^T v``: a certified lower bound, and the columns that would lower the
   objective, of which the most promising enter;
3. stops at the relative gap, or at a limit.

The first working set is that of the columns that are always in, so that the first pass sees what an
intercept leaves unexplained.
"""

from __future__ import annotations

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.regularizers import NormPiece
from scoresieve.risks import LossRisk, Slopes
from scoresieve.solvers.limits import Status, Tracker
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.smooth.restricted import Restricted, RestrictedSolver
from scoresieve.solvers.working import DualSide, WarmStart, WorkingColumns

#: How many units enter at once: times the budget, or of the units in use if that is more. Twice as
#: many as the bundle takes, since a column costs little here and a round a pass over X.
COLUMN_REACH, UNIT_REACH = 4, 0.5
#: The restricted problem's relative gap as a share of the whole one, and its bounds.
INNER_SHARE, INNER_COARSEST, INNER_FINEST = 0.3, 0.1, 1e-13
#: A round on the same columns that closes less than this share of the gap leads nowhere: a thousand
#: of them would leave nine tenths of it. Nor do this many in a row that do not halve it together.
NO_PROGRESS, MOST_SLOW_ROUNDS = 1e-4, 50


class Smooth:
    """The state of the method between rounds.

    Parameters
    ----------
    problem : Problem
        With a smooth risk.
    tracker : Tracker
        Receives bounds and timings.
    warm : WarmStart, optional
        Its columns and weights are used.

    Attributes
    ----------
    status : Status
        Of a run that has ended.
    """

    status: Status

    def __init__(self, problem: Problem, tracker: Tracker, warm: WarmStart | None = None) -> None:
        assert isinstance(problem.risk, LossRisk)
        self.problem, self.tracker, self.risk = problem, tracker, problem.risk
        with tracker.clock.part("setup"):
            self.working = WorkingColumns(problem)
            self.best = self.working.point(np.zeros(self.working.size))
            if warm is not None:
                self._start_near(warm)
        self._restricted = RestrictedSolver(self.working, self.risk)
        self._refinement = 1.0
        self._gap_before, self._gap_wanted, self._n_slow = np.inf, np.inf, 0
        tracker.primal = self.best.value

    def _start_near(self, warm: WarmStart) -> None:
        """The columns of the warm start, and its point if it is better than w = 0."""
        self.working.add(warm.columns)
        self.best = self.best.padded(self.working.size)
        point = self.working.point(self.working.gathered(warm.columns, warm.w))
        if point.value < self.best.value:
            self.best = point

    def round(self) -> Status | None:
        """One round of the method; the reason to stop, or None."""
        tracker = self.tracker
        with tracker.clock.part("restricted"):
            tol, deadline = self._inner_tol(), tracker.deadline
            restricted = self._restricted.solve(self.best, tol, lambda: deadline.is_over)
            self.best = restricted.point
            tracker.primal = self.best.value
        with tracker.clock.part("pass"):
            correlations = self._lower_bound(restricted)
        status = tracker.record(
            n_cuts=0,
            n_working=self.working.size,
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

    def _lower_bound(self, restricted: Restricted) -> FloatArray:
        """The pass over all columns: ``X^T v``, and the bound it certifies."""
        problem, risk, slopes = self.problem, self.risk, restricted.slopes
        correlations = problem.design.correlate(risk.vector(slopes, problem.C))
        strength = problem.norm.dual_squared(correlations)
        theta, bound = risk.best_multiple(slopes, strength, problem.C)
        self.tracker.lower_bound(bound, lambda: Slopes(risk.clipped(theta * slopes)))
        return correlations

    def _grow(self, correlations: FloatArray, restricted: Restricted) -> Status | None:
        """Add columns, or refine the solution on the same ones; STALLED if neither is possible."""
        tracker = self.tracker
        if self.working.add(self._promising(correlations)) is not None:
            self.best = self.best.padded(self.working.size)
            self._gap_wanted = np.inf
            return None
        if restricted.stalled or self._inner_tol() <= INNER_FINEST:
            return Status.STALLED
        open_gap = tracker.primal - tracker.dual
        self._n_slow += 1
        if open_gap <= self._gap_wanted or self._gap_wanted == np.inf:
            self._gap_wanted, self._n_slow = 0.5 * open_gap, 0
        if restricted.solved:
            self._refinement *= 0.1
        elif open_gap >= (1.0 - NO_PROGRESS) * self._gap_before or self._n_slow >= MOST_SLOW_ROUNDS:
            return Status.STALLED  # the next rounds would be like this one
        self._gap_before = open_gap
        return None

    def _promising(self, correlations: FloatArray) -> IntArray:
        """The columns of the outside units with the largest ``||c_u||`` above the kink at 0."""
        norm, n_used = self.problem.norm, self.working.n_selected(self.best.w)
        n_wanted = max(COLUMN_REACH * norm.budget, int(UNIT_REACH * n_used))
        outside = correlations.copy()
        outside[self.working.columns] = 0.0
        chosen = norm.with_budget(n_wanted).top_columns(outside)
        threshold = NormPiece(self.working.norm, self.best.w).threshold
        units = norm.restrict(chosen).units
        sizes = units.spread(units.norms(outside[chosen]), always=0.0, excluded=0.0)
        return chosen[sizes > threshold]

    def dual_side(self) -> DualSide:
        """The slopes at the best point, which unlike the best dual point are of this very model."""
        slopes = self.risk.slopes(self.best.scores)
        return DualSide(Slopes(slopes), self.risk.vector(slopes, self.problem.C))

    def hand_over(self, problem: Problem, w: FloatArray) -> WarmStart:
        """The columns with a weight, and their weights."""
        columns = np.flatnonzero(w)
        return WarmStart(columns, w[columns])


def run_smooth(problem: Problem, tracker: Tracker, warm: WarmStart | None = None) -> Smooth:
    """Run rounds until a reason to stop."""
    # Numbers may overflow where C or X is extreme; such points are not better and are refused.
    with np.errstate(over="ignore", invalid="ignore"):
        state = Smooth(problem, tracker, warm)
        status = None
        while status is None:
            status = state.round()
    state.status = status
    return state
