"""``budget_path``: models for many budgets in one run, from labels of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, column_or_1d

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._checks import check_count
from scoresieve._user_warnings import warn_user
from scoresieve.design import RowBlocks
from scoresieve.estimators.budget_model import (
    column_numbers,
    constant_column,
    default_C,
    group_numbers,
)
from scoresieve.estimators.budget_regressor import centred
from scoresieve.estimators.data import read_array
from scoresieve.estimators.summary.mixin import check_feature_names, named_weights
from scoresieve.estimators.summary.parts import MAX_FEATURES, Part, Summary
from scoresieve.estimators.summary.words import relaxed_fact
from scoresieve.estimators.targets import LARGER, Targets, plain_label, read_targets
from scoresieve.losses import Loss, get_loss
from scoresieve.measures import Measure
from scoresieve.solvers.engines import SolveResult
from scoresieve.solvers.limits import Limits, Progress, Status
from scoresieve.solvers.path import check_budgets, solve_budgets
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import default_tol

#: What budgets count.
UNITS = "features, or groups of them"
#: Default C of a path for a loss, that of BudgetClassifier.
LOSS_C = 1.0


@dataclass(frozen=True, eq=False)
class BudgetPath:
    """``min_w 1/2 ||w||_B^2 + C R(X w)`` for each budget B: the models and their certificates.

    Conventions
    -----------
    Entry (or row) i of every field belongs to ``budgets[i]``, in the order given. Scores
    ``X @ coefs[i] + intercepts[i]`` are high for the class ``pos_label``.

    Attributes
    ----------
    budgets : ndarray of int of shape (n_budgets,)
    coefs : CSR array of shape (n_budgets, n_features)
    intercepts : ndarray of shape (n_budgets,)
    n_features_selected : ndarray of int of shape (n_budgets,)
        Non-zero weights.
    primal, dual, gap : ndarray of shape (n_budgets,)
        ``J(w)``, the certified lower bound of the optimum, and ``(primal - dual) / primal``.
    n_iter : ndarray of int of shape (n_budgets,)
        Rounds.
    status : tuple of Status
    results : tuple of SolveResult
        All of the above and the dual points, for :func:`scoresieve.certify`.
    pos_label : object
        The positive class; None for a regression.
    """

    budgets: IntArray
    coefs: sp.csr_array
    intercepts: FloatArray
    n_features_selected: IntArray
    primal: FloatArray
    dual: FloatArray
    gap: FloatArray
    n_iter: IntArray
    status: tuple[Status, ...]
    results: tuple[SolveResult, ...]
    pos_label: Any

    def summary(
        self, feature_names: ArrayLike | None = None, *, max_features: int = MAX_FEATURES
    ) -> Summary:
        """The features of each budget, their weights, and what is certified.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), optional
            Names of the columns; by default their indices.
        max_features : int, default=50
            How many features to list for each budget.
        """
        check_count(max_features, "max_features")
        names = check_feature_names(feature_names, self.coefs.shape[1])
        about = "regression" if self.pos_label is None else f"class {plain_label(self.pos_label)!r}"
        parts = [
            Part(
                f"budget {budget}",
                int(budget),
                named_weights(names, result.support, result.w[result.support]),
                names.size,
                ("features", "rows"),
                (relaxed_fact(int(budget), UNITS, result.gap, result.status),),
            )
            for budget, result in zip(self.budgets, self.results, strict=True)
        ]
        return Summary(f"BudgetPath, {about}", tuple(parts), max_features)

    def decision_function(self, X: Any) -> FloatArray:
        """``X @ coefs.T + intercepts``, of shape (n_samples, n_budgets)."""
        X = read_array(X)
        n_features = self.coefs.shape[1]
        if X.shape[1] != n_features:
            raise ValueError(f"X has {X.shape[1]} columns; the path was fitted on {n_features}.")
        # Only the selected columns are made dense, so that a million other columns cost nothing.
        used = np.unique(self.coefs.indices)
        return X[:, used] @ self.coefs[:, used].toarray().T + self.intercepts


def budget_path(
    X: Any,
    y: ArrayLike,
    budgets: Iterable[int],
    *,
    measure: str | Measure | None = None,
    loss: str | Loss | None = None,
    bound: str = "tight",
    price: str | float = "auto",
    C: float | None = None,
    fit_intercept: bool = True,
    intercept_scaling: float | None = None,
    always_features: Any = None,
    excluded_features: Any = None,
    feature_groups: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    tol: float | None = None,
    max_iter: int = 1000,
    max_time: float | None = None,
    callback: Callable[[Progress], object] | None = None,
) -> BudgetPath:
    """``min_w 1/2 ||w||_B^2 + C R(X w)`` for every B in ``budgets``, in one warm-started run.

    Parameters
    ----------
    X : array-like, sparse matrix or RowBlocks of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes with any labels, or numbers with a loss for regression.
    budgets : iterable of int
        In any order. Duplicates are solved once. A budget above the number of selectable columns or
        groups is lowered to it, with a warning.
    measure : str or Measure, optional
        As for :class:`MeasureSVC`; ``"f1"`` if neither a measure nor a loss is given.
    loss : str or Loss, optional
        As for :class:`BudgetClassifier` or :class:`BudgetRegressor`, with their conventions.
    bound, price
        As for :class:`MeasureSVC`; each budget has its own price.
    C : float, optional
        By default as in :class:`MeasureSVC`; 1 for a loss.
    fit_intercept : bool
        Whether to fit an intercept: the weight of a constant column that is always selected.
    intercept_scaling : float, optional
        Value of that column; larger values regularise the intercept less. By default 1; for a loss,
        as in :class:`BudgetClassifier` and :class:`BudgetRegressor`.
    always_features, excluded_features : array-like of int or str, or boolean mask, optional
        Columns by index, or by name if X is a DataFrame.
    feature_groups : array-like of int of shape (n_features,) or list of lists, optional
        Columns that enter together; the budgets count groups.
    pos_label : object, optional
        The positive class; see :class:`scoresieve.MeasureSVC`. By default the larger label for a
        loss.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row counts; see :meth:`scoresieve.MeasureSVC.fit`.
    tol : float, optional
        Certified relative gap to stop at. By default 0.05 for a measure and 0.01 for a loss.
    max_iter : int
        Maximum number of rounds per budget.
    max_time : float, optional
        Seconds for the whole path. Afterwards each remaining budget gets one round.
    callback : callable, optional
        Called with a :class:`~scoresieve.Progress` after each round. If it returns True the path
        ends: each remaining budget gets one round.

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
    >>> from scoresieve import budget_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = np.where(X[:, 3] + X[:, 7] > 1.5, "spam", "ham")
    >>> path = budget_path(X, y, [1, 2, 10], C=10.0, pos_label="spam")
    >>> path.coefs.shape, bool(np.all(path.gap <= 0.05))
    ((3, 50), True)
    >>> path = budget_path(X, X[:, 3] - 2.0 * X[:, 7], [1, 2, 10], loss="huber")
    >>> bool(np.all(path.gap <= 0.01))
    True
    """
    names = column_names(X)
    X = read_array(X)
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    measure = "f1" if measure is None and loss is None else measure
    if C is None:
        C = LOSS_C if measure is None else default_C(measure)
    is_regression = loss is not None and get_loss(loss).task == "regression"
    if is_regression and pos_label is not None:
        raise ValueError(
            f"pos_label={pos_label!r} needs two classes, but loss={loss!r} is for regression. "
            "Leave pos_label=None, or use a loss for classification."
        )
    if not is_regression:
        # To a loss both classes are alike.
        is_alike = pos_label is None and loss is not None
        targets, y = read_two_classes(y, LARGER if is_alike else pos_label)
        y, pos_label = next(targets.labels(y)), targets.classes[targets.positive]
    budgets = check_budgets(budgets)
    scaling = constant_column(
        fit_intercept, intercept_scaling, None if loss is None else get_loss(loss)
    )
    problem = make_problem(
        X,
        y,
        measure=measure,
        loss=loss,
        bound=bound,
        price=price,
        budget=max(budgets),
        C=C,
        intercept_scaling=scaling,
        always_features=column_numbers(always_features, names, "always_features"),
        excluded_features=column_numbers(excluded_features, names, "excluded_features"),
        feature_groups=group_numbers(feature_groups, names),
        sample_weight=sample_weight,
    )
    problem, offset = centred(problem) if is_regression and fit_intercept else (problem, 0.0)
    limits = Limits(default_tol(tol, problem), max_iter, max_time, callback)
    results = solve_budgets(problem, budgets, limits)
    warn_of_open_gaps(budgets, results, limits.tol)
    return collect_path(budgets, results, pos_label, offset)


def read_two_classes(y: Any, pos_label: Any = None) -> tuple[Targets, Any]:
    """The two classes in y."""
    targets, y = read_targets(y, pos_label)
    if targets.kind != "binary":
        raise ValueError(
            f"y has {targets.classes.size} classes; a path is for two. Fit one path per class, "
            "budget_path(X, y == label, ...)."
        )
    return targets, y


def column_names(X: Any) -> Any:
    """The names of a DataFrame's columns, if they are all text, or of row blocks."""
    if isinstance(X, RowBlocks):
        return X.feature_names
    names = list(getattr(X, "columns", []))
    return names if names and all(isinstance(name, str) for name in names) else None


