"""What ``fit`` and ``predict`` are given, checked; and a ``fit`` that happens as a whole.

X and y are arrays as scikit-learn checks them, or row blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, check_array, check_random_state, check_X_y
from sklearn.utils.validation import validate_data

from scoresieve._arrays import FloatArray
from scoresieve._checks import (
    check_flag,
    check_frame,
    check_n_jobs,
    check_structure,
    check_verbose,
    check_X,
)
from scoresieve._user_warnings import warn_user
from scoresieve.design import Design, RowBlocks, SparseDesign, as_design, as_row_blocks

#: What estimators take as X.
X_OPTIONS: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


def read_X_y(estimator: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Any, Design]:
    """X and y for ``fit``, which sets ``n_features_in_`` and ``feature_names_in_``.

    Parameters
    ----------
    X : array-like, sparse matrix, RowBlocks or what dask holds
    options : dict
        For :func:`sklearn.utils.validation.validate_data`, about y and about both.

    Returns
    -------
    X, y : array, sparse matrix or RowBlocks; array
    design : Design
        X once it is checked, so that problems of a fit need no check of their own.
    """
    blocks = as_row_blocks(X)
    if blocks is None:
        refuse_what_is_no_matrix(X)
        options = {"accept_large_sparse": True, **X_OPTIONS, **options}
        names = names_of_sparse(X)
        # The design is what looks at all numbers, once.
        X, y = validate_data(estimator, X, y, ensure_all_finite=False, **options)
        if names is not None:
            estimator.feature_names_in_ = names
        return X, y, _checked_design(estimator, X)
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None; "
            "the labels stored with row blocks are in X.labels: fit(X, X.labels)."
        )
    validate_data(estimator, blocks, skip_check_array=True)
    if blocks.feature_names is not None:
        estimator.feature_names_in_ = blocks.feature_names
    return blocks, _checked_y(blocks, y, options), _checked_design(estimator, blocks)


def _checked_design(estimator: Any, X: Any) -> Design:
    """X, whose structure has been checked, as a design; of NaN and infinity scikit-learn tells."""
    design = SparseDesign(X) if sp.issparse(X) else as_design(X)
    try:
        check_X(design)
    except ValueError:
        if not isinstance(X, RowBlocks):
            assert_all_finite(X, estimator_name=type(estimator).__name__, input_name="X")
        raise
    return design


def refuse_what_is_no_matrix(X: Any) -> None:
    """What scikit-learn lets through: broken sparse arrays, and columns of dates and words."""
    if sp.issparse(X):
        check_structure(X)
        return
    check_frame(X)
    if getattr(getattr(X, "dtype", None), "kind", "f") in "mM":
        raise ValueError(
            f"X must hold numbers; got dtype {X.dtype}. Turn dates into numbers first, for example "
            "days since a fixed date."
        )


def _checked_y(blocks: RowBlocks, y: Any, options: dict[str, Any]) -> Any:
    """Y as scikit-learn checks it beside an X with as many rows."""
    y = y.compute() if hasattr(y, "compute") else y
    return check_X_y(np.zeros((blocks.shape[0], 1)), y, **options)[1]


def read_X(estimator: Any, X: Any, **options: Any) -> Any:
    """X for a fitted estimator, with as many columns as it was fitted on."""
    blocks = as_row_blocks(X)
    if blocks is None:
        refuse_what_is_no_matrix(X)
        if names_of_sparse(X) is None:
            return validate_data(estimator, X, reset=False, **X_OPTIONS | options)
        _check_columns(estimator, X)
        return check_array(X, **X_OPTIONS | options)
    _check_columns(estimator, blocks)
    return blocks


def names_of_sparse(X: Any) -> Any:
    """The names that a ``TableEncoder`` gives the columns of a sparse matrix, or None."""
    return getattr(X, "feature_names", None) if sp.issparse(X) else None


def _check_columns(estimator: Any, blocks: Any) -> None:
    """The number of columns, and their names if both sides have some, as scikit-learn does."""
    name, n_expected = type(estimator).__name__, estimator.n_features_in_
    if blocks.shape[1] != n_expected:
        raise ValueError(
            f"X has {blocks.shape[1]} features, but {name} is expecting {n_expected} features as "
            "input."
        )
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or blocks.feature_names is None:
        return
    other = np.flatnonzero(np.asarray(blocks.feature_names) != names)
    if other.size:
        at = other[0]
        raise ValueError(
            f"column {at} of X is {blocks.feature_names[at]!r}, but {name} was fitted with "
            f"{names[at]!r} there; pass the columns in the same order as in fit."
        )


def read_array(X: Any) -> Any:
    """X without an estimator."""
    blocks = as_row_blocks(X)
    if blocks is not None:
        return blocks
    refuse_what_is_no_matrix(X)
    return check_array(X, accept_sparse=("csr", "csc"), accept_large_sparse=True)


#: Columns whose sizes differ by more than this are reported.
LARGEST_RATIO = 1000.0
#: The scale of a column with fewer entries is not checked.
FEWEST_ENTRIES = 5
#: How many columns of each end are named.
N_NAMED = 3


def warn_of_scales(X: Any, names: Any = None, excluded: Any = None) -> None:
    """Warn of columns whose entries differ in size by a factor above 1,000.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    names : array-like of str, optional
        Of the columns.
    excluded : array-like of int or boolean mask, optional
        Columns that are never selected.
    """
    if has_like_entries(X):
        return
    sizes = column_sizes(X)
    if excluded is not None:
        sizes[np.asarray(excluded)] = 0.0
    used = np.flatnonzero(sizes)
    if not used.size or sizes.max() <= LARGEST_RATIO * sizes[used].min():
        return
    order = used[np.argsort(sizes[used], kind="stable")]
    # Those at either end that are far from some other column.
    small = order[LARGEST_RATIO * sizes[order] < sizes.max()]
    large = order[sizes[order] > LARGEST_RATIO * sizes[order[0]]][::-1]
    warn_user(
        f"the columns of X differ in scale by a factor of {sizes.max() / sizes[order[0]]:.3g} "
        f"(root mean square: {_named(small, sizes, names)} against {_named(large, sizes, names)}), "
        "so large columns are selected for their scale alone. Scale X with StandardScaler, or with "
        "MaxAbsScaler if it is sparse."
    )


def has_like_entries(X: Any) -> bool:
    """Whether the entries alone show that all columns have similar scales, as in most text.

    A root mean square lies between the smallest and the largest entry, and finding these two costs
    a tenth of all root mean squares. With negative entries the answer is no.
    """
    if not sp.issparse(X) or not X.data.size:
        return False
    smallest = X.data.min()
    return bool(smallest > 0 and X.data.max() <= LARGEST_RATIO * smallest)


def column_sizes(X: Any) -> FloatArray:
    """The root mean square of each column's entries that are not 0; 0 if there are few."""
    totals: Any
    counts: Any
    if isinstance(X, RowBlocks):
        totals, counts = np.square(X.statistics.norms), X.statistics.counts
    elif sp.issparse(X):
        X = X if X.format == "csr" else X.tocsc()
        columns = X.indices
        if X.format == "csc":
            columns = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        squares = np.square(X.data, dtype=np.float64)
        totals = np.bincount(columns, squares, minlength=X.shape[1])
        is_entry = X.data != 0
        stored = columns if is_entry.all() else columns[is_entry]
        counts = np.bincount(stored, minlength=X.shape[1])
    else:
        totals = np.einsum("ij,ij->j", X, X, dtype=np.float64)
        counts = np.count_nonzero(X, axis=0)
    is_told = counts >= min(FEWEST_ENTRIES, X.shape[0])
    return np.sqrt(np.divide(totals, counts, out=np.zeros(X.shape[1]), where=is_told))


