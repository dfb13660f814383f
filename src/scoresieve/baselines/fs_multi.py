"""``FSMulti``: the paper's two-layer cutting plane algorithm (Mao and Tsang, Algorithms 1 and 2).

Outer layer, group generation: the most violated ``d^t`` for the present alpha is the indicator of
the B largest ``c_j^2``, ``c = X^T sum_k alpha_k delta_k``. It joins the set W of groups.

Inner layer, group selection: cutting planes on

    min  1/2 (sum_t ||w_t||)^2 + C R(sum_t w_t)                                   (11)

over the groups of W; each step solves the QCQP (16, Corollary 1) by the conic solver,

    min  theta - <q, alpha>   s.t.  1/2 ||A_t^T alpha||^2 <= theta  for each group t,

takes the weights ``w_t = mu_t A_t^T alpha`` (12), and adds the most violated labelling, until the
inner relative gap is eps_2. The outer layer stops when the certified relative gap of the original
problem is eps_1.
"""

from __future__ import annotations

import logging
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from scipy import sparse

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._checks import check_count, check_positive
from scoresieve.baselines._budget import BudgetBaseline
from scoresieve.measures import Measure
from scoresieve.solvers.bundle.cut_pool import CutPool
from scoresieve.solvers.bundle.rounds import certify_cuts
from scoresieve.solvers.engines import SolveResult
from scoresieve.solvers.limits import Status, Tracker, relative_gap
from scoresieve.solvers.master.conic import LARGEST_CAP, LEAST_SCALE, ConicProgramme, run_clarabel
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.working import known_cut

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


@dataclass(eq=False, repr=False)
class FSMulti(BudgetBaseline):
    """``min_w 1/2 ||w||_B^2 + C R(X w)`` by two nested layers of cutting planes, T groups at most.

    FS_multi (Mao and Tsang, "A feature selection method for multivariate performance measures",
    IEEE TPAMI 2013) adds the group of the B most violated features, then finds weights of all
    groups so far by cutting planes and a conic solver, and repeats until the objective no longer
    improves.

    **Conventions**

    The same as in the original: the problem, both layers, eps_1 = 0.1 (``tol``), eps_2 = 0.01
    (``inner_tol``), at most 10 groups, no intercept; with ``C_scale="paper"`` the paper's C divided
    by the number of rows. Differences:

    * the outer layer stops at the certified relative gap eps_1, not at a smaller change of the
      objective; a fit that ends at ``max_groups`` with a larger gap gives a warning;
    * cuts are kept from one inner run to the next, and groups without weight are dropped;
    * weights that do not matter within the tolerance are set to zero, as in
      :class:`~scoresieve.MeasureSVC`; the original counts the features of all groups with weight;
    * the conic solver is Clarabel, not Mosek; every measure of this package can be optimised.

    :class:`~scoresieve.MeasureSVC` has the same optimum and gets there faster.

    Parameters
    ----------
    budget : int, optional
        B, the size of a group. By default 50, or all features if there are fewer.
    C : float, default=1.0
        Weight of the risk, in the scale of ``C_scale``.
    C_scale : {"linear_svc", "svmperf", "paper"}, default="linear_svc"
        The scale of C: that of ``LinearSVC`` and of this package, SVM^perf's ``-c`` (not for
        ``"accuracy"``), or the paper's C divided by n (0.1 for its News20 experiments).
    tol : float, default=0.1
        eps_1: the fit stops at this certified relative gap.
    inner_tol : float, default=0.01
        eps_2: the relative gap of the inner layer.
    max_groups : int, default=10
        T: maximum number of groups.
    max_iter : int, default=1000
        Maximum number of inner steps per class, over all groups.
    measure, fit_intercept, intercept_scaling, pos_label, max_time, n_jobs
        As in :class:`~scoresieve.MeasureSVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, primal_, dual_, gap_, \
measure_
        As in :class:`~scoresieve.MeasureSVC`.
    C_ : ndarray of shape (n_problems,)
        C of each problem in the scale of ``LinearSVC``.
    n_iter_ : ndarray of int of shape (n_problems,)
        Steps of the inner layer.
    status_ : list of Status
        ``MAX_ITER`` also for a stop at ``max_groups``.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import FSMulti
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> model = FSMulti("f1", budget=2, C=0.1, C_scale="paper").fit(X, X[:, 3] + X[:, 7] > 1.5)
    >>> sorted(np.argsort(-abs(model.coef_[0]))[:2].tolist())
    [3, 7]
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    budget: int | None = None
    C: float = 1.0
    C_scale: str = "linear_svc"
    fit_intercept: bool = False
    intercept_scaling: float = 1.0
    pos_label: Any = None
    tol: float = 0.1
    inner_tol: float = 0.01
    max_groups: int = 10
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None

    def _budget(self, n_features: int) -> int | None:
        return self.budget

    def _run(self, problem: Problem, tracker: Tracker) -> TwoLayer:
        inner_tol = check_positive(self.inner_tol, "inner_tol")
        max_groups = check_count(self.max_groups, "max_groups")
        return run_two_layer(problem, tracker, inner_tol=inner_tol, max_groups=max_groups)

    def _gap_trouble(self, result: SolveResult) -> str | None:
        if result.status is not Status.MAX_ITER:
            return super()._gap_trouble(result)
        return (
            f"the certified gap is {result.gap:.3g}, above tol={self.tol:g}, after max_groups="
            f"{self.max_groups} groups or max_iter={self.max_iter} steps; raise these, or tol."
        )


class TwoLayer:
    """The state of the algorithm between inner steps.

    Parameters
    ----------
    tracker : Tracker
        Its ``tol`` is eps_1.
    inner_tol : float, optional
        eps_2; a tenth of eps_1 by default.
    max_groups : int, optional
        T, after which the outer layer stops as at ``max_iter``; no limit by default.
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
    *,
    inner_tol: float | None = None,
    max_groups: int | None = None,
) -> TwoLayer:
    """Run the algorithm until a reason to stop; see :class:`TwoLayer`."""
    state = TwoLayer(problem, tracker, inner_tol=inner_tol, max_groups=max_groups)
    try:
        state.status = state.run()
    except LinAlgError as error:
        logger.warning("the two-layer algorithm cannot go on: %s", error)
        state.status = Status.STALLED
    return state


