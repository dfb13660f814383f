"""Checks of what users pass. Each error names the argument, the value and what to do."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve._user_warnings import warn_user

#: Solvers multiply squares of X with one another, so the sum of squares must itself be squarable.
MAX_SUM_OF_SQUARES = float(np.sqrt(np.finfo(np.float64).max))
#: A larger C would overflow in products with squares of X.
MAX_C = 1e100
#: Products of a larger total weight with squares of X could overflow.
MAX_TOTAL_WEIGHT = 1e50


def check_X(design: Any, constant: float = 0.0) -> None:
    """Refuse an X that is empty, not finite, or so large that the solver would overflow.

    An X that has passed is marked, and so are its rows: they are not checked again.

    Parameters
    ----------
    design : Design
        X as ``as_design`` made it, which already refuses what is not 2-D or not numeric.
    constant : float
        Value of the constant column that will be appended.
    """
    n_samples, n_features = design.n_samples, design.n_columns
    if n_samples == 0 or n_features == 0:
        raise ValueError(
            f"X has shape ({n_samples}, {n_features}); it needs at least one row and one column."
        )
    with np.errstate(over="ignore"):
        room = MAX_SUM_OF_SQUARES - n_samples * float(np.square(np.float64(constant)))
    squares = design.checked_squares
    if squares is None or squares > room:
        # NaN and infinity reach the sum, so one pass settles the usual case.
        squares = design.sum_of_squares()
    if squares <= room:
        design.checked_squares = squares
        return
    largest = float(np.maximum(design.max_abs(), constant))
    if np.isnan(largest):
        raise ValueError("X contains NaN; impute the missing values or drop those rows.")
    if np.isinf(largest):
        raise ValueError("X contains infinity; replace it with finite numbers or drop those rows.")
    raise ValueError(
        f"X is too large (an intercept column included): its largest entry is {largest:.3g} and "
        f"its sum of squares exceeds {MAX_SUM_OF_SQUARES:.3g}, so that the solver's numbers would "
        "overflow; scale the columns, for example with sklearn.preprocessing.MaxAbsScaler."
    )


def check_structure(X: Any) -> None:
    """Refuse CSR and CSC arrays that do not describe a matrix: products would read foreign memory.

    scipy's own ``check_format`` does the same, but changes the types of X's index arrays. Other
    formats are left to the conversion to CSR.
    """
    if X.format not in ("csr", "csc"):
        return
    n_lines, n_across = X.shape if X.format == "csr" else X.shape[::-1]
    indices, indptr = X.indices, X.indptr
    fault = None
    if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
        fault = f"its indices are {indices.dtype} and its indptr {indptr.dtype}, not integers"
    elif indptr.shape != (n_lines + 1,):
        fault = f"indptr has {indptr.size} entries, not {n_lines + 1}"
    elif indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        fault = "indptr does not ascend from 0"
    elif indptr[-1] > min(indices.size, X.data.size):
        fault = f"indptr ends at {indptr[-1]}, of {indices.size} indices and {X.data.size} entries"
    elif indptr[-1] > 0:
        used = indices[: indptr[-1]]
        lowest, highest = int(used.min()), int(used.max())
        if lowest < 0 or highest >= n_across:
            wrong = lowest if lowest < 0 else highest
            fault = f"indices hold {wrong}, but run from 0 to {n_across - 1}"
    if fault is not None:
        raise ValueError(
            f"X is a broken {X.format.upper()} matrix of shape {X.shape}: {fault}. Rebuild it, "
            "for example with scipy.sparse.coo_array."
        )


def check_frame(X: Any) -> None:
    """Refuse the columns of a data frame that hold no numbers, by their names."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns") or not hasattr(dtypes, "__len__"):
        return
    kinds = [str(each).lower() for each in dtypes]
    words = ("object", "str", "categ", "date", "time", "duration", "enum", "bytes", "binary")
    wrong = [at for at, kind in enumerate(kinds) if kind.startswith(words)]
    if wrong:
        shown = ", ".join(f"{list(X.columns)[at]!r} ({kinds[at]})" for at in wrong[:3])
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise ValueError(
            f"X must hold numbers, but these columns do not: {shown}{more}. Encode text and "
            "categories (TfidfVectorizer, OneHotEncoder), turn dates into numbers, convert "
            "columns of numbers with X.astype(float), or drop them."
        )


