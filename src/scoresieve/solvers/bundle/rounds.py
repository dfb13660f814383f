"""The bundle method: one bundle over cuts and columns, with line search and certified bounds.

Each round

1. solves the master problem on the cuts and columns seen so far: alpha, w;
2. searches the segment from the best point so far to w for the least true objective;
3. adds the cut at the new best point and one a little further towards w (Franc and Sonnenburg's
   stabilisation);
4. passes once over X for ``X^T sum_k alpha_k delta_k``: a certified lower bound, and the columns
   of its largest entries, which enter the working set when they are what holds the gap;
5. drops idle cuts, and stops at the relative gap, or at a limit.

It takes the place of the paper's two nested layers, see :mod:`scoresieve.baselines.fs_multi`.
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.measures import Cut
from scoresieve.risks import CutWeights
from scoresieve.solvers.bundle.cut_pool import CutPool, Trial, search_segment
from scoresieve.solvers.limits import Status, Tracker, relative_gap
from scoresieve.solvers.master.problem import MasterSolution
from scoresieve.solvers.master.solve import solve_master
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.working import DualSide, Point, WarmStart, known_cut

logger = logging.getLogger(__name__)

#: How far from the best point towards the master's solution the stabilised cut is taken.
LOOK_AHEAD = 0.1
#: Rounds without weight after which a cut is dropped.
PATIENCE = 8
#: Columns enter when the columns left out hold more than this share of the gap.
COLUMN_SHARE = 0.1
#: Columns that enter at once, as a multiple of the budget: also those of the next rounds.
COLUMN_REACH = 2
#: The master's relative gap as a share of the outer one, and its bounds. A coarse master costs
#: fewer steps, and its central solution also needs fewer rounds: a third fewer than with a share
#: of 0.02, measured on Reuters and News20.
MASTER_SHARE, MASTER_COARSEST, MASTER_FINEST = 0.3, 0.3, 1e-7
#: The master becomes finer by this factor where a round brings nothing new, and where the rest of
#: its gap is rounding, so that no bound tells how fine it has to be.
REFINEMENT, REFINEMENT_AT_ROUNDING = 0.1, 0.01
#: By so much the master's weights are stretched where nothing else helps.
STRETCHES = (0.0, 1e-15, 1e-12, 1e-9)
#: By so much weights may shrink from round to round before their scores are computed anew.
LOST_DIGITS = 1e6
#: What the rounding of many rounds may do to the objective of the best point, as a share of it.
ROUNDING = 1e-6
#: The line search's accuracy as a share of the gap.
LINE_SHARE = 0.01
#: Most rounds between two passes over all columns.
MAX_ROUNDS_WITHOUT_PASS = 3
#: Constant scores whose cut also raises false alarms; at 0 it would raise none.
SLIGHTLY_POSITIVE = 1e-3
#: Working units that a smaller budget takes over, as a multiple of it, and beyond that. Fits on
#: text that start from nothing end with about 4 B + 40; taking over no more than that cost a sixth
#: more rounds. The limit keeps masters small where the budget falls by orders of magnitude.
UNITS_PER_BUDGET, MORE_UNITS = 10, 200
#: Share of the dual point's weight whose cuts a smaller budget takes over. A coarse master leaves a
#: little weight on every cut; with all of them the masters of later budgets grow out of proportion.
SHARE_OF_CUTS = 0.95


class Bundle:
    """The state of the method between rounds.

    Parameters
    ----------
    tracker : Tracker
        Receives bounds and timings.
    warm : WarmStart, optional
        ``memory`` is a :class:`CutPool`.

    Attributes
    ----------
    working : WorkingColumns
        Those of the pool.
    status : Status
        Of a run that has ended.
    """

    status: Status

    def __init__(self, problem: Problem, tracker: Tracker, warm: WarmStart | None = None) -> None:
        self.problem, self.tracker = problem, tracker
        self.pool: CutPool = (
            CutPool(problem) if warm is None or warm.memory is None else warm.memory
        )
        self.working = self.pool.working
        self.alpha: FloatArray | None = None
        # What the first pass is expected to certify: a good start deserves a fine first master.
        self._expected_gap = np.inf
        self._refinement = 1.0
        self._at_rounding = False
        self._since_pass = 0
        self._gap_at_pass = np.inf
        # The largest weight since scores were last computed from weights.
        self._largest = 0.0
        self._reach = problem.norm.with_budget(COLUMN_REACH * problem.norm.budget)
        with tracker.clock.part("setup"):
            self._start(None if warm is None else warm.columns)
            if warm is not None:
                self._start_near(warm)

    def _start(self, columns: IntArray | None) -> None:
        """Cuts at constant scores, and the columns, or those that tell high y from low y best."""
        problem, pool = self.problem, self.pool
        if columns is None:
            contrast = problem.design.correlate(problem.risk.contrast())
            columns = problem.norm.top_columns(contrast)
        pool.add_columns(columns)
        self.best = self.working.point_with_cut(np.zeros(self.working.size))
        self.tracker.primal = self.best.value
        pool.add(known_cut(self.best))
        # At w = 0 many labellings are equally bad. The one that also raises false alarms gives the
        # master a balanced combination from the first round.
        pool.add(problem.risk.cut(np.full(problem.risk.y.size, SLIGHTLY_POSITIVE)))

    def _start_near(self, warm: WarmStart) -> None:
        """The cuts of the warm start, and its point if it is better than w = 0."""
        if warm.memory is None:
            self.pool.add_cuts_of(warm.dual_point)
        else:
            self._expected_gap = self.tracker.limits.tol
        point = self.working.point_with_cut(self.working.gathered(warm.columns, warm.w))
        self._largest = float(np.abs(point.w).max(initial=0.0))
        self._accept(point)
        self.pool.add(known_cut(point))

    def round(self) -> Status | None:
        """One round of the method; the reason to stop, or None."""
        clock = self.tracker.clock
        if not len(self.pool):
            # There is no risk at w = 0, so that it is optimal, and the gap is closed.
            return self.tracker.record(n_cuts=0, n_working=self.working.size, n_support=0)
        with clock.part("master"):
            tol, start = self._master_accuracy(), self._master_start()
            solution = solve_master(self.pool.master, tol=tol, start=start)
            self.tracker.n_fallbacks += solution.fell_back
            self.alpha, self._at_rounding = solution.alpha, solution.at_rounding
        with clock.part("line search"):
            new_cuts = self._move_towards(solution)
        with clock.part("pass"):
            correlations, held_by_columns = self._lower_bound(solution)
        status = self.tracker.record(
            n_cuts=len(self.pool),
            n_working=self.working.size,
            n_support=int(np.count_nonzero(self.best.w)),
        )
        if status is not None:
            return status
        with clock.part("grow"):
            return self._grow(solution.w, new_cuts, correlations, held_by_columns)

    def _master_accuracy(self) -> float:
        """A relative gap of the master that follows the outer one: no finer than needed."""
        gap, self._expected_gap = min(self.tracker.gap, self._expected_gap), np.inf
        tol = np.clip(MASTER_SHARE * gap, MASTER_FINEST, MASTER_COARSEST)
        return max(MASTER_FINEST, float(tol) * self._refinement)

    def _master_start(self) -> FloatArray | None:
        """The last round's alpha, with zeros for the cuts that have come since."""
        if self.alpha is None:
            return None
        return np.append(self.alpha, np.zeros(len(self.pool) - self.alpha.size))

    def _move_towards(self, solution: MasterSolution) -> list[Cut]:
        """Line search from the best point to the master's; the cuts to add."""
        problem, best, norm = self.problem, self.best, self.working.norm
        limits = self.tracker.limits
        dw = solution.w - best.w
        d_scores = self.working.block.scores(dw)
        trial = search_segment(
            start=Trial(0.0, best.value, known_cut(best)),
            half_norm=lambda t: 0.5 * norm.value_squared(best.w + t * dw),
            find_cut=problem.risk.cut,
            scores=(best.scores, d_scores),
            lines=self.pool.lines(best.w, dw),
            line_of=lambda cut: (cut.value(best.scores), -float(cut.delta @ d_scores)),
            C=problem.C,
            tol=LINE_SHARE * max(self._refinement * self.tracker.gap, limits.tol) * best.value,
        )
        ahead = trial.t + LOOK_AHEAD * (1.0 - trial.t)
        stabilised = problem.risk.cut(best.scores + ahead * d_scores)
        if trial.t > 0.0:
            w = best.w + trial.t * dw
            point = Point(w, best.scores + trial.t * d_scores, trial.value, trial.cut)
            self._accept(self._without_lost_digits(point))
        return [stabilised, trial.cut]

    def _accept(self, point: Point) -> None:
        """Go to a point if it is better than the best so far."""
        if point.value < self.best.value:
            self.best, self.tracker.primal = point, point.value

    def settled(self, status: Status) -> Status:
        """Recompute the objective of the best point, and undo gains that were only rounding."""
        point = self.working.point_with_cut(self.best.w)
        if point.value <= (1.0 + ROUNDING) * self.best.value:
            return status
        others = [self.working.point_with_cut((1.0 + stretch) * point.w) for stretch in STRETCHES]
        self.best = min([point, *others], key=lambda each: each.value)
        self.tracker.primal = self.best.value
        is_fine = self.tracker.gap <= self.tracker.limits.tol
        return Status.STALLED if status.reached_tolerance and not is_fine else status

    def _without_lost_digits(self, point: Point) -> Point:
        """The point itself, computed anew where its scores are small differences of large ones.

        A warm start can be of another size than the solution by many powers of ten.
        """
        largest = float(np.abs(point.w).max(initial=0.0))
        self._largest = max(self._largest, largest)
        if largest * LOST_DIGITS >= self._largest:
            return point
        self._largest = largest
        return self.working.point_with_cut(point.w)

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
        correlations, bound = certify_cuts(self.problem, self.tracker, self.pool, solution.alpha)
        open_gap = self.tracker.primal - self.tracker.dual
        return correlations, solution.dual - bound > COLUMN_SHARE * open_gap

    def _grow(
        self,
        w: FloatArray,
        cuts: list[Cut],
        correlations: FloatArray | None,
        held_by_columns: bool,
    ) -> Status | None:
        """Drop idle cuts, add new ones and columns; STALLED if nothing can be added.

        Parameters
        ----------
        w : ndarray of shape (n_working,)
            The master's.
        cuts : list of Cut
            The new ones.
        correlations : ndarray or None
            Of a pass over all columns, if there was one.
        held_by_columns : bool
            Whether columns that are not in hold the gap.
        """
        assert self.alpha is not None
        self.alpha = self.pool.drop_idle(self.alpha, PATIENCE)
        n_new = sum([self.pool.add(cut) for cut in cuts])
        if correlations is not None and (held_by_columns or n_new == 0):
            n_new += self.pool.add_columns(self._reach.top_columns(correlations))
            self.best = self.best.padded(self.working.size)
        if n_new:
            return None
        if correlations is None:
            self._since_pass = MAX_ROUNDS_WITHOUT_PASS
            return None
        if self._leaps(np.append(w, np.zeros(self.working.size - w.size))):
            return None
        # Nothing new at the master's accuracy: solve it more finely, as long as that is possible.
        is_finest = MASTER_SHARE * self.tracker.gap * self._refinement <= MASTER_FINEST
        if is_finest:
            return Status.STALLED
        self._refinement *= REFINEMENT_AT_ROUNDING if self._at_rounding else REFINEMENT
        return None

    def _leaps(self, w: FloatArray) -> bool:
        """Go to the master's w itself, or a hair further; whether that brought anything.

        Where C is huge, a margin of 1 - eps costs more than all weights do: then no point of the
        segment is better than its beginning, though its end, stretched a little, may be.
        """
        value, n_new = self.best.value, 0
        for stretch in STRETCHES:
            point = self.working.point_with_cut((1.0 + stretch) * w)
            self._accept(point)
            n_new += self.pool.add(known_cut(point))
        return n_new > 0 or self.best.value < (1.0 - ROUNDING) * value

    def dual_side(self) -> DualSide:
        """The cuts of the best dual point, and its v."""
        return dual_side_of_cuts(self.problem, self.tracker, self.pool)

    def hand_over(self, problem: Problem, w: FloatArray) -> WarmStart:
        """The pool, with the cuts and columns that a smaller budget needs, and the weights there.

        Working columns with small weights are left out where more than half of them can go.
        """
        pool, working = self.pool, self.working
        pool.keep_heavy_cuts(SHARE_OF_CUTS)
        pool.turn_to(problem)
        n_units = UNITS_PER_BUDGET * problem.norm.budget + MORE_UNITS
        chosen = working.norm.with_budget(n_units).top_columns(w[working.columns])
        places = np.union1d(working.norm.always, chosen)
        if chosen.size and 2 * places.size <= working.size:
            pool.keep_columns(places)
        return WarmStart(working.columns, w[working.columns], memory=pool)


