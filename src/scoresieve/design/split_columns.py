"""Sums over the rows of CSC columns by groups of rows, as CSR makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.design._base import BLOCK_NUMBERS
from scoresieve.design.groups import RowGroups
from scoresieve.design.lines import Lines, lines_between, matrix_around, runs_of_lines


class SplitColumns:
    """The columns of a CSC array, each cut where another group of rows begins.

    Conventions
    -----------
    A cut costs 12 to 16 bytes, and there are at most as many as entries, and as groups a column.

    Parameters
    ----------
    columns : CSC array
        Whose rows are sorted.
    groups : RowGroups
    """

    def __init__(self, columns: Any, groups: RowGroups) -> None:
        self._n_columns = columns.shape[1]
        #: Places of the tree, a power of two.
        self._width = 1 << int(groups.numbers[-1]).bit_length()
        group_of_row = np.repeat(groups.numbers, np.diff(groups.starts))
        starts, places = [], []
        for part in runs_of_lines(np.diff(columns.indptr), BLOCK_NUMBERS // 4):
            lines = lines_between(columns, part.start, part.stop)
            column = np.repeat(np.arange(part.start, part.stop), np.diff(lines.indptr))
            place = column * self._width + group_of_row[lines.indices]
            first = np.flatnonzero(np.diff(place, prepend=-1))
            starts.append(first + int(columns.indptr[part.start]))
            places.append(place[first])
        ends = np.array([columns.data.size])
        indptr = np.concatenate([*starts, ends]).astype(columns.indptr.dtype)
        self._places = np.concatenate([*places, ends[:0]])
        #: Entries of one column in one group are a line.
        self._pieces = matrix_around(
            *(columns.data, columns.indices, indptr, "csr"), (indptr.size - 1, columns.shape[0])
        )

    def combined(
        self,
        of_lines: Callable[[Lines], FloatArray],
        combine: Callable[[Any, Any], Any],
    ) -> FloatArray:
        """A number for each column, from those of its groups in their tree.

        Parameters
        ----------
        of_lines : callable
            A number for each line, at least 0 or a sum that begins at 0.
        combine : callable
            Such as numpy.add; 0 has no effect.
        """
        out = np.zeros(self._n_columns)
        for first, last in self._runs():
            columns = slice(first, last)
            begin, end = np.searchsorted(self._places, [first * self._width, last * self._width])
            table = np.zeros((last - first) * self._width)
            for part in self._few_lines(int(begin), int(end)):
                here = self._places[part] - first * self._width
                table[here] = of_lines(lines_between(self._pieces, part.start, part.stop))
            out[columns] = _folded(table.reshape(-1, self._width), combine)
        return out

    def _runs(self) -> list[tuple[int, int]]:
        """Columns whose numbers for all groups are in memory at once."""
        step = max(1, BLOCK_NUMBERS // self._width)
        starts = range(0, self._n_columns, step)
        return [(start, min(start + step, self._n_columns)) for start in starts]

    def _few_lines(self, begin: int, end: int) -> list[slice]:
        """Lines whose entries may be made float64 at once."""
        lengths = np.diff(self._pieces.indptr[begin : end + 1])
        runs = runs_of_lines(lengths, BLOCK_NUMBERS)
        return [slice(begin + run.start, begin + run.stop) for run in runs]


def _folded(table: FloatArray, combine: Callable[[Any, Any], Any]) -> FloatArray:
    """The tree of :func:`~scoresieve.design.pairwise.pairwise` along the rows of a table."""
    while table.shape[1] > 1:
        table = combine(table[:, 0::2], table[:, 1::2])
    return table[:, 0]
