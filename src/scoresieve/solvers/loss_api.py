"""``solve_loss``: the one function behind the estimators of general losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoresieve.losses import Loss
from scoresieve.solvers.loss_cuts import solve_by_bundle
from scoresieve.solvers.loss_problem import LossProblem, make_loss_problem
from scoresieve.solvers.loss_zero_model import smallest_C_with_features
from scoresieve.solvers.result import (
    Progress,
    SolveResult,
    Status,
    relative_gap,
    split_intercept,
)
from scoresieve.solvers.smooth import WarmColumns, run_smooth
from scoresieve.solvers.sparsify import drop_small_weights
from scoresieve.solvers.threads import one_blas_thread
from scoresieve.solvers.tracker import Limits, Tracker


def solve_loss(
    X: Any,
    y: ArrayLike,
    *,
    loss: str | Loss,
    budget: int,
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
) -> SolveResult:
    """``min_w 1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)``: a sparse model for a general loss.

    ``||.||_B`` is the budget norm and c the sample weights, 1 by default.

    Conventions
    -----------
    * With a budget of all columns this is ``LinearSVC(loss="squared_hinge")``,
      ``LinearSVC(loss="hinge")``, ``LogisticRegression``, ``LinearSVR`` or ``Ridge(alpha=1 / C)``
      with the same C, without intercept. With a budget of 1 the norm is the l1 norm, squared.
    * Smooth losses are solved by Newton steps on working columns, the hinge and the
      epsilon-insensitive loss by the bundle.
    * Identical inputs give identical bits.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Dense, CSR or CSC; never densified, never modified.
    y : array-like of shape (n_samples,)
        In {-1, +1} or {0, 1} for classification, real for regression.
    loss : str or Loss
        ``"hinge"``, ``"squared_hinge"``, ``"logistic"``, ``"huber_hinge"``, ``"squared"``,
        ``"epsilon_insensitive"`` or ``"huber"``; or a loss with other settings, such as
        ``Huber(epsilon=0.5)``.
    budget : int
        B, the number of columns (or groups) that the regulariser lets in at full weight. The
        solution has more non-zero weights than that.
    C : float
        Weight of the losses.
    tol : float
        Relative gap ``(primal - dual) / primal`` to stop at.
    max_iter : int
        Most rounds, that is passes over X.
    max_time : float, optional
        Seconds; honoured within one step.
    intercept : float
        Value of a constant column that is always in; 0 for none.
    always, excluded : array-like of int or boolean mask, optional
        Columns that are always in, outside the budget, and columns that never are.
    feature_groups : array-like of int of shape (n_features,) or list of lists, optional
        Columns that enter together; the budget counts groups.
    sample_weight : array-like of shape (n_samples,), optional
        c. A weight of 2 is the same as the row twice, 0 as leaving it out.
    callback : callable, optional
        Called with a :class:`~scoresieve.Progress` after each round; return True to stop.

    Returns
    -------
    SolveResult
        Its ``dual_point`` is a :class:`LossDualPoint`, which ``certify_loss`` reads.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = X[:, 3] - 2.0 * X[:, 7] + 0.1 * rng.normal(size=200)
    >>> result = solve_loss(X, y, loss="squared", budget=2, C=10.0)
    >>> result.status.name, result.gap <= 0.01
    ('CONVERGED', True)
    >>> sorted(np.argsort(-abs(result.w))[:2].tolist())
    [3, 7]
    """
    limits = Limits(tol, max_iter, max_time, callback)
    problem = make_loss_problem(
        X,
        y,
        loss=loss,
        budget=budget,
        C=C,
        intercept=intercept,
        always=always,
        excluded=excluded,
        feature_groups=feature_groups,
        sample_weight=sample_weight,
    )
    with one_blas_thread():
        return solve_loss_problem(problem, limits, intercept=intercept)


def solve_loss_problem(
    problem: LossProblem,
    limits: Limits,
    *,
    intercept: float = 0.0,
    warm: WarmColumns | None = None,
) -> SolveResult:
    """Solve a checked problem, drop weights that do not matter, and report.

    Parameters
    ----------
    problem : LossProblem
    limits : Limits
    intercept : float
        Value of the constant last column of the design; 0 if it has none.
    warm : WarmColumns, optional
        What the solver of smooth losses starts from.
    """
    if not problem.loss.is_smooth:
        return solve_by_bundle(problem, limits, intercept=intercept)
    tracker = Tracker(limits)
    state, status = run_smooth(problem, tracker, warm)
    with tracker.clock.part("sparsify"):
        w_working, primal = drop_small_weights(
            problem,
            state.working.block,
            state.working.norm,
            state.best.w,
            primal=tracker.primal,
            dual=tracker.dual,
            tol=limits.tol,
        )
    w = np.zeros(problem.design.n_columns)
    w[state.working.columns] = w_working
    smallest_C = None
    if relative_gap(primal, tracker.dual) <= limits.tol:
        has_features = np.any(split_intercept(w, intercept)[0])
        status = Status.CONVERGED if has_features else Status.ZERO_MODEL
    if status is Status.ZERO_MODEL:
        with tracker.clock.part("smallest C"):
            smallest_C = smallest_C_with_features(problem, limits, tracker)
    return tracker.result(w, primal, status, intercept=intercept, smallest_C=smallest_C)
