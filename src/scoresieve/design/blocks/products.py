"""What is done with one block of rows, in this process or on a worker of a cluster.

A block is a CSR array or a dense array that nobody changes; its arrays may be memory maps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve.design._base import BLOCK_NUMBERS, Design
from scoresieve.design.dense import DenseDesign
from scoresieve.design.sparse import SparseDesign


class Description(NamedTuple):
    """Of one block: its shape, how many numbers it stores, their type, and whether it is sparse."""

    n_rows: int
    n_columns: int
    n_entries: int
    dtype: np.dtype
    is_sparse: bool


@dataclass(frozen=True, eq=False)
class Statistics:
    """What one pass tells about the columns.

    Attributes
    ----------
    sum_of_squares, max_abs : float
        Of all entries; inf or NaN where these are.
    norms : ndarray of shape (n_columns,)
        ``sqrt(sum_i x_ij^2)``; NaN if X is not finite.
    counts : ndarray of shape (n_columns,)
        Entries other than 0.
    """

    sum_of_squares: float
    max_abs: float
    norms: FloatArray
    counts: FloatArray

    def joined(self, other: Statistics) -> Statistics:
        """Of the rows of both."""
        return Statistics(
            self.sum_of_squares + other.sum_of_squares,
            float(np.maximum(self.max_abs, other.max_abs)),
            np.hypot(self.norms, other.norms),
            self.counts + other.counts,
        )


def design_of(block: Any) -> Design:
    """The block as a design."""
    return SparseDesign(block) if sp.issparse(block) else DenseDesign(block)


def describe(block: Any) -> Description:
    """Shape and type of a block."""
    n_entries = block.nnz if sp.issparse(block) else block.size
    n_rows, n_columns = map(int, block.shape)
    dtype = np.dtype(block.dtype)
    return Description(n_rows, n_columns, int(n_entries), dtype, sp.issparse(block))


def correlate(block: Any, v: FloatArray) -> FloatArray:
    """``X_b^T v``."""
    return design_of(block).correlate(v)


def add(first: Any, second: Any) -> Any:
    """``first + second``; neither is changed, since a worker may need them again."""
    return first + second


def scores(block: Any, W: FloatArray, idx: IntArray) -> FloatArray:
    """``X_b[:, idx] W^T``, of shape (n_rows, n_models), for W of shape (n_models, len(idx))."""
    design = design_of(block)
    return np.column_stack([design.scores(w, idx) for w in W])


def total(
    block: Any,
    rows: IntArray | None,
    function: Callable[..., float],
    w: FloatArray,
    idx: IntArray,
    bias: float,
    *per_row: FloatArray,
) -> float:
    """``sum_i f(<w, x_i> + bias, t_i, ...)`` over the block, or over some rows of it."""
    scores = design_of(block).scores(w, idx)
    return float(function((scores if rows is None else scores[rows]) + bias, *per_row))


def columns(block: Any, idx: IntArray, rows: IntArray | None, dtype: Any) -> Any:
    """``X_b[:, idx]``, or those of some rows, as a CSR or a dense array of its own."""
    if sp.issparse(block):
        part = block[:, idx]
        part = part if rows is None else part[rows]
        return part.astype(dtype, copy=False)
    part = block[:, idx] if rows is None else block[np.ix_(rows, idx)]
    return np.asarray(part, dtype=dtype)


def by_columns(block: Any, idx: IntArray, rows: IntArray | None) -> sp.csc_array:
    """``X_b[:, idx]`` of a sparse block, or those of some rows, in float64 and without zeros."""
    part = columns(block, idx, rows, np.float64).tocsc()
    part.eliminate_zeros()
    return part


def take(block: Any, rows: IntArray | None) -> Any:
    """``X_b[rows]``."""
    return block if rows is None else block[rows]


def statistics(block: Any, rows: IntArray | None) -> Statistics:
    """Of the columns of the block, or of some rows of it, with bounded memory beyond those."""
    block = take(block, rows)
    design = design_of(block)
    sum_of_squares, max_abs = design.sum_of_squares(), design.max_abs()
    if sp.issparse(block):
        n_entries = int(block.indptr[-1])
        totals, counts = _column_totals(
            *(block.data[:n_entries], block.indices[:n_entries], block.shape[1]), max_abs or 1.0
        )
        norms = (max_abs or 1.0) * np.sqrt(totals)
    else:
        counts = np.count_nonzero(block, axis=0).astype(np.float64)
        norms = design.column_norms() if np.isfinite(max_abs) else np.full(counts.size, np.nan)
    return Statistics(sum_of_squares, max_abs, norms, counts)


def _column_totals(
    data: Array, indices: Array, n_columns: int, largest: float
) -> tuple[FloatArray, FloatArray]:
    """Squares, of entries divided by the largest, and non-zeros of each column."""
    totals, counts = np.zeros(n_columns), np.zeros(n_columns)
    if not np.isfinite(largest):
        totals += np.nan
    # Numbers, weights and places of each are in memory, in eight bytes.
    at_once = max(BLOCK_NUMBERS // 4, n_columns)
    for start in range(0, data.size, at_once):
        part = slice(start, start + at_once)
        entries = data[part].astype(np.float64)
        counts += np.bincount(indices[part], weights=entries != 0.0, minlength=n_columns)
        if np.isfinite(largest):
            np.divide(entries, largest, out=entries)
            np.square(entries, out=entries)
            totals += np.bincount(indices[part], weights=entries, minlength=n_columns)
    return totals, counts