def certify_cuts(
    problem: Problem, tracker: Tracker, pool: CutPool, alpha: FloatArray
) -> tuple[FloatArray, float]:
    """The pass over all columns: ``X^T sum_k alpha_k delta_k``, and the bound that it certifies."""
    v = pool.combine(alpha)
    correlations = problem.design.correlate(v)
    gain = problem.risk.gain_of_cuts(float(pool.losses @ alpha), v, problem.C)
    bound = problem.dual_value(gain, correlations)
    tracker.lower_bound(bound, lambda: pool.dual_point(alpha))
    return correlations, bound


def dual_side_of_cuts(problem: Problem, tracker: Tracker, pool: CutPool) -> DualSide:
    """The best dual point with its cuts; where it has none, those of them that the pool holds."""
    point, v = tracker.dual_point, problem.risk.dual_vector(tracker.dual_point, problem.C)
    return DualSide(point if isinstance(point, CutWeights) else pool.proving_cuts(), v)


def run_bundle(problem: Problem, tracker: Tracker, warm: WarmStart | None = None) -> Bundle:
    """Run rounds until a reason to stop."""
    # Numbers may overflow where C or X is extreme; such points are not better and are refused.
    with np.errstate(over="ignore", invalid="ignore"):
        bundle = Bundle(problem, tracker, warm)
        status = None
        while status is None:
            try:
                status = bundle.round()
            except LinAlgError as error:
                logger.warning("the bundle cannot go on: %s", error)
                status = Status.STALLED
        bundle.status = bundle.settled(status)
    return bundle
