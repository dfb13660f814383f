"""At most k features for a general loss, certified as for measures.

    min { 1/2 ||w||_2^2 + C sum_i c_i l(y_i, <w, x_i>)  :  w has at most k units }

See :mod:`scoresieve.solvers.hard_budget`; only the solvers of the relaxed problem and of the refits
differ.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.hard_budget import hard_result, solve_hard_budget, time_left
from scoresieve.solvers.loss_cuts import bundle_problem, in_slopes
from scoresieve.solvers.loss_problem import LossDualPoint, LossProblem
from scoresieve.solvers.loss_zero_model import smallest_C_with_features
from scoresieve.solvers.refits import Refit, RefitOn, columns_of_units
from scoresieve.solvers.result import SolveResult, Status
from scoresieve.solvers.smooth import WarmColumns, run_smooth
from scoresieve.solvers.tracker import Limits, Tracker
from scoresieve.solvers.unit_choice import choose_units

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def solve_loss_hard_budget(
    problem: LossProblem,
    limits: Limits,
    *,
    intercept: float = 0.0,
    warm: WarmColumns | None = None,
) -> SolveResult:
    """``min { 1/2 ||w||_2^2 + C sum_i c_i l_i : w has at most k units }``, certified.

    Parameters
    ----------
    problem : LossProblem
        Its budget is k.
    limits : Limits
        Of the relaxed problem; the time is for all of it together.
    intercept : float
        Value of the constant last column of the design; 0 if it has none.
    warm : WarmColumns, optional
        What the relaxed problem of a smooth loss starts from.
    """
    if not problem.loss.is_smooth:
        as_cuts = bundle_problem(problem)
        result = solve_hard_budget(as_cuts, limits, intercept=intercept)
        result = in_slopes(problem, as_cuts, result, limits.tol)
        return replace(result, l0_gap=result.gap)
    tracker = Tracker(limits)
    state, status = run_smooth(problem, tracker, warm)
    relaxed = np.zeros(problem.design.n_columns)
    relaxed[state.working.columns] = state.best.w
    with tracker.clock.part("hard budget"):
        left = time_left(limits, tracker)
        point = LossDualPoint(problem.slopes(state.best.scores))
        best = choose_units(problem.design, problem.norm, relaxed, point, refit_of(problem), left)
    return hard_result(
        best,
        relaxed,
        status,
        tracker,
        intercept,
        lambda: smallest_C_with_features(problem, limits, tracker),
    )


def refit_of(problem: LossProblem) -> RefitOn:
    """The refits of a problem: the smooth l2 problem on the columns of the units."""

    def refit(units: IntArray, start: FloatArray, point: LossDualPoint, limits: Limits) -> Refit:
        norm = problem.norm
        columns = columns_of_units(norm, units)
        if columns.size == 0:
            nothing = np.zeros(problem.y.size)
            w, primal = np.zeros(norm.n_features), problem.risk(nothing)
            point = LossDualPoint(problem.slopes(nothing))
            pull = problem.pull(point.slopes)
            return Refit(units, w, primal, 0.0, pull, point, Status.CONVERGED)
        inner = replace(
            problem,
            design=problem.design.columns(columns).as_design(),
            norm=BudgetNorm(columns.size, columns.size),
        )
        tracker = Tracker(limits)
        warm = WarmColumns(np.arange(columns.size), start[columns])
        state, status = run_smooth(inner, tracker, warm)
        w = np.zeros(norm.n_features)
        w[columns[state.working.columns]] = state.best.w
        # The slopes at the point, unlike the best dual point, are those of this very model.
        point = LossDualPoint(problem.slopes(state.best.scores))
        pull = problem.pull(point.slopes)
        return Refit(units, w, tracker.primal, tracker.gap, pull, point, status)

    return refit
