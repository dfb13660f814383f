"""A dense X in memory or on a memory map."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve.design._base import ACTIVE_SHARE, BLOCK_NUMBERS, Columns, Design, Entries


class DenseColumns(Columns):
    """``X_S`` as a float64 array.

    Conventions
    -----------
    ``transposed`` holds one column of X in each row, so that appending is one copy of memory.
    """

    def __init__(self, transposed: FloatArray) -> None:
        self._transposed, self.n_columns = transposed, transposed.shape[0]

    def scores(self, w: FloatArray) -> FloatArray:
        """``X_S w``."""
        return np.asarray(w, dtype=np.float64) @ self._transposed

    def correlate(self, V: FloatArray) -> FloatArray:
        """``X_S^T V``."""
        return self._transposed @ np.asarray(V, dtype=np.float64)

    def append(self, other: Columns) -> DenseColumns:
        """The block with the columns of ``other`` to the right."""
        assert isinstance(other, DenseColumns)
        return DenseColumns(np.concatenate([self._transposed, other._transposed]))

    def take(self, places: IntArray) -> DenseColumns:
        """The columns at these places."""
        return DenseColumns(self._transposed[places])

    def scaled(self, factors: FloatArray) -> DenseColumns:
        """``X_S diag(f)``."""
        return DenseColumns(self._transposed * factors[:, np.newaxis])

    def gram(self, d: FloatArray) -> FloatArray:
        """``X_S^T diag(d) X_S``, over the rows with ``d_i != 0``."""
        return weighted_gram(self._transposed, d)

    def entries(self) -> Entries:
        """The numbers that are not 0."""
        columns, rows = np.nonzero(self._transposed)
        starts = np.searchsorted(columns, np.arange(self.n_columns + 1))
        return Entries(starts, rows, self._transposed[columns, rows])

    def only_rows(self, rows: IntArray) -> DenseColumns:
        """The rows alone."""
        return DenseColumns(self._transposed[:, rows])

    def as_design(self) -> DenseDesign:
        """The block as a design of its own; nothing is copied."""
        return DenseDesign(self._transposed.T)


class DenseDesign(Design):
    """A dense ``X`` of any real type and memory order, used where it lies.

    Conventions
    -----------
    Native float64 in row or column order goes to BLAS as it is. Everything else (float32, integers,
    foreign byte order, odd strides) is converted a block of rows or columns at a time, along the
    order of memory.
    """

    def __init__(self, X: Array) -> None:
        self._X = np.asarray(X)
        self._by_rows = abs(X.strides[0]) >= abs(X.strides[1])
        self._direct = _is_blas_ready(self._X)
        self.n_samples, self.n_columns = self._X.shape

    def correlate(self, v: FloatArray) -> FloatArray:
        """``X^T v``, over the rows with ``v_i != 0`` where these are few."""
        v = np.asarray(v, dtype=np.float64)
        rows = np.flatnonzero(v) if self._by_rows else None
        if rows is not None and rows.size < ACTIVE_SHARE * self.n_samples:
            out = np.zeros(self.n_columns)
            for part in _slices(rows.size, self.n_columns):
                out += float64(self._X[rows[part]]).T @ v[rows[part]]
            return out
        if self._direct:
            return self._X.T @ v
        out = np.zeros(self.n_columns)
        if self._by_rows:
            for part in _slices(self.n_samples, self.n_columns):
                out += float64(self._X[part]).T @ v[part]
        else:
            for part in _slices(self.n_columns, self.n_samples):
                out[part] = float64(self._X[:, part]).T @ v
        return out

    def columns(self, idx: IntArray) -> DenseColumns:
        """``X[:, idx]`` as a block in float64."""
        idx = np.asarray(idx, dtype=np.int64)
        out = np.empty((idx.size, self.n_samples))
        if self._by_rows:
            for part in _slices(self.n_samples, idx.size):
                out[:, part] = _take_columns(self._X[part], idx).T
        else:
            for part in _slices(idx.size, self.n_samples):
                out[part] = self._X.T[idx[part]]
        return DenseColumns(out)

    def rows(self, idx: IntArray) -> Design:
        """``X[idx]``."""
        idx = np.asarray(idx, dtype=np.int64)
        return self._with_check(DenseDesign(self._X[idx]), idx)

    def scores(self, w: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] w``, by blocks: the columns are never all copied."""
        w, idx = np.asarray(w, dtype=np.float64), np.asarray(idx, dtype=np.int64)
        out = np.zeros(self.n_samples)
        if self._by_rows:
            for part in _slices(self.n_samples, idx.size):
                out[part] = float64(_take_columns(self._X[part], idx)) @ w
        else:
            for part in _slices(idx.size, self.n_samples):
                out += w[part] @ float64(self._X.T[idx[part]])
        return out

    def filled(self, value: float) -> DenseColumns:
        """A block of one column that is ``value`` in every row."""
        return DenseColumns(np.full((1, self.n_samples), float(value)))

    def sum_of_squares(self) -> float:
        """``sum_ij x_ij^2``."""
        return sum(squared_sum(block) for block in self._contiguous_blocks())

    def column_norms(self) -> FloatArray:
        """``sqrt(sum_i x_ij^2)``, of numbers divided by the largest one."""
        largest = self.max_abs() or 1.0
        if not np.isfinite(largest):
            return np.full(self.n_columns, np.nan)
        total = np.zeros(self.n_columns)
        if self._by_rows:
            for part in _slices(self.n_samples, self.n_columns):
                total += np.sum(np.square(float64(self._X[part]) / largest), axis=0)
        else:
            for part in _slices(self.n_columns, self.n_samples):
                total[part] = np.sum(np.square(float64(self._X[:, part]) / largest), axis=0)
        return largest * np.sqrt(total)

    def column_counts(self) -> FloatArray:
        """How many numbers of every column are not 0."""
        total = np.zeros(self.n_columns)
        if self._by_rows:
            for part in _slices(self.n_samples, self.n_columns):
                total += np.count_nonzero(self._X[part], axis=0)
        else:
            for part in _slices(self.n_columns, self.n_samples):
                total[part] = np.count_nonzero(self._X[:, part], axis=0)
        return total

    def max_abs(self) -> float:
        """``max_ij |x_ij|``; NaN if X holds NaN."""
        return float(np.max([largest_magnitude(b) for b in self._contiguous_blocks()], initial=0.0))

    def _contiguous_blocks(self) -> Iterator[Array]:
        """Blocks that cover X once, each contiguous; views wherever X itself is contiguous."""
        X = self._X if self._by_rows else self._X.T
        for part in _slices(*X.shape):
            yield np.ascontiguousarray(X[part])


