"""Measures and losses by the names that give them back, and dicts by the pairs in them.

{"measure": "f2"}      {"loss": "huber", "epsilon": 0.5}      {"items": [["rare", 5.0]]}
"""

from __future__ import annotations

from typing import Any

from scoresieve.estimators.persistence.record import Record
from scoresieve.losses import Loss, get_loss
from scoresieve.measures import Measure, get_measure


def plain_named(value: Any) -> Any:
    """A value in one of these forms; as it is if it has none, or if its name does not say all."""
    if type(value) is dict:
        return {"items": [list(item) for item in value.items()]}
    if not isinstance(value, Measure | Loss):
        return value
    is_loss = isinstance(value, Loss)
    plain = {"loss": value.name, **vars(value)} if is_loss else {"measure": value.name}
    try:
        return plain if to_named(plain) == value else value
    except ValueError:
        return value


def to_named(plain: Any) -> Any:
    """The inverse of :func:`plain_named`."""
    if type(plain) is not dict:
        return plain
    if "items" in plain:
        return dict(plain["items"])
    if "measure" in plain:
        return get_measure(plain["measure"])
    return get_loss(plain["loss"], **{k: v for k, v in plain.items() if k != "loss"})


def check_named(record: Record, key: Any, *kinds: str) -> Any:
    """One of these forms, of one of the kinds; with all kinds also a value that has no form."""
    value = record.take(key)
    if isinstance(value, Measure | Loss):  # No file has it: a model is about to be saved.
        raise ValueError(
            f"{key}={value!r} has no name that gives it back: a function, weights or a class of "
            "your own cannot be in a file of plain data. Pickle the model instead."
        )
    if "items" in kinds and type(value) is not dict:
        return value
    entry = Record(value, f"{record.name}.{key}")
    kind = next((kind for kind in kinds if kind in entry.names()), kinds[0])
    plain = {kind: entry.take(kind, list if kind == "items" else str)}
    if kind == "loss":
        plain |= {name: entry.take(name, float) for name in vars(get_loss(plain["loss"]))}
    entry.end()
    try:
        to_named(plain)
    except TypeError as error:
        entry.refuse(kind, f"must be pairs: {error}.")
    return plain
