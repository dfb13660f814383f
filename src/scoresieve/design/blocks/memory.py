"""``max_memory``: what may be held in memory beside the blocks, and the columns that are."""

from __future__ import annotations

import itertools
import numbers
import weakref
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design._base import Columns
from scoresieve.design.dense import DenseColumns
from scoresieve.design.sparse import SHORT, SparseColumns, matrix_around

#: What every fit needs, about: vectors of n and of m numbers, and buffers whose size is fixed.
N_ROW_VECTORS, N_COLUMN_VECTORS, BUFFERS = 12, 9, 2**25
#: Labels, prices and values of flips that each further class has.
ROW_VECTORS_OF_CLASS = 4
#: How often columns in memory count: they are copied when they are joined with others, and solvers
#: also keep some of them by rows.
COPIES = 3
#: Bytes of rows that are copied for many passes over them, where the user has set no limit, and the
#: share of the limit that they may take else.
SMALL_COPY, SHARE = 2**28, 0.25
#: What the pass over one block holds: vectors of m numbers, and bytes of its rows in float64.
VECTORS_PER_BLOCK, BUFFER_PER_BLOCK = 5, 2**24
#: A stored entry of a sparse column, its number and its row; and one of a dense column.
SPARSE_ENTRY, DENSE_ENTRY = 12, 8


class MemoryLimit:
    """Checks that memory stays under ``max_memory`` bytes; None allows everything.

    Conventions
    -----------
    Columns that were fetched are counted as long as somebody holds them.

    Parameters
    ----------
    max_memory : int or None
    """

    def __init__(self, max_memory: int | None = None) -> None:
        wrong = not isinstance(max_memory, numbers.Integral) or isinstance(max_memory, bool)
        if max_memory is not None and (wrong or max_memory < 1):
            raise ValueError(
                f"max_memory must be a positive number of bytes or None; got {max_memory!r}. "
                "2 GiB is 2 * 2**30."
            )
        self.max_memory = max_memory
        self._held: dict[int, int] = {}
        self._tickets = itertools.count()

    def __reduce__(self) -> tuple[Any, ...]:
        return MemoryLimit, (self.max_memory,)

    def hold(self, owner: Any, n_bytes: int) -> None:
        """Count the bytes of an object for as long as it lives."""
        ticket = next(self._tickets)
        self._held[ticket] = n_bytes
        weakref.finalize(owner, self._held.pop, ticket, None)

    @property
    def held(self) -> int:
        """Bytes of columns that are in use."""
        return sum(list(self._held.values()))

    def check_shape(self, shape: tuple[int, int], n_problems: int = 1) -> None:
        """Refuse data whose vectors alone do not fit.

        Parameters
        ----------
        n_problems : int
            Classes that are fitted against the rest, each with vectors of its own.
        """
        classes = "" if n_problems == 1 else f" and {n_problems} classes"
        n_vectors = N_ROW_VECTORS + ROW_VECTORS_OF_CLASS * (n_problems - 1)
        self._refuse(
            _needed_by_every_fit(shape, n_problems),
            f"a fit on {shape[0]} rows and {shape[1]} columns{classes} needs {n_vectors} numbers "
            f"per row, {N_COLUMN_VECTORS} per column, and {in_words(BUFFERS)} of buffers:",
            "Raise it.",
        )

    def check_room(self, n_bytes: float, what: str, shape: tuple[int, int]) -> None:
        """Refuse the memory that a solver asks for if it does not fit beside the columns in use."""
        self._refuse(
            _needed_by_every_fit(shape) + COPIES * self.held + n_bytes,
            f"{what} need {in_words(n_bytes)} of memory, beside {in_words(self.held)} of columns "
            "in use. With copies of these columns and the base needs of a fit that is",
            "Raise it, or end the fit earlier with a larger tol.",
        )

    def check_columns(self, n_bytes: float, n_columns: int, shape: tuple[int, int]) -> None:
        """Refuse columns that do not fit beside those in use."""
        self._refuse(
            _needed_by_every_fit(shape) + COPIES * (self.held + n_bytes),
            f"{n_columns} columns of X need {in_words(n_bytes)} of memory, beside "
            f"{in_words(self.held)} of columns in use. With copies of both and the base needs of a "
            "fit that is",
            "Raise it, or ask for fewer features.",
        )

    def has_room(self, n_bytes: float, shape: tuple[int, int]) -> bool:
        """Whether this much fits beside the columns in use."""
        needed = _needed_by_every_fit(shape) + COPIES * self.held + n_bytes
        return self.max_memory is None or needed <= self.max_memory

    def n_at_once(self, n_wanted: int, n_columns: int) -> int:
        """How many blocks may be multiplied at a time: as many as wanted, if their sums fit."""
        if self.max_memory is None:
            return n_wanted
        each = BUFFER_PER_BLOCK + 8 * VECTORS_PER_BLOCK * n_columns
        return max(1, min(n_wanted, int(SHARE * self.max_memory / each)))

    def may_copy(self, n_bytes: float) -> bool:
        """Whether rows of this size may be copied into memory."""
        limit = SMALL_COPY if self.max_memory is None else SHARE * self.max_memory
        return n_bytes <= min(SMALL_COPY, limit)

    def _refuse(self, n_bytes: float, what: str, advice: str) -> None:
        limit = self.max_memory
        if limit is not None and n_bytes > limit:
            raise MemoryError(
                f"{what} about {in_words(n_bytes)}, more than max_memory={limit}. {advice}"
            )


