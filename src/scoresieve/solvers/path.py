"""All budgets in one run: each fit goes on from the cuts, columns and weights of the last one.

    min_w 1/2 ||w||_B^2 + C R(X w)     for B = B_1 > B_2 > ...

The budget enters the norm alone. Cuts bound the risk whatever B is, so that nothing of a fit but
its bounds depends on its budget. Handed over are the cuts that hold 95 % of the dual point's weight
and the columns with the largest weights, as they stand in memory.

Large budgets come first. Their working columns hold almost all that the smaller ones need, so that
columns are seldom taken out of X again; from small to large each budget needs new ones. On
news20.binary with eight budgets the fits need 158 rounds if each starts from nothing, about 90 from
small to large, and 68 from large to small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoresieve._checks import check_count
from scoresieve.measures import Measure
from scoresieve.solvers.api import solve_problem
from scoresieve.solvers.bundle import Continuation
from scoresieve.solvers.cut_pool import CutPool
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.result import DualPoint, Progress, SolveResult
from scoresieve.solvers.threads import one_blas_thread
from scoresieve.solvers.tracker import Limits

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Working units that a smaller budget takes over, as a multiple of it, and beyond that. Fits on
#: text that start from nothing end with about 4 B + 40; taking over no more than that cost a sixth
#: more rounds. The limit keeps masters small where the budget falls by orders of magnitude.
UNITS_PER_BUDGET, MORE_UNITS = 10, 200
#: Share of the dual point's weight whose cuts a smaller budget takes over. A coarse master leaves a
#: little weight on every cut; with all of them the masters of later budgets grow out of proportion.
SHARE_OF_CUTS = 0.95
#: Seconds for a budget when those before it took all the time: enough for one round.
LAST_SECONDS = 1e-3


def solve_path(
    X: Any,
    y: ArrayLike,
    budgets: Iterable[int],
    *,
    measure: str | Measure,
    C: float = 1.0,
    tol: float = 0.05,
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
    """``min_w 1/2 ||w||_B^2 + C R(X w)`` for every B in ``budgets``, in one warm-started run.

    Conventions
    -----------
    * Every result is certified to ``tol`` by a dual point of its own, as from
      :func:`scoresieve.solve`. Within the tolerance its weights differ from those of a fit alone.
    * The largest budget is fitted first and exactly as by :func:`scoresieve.solve`.
    * Identical inputs give identical bits; so do the same budgets in another order.

    Parameters
    ----------
    X, y, measure, C, tol, intercept, always, excluded, feature_groups, sample_weight
        As for :func:`scoresieve.solve`.
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
    find_smallest_C : bool
        Whether a fit without features looks for the smallest C that gives some.

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
    >>> path = solve_path(X, y, [2, 5, 20], measure="f1", C=10.0, intercept=1.0)
    >>> [result.gap <= 0.05 for result in path]
    [True, True, True]
    >>> bool(path[0].primal >= path[1].dual and path[1].primal >= path[2].dual)
    True
    """
    budgets = check_budgets(budgets)
    limits = Limits(tol, max_iter, max_time, callback, find_smallest_C)
    problem = make_problem(
        X,
        y,
        measure=measure,
        budget=max(budgets),
        C=C,
        intercept=intercept,
        always=always,
        excluded=excluded,
        feature_groups=feature_groups,
        sample_weight=sample_weight,
    )
    with one_blas_thread():
        return descend(budgets, problem.norm.budget, limits, cuts_in_turn(problem, intercept))


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


#: ``fit(budget, limits)``: the fit for one budget, from what the fit before it left.
FitInTurn = Callable[[int, Limits], SolveResult]


def descend(budgets: list[int], largest: int, limits: Limits, fit: FitInTurn) -> list[SolveResult]:
    """Fit for each distinct budget in descending order; the results in the order asked for.

    Parameters
    ----------
    budgets : list of int
        Lowered to ``largest``.
    largest : int
        The largest budget that has a meaning.
    limits : Limits
        The time is for all budgets together, and a callback that stopped one fit stops all.
    fit : callable
    """
    start = perf_counter()
    admissible = [min(budget, largest) for budget in budgets]
    callback = None if limits.callback is None else _StopsForGood(limits.callback)
    solved = {}
    for budget in sorted(set(admissible), reverse=True):
        left = None
        if limits.max_time is not None:
            left = max(LAST_SECONDS, limits.max_time - (perf_counter() - start))
        solved[budget] = fit(budget, replace(limits, max_time=left, callback=callback))
    return [solved[budget] for budget in admissible]


def cuts_in_turn(problem: Problem, intercept: float) -> FitInTurn:
    """Fits that hand their cuts, columns and weights on."""
    pool = CutPool(problem)
    last: SolveResult | None = None

    def fit(budget: int, limits: Limits) -> SolveResult:
        nonlocal last
        at_budget = replace(problem, norm=problem.norm.with_budget(budget))
        warm = Continuation(pool)
        if last is not None:
            warm = _go_over(pool, at_budget, last, intercept)
        last = solve_problem(at_budget, limits, intercept=intercept, warm=warm)
        return last

    return fit


def _go_over(pool: CutPool, problem: Problem, last: SolveResult, intercept: float) -> Continuation:
    """Make the pool that the last fit left ready for the next problem."""
    w = last.w if intercept == 0.0 else np.append(last.w, last.intercept / intercept)
    keep_heavy_cuts(pool, last.dual_point)
    pool.turn_to(problem)
    narrow(pool, w[pool.columns])
    return Continuation(pool, w[pool.columns])


def keep_heavy_cuts(pool: CutPool, dual_point: DualPoint) -> None:
    """Drop the cuts beyond those that hold most of a dual point's weight; all stay if it is 0."""
    alpha = pool.weights_of(dual_point)
    order = np.argsort(-alpha, kind="stable")
    total = np.cumsum(alpha[order])
    if total[-1] <= 0.0:
        return
    n_heavy = int(np.searchsorted(total, SHARE_OF_CUTS * total[-1])) + 1
    pool.keep_cuts(np.sort(order[:n_heavy]))


def narrow(pool: CutPool, w: FloatArray) -> None:
    """Leave out working columns with small weights where more than half of them can go.

    Parameters
    ----------
    pool : CutPool
    w : ndarray of shape (n_working,)
        Weights of the last fit. Without any, all columns stay.
    """
    n_units = UNITS_PER_BUDGET * pool.norm.budget + MORE_UNITS
    chosen = pool.norm.with_budget(n_units).top_columns(w)
    places = np.union1d(pool.norm.always, chosen)
    if chosen.size and 2 * places.size <= pool.columns.size:
        pool.keep_columns(places)


class _StopsForGood:
    """A callback that, once it has returned True, returns True without being asked again."""

    def __init__(self, callback: Callable[[Progress], object]) -> None:
        self._callback, self._stopped = callback, False

    def __call__(self, row: Progress) -> bool:
        self._stopped = self._stopped or self._callback(row) is True
        return self._stopped
