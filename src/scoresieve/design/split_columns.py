"""Sums over the rows of CSC columns by groups of rows, as CSR makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.design._base import BLOCK_NUMBERS
from scoresieve.design.groups import RowGroups
from scoresieve.design.lines import Lines, lines_between, matrix_around, runs_of_lines


class _Run(NamedTuple):
    """Columns ``first .. last - 1`` and their lines ``begin .. end - 1``."""

    first: int
    last: int
    begin: int
    end: int


class SplitColumns:
    """The columns of a CSC array, each cut into lines where another group of rows begins.

    Conventions
    -----------
    * A line costs 8 to 12 bytes, and there are at most as many as entries, and as groups a column.
    * Numbers of lines come together in a table of a run of columns, one group in each of its rows,
      with 0 where a column has no entries.

    Parameters
    ----------
    columns : CSC array
        Whose rows are sorted.
    groups : RowGroups
    """

    def __init__(self, columns: Any, groups: RowGroups) -> None:
        self._n_columns = columns.shape[1]
        #: Places of the tree.
        self._width = int(groups.numbers[-1]) + 1
        group_of_row = np.repeat(groups.numbers, np.diff(groups.starts))
        starts, places, self._runs = [], [], []
        step, n_lines = max(1, BLOCK_NUMBERS // 8 // self._width), 0
        for first in range(0, self._n_columns, step):
            last = min(first + step, self._n_columns)
            lines = lines_between(columns, first, last)
            column = np.repeat(np.arange(last - first), np.diff(lines.indptr))
            place = group_of_row[lines.indices] * (last - first) + column
            at = np.flatnonzero(np.diff(place, prepend=-1))
            starts.append(at + int(columns.indptr[first]))
            places.append(place[at].astype(np.int32))
            self._runs.append(_Run(first, last, n_lines, n_lines + at.size))
            n_lines += at.size
        ends = np.array([columns.data.size])
        indptr = np.concatenate([*starts, ends]).astype(columns.indptr.dtype)
        self._places = np.concatenate([*places, np.zeros(0, dtype=np.int32)])
        self._lines = matrix_around(
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
            A number for each line.
        combine : callable
            Such as numpy.add; 0 has no effect.
        """
        out = np.empty(self._n_columns)
        for run in self._runs:
            table = np.zeros(self._width * (run.last - run.first))
            lengths = np.diff(self._lines.indptr[run.begin : run.end + 1])
            for part in runs_of_lines(lengths, BLOCK_NUMBERS):
                few = slice(run.begin + part.start, run.begin + part.stop)
                lines = lines_between(self._lines, few.start, few.stop)
                table[self._places[few]] = of_lines(lines)
            out[run.first : run.last] = _folded(table.reshape(self._width, -1), combine)
        return out


def _folded(table: FloatArray, combine: Callable[[Any, Any], Any]) -> FloatArray:
    """The tree of :func:`~scoresieve.design.pairwise.pairwise` over the rows of a table."""
    while table.shape[0] > 1:
        n_paired = table.shape[0] // 2 * 2
        pairs = combine(table[0:n_paired:2], table[1:n_paired:2])
        table = np.concatenate([pairs, table[n_paired:]])
    return table[0]
