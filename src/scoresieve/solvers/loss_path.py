"""All budgets of a general loss in one run, each fit from the columns and weights of the last one.

See :mod:`scoresieve.solvers.path`, which says why large budgets come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoresieve.losses import Loss
from scoresieve.solvers.loss_api import solve_loss_problem
from scoresieve.solvers.loss_cuts import bundle_problem, in_slopes
from scoresieve.solvers.loss_problem import LossProblem, make_loss_problem
from scoresieve.solvers.path import FitInTurn, check_budgets, cuts_in_turn, descend
from scoresieve.solvers.result import Progress, SolveResult
from scoresieve.solvers.smooth import WarmColumns
from scoresieve.solvers.threads import one_blas_thread
from scoresieve.solvers.tracker import Limits


def solve_loss_path(
    X: Any,
    y: ArrayLike,
    budgets: Iterable[int],
    *,
    loss: str | Loss,
    C: float = 1.0,
    tol: float = 0.01,
    max_iter: int = 1000,
    max_time: float | None = None,
    intercept: float = 0.0,
    always: ArrayLike | None = None,
    excluded: ArrayLike | None = None,
    feature_groups: Any = None,
    sample_weight: ArrayLike | None = None,
    callback: Callable[[Progress], object] | None = None,
    find_smallest_C: bool = True,
) -> list[SolveResult]:
    """``min_w 1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)`` for every B in ``budgets``.

    Parameters
    ----------
    X, y, loss, C, tol, intercept, always, excluded, feature_groups, sample_weight
        As for ``solve_loss``.
    budgets, max_iter, max_time, callback, find_smallest_C
        As for :func:`scoresieve.solvers.path.solve_path`.

    Returns
    -------
    list of SolveResult
        One for each entry of ``budgets``, in the order asked for; equal budgets share one.
    """
    budgets = check_budgets(budgets)
    limits = Limits(tol, max_iter, max_time, callback, find_smallest_C)
    problem = make_loss_problem(
        X,
        y,
        loss=loss,
        budget=max(budgets),
        C=C,
        intercept=intercept,
        always=always,
        excluded=excluded,
        feature_groups=feature_groups,
        sample_weight=sample_weight,
    )
    in_turn = columns_in_turn if problem.loss.is_smooth else slopes_in_turn
    with one_blas_thread():
        return descend(budgets, problem.norm.budget, limits, in_turn(problem, intercept))


def columns_in_turn(problem: LossProblem, intercept: float) -> FitInTurn:
    """Fits of a smooth loss that hand their columns and weights on."""
    warm: WarmColumns | None = None

    def fit(budget: int, limits: Limits) -> SolveResult:
        nonlocal warm
        at_budget = replace(problem, norm=problem.norm.with_budget(budget))
        result = solve_loss_problem(at_budget, limits, intercept=intercept, warm=warm)
        warm = warm_columns(result.w, result.intercept, intercept)
        return result

    return fit


def slopes_in_turn(problem: LossProblem, intercept: float) -> FitInTurn:
    """Fits of a loss with kinks by the bundle, their dual points as slopes."""
    as_cuts = bundle_problem(problem)
    fit_cuts = cuts_in_turn(as_cuts, intercept)

    def fit(budget: int, limits: Limits) -> SolveResult:
        at_budget = replace(problem, norm=problem.norm.with_budget(budget))
        return in_slopes(at_budget, as_cuts, fit_cuts(budget, limits), limits.tol)

    return fit


def warm_columns(w: np.ndarray, bias: float, intercept: float) -> WarmColumns:
    """The weights of a fit as the start of another one.

    Parameters
    ----------
    w : ndarray of shape (n_features,)
    bias : float
        The fitted intercept.
    intercept : float
        Value of the constant last column; 0 if there is none.
    """
    w = w if intercept == 0.0 else np.append(w, bias / intercept)
    columns = np.flatnonzero(w)
    return WarmColumns(columns, w[columns])
