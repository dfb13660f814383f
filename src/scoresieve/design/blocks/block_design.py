"""Row blocks as a design."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design._base import Columns, Design
from scoresieve.design.blocks.memory import held_columns
from scoresieve.design.blocks.row_blocks import RowBlocks
from scoresieve.design.dense import DenseDesign
from scoresieve.design.sparse import SparseDesign


class BlockDesign(Design):
    """``X = [X_1; X_2; ...]``: sums are those of the blocks, in their order.

    Conventions
    -----------
    Blocks of columns are in memory: few of them, all rows. Some of the rows are copied if they are
    few, and a view of the same blocks otherwise.
    """

    def __init__(self, X: RowBlocks) -> None:
        self._X = X
        self.n_samples, self.n_columns = X.shape

    def correlate(self, v: FloatArray) -> FloatArray:
        """``X^T v = sum_b X_b^T v_b``."""
        return self._X.correlate(v)

    def columns(self, idx: IntArray) -> Columns:
        """``X[:, idx]``, gathered block by block."""
        found = self._X.working_columns(np.asarray(idx, dtype=np.int64))
        return held_columns(found, self._X.memory)

    def rows(self, idx: IntArray) -> Design:
        """``X[idx]``: in memory if these are some of the rows and small, else a view."""
        idx = np.asarray(idx, dtype=np.int64)
        view = self._X[idx]
        few = view.in_memory() if idx.size < self.n_samples else None
        if few is None:
            return self._with_check(BlockDesign(view), idx)
        return self._with_check(SparseDesign(few) if sp.issparse(few) else DenseDesign(few), idx)

    def scores(self, w: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] w``."""
        w = np.asarray(w, dtype=np.float64)
        return self._X.scores(w[np.newaxis], np.asarray(idx, dtype=np.int64))[:, 0]

    def total(
        self,
        function: Callable[..., float],
        w: FloatArray,
        idx: IntArray,
        bias: float,
        *per_row: FloatArray,
    ) -> float:
        """``sum_i f(<w, x_i> + bias, t_i, ...)``: a number a block comes back, and no scores."""
        w, idx = np.asarray(w, dtype=np.float64), np.asarray(idx, dtype=np.int64)
        return self._X.total(function, w, idx, bias, *per_row)

    def filled(self, value: float) -> Columns:
        """A block of one column that is ``value`` in every row."""
        column = np.full((self.n_samples, 1), float(value))
        return held_columns(sp.csc_array(column) if self._X.is_sparse else column, self._X.memory)

    def check_problems(self, n_problems: int) -> None:
        """Refuse with a ``MemoryError`` problems whose vectors do not fit under ``max_memory``."""
        self._X.memory.check_shape(self._X.shape, n_problems)

    def check_room(self, n_bytes: int, what: str) -> None:
        """Refuse with a ``MemoryError`` what does not fit under ``max_memory``."""
        self._X.memory.check_room(n_bytes, what, self._X.shape)

    def has_room(self, n_bytes: int) -> bool:
        """Whether that fits under ``max_memory`` beside what is in use."""
        return self._X.memory.has_room(n_bytes, self._X.shape)

    def sum_of_squares(self) -> float:
        """``sum_ij x_ij^2``."""
        return self._X.statistics.sum_of_squares

    def column_norms(self) -> FloatArray:
        """``sqrt(sum_i x_ij^2)``."""
        return self._X.statistics.norms

    def column_counts(self) -> FloatArray:
        """How many numbers of every column are not 0."""
        return self._X.statistics.counts

    def max_abs(self) -> float:
        """``max_ij |x_ij|``."""
        return self._X.statistics.max_abs
