"""The paper's two-layer cutting plane algorithm (Mao and Tsang, Algorithms 1 and 2).

Outer layer, group generation: the most violated ``d^t`` for the present alpha is the indicator of
the B largest ``c_j^2``, ``c = X^T sum_k alpha_k delta_k``. It joins the set W of groups.

Inner layer, group selection: cutting planes on

    min  1/2 (sum_t ||w_t||)^2 + C R(sum_t w_t)                                   (11)

over the groups of W; each step solves the QCQP (16) by the conic solver, takes the weights ``w_t =
mu_t A_t^T alpha`` (12), and adds the most violated labelling, until the inner relative gap is
eps_2. The outer layer stops when the certified relative gap of the original problem is eps_1.

Where ours differs from the published program: cuts are kept from one inner run to the next, groups
and cuts without weight are dropped, and the outer test uses the certified gap instead of the change
of the objective. The optimum is the same.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.solvers.bundle.cut_pool import CutPool
from scoresieve.solvers.bundle.rounds import certify_cuts, dual_side_of_cuts
from scoresieve.solvers.conic import QCQPSolution, solve_group_qcqp
from scoresieve.solvers.limits import Status, Tracker, relative_gap
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.working import DualSide, WarmStart, known_cut

logger = logging.getLogger(__name__)

#: eps_2 as a share of eps_1, as in the authors' program (0.01 and 0.1).
INNER_SHARE = 0.1
#: Inner steps without weight after which a cut is dropped.
PATIENCE = 20
#: Outer rounds without weight after which a group is dropped.
GROUP_PATIENCE = 5
#: Weight of a group below which it counts as unused.
UNUSED = 1e-6
#: The finest inner gap that double precision and the conic solver can give.
FINEST = 1e-8


class TwoLayer:
    """The state of the algorithm between inner steps.

    Parameters
    ----------
    tracker : Tracker
        Receives bounds and timings; its ``tol`` is eps_1.
    inner_tol : float, optional
        eps_2; a tenth of eps_1 by default.
    max_groups : int, optional
        T, after which the outer layer stops as at ``max_iter``; no limit by default.

    Attributes
    ----------
    pool, working, best, status
        As in :class:`~scoresieve.solvers.bundle.rounds.Bundle`.
    """

    status: Status

    def __init__(
        self,
        problem: Problem,
        tracker: Tracker,
        *,
        inner_tol: float | None = None,
        max_groups: int | None = None,
    ) -> None:
        self.problem, self.tracker = problem, tracker
        self.pool = CutPool(problem)
        self.working = self.pool.working
        self.alpha = np.zeros(0)  # weights of the cuts in the pool, without the newest
        self.groups: list[IntArray] = []  # numbers of design columns, sorted
        self._group_idle: list[int] = []
        self.inner_tol = INNER_SHARE * tracker.limits.tol if inner_tol is None else inner_tol
        self.max_groups = max_groups
        self.n_groups_made = 0
        self.best = self.working.point_with_cut(np.zeros(self.working.size))
        tracker.primal = self.best.value
        cut = known_cut(self.best)
        self.pool.add(cut)
        self._add_group(problem.design.correlate(cut.delta))

    def run(self) -> Status:
        """Outer layer: alternate group selection and group generation."""
        if not len(self.pool):
            # There is no risk at w = 0, so that it is optimal, and the gap is closed.
            self.tracker.record(n_cuts=0, n_working=self.working.size, n_support=0)
            return Status.CONVERGED
        while True:
            solution, status = self._select_groups()
            if status is not None:
                return status
            with self.tracker.clock.part("pass"):
                correlations = self._lower_bound()
            if self.tracker.gap <= self.tracker.limits.tol:
                return Status.CONVERGED
            if self.max_groups is not None and self.n_groups_made >= self.max_groups:
                return Status.MAX_ITER
            self._drop_unused_groups(solution.mu)
            if self._add_group(correlations):
                continue
            # The most violated group is in already: what is left of the gap is the inner one.
            if self.inner_tol <= FINEST:
                return Status.STALLED
            self.inner_tol = max(FINEST, 0.1 * self.inner_tol)

    def _select_groups(self) -> tuple[QCQPSolution, Status | None]:
        """Inner layer (Algorithm 1): cutting planes until the inner gap is eps_2."""
        inner_primal = np.inf
        while True:
            with self.tracker.clock.part("master"):
                solution = self._solve_qcqp()
            with self.tracker.clock.part("oracle"):
                value, is_new = self._add_cut_at(solution)
            inner_primal = min(inner_primal, value)
            done = relative_gap(inner_primal, solution.dual) <= self.inner_tol or not is_new
            status = self.tracker.record(
                n_cuts=len(self.pool),
                n_working=self.working.size,
                n_support=int(np.count_nonzero(self.best.w)),
            )
            if status is not None:
                self._lower_bound()
                return solution, status
            if done:
                return solution, None

    def _solve_qcqp(self) -> QCQPSolution:
        """The QCQP on the present cuts and groups."""
        pool, C = self.pool, self.problem.C
        members = [self.working.places(group) for group in self.groups]
        if not (pool.covers_all and members):
            return solve_group_qcqp([pool.matrix[:, m] for m in members], pool.losses, C)
        root, inverse = _square_root(pool.gram)
        solution = solve_group_qcqp([root], pool.losses, C)
        w = pool.matrix.T @ (inverse @ solution.weights[0])
        return replace(solution, weights=[w[members[0]]])

    def _add_cut_at(self, solution: QCQPSolution) -> tuple[float, bool]:
        """The restricted objective at the QCQP's weights, and whether its cut is new there."""
        w, norms = np.zeros(self.working.size), 0.0
        for part, group in zip(solution.weights, self.groups, strict=True):
            w[self.working.places(group)] += part
            norms += float(np.linalg.norm(part))
        point = self.working.point_with_cut(w)
        risk = point.value - 0.5 * self.working.norm.value_squared(w)
        if point.value < self.best.value:
            self.best = point
            self.tracker.primal = point.value
        self.alpha = self.pool.drop_idle(solution.alpha, PATIENCE)
        return 0.5 * norms**2 + risk, self.pool.add(known_cut(point))

    def _lower_bound(self) -> FloatArray:
        """Certify the dual value over all columns; the correlations that did it."""
        alpha = np.append(self.alpha, np.zeros(len(self.pool) - self.alpha.size))
        return certify_cuts(self.problem, self.tracker, self.pool, alpha)[0]

    def _add_group(self, correlations: FloatArray) -> bool:
        """Algorithm 2, step 5: the most violated d; False if it is in W already."""
        top = self.problem.norm.top_columns(correlations)
        group = np.union1d(top, self.problem.norm.always)
        if self.pool.covers_all and self.groups:
            # One group of all columns is as good as any: none is left out for another.
            group = np.union1d(group, self.groups[0])
        if group.size == 0 or any(np.array_equal(group, known) for known in self.groups):
            return False
        if self.pool.covers_all:
            self.groups, self._group_idle = [], []
        self.groups.append(group)
        self._group_idle.append(0)
        self.n_groups_made += 1
        self.pool.add_columns(group)
        self.best = self.best.padded(self.working.size)
        return True

    def _drop_unused_groups(self, mu: FloatArray) -> None:
        """Forget groups that had no weight for some rounds; one that is needed comes back."""
        idle = [0 if m > UNUSED else i + 1 for m, i in zip(mu, self._group_idle, strict=True)]
        keep = [t for t, rounds in enumerate(idle) if rounds < GROUP_PATIENCE]
        self.groups = [self.groups[t] for t in keep]
        self._group_idle = [idle[t] for t in keep]

    def dual_side(self) -> DualSide:
        """The cuts of the best dual point, and its v."""
        return dual_side_of_cuts(self.problem, self.tracker, self.pool)

    def hand_over(self, problem: Problem, w: FloatArray) -> WarmStart:
        """The columns and weights; the algorithm itself always starts anew."""
        columns = np.flatnonzero(w)
        return WarmStart(columns, w[columns], self.tracker.dual_point)


def _square_root(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``F`` with ``F F^T = gram = A A^T``, and ``F^{-T}``, which takes weights u back to w.

    F serves as well as the cuts on all columns, and is as small as can be. ``A^T F^{-T}`` is
    orthogonal, so that ``w = A^T F^{-T} u`` has the norm and the outputs of u.
    """
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-14 * values[-1]
    lengths = np.sqrt(values[kept])
    return vectors[:, kept] * lengths, vectors[:, kept] / lengths


def run_two_layer(
    problem: Problem,
    tracker: Tracker,
    warm: WarmStart | None = None,
    *,
    inner_tol: float | None = None,
    max_groups: int | None = None,
) -> TwoLayer:
    """Run the algorithm until a reason to stop; see :class:`TwoLayer`. No warm start is of use."""
    state = TwoLayer(problem, tracker, inner_tol=inner_tol, max_groups=max_groups)
    try:
        state.status = state.run()
    except LinAlgError as error:
        logger.warning("the two-layer algorithm cannot go on: %s", error)
        state.status = Status.STALLED
    return state
