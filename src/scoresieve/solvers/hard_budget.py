"""At most k features, with a certified distance to the best possible k-feature model.

    min { 1/2 ||w||_2^2 + C R(X w)  :  w has at most k units }

is hard, but its optimum is at least that of the budget norm with B = k, because both norms agree on
vectors of at most k units. So:

1. solve the relaxed problem with budget k: its dual value D bounds every k-feature model;
2. keep the k units with the largest weights and refit on them with the l2 norm;
3. swap: the refit's dual point gives ``c = X^T sum_k alpha_k delta_k``; units outside with a large
   ``||c_u||`` replace units inside with a small ``||w_u||`` (at the optimum w_u = c_u inside), many
   at first, then fewer, as long as the refitted objective falls;
4. report ``(J_k - D) / J_k``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.api import run_solver
from scoresieve.solvers.bundle import WarmStart, run_bundle
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.result import (
    DualPoint,
    SolveResult,
    Status,
    relative_gap,
    split_intercept,
)
from scoresieve.solvers.tracker import Limits, Tracker
from scoresieve.solvers.zero_model import smallest_useful_C

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Refits are at least this accurate, so that their objectives can be compared.
REFIT_TOL = 0.01
#: A swap must lower the objective by this share to be kept.
LEAST_GAIN = 1e-4
#: Most refits in the search for swaps.
MAX_REFITS = 20
#: Seconds for the refit when the relaxed problem took all the time: enough for one round.
LAST_SECONDS = 1e-3


@dataclass(frozen=True, eq=False)
class Refit:
    """The l2 model on the columns of some units.

    Attributes
    ----------
    units : ndarray of int
        Sorted numbers of the units.
    w : ndarray of shape (n_columns of the design,)
    primal, gap : float
        Objective, and the relative gap of the refit among models on these columns.
    dual_point : DualPoint
    status : Status
    """

    units: IntArray
    w: FloatArray
    primal: float
    gap: float
    dual_point: DualPoint
    status: Status


def solve_hard_budget(
    problem: Problem,
    limits: Limits,
    *,
    intercept: float = 0.0,
    solver: str = "bundle",
    warm: WarmStart | None = None,
) -> SolveResult:
    """``min { 1/2 ||w||_2^2 + C R(X w) : w has at most k units }``, approximately and certified.

    Conventions
    -----------
    * ``primal`` is the l2 objective J_k of the model, ``dual`` the bound D of the relaxed problem,
      which holds for every model with at most k units, and ``gap = l0_gap = (J_k - D) / J_k``.
      :func:`scoresieve.certify` with budget k recomputes all three.
    * ``n_iter`` and ``history`` are those of the relaxed problem. ``status`` is CONVERGED when the
      relaxed problem and the last refit are within the tolerance.
    * Columns that are always in come on top of the k units.

    Parameters
    ----------
    problem : Problem
        Its budget is k.
    limits : Limits
        Of the relaxed problem; the time is for all of it together.
    intercept : float
        Value of the constant last column of the design; 0 if it has none.
    solver : {"bundle", "two_layer"}
        For the relaxed problem.
    warm : WarmStart, optional
        What the relaxed problem starts from.
    """
    tracker = Tracker(limits)
    state, status = run_solver(problem, tracker, solver, warm)
    relaxed = np.zeros(problem.design.n_columns)
    relaxed[state.pool.columns] = state.best.w
    with tracker.clock.part("hard budget"):
        left = _time_left(limits, tracker)
        best = choose_units(problem, relaxed, tracker.dual_point, left)
    gap = relative_gap(best.primal, tracker.dual)
    if gap <= limits.tol:
        status = Status.CONVERGED
    elif status.reached_tolerance and best.gap > limits.tol:
        status = best.status
    w, bias = split_intercept(best.w, intercept)
    support, smallest_C = np.flatnonzero(w), None
    if support.size == 0 and status is Status.CONVERGED:
        status = Status.ZERO_MODEL
        if not np.any(split_intercept(relaxed, intercept)[0]):
            with tracker.clock.part("smallest C"):
                smallest_C = smallest_useful_C(problem, limits, tracker)
    return SolveResult(
        w=w,
        intercept=bias,
        support=support,
        primal=best.primal,
        dual=tracker.dual,
        gap=gap,
        status=status,
        n_iter=len(tracker.history),
        history=tracker.history,
        dual_point=tracker.dual_point,
        timings=dict(tracker.clock.parts),
        n_fallbacks=tracker.n_fallbacks,
        smallest_C=smallest_C,
        l0_gap=gap,
    )


def _time_left(limits: Limits, tracker: Tracker) -> Limits:
    """The limits with what is left of the time, at least enough for one round."""
    if limits.max_time is None:
        return limits
    left = max(limits.max_time - tracker.clock.elapsed, LAST_SECONDS)
    return replace(limits, max_time=left)


def choose_units(problem: Problem, relaxed: FloatArray, warm: DualPoint, limits: Limits) -> Refit:
    """Select, refit, and improve by swaps.

    Parameters
    ----------
    problem : Problem
        Its budget is k.
    relaxed : ndarray of shape (n_columns,)
        Weights of the relaxed solution.
    warm : DualPoint
        Its cuts start the refits.
    limits : Limits
        For all of it together; the callback is not called.
    """
    clock = Tracker(limits).clock
    k = problem.norm.budget
    best = refit(problem, _largest(problem.norm.units.norms(relaxed), k), relaxed, warm, limits)
    n_swapped = max(1, k // 2)
    for _ in range(MAX_REFITS):
        left = None if limits.max_time is None else limits.max_time - clock.elapsed
        if n_swapped < 1 or (left is not None and left <= 0):
            break
        units, n_swapped = _swapped(problem, best, n_swapped)
        if n_swapped == 0:
            break
        trial = refit(problem, units, best.w, best.dual_point, replace(limits, max_time=left))
        if trial.primal < (1.0 - LEAST_GAIN) * best.primal:
            best = trial
        else:
            n_swapped //= 2
    return best


def _largest(norms: FloatArray, k: int) -> IntArray:
    """Sorted numbers of the k units with the largest norms, ties to the lower number."""
    order = np.argsort(-norms, kind="stable")[:k]
    return np.sort(order[norms[order] > 0.0])


def refit(
    problem: Problem, units: IntArray, start: FloatArray, warm: DualPoint, limits: Limits
) -> Refit:
    """The l2 model on the columns of ``units`` and those always in."""
    norm = problem.norm
    chosen = np.zeros(norm.n_units, dtype=bool)
    chosen[units] = True
    selectable = np.flatnonzero(norm.unit_of >= 0)
    columns = np.concatenate([norm.always, selectable[chosen[norm.unit_of[selectable]]]])
    if columns.size == 0:
        # Without a column there is one model, and the cuts that came in still tell who may enter.
        nothing = np.zeros(problem.y.size)
        primal = problem.C * max(0.0, problem.cut(nothing).value(nothing))
        return Refit(units, np.zeros(norm.n_features), primal, 0.0, warm, Status.CONVERGED)
    inner = replace(
        problem,
        design=problem.design.columns(columns).as_design(),
        norm=BudgetNorm(columns.size, columns.size),
    )
    tracker = Tracker(replace(limits, tol=min(limits.tol, REFIT_TOL), callback=None))
    places = np.arange(columns.size)
    state, status = run_bundle(inner, tracker, WarmStart(warm, places, start[columns]))
    w = np.zeros(norm.n_features)
    w[columns[state.pool.columns]] = state.best.w
    return Refit(units, w, tracker.primal, tracker.gap, tracker.dual_point, status)


def _swapped(problem: Problem, best: Refit, n_wanted: int) -> tuple[IntArray, int]:
    """The units after the most promising swap of at most ``n_wanted``, and how many it swaps."""
    norm = problem.norm
    correlations = problem.design.correlate(best.dual_point.combined(problem.flip_values))
    outside = norm.units.norms(correlations)
    inside = norm.units.norms(best.w)[best.units]
    outside[best.units] = 0.0
    n_free = norm.budget - best.units.size
    entering = np.argsort(-outside, kind="stable")[: n_wanted + n_free]
    entering = entering[outside[entering] > 0.0]
    leaving = np.argsort(inside, kind="stable")[: max(0, entering.size - n_free)]
    # Only pairs where the newcomer promises more than the one it replaces.
    pays = outside[entering[n_free:]][: leaving.size] > inside[leaving]
    n_swaps = int(np.count_nonzero(np.logical_and.accumulate(pays)))
    entering = np.concatenate([entering[:n_free], entering[n_free : n_free + n_swaps]])
    if entering.size == 0:
        return best.units, 0
    stay = np.delete(best.units, leaving[:n_swaps])
    return np.sort(np.concatenate([stay, entering])), max(n_swaps, 1)
