"""X and y of ``fit`` and ``predict``: arrays as scikit-learn checks them, and row blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import validate_data

from scoresieve._checks import check_frame, check_structure
from scoresieve.design import RowBlocks, as_row_blocks

#: What estimators take as X.
X_OPTIONS: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


def read_X_y(estimator: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """X and y for ``fit``, which sets ``n_features_in_`` and ``feature_names_in_``.

    Parameters
    ----------
    X : array-like, sparse matrix, RowBlocks or what dask holds
    options : dict
        For :func:`sklearn.utils.validation.validate_data`, about y and about both.
    """
    blocks = as_row_blocks(X)
    if blocks is None:
        refuse_what_is_no_matrix(X)
        options = {"accept_large_sparse": True, **X_OPTIONS, **options}
        return validate_data(estimator, X, y, **options)
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None; the "
            "labels that were stored with row blocks are in X.labels."
        )
    validate_data(estimator, blocks, skip_check_array=True)
    if blocks.feature_names is not None:
        estimator.feature_names_in_ = blocks.feature_names
    return blocks, _checked_y(blocks, y, options)


def refuse_what_is_no_matrix(X: Any) -> None:
    """What scikit-learn lets through: broken sparse arrays, and columns of dates and words."""
    if sp.issparse(X):
        check_structure(X)
        return
    check_frame(X)
    if getattr(getattr(X, "dtype", None), "kind", "f") in "mM":
        raise ValueError(
            f"X must hold numbers; got dtype {X.dtype}. Turn dates into numbers, for example days "
            "since a date, first."
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
        return validate_data(estimator, X, reset=False, **X_OPTIONS | options)
    _check_columns(estimator, blocks)
    return blocks


def _check_columns(estimator: Any, blocks: RowBlocks) -> None:
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
            f"{names[at]!r} there; give the columns of fit in the same order."
        )


def read_array(X: Any) -> Any:
    """X without an estimator."""
    blocks = as_row_blocks(X)
    if blocks is not None:
        return blocks
    refuse_what_is_no_matrix(X)
    return check_array(X, accept_sparse=("csr", "csc"), accept_large_sparse=True)
