"""A sparse X in CSR or CSC form."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve.design._base import ACTIVE_SHARE, BLOCK_NUMBERS, Columns, Design
from scoresieve.design.dense import DenseColumns, largest_magnitude, squared_sum, weighted_gram

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
      float64 are converted a run of entries at a time.
    """

    def __init__(self, X: Any) -> None:
        if X.format not in ("csr", "csc"):
            raise ValueError(f"X must be in CSR or CSC format; got {X.format}. Use X.tocsr().")
        self.n_samples, self.n_columns = int(X.shape[0]), int(X.shape[1])
        self._by_rows = X.format == "csr"
        indices, indptr = _same_index_type(X.indices, X.indptr)
        # The arrays may be longer than what indptr refers to.
        n_entries = int(indptr[-1])
        self._lines = matrix_around(
            X.data[:n_entries], indices[:n_entries], indptr, X.format, X.shape
        )

    def correlate(self, v: FloatArray) -> FloatArray:
        """``X^T v``, for CSR over the rows with ``v_i != 0`` where these hold few entries."""
        v = np.asarray(v, dtype=np.float64)
        if not self._by_rows:
            return self._along_lines(v)
        rows = np.flatnonzero(v)
        lengths = np.diff(self._lines.indptr)[rows]
        if lengths.sum() >= ACTIVE_SHARE * self._lines.data.size:
            return self._across_lines(v)
        out = None
        for part in runs_of_lines(lengths, max(BLOCK_NUMBERS, self.n_columns)):
            chosen = self._lines[rows[part]]
            piece = chosen.data, chosen.indices, chosen.indptr
            out = _add_across(out, *piece, self.n_columns, v[rows[part]])
        return np.zeros(self.n_columns) if out is None else out

    def columns(self, idx: IntArray) -> SparseColumns:
        """``X[:, idx]`` as a block: one pass over the entries for CSR, only the columns for CSC."""
        block = self._lines[:, np.asarray(idx, dtype=np.int64)]
        return SparseColumns(block.tocsc().astype(np.float64, copy=False))

    def rows(self, idx: IntArray) -> SparseDesign:
        """``X[idx]``."""
        return SparseDesign(self._lines[np.asarray(idx, dtype=np.int64)])

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
        """``sqrt(sum_i x_ij^2)`` over the stored entries, divided by the largest one."""
        largest = self.max_abs() or 1.0
        total = np.zeros(self.n_columns)
        for lines, data, indices, indptr in self._pieces(max(BLOCK_NUMBERS, self.n_columns)):
            squares = np.square(data / largest)
            if self._by_rows:
                total += np.bincount(indices, weights=squares, minlength=self.n_columns)
            else:
                shape = (indptr.size - 1, self.n_samples)
                total[lines] += matrix_around(squares, indices, indptr, "csr", shape).sum(axis=1)
        return largest * np.sqrt(total)

    def max_abs(self) -> float:
        """``max_ij |x_ij|``, over the stored entries; NaN if X holds NaN."""
        return largest_magnitude(self._lines.data)

    def _along_lines(self, x: FloatArray) -> FloatArray:
        """One number a line: the sum of its entries times x."""
        out = np.zeros(self._lines.indptr.size - 1)
        for lines, data, indices, indptr in self._pieces(BLOCK_NUMBERS):
            shape = (indptr.size - 1, x.size)
            out[lines] += matrix_around(data, indices, indptr, "csr", shape) @ x
        return out

    def _across_lines(self, x: FloatArray) -> FloatArray:
        """The sum of the lines, each times its entry of x."""
        out = None
        for lines, data, indices, indptr in self._pieces(max(BLOCK_NUMBERS, self.n_columns)):
            out = _add_across(out, data, indices, indptr, self.n_columns, x[lines])
        return np.zeros(self.n_columns) if out is None else out

    def _pieces(self, n_entries: int) -> Iterator[tuple[slice, FloatArray, Array, Array]]:
        """Runs of entries in float64 with their lines; all of X at once if it is float64."""
        data, indices, indptr = self._lines.data, self._lines.indices, self._lines.indptr
        if data.dtype == np.float64:
            yield slice(0, indptr.size - 1), data, indices, indptr
            return
        for start in range(0, data.size, n_entries):
            stop = min(start + n_entries, data.size)
            first = int(np.searchsorted(indptr, start, side="right")) - 1
            last = int(np.searchsorted(indptr, stop, side="left"))
            local = np.clip(indptr[first : last + 1], start, stop) - start
            block = data[start:stop].astype(np.float64)
            yield slice(first, last), block, indices[start:stop], local.astype(indices.dtype)


def matrix_around(data: Array, indices: Array, indptr: Array, form: str, shape: Any) -> Any:
    """A CSR or CSC array around the three arrays; scipy's own constructor copies int64 indices."""
    matrix = sp.csr_array(shape) if form == "csr" else sp.csc_array(shape)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def _add_across(
    out: FloatArray | None,
    data: Array,
    indices: Array,
    indptr: Array,
    n_out: int,
    x: FloatArray,
) -> FloatArray:
    """``out + sum_l x_l * line_l``, of shape (n_out,); without ``out`` nothing is added to."""
    data = data.astype(np.float64, copy=False)
    total = matrix_around(data, indices, indptr, "csc", (n_out, indptr.size - 1)) @ x
    if out is not None:
        total += out
    return total


def _same_index_type(indices: Array, indptr: Array) -> tuple[Array, Array]:
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
