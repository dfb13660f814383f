"""Columns that were fetched from X, kept for the refits that need them again."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Columns, Design

#: Numbers that may be kept (256 MB), those that X does not store counted in.
MOST_NUMBERS = 2**25
#: For a sparse X those are few: so many columns are kept whatever the number of rows is.
FEW_COLUMNS = 512


class FetchedColumns:
    """``X_S`` for the columns S that were asked for so far.

    For a CSR matrix any block of columns costs a pass over all of X, so that those that may be
    wanted next are best fetched together with those that are wanted now.
    """

    def __init__(self, design: Design) -> None:
        self._design = design
        self._columns: IntArray = np.zeros(0, dtype=np.int64)
        self._block: Columns = design.columns(self._columns)

    def block(self, columns: IntArray, beside: IntArray | None = None) -> Columns:
        """``X_S`` of the columns; if some are not here, those ``beside`` them are fetched, too."""
        missing = np.setdiff1d(columns, self._columns)
        if missing.size:
            wanted = missing if beside is None else np.union1d(missing, beside)
            self._fetch(np.setdiff1d(wanted, self._columns), columns)
        return self._block.take(self._places(columns))

    @cached_property
    def column_norms(self) -> FloatArray:
        """``||x_j||_2`` of every column of X."""
        return self._design.column_norms()

    def _fetch(self, new: IntArray, needed: IntArray) -> None:
        """Add new columns; where that would be too many, nothing but the needed ones is kept."""
        most = max(FEW_COLUMNS, MOST_NUMBERS // self._design.n_samples)
        if self._columns.size + new.size > most:
            self._columns = needed if needed.size + new.size > most else np.union1d(needed, new)
            self._block = self._design.columns(self._columns)
            return
        self._columns = np.concatenate([self._columns, new])
        self._block = self._block.append(self._design.columns(new))

    def _places(self, columns: IntArray) -> IntArray:
        order = np.argsort(self._columns, kind="stable")
        return order[np.searchsorted(self._columns, columns, sorter=order)]
