"""Sums in an order that the places of the items alone decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def pairwise(items: Iterable[Item | None], combine: Callable[[Item, Item], Item]) -> Item | None:
    """``(x_0 + x_1) + (x_2 + x_3) + ...``: neighbours first, then neighbours of those, and so on.

    An item without a neighbour moves up as it is, and so does one beside None. The order does not
    depend on when items come or on who adds them, so that threads and clusters give the same bits,
    and rounding grows with the logarithm of the number of items. ``log2`` of it are alive at once.

    Returns
    -------
    object or None
        None without items.
    """
    stack: list[tuple[int, Item | None]] = []
    for item in items:
        size = 1
        while stack and stack[-1][0] == size:
            size, item = 2 * size, _joined(stack.pop()[1], item, combine)
        stack.append((size, item))
    total = None
    while stack:
        total = _joined(stack.pop()[1], total, combine)
    return total


def at_places(places: Iterable[int], items: Iterable[Item]) -> Iterator[Item | None]:
    """The items at their places, 0 being the first one, with None between them."""
    n_done = 0
    for place, item in zip(places, items, strict=True):
        yield from (None for _ in range(n_done, place))
        yield item
        n_done = place + 1


def _joined(
    first: Item | None, second: Item | None, combine: Callable[[Item, Item], Item]
) -> Item | None:
    if first is None or second is None:
        return second if first is None else first
    return combine(first, second)


def add_into(first: Item, second: Item) -> Item:
    """``first + second``, in the memory of the first if it is an array that nobody else holds."""
    first += second  # type: ignore[operator]
    return first
