"""All budgets in one run: each fit goes on from the cuts, columns and weights of the last one.

    min_w 1/2 ||w||_B^2 + C R(X w)     for B = B_1 > B_2 > ...

The budget enters the norm alone. Cuts bound the risk whatever B is, so that nothing of a fit but
its bounds depends on its budget. What an engine hands over, its ``hand_over`` says.

Large budgets come first. Their working columns hold almost all that the smaller ones need, so that
columns are seldom taken out of X again; from small to large each budget needs new ones. On
news20.binary with eight budgets the fits need 158 rounds if each starts from nothing, about 90 from
small to large, and 68 from large to small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Unpack

from numpy.typing import ArrayLike

from scoresieve._checks import check_count
from scoresieve.solvers.limits import Deadline, Limits, Progress
from scoresieve.solvers.problem import Problem, ProblemArguments, make_problem
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.solve import default_tol, run_and_finish


def solve_path(
    X: Any,
    y: ArrayLike,
    budgets: Iterable[int],
    *,
    tol: float | None = None,
    max_iter: int = 1000,
    max_time: float | None = None,
    callback: Callable[[Progress], object] | None = None,
    **arguments: Unpack[ProblemArguments],
) -> list[SolveResult]:
    """``min_w 1/2 ||w||_B^2 + C R(X w)`` for every B in ``budgets``, in one warm-started run.

    Conventions
    -----------
    * Every result is certified to ``tol`` by a dual point of its own, as from
      :func:`scoresieve.solve`. Within the tolerance its weights differ from those of a fit alone.
    * The largest budget is fitted first and exactly as by :func:`scoresieve.solve`.
    * Identical inputs give identical bits; so do the same budgets in another order.

    Parameters
    ----------
    X, y, tol, **arguments
        As for :func:`scoresieve.solve`, C included, without the budget.
    budgets : iterable of int
        In any order. Equal ones are solved once. One above the number of columns or groups to
        select from is lowered to it with a warning.
    max_iter : int
        Most rounds for each budget.
    max_time : float, optional
        Seconds for the whole path. When they are over, every budget that is left gets one round.
    callback : callable, optional
        Called with a :class:`~scoresieve.Progress` after each round; ``iteration`` and ``time``
        start anew for each budget. When it returns True the path ends: it is not called again, and
        every budget that is left gets one round.

    Returns
    -------
    list of SolveResult
        One for each entry of ``budgets``, in the order asked for; equal budgets share one.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.solvers.path import solve_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = np.where(X[:, 3] + X[:, 7] > 1.5, 1, -1)
    >>> path = solve_path(X, y, [2, 5, 20], measure="f1", C=10.0, intercept_scaling=1.0)
    >>> [result.gap <= 0.05 for result in path]
    [True, True, True]
    >>> bool(path[0].primal >= path[1].dual and path[1].primal >= path[2].dual)
    True
    """
    budgets = check_budgets(budgets)
    if "budget" in arguments:
        raise TypeError("budget is not an argument of a path; its budgets are in budgets.")
    arguments["budget"] = max(budgets)
    problem = make_problem(X, y, **arguments)
    limits = Limits(default_tol(tol, problem), max_iter, max_time, callback)
    return solve_budgets(problem, budgets, limits)


def check_budgets(budgets: Any) -> list[int]:
    """A list of at least one integer, each at least 1."""
    if isinstance(budgets, str | bytes) or not isinstance(budgets, Iterable):
        raise ValueError(
            f"budgets must be a list of integers; got {budgets!r}. Put a single budget in a list."
        )
    checked = [check_count(each, f"budgets[{place}]") for place, each in enumerate(budgets)]
    if not checked:
        raise ValueError("budgets is empty; give at least one integer of at least 1.")
    return checked


def solve_budgets(problem: Problem, budgets: list[int], limits: Limits) -> list[SolveResult]:
    """Fit for each distinct budget in descending order; the results in the order asked for.

    Parameters
    ----------
    problem : Problem
        Its budget is the largest one that has a meaning.
    budgets : list of int
        Lowered to that.
    limits : Limits
        The time is for all budgets together, and a callback that stopped one fit stops all.
    """
    admissible = [min(budget, problem.norm.budget) for budget in budgets]
    callback = None if limits.callback is None else _StopsForGood(limits.callback)
    limits = replace(limits, callback=callback, deadline=Deadline(limits.max_time))
    solved: dict[int, SolveResult] = {}
    ended, last = None, None
    for budget in sorted(set(admissible), reverse=True):
        at_budget, warm = problem.with_budget(budget), None
        if ended is not None and last is not None:
            warm = ended.hand_over(at_budget, problem.joined(last.w, last.intercept))
        last, ended = run_and_finish(at_budget, limits, warm=warm)
        solved[budget] = last
    return [solved[budget] for budget in admissible]


class _StopsForGood:
    """A callback that, once it has returned True, returns True without being asked again."""

    def __init__(self, callback: Callable[[Progress], object]) -> None:
        self._callback, self._stopped = callback, False

    def __call__(self, row: Progress) -> bool:
        self._stopped = self._stopped or self._callback(row) is True
        return self._stopped
