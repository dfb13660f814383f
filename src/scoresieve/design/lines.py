"""Lines of a sparse matrix, the rows of CSR or the columns of CSC, and the sum of many of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array, FloatArray
from scoresieve.design._base import BLOCK_NUMBERS

#: The largest number that short indices hold.
SHORT = np.iinfo(np.int32).max


class Lines(NamedTuple):
    """Entries of some lines, where they stand in their line, and where each line begins."""

    data: Array
    indices: Array
    indptr: Array


def matrix_around(data: Array, indices: Array, indptr: Array, form: str, shape: Any) -> Any:
    """A CSR or CSC array around the three arrays; scipy's own constructor copies int64 indices."""
    matrix = sp.csr_array(shape) if form == "csr" else sp.csc_array(shape)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def lines_between(matrix: Any, first: int, last: int) -> Lines:
    """The lines ``first .. last - 1`` of a CSR or CSC array; entries are not copied."""
    indptr = matrix.indptr[first : last + 1]
    start, stop = int(indptr[0]), int(indptr[-1])
    return Lines(
        matrix.data[start:stop], matrix.indices[start:stop], indptr - start if start else indptr
    )


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


class RunningSum:
    """``sum_l x_l line_l`` of lines that come in pieces, added line by line in their order.

    Wherever the pieces end, each number of the sum is ``((0 + a_1) + a_2) + ...``: the bits are
    those of one product with all lines. scipy's product begins at 0, so that the sum so far takes
    part in the next one as a line of its own, and the entries are copied behind it, some at a time.

    Parameters
    ----------
    n_out : int
        Length of a line.
    """

    def __init__(self, n_out: int) -> None:
        self._n_out = n_out
        # So few that copies of them stay in the cache, but not fewer than numbers of the sum.
        self._room = max(BLOCK_NUMBERS // 4, n_out, 1)
        self._first: tuple[Lines, FloatArray] | None = None
        self._total: FloatArray | None = None
        self._buffer: _Buffer | None = None

    def add(self, lines: Lines, x: FloatArray) -> None:
        """Take further lines, and what each of them is multiplied by."""
        if self._first is None and self._buffer is None:
            self._first = lines, x
            return
        self._start_buffer()
        self._take(lines, x)

    def result(self) -> FloatArray:
        """The sum of all lines so far."""
        if self._first is not None:
            lines, x = self._first
            if lines.data.size <= _n_direct(lines):
                return _product(lines, x, self._n_out)
            self._start_buffer()
        self._flush()
        return np.zeros(self._n_out) if self._total is None else self._total

    def _start_buffer(self) -> None:
        """Begin with what came first: in one go where it has many entries, else in the buffer."""
        n_done = 0
        if self._first is not None and self._first[0].data.size >= self._room:
            lines, x = self._first
            n_done = min(lines.data.size, _n_direct(lines))
            self._total = _product(*entries_between(lines, x, 0, n_done), self._n_out)
        if self._buffer is None:
            self._buffer = _Buffer(self._n_out, self._room)
        if self._first is not None:
            self._take(*self._first, n_done)
            self._first = None

    def _take(self, lines: Lines, x: FloatArray, start: int = 0) -> None:
        """Copy the entries from this one on into the buffer, and multiply whenever it is full."""
        assert self._buffer is not None
        while start < lines.data.size:
            stop = min(lines.data.size, start + self._buffer.n_free)
            self._buffer.copy(lines, x, start, stop)
            if not self._buffer.n_free:
                self._flush()
            start = stop

    def _flush(self) -> None:
        if self._buffer is not None and self._buffer.n_taken:
            self._total = self._buffer.product(self._total)


class _Buffer:
    """Entries of some lines behind a line that is the sum so far."""

    def __init__(self, n_out: int, room: int) -> None:
        size = n_out + room
        self._n_out, self._room = n_out, room
        index = np.int32 if size <= SHORT else np.int64
        self._data, self._indices = np.empty(size), np.empty(size, dtype=index)
        self._indices[:n_out] = np.arange(n_out, dtype=index)
        self._start_anew()

    def _start_anew(self) -> None:
        self._ends: list[Array] = []
        self._x: list[FloatArray] = []
        self.n_taken = 0

    @property
    def n_free(self) -> int:
        return self._room - self.n_taken

    def copy(self, lines: Lines, x: FloatArray, start: int, stop: int) -> None:
        """Take the entries ``start .. stop - 1``, which may begin and end inside of a line."""
        part, x = entries_between(lines, x, start, stop)
        at = self._n_out + self.n_taken
        here = slice(at, at + stop - start)
        self._data[here], self._indices[here] = part.data, part.indices
        self._ends.append(part.indptr[1:].astype(np.int64) + at)
        self._x.append(x)
        self.n_taken += stop - start

    def product(self, total: FloatArray | None) -> FloatArray:
        """The sum so far and all lines that were taken, which are forgotten."""
        first = self._n_out if total is None else 0
        starts: list[Any] = [[0], [self._n_out]] if total is not None else [[self._n_out]]
        x = self._x
        if total is not None:
            self._data[: self._n_out] = total
            x = [np.ones(1), *x]
        indptr = np.concatenate([*starts, *self._ends]) - first
        end = self._n_out + self.n_taken
        lines = Lines(
            self._data[first:end],
            self._indices[first:end],
            indptr.astype(self._indices.dtype),
        )
        found = _product(lines, np.concatenate(x), self._n_out)
        self._start_anew()
        return found


def _n_direct(lines: Lines) -> int:
    """So many entries are multiplied in one go: all of them, or what is converted at a time."""
    return lines.data.size if lines.data.dtype == np.float64 else 2 * BLOCK_NUMBERS


def entries_between(lines: Lines, x: FloatArray, start: int, stop: int) -> tuple[Lines, FloatArray]:
    """The entries ``start .. stop - 1``, which may begin and end inside of a line, and their x."""
    # In their own type, since indptr would be converted to that of another one.
    cuts = np.array([start, stop], dtype=lines.indptr.dtype)
    first = int(np.searchsorted(lines.indptr, cuts[0], side="right")) - 1
    last = int(np.searchsorted(lines.indptr, cuts[1], side="left"))
    indptr = np.clip(lines.indptr[first : last + 1], *cuts) - cuts[0]
    return Lines(lines.data[start:stop], lines.indices[start:stop], indptr), x[first:last]


def _product(lines: Lines, x: FloatArray, n_out: int) -> FloatArray:
    """``sum_l x_l line_l``, of shape (n_out,), in one go."""
    data = lines.data.astype(np.float64, copy=False)
    shape = n_out, lines.indptr.size - 1
    return matrix_around(data, lines.indices, lines.indptr, "csc", shape) @ x


def column_norms(
    entries: Iterable[tuple[Array, Array]], n_columns: int, largest: float
) -> FloatArray:
    """``sqrt(sum_k x_k^2)`` of the entries of each column, added in the order in which they come.

    They are divided by a power of two, so that nothing overflows and no bit depends on it.

    Parameters
    ----------
    entries : iterable of (data, indices)
    largest : float
        ``max_k |x_k|``; the norms are NaN if that is not finite.
    """
    if not np.isfinite(largest):
        return np.full(n_columns, np.nan)
    scale, total = power_below(largest), RunningSum(n_columns)
    at_once = max(1, BLOCK_NUMBERS // 4)
    for data, indices in entries:
        for start in range(0, data.size, at_once):
            part = slice(start, start + at_once)
            squares = np.square(data[part].astype(np.float64, copy=False) / scale)
            ends = np.array([0, squares.size], dtype=indices.dtype)
            total.add(Lines(squares, indices[part], ends), np.ones(1))
    return scale * np.sqrt(total.result())


def entry_counts(data: Array, indices: Array, n_columns: int) -> FloatArray:
    """How many entries of each column are not 0, a run of them at a time."""
    counts = np.zeros(n_columns)
    for start in range(0, data.size, BLOCK_NUMBERS):
        here = slice(start, start + BLOCK_NUMBERS)
        counts += np.bincount(indices[here][data[here] != 0], minlength=n_columns)
    return counts


def power_below(number: float) -> float:
    """The largest power of two that is not above a number; 1 for 0."""
    return float(np.ldexp(1.0, int(np.frexp(number)[1]) - 1)) if number else 1.0
