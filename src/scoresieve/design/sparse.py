"""A sparse X in CSR or CSC form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve.design._base import ACTIVE_SHARE, BLOCK_NUMBERS, Columns, Design, Entries
from scoresieve.design.dense import (
    DenseColumns,
    float64,
    largest_magnitude,
    squared_sum,
    weighted_gram,
)

#: The largest number that short indices hold.
SHORT = np.iinfo(np.int32).max
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
        """``X_S diag(f)``; zeros that arise stay stored."""
        block = self._block
        data = block.data[: block.indptr[-1]] * np.repeat(factors, np.diff(block.indptr))
        indices = block.indices[: block.indptr[-1]]
        return SparseColumns(matrix_around(data, indices, block.indptr, "csc", block.shape))

    def gram(self, d: FloatArray) -> FloatArray:
        """``X_S^T diag(d) X_S``; by a dense block where that is small and not mostly zeros.

        Columns without zeros, such as the constant one, would make every row a product of its own,
        so theirs are computed one by one.
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
        return SparseDesign(self._block)


class SparseDesign(Design):
    """A sparse ``X`` of any real type, used where it lies. It is never made dense.

    Conventions
    -----------
    * The arrays of X are shared, never changed and never handed out. Entries need not be sorted;
      repeated entries add up.
    * "Lines" are what the format stores together: rows in CSR, columns in CSC. Types other than
      float64 are converted a run of lines at a time.
    """

    def __init__(self, X: Any) -> None:
        if X.format not in ("csr", "csc"):
            raise ValueError(f"X must be in CSR or CSC format; got {X.format}. Use X.tocsr().")
        self.n_samples, self.n_columns = int(X.shape[0]), int(X.shape[1])
        self._by_rows = X.format == "csr"
        indices, indptr = same_index_type(X.indices, X.indptr)
        # The arrays may be longer than what indptr refers to.
        n_entries = int(indptr[-1])
        shape = X.shape if self._by_rows else X.shape[::-1]
        # X or its transpose, so that the lines are rows of a CSR array.
        self._lines = matrix_around(X.data[:n_entries], indices[:n_entries], indptr, "csr", shape)

    def correlate(self, v: FloatArray) -> FloatArray:
        """``X^T v``, for CSR over the rows with ``v_i != 0`` where these hold few entries."""
        v = np.asarray(v, dtype=np.float64)
        if not self._by_rows:
            return self._along_lines(v)
        rows = np.flatnonzero(v)
        if rows.size < v.size:
            lengths = np.diff(self._lines.indptr)[rows]
            if lengths.sum() < ACTIVE_SHARE * self._lines.data.size:
                runs = runs_of_lines(lengths, max(BLOCK_NUMBERS // 2, self.n_columns))
                found = (_across(self._lines[rows[run]], v[rows[run]]) for run in runs)
                return _added_up(found, self.n_columns)
        runs = self._runs(max(BLOCK_NUMBERS, self.n_columns))
        found = (_across(lines_between(self._lines, run), v[run]) for run in runs)
        return _added_up(found, self.n_columns)

    def columns(self, idx: IntArray) -> SparseColumns:
        """``X[:, idx]`` as a block: one pass over the entries for CSR, only the columns for CSC."""
        idx = np.asarray(idx, dtype=np.int64)
        block = self._lines[:, idx].tocsc() if self._by_rows else _transposed(self._lines[idx])
        return SparseColumns(block.astype(np.float64, copy=False))

    def rows(self, idx: IntArray) -> Design:
        """``X[idx]``."""
        idx = np.asarray(idx, dtype=np.int64)
        few = self._lines[idx] if self._by_rows else _transposed(self._lines[:, idx])
        return self._with_check(SparseDesign(few), idx)

    def scores(self, w: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] w``: for CSR one pass over the entries with a w that is zero elsewhere."""
        w, idx = np.asarray(w, dtype=np.float64), np.asarray(idx, dtype=np.int64)
        if not self._by_rows:
            return self.columns(idx).scores(w)
        full = np.zeros(self.n_columns)
        full[idx] = w
        return self._along_lines(full)

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
        largest = self.max_abs()
        if not np.isfinite(largest):
            return np.full(self.n_columns, np.nan)
        scale = power_below(largest)
        return scale * np.sqrt(self._summed(lambda data: np.square(float64(data) / scale)))

    def column_counts(self) -> FloatArray:
        """How many stored entries of every column are not 0."""
        if not self._by_rows and np.all(self._lines.data):
            return np.diff(self._lines.indptr).astype(np.float64)
        return self._summed(lambda data: (data != 0).astype(np.float64))

    def max_abs(self) -> float:
        """``max_ij |x_ij|``, over the stored entries; NaN if X holds NaN."""
        return largest_magnitude(self._lines.data)

    def _along_lines(self, x: FloatArray) -> FloatArray:
        """One number a line: the sum of its entries times x."""
        out = np.zeros(self._lines.shape[0])
        for run in self._runs(BLOCK_NUMBERS):
            out[run] = _along(lines_between(self._lines, run), x)
        return out

    def _summed(self, function: Callable[[Array], FloatArray]) -> FloatArray:
        """``sum_i f(x_ij)`` of every column over its stored entries, some at a time.

        As a product with 1, which is several times as fast as ``numpy.bincount``.
        """
        lines, one = self._lines, np.ones(1)
        if self._by_rows:
            step = max(BLOCK_NUMBERS // 4, self.n_columns)
            parts = (slice(at, at + step) for at in range(0, lines.data.size, step))
            rows = ((function(lines.data[part]), lines.indices[part]) for part in parts)
            found = (_across(_row_around(*row, self.n_columns), one) for row in rows)
            return _added_up(found, self.n_columns)
        out = np.zeros(self.n_columns)
        for run in runs_of_lines(np.diff(lines.indptr), BLOCK_NUMBERS // 4):
            part = lines_between(lines, run)
            values = function(part.data), np.zeros_like(part.indices), part.indptr
            out[run] = _along(matrix_around(*values, "csr", (part.shape[0], 1)), one)
        return out

    def _runs(self, n_entries: int) -> Iterator[slice]:
        """Lines whose entries are made float64 at a time: all of them, if they are that."""
        if self._lines.data.dtype == np.float64:
            return iter([slice(0, self._lines.shape[0])])
        return runs_of_lines(np.diff(self._lines.indptr), n_entries)


def matrix_around(data: Array, indices: Array, indptr: Array, form: str, shape: Any) -> Any:
    """A CSR or CSC array around the three arrays; scipy's own constructor copies int64 indices."""
    matrix = sp.csr_array(shape) if form == "csr" else sp.csc_array(shape)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def lines_between(lines: Any, run: slice) -> Any:
    """Some rows of a CSR array around the same memory."""
    indptr = lines.indptr[run.start : run.stop + 1]
    here = slice(int(indptr[0]), int(indptr[-1]))
    indptr = indptr - indptr[0] if here.start else indptr
    shape = run.stop - run.start, lines.shape[1]
    return matrix_around(lines.data[here], lines.indices[here], indptr, "csr", shape)


def _row_around(data: Array, indices: Array, n_columns: int) -> Any:
    """A CSR array of one row with these entries."""
    ends = np.array([0, data.size], dtype=indices.dtype)
    return matrix_around(data, indices, ends, "csr", (1, n_columns))


def _along(lines: Any, x: FloatArray) -> FloatArray:
    """``<line_l, x>`` for each row of a CSR array."""
    parts = float64(lines.data), lines.indices, lines.indptr
    return matrix_around(*parts, "csr", lines.shape) @ x


def _across(lines: Any, x: FloatArray) -> FloatArray:
    """``sum_l x_l line_l`` of the rows of a CSR array."""
    transposed = _transposed(lines)
    transposed.data = float64(lines.data)
    return transposed @ x


def _transposed(lines: Any) -> Any:
    """A CSR array as the CSC array of its transpose, around the same memory."""
    return matrix_around(lines.data, lines.indices, lines.indptr, "csc", lines.shape[::-1])


def _added_up(parts: Iterator[FloatArray], size: int) -> FloatArray:
    """The sum of new vectors in their order, in the memory of the first."""
    total = next(parts, None)
    if total is None:
        return np.zeros(size)
    for part in parts:
        total += part
    return total


def same_index_type(indices: Array, indptr: Array) -> tuple[Array, Array]:
    """Both index arrays in one type, since scipy would convert one of them in every product."""
    if indices.dtype == indptr.dtype:
        return indices, indptr
    if indptr[-1] <= np.iinfo(indices.dtype).max:
        return indices, indptr.astype(indices.dtype)
    return indices.astype(indptr.dtype), indptr


def runs_of_lines(lengths: Array, n_entries: int) -> Iterator[slice]:
    """Slices of consecutive lines with about ``n_entries`` entries together, at least one line."""
    ends = np.cumsum(lengths, dtype=np.int64)
    start, done = 0, 0
    while start < ends.size:
        stop = max(start + 1, int(np.searchsorted(ends, done + n_entries, side="right")))
        yield slice(start, stop)
        start, done = stop, int(ends[stop - 1])


def power_below(number: float) -> float:
    """The largest power of two that is not above a number; 1 for 0."""
    return float(np.ldexp(1.0, int(np.frexp(number)[1]) - 1)) if number else 1.0
