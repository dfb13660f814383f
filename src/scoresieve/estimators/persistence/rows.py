"""Matrices by their entries other than 0, row by row, and dense ones as they are.

data, columns of row i  =  those from starts[i] to starts[i + 1];  all other entries are ``zero``
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._record import Record

_SPARSE = {"csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array}
#: Shapes that dense weights have.
_DENSE = {1: "vector", 2: "dense"}


def plain_sparse(matrix: Any) -> Any:
    """The three arrays of a CSR matrix; anything else as it is."""
    if type(matrix).__name__ not in _SPARSE or not sp.issparse(matrix):
        return matrix
    rows = sp.csr_array(matrix, copy=True)
    rows.sum_duplicates()
    return _plain(type(matrix).__name__, rows.shape, rows.data, rows.indices, rows.indptr)


def plain_weights(coef: Any) -> Any:
    """The weights that differ from the commonest zero, which is 0.0 or -0.0."""
    if not isinstance(coef, np.ndarray) or coef.ndim not in _DENSE or coef.dtype != np.float64:
        return plain_sparse(coef)
    flavour, coef = _DENSE[coef.ndim], np.atleast_2d(coef)
    signs = np.signbit(coef[coef == 0])
    zero = -0.0 if 2 * np.count_nonzero(signs) > signs.size else 0.0
    rows, columns = np.nonzero((coef != 0) | (np.signbit(coef) != np.signbit(zero)))
    starts = np.searchsorted(rows, np.arange(len(coef) + 1))
    return _plain(flavour, coef.shape, coef[rows, columns], columns, starts) | {"zero": zero}


def _plain(flavour: str, shape: Any, data: Any, columns: Any, starts: Any) -> dict[str, Any]:
    return {
        "flavour": flavour,
        "shape": [int(n) for n in shape],
        "data": data,
        "columns": np.asarray(columns, dtype=np.int64),
        "starts": np.asarray(starts, dtype=np.int64),
    }


def to_matrix(plain: Any) -> Any:
    """The inverse of :func:`plain_sparse` and :func:`plain_weights`."""
    if not isinstance(plain, dict):
        return plain
    data, columns, starts = plain["data"], plain["columns"], plain["starts"]
    if plain["flavour"] in _SPARSE:
        return _SPARSE[plain["flavour"]]((data, columns, starts), shape=tuple(plain["shape"]))
    matrix = np.zeros(plain["shape"])
    if np.signbit(plain["zero"]):
        matrix.fill(plain["zero"])
    matrix[np.repeat(np.arange(len(matrix)), np.diff(starts)), columns] = data
    return matrix if plain["flavour"] == "dense" else matrix[0]


def check_coefficients(record: Record, key: Any, sizes: tuple[str, ...]) -> dict[str, Any]:
    """Finite weights of one or two sizes that are known, and that memory can take."""
    entry = record.record(key)
    flavours = ("vector",) if len(sizes) == 1 else ("dense", *_SPARSE)
    n_rows = 1 if len(sizes) == 1 else record.known.sizes[sizes[0]]
    shape = (n_rows, record.known.sizes[sizes[-1]])
    plain = _check_rows(entry, flavours, np.float64, shape)
    if plain["flavour"] not in _SPARSE:
        plain["zero"] = entry.number("zero", float, 0.0, 0.0)
        n_bytes, max_bytes = 8 * shape[0] * shape[1], record.known.max_bytes
        if n_bytes > max_bytes:
            entry.refuse(
                "shape",
                f"is {shape}: dense weights would take {n_bytes} bytes, more than max_bytes="
                f"{max_bytes}. Raise max_bytes, or save after sparsify().",
            )
    entry.end()
    return plain


def check_matrix(record: Record, key: Any, dtype: Any, sizes: tuple[str, str]) -> Any:
    """A finite matrix, dense or CSR, whose number of columns is known."""
    if record.holds(key, np.ndarray):
        return record.array(key, dtype, sizes, finite=True)
    entry = record.record(key)
    shape = (record.known.sizes.get(sizes[0]), record.known.sizes[sizes[1]])
    plain = _check_rows(entry, tuple(_SPARSE), dtype, shape)
    record.size(key, sizes[0], plain["shape"][0])
    entry.end()
    return plain


def _check_rows(
    entry: Record, flavours: tuple[str, ...], dtype: Any, shape: tuple[int | None, int]
) -> dict[str, Any]:
    """Sorted entries in the rows of a sparse matrix."""
    flavour = entry.choice("flavour", flavours)
    starts, columns = (entry.array(key, np.int64, (None,)) for key in ("starts", "columns"))
    shape = (max(starts.size - 1, 0) if shape[0] is None else shape[0], shape[1])
    if entry.take("shape", list) != list(shape) or starts.size != shape[0] + 1:
        entry.refuse("shape", f"must be {list(shape)}, and there must be as many rows.")
    data = entry.array("data", dtype, columns.shape, finite=True)
    if starts[0] != 0 or starts[-1] != columns.size or np.any(np.diff(starts) < 0):
        entry.refuse("starts", f"must ascend from 0 to {columns.size}.")
    new_row = np.zeros(columns.size + 1, dtype=bool)
    new_row[starts] = True
    ascending = (np.diff(columns) > 0) | new_row[1:-1]
    if not np.all(ascending) or np.any((columns < 0) | (columns >= shape[1])):
        entry.refuse("columns", f"must ascend in each row, and be from 0 to {shape[1] - 1}.")
    return _plain(flavour, shape, data, columns, starts)
