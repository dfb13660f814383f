"""The bundle method with the l1 norm: cutting planes, a linear programme, and growing columns.

    J(w)     = ||w||_1 + C R(X w)
    D(alpha) = <q, alpha>   for  |X^T sum_k alpha_k delta_k|_j <= 1,  alpha >= 0,  sum alpha <= C

Each round solves the programme on the cuts and columns seen so far, adds the most violated cut at
its solution, and passes once over X for the columns that the dual point violates. Divided by the
largest of these correlations the dual point is feasible over all columns: the certified bound.
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray
from scoresieve.baselines._l1_master import solve_l1_master
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.bundle.cut_pool import CutPool
from scoresieve.solvers.limits import Status, Tracker
from scoresieve.solvers.problem import Problem

logger = logging.getLogger(__name__)

#: Most columns that enter in a round.
COLUMNS_AT_ONCE = 100
#: A column enters if the dual point violates it by more than this.
VIOLATION = 1e-7


class L1Bundle:
    """The state between rounds.

    Conventions
    -----------
    ``problem.norm`` is that of B = 1, which is the l1 norm, over all columns: none is always in.

    Parameters
    ----------
    tracker : Tracker
        Receives bounds and timings.
    """

    def __init__(self, problem: Problem, tracker: Tracker) -> None:
        self.problem, self.tracker = problem, tracker
        self.pool = CutPool(problem)
        self.w = np.zeros(0)
        zero = np.zeros(problem.risk.y.size)
        cut = problem.risk.cut(zero)
        tracker.primal = problem.C * max(0.0, cut.value(zero))
        self.pool.add(cut)
        correlations = self._bound(np.full(len(self.pool), problem.C))
        self._enter(correlations)

    def _enter(self, correlations: FloatArray, least: float = 0.0) -> int:
        """Add the columns with the largest correlations, if these are above ``least``."""
        reach = BudgetNorm(COLUMNS_AT_ONCE, correlations.size)
        columns = reach.top_columns(correlations)
        return self.pool.add_columns(columns[np.abs(correlations[columns]) > least])

    def round(self) -> Status | None:
        """One round of the method; the reason to stop, or None."""
        tracker, limits = self.tracker, self.tracker.limits
        left = None if limits.max_time is None else limits.max_time - tracker.clock.elapsed
        with tracker.clock.part("master"):
            pool, C = self.pool, self.problem.C
            try:
                solution = solve_l1_master(pool.matrix, pool.losses, C, max_time=left)
            except LinAlgError as error:
                logger.warning("the l1 bundle cannot go on: %s", error)
                return Status.STALLED
        if solution is None:
            return Status.MAX_TIME
        with tracker.clock.part("pass"):
            correlations = self._bound(solution.alpha)
        with tracker.clock.part("oracle"):
            is_new = self._try(solution.w)
        status = tracker.record(
            n_cuts=len(self.pool),
            n_working=self.pool.working.size,
            n_support=int(np.count_nonzero(self.w)),
        )
        if status is not None:
            return status
        with tracker.clock.part("grow"):
            n_new = self._enter(correlations, 1.0 + VIOLATION)
        return None if is_new or n_new else Status.STALLED

    def _try(self, w: FloatArray) -> bool:
        """Take w if it is the best, and add the cut there; False if that is in already."""
        problem, pool = self.problem, self.pool
        scores = pool.working.block.scores(w)
        cut = problem.risk.cut(scores)
        value = float(np.abs(w).sum()) + problem.C * max(0.0, cut.value(scores))
        if value < self.tracker.primal:
            self.tracker.primal, self.w = value, w
        return pool.add(cut)

    def _bound(self, alpha: FloatArray) -> FloatArray:
        """Certify the dual value over all columns; the correlations that did it."""
        pool = self.pool
        correlations = self.problem.design.correlate(pool.combine(alpha))
        largest = float(np.max(np.abs(correlations)))
        alpha = alpha / max(1.0, largest)
        self.tracker.lower_bound(float(pool.losses @ alpha), lambda: pool.dual_point(alpha))
        return correlations

    def weights(self) -> FloatArray:
        """The best weights, on all columns."""
        w = np.zeros(self.problem.design.n_columns)
        w[self.pool.working.columns[: self.w.size]] = self.w
        return w


def run_l1_bundle(problem: Problem, tracker: Tracker) -> tuple[L1Bundle, Status]:
    """Run rounds until a reason to stop."""
    bundle, status = L1Bundle(problem, tracker), None
    while status is None:
        status = bundle.round()
    return bundle, status
