"""Plain data with other values at some of its places: types, sizes, names, depths, numbers."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 2**31, 2**63, 2**64, -(2**63), 10**400, 0.0, -0.0, 0.5),
    *(1e308, -1e308, 5e-324, float("nan"), float("inf"), "", "a", "$", "\x00", "\ud800", "é" * 40),
    *("../../etc/passwd", "/etc/passwd", "os.system", "__class__", "|O", "<f8", "<U999999999"),
    *([], {}, [[]], [None] * 20, list(range(50)), {"": 1}, {"$": "array"}, {"$": "scalar"}),
    *({"$": "float", "value": "nan"}, {"$": "float", "value": "inf"}, {"$": "float", "value": 3}),
    *({"$": "tuple", "items": []}, {"$": "set", "items": [[1]]}, {"$": "dict", "items": [1]}),
    *({"$": "dict", "items": [[{}, 1]]}, {"$": "range", "items": [0, 10**30, 1]}),
    *({"$": "range", "items": [0, 5, 0]}, {"$": "objects", "shape": [2**31, 2**31], "items": []}),
    *({"$": "objects", "shape": [-1], "items": [1]}, {"$": "objects", "shape": [1], "items": [{}]}),
    *({"$": "pickle", "items": []}, {"$": {}}, {"$": None}, {"measure": "f1"}, {"loss": "huber"}),
    *({"measure": "prec@99999999"}, {"loss": "huber", "epsilon": -1.0}, {"measure": ["f1"]}),
)


def mutated_tree(tree: Any, source: random.Random) -> Any:
    """A copy of the tree after one to three changes."""
    tree = {"root": copy.deepcopy(tree)}
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        holder, key = source.choice(list(_places(tree)))
        change = source.randrange(7)
        if change == 0 and holder is not tree:
            del holder[key]
        elif change == 1 and isinstance(holder, dict) and holder is not tree:
            holder[source.choice(("x", "$", "C", "class", f"{key}_"))] = holder.pop(key)
        elif change == 2:
            other_holder, other_key = source.choice(list(_places(tree)))
            holder[key] = _copy(other_holder[other_key])
        elif change == 3 and isinstance(holder[key], list):
            holder[key] = holder[key] * source.choice((0, 2, 3))
        elif change == 4 and isinstance(holder[key], bool | int | float):
            holder[key] = _near(holder[key], source)
        elif change == 5:
            for _ in range(source.choice((1, 3, 2000))):
                holder[key] = [holder[key]] if source.random() < 0.5 else {"a": holder[key]}
        else:
            holder[key] = copy.deepcopy(source.choice(VALUES))
    return tree["root"]


def _copy(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except RecursionError:
        return None


def _near(value: Any, source: random.Random) -> Any:
    as_float = float(value) if abs(value) < 2**1023 else math.inf
    return source.choice((value + 1, value - 1, -value, value * 2, as_float, str(value)))


def _places(tree: Any) -> Any:
    """Every (holder, key) of a tree, without recursion: trees may be deep by now."""
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