def check_labels(y: Any, n_samples: int) -> FloatArray:
    """``y`` in {-1, +1}, {0, 1} or bool as float64 in {-1, +1}, with both classes present."""
    y = _check_column(y, n_samples, "labels")
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


def check_real_targets(y: Any, n_samples: int) -> FloatArray:
    """``y`` as finite float64 numbers, one for each row, for a regression."""
    y = _check_column(y, n_samples, "targets")
    targets = _as_numbers(y)
    if targets is None:
        raise ValueError(
            f"y must hold real numbers for a regression loss; got dtype {y.dtype}, first target "
            f"{y[0]!r}."
        )
    if not np.all(np.isfinite(targets)):
        raise ValueError("y contains NaN or infinity; drop those rows or impute the targets.")
    with np.errstate(over="ignore"):
        if not float(targets @ targets) <= MAX_SUM_OF_SQUARES:
            raise ValueError(
                f"y is too large: its largest target is {np.abs(targets).max():.3g}, so that the "
                "solver's numbers would overflow; divide the targets by a factor."
            )
    return targets


def _check_column(y: Any, n_samples: int, what: str) -> Array:
    """``y`` as a vector with an entry for each row."""
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must be 1-D; got shape {y.shape}. Use y.ravel() for one column.")
    if y.size != n_samples:
        raise ValueError(
            f"y has {y.size} {what} and X has {n_samples} rows; pass one for each row."
        )
    return y


def _as_numbers(values: Any) -> FloatArray | None:
    """A new float64 array; None if the values are no real numbers."""
    try:
        array = np.asarray(values)
        return array.astype(np.float64) if array.dtype.kind in "Obiuf" else None
    except (TypeError, ValueError):
        return None


