"""``solve``: the one function behind every estimator. It chooses the engine and reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoresieve._arrays import FloatArray
from scoresieve.losses import Loss
from scoresieve.measures import Measure
from scoresieve.risks import LossRisk, MeasureRisk
from scoresieve.solvers.bundle.rounds import run_bundle
from scoresieve.solvers.limits import (
    Deadline,
    Limits,
    Progress,
    Status,
    Tracker,
    one_blas_thread,
    relative_gap,
)
from scoresieve.solvers.prices import with_lower_price, with_own_price
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.smallest_C import find_smallest_C
from scoresieve.solvers.smooth.rounds import run_smooth
from scoresieve.solvers.two_layer import run_two_layer
from scoresieve.solvers.working import Ended, WarmStart, WorkingColumns

#: ``engine(problem, tracker, warm)``: runs rounds until a reason to stop.
Engine = Callable[[Problem, Tracker, WarmStart | None], Ended]

#: Relative gaps to stop at, unless the user says otherwise: a measure's bound is coarse itself.
MEASURE_TOL, LOSS_TOL = 0.05, 0.01
#: The objective may rise by this share of the gap when weights are dropped.
ALLOWANCE = 0.003


def solve(
    X: Any,
    y: ArrayLike,
    *,
    measure: str | Measure | None = None,
    loss: str | Loss | None = None,
    bound: str = "tight",
    price: str | float = "auto",
    budget: int,
    C: float = 1.0,
    solver: str | None = None,
    tol: float | None = None,
    max_iter: int = 1000,
    max_time: float | None = None,
    intercept_scaling: float = 0.0,
    always_features: ArrayLike | None = None,
    excluded_features: ArrayLike | None = None,
    feature_groups: Any = None,
    sample_weight: ArrayLike | None = None,
    callback: Callable[[Progress], object] | None = None,
) -> SolveResult:
    """``min_w 1/2 ||w||_B^2 + C R(X w)``: a sparse linear model for a measure or a loss.

    ``||.||_B`` is the budget norm. R is the risk of the measure, a convex bound of its loss, or the
    sum of the losses, ``sum_i c_i l(y_i, <w, x_i>)``.

    Conventions
    -----------
    * With ``measure="accuracy"`` and a budget of all columns this is scikit-learn's
      ``LinearSVC(loss="hinge")`` with the same C; with a loss it is ``LinearSVC``,
      ``LogisticRegression``, ``LinearSVR`` or ``Ridge(alpha=1 / C)``, all without intercept. With a
      budget of 1 the norm is the l1 norm, squared.
    * Measures and losses with kinks are solved by the bundle, smooth losses by Newton steps on
      working columns.
    * Identical inputs give identical bits.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Dense, CSR or CSC; never densified, never modified.
    y : array-like of shape (n_samples,)
        In {-1, +1} or {0, 1}; real for a loss for regression.
    measure : str or Measure, optional
        What to optimise: ``"f1"``, ``"prec@100"``, ``"rec@2p"``, ``"prbep"``, ``"roc_auc"``, ...
    loss : str or Loss, optional
        Instead of a measure: ``"hinge"``, ``"squared_hinge"``, ``"logistic"``, ``"huber_hinge"``,
        ``"squared"``, ``"epsilon_insensitive"``, ``"huber"``, or one with settings of its own.
    bound : {"tight", "paper"}
        ``"tight"`` follows the measure: prices, and for measures of the k highest scores the
        intercept as threshold. ``"paper"`` is the paper's, with the price 1.
    price : float or "auto"
        What a false alarm costs in the joint score, a missed positive costing 1. ``"auto"`` is the
        measure's own exchange rate where the model works, found with the model.
    budget : int
        B, the number of columns (or groups) that the regulariser lets in at full weight. The
        solution has more non-zero weights than that, usually two to five times as many.
    C : float
        Weight of the risk. For F1 on text 1 to 100 is the useful range.
    solver : {"bundle", "two_layer"}, optional
        Instead of the one that suits the risk; ``"two_layer"`` is the paper's algorithm. The same
        optimum, more slowly.
    tol : float, optional
        Relative gap ``(primal - dual) / primal`` to stop at; 0.05 for a measure and 0.01 for a loss
        by default.
    max_iter : int
        Most rounds.
    max_time : float, optional
        Seconds; honoured within one round.
    intercept_scaling : float
        Value of a constant column that is always in, whose weight is the intercept; 0 for none.
    always_features, excluded_features : array-like of int or boolean mask, optional
        Columns that are always in, outside the budget, and columns that never are.
    feature_groups : array-like of int of shape (n_features,) or list of lists, optional
        Columns that enter together; the budget counts groups.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row counts: 2 is the same as the row twice, 0 as leaving it out. Any weights
        for losses and for ``"accuracy"``, ``"balanced_accuracy"`` and ``"roc_auc"``, whole ones for
        the other measures.
    callback : callable, optional
        Called with a :class:`~scoresieve.Progress` after each round; return True to stop.

    Returns
    -------
    SolveResult

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = np.where(X[:, 3] + X[:, 7] > 1.5, 1, -1)
    >>> result = solve(X, y, measure="f1", budget=2, C=10.0, intercept_scaling=1.0)
    >>> result.status.name, result.gap <= 0.05
    ('CONVERGED', True)
    >>> sorted(np.argsort(-abs(result.w))[:2].tolist())
    [3, 7]
    >>> result = solve(X, X[:, 3] - 2.0 * X[:, 7], loss="squared", budget=2, C=10.0)
    >>> result.support, result.gap <= 0.01
    (array([3, 7]), True)
    """
    problem = make_problem(
        X,
        y,
        measure=measure,
        loss=loss,
        bound=bound,
        price=price,
        budget=budget,
        C=C,
        intercept_scaling=intercept_scaling,
        always_features=always_features,
        excluded_features=excluded_features,
        feature_groups=feature_groups,
        sample_weight=sample_weight,
    )
    limits = Limits(default_tol(tol, problem), max_iter, max_time, callback)
    return solve_problem(problem, limits, solver=solver)


def default_tol(tol: float | None, problem: Problem) -> float:
    """The tolerance, or that of measures or losses if none was given."""
    if tol is not None:
        return tol
    return LOSS_TOL if isinstance(problem.risk, LossRisk) else MEASURE_TOL


def check_solver(solver: str | None) -> None:
    """Refuse the name of a solver that there is not."""
    if solver not in (None, "bundle", "two_layer"):
        raise ValueError(f"solver must be 'bundle' or 'two_layer'; got {solver!r}.")


def engine_for(problem: Problem, solver: str | None = None) -> Engine:
    """The engine that suits the risk, or the one that was asked for.

    Parameters
    ----------
    problem : Problem
    solver : {"bundle", "two_layer"}, optional
    """
    check_solver(solver)
    if solver is None and problem.risk.is_smooth:
        return run_smooth
    return run_two_layer if solver == "two_layer" else run_bundle


def solve_problem(
    problem: Problem,
    limits: Limits,
    *,
    solver: str | None = None,
    warm: WarmStart | None = None,
) -> SolveResult:
    """Run the engine on a checked problem, drop weights that do not matter, and report.

    Parameters
    ----------
    problem : Problem
    limits : Limits
    solver : {"bundle", "two_layer"}, optional
    warm : WarmStart, optional
    """
    return run_and_finish(problem, limits, solver=solver, warm=warm)[0]


def run_and_finish(
    problem: Problem,
    limits: Limits,
    *,
    solver: str | None = None,
    warm: WarmStart | None = None,
) -> tuple[SolveResult, Ended]:
    """The result, and the engine that has run, for what goes on from there."""
    with one_blas_thread():
        tracker, ended = run_at_own_price(problem, limits, solver=solver, warm=warm)
        with tracker.clock.part("sparsify"):
            w, primal = drop_small_weights(ended.working, ended.best.w, tracker)
        result = finish(ended.problem, tracker, ended.working.scattered(w), primal, ended.status)
    return result, ended


def run_at_own_price(
    problem: Problem,
    limits: Limits,
    *,
    solver: str | None = None,
    warm: WarmStart | None = None,
) -> tuple[Tracker, Ended]:
    """Run the engine at the price of the problem; where that is open, it is found first.

    A price that was found is lowered as long as the model has no features: where scores of the two
    classes overlap much, the least risk at the measure's own rate may be that of "no" for all.
    """
    limits = replace(limits, deadline=limits.deadline or Deadline(limits.max_time))
    at_price = with_own_price(problem, limits)
    while True:
        tracker = Tracker(limits, at_price.risk.no_dual_point())
        ended = engine_for(at_price, solver)(at_price, tracker, warm)
        cheaper = with_lower_price(at_price)
        if cheaper is None or tracker.deadline.is_over:
            return tracker, ended
        # Where none of the weights matters, all of them are dropped.
        w, _ = drop_small_weights(ended.working, ended.best.w, tracker)
        if ended.working.n_selected(w):
            return tracker, ended
        at_price, warm = cheaper, at_any_price(warm)


def at_any_price(warm: WarmStart | None) -> WarmStart | None:
    """The start without what was computed of its labellings, which have another price now."""
    return None if warm is None else replace(warm, memory=None)


def finish(
    problem: Problem,
    tracker: Tracker,
    w: FloatArray,
    primal: float,
    status: Status,
    *,
    relaxed: FloatArray | None = None,
) -> SolveResult:
    """What a run found, with the reason to stop: the one place that decides about the empty model.

    Parameters
    ----------
    problem : Problem
    tracker : Tracker
    w : ndarray of shape (n_columns of the design,)
    primal : float
        Objective of w.
    status : Status
        Why the rounds ended.
    relaxed : ndarray of shape (n_columns of the design,), optional
        With a hard budget: the weights of the relaxed solution.
    """
    gap = relative_gap(primal, tracker.dual)
    # The last pass, or the weights that were dropped, may have closed the gap after the last test.
    if gap <= tracker.limits.tol:
        status = Status.CONVERGED
    weights, intercept = problem.split(w)
    smallest_C = None
    if status is Status.CONVERGED and not np.any(weights):
        is_relaxed_empty = relaxed is None or not np.any(problem.split(relaxed)[0])
        if is_relaxed_empty or gap <= tracker.limits.tol:
            status = Status.ZERO_MODEL
            with tracker.clock.part("smallest C"):
                # As a fit with that C would go: with a price of its own.
                smallest_C = find_smallest_C(
                    problem.reopened(),
                    tracker,
                    run_at_own_price,
                )
        else:
            status = Status.EMPTY_CHOICE
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
        l0_gap=nan if relaxed is None else gap,
        price=problem.risk.price if isinstance(problem.risk, MeasureRisk) else nan,
        timings=dict(tracker.clock.parts),
        n_fallbacks=tracker.n_fallbacks,
        smallest_C=smallest_C,
    )


def drop_small_weights(
    working: WorkingColumns, w: FloatArray, tracker: Tracker
) -> tuple[FloatArray, float]:
    """The sparsest prefix of w by size whose objective is almost that of w; w and its objective.

    An interior-point method leaves tiny weights on columns that the optimum does not use, and the
    line search averages points. J may rise by 0.3 % of the gap, and not so far that a gap within
    the tolerance leaves it.

    Parameters
    ----------
    working : WorkingColumns
    w : ndarray of shape (n_working,)
    tracker : Tracker
        With the bounds of w and the tolerance.
    """
    primal, dual, tol = tracker.primal, tracker.dual, tracker.limits.tol
    limit = primal + ALLOWANCE * (primal - dual)
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
