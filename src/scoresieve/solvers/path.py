"""All budgets in one run: each fit goes on from the cuts, columns and weights of the last one.

    min_w 1/2 ||w||_B^2 + C R(X w)     for B = B_1 > B_2 > ...

The budget enters the norm alone. Cuts bound the risk whatever B is, so that nothing of a fit but
its bounds depends on its budget. ``hand_over`` of an engine returns what the next run starts from.

Large budgets come first. Their working columns hold almost all that the smaller ones need, so that
columns are seldom taken out of X again; from small to large each budget needs new ones. On
news20.binary with eight budgets the fits need 158 rounds if each starts from nothing, about 90 from
small to large, and 68 from large to small.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from scoresieve._checks import check_count
from scoresieve.solvers.engines import SolveResult, result_of, run_at_falling_price
from scoresieve.solvers.limits import Limits, one_blas_thread
from scoresieve.solvers.prices import with_own_price
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.solve import or_smallest_C
from scoresieve.solvers.working import WarmStart


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
    """``min_w 1/2 ||w||_B^2 + C R(X w)`` for every B in ``budgets``, in the order asked for.

    Conventions
    -----------
    * Every result is certified to the tolerance by a dual point of its own. Within it the weights
      differ from those of a fit alone.
    * The largest budget is fitted first and exactly as by :func:`scoresieve.solve`. Equal budgets
      share one result.
    * When the time is over, or the callback has returned True, each remaining budget gets one
      round, and the callback is not called again. ``iteration`` and ``time`` of its argument start
      anew for each budget.

    Parameters
    ----------
    problem : Problem
        Its budget is the largest one that has an effect.
    budgets : list of int
        Larger ones are lowered to that.
    limits : Limits
        The time is for all budgets together, and a callback that stopped one fit stops all.
    """
    admissible = [min(budget, problem.norm.budget) for budget in budgets]
    limits = limits.begun()
    solved: dict[int, SolveResult] = {}
    ended, last = None, None
    for budget in sorted(set(admissible), reverse=True):
        with one_blas_thread():
            at_budget, warm = with_own_price(problem.with_budget(budget), limits), None
            if ended is not None and last is not None:
                w = problem.joined(last.w, last.intercept)
                if ended.problem.risk is at_budget.risk:
                    warm = ended.hand_over(at_budget, w)
                else:
                    # Labellings serve at any price, but not what was computed of them.
                    support = np.flatnonzero(w)
                    warm = WarmStart(support, w[support], last.dual_point)
            ended = run_at_falling_price(at_budget, limits, warm)
            solved[budget] = last = or_smallest_C(result_of(ended), ended)
        limits = replace(limits, is_stopped=ended.tracker.is_stopped)
    return [solved[budget] for budget in admissible]