def _slices(n_lines: int, length: int) -> Iterator[slice]:
    """Slices that cover ``n_lines`` lines of ``length`` numbers, one block's worth at a time."""
    step = max(1, BLOCK_NUMBERS // max(1, length))
    for start in range(0, n_lines, step):
        yield slice(start, min(start + step, n_lines))


def float64(block: Array) -> FloatArray:
    """The numbers in float64; the array itself if they are."""
    return block.astype(np.float64, copy=False)


def _take_columns(block: Array, idx: IntArray) -> Array:
    """``block[:, idx]``. ``take`` is faster, but first copies a block that is not contiguous."""
    if block.flags.c_contiguous and block.flags.aligned and block.dtype.isnative:
        return block.take(idx, axis=1)
    return block[:, idx]


def _is_blas_ready(X: Array) -> bool:
    """Whether BLAS can read X in place: native aligned float64, with one stride of one number."""
    if X.dtype != np.float64 or not X.flags.aligned:
        return False
    (n_samples, n_columns), (down, right) = X.shape, X.strides
    size = X.itemsize
    by_rows = right == size and down >= size * n_columns
    by_columns = down == size and right >= size * n_samples
    return (by_rows or by_columns) and down % size == 0 and right % size == 0


def weighted_gram(transposed: FloatArray, d: FloatArray) -> FloatArray:
    """``X^T diag(d) X`` of X given as its transpose, over the rows with ``d_i != 0``, by blocks."""
    rows = np.flatnonzero(d)
    out = np.zeros((transposed.shape[0], transposed.shape[0]))
    for part in _slices(rows.size, transposed.shape[0]):
        chosen = rows[part]
        weighted = transposed.take(chosen, axis=1)
        weighted *= np.sqrt(d[chosen])
        out += weighted @ weighted.T
    return out


def squared_sum(numbers: Array) -> float:
    """``sum_k x_k^2`` of a contiguous array, converted to float64 by blocks."""
    total, flat = 0.0, numbers.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, flat.size, BLOCK_NUMBERS):
            block = float64(flat[start : start + BLOCK_NUMBERS])
            total += float(block @ block)
    return total


def largest_magnitude(numbers: Array) -> float:
    """``max_k |x_k|`` without an array of absolute values; NaN if there is one, 0 if empty."""
    if numbers.size == 0:
        return 0.0
    return float(np.maximum(float(numbers.max()), -float(numbers.min())))
