"""``solve``: the one function behind every estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoresieve.measures import Measure
from scoresieve.solvers.bundle import Bundle, Continuation, WarmStart, run_bundle
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.result import (
    Progress,
    SolveResult,
    Status,
    relative_gap,
    split_intercept,
)
from scoresieve.solvers.sparsify import drop_small_weights
from scoresieve.solvers.threads import one_blas_thread
from scoresieve.solvers.tracker import Limits, Tracker
from scoresieve.solvers.two_layer import TwoLayer, run_two_layer
from scoresieve.solvers.zero_model import smallest_useful_C

SOLVERS = {"bundle": run_bundle, "two_layer": run_two_layer}


def solve(
    X: Any,
    y: ArrayLike,
    *,
    measure: str | Measure,
    budget: int,
    C: float = 1.0,
    solver: str = "bundle",
    tol: float = 0.05,
    max_iter: int = 1000,
    max_time: float | None = None,
    intercept: float = 0.0,
    always: ArrayLike | None = None,
    excluded: ArrayLike | None = None,
    feature_groups: Any = None,
    sample_weight: ArrayLike | None = None,
    callback: Callable[[Progress], object] | None = None,
) -> SolveResult:
    """``min_w 1/2 ||w||_B^2 + C R(X w)``: a sparse linear model for the measure you report.

    ``||.||_B`` is the budget norm and R the risk of the measure, a convex bound of its loss.

    Conventions
    -----------
    * With ``measure="accuracy"`` and a budget of all columns this is scikit-learn's
      ``LinearSVC(loss="hinge", fit_intercept=False)`` with the same C.
    * Identical inputs give identical bits.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Dense, CSR or CSC; never densified, never modified.
    y : array-like of shape (n_samples,)
        In {-1, +1} or {0, 1}.
    measure : str or Measure
        What to optimise: ``"f1"``, ``"prec@100"``, ``"rec@2p"``, ``"prbep"``, ``"roc_auc"``, ...
    budget : int
        B, the number of columns (or groups) that the regulariser lets in at full weight. The
        solution has more non-zero weights than that, usually two to five times as many.
    C : float
        Weight of the risk. For F1 on text 1 to 100 is the useful range.
    solver : {"bundle", "two_layer"}
        ``"two_layer"`` is the paper's algorithm: the same optimum, more slowly.
    tol : float
        Relative gap ``(primal - dual) / primal`` to stop at.
    max_iter : int
        Most rounds (solved master problems).
    max_time : float, optional
        Seconds; honoured within one round.
    intercept : float
        Value of a constant column that is always in; 0 for none.
    always, excluded : array-like of int or boolean mask, optional
        Columns that are always in, outside the budget, and columns that never are.
    feature_groups : array-like of int of shape (n_features,) or list of lists, optional
        Columns that enter together; the budget counts groups.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row counts: 2 is the same as the row twice, 0 as leaving it out. Any weights
        for ``"accuracy"``, ``"balanced_accuracy"`` and ``"roc_auc"``, whole ones for the others.
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
    >>> result = solve(X, y, measure="f1", budget=2, C=10.0, intercept=1.0)
    >>> result.status.name, result.gap <= 0.05
    ('CONVERGED', True)
    >>> sorted(np.argsort(-abs(result.w))[:2].tolist())
    [3, 7]
    """
    check_solver(solver)
    limits = Limits(tol, max_iter, max_time, callback)
    problem = make_problem(
        X,
        y,
        measure=measure,
        budget=budget,
        C=C,
        intercept=intercept,
        always=always,
        excluded=excluded,
        feature_groups=feature_groups,
        sample_weight=sample_weight,
    )
    with one_blas_thread():
        return solve_problem(problem, limits, solver=solver, intercept=intercept)


def check_solver(solver: Any) -> str:
    """The name of a solver."""
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"solver must be one of {sorted(SOLVERS)}; got {solver!r}.")
    return solver


def run_solver(
    problem: Problem, tracker: Tracker, solver: str, warm: WarmStart | Continuation | None = None
) -> tuple[Bundle | TwoLayer, Status]:
    """Run a solver by name; only the bundle can start from a previous fit."""
    if warm is None:
        return SOLVERS[solver](problem, tracker)
    if solver != "bundle":
        raise ValueError(f"solver={solver!r} cannot start from a previous fit; use 'bundle'.")
    return run_bundle(problem, tracker, warm)


def solve_problem(
    problem: Problem,
    limits: Limits,
    *,
    solver: str = "bundle",
    intercept: float = 0.0,
    warm: WarmStart | Continuation | None = None,
) -> SolveResult:
    """Run a solver on a checked problem, drop weights that do not matter, and report.

    Parameters
    ----------
    problem : Problem
    limits : Limits
    solver : {"bundle", "two_layer"}
    intercept : float
        Value of the constant last column of the design; 0 if it has none.
    warm : WarmStart or Continuation, optional
        What the bundle starts from.
    """
    tracker = Tracker(limits)
    state, status = run_solver(problem, tracker, solver, warm)
    with tracker.clock.part("sparsify"):
        w_working, primal = drop_small_weights(
            problem,
            state.pool.block,
            state.pool.norm,
            state.best.w,
            primal=tracker.primal,
            dual=tracker.dual,
            tol=limits.tol,
        )
    w = np.zeros(problem.design.n_columns)
    w[state.pool.columns] = w_working
    # The last pass, or the weights that were dropped, may have closed the gap after the last test.
    if relative_gap(primal, tracker.dual) <= limits.tol:
        status = Status.CONVERGED
    smallest_C = None
    if status is Status.CONVERGED and not np.any(split_intercept(w, intercept)[0]):
        status = Status.ZERO_MODEL
        with tracker.clock.part("smallest C"):
            smallest_C = smallest_useful_C(problem, limits, tracker)
    return tracker.result(w, primal, status, intercept=intercept, smallest_C=smallest_C)
