"""Columns gathered from row blocks into arrays of their final size."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design.lines import SHORT, matrix_around


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
