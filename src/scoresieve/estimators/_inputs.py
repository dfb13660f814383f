"""From the parameters of an estimator to the arguments of a problem: names, groups, budgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoresieve._checks import (
    check_budget,
    check_C,
    check_columns,
    check_count,
    check_disjoint,
    check_groups,
    check_positive,
)
from scoresieve.estimators._progress import WRAPPERS_OF_FIT
from scoresieve.losses import Loss, get_loss, known_losses
from scoresieve.measures import Measure, get_measure

IntArray = NDArray[np.int64]

#: The budget of an estimator that was told none.
DEFAULT_BUDGET = 50


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnSettings:
    """``1/2 ||w||_B^2`` and C: what a problem is about besides its data and its loss.

    Attributes
    ----------
    budget : int
        B, at most the number of columns or groups that can be selected.
    C : float
    intercept : float
        Value of the constant column; 0 for none.
    always, excluded : ndarray of int
        Sorted column numbers.
    feature_groups : ndarray of int of shape (n_features,) or None
    """

    budget: int
    C: float
    intercept: float
    always: IntArray
    excluded: IntArray
    feature_groups: IntArray | None

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for the functions that make and certify problems."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False, kw_only=True)
class ProblemSettings(ColumnSettings):
    """``min_w 1/2 ||w||_B^2 + C R(w)``: all of a problem but its data, in checked form.

    Attributes
    ----------
    measure : Measure
    """

    measure: Measure


@dataclass(frozen=True, eq=False, kw_only=True)
class LossSettings(ColumnSettings):
    """``min_w 1/2 ||w||_B^2 + C sum_i l_i(w)``: all of a problem but its data, in checked form.

    Attributes
    ----------
    loss : Loss
    """

    loss: Loss


def resolve_settings(estimator: Any, n_features: int, names: Any = None) -> ProblemSettings:
    """The settings that the parameters of an estimator describe, each of them checked.

    Parameters
    ----------
    estimator : MeasureSVC
        Or anything with its parameters.
    n_features : int
    names : array-like of str of shape (n_features,), optional
        Names of the columns, if X had any.
    """
    columns = _resolve_columns_and_C(estimator, n_features, names)
    return ProblemSettings(measure=get_measure(estimator.measure), **columns)


def resolve_loss_settings(
    estimator: Any, task: str, n_features: int, names: Any = None
) -> LossSettings:
    """The same for an estimator with the parameter ``loss``.

    Parameters
    ----------
    estimator : BudgetClassifier or BudgetRegressor
    task : {"classification", "regression"}
        What the loss must be for.
    n_features, names
        As for :func:`resolve_settings`.
    """
    loss = get_loss(estimator.loss)
    if loss.task != task:
        raise ValueError(
            f"loss={estimator.loss!r} is for {loss.task}; for {task} use one of "
            f"{', '.join(known_losses(task))}."
        )
    return LossSettings(loss=loss, **_resolve_columns_and_C(estimator, n_features, names))


def _resolve_columns_and_C(estimator: Any, n_features: int, names: Any) -> dict[str, Any]:
    """The fields of :class:`ColumnSettings`."""
    intercept = 0.0
    if estimator.fit_intercept:
        intercept = check_positive(estimator.intercept_scaling, "intercept_scaling")
    always, excluded = resolve_sets(
        estimator.always_features, estimator.excluded_features, n_features, names
    )
    groups = resolve_groups(estimator.feature_groups, n_features, names)
    selectable = np.ones(n_features, dtype=bool)
    selectable[always] = selectable[excluded] = False
    n_units = np.count_nonzero(selectable) if groups is None else np.unique(groups[selectable]).size
    return {
        "budget": resolve_budget(estimator.budget, estimator.n_features_to_select, int(n_units)),
        "C": check_C(estimator.C),
        "intercept": intercept,
        "always": always,
        "excluded": excluded,
        "feature_groups": groups,
    }


def resolve_sets(
    always_features: Any, excluded_features: Any, n_features: int, names: Any = None
) -> tuple[IntArray, IntArray]:
    """Sorted numbers of the columns that are always in, and of those that never are."""
    always = resolve_columns(always_features, n_features, names, "always_features")
    excluded = resolve_columns(excluded_features, n_features, names, "excluded_features")
    check_disjoint(always, excluded, n_features, suffix="_features")
    return always, excluded


def resolve_budget(budget: Any, n_features_to_select: Any, n_units: int) -> int:
    """``B`` = budget, else k, else 50, and at most the number of units to select from.

    Only a budget that was asked for is lowered with a warning: at most k features stay at most k.

    Parameters
    ----------
    budget, n_features_to_select : int or None
    n_units : int
        How many columns or groups can be selected; with 0 the budget has no effect.
    """
    k = n_features_to_select
    if k is not None:
        k = check_count(k, "n_features_to_select")
        if budget is not None and budget != k:
            raise ValueError(
                f"budget={budget!r} and n_features_to_select={k} differ; give one of them. "
                "n_features_to_select is a guarantee, budget lets more features in at less weight."
            )
    if budget is not None:
        if not n_units:
            return check_count(budget, "budget")
        return check_budget(budget, n_units, stacklevel=6 + WRAPPERS_OF_FIT)
    return max(1, min(DEFAULT_BUDGET if k is None else k, n_units))


def resolve_columns(columns: Any, n_features: int, names: Any, argument: str) -> IntArray:
    """Sorted distinct column numbers of what may be numbers, a boolean mask or names.

    Parameters
    ----------
    columns : None, array-like of int or str, or boolean mask of shape (n_features,)
    n_features : int
    names : array-like of str or None
    argument : str
        For messages.
    """
    if columns is None:
        return np.empty(0, dtype=np.int64)
    if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
        raise ValueError(
            f"{argument} must be a list of column numbers or names, or a boolean mask; got "
            f"{columns!r}. Put a single column in a list."
        )
    columns = list(columns)
    if any(isinstance(column, str) for column in columns):
        columns = _numbers_of(columns, names, argument)
    return check_columns(np.asarray(columns), n_features, argument)


def _numbers_of(columns: list, names: Any, argument: str) -> list[int]:
    """Numbers of the columns with these names."""
    if names is None:
        raise ValueError(
            f"{argument} holds names, but X has none; fit on a DataFrame with string column names, "
            "or give column numbers."
        )
    numbers = {name: number for number, name in enumerate(names)}
    unknown = [column for column in columns if column not in numbers]
    if unknown:
        raise ValueError(
            f"{argument} holds {', '.join(repr(column) for column in unknown)}, which X has no "
            "column of that name for; use names of the DataFrame that is fitted, or numbers only."
        )
    return [numbers[column] for column in columns]


def resolve_groups(feature_groups: Any, n_features: int, names: Any) -> IntArray | None:
    """One group number a column; each list of a list of lists may hold names.

    Parameters
    ----------
    feature_groups : None, array-like of int of shape (n_features,), or list of lists
    n_features : int
    names : array-like of str or None
    """
    if isinstance(feature_groups, Iterable) and not isinstance(feature_groups, str | np.ndarray):
        groups = []
        for number, group in enumerate(feature_groups):
            listed = isinstance(group, Iterable) and not isinstance(group, str)
            if listed and any(isinstance(column, str) for column in group):
                group = _numbers_of(list(group), names, f"feature_groups[{number}]")
            groups.append(group)
        feature_groups = groups
    return check_groups(feature_groups, n_features)