def _needed_by_every_fit(shape: tuple[int, int], n_problems: int = 1) -> int:
    n_vectors = N_ROW_VECTORS + ROW_VECTORS_OF_CLASS * (n_problems - 1)
    return BUFFERS + 8 * (n_vectors * shape[0] + N_COLUMN_VECTORS * shape[1])


def in_words(n_bytes: Any) -> str:
    """A number of bytes as people write it.

    Examples
    --------
    >>> in_words(3 * 2**29)
    '1.5 GiB'
    """
    size, unit = float(n_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.3g} {unit}"


class HeldSparseColumns(SparseColumns):
    """``X_S`` in CSC form, counted; and so is what is made of it."""

    def __init__(self, block: sp.csc_array, memory: MemoryLimit) -> None:
        super().__init__(block)
        self._memory = memory
        memory.hold(self, block.data.nbytes + block.indices.nbytes + block.indptr.nbytes)

    def append(self, other: Columns) -> HeldSparseColumns:
        """The block with the columns of ``other`` to the right."""
        return HeldSparseColumns(super().append(other)._block, self._memory)

    def take(self, places: IntArray) -> HeldSparseColumns:
        """The columns at these places."""
        return HeldSparseColumns(super().take(places)._block, self._memory)

    def scaled(self, factors: FloatArray) -> HeldSparseColumns:
        """``X_S diag(f)``."""
        return HeldSparseColumns(super().scaled(factors)._block, self._memory)


class HeldDenseColumns(DenseColumns):
    """``X_S`` as an array, counted; and so is what is made of it."""

    def __init__(self, transposed: FloatArray, memory: MemoryLimit) -> None:
        super().__init__(transposed)
        self._memory = memory
        memory.hold(self, transposed.nbytes)

    def append(self, other: Columns) -> HeldDenseColumns:
        """The block with the columns of ``other`` to the right."""
        return HeldDenseColumns(super().append(other)._transposed, self._memory)

    def take(self, places: IntArray) -> HeldDenseColumns:
        """The columns at these places."""
        return HeldDenseColumns(super().take(places)._transposed, self._memory)

    def scaled(self, factors: FloatArray) -> HeldDenseColumns:
        """``X_S diag(f)``."""
        return HeldDenseColumns(super().scaled(factors)._transposed, self._memory)


def held_columns(found: Any, memory: MemoryLimit) -> Columns:
    """A sparse or dense array of shape (n_samples, n_columns) as a block that is counted."""
    if sp.issparse(found):
        return HeldSparseColumns(found.tocsc(), memory)
    return HeldDenseColumns(found.T, memory)


class GatheredColumns:
    """``X_S`` in CSC form, of which every block of rows fills its places.

    Parameters
    ----------
    counts : ndarray of shape (n_columns,)
        Entries of each column in all blocks together.
    n_rows : int
    """

    def __init__(self, counts: FloatArray, n_rows: int) -> None:
        starts = np.append(0, np.cumsum(counts, dtype=np.int64))
        index = np.int32 if max(n_rows, int(starts[-1])) <= SHORT else np.int64
        self._starts, self._n_rows = starts.astype(index), n_rows
        self._data, self._rows = np.empty(starts[-1]), np.empty(starts[-1], dtype=index)
        self._next = starts[:-1].copy()

    def add(self, piece: sp.csc_array, places: slice | IntArray) -> None:
        """Put the entries of a block of rows where they belong.

        Parameters
        ----------
        piece : CSC array of shape (n_rows of the block, n_columns)
        places : slice or ndarray of int
            Where its rows stand in X.
        """
        lengths = np.diff(piece.indptr)
        at = np.repeat(self._next - piece.indptr[:-1], lengths)
        at += np.arange(at.size)
        self._data[at] = piece.data
        if isinstance(places, slice):
            self._rows[at] = piece.indices
            self._rows[at] += places.start
        else:
            self._rows[at] = places[piece.indices]
        self._next += lengths

    def matrix(self, *, is_in_order: bool) -> Any:
        """The columns, whose rows are sorted here if the blocks came in another order."""
        shape = self._n_rows, self._next.size
        found = matrix_around(self._data, self._rows, self._starts, "csc", shape)
        if not is_in_order:
            found.sort_indices()
        return found
