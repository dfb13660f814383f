"""One run: the engine that suits the risk, at prices that may fall, and the result it leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.risks import DualPoint, MeasureRisk
from scoresieve.solvers.bundle.rounds import run_bundle
from scoresieve.solvers.limits import Limits, Progress, Status, Tracker, relative_gap
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.smooth.rounds import run_smooth
from scoresieve.solvers.working import Ended, Resumable, WarmStart, WorkingColumns

#: The objective may rise by this share of the gap when weights are dropped.
MAX_PRIMAL_RISE = 0.003
#: ``engine(problem, tracker, warm)``: runs rounds until a reason to stop.
Engine = Callable[[Problem, Tracker, WarmStart | None], Resumable]


@dataclass(frozen=True, eq=False)
class SolveResult:
    """A fitted model with its certificate.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
        Weights; ``scores = X @ w + intercept``.
    intercept : float
        The weight of the constant column times its value; 0 without one.
    support : ndarray of int
        Sorted numbers of the columns with a non-zero weight.
    primal, dual : float
        ``J(w)`` and the best lower bound of ``min J``.
    gap : float
        ``(primal - dual) / primal``.
    l0_gap : float
        The same number with a hard budget of k, where ``primal`` is the l2 objective of this model
        and ``dual`` bounds that of every model with at most k features. NaN with a soft budget.
    status : Status
        Why the fit ended; its value is a sentence.
    n_iter : int
        Rounds.
    dual_point : DualPoint
        Proves ``dual``; :func:`scoresieve.certify` recomputes the bounds from it.
    refit_gap : float
        With a hard budget: the largest share by which other weights of the same features could
        lower ``primal``. NaN with a soft budget.
    price : float
        Cost of a false alarm in the risk of a measure; NaN for a loss.
    timings : dict of str to float
        Seconds by part of the solver.
    n_fallbacks : int
        Number of master problems that the conic solver took over.
    smallest_C : float or None
        Only with ``Status.ZERO_MODEL``: the smallest C, to about 10 %, at which a fit to the same
        tolerance has features. inf if no C has; None if it was not found in time, or not searched.
    """

    w: FloatArray
    intercept: float
    support: IntArray
    primal: float
    dual: float
    gap: float
    status: Status
    n_iter: int
    history: list[Progress]
    dual_point: DualPoint
    l0_gap: float = nan
    refit_gap: float = nan
    price: float = nan
    timings: dict[str, float] = field(default_factory=dict)
    n_fallbacks: int = 0
    smallest_C: float | None = None

    @property
    def ended_well(self) -> bool:
        """Whether the gap is within the tolerance and the model has features."""
        return self.status.reached_tolerance and self.support.size > 0


def result_of(ended: Ended) -> SolveResult:
    """The result of a run, without negligible weights."""
    tracker = ended.tracker
    with tracker.clock.part("sparsify"):
        w, primal = drop_small_weights(ended.working, ended.best.w, tracker)
    return make_result(ended.problem, tracker, ended.working.scattered(w), primal, ended.status)


def make_result(
    problem: Problem, tracker: Tracker, w: FloatArray, primal: float, status: Status
) -> SolveResult:
    """The result of these weights, with the bound and the history of a run.

    Parameters
    ----------
    w : ndarray of shape (n_columns of the design,)
    primal : float
        Objective of w.
    status : Status
        Why the rounds ended; the gap of these weights has the last word.
    """
    gap = relative_gap(primal, tracker.dual)
    # The last pass, or the weights that were dropped, may have closed the gap after the last test.
    if gap <= tracker.limits.tol:
        status = Status.CONVERGED
    weights, intercept = problem.split(w)
    if status is Status.CONVERGED and not np.any(weights):
        status = Status.ZERO_MODEL
    return SolveResult(
        w=weights,
        intercept=intercept,
        support=np.flatnonzero(weights),
        primal=primal,
        dual=tracker.dual,
        gap=gap,
        status=status,
        n_iter=len(tracker.history),
        history=tracker.history,
        dual_point=tracker.dual_point,
        price=problem.risk.price if isinstance(problem.risk, MeasureRisk) else nan,
        timings=dict(tracker.clock.parts),
        n_fallbacks=tracker.n_fallbacks,
    )


def drop_small_weights(
    working: WorkingColumns, w: FloatArray, tracker: Tracker
) -> tuple[FloatArray, float]:
    """The sparsest prefix of w by size whose objective is almost that of w; w and its objective.

    An interior-point method leaves tiny weights on columns that the optimum does not use, and the
    line search averages points. The objective may rise by 0.3 % of the gap; a converged fit stays
    converged.

    Parameters
    ----------
    working : WorkingColumns
    w : ndarray of shape (n_working,)
    tracker : Tracker
        With the bounds of w and the tolerance.
    """
    primal, dual, tol = tracker.primal, tracker.dual, tracker.limits.tol
    limit = primal + MAX_PRIMAL_RISE * (primal - dual)
    if primal - dual <= tol * primal:
        limit = min(limit, max(primal, dual / (1.0 - tol) if tol < 1.0 else np.inf))
    units = working.norm.units
    order = np.argsort(units.norms(w), kind="stable")

    def without(n_dropped: int) -> tuple[FloatArray, float]:
        keep = np.ones(order.size)
        keep[order[:n_dropped]] = 0.0
        kept = w * units.spread(keep, always=1.0, excluded=0.0)
        return kept, working.point(kept).value

    low, high = 0, order.size + 1
    best = without(0)
    while high - low > 1:
        middle = (low + high) // 2
        candidate = without(middle)
        if candidate[1] <= limit:
            low, best = middle, candidate
        else:
            high = middle
    return best


def engine_for(problem: Problem) -> Engine:
    """The engine that suits the risk."""
    return run_smooth if problem.risk.is_smooth else run_bundle


def run_at_falling_price(
    problem: Problem, limits: Limits, warm: WarmStart | None = None
) -> Resumable:
    """Run the engine; again at half the price, if that may fall, while the model has no features.

    Where the scores of the classes overlap much, the empty model may have the least risk at the
    measure's own rate.
    """
    limits = limits.begun()
    while True:
        tracker = Tracker(limits, problem.risk.no_dual_point())
        ended = engine_for(problem)(problem, tracker, warm)
        cheaper = with_lower_price(problem)
        if cheaper is None or tracker.is_stopped or tracker.deadline.is_over:
            return ended
        # Where none of the weights matters, all of them are dropped.
        w, _ = drop_small_weights(ended.working, ended.best.w, tracker)
        if ended.working.n_selected(w):
            return ended
        # What was computed of the labellings of the start has another price now.
        problem, warm = cheaper, None if warm is None else replace(warm, memory=None)


def with_lower_price(problem: Problem) -> Problem | None:
    """The problem at half its price, if that is "auto" and more than the balance P / N.

    There both classes have the same weight, and a lower price makes the negatives the lighter one.
    """
    risk = problem.risk
    if not problem.price_is.may_fall or not isinstance(risk, MeasureRisk):
        return None
    lowest = balance(risk.y, risk.weights)
    if risk.price <= lowest:
        return None
    return replace(problem, risk=risk.with_price(max(0.5 * risk.price, lowest)))


def balance(y: FloatArray, weights: FloatArray | None = None) -> float:
    """``P / N``, by the weights of the rows if there are any."""
    counts = np.ones(y.size) if weights is None else weights
    return float(np.sum(counts[y > 0]) / np.sum(counts[y <= 0]))
