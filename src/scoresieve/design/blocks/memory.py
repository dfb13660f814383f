"""``max_memory``: what may be held in memory at once beside the blocks themselves."""

from __future__ import annotations

import itertools
import numbers
import weakref
from typing import Any

#: What every fit needs, about: vectors of n and of m numbers, and buffers whose size is fixed.
N_ROW_VECTORS, N_COLUMN_VECTORS, BUFFERS = 12, 9, 2**25
#: Labels, prices and values of flips that each further class has.
ROW_VECTORS_OF_CLASS = 4
#: Columns in memory count so often: they are copied when they are joined with others, and solvers
#: keep some of them by rows, too.
COPIES = 3
#: Bytes of rows that are copied for many passes over them, where the user has set no limit, and the
#: share of the limit that they may take else.
SMALL_COPY, SHARE = 2**28, 0.25
#: What the pass over one group of rows holds: vectors of m numbers, three of them where blocks cut
#: the group and the sum so far is copied; and bytes of its rows in float64.
VECTORS_PER_GROUP, BUFFER_PER_GROUP = 5, 2**24
#: A stored entry of a sparse column, its number and its row; and one of a dense column.
SPARSE_ENTRY, DENSE_ENTRY = 12, 8


class MemoryLimit:
    """What is allowed under ``max_memory`` bytes; everything, if that is None.

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
            f"a fit on {shape[0]} rows and {shape[1]} columns{classes} needs {n_vectors} vectors "
            f"of as many numbers as rows, {N_COLUMN_VECTORS} of as many as columns, and "
            f"{in_words(BUFFERS)} besides:",
            "Raise it.",
        )

    def check_room(self, n_bytes: float, what: str, shape: tuple[int, int]) -> None:
        """Refuse what a solver holds besides if it does not fit beside the columns in use."""
        self._refuse(
            _needed_by_every_fit(shape) + COPIES * self.held + n_bytes,
            f"{what} are needed in memory, {in_words(n_bytes)}, beside {in_words(self.held)} of "
            "columns in use. With copies of these, and what every fit needs, that is",
            "Raise it, or end the fit earlier with a larger tol.",
        )

    def check_columns(self, n_bytes: float, n_columns: int, shape: tuple[int, int]) -> None:
        """Refuse columns that do not fit beside those in use."""
        self._refuse(
            _needed_by_every_fit(shape) + COPIES * (self.held + n_bytes),
            f"{n_columns} columns of X are needed in memory, {in_words(n_bytes)}, beside "
            f"{in_words(self.held)} of columns in use. With copies of both, and what every fit "
            "needs, that is",
            "Raise it, or ask for fewer features.",
        )

    def has_room(self, n_bytes: float, shape: tuple[int, int]) -> bool:
        """Whether so much fits beside the columns in use."""
        needed = _needed_by_every_fit(shape) + COPIES * self.held + n_bytes
        return self.max_memory is None or needed <= self.max_memory

    def n_at_once(self, n_wanted: int, n_columns: int) -> int:
        """How many groups may be multiplied at a time: as many as wanted, if their sums fit."""
        if self.max_memory is None:
            return n_wanted
        each = BUFFER_PER_GROUP + 8 * VECTORS_PER_GROUP * n_columns
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
