"""What is done with one group of rows, in this process or on a worker of a cluster.

A group is a list of pieces, CSR arrays or dense arrays that nobody changes; their arrays may be
memory maps. Results do not depend on where the group is cut: sparse rows are added one by one, and
dense pieces, whose products depend on their shapes, are put together first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design.blocks.grouping import stacked
from scoresieve.design.blocks.views import Chosen
from scoresieve.design.dense import DenseDesign, largest_magnitude, squared_sum
from scoresieve.design.groups import RowGroups
from scoresieve.design.lines import RunningSum, column_norms, entry_counts, lines_between
from scoresieve.design.sparse import SparseDesign, add_lines


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


def describe(block: Any) -> Description:
    """Shape and type of a block."""
    n_entries = block.nnz if sp.issparse(block) else block.size
    n_rows, n_columns = map(int, block.shape)
    dtype = np.dtype(block.dtype)
    return Description(n_rows, n_columns, int(n_entries), dtype, sp.issparse(block))


def count_rows(pieces: list[Any]) -> int:
    """How many rows there are; to ask is to open them."""
    return sum(int(piece.shape[0]) for piece in pieces)


def correlate(pieces: list[Any], v: FloatArray) -> FloatArray:
    """``X_g^T v``."""
    if not sp.issparse(pieces[0]):
        return DenseDesign(dense_rows(pieces)).correlate(v)
    total, first = RunningSum(pieces[0].shape[1]), 0
    for piece in pieces:
        last = first + piece.shape[0]
        add_lines(total, piece, v[first:last])
        first = last
    return total.result()


def dense_rows(pieces: list[Any]) -> Any:
    """The rows of all pieces as BLAS reads them, copied if they are not or if they are several.

    Arrays that have come from another worker may begin at an odd byte, and then numpy does without.
    """
    return np.require(stacked(pieces), requirements=["C", "A"])


def add(first: Any, second: Any) -> Any:
    """``first + second``; neither is changed, since a worker may need them again."""
    return first + second


def scores(pieces: list[Any], W: FloatArray, idx: IntArray) -> FloatArray:
    """``X_g[:, idx] W^T``, of shape (n_rows, n_models), for W of shape (n_models, len(idx))."""
    if not sp.issparse(pieces[0]):
        design = DenseDesign(dense_rows(pieces))
        return np.column_stack([design.scores(w, idx) for w in W])
    designs = [SparseDesign(piece, RowGroups.one(piece.shape[0])) for piece in pieces]
    found = [np.column_stack([each.scores(w, idx) for w in W]) for each in designs]
    return stacked(found)


def total(
    pieces: list[Any],
    rows: Chosen | None,
    function: Callable[..., float],
    w: FloatArray,
    idx: IntArray,
    bias: float,
    *per_row: FloatArray,
) -> float:
    """``sum_i f(<w, x_i> + bias, t_i, ...)`` over the group, or over some rows of it."""
    found = scores(pieces, w[np.newaxis], idx)[:, 0]
    return float(function((found if rows is None else found[rows.inside()]) + bias, *per_row))


def columns(pieces: list[Any], idx: IntArray, rows: Chosen | None, dtype: Any) -> Any:
    """``X_g[:, idx]``, or those of some rows, as a CSR or a dense array of its own."""
    part = stacked([piece[:, idx] for piece in pieces])
    part = part if rows is None else part[rows.inside()]
    return part.astype(dtype, copy=False)


def by_columns(pieces: list[Any], idx: IntArray, rows: Chosen | None) -> sp.csc_array:
    """``X_g[:, idx]`` of sparse rows, or those of some, in float64 and without zeros."""
    part = columns(pieces, idx, rows, np.float64).tocsc()
    part.eliminate_zeros()
    return part


def take(pieces: list[Any], rows: Chosen | None) -> list[Any]:
    """``X_g[rows]``, piece by piece; those without rows are left out."""
    if rows is None:
        return pieces
    ends = np.cumsum([piece.shape[0] for piece in pieces])
    inside = rows.inside()
    cuts = np.searchsorted(inside, np.append(0, ends))
    return [
        piece[inside[first:last] - (end - piece.shape[0])]
        for piece, end, first, last in zip(pieces, ends, cuts[:-1], cuts[1:], strict=True)
        if last > first
    ]


def statistics(pieces: list[Any], rows: Chosen | None) -> Statistics:
    """Of the columns of the group, or of some rows of it, with bounded memory beyond those."""
    pieces = take(pieces, rows)
    if not sp.issparse(pieces[0]):
        return _dense_statistics(dense_rows(pieces))
    entries = [lines_between(piece, 0, piece.shape[0])[:2] for piece in pieces]
    max_abs = float(np.max([largest_magnitude(data) for data, _ in entries]))
    n_columns = pieces[0].shape[1]
    counts = np.zeros(n_columns)
    for data, indices in entries:
        counts += entry_counts(data, indices, n_columns)
    norms = column_norms(entries, n_columns, max_abs)
    return Statistics(squared_sum(*(data for data, _ in entries)), max_abs, norms, counts)


def _dense_statistics(rows: Any) -> Statistics:
    design = DenseDesign(rows)
    counts = design.column_counts()
    max_abs = design.max_abs()
    norms = design.column_norms() if np.isfinite(max_abs) else np.full(counts.size, np.nan)
    return Statistics(design.sum_of_squares(), max_abs, norms, counts)
