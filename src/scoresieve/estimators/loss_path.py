"""``loss_budget_path``: models of a general loss for many budgets in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from scoresieve._checks import check_positive
from scoresieve.estimators._inputs import resolve_groups, resolve_sets
from scoresieve.estimators.budget_regressor import centre
from scoresieve.estimators.path import (
    BudgetPath,
    collect_path,
    column_names,
    read_two_classes,
    warn_of_open_gaps,
)
from scoresieve.losses import Loss, get_loss
from scoresieve.solvers.loss_path import solve_loss_path
from scoresieve.solvers.loss_problem import check_targets, check_weights
from scoresieve.solvers.path import check_budgets
from scoresieve.solvers.result import Progress


def loss_budget_path(
    X: Any,
    y: ArrayLike,
    budgets: Iterable[int],
    *,
    loss: str | Loss = "squared_hinge",
    C: float = 1.0,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    always_features: Any = None,
    excluded_features: Any = None,
    feature_groups: Any = None,
    sample_weight: ArrayLike | None = None,
    tol: float = 0.01,
    max_iter: int = 1000,
    max_time: float | None = None,
    callback: Callable[[Progress], object] | None = None,
) -> BudgetPath:
    """``min_w 1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)`` for every B, in one warm-started run.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes, labelled in any way, or numbers with a loss for regression.
    budgets : iterable of int
        In any order; see :func:`scoresieve.solvers.path.solve_path`.
    loss : str or Loss
        One of :class:`BudgetClassifier` or :class:`BudgetRegressor`, whose conventions hold.
    C, fit_intercept, intercept_scaling, always_features, excluded_features, feature_groups, \
sample_weight
        As for these.
    tol, max_iter, max_time, callback
        As for :func:`scoresieve.budget_path`.

    Returns
    -------
    BudgetPath

    Warns
    -----
    ConvergenceWarning
        If a fit stopped before its tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve import loss_budget_path
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> y = X[:, 3] - 2.0 * X[:, 7]
    >>> path = loss_budget_path(X, y, [1, 2, 10], loss="huber")
    >>> path.coefs.shape, bool(np.all(path.gap <= 0.01))
    ((3, 50), True)
    """
    names, loss = column_names(X), get_loss(loss)
    X = check_array(X, accept_sparse=("csr", "csc"), accept_large_sparse=True)
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    n_features, budgets, offset, pos_label = X.shape[1], check_budgets(budgets), 0.0, None
    if loss.task == "classification":
        targets, y = read_two_classes(y)
        y, pos_label = next(targets.labels(y)), targets.classes[1]
    else:
        y = check_targets(y, X.shape[0])
        if fit_intercept:
            offset = centre(y, check_weights(sample_weight, y, by_class=False), loss)
    always, excluded = resolve_sets(always_features, excluded_features, n_features, names)
    intercept = check_positive(intercept_scaling, "intercept_scaling") if fit_intercept else 0.0
    results = solve_loss_path(
        X,
        np.subtract(y, offset),
        budgets,
        loss=loss,
        C=C,
        tol=tol,
        max_iter=max_iter,
        max_time=max_time,
        intercept=intercept,
        always=always,
        excluded=excluded,
        feature_groups=resolve_groups(feature_groups, n_features, names),
        sample_weight=sample_weight,
        callback=callback,
    )
    warn_of_open_gaps(budgets, results, tol)
    return collect_path(budgets, results, pos_label, offset)
