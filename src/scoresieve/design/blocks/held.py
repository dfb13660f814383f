"""Columns in memory that are counted under ``max_memory`` while they are in use."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design._base import Columns
from scoresieve.design.blocks.memory import MemoryLimit
from scoresieve.design.dense import DenseColumns
from scoresieve.design.sparse import SparseColumns


class HeldSparseColumns(SparseColumns):
    """``X_S`` in CSC form, counted; and so is what is made of it."""

    def __init__(self, block: sp.csc_array, memory: MemoryLimit) -> None:
        super().__init__(block)
        self._memory = memory
        memory.hold(self, block.data.nbytes + block.indices.nbytes + block.indptr.nbytes)

    def append(self, other: Columns) -> HeldSparseColumns:
        """The block with the columns of ``other`` to the right."""
        return HeldSparseColumns(super().append(other)._block, self._memory)

    def take(self, places: IntArray) -> HeldSparseColumns:
        """The columns at these places."""
        return HeldSparseColumns(super().take(places)._block, self._memory)

    def scaled(self, factors: FloatArray) -> HeldSparseColumns:
        """``X_S diag(f)``."""
        return HeldSparseColumns(super().scaled(factors)._block, self._memory)


class HeldDenseColumns(DenseColumns):
    """``X_S`` as an array, counted; and so is what is made of it."""

    def __init__(self, transposed: FloatArray, memory: MemoryLimit) -> None:
        super().__init__(transposed)
        self._memory = memory
        memory.hold(self, transposed.nbytes)

    def append(self, other: Columns) -> HeldDenseColumns:
        """The block with the columns of ``other`` to the right."""
        return HeldDenseColumns(super().append(other)._transposed, self._memory)

    def take(self, places: IntArray) -> HeldDenseColumns:
        """The columns at these places."""
        return HeldDenseColumns(super().take(places)._transposed, self._memory)

    def scaled(self, factors: FloatArray) -> HeldDenseColumns:
        """``X_S diag(f)``."""
        return HeldDenseColumns(super().scaled(factors)._transposed, self._memory)


def held_columns(found: Any, memory: MemoryLimit) -> Columns:
    """A sparse or dense array of shape (n_samples, n_columns) as a block that is counted."""
    if sp.issparse(found):
        return HeldSparseColumns(found.tocsc(), memory)
    return HeldDenseColumns(found.T, memory)
