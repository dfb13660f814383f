"""What tests of several folders use."""

from __future__ import annotations

from typing import Any

from scoresieve import SolveResult
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.path import check_budgets, solve_budgets
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import default_tol


def solve_path(
    X: Any,
    y: Any,
    budgets: Any,
    *,
    tol: float | None = None,
    max_iter: int = 1000,
    max_time: float | None = None,
    callback: Any = None,
    **arguments: Any,
) -> list[SolveResult]:
    """``solve`` for many budgets, as ``budget_path`` does it after it has read the labels."""
    budgets = check_budgets(budgets)
    problem = make_problem(X, y, budget=max(budgets), **arguments)
    limits = Limits(default_tol(tol, problem), max_iter, max_time, callback)
    return solve_budgets(problem, budgets, limits)
