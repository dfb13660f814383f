"""A sparse X in CSR or CSC form."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design._base import ACTIVE_SHARE, BLOCK_NUMBERS, Columns, Design, Entries
from scoresieve.design.dense import DenseColumns, largest_magnitude, squared_sum, weighted_gram
from scoresieve.design.groups import RowGroups, rows_of_group
from scoresieve.design.lines import (
    Lines,
    RunningSum,
    column_norms,
    entry_counts,
    lines_between,
    matrix_around,
    power_below,
    runs_of_lines,
    same_index_type,
)
from scoresieve.design.pairwise import add_into, at_places, pairwise
from scoresieve.design.split_columns import SplitColumns

#: Up to this many vectors, one product each is faster than scipy's product with a matrix.
FEW_VECTORS = 3
#: Share of non-zeros above which a product of two dense blocks is faster than one of sparse ones.
DENSE_SHARE = 0.1
#: Rows that differ are worth a sparse block of their own if they are at most this share of all.
VARIED_SHARE = 0.5


class SparseColumns(Columns):
    """``X_S`` in float64 CSC form: fast to append to, and fast where columns are short."""

    def __init__(self, block: sp.csc_array) -> None:
        self._block = block
        self._transposed = block.T
        self.n_columns = block.shape[1]

    def scores(self, w: FloatArray) -> FloatArray:
        """``X_S w``."""
        return self._block @ np.asarray(w, dtype=np.float64)

    def correlate(self, V: FloatArray) -> FloatArray:
        """``X_S^T V``."""
        V = np.asarray(V, dtype=np.float64)
        if V.ndim == 1 or V.shape[1] > FEW_VECTORS:
            return self._transposed @ V
        out = np.empty((self.n_columns, V.shape[1]))
        for k in range(V.shape[1]):
            out[:, k] = self._transposed @ V[:, k]
        return out

    def append(self, other: Columns) -> SparseColumns:
        """The block with the columns of ``other`` to the right."""
        assert isinstance(other, SparseColumns)
        return SparseColumns(sp.hstack([self._block, other._block], format="csc"))

    def take(self, places: IntArray) -> SparseColumns:
        """The columns at these places."""
        return SparseColumns(self._block[:, places])

    def scaled(self, factors: FloatArray) -> SparseColumns:
        """``X_S diag(f)``; what is 0 now is stored still."""
        block = self._block
        data = block.data[: block.indptr[-1]] * np.repeat(factors, np.diff(block.indptr))
        indices = block.indices[: block.indptr[-1]]
        return SparseColumns(matrix_around(data, indices, block.indptr, "csc", block.shape))

    def gram(self, d: FloatArray) -> FloatArray:
        """``X_S^T diag(d) X_S``; by a dense block where that is small and not mostly zeros.

        Columns without zeros, the constant one say, would make every row a product of its own, so
        that theirs are made one by one.
        """
        full, others = self._full_columns, self._other_columns
        out = np.empty((self.n_columns, self.n_columns))
        for column in full:
            out[column] = out[:, column] = self._transposed @ (d * self._full_column(column))
        if others.size:
            out[np.ix_(others, others)] = self._gram_of_others(d)
        return out

    def _gram_of_others(self, d: FloatArray) -> FloatArray:
        block, by_rows = self._others
        n_numbers = block.shape[0] * block.shape[1]
        if n_numbers <= BLOCK_NUMBERS and block.nnz > DENSE_SHARE * n_numbers:
            return weighted_gram(block.T.toarray(), d)
        weights = d[block.indices]
        kept = np.flatnonzero(weights)
        starts = np.searchsorted(kept, block.indptr).astype(block.indptr.dtype)
        entries, indices = block.data[kept] * weights[kept], block.indices[kept]
        weighted = matrix_around(entries, indices, starts, "csc", block.shape)
        return np.asarray((weighted.T @ by_rows).toarray())

    def entries(self) -> Entries:
        """The numbers that are not 0; repeated ones are added up."""
        block = self._block
        if not block.has_canonical_format:
            block = block.copy()
            block.sum_duplicates()
        if not np.all(block.data):
            block = block.copy()
            block.eliminate_zeros()
        starts, rows = block.indptr.astype(np.int64), block.indices.astype(np.int64)
        return Entries(starts, rows, block.data)

    def varied_rows(self) -> IntArray | None:
        """Rows with an entry in a column that is not constant; None if these are too many."""
        n_samples, lengths = self._block.shape[0], np.diff(self._block.indptr)
        is_varied = np.ones(self.n_columns, dtype=bool)
        for column in self._full_columns:
            is_varied[column] = np.ptp(self._full_column(column)) > 0.0
        touched = np.zeros(n_samples, dtype=bool)
        touched[self._block.indices[np.repeat(is_varied, lengths)]] = True
        rows = np.flatnonzero(touched)
        is_small = rows.size * self.n_columns <= BLOCK_NUMBERS
        most = n_samples - 1 if is_small else VARIED_SHARE * n_samples
        return rows if rows.size <= most else None

    def only_rows(self, rows: IntArray) -> Columns:
        """The rows as a dense block if that is small, else as a sparse one."""
        place = np.full(self._block.shape[0], -1, dtype=self._block.indices.dtype)
        place[rows] = np.arange(rows.size)
        at, size = place[self._block.indices], rows.size * self.n_columns
        here = at >= 0
        if size > BLOCK_NUMBERS:
            kept = np.flatnonzero(here)
            starts = np.searchsorted(kept, self._block.indptr).astype(at.dtype)
            shape = rows.size, self.n_columns
            parts = self._block.data[kept], at[kept], starts
            return SparseColumns(matrix_around(*parts, "csc", shape))
        flat = np.repeat(np.arange(self.n_columns) * rows.size, np.diff(self._block.indptr)) + at
        # Repeated entries add up.
        values = np.bincount(flat[here], weights=self._block.data[here], minlength=size)
        return DenseColumns(
            values.reshape(self.n_columns, rows.size).astype(np.float64, copy=False)
        )

    def _full_column(self, column: int) -> FloatArray:
        """The numbers of a column, one a row."""
        entries = slice(*self._block.indptr[column : column + 2])
        rows, values = self._block.indices[entries], self._block.data[entries]
        column_of_rows = np.bincount(rows, weights=values, minlength=self._block.shape[0])
        return column_of_rows.astype(np.float64, copy=False)

    @cached_property
    def _full_columns(self) -> IntArray:
        """Places of the columns with as many entries as rows: those without zeros."""
        return np.flatnonzero(np.diff(self._block.indptr) == self._block.shape[0])

    @cached_property
    def _other_columns(self) -> IntArray:
        return np.setdiff1d(np.arange(self.n_columns), self._full_columns)

    @cached_property
    def _others(self) -> tuple[sp.csc_array, sp.csr_array]:
        """The columns that have zeros, by columns and by rows."""
        block = self._block
        if self._full_columns.size:
            block = self._block[:, self._other_columns]
        return block, block.tocsr()

    def as_design(self) -> SparseDesign:
        """The block as a design of its own; nothing is copied."""
        return SparseDesign(self._block, RowGroups.one(self._block.shape[0]))


class SparseDesign(Design):
    """A sparse ``X`` of any real type, used where it lies. It is never made dense.

    Conventions
    -----------
    * The arrays of X are shared, never changed and never handed out. Entries need not be sorted;
      repeated entries add up.
    * "Lines" are what the format stores together: rows in CSR, columns in CSC. Types other than
      float64 are converted a run of entries at a time.
    * Sums over rows are those of fixed groups, each row by row: CSR, and CSC whose columns are
      sorted, give the same bits, and so do row blocks of any size.

    Parameters
    ----------
    X : CSR or CSC matrix or array
    groups : RowGroups, optional
        By default those that the shape of X and its number of entries decide.
    """

    def __init__(self, X: Any, groups: RowGroups | None = None) -> None:
        if X.format not in ("csr", "csc"):
            raise ValueError(f"X must be in CSR or CSC format; got {X.format}. Use X.tocsr().")
        self.n_samples, self.n_columns = int(X.shape[0]), int(X.shape[1])
        self._by_rows = X.format == "csr"
        indices, indptr = same_index_type(X.indices, X.indptr)
        # The arrays may be longer than what indptr refers to.
        n_entries = int(indptr[-1])
        self._lines = matrix_around(
            X.data[:n_entries], indices[:n_entries], indptr, X.format, X.shape
        )
        if groups is None:
            size = rows_of_group(self.n_samples, self.n_columns, n_entries, is_sparse=True)
            groups = RowGroups.of_size(self.n_samples, size)
        self._groups = groups

    def correlate(self, v: FloatArray) -> FloatArray:
        """``X^T v``, for CSR over the rows with ``v_i != 0`` where these hold few entries."""
        v = np.asarray(v, dtype=np.float64)
        if self._by_rows:
            found = self._over_groups(lambda first, last: self._across(v, first, last), add_into)
            return np.zeros(self.n_columns) if found is None else found
        if self._split is None:
            return self._along_lines(v)
        return self._split.combined(lambda lines: _times(lines, v), np.add)

    def columns(self, idx: IntArray) -> SparseColumns:
        """``X[:, idx]`` as a block: one pass over the entries for CSR, only the columns for CSC."""
        block = self._lines[:, np.asarray(idx, dtype=np.int64)]
        return SparseColumns(block.tocsc().astype(np.float64, copy=False))

    def rows(self, idx: IntArray) -> SparseDesign:
        """``X[idx]``, whose rows stay in their groups."""
        idx = np.asarray(idx, dtype=np.int64)
        return SparseDesign(self._lines[idx], self._groups.of_rows(idx))

    def scores(self, w: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] w``: for CSR one pass over the entries with a w that is zero elsewhere."""
        w, idx = np.asarray(w, dtype=np.float64), np.asarray(idx, dtype=np.int64)
        if not self._by_rows:
            return self.columns(idx).scores(w)
        full = np.zeros(self.n_columns)
        full[idx] = w
        return self._along_lines(full)

    def total(
        self,
        function: Callable[..., float],
        w: FloatArray,
        idx: IntArray,
        bias: float,
        *per_row: FloatArray,
    ) -> float:
        """``sum_i f(<w, x_i> + bias, t_i, ...)``, by the sums of the groups."""
        scores = self.scores(w, idx) + bias

        def of_group(first: int, last: int) -> float:
            part = slice(first, last)
            return float(function(scores[part], *(each[part] for each in per_row)))

        return float(self._over_groups(of_group, add_into) or 0.0)

    def filled(self, value: float) -> SparseColumns:
        """A block of one column that is ``value`` in every row."""
        n = self.n_samples
        column = (np.full(n, float(value)), np.arange(n), np.array([0, n]))
        return SparseColumns(sp.csc_array(column, shape=(n, 1)))

    def sum_of_squares(self) -> float:
        """``sum_ij x_ij^2``, over the stored entries."""
        return squared_sum(self._lines.data)

    def column_norms(self) -> FloatArray:
        """``sqrt(sum_i x_ij^2)`` over the stored entries, divided by a power of two."""
        if self._by_rows:
            found = self._over_groups(self._norms_across, np.hypot)
            return np.zeros(self.n_columns) if found is None else found
        largest = self.max_abs()
        if not np.isfinite(largest):
            return np.full(self.n_columns, np.nan)
        scale = power_below(largest)
        split = self._split or SplitColumns(self._lines, RowGroups.one(self.n_samples))
        return split.combined(lambda lines: _norms_along(lines, scale), np.hypot)

    def column_counts(self) -> FloatArray:
        """How many stored entries of every column are not 0."""
        lines = self._lines
        if self._by_rows:
            return entry_counts(lines.data, lines.indices, self.n_columns)
        counts = np.diff(lines.indptr).astype(np.float64)
        for start in range(0, lines.data.size, BLOCK_NUMBERS):
            zeros = start + np.flatnonzero(lines.data[start : start + BLOCK_NUMBERS] == 0)
            if zeros.size:
                columns = np.searchsorted(lines.indptr, zeros, side="right") - 1
                counts -= np.bincount(columns, minlength=self.n_columns)
        return counts

    def max_abs(self) -> float:
        """``max_ij |x_ij|``, over the stored entries; NaN if X holds NaN."""
        return largest_magnitude(self._lines.data)

    def _over_groups(
        self, of_group: Callable[[int, int], Any], combine: Callable[[Any, Any], Any]
    ) -> Any:
        """What is found for the rows of each group, combined; None where there is nothing."""
        found = (of_group(*map(int, each)) for each in itertools.pairwise(self._groups.starts))
        return pairwise(at_places(self._groups.numbers, found), combine)

    def _across(self, v: FloatArray, first: int, last: int) -> FloatArray | None:
        """The sum of some rows, each times its entry of v; None if these are 0."""
        if not np.any(v[first:last]):
            return None
        lines, out = lines_between(self._lines, first, last), RunningSum(self.n_columns)
        shape = last - first, self.n_columns
        add_lines(out, matrix_around(*lines, "csr", shape), v[first:last])
        return out.result()

    def _norms_across(self, first: int, last: int) -> FloatArray:
        lines = lines_between(self._lines, first, last)
        entries = [(lines.data, lines.indices)]
        return column_norms(entries, self.n_columns, largest_magnitude(lines.data))

    def _along_lines(self, x: FloatArray) -> FloatArray:
        """One number a line: the sum of its entries times x."""
        out = np.zeros(self._lines.indptr.size - 1)
        for part in self._runs():
            out[part] = _times(lines_between(self._lines, part.start, part.stop), x)
        return out

    def _runs(self) -> Iterator[slice]:
        """Lines whose entries are made float64 at a time: all of them, if they are that."""
        if self._lines.data.dtype == np.float64:
            return iter([slice(0, self._lines.indptr.size - 1)])
        return runs_of_lines(np.diff(self._lines.indptr), BLOCK_NUMBERS)

    @cached_property
    def _split(self) -> SplitColumns | None:
        """The columns of CSC, cut where groups of rows begin; None where there is one group."""
        if self._groups.numbers.size == 1 or not self._lines.has_sorted_indices:
            return None
        return SplitColumns(self._lines, self._groups)


