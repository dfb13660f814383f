"""At most k features, with a certified distance to the best possible k-feature model.

    min { 1/2 ||w||_2^2 + C R(X w)  :  w has at most k units }

is hard, but its optimum is at least that of the budget norm with B = k, because both norms agree on
vectors of at most k units. So:

1. solve the relaxed problem with budget k: its dual value D bounds every k-feature model;
2. choose k units by their weights and refit on them with the l2 norm, see
   :mod:`scoresieve.solvers.unit_choice`;
3. swap units as long as the refitted objective falls, see :mod:`scoresieve.solvers.swaps`;
4. report ``(J_k - D) / J_k``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.api import run_solver
from scoresieve.solvers.bundle import WarmStart, run_bundle
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.refits import LAST_SECONDS, Refit, RefitOn, columns_of_units
from scoresieve.solvers.result import (
    DualPoint,
    SolveResult,
    Status,
    relative_gap,
    split_intercept,
)
from scoresieve.solvers.tracker import Limits, Tracker
from scoresieve.solvers.unit_choice import choose_units
from scoresieve.solvers.zero_model import smallest_useful_C

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


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
        left = time_left(limits, tracker)
        best = choose_units(
            problem.design, problem.norm, relaxed, tracker.dual_point, refit_of(problem), left
        )
    return hard_result(
        best,
        relaxed,
        status,
        tracker,
        intercept,
        lambda: smallest_useful_C(problem, limits, tracker),
    )


def hard_result(
    best: Refit,
    relaxed: FloatArray,
    status: Status,
    tracker: Tracker,
    intercept: float,
    smallest_C: Callable[[], float | None],
) -> SolveResult:
    """The refit as a result, with the bound of the relaxed problem.

    Parameters
    ----------
    best : Refit
    relaxed : ndarray of shape (n_columns,)
        Weights of the relaxed solution.
    status : Status
        Why the relaxed problem ended.
    tracker : Tracker
        Of the relaxed problem.
    intercept : float
        Value of the constant last column of the design; 0 if it has none.
    smallest_C : callable
        Asked if the relaxed solution has no features either.
    """
    gap, tol = relative_gap(best.primal, tracker.dual), tracker.limits.tol
    if gap <= tol:
        status = Status.CONVERGED
    elif status.reached_tolerance and best.gap > tol:
        status = best.status
    least_C = None
    if status is Status.CONVERGED and not np.any(split_intercept(best.w, intercept)[0]):
        status = Status.EMPTY_CHOICE
        if gap <= tol or not np.any(split_intercept(relaxed, intercept)[0]):
            status = Status.ZERO_MODEL
            with tracker.clock.part("smallest C"):
                least_C = smallest_C()
    return tracker.result(
        best.w, best.primal, status, intercept=intercept, smallest_C=least_C, l0_gap=gap
    )


def time_left(limits: Limits, tracker: Tracker) -> Limits:
    """The limits with what is left of the time, at least enough for one round."""
    if limits.max_time is None:
        return limits
    left = max(limits.max_time - tracker.clock.elapsed, LAST_SECONDS)
    return replace(limits, max_time=left)


def refit_of(problem: Problem) -> RefitOn:
    """The refits of a problem, as :func:`choose_units` asks for them."""

    def refit_on(units: IntArray, start: FloatArray, warm: DualPoint, limits: Limits) -> Refit:
        return refit(problem, units, start, warm, limits)

    return refit_on


def refit(
    problem: Problem, units: IntArray, start: FloatArray, warm: DualPoint, limits: Limits
) -> Refit:
    """The l2 model on the columns of ``units`` and those always in."""
    norm = problem.norm
    columns = columns_of_units(norm, units)
    if columns.size == 0:
        # Without a column there is one model, and the cuts that came in still tell who may enter.
        nothing = np.zeros(problem.y.size)
        primal = problem.C * max(0.0, problem.cut(nothing).value(nothing))
        w, pull = np.zeros(norm.n_features), warm.combined(problem.flip_values)
        return Refit(units, w, primal, 0.0, pull, warm, Status.CONVERGED)
    inner = replace(
        problem,
        design=problem.design.columns(columns).as_design(),
        norm=BudgetNorm(columns.size, columns.size),
    )
    tracker = Tracker(limits)
    places = np.arange(columns.size)
    state, status = run_bundle(inner, tracker, WarmStart(warm, places, start[columns]))
    w = np.zeros(norm.n_features)
    w[columns[state.pool.columns]] = state.best.w
    point = tracker.dual_point
    pull = point.combined(problem.flip_values)
    return Refit(units, w, tracker.primal, tracker.gap, pull, point, status)
