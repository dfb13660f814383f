"""The few columns that refits look at: kept once they are fetched, and with equal rows merged.

Most rows of text have none of ten words, so that

    sum_i c_i l(y_i, <w, x_i>) = sum_{i in T} c_i l(y_i, <w, x_i>) + sum_y c_y l(y, <w, x_0>)

where T are the rows with an entry in some column that is not constant, x_0 is what all others are,
and c_y the weight of those of them with the label y.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve.design import Columns, Design
from scoresieve.design._base import WrappedDesign
from scoresieve.risks import LossRisk

#: Numbers that may be kept (256 MB), those that X does not store counted in.
MOST_NUMBERS = 2**25
#: For a sparse X those are few: this many columns are kept whatever the number of rows is.
FEW_COLUMNS = 512


class FetchedColumns(WrappedDesign):
    """X, which keeps ``X_S`` for the columns S that were asked for so far.

    For a CSR matrix any block of columns costs a pass over all of X, so that those that may be
    wanted next are best fetched together with the present ones.
    """

    @classmethod
    def of(cls, design: Design) -> FetchedColumns:
        """The design with its cache; a new one if it had none."""
        return design if isinstance(design, cls) else cls(design)

    def __init__(self, design: Design) -> None:
        super().__init__(design)
        self._norms: FloatArray | None = None
        self._keep(np.zeros(0, dtype=np.int64), design.columns(np.zeros(0, dtype=np.int64)))

    def block(self, columns: IntArray, beside: IntArray | None = None) -> Columns:
        """``X_S`` of the columns; if one is not here, those ``beside`` come with it."""
        is_here, places = self._places(columns)
        if not np.all(is_here):
            wanted = columns[~is_here]
            if beside is not None:
                wanted = np.union1d(wanted, beside[~self._places(beside)[0]])
            self._fetch(wanted, columns)
            _, places = self._places(columns)
        return self._block.take(places)

    def column_norms(self) -> FloatArray:
        """``sqrt(sum_i x_ij^2)``, of which X is asked once."""
        if self._norms is None:
            self._norms = self._design.column_norms()
        return self._norms

    def columns(self, idx: IntArray) -> Columns:
        """``X[:, idx]`` as a block, of which X is asked for no more than is not here.

        What is asked for is not kept: the caller holds it.
        """
        columns = np.asarray(idx, dtype=np.int64)
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
        """Keep a block ``X_S`` that was fetched elsewhere, as far as there is room."""
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


class Merged(NamedTuple):
    """A block of distinct rows and its risk; row i of the whole is row ``places[i]`` of it."""

    block: Columns
    risk: LossRisk
    places: IntArray | slice


def merge_equal_rows(block: Columns, risk: LossRisk) -> Merged:
    """The rows that differ, and one row for each label of those that do not."""
    rows = block.varied_rows() if risk.loss.task == "classification" else None
    if rows is None:
        return Merged(block, risk, slice(None))
    n_samples, weights = risk.y.size, risk.row_weights
    is_other = np.ones(n_samples, dtype=bool)
    is_other[rows] = False
    places = np.empty(n_samples, dtype=np.int64)
    places[rows] = np.arange(rows.size)
    firsts: list[int] = []
    totals: list[float] = []
    for members in (
        np.flatnonzero(is_other & (risk.y > 0)),
        np.flatnonzero(is_other & (risk.y < 0)),
    ):
        if members.size:
            places[members] = rows.size + len(firsts)
            firsts.append(int(members[0]))
            totals.append(float(np.sum(weights[members])))
    kept = np.append(rows, firsts).astype(np.int64)
    merged = LossRisk(risk.loss, risk.y[kept], np.append(weights[rows], totals))
    return Merged(block.only_rows(kept), merged, places)