def add_lines(total: RunningSum, rows: Any, x: FloatArray) -> None:
    """Add ``sum_i x_i row_i`` of a CSR array, over copies of few rows where other ``x_i`` are 0.

    Rows times 0 change no bit, so that this choice does not either.
    """
    lines = lines_between(rows, 0, rows.shape[0])
    chosen = np.flatnonzero(x)
    if chosen.size == x.size:
        total.add(lines, x)
        return
    lengths = np.diff(rows.indptr)[chosen]
    if lengths.sum() >= ACTIVE_SHARE * lines.data.size:
        total.add(lines, x)
        return
    for part in runs_of_lines(lengths, max(BLOCK_NUMBERS // 2, rows.shape[1])):
        few = rows[chosen[part]]
        total.add(Lines(few.data, few.indices, few.indptr), x[chosen[part]])


def _times(lines: Lines, x: FloatArray) -> FloatArray:
    """One number a line: the sum of its entries times x."""
    shape = lines.indptr.size - 1, x.size
    data = lines.data.astype(np.float64, copy=False)
    return matrix_around(data, lines.indices, lines.indptr, "csr", shape) @ x


def _norms_along(lines: Lines, scale: float) -> FloatArray:
    """The norm of each line, whose entries are divided by a power of two meanwhile."""
    squares = np.square(lines.data.astype(np.float64, copy=False) / scale)
    places = np.zeros_like(lines.indices)
    return scale * np.sqrt(_times(Lines(squares, places, lines.indptr), np.ones(1)))
