"""Fixed groups of rows, which decide in which order sums over rows are made.

    sum_i x_i  =  ((s_0 + s_1) + (s_2 + s_3)) + ...,     s_g = sum of the rows g G ... (g + 1) G - 1

in the order of :func:`~scoresieve.design.pairwise.pairwise`, each ``s_g`` row by row. G follows
from the shape of X and from how many numbers it stores, and from nothing else: not from the blocks
that X is read in, nor from threads, workers or the memory there is. So the bits of a sum do not
depend on those either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scoresieve._arrays import IntArray

#: Most stored numbers of a group of sparse rows on average: 48 MiB of a block of 64.
GROUP_ENTRIES = 2**22
#: Or so many for each column, since every group has a sum of its own for each of them.
ENTRIES_PER_COLUMN = 4
#: Most numbers of a group of dense rows: 16 MiB, which are copied where blocks cut it.
DENSE_NUMBERS = 2**21


def rows_of_group(n_rows: int, n_columns: int, n_entries: int, *, is_sparse: bool) -> int:
    """``G``, a power of two.

    Parameters
    ----------
    n_entries : int
        Numbers that are stored.
    """
    most = max(GROUP_ENTRIES, ENTRIES_PER_COLUMN * n_columns) if is_sparse else DENSE_NUMBERS
    wanted = max(1, most * n_rows // max(1, n_entries))
    return 1 << (wanted.bit_length() - 1)


class RowGroups(NamedTuple):
    """Which rows of a design belong together in sums.

    Attributes
    ----------
    starts : ndarray of int of shape (n_groups + 1,)
        The first row of each group, and the number of rows.
    numbers : ndarray of int of shape (n_groups,)
        Rising places of the groups in the tree; those of no rows are left out.
    """

    starts: IntArray
    numbers: IntArray

    @classmethod
    def of_size(cls, n_rows: int, size: int) -> RowGroups:
        """Groups of so many rows; the last one may have less."""
        n_groups = max(1, -(-n_rows // size))
        return cls(np.minimum(np.arange(n_groups + 1) * size, n_rows), np.arange(n_groups))

    @classmethod
    def one(cls, n_rows: int) -> RowGroups:
        """All rows together."""
        return cls(np.array([0, n_rows]), np.array([0]))

    def of_rows(self, rows: IntArray) -> RowGroups:
        """The same groups of chosen rows alone; rows that are not sorted are one group."""
        if rows.size == 0 or np.any(rows[1:] < rows[:-1]):
            return RowGroups.one(rows.size)
        starts = np.searchsorted(rows, self.starts)
        is_there = np.diff(starts) > 0
        return RowGroups(np.append(starts[:-1][is_there], rows.size), self.numbers[is_there])
