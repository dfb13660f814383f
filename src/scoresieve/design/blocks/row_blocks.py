"""``RowBlocks``: an X that is never in memory as a whole, to be given where an array is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design.blocks import passes
from scoresieve.design.blocks.memory import (
    DENSE_ENTRY,
    SPARSE_ENTRY,
    GatheredColumns,
    MemoryLimit,
    in_words,
)
from scoresieve.design.blocks.passes import BlockStore, Call, Part, Statistics, parts_of


class RowBlocks:
    """``X`` of shape (n_samples, n_features) as row blocks on disk or on the workers of a cluster.

    Estimators and functions of this package accept it as X, and so do the splitters and searches of
    scikit-learn. :func:`~scoresieve.design.open_blocks` and
    :func:`~scoresieve.design.dask_blocks` make one.

    Conventions
    -----------
    * ``X[rows]``, with row numbers, a mask or a slice, is a view: it holds row numbers, no rows.
    * ``X[:, columns]`` is an array in memory, sparse if X is.
    * Sums over rows add up the blocks in their order. They do not depend on threads, but other
      block sizes change the last digits.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
    is_sparse : bool
    labels : ndarray or None
        The y that was stored with X, of all rows or of the view.
    feature_names : ndarray of str or None
    memory : MemoryLimit
        Shared with all views.
    """

    ndim = 2

    def __init__(
        self,
        store: BlockStore,
        memory: MemoryLimit | None = None,
        rows: IntArray | None = None,
        *,
        labels: Any = None,
        feature_names: Any = None,
    ) -> None:
        self._store, self.memory, self._rows = store, memory or MemoryLimit(), rows
        self._all_labels, self.feature_names = labels, feature_names
        n_rows = int(store.sizes.sum()) if rows is None else rows.size
        self.shape = (n_rows, store.n_columns)
        self.dtype, self.is_sparse = store.dtype, store.is_sparse
        self.memory.check_shape(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        rows = "" if self._rows is None else f", a view of {int(self._store.sizes.sum())} rows"
        return (
            f"<RowBlocks of shape {self.shape}, {kind} {self.dtype}, {self.n_blocks} "
            f"blocks {self._store.place()}{rows}>"
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            f"{self!r} is not made an array, which would take {in_words(8 * np.prod(self.shape))}: "
            "the function called works on arrays in memory only. Pass X[:, columns] instead."
        )

    @property
    def labels(self) -> Any:
        """The stored y of these rows."""
        if self._all_labels is None or self._rows is None:
            return self._all_labels
        return self._all_labels[self._rows]

    @property
    def n_entries(self) -> int:
        """Numbers that are stored in the blocks."""
        return self._store.n_entries

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return int(self._store.sizes.size)

    def __getitem__(self, key: Any) -> Any:
        key = tuple(part for part in key if part is not Ellipsis) if type(key) is tuple else (key,)
        if len(key) > 2:
            raise IndexError(f"X has 2 dimensions; got {len(key)} indices.")
        view = self._view(key[0])
        if len(key) == 1 or is_everything(key[1]):
            return view
        return view.take_columns(numbers_of(key[1], self.shape[1], "columns"), self.dtype)

    def _view(self, rows: Any) -> RowBlocks:
        if is_everything(rows):
            return self
        chosen = numbers_of(rows, self.shape[0], "rows")
        chosen = chosen if self._rows is None else self._rows[chosen]
        return RowBlocks(
            self._store,
            self.memory,
            chosen,
            labels=self._all_labels,
            feature_names=self.feature_names,
        )

    @cached_property
    def _parts(self) -> list[Part]:
        """The blocks with rows in the view, in order."""
        return parts_of(self._store.sizes, self._rows)

    @property
    def is_in_order(self) -> bool:
        """Whether rows stand in the view as they do in the blocks."""
        return all(isinstance(part.places, slice) for part in self._parts)

    def _calls(self, *arguments: Any) -> list[Call]:
        """One for every block with rows in the view."""
        return [Call(part, arguments) for part in self._parts]

    def correlate(self, v: FloatArray) -> FloatArray:
        """``X^T v``: the pass over all blocks."""
        v = np.asarray(v, dtype=np.float64)
        calls = [Call(part, (v[part.places],)) for part in self._parts if np.any(v[part.places])]
        total = self._store.summed(passes.correlate, calls)
        return np.zeros(self.shape[1]) if total is None else total

    def scores(self, W: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] W^T``, of shape (n_samples, n_models), in one pass for all models."""
        out = np.zeros((self.shape[0], W.shape[0]))
        if idx.size:
            each = self._store.each(passes.scores, self._calls(W, idx))
            for part, found in zip(self._parts, each, strict=True):
                out[part.places] = found
        return out

    def total(
        self,
        function: Callable[..., float],
        w: FloatArray,
        idx: IntArray,
        bias: float,
        *per_row: FloatArray,
    ) -> float:
        """``sum_i f(<w, x_i> + bias, t_i, ...)``, by the sums of the blocks."""
        calls = [
            Call(part, (function, w, idx, bias, *(each[part.places] for each in per_row)))
            for part in self._parts
        ]
        return float(self._store.summed(passes.total, calls) or 0.0)

    def take_columns(self, idx: IntArray, dtype: Any = np.float64) -> Any:
        """``X[:, idx]`` in memory: a CSR array, or an array in column order."""
        self._check_columns(idx)
        calls = self._calls(idx, dtype) if idx.size else []
        found = self._store.each(passes.columns, calls)
        if not self.is_sparse:
            out = np.zeros((idx.size, self.shape[0]), dtype=dtype).T
            for part, piece in zip(self._parts, found, strict=False):
                out[part.places] = piece
            return out
        pieces = list(found)
        if not pieces:
            return sp.csr_array((self.shape[0], idx.size), dtype=dtype)
        stacked = sp.vstack(pieces, format="csr")
        if self.is_in_order:
            return stacked
        places: list[Any] = [part.places for part in self._parts]
        inverse = np.empty(self.shape[0], dtype=np.int64)
        inverse[np.concatenate(places)] = np.arange(self.shape[0])
        return stacked[inverse]

    def working_columns(self, idx: IntArray) -> Any:
        """``X[:, idx]`` in float64 by columns, without zeros: an array, or a CSC array.

        The blocks' entries are counted before, so that each is put where it stays: the memory is
        that of one copy, and of the blocks that are worked on at a time.
        """
        if not self.is_sparse:
            return self.take_columns(idx)
        self._check_columns(idx)
        out = GatheredColumns(self.statistics.counts[idx], self.shape[0])
        calls = self._calls(idx) if idx.size else []
        found = self._store.each(passes.by_columns, calls)
        for part, piece in zip(self._parts, found, strict=False):
            out.add(piece, part.places)
        return out.matrix(is_in_order=self.is_in_order)

    def _check_columns(self, idx: IntArray) -> None:
        if self.memory.max_memory is None or not idx.size:
            return
        n_bytes = float(DENSE_ENTRY * self.shape[0] * idx.size)
        if self.is_sparse:
            n_bytes = SPARSE_ENTRY * float(np.sum(self.statistics.counts[idx]))
        self.memory.check_columns(n_bytes, idx.size, self.shape)

    def in_memory(self) -> Any:
        """All rows as one array in memory, if that is small; else None."""
        share = self.shape[0] / max(1, int(self._store.sizes.sum()))
        n_bytes = 2 * (SPARSE_ENTRY if self.is_sparse else DENSE_ENTRY) * share * self.n_entries
        if not self.is_in_order or not self.memory.may_copy(n_bytes):
            return None
        pieces = [rows for _, rows in self.pieces()]
        if len(pieces) < 2:
            return pieces[0] if pieces else None
        return sp.vstack(pieces, format="csr") if self.is_sparse else np.concatenate(pieces)

    @cached_property
    def statistics(self) -> Statistics:
        """Norms and counts of the columns, in one pass that is made once."""
        found = self._store.summed(passes.statistics, self._calls())
        nothing = np.zeros(self.shape[1])
        return Statistics(0.0, 0.0, nothing, nothing) if found is None else found

    def pieces(self) -> Iterator[tuple[slice | IntArray, Any]]:
        """The rows in pieces, for models with ``partial_fit``.

        Yields
        ------
        places : slice or ndarray of int
            Where the rows stand, ``y[places]`` being their labels.
        rows : CSR array or ndarray
            Not to be changed: it may be a memory map.
        """
        each = self._store.each(passes.take, self._calls())
        for part, rows in zip(self._parts, each, strict=True):
            yield part.places, rows

    def verify(self) -> None:
        """Compare every block with its checksum; an error names the first that differs.

        Blocks on disk are also compared when they are first used.
        """
        for _ in self._store.each(passes.count_rows, self._calls()):
            pass


def is_everything(key: Any) -> bool:
    """Whether the key is ``:``."""
    return isinstance(key, slice) and key == slice(None)


def numbers_of(key: Any, size: int, what: str) -> IntArray:
    """Row or column numbers from numbers, a mask, or a slice.

    Parameters
    ----------
    size : int
        How many there are.
    what : str
        "rows" or "columns", for messages.
    """
    if isinstance(key, slice):
        return np.arange(*key.indices(size))
    array = np.atleast_1d(np.asarray(key))
    if array.ndim == 1 and array.dtype.kind == "b" and array.size == size:
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise IndexError(
            f"{what} of X must be a 1-D array of integers, a boolean mask of length {size} or a "
            f"slice; got {key!r}."
        )
    numbers = array.astype(np.int64)
    wrong = numbers[(numbers < -size) | (numbers >= size)]
    if wrong.size:
        raise IndexError(f"X has {size} {what}, numbered from 0; {wrong[0]} is out of range.")
    return np.where(numbers < 0, numbers + size, numbers)
