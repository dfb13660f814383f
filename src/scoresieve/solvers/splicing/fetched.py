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

    def has(self, columns: IntArray) -> bool:
        """Whether all of them are here."""
        return bool(np.all(np.isin(columns, self._columns)))

    def _fetch(self, new: IntArray, needed: IntArray) -> None:
        """Add new columns; where that would be too many, nothing but the needed ones is kept."""
        most = max(FEW_COLUMNS, MOST_NUMBERS // self._design.n_samples)
        if self._columns.size == 0 and new.size <= most:
            self._columns, self._block = new, self._design.columns(new)
            return
        if self._columns.size + new.size > most:
            self._columns = needed if needed.size + new.size > most else np.union1d(needed, new)
            self._block = self._design.columns(self._columns)
            return
        self._columns = np.concatenate([self._columns, new])
        self._block = self._block.append(self._design.columns(new))

    def _places(self, columns: IntArray) -> IntArray:
        order = np.argsort(self._columns, kind="stable")
        return order[np.searchsorted(self._columns, columns, sorter=order)]


class DesignBesideFetched(Design):
    """X, which takes columns from those that were fetched where all that are wanted are there."""

    def __init__(self, design: Design, fetched: FetchedColumns) -> None:
        self._design, self._fetched = design, fetched
        self.n_samples, self.n_columns = design.n_samples, design.n_columns

    def columns(self, idx: IntArray) -> Columns:
        """``X[:, idx]`` as a block."""
        return self._fetched.block(idx) if self._fetched.has(idx) else self._design.columns(idx)

    def correlate(self, v: FloatArray) -> FloatArray:
        """``X^T v``."""
        return self._design.correlate(v)

    def rows(self, idx: IntArray) -> Design:
        """``X[idx]``."""
        return self._design.rows(idx)

    def scores(self, w: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] w``."""
        return self._design.scores(w, idx)

    def filled(self, value: float) -> Columns:
        """A block of one column that is ``value`` in every row."""
        return self._design.filled(value)

    def check_room(self, n_bytes: int, what: str) -> None:
        """As X itself."""
        self._design.check_room(n_bytes, what)

    def has_room(self, n_bytes: int) -> bool:
        """As X itself."""
        return self._design.has_room(n_bytes)

    def sum_of_squares(self) -> float:
        """``sum_ij x_ij^2``."""
        return self._design.sum_of_squares()

    def column_norms(self) -> FloatArray:
        """``sqrt(sum_i x_ij^2)``."""
        return self._fetched.column_norms

    def max_abs(self) -> float:
        """``max_ij |x_ij|``."""
        return self._design.max_abs()
