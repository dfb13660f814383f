"""``label index:value index:value ...``: files of svmlight and LIBSVM."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from scoresieve._arrays import Array
from scoresieve.cli.data.source import Source, Watch, find_source
from scoresieve.cli.errors import BadData, one_line


def read_svmlight(
    source: Source,
    *,
    zero_based: bool | None = None,
    n_features: int | None = None,
    watch: Watch | None = None,
) -> tuple[Any, Array, bool]:
    """X in CSR form, the labels, and whether the first column has the number 0.

    Parameters
    ----------
    zero_based : bool, optional
        Of the file that a model was fitted on. By default columns count from 1, as they should,
        unless the file has a column 0.
    n_features : int, optional
        Of the model. Columns beyond these have no weight and are left out.
    """
    with source.open(watch) as stream:
        try:
            # Numbers as they stand: whether they count from 0 is decided once, not file by file.
            X, y = load_svmlight_file(stream, zero_based=True)
        except (ValueError, OverflowError) as error:
            raise BadData(
                f"{source.name}: a line is not of the form 'label index:value ...' with rising "
                f"indices ({one_line(error)}); correct it."
            ) from error
    if X.nnz == 0:
        raise BadData(f"{source.name}: no row holds any 'index:value'; check the file.")
    first = int(X.indices.min())
    if zero_based is False and first == 0:
        raise BadData(
            f"{source.name}: it has a column 0, but the model was fitted on columns from 1 on; "
            "number the columns as in the training file."
        )
    zero_based = first == 0 if zero_based is None else zero_based
    if not zero_based:
        X = _reshaped(X, X.indices - 1, X.shape[1] - 1)
    if n_features is not None and X.shape[1] > n_features:
        X = X[:, :n_features]
    elif n_features is not None:
        X = _reshaped(X, X.indices, n_features)
    return X, y, zero_based


def _reshaped(X: Any, indices: Array, n_features: int) -> Any:
    return sp.csr_matrix((X.data, indices, X.indptr), shape=(X.shape[0], n_features))


def read_names(path: str, n_features: int) -> list[str]:
    """The names of the columns from a text file, one in each line."""
    with find_source(path).open() as stream:
        names = [line.strip() for line in stream.read().decode("utf-8-sig").splitlines()]
    if len(names) != n_features:
        raise BadData(
            f"{path}: it has {len(names)} lines, but there are {n_features} columns; give one name "
            "in each line."
        )
    return names