def _named(columns: Any, sizes: FloatArray, names: Any) -> str:
    """The first few columns with their sizes."""
    shown = [
        f"{int(column) if names is None else repr(str(names[column]))} ({sizes[column]:.3g})"
        for column in columns[:N_NAMED]
    ]
    more = f" and {columns.size - N_NAMED} more" if columns.size > N_NAMED else ""
    return ", ".join(shown) + more


def check_seed(value: Any, name: str) -> None:
    """A ``random_state`` as scikit-learn takes it."""
    try:
        check_random_state(value)
    except ValueError as error:
        raise ValueError(
            f"{name} must be None, an integer of at least 0 or a RandomState; got {value!r}."
        ) from error


#: Parameters that mean the same in every estimator that has them.
SWITCHES: dict[str, Callable[[Any, str], object]] = {
    "certificate": check_flag,
    "fit_intercept": check_flag,
    "n_jobs": check_n_jobs,
    "random_state": check_seed,
    "verbose": check_verbose,
    "warm_start": check_flag,
}


def whole_fit(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A ``fit`` that checks switches, and that never leaves a half-fitted model behind."""

    @wraps(fit)
    def fit_whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_switches(self)
        with all_or_nothing(self):
            return fit(self, *args, **kwargs)

    return fit_whole


def check_switches(estimator: Any) -> None:
    """Refuse values that Python would silently take for true or false."""
    for name, value in estimator.get_params(deep=False).items():
        if name in SWITCHES:
            SWITCHES[name](value, name)


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Make the estimator what it was if the block ends by an error, or by Ctrl-C.

    Checking X already changes ``n_features_in_``, which would no longer match the old weights.
    """
    before = fitted_state(estimator)
    try:
        yield
    except BaseException:
        for name in fitted_state(estimator):
            delattr(estimator, name)
        vars(estimator).update(before)
        raise


def fitted_state(estimator: Any) -> dict[str, Any]:
    """What ``fit`` sets: public attributes, and those that a saved model needs."""
    kept = {*getattr(estimator, "_saved", ()), *getattr(estimator, "_computed", ())}
    return {
        name: value
        for name, value in vars(estimator).items()
        if name in kept or (name.endswith("_") and not name.startswith("_"))
    }