def check_weights(sample_weight: Any) -> FloatArray:
    """``c``: a read-only float64 copy, one-dimensional, finite and not negative."""
    weights = _as_numbers(sample_weight)
    if weights is None or weights.ndim != 1:
        shape = "" if weights is None else f" of shape {weights.shape}"
        raise ValueError(
            "sample_weight must be a 1-D array of numbers, one for each row; got "
            f"{type(sample_weight).__name__}{shape}."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise ValueError(
            f"sample_weight[{wrong[0]}] is {weights[wrong[0]]}; weights must be finite and not "
            "negative. Use 0 to leave a row out."
        )
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total > MAX_TOTAL_WEIGHT:
        raise ValueError(
            f"sample_weight sums to {total:.3g}, more than {MAX_TOTAL_WEIGHT:g}; divide the "
            "weights by a factor and multiply C with it, which is the same problem."
        )
    weights.setflags(write=False)
    return weights


def check_row_weights(weights: FloatArray, y: FloatArray, *, by_class: bool) -> None:
    """Refuse weights that are not one for each row, or all 0; ``by_class``, in either class."""
    if weights.shape != y.shape:
        raise ValueError(
            f"sample_weight has {weights.size} weights, but y has {y.size} entries; give one "
            "weight for each row."
        )
    parts = {"positives": y > 0, "negatives": y <= 0} if by_class else {"rows": slice(None)}
    for members, chosen in parts.items():
        if not np.any(weights[chosen] > 0):
            raise ValueError(
                f"sample_weight is zero for all {members}; give a positive weight to at least one "
                f"row{' of each class' if by_class else ''}."
            )


def check_count(value: Any, name: str) -> int:
    """An integer of at least 1. Floats are refused even if integral, and so are booleans."""
    integral = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not integral or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1; got {value!r}.")
    return int(value)


def check_budget(budget: Any, n_units: int, *, at_most: bool = False) -> int:
    """The budget, lowered to ``n_units`` where it is larger, with a warning unless ``at_most``.

    At most k features stay at most k. Where nothing can be selected the budget has no effect.
    """
    budget = check_count(budget, "budget")
    if budget <= n_units or n_units == 0:
        return budget
    if not at_most:
        warn_user(
            f"budget={budget} is more than the {n_units} columns or groups that can be selected; "
            f"budget={n_units} is used, so that all of them may enter."
        )
    return n_units


def check_flag(value: Any, name: str) -> bool:
    """True or False, and no other value: in Python ``"no"`` is true."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def check_verbose(value: Any, name: str = "verbose") -> int:
    """An integer of at least 0; False is 0 and True is 1."""
    if not isinstance(value, numbers.Integral | np.bool_) or value < 0:
        raise ValueError(f"{name} must be 0 (silent) or a positive integer; got {value!r}.")
    return int(value)


def check_n_jobs(value: Any, name: str = "n_jobs") -> int | None:
    """None, or an integer other than 0, as joblib has it."""
    is_count = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if value is not None and (not is_count or value == 0):
        raise ValueError(
            f"{name} must be None, a number of jobs, or -1 for all cores; got {value!r}."
        )
    return None if value is None else int(value)


def check_tol(value: Any, name: str = "tol") -> float:
    """A relative gap: above 0 and below 1, at which every model would do."""
    if check_positive(value, name) >= 1.0:
        raise ValueError(
            f"{name} must be below 1; got {value!r}. It is a gap relative to the objective: 1 "
            "would stop at any model, 0.01 to 0.1 is usual."
        )
    return float(value)


def check_positive(value: Any, name: str, *, or_zero: bool = False) -> float:
    """A finite number above 0, or at least 0 with ``or_zero``."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or value < 0 or (value == 0 and not or_zero):
        wanted = "0 or a positive" if or_zero else "a positive"
        raise ValueError(f"{name} must be {wanted} finite number; got {value!r}.")
    return float(value)


def check_share(value: Any, name: str) -> float:
    """A number from 0 to 1."""
    if check_positive(value, name, or_zero=True) > 1.0:
        raise ValueError(f"{name} must be between 0 and 1; got {value!r}.")
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


def did_you_mean(value: Any, known: Iterable[Any]) -> str:
    """What to add to a message: of text the nearest name, of others the one that looks alike.

    Examples
    --------
    >>> did_you_mean("chi", ["chi2", "bound"]), did_you_mean("1", [0, 1]), did_you_mean("a", ["b"])
    (" (did you mean 'chi2'?)", ' (did you mean 1?)', '')
    """
    looks = {str(each).lower(): each for each in known}
    least = 0.6 if isinstance(value, str) else 1.0
    near = difflib.get_close_matches(str(value).lower(), looks, n=1, cutoff=least)
    return f" (did you mean {looks[near[0]]!r}?)" if near else ""


def check_choice(value: Any, name: str, choices: Collection[str]) -> str:
    """One of a few names."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {sorted(choices)}; got {value!r}.")
    return value


def check_columns(columns: Any, n_features: int, name: str) -> IntArray:
    """Sorted distinct column numbers, of none, a list of numbers from 0, or a boolean mask."""
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


def check_disjoint(always: IntArray, excluded: IntArray, n_features: int) -> None:
    """Refuse columns that are in both lists, and an exclusion of every column."""
    both = np.intersect1d(always, excluded)
    if both.size:
        raise ValueError(
            f"column {both[0]} is in always_features and in excluded_features; remove it from one "
            "of them."
        )
    if excluded.size == n_features:
        raise ValueError(
            f"excluded_features holds all {n_features} columns of X; leave at least one."
        )


def check_groups(feature_groups: Any, n_features: int) -> IntArray | None:
    """One group number a column, or None without groups.

    Parameters
    ----------
    feature_groups : None, array-like of int of shape (n_features,), or list of lists of int
        Columns with equal numbers are one group; or each list holds the column numbers of one
        group, and columns in no list stay alone.
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
