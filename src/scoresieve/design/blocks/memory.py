"""``max_memory``: what may be held in memory at once beside the blocks themselves."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

#: Bytes of rows that are copied for many passes over them, where the user has set no limit.
SMALL_COPY = 2**28
#: Columns are asked for in turn, and are copied when they are joined with those that are there.
#: So each request may have this share of the memory, and so may a copy of rows, or partial sums.
SHARE = 0.25
#: What every fit needs, about: vectors of n and of m numbers, and buffers whose size is fixed.
N_ROW_VECTORS, N_COLUMN_VECTORS, BUFFERS = 12, 6, 2**25
#: Vectors of m numbers that the pass over one block holds.
VECTORS_PER_BLOCK = 4
#: A stored entry of a sparse column: its number and its row, and twice while columns are joined.
BYTES_PER_ENTRY = 2 * (8 + 4)


@dataclass(frozen=True)
class MemoryLimit:
    """What is allowed under ``max_memory`` bytes; everything, if that is None."""

    max_memory: int | None = None

    def __post_init__(self) -> None:
        limit = self.max_memory
        if limit is None:
            return
        if not isinstance(limit, numbers.Integral) or isinstance(limit, bool) or limit < 1:
            raise ValueError(
                f"max_memory must be a positive number of bytes or None; got {limit!r}. "
                "2 GiB is 2 * 2**30."
            )

    @property
    def share(self) -> float:
        """The part of the limit that one request may take."""
        return float("inf") if self.max_memory is None else SHARE * self.max_memory

    def check_shape(self, shape: tuple[int, int]) -> None:
        """Refuse data whose vectors alone do not fit."""
        n, m = shape
        self._refuse_beyond(
            BUFFERS + 8 * (N_ROW_VECTORS * n + N_COLUMN_VECTORS * m),
            float("inf") if self.max_memory is None else self.max_memory,
            f"a fit on {n} rows and {m} columns needs {N_ROW_VECTORS} vectors of as many numbers "
            f"as rows, {N_COLUMN_VECTORS} of as many as columns, and {in_words(BUFFERS)} besides: "
            "about",
            "Raise max_memory.",
        )

    def n_at_once(self, n_wanted: int, n_columns: int) -> int:
        """How many blocks may be multiplied at a time: as many as wanted, if their sums fit."""
        each = 8 * VECTORS_PER_BLOCK * n_columns
        return (
            n_wanted if self.max_memory is None else max(1, min(n_wanted, int(self.share / each)))
        )

    def check_columns(self, n_bytes: float, n_columns: int) -> None:
        """Refuse columns that do not fit."""
        self._refuse_beyond(
            n_bytes,
            self.share,
            f"{n_columns} columns of X are needed in memory, which take about",
            f"A request may take {SHARE:.0%} of max_memory={self.max_memory}. Raise it, or ask for "
            "fewer features.",
        )

    def may_copy(self, n_bytes: float) -> bool:
        """Whether rows of this size may be copied into memory."""
        return n_bytes <= min(SMALL_COPY, self.share)

    @staticmethod
    def _refuse_beyond(n_bytes: float, limit: float, what: str, advice: str) -> None:
        if n_bytes > limit:
            raise MemoryError(f"{what} {in_words(n_bytes)}. {advice}")


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
