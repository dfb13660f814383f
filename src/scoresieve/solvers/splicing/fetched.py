"""Columns that were fetched from X, kept for the refits that need them again."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve.design import Columns, Design
from scoresieve.design.wrapped import WrappedDesign

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
        self._keep(np.zeros(0, dtype=np.int64), design.columns(np.zeros(0, dtype=np.int64)))

    def block(self, columns: IntArray, beside: IntArray | None = None) -> Columns:
        """``X_S`` of the columns; if some are not here, those ``beside`` them are fetched, too."""
        is_here, places = self._places(columns)
        if not np.all(is_here):
            wanted = columns[~is_here]
            if beside is not None:
                wanted = np.union1d(wanted, beside[~self._places(beside)[0]])
            self._fetch(wanted, columns)
            _, places = self._places(columns)
        return self._block.take(places)

    @cached_property
    def column_norms(self) -> FloatArray:
        """``||x_j||_2`` of every column of X."""
        return self._design.column_norms()

    def beside(self, columns: IntArray) -> Columns:
        """``X_S`` of the columns, of which X is asked for no more than is not here.

        What is asked for is not kept: the caller holds it.
        """
        is_here, places = self._places(columns)
        if np.all(is_here):
            return self._block.take(places)
        new = self._design.columns(columns[~is_here])
        if not np.any(is_here):
            return new
        both = self._block.take(places[is_here]).append(new)
        order = np.concatenate([np.flatnonzero(is_here), np.flatnonzero(~is_here)])
        return both.take(np.argsort(order, kind="stable"))

    def take_over(self, columns: IntArray, block: Columns) -> None:
        """Keep what somebody else has fetched, ``X_S`` of the columns, as far as there is room."""
        is_here, _ = self._places(columns)
        new = np.flatnonzero(~is_here)
        if new.size and self._columns.size + new.size <= self._most:
            joined = np.concatenate([self._columns, columns[new]])
            self._keep(joined, self._block.append(block.take(new)))

    @property
    def _most(self) -> int:
        """Columns that may be kept."""
        return max(FEW_COLUMNS, MOST_NUMBERS // self._design.n_samples)

    def _fetch(self, new: IntArray, needed: IntArray) -> None:
        """Add new columns; where that would be too many, nothing but the needed ones is kept."""
        most, here = self._most, self._columns
        if here.size and here.size + new.size <= most:
            self._keep(np.concatenate([here, new]), self._block.append(self._design.columns(new)))
            return
        if new.size <= most and here.size == 0:
            kept = new
        else:
            kept = needed if needed.size + new.size > most else np.union1d(needed, new)
        self._keep(kept, self._design.columns(kept))

    def _keep(self, columns: IntArray, block: Columns) -> None:
        """These columns, in the order of the block, and how to find them."""
        self._columns, self._block = columns, block
        self._order = np.argsort(columns, kind="stable")
        self._sorted = columns[self._order]

    def _places(self, columns: IntArray) -> tuple[BoolArray, IntArray]:
        """Whether each column is here, and where."""
        if not self._sorted.size:
            return np.zeros(columns.size, dtype=bool), columns
        at = np.minimum(np.searchsorted(self._sorted, columns), self._sorted.size - 1)
        return self._sorted[at] == columns, self._order[at]


class DesignBesideFetched(WrappedDesign):
    """X, which is asked only for those columns that were not fetched before."""

    def __init__(self, design: Design, fetched: FetchedColumns) -> None:
        super().__init__(design)
        self._fetched = fetched

    def columns(self, idx: IntArray) -> Columns:
        """``X[:, idx]`` as a block."""
        return self._fetched.beside(np.asarray(idx, dtype=np.int64))

    def column_norms(self) -> FloatArray:
        """``sqrt(sum_i x_ij^2)``."""
        return self._fetched.column_norms
