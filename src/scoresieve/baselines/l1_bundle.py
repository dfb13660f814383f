"""``L1BundleSVM``: the l1 norm and any measure, by cutting planes and a linear programme.

    J(w)     = ||w||_1 + C R(X w)
    D(alpha) = <q, alpha>   for  |X^T sum_k alpha_k delta_k|_j <= 1,  alpha >= 0,  sum alpha <= C

Each round solves the programme on the cuts and columns seen so far, adds the most violated cut at
its solution, and passes once over X for the columns that the dual point violates. Divided by the
largest of these correlations the dual point is feasible over all columns: the certified bound.
"""

from __future__ import annotations

import logging
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from scipy.optimize import linprog

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_C, check_positive
from scoresieve.baselines._baseline import BinaryFit, MeasureBaseline
from scoresieve.design import as_design
from scoresieve.estimators.linear_model import proven
from scoresieve.estimators.persistence.values import classifier
from scoresieve.measures import Measure
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.bundle.cut_pool import CutPool
from scoresieve.solvers.engines import make_result
from scoresieve.solvers.limits import Limits, Status, Tracker, one_blas_thread
from scoresieve.solvers.problem import Problem, make_problem

logger = logging.getLogger(__name__)

#: What ``linprog`` reports for a limit of time.
_AT_A_LIMIT = 1
#: Most columns that enter in a round.
COLUMNS_AT_ONCE = 100
#: A column enters if the dual point violates it by more than this.
VIOLATION = 1e-7


@dataclass(eq=False, repr=False)
class L1BundleSVM(MeasureBaseline):
    """``min_w ||w||_1 + C R(X w)`` by cutting planes: l1-regularised F1, and other measures.

    The paper's l1-bmrm-F1 is the program BMRM (Teo, Vishwanathan, Smola and Le, "Bundle methods for
    regularized risk minimization", JMLR 2010) with the l1 norm and the F1 risk. Each iteration
    solves a linear program over all features and adds the most violated labelling at its solution.
    With the l1 norm its authors guarantee no convergence (their Appendix C); Mao and Tsang report
    that it does not converge on their image data, and does not end within two days on
    News20.binary.

    **Conventions**

    **It often ends without convergence**, above all at large C. Then it gives a
    ``ConvergenceWarning``, and ``gap_`` bounds the distance from the optimum; set ``max_time``. The
    same as in the original: the problem, the cuts, the linear program, one cut per round at its
    solution without line search or prox term, and the default limits (relative gap 0.1, 1,000
    iterations). Differences:

    * ``C = 1 / lambda``, up to the scale of the loss: with ``measure="accuracy"``, R is the sum of
      the hinge losses;
    * HiGHS solves the program over the features that some round needed. Each round passes over all
      features to find missing ones;
    * the lower bound is the dual value over all features, and therefore certified;
    * the best point of all rounds is returned, not the last one;
    * the intercept is the weight of a constant column inside the norm, as in liblinear;
    * every measure of this package can be optimised.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk. On text, 0.05 to 1 gives from a few to fifty features.
    tol : float, default=0.1
        The fit stops at this certified relative gap.
    measure, fit_intercept, intercept_scaling, pos_label, max_iter, max_time, n_jobs
        As in :class:`~scoresieve.MeasureSVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, primal_, dual_, gap_, \
n_iter_, status_, history_, measure_
        As in :class:`~scoresieve.MeasureSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import L1BundleSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> model = L1BundleSVM("f1", C=1.0).fit(X, X[:, 3] + X[:, 7] > 1.5)
    >>> sorted(np.argsort(-abs(model.coef_[0]))[:2].tolist())
    [3, 7]
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    C: float = 1.0
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    pos_label: Any = None
    tol: float = 0.1
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None

    _saved = classifier("measure_", "certificate")
    primal_, dual_, gap_ = proven("primal"), proven("dual"), proven("gap")
    status_, history_ = proven("status", list), proven("history", list)

    def _fit_binary(self, X: Any, y: FloatArray) -> BinaryFit:
        scaling = check_positive(self.intercept_scaling, "intercept_scaling")
        constant = scaling if self.fit_intercept else 0.0
        limits = Limits(self.tol, self.max_iter, self.max_time)
        with one_blas_thread():
            # The constant column is one like the others, and B = 1 is the l1 norm of all of them.
            design = as_design(X, constant=constant)
            problem = make_problem(
                design, y, measure=self.measure, bound="paper", budget=1, C=check_C(self.C)
            )
            tracker = Tracker(limits, problem.risk.no_dual_point())
            bundle, status = L1Bundle(problem, tracker), None
            while status is None:
                status = bundle.round()
            problem = replace(problem, constant=constant)
            result = make_result(problem, tracker, bundle.weights(), tracker.primal, status)
        return BinaryFit.of(result, None, trouble=self._gap_trouble(result), C=problem.C)


class L1Bundle:
    """The state between rounds.

    ``problem.norm`` is that of B = 1, which is the l1 norm, over all columns: none is always in.
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
        w, alpha = solution
        with tracker.clock.part("pass"):
            correlations = self._bound(alpha)
        with tracker.clock.part("oracle"):
            is_new = self._try(w)
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


def solve_l1_master(
    cuts: FloatArray, losses: FloatArray, C: float, *, max_time: float | None = None
) -> tuple[FloatArray, FloatArray] | None:
    """An optimal vertex ``(w, alpha)`` by HiGHS; None if the time is over, LinAlgError if it fails.

        primal:  min  ||w||_1 + C xi      s.t.  xi >= q_k - <a_k, w>,  xi >= 0
        dual:    max  <q, alpha>          s.t.  |A^T alpha|_j <= 1,  sum alpha <= C,  alpha >= 0

    w has at most as many non-zeros as there are cuts; alpha is feasible for the dual on these
    columns, up to the solver's tolerance.

    Parameters
    ----------
    cuts : ndarray of shape (n_cuts, n_columns)
        ``A``.
    losses : ndarray of shape (n_cuts,)
        ``q``, not negative.
    max_time : float, optional
        Seconds.
    """
    n_cuts, n_columns = cuts.shape
    if max_time is not None and max_time <= 0.0:
        return None
    # HiGHS works with absolute tolerances, so the losses are brought to at most 1.
    scale = max(float(losses.max()), 1e-300)
    costs = np.append(np.ones(2 * n_columns), C)
    rows = np.hstack([-cuts, cuts, -np.ones((n_cuts, 1))])
    # Presolve takes several times as long as the simplex method itself on these dense rows.
    options = {"presolve": False, "time_limit": max_time}
    answer = linprog(costs, A_ub=rows, b_ub=-losses / scale, method="highs-ds", options=options)
    if answer.status == _AT_A_LIMIT:
        return None
    if answer.status != 0:
        raise LinAlgError(f"the linear programme was not solved: {answer.message}")
    parts = answer.x[:-1].reshape(2, n_columns)
    alpha = np.maximum(0.0, -answer.ineqlin.marginals)
    alpha *= min(1.0, C / max(float(alpha.sum()), np.finfo(float).tiny))
    return scale * (parts[0] - parts[1]), alpha
