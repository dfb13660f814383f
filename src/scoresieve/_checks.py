"""Checks of what users pass. Each error names the argument, the value and what to do."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Solvers multiply squares of X with one another, so the sum of squares must itself be squarable.
MAX_SUM_OF_SQUARES = float(np.sqrt(np.finfo(np.float64).max))


#: A larger C would overflow in products with squares of X.
MAX_C = 1e100


@dataclass(frozen=True, eq=False)
class CheckedArguments:
    """``min_w 1/2 ||w||_B^2 + C R(w)``: the arguments of a fit in checked form.

    Conventions
    -----------
    ``always``, ``excluded`` and ``groups`` are over the columns of the design, so with an intercept
    its constant last column is in ``always``. They are what ``BudgetNorm`` takes.
    """

    y: FloatArray
    budget: int
    C: float
    always: IntArray
    excluded: IntArray
    groups: IntArray | None


def check_problem(
    design: Any,
    y: Any,
    *,
    budget: int,
    C: float,
    intercept: float = 0.0,
    always: Any = None,
    excluded: Any = None,
    feature_groups: Any = None,
    check_y: Callable[[Any, int], FloatArray] | None = None,
) -> CheckedArguments:
    """Check all arguments of a fit and put them in the form that solvers use.

    Parameters
    ----------
    design : Design
        X; with ``intercept > 0`` its last column is the constant one.
    y : see :func:`check_labels`
    budget : int
        At least 1. Lowered with a warning if it exceeds the columns or groups to select from.
    C : float
        Positive and finite.
    intercept : float
        Value of the constant column, or 0 for no intercept.
    always, excluded : see :func:`check_columns`
    feature_groups : see :func:`check_groups`
    check_y : callable, optional
        ``check_y(y, n_samples)``; :func:`check_labels` by default.
    """
    C = check_C(C)
    has_intercept = check_positive(intercept, "intercept", or_zero=True) > 0
    budget = check_count(budget, "budget")
    check_X(design, has_intercept=has_intercept)
    y = (check_y or check_labels)(y, design.n_samples)
    n_features = design.n_columns - has_intercept
    always = check_columns(always, n_features, "always")
    excluded = check_columns(excluded, n_features, "excluded")
    check_disjoint(always, excluded, n_features)
    groups = check_groups(feature_groups, n_features)
    selectable = np.ones(n_features, dtype=bool)
    selectable[always] = selectable[excluded] = False
    n_units = np.count_nonzero(selectable) if groups is None else np.unique(groups[selectable]).size
    # With every column always in there is nothing to select, and the budget has no effect.
    budget = check_budget(budget, int(n_units)) if n_units else budget
    if has_intercept:
        always = np.append(always, n_features)
        groups = None if groups is None else np.append(groups, groups.max() + 1)
    return CheckedArguments(y, budget, C, always, excluded, groups)


def check_X(design: Any, *, has_intercept: bool = False) -> None:
    """Refuse an X that is empty, not finite, or so large that the solver would overflow.

    Parameters
    ----------
    design : Design
        X as ``as_design`` made it, which already refuses what is not 2-D or not numeric.
    has_intercept : bool
        Whether its last column is a constant that does not belong to X.
    """
    n_features = design.n_columns - has_intercept
    if design.n_samples == 0 or n_features == 0:
        raise ValueError(
            f"X has shape ({design.n_samples}, {n_features}); it needs at least one row and one "
            "column."
        )
    # NaN and infinity reach the sum, so one pass settles the usual case.
    if design.sum_of_squares() <= MAX_SUM_OF_SQUARES:
        return
    largest = design.max_abs()
    if np.isnan(largest):
        raise ValueError("X contains NaN; impute the missing values or drop those rows.")
    if np.isinf(largest):
        raise ValueError("X contains infinity; replace it with finite numbers or drop those rows.")
    raise ValueError(
        f"X is too large (an intercept column included): its largest entry is {largest:.3g} and "
        f"its sum of squares exceeds {MAX_SUM_OF_SQUARES:.3g}, so that the solver's numbers would "
        "overflow; scale the columns, for example with sklearn.preprocessing.MaxAbsScaler."
    )


def check_labels(y: Any, n_samples: int) -> FloatArray:
    """``y`` as float64 in {-1, +1}, with both classes present.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        In {-1, +1} or {0, 1} or bool; the larger value is the positive class.
    n_samples : int
        Number of rows of X.
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must be 1-D; got shape {y.shape}. Use y.ravel() for one column.")
    if y.size != n_samples:
        raise ValueError(
            f"y has {y.size} labels and X has {n_samples} rows; they must be the same number."
        )
    if y.dtype.kind == "O" and all(isinstance(label, numbers.Real) for label in y):
        y = y.astype(np.float64)
    if y.dtype.kind not in "biuf":
        raise ValueError(
            f"y must hold -1/+1 or 0/1; got dtype {y.dtype}, first label {y[0]!r}. Map the labels, "
            "for example with np.where(y == positive_label, 1, -1)."
        )
    y = y.astype(np.float64)
    if not np.all(np.isfinite(y)):
        raise ValueError("y contains NaN or infinity; drop those rows or label them.")
    classes = np.unique(y)
    if classes.size == 1:
        raise ValueError(
            f"y has one class only ({classes[0]:g}); it needs positives and negatives."
        )
    if classes.size > 2 or classes[1] != 1 or classes[0] not in (-1, 0):
        found = ", ".join(f"{label:g}" for label in classes[:5])
        raise ValueError(
            f"y must hold -1/+1 or 0/1; got {classes.size} classes ({found}"
            f"{', ...' if classes.size > 5 else ''}). Map the labels, for example with "
            "np.where(y == positive_label, 1, -1)."
        )
    return np.where(y == 1.0, 1.0, -1.0)


