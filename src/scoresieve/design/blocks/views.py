"""Which rows of which blocks a view holds, from the numbers that users choose rows by."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import IntArray


class Part(NamedTuple):
    """The rows of one block that are in a view.

    Attributes
    ----------
    rows : ndarray of int or None
        Sorted numbers inside the block; None for all of them.
    places : slice or ndarray of int
        Where these rows stand in the view.
    """

    block: int
    rows: IntArray | None
    places: slice | IntArray


def parts_of(sizes: IntArray, rows: IntArray | None) -> list[Part]:
    """The blocks with rows in a view, in order.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_blocks,)
        Rows of each block.
    rows : ndarray of int, optional
        Numbers of the rows of the view in any order, some perhaps twice; None for all rows.
    """
    ends = np.cumsum(sizes)
    starts = ends - sizes
    if rows is None:
        pairs = enumerate(zip(starts, ends, strict=True))
        return [Part(block, None, slice(int(a), int(b))) for block, (a, b) in pairs if b > a]
    order = None if np.all(rows[1:] >= rows[:-1]) else np.argsort(rows, kind="stable")
    in_order = rows if order is None else rows[order]
    cuts = np.searchsorted(in_order, np.append(starts, ends[-1:]))
    return [
        Part(
            block,
            in_order[first:last] - starts[block],
            slice(int(first), int(last)) if order is None else order[first:last],
        )
        for block, (first, last) in enumerate(itertools.pairwise(cuts))
        if last > first
    ]


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
            f"{what} of X are chosen by a 1-D array of numbers, a mask of {size} or a slice; got "
            f"{key!r}."
        )
    numbers = array.astype(np.int64)
    wrong = numbers[(numbers < -size) | (numbers >= size)]
    if wrong.size:
        raise IndexError(f"X has {size} {what}; {wrong[0]} is none of them.")
    return np.where(numbers < 0, numbers + size, numbers)
