"""Sums in an order that the number of items alone decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def pairwise(items: Iterable[Item], combine: Callable[[Item, Item], Item]) -> Item | None:
    """``(x_0 + x_1) + (x_2 + x_3) + ...``: neighbours first, then neighbours of those, and so on.

    An item without a neighbour moves up as it is. The order does not depend on when items come or
    on who adds them, so that threads and clusters give the same bits, and rounding grows with the
    logarithm of the number of items. ``log2`` of it are alive at once.

    Returns
    -------
    object or None
        None without items.
    """
    stack: list[tuple[int, Item]] = []
    for item in items:
        size = 1
        while stack and stack[-1][0] == size:
            size, item = 2 * size, combine(stack.pop()[1], item)
        stack.append((size, item))
    if not stack:
        return None
    total = stack.pop()[1]
    while stack:
        total = combine(stack.pop()[1], total)
    return total