@dataclass(frozen=True, eq=False)
class QCQPSolution:
    """Solution of the paper's QCQP over groups.

    Attributes
    ----------
    alpha : ndarray of shape (n_cuts,)
    mu : ndarray of shape (n_groups,)
        Weight of each group, ``mu >= 0`` and ``sum mu = 1``.
    weights : list of ndarray
        ``w_t = mu_t A_t^T alpha`` for each group, from the multipliers of its cone: those meet the
        cuts to Clarabel's tolerance, the product only to its square root.
    dual : float
        ``<q, alpha> - max_t 1/2 ||A_t^T alpha||^2``: the lower bound J_K of the restricted problem.
    """

    alpha: FloatArray
    mu: FloatArray
    weights: list[FloatArray]
    dual: float


def solve_group_qcqp(
    groups: list[FloatArray], losses: FloatArray, C: float, *, tol: float = 1e-9
) -> QCQPSolution:
    """``max <q, alpha> - theta`` with ``1/2 ||A_t^T alpha||^2 <= theta``, ``sum alpha <= C``.

    The groups are the ``A_t``, the cuts on the columns of each; the losses are q.
    """
    n_cuts, scale_loss = losses.size, max(float(losses.max()), LEAST_SCALE)
    if not groups:
        alpha = C * (np.arange(n_cuts) == np.argmax(losses))
        return QCQPSolution(alpha, np.zeros(0), [], float(losses @ alpha))
    scale_alpha = _group_scale(groups, losses, C)
    bases = [_orthogonal_basis(cuts) for cuts in groups]
    scaled = [cuts * np.sqrt(scale_alpha / scale_loss) for cuts in groups]
    n = n_cuts + 1
    linear = np.concatenate([-losses / scale_loss, [1.0]])
    bounds = -sparse.identity(n, format="csc")[:n_cuts]
    cap = sparse.csc_matrix(np.concatenate([np.ones(n_cuts), [0.0]])[None])
    blocks = [_group_cone(basis, cuts) for basis, cuts in zip(bases, scaled, strict=True)]
    sizes = [block.shape[0] for block in blocks]
    heads = n + np.cumsum(sizes) - sizes
    sides = np.zeros(n + sum(sizes))
    sides[n_cuts], sides[heads], sides[heads + 1] = min(C / scale_alpha, LARGEST_CAP), 0.5, -0.5
    rows = sparse.vstack([bounds, cap, *blocks], format="csc")
    programme = ConicProgramme(sparse.csc_matrix((n, n)), linear, rows, sides, sizes)
    x, duals, _ = run_clarabel(programme, tol)
    alpha = scale_alpha * np.maximum(x[:n_cuts], 0.0)
    alpha *= min(1.0, C / max(alpha.sum(), np.finfo(float).tiny))
    # The multiplier of theta in cone t is z_0 + z_1; they sum to one. The others are -w_t.
    mu = np.maximum(duals[heads] + duals[heads + 1], 0.0)
    scale = -np.sqrt(scale_alpha * scale_loss)
    parts = np.split(duals[n:], np.cumsum(sizes)[:-1])
    weights = [scale * (basis @ z[2:]) for basis, z in zip(bases, parts, strict=True)]
    strongest = max(float(np.sum((cuts.T @ alpha) ** 2)) for cuts in groups)
    dual = float(losses @ alpha) - 0.5 * strongest
    return QCQPSolution(alpha, mu / max(mu.sum(), np.finfo(float).tiny), weights, dual)


def _group_scale(groups: list[FloatArray], losses: FloatArray, C: float) -> float:
    """``min(C, <q, e> / max_t ||A_t^T e||^2)``, e the equal weights of sum 1; C if q is below 0."""
    gain = float(losses.mean())
    curvature = max(float(np.sum(cuts.mean(axis=0) ** 2)) for cuts in groups)
    return gain / curvature if 0.0 < gain < curvature * C else C


def _orthogonal_basis(cuts: FloatArray) -> FloatArray | sparse.sparray:
    """Q with ``Q^T Q = I`` and ``Q Q^T A_t^T = A_t^T``, of at most as many columns as cuts."""
    if cuts.shape[1] > cuts.shape[0]:
        return np.linalg.qr(cuts.T)[0]
    return sparse.eye_array(cuts.shape[1], format="csr")


def _group_cone(basis: FloatArray | sparse.sparray, cuts: FloatArray) -> sparse.csc_matrix:
    """``||(theta - 1/2, Q^T A_t^T alpha)|| <= theta + 1/2``; ``||Q^T c|| = ||c||`` on its range."""
    factor = basis.T @ cuts.T
    rows = np.zeros((factor.shape[0] + 2, cuts.shape[0] + 1))
    rows[0, -1] = rows[1, -1] = -1.0
    rows[2:, :-1] = -factor
    return sparse.csc_matrix(rows)