def check_count(value: Any, name: str) -> int:
    """An integer of at least 1. Floats are refused even if integral, and so are booleans."""
    integral = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not integral or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1; got {value!r}.")
    return int(value)


def check_budget(budget: Any, n_units: int, *, stacklevel: int = 5) -> int:
    """The budget, lowered to ``n_units`` with a warning, at the user's line, where it is larger."""
    budget = check_count(budget, "budget")
    if budget <= n_units:
        return budget
    warnings.warn(
        f"budget={budget} is more than the {n_units} columns or groups that can be selected; "
        f"budget={n_units} is used, so that all of them may enter.",
        UserWarning,
        stacklevel=stacklevel,
    )
    return n_units


def check_positive(value: Any, name: str, *, or_zero: bool = False) -> float:
    """A finite number above 0, or at least 0 with ``or_zero``."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or value < 0 or (value == 0 and not or_zero):
        wanted = "0 or a positive" if or_zero else "a positive"
        raise ValueError(f"{name} must be {wanted} finite number; got {value!r}.")
    return float(value)


def check_C(C: Any) -> float:
    """A positive finite number, not so large that its products would overflow."""
    C = check_positive(C, "C")
    if C > MAX_C:
        raise ValueError(
            f"C must be at most {MAX_C:g}; got {C!r}. Beyond about 1e8 times the C that separates "
            "the training data it has no effect; choose a smaller one."
        )
    return C


def check_columns(columns: Any, n_features: int, name: str) -> IntArray:
    """Sorted distinct column numbers.

    Parameters
    ----------
    columns : None, array-like of int, or boolean mask of shape (n_features,)
        Column numbers from 0; negative ones are refused.
    n_features : int
    name : str
        The argument, for messages.
    """
    columns = np.asarray([] if columns is None else columns)
    if columns.ndim == 1 and columns.dtype.kind == "b" and columns.size == n_features:
        return np.flatnonzero(columns)
    if columns.size == 0:
        return np.empty(0, dtype=np.int64)
    if columns.ndim != 1 or columns.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a list of column numbers or a boolean mask of length {n_features}; "
            f"got an array of shape {columns.shape} and dtype {columns.dtype}."
        )
    wrong = columns[(columns < 0) | (columns >= n_features)]
    if wrong.size:
        raise ValueError(
            f"{name} holds {wrong[0]}, but the columns of X are numbered 0 to {n_features - 1}; "
            "use numbers in that range."
        )
    return np.unique(columns).astype(np.int64)


def check_disjoint(
    always: IntArray, excluded: IntArray, n_features: int, *, suffix: str = ""
) -> None:
    """Refuse columns that are in both lists, and an exclusion of every column.

    Parameters
    ----------
    always, excluded : ndarray of int
    n_features : int
    suffix : str
        What the names of the two arguments end with.
    """
    both = np.intersect1d(always, excluded)
    if both.size:
        raise ValueError(
            f"column {both[0]} is in always{suffix} and in excluded{suffix}; remove it from one of "
            "them."
        )
    if excluded.size == n_features:
        raise ValueError(
            f"excluded{suffix} holds all {n_features} columns of X; leave at least one."
        )


def check_groups(feature_groups: Any, n_features: int) -> IntArray | None:
    """One group number a column, or None without groups.

    Parameters
    ----------
    feature_groups : None, array-like of int of shape (n_features,), or list of lists of int
        Columns with equal numbers are one group; or each list holds the column numbers of one
        group, and columns in no list stay alone.
    n_features : int
    """
    if feature_groups is None:
        return None
    if not isinstance(feature_groups, Iterable) or isinstance(feature_groups, str):
        raise ValueError(
            f"feature_groups must be a list or an array; got {feature_groups!r}. Give one integer "
            "for each column of X, or a list of lists of column numbers."
        )
    if not isinstance(feature_groups, np.ndarray) or feature_groups.ndim != 1:
        feature_groups = list(feature_groups)
        if any(isinstance(group, Sequence | np.ndarray | set) for group in feature_groups):
            return _groups_from_lists(feature_groups, n_features)
    groups = np.asarray(feature_groups)
    if groups.shape != (n_features,) or groups.dtype.kind not in "iu":
        raise ValueError(
            f"feature_groups must be {n_features} integers, one for each column of X, or a list of "
            f"lists of column numbers; got an array of shape {groups.shape} and dtype "
            f"{groups.dtype}."
        )
    return groups.astype(np.int64)


def _groups_from_lists(lists: Any, n_features: int) -> IntArray:
    """Group numbers of lists of columns; each column in no list gets a number of its own."""
    groups = np.arange(len(lists), len(lists) + n_features)
    for number, listed in enumerate(lists):
        name = f"feature_groups[{number}]"
        columns = np.asarray(sorted(listed) if isinstance(listed, set) else listed)
        if columns.dtype.kind == "b":
            raise ValueError(f"{name} must be a list of column numbers; got booleans.")
        columns = check_columns(columns, n_features, name)
        taken = columns[groups[columns] < len(lists)]
        if taken.size:
            raise ValueError(
                f"{name} holds column {taken[0]}, which is also in feature_groups["
                f"{groups[taken[0]]}]; a column belongs to one group."
            )
        groups[columns] = number
    return groups
