"""``solve``: the one function behind every estimator, and its form for a checked problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoresieve._arrays import IntArray
from scoresieve._checks import check_flag
from scoresieve.losses import Loss
from scoresieve.measures import Measure
from scoresieve.risks import LossRisk
from scoresieve.solvers.engines import (
    SolveResult,
    result_of,
    run_at_falling_price,
    with_lower_price,
)
from scoresieve.solvers.limits import Limits, Progress, Status, one_blas_thread
from scoresieve.solvers.prices import run_at_own_price, with_own_price
from scoresieve.solvers.problem import Problem, budget_arguments, make_problem
from scoresieve.solvers.smallest_C import with_smallest_C
from scoresieve.solvers.subset.columns import FetchedColumns
from scoresieve.solvers.subset.hard_budget import (
    beside_relaxed,
    certified,
    choose_units,
    uncertified,
    until_enough,
)
from scoresieve.solvers.working import Ended, WarmStart

#: Default relative gaps to stop at. That of a measure is coarse, as its bound is.
MEASURE_TOL, LOSS_TOL = 0.05, 0.01


def solve(
    X: Any,
    y: ArrayLike,
    *,
    measure: str | Measure | None = None,
    loss: str | Loss | None = None,
    bound: str = "tight",
    price: str | float = "auto",
    budget: int | None = None,
    n_features_to_select: int | None = None,
    certificate: bool = True,
    C: float = 1.0,
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
    sum of the losses, ``sum_i c_i l(y_i, <w, x_i>)``. With ``n_features_to_select=k`` it is
    ``min { 1/2 ||w||_2^2 + C R(X w) : w has at most k features }``, solved approximately. The
    optimum of the first problem with B = k bounds how far the model is from the best such model.

    Conventions
    -----------
    * With ``measure="accuracy"`` and a budget of all columns this is scikit-learn's
      ``LinearSVC(loss="hinge")`` with the same C; with a loss it is ``LinearSVC``,
      ``LogisticRegression``, ``LinearSVR`` or ``Ridge(alpha=1 / C)``, all without intercept. With a
      budget of 1 the norm is the l1 norm, squared.
    * With k features ``primal`` is the l2 objective of the model, ``dual`` bounds that of every
      model with at most k features, and ``l0_gap`` is the gap between both. ``status`` is CONVERGED
      when the refit on the chosen features is within the tolerance and the relaxed problem is also,
      or is so near its optimum that the gap could shrink by a sixth at most.
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
        ``"tight"`` follows the measure: it has prices, and for measures of the k highest scores the
        intercept is the threshold. ``"paper"`` is the paper's bound, with the price 1.
    price : float or "auto"
        Cost of a false alarm in the joint score; that of a missed positive is 1. ``"auto"`` is the
        measure's exchange rate at the operating point, estimated by cross-fitting.
    budget : int, optional
        B, the number of columns (or groups) that the regulariser lets in at full weight. The
        solution usually has two to five times as many non-zero weights.
    n_features_to_select : int, optional
        k: at most k columns (or groups) have a weight, besides those that are always in. Use it
        instead of the budget.
    certificate : bool
        With k features: whether the relaxed problem is solved as well, which bounds all models with
        k features. Without it a fit takes less time, ``l0_gap`` is NaN, and ``dual`` and ``gap``
        hold only among models on the chosen features.
    C : float
        Weight of the risk. For F1 on text 1 to 100 is the useful range.
    tol : float, optional
        Relative gap ``(primal - dual) / primal`` to stop at; 0.05 for a measure and 0.01 for a loss
        by default.
    max_iter : int
        Most rounds.
    max_time : float, optional
        Seconds; honoured within one round.
    intercept_scaling : float
        Value of a constant column that is always in; its weight is that of the intercept. 0 for no
        intercept.
    always_features, excluded_features : array-like of int or boolean mask, optional
        Columns that are always in, outside the budget, and columns that never are.
    feature_groups : array-like of int of shape (n_features,) or list of lists, optional
        Columns that enter together; the budget counts groups.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row counts: 2 repeats the row, 0 leaves it out. Losses, ``"accuracy"``,
        ``"balanced_accuracy"`` and ``"roc_auc"`` take any weights, other measures whole ones.
    callback : callable, optional
        Called with a :class:`~scoresieve.Progress` after each round; return True to end the fit.

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
    >>> target = X[:, 3] - 2.0 * X[:, 7] + X[:, 9]
    >>> result = solve(X, target, loss="squared", n_features_to_select=3, C=10.0)
    >>> result.support, result.l0_gap <= 0.01
    (array([3, 7, 9]), True)
    """
    check_flag(certificate, "certificate")
    problem = make_problem(
        X,
        y,
        measure=measure,
        loss=loss,
        bound=bound,
        price=price,
        **budget_arguments(budget, n_features_to_select),
        C=C,
        intercept_scaling=intercept_scaling,
        always_features=always_features,
        excluded_features=excluded_features,
        feature_groups=feature_groups,
        sample_weight=sample_weight,
    )
    limits = Limits(default_tol(tol, problem), max_iter, max_time, callback)
    hard = n_features_to_select is not None
    return solve_problem(problem, limits, hard=hard, certificate=certificate)


def default_tol(tol: float | None, problem: Problem) -> float:
    """The tolerance, or that of measures or losses if none was given."""
    if tol is not None:
        return tol
    return LOSS_TOL if isinstance(problem.risk, LossRisk) else MEASURE_TOL


def solve_problem(
    problem: Problem,
    limits: Limits,
    *,
    hard: bool = False,
    certificate: bool = True,
    warm: WarmStart | None = None,
    starts: Sequence[IntArray] = (),
) -> SolveResult:
    """``solve`` of a checked problem; see :mod:`scoresieve.solvers.subset.hard_budget`.

    Parameters
    ----------
    problem : Problem
    limits : Limits
        The time is for all of the fit together.
    hard : bool
        Whether the budget is the number of units that may have a weight.
    certificate : bool
        With ``hard``: whether the relaxed problem is solved as well.
    warm : WarmStart, optional
        Start of the relaxed problem.
    starts : sequence of ndarray of int
        With ``hard``: sorted units of models to start from, at most k of them in each. The
        objective is at most that of each start; where the time is over, that of the first one.
    """
    limits = limits.begun()
    with one_blas_thread():
        if not hard:
            ended = run_at_own_price(problem, limits, warm)
            return or_smallest_C(result_of(ended), ended)
        # The relaxed problem starts from columns that refits have fetched.
        problem = replace(problem, design=FetchedColumns.of(problem.design))
        problem = with_own_price(problem, limits)
        best = choose_units(problem, limits, starts)
        while not np.any(best.w[problem.norm.always.size :]) and not limits.time_is_over:
            cheaper = with_lower_price(problem)
            if cheaper is None:
                break
            problem, best = cheaper, choose_units(cheaper, limits, starts)
        if not certificate:
            return uncertified(problem, limits, best)
        near = warm or WarmStart(best.columns, best.w, best.point)
        relaxed = run_at_falling_price(problem, until_enough(limits, best.primal), near)
        best = beside_relaxed(problem, limits, best, relaxed, starts)
        return or_smallest_C(certified(limits, best, relaxed), relaxed)


def or_smallest_C(result: SolveResult, ended: Ended) -> SolveResult:
    """The result of a run; one without features with the C that gives some."""
    return with_smallest_C(result, ended) if result.status is Status.ZERO_MODEL else result
