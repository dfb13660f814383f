"""The default solver: one bundle over cuts and columns, with line search and certified bounds.

Each round

1. solves the master problem on the cuts and columns seen so far: alpha, w;
2. searches the segment from the best point so far to w for the least true objective;
3. adds the cut at the new best point and one a little further towards w (Franc and Sonnenburg's
   stabilisation);
4. passes once over X for ``X^T sum_k alpha_k delta_k``: a certified lower bound, and the columns
   of its largest entries, which enter the working set when they are what holds the gap;
5. drops idle cuts, and stops at the relative gap, or at a limit.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from scoresieve.measures import Cut
from scoresieve.solvers.cut_pool import CutPool
from scoresieve.solvers.line_search import Trial, search_segment
from scoresieve.solvers.master import MasterSolution, solve_master
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.result import DualPoint, Status, relative_gap
from scoresieve.solvers.tracker import Tracker

FloatArray = NDArray[np.float64]

logger = logging.getLogger(__name__)

#: How far from the best point towards the master's solution the stabilised cut is taken.
LOOK_AHEAD = 0.1
#: Rounds without weight after which a cut is dropped.
PATIENCE = 8
#: Columns enter when the columns left out hold more than this share of the gap.
COLUMN_SHARE = 0.1
#: How many times the budget of columns enter at once: what the next rounds would bring, too.
COLUMN_REACH = 2
#: The master's relative gap as a share of the outer one, and its bounds. A coarse master costs
#: fewer steps, and its central solution also needs fewer rounds: a third fewer than with a share
#: of 0.02, measured on Reuters and News20.
MASTER_SHARE, MASTER_COARSEST, MASTER_FINEST = 0.3, 0.3, 1e-7
#: The line search's accuracy as a share of the gap.
LINE_SHARE = 0.01
#: Most rounds between two passes over all columns.
MAX_ROUNDS_WITHOUT_PASS = 3


@dataclass(frozen=True, eq=False)
class Point:
    """A primal point on the working columns: weights, scores, objective, and the cut there."""

    w: FloatArray
    scores: FloatArray
    value: float
    cut: Cut

    def padded(self, n_columns: int) -> Point:
        """The same point after columns entered the working set, with weight 0."""
        return replace(self, w=np.append(self.w, np.zeros(n_columns - self.w.size)))


@dataclass(frozen=True, eq=False)
class WarmStart:
    """What a fit on the same y can start from: labellings stay cuts whatever C, B or X is.

    Attributes
    ----------
    cuts : DualPoint
        Its cuts are used, its weights are not.
    columns : ndarray of int
        Columns of the new problem's design for the first working set.
    w : ndarray of shape (len(columns),)
        A point to start from.
    """

    cuts: DualPoint
    columns: NDArray[np.int64]
    w: FloatArray


@dataclass(frozen=True, eq=False)
class Continuation:
    """Cuts and columns that outlive a fit, for the next one on the same X, y and C.

    Attributes
    ----------
    pool : CutPool
        Made for the new problem, which goes on filling it.
    w : ndarray of shape (n_working,), optional
        A point to start from; None with an empty pool, for a fit that starts from nothing.
    """

    pool: CutPool
    w: FloatArray | None = None

    @property
    def columns(self) -> NDArray[np.int64] | None:
        """The first working set; None if it is still to be found."""
        return None if self.w is None else self.pool.columns


class Bundle:
    """The state of the method between rounds.

    Parameters
    ----------
    problem : Problem
    tracker : Tracker
        Receives bounds and timings.
    warm : WarmStart or Continuation, optional
    """

    def __init__(
        self, problem: Problem, tracker: Tracker, warm: WarmStart | Continuation | None = None
    ) -> None:
        self.problem, self.tracker = problem, tracker
        self.pool = warm.pool if isinstance(warm, Continuation) else CutPool(problem)
        self.alpha: FloatArray | None = None
        # What the first pass is expected to certify: a good start deserves a fine first master.
        self._expected_gap = np.inf
        self._refinement = 1.0
        self._since_pass = 0
        self._gap_at_pass = np.inf
        self._reach = problem.norm.with_budget(COLUMN_REACH * problem.norm.budget)
        with tracker.clock.part("setup"):
            self._start(None if warm is None else warm.columns)
            if isinstance(warm, WarmStart):
                self._start_near(warm)
            elif warm is not None and warm.w is not None:
                self._expected_gap = tracker.limits.tol
                self._consider(warm.w)

    def _start(self, columns: NDArray[np.int64] | None) -> None:
        """Cuts at constant scores, and the columns, or those that tell the classes apart best."""
        problem, y = self.problem, self.problem.y
        if columns is None:
            flips = problem.flip_values
            totals = np.where(y > 0, np.sum(flips[y > 0]), -np.sum(flips[y < 0]))
            columns = problem.norm.top_columns(problem.design.correlate(flips / totals))
        self.pool.add_columns(columns)
        zero = np.zeros(y.size)
        cut = problem.cut(zero)
        value = problem.C * max(0.0, cut.value(zero))
        self.best = Point(np.zeros(self.pool.columns.size), zero, value, cut)
        self.tracker.primal = value
        self.pool.add(cut)
        # At w = 0 many labellings are equally bad. The one that also raises false alarms gives the
        # master a balanced combination from the first round.
        self.pool.add(problem.cut(np.full(y.size, 1e-3)))

    def _start_near(self, warm: WarmStart) -> None:
        """The cuts of the warm start, and its point if it is better than w = 0."""
        problem, y = self.problem, self.problem.y
        for k in range(warm.cuts.alpha.size):
            delta = warm.cuts.delta(k, problem.flip_values)
            self.pool.add(Cut(delta, problem.measure.cut_loss(y, delta)))
        w = np.zeros(self.pool.columns.size)
        order = np.argsort(self.pool.columns, kind="stable")
        w[order[np.searchsorted(self.pool.columns, warm.columns, sorter=order)]] = warm.w
        self._consider(w)

    def _consider(self, w: FloatArray) -> None:
        """Add the cut at w, and start there if it is better than w = 0."""
        problem = self.problem
        scores = self.pool.block.scores(w)
        cut = problem.cut(scores)
        value = 0.5 * self.pool.norm.value_squared(w)
        value += problem.C * max(0.0, cut.value(scores))
        if value < self.best.value:
            self.best = Point(w, scores, value, cut)
            self.tracker.primal = value
        self.pool.add(cut)

    def round(self) -> Status | None:
        """One round of the method; the reason to stop, or None."""
        clock = self.tracker.clock
        with clock.part("master"):
            solution = self._solve_master()
        with clock.part("line search"):
            new_cuts = self._move_towards(solution)
        with clock.part("pass"):
            correlations, held_by_columns = self._lower_bound(solution)
        status = self.tracker.record(
            n_cuts=len(self.pool),
            n_working=self.pool.columns.size,
            n_support=int(np.count_nonzero(self.best.w)),
        )
        if status is not None:
            return status
        with clock.part("grow"):
            return self._grow(new_cuts, correlations, held_by_columns)

    def _solve_master(self) -> MasterSolution:
        """The master to an accuracy that follows the gap: no finer than needed."""
        gap, self._expected_gap = min(self.tracker.gap, self._expected_gap), np.inf
        tol = np.clip(MASTER_SHARE * gap, MASTER_FINEST, MASTER_COARSEST)
        start = None
        if self.alpha is not None:
            start = np.append(self.alpha, np.zeros(len(self.pool) - self.alpha.size))
        tol = max(MASTER_FINEST, float(tol) * self._refinement)
        solution = solve_master(self.pool.master, tol=tol, start=start)
        self.tracker.n_fallbacks += solution.fell_back
        self.alpha = solution.alpha
        return solution

    def _move_towards(self, solution: MasterSolution) -> list[Cut]:
        """Line search from the best point to the master's; the cuts to add."""
        problem, best, norm = self.problem, self.best, self.pool.norm
        dw = solution.w - best.w
        d_scores = self.pool.block.scores(dw)
        trial = search_segment(
            start=Trial(0.0, best.value, best.cut),
            half_norm=lambda t: 0.5 * norm.value_squared(best.w + t * dw),
            find_cut=lambda t: problem.cut(best.scores + t * d_scores),
            lines=self.pool.lines(best.w, dw),
            line_of=lambda cut: (cut.value(best.scores), -float(cut.delta @ d_scores)),
            C=problem.C,
            tol=LINE_SHARE * max(self.tracker.gap, self.tracker.limits.tol) * best.value,
        )
        ahead = trial.t + LOOK_AHEAD * (1.0 - trial.t)
        stabilised = problem.cut(best.scores + ahead * d_scores)
        if trial.t > 0.0:
            self.best = Point(
                best.w + trial.t * dw, best.scores + trial.t * d_scores, trial.value, trial.cut
            )
            self.tracker.primal = trial.value
        return [stabilised, trial.cut]

    def _lower_bound(self, solution: MasterSolution) -> tuple[FloatArray | None, bool]:
        """The pass over all columns, if it is due: correlations, and whether columns hold the gap.

        The master's dual value bounds what a pass can certify, so while that is far from the
        primal, a pass can only bring columns, and those can wait for a few rounds.
        """
        restricted = relative_gap(self.tracker.primal, solution.dual)
        self._since_pass += 1
        due = (
            restricted <= max(self.tracker.limits.tol, 0.5 * self._gap_at_pass)
            or self._since_pass >= MAX_ROUNDS_WITHOUT_PASS
        )
        if not due:
            return None, False
        self._since_pass, self._gap_at_pass = 0, restricted
        pool, alpha = self.pool, solution.alpha
        correlations = self.problem.design.correlate(pool.combine(alpha))
        gain = float(pool.losses @ alpha)
        bound = self.problem.dual_value(gain, correlations)
        self.tracker.lower_bound(bound, lambda: pool.dual_point(alpha))
        open_gap = self.tracker.primal - self.tracker.dual
        return correlations, solution.dual - bound > COLUMN_SHARE * open_gap

    def _grow(
        self, cuts: list[Cut], correlations: FloatArray | None, held_by_columns: bool
    ) -> Status | None:
        """Drop idle cuts, add new ones and columns; say so if nothing can be added."""
        self.alpha = self.pool.drop_idle(self.alpha, PATIENCE)
        n_new = sum([self.pool.add(cut) for cut in cuts])
        if correlations is not None and (held_by_columns or n_new == 0):
            n_new += self.pool.add_columns(self._reach.top_columns(correlations))
            self.best = self.best.padded(self.pool.columns.size)
        if n_new:
            return None
        if correlations is None:
            self._since_pass = MAX_ROUNDS_WITHOUT_PASS
            return None
        # Nothing new at the master's accuracy: solve it more finely, as long as that is possible.
        if MASTER_SHARE * self.tracker.gap * self._refinement <= MASTER_FINEST:
            return Status.STALLED
        self._refinement *= 0.1
        return None


def run_bundle(
    problem: Problem, tracker: Tracker, warm: WarmStart | Continuation | None = None
) -> tuple[Bundle, Status]:
    """Run rounds until a reason to stop."""
    bundle = Bundle(problem, tracker, warm)
    status = None
    while status is None:
        try:
            status = bundle.round()
        except LinAlgError as error:
            logger.warning("the bundle cannot go on: %s", error)
            status = Status.STALLED
    return bundle, status
