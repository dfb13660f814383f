"""Which rows of which blocks or groups a view holds, from the numbers that users give."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import IntArray


class SortedRows(NamedTuple):
    """The rows of a view in the order of X.

    Attributes
    ----------
    numbers : ndarray of int
        Sorted, some perhaps twice.
    order : ndarray of int or None
        Where each of them stands in the view; None if that is the same order.
    """

    numbers: IntArray
    order: IntArray | None

    @classmethod
    def of_view(cls, rows: IntArray) -> SortedRows:
        """From the numbers of the rows in the order of the view."""
        if np.all(rows[1:] >= rows[:-1]):
            return cls(rows, None)
        order = np.argsort(rows, kind="stable")
        return cls(rows[order], order)


class Chosen(NamedTuple):
    """Some rows of a block or group, by their sorted numbers in X and the number of its first row.

    The numbers of a view are in memory once, whatever it is cut into.
    """

    numbers: IntArray
    start: int

    def inside(self) -> IntArray:
        """Their numbers inside of the block or group."""
        return self.numbers - self.start


class Part(NamedTuple):
    """The rows of one block, or of one group, that are in a view.

    Attributes
    ----------
    rows : Chosen or None
        None for all of them.
    places : slice or ndarray of int
        Where these rows stand in the view.
    """

    number: int
    rows: Chosen | None
    places: slice | IntArray

    def places_between(self, first: int, last: int) -> slice | IntArray:
        """Where some of the rows stand."""
        if isinstance(self.places, slice):
            return slice(self.places.start + first, self.places.start + last)
        return self.places[first:last]


def parts_of(sizes: IntArray, rows: SortedRows | None) -> list[Part]:
    """The blocks, or groups, with rows in a view, in order.

    Parameters
    ----------
    sizes : ndarray of int
        Rows of each of them.
    rows : SortedRows, optional
        Of the view; None for all rows.
    """
    ends = np.cumsum(sizes)
    starts = ends - sizes
    if rows is None:
        pairs = enumerate(zip(starts, ends, strict=True))
        return [Part(number, None, slice(int(a), int(b))) for number, (a, b) in pairs if b > a]
    cuts = np.searchsorted(rows.numbers, np.append(starts, ends[-1:]))
    return [
        Part(
            number,
            Chosen(rows.numbers[first:last], int(starts[number])),
            slice(int(first), int(last)) if rows.order is None else rows.order[first:last],
        )
        for number, (first, last) in enumerate(itertools.pairwise(cuts))
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