def warn_of_open_gaps(budgets: list[int], results: list[SolveResult], tol: float) -> None:
    """One warning for all fits that stopped early."""
    early = [
        f"budget {budget}: gap {result.gap:.3g} ({result.status.name})"
        for budget, result in zip(budgets, results, strict=True)
        if not result.status.reached_tolerance
    ]
    if early:
        warn_user(
            f"{len(early)} of {len(results)} fits stopped before tol={tol:g}: {'; '.join(early)}. "
            "Raise max_iter, max_time or tol.",
            ConvergenceWarning,
        )


def collect_path(
    budgets: list[int], results: list[SolveResult], pos_label: Any = None, offset: float = 0.0
) -> BudgetPath:
    """The results as arrays, with an offset added to the intercepts."""
    supports = [result.support for result in results]
    n_selected = np.array([support.size for support in supports], dtype=np.int64)
    weights = [result.w[result.support] for result in results]
    starts = np.concatenate([[0], np.cumsum(n_selected)])
    coefs = sp.csr_array(
        (np.concatenate(weights), np.concatenate(supports), starts),
        shape=(len(results), results[0].w.size),
    )
    return BudgetPath(
        budgets=np.array(budgets, dtype=np.int64),
        coefs=coefs,
        intercepts=offset + np.array([result.intercept for result in results]),
        n_features_selected=n_selected,
        primal=np.array([result.primal for result in results]),
        dual=np.array([result.dual for result in results]),
        gap=np.array([result.gap for result in results]),
        n_iter=np.array([result.n_iter for result in results], dtype=np.int64),
        status=tuple(result.status for result in results),
        results=tuple(results),
        pos_label=pos_label,
    )
