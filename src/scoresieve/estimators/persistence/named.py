"""Measures and losses by the names that give them back.

{"measure": "f2"}      {"loss": "huber", "epsilon": 0.5}
"""

from __future__ import annotations

from typing import Any

from scoresieve._record import Record
from scoresieve.losses import Loss, get_loss
from scoresieve.measures import Measure, get_measure


def plain_named(value: Any) -> Any:
    """The name of a measure or loss with all settings; as it is, if these do not give it back."""
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
    if "measure" in plain:
        return get_measure(plain["measure"])
    return get_loss(plain["loss"], **{k: v for k, v in plain.items() if k != "loss"})


def check_named(record: Record, key: str, kind: str) -> dict[str, Any]:
    """The name of a measure, or of a loss with all settings."""
    value = record.take(key)
    if isinstance(value, Measure | Loss):  # No file has it: a model is about to be saved.
        raise ValueError(
            f"{key}={value!r} has no name that gives it back: a function, weights or a class of "
            "your own cannot be in a file of plain data. Pickle the model instead."
        )
    entry = Record(value, f"{record.name}.{key}")
    plain = {kind: entry.take(kind, str)}
    if kind == "loss":
        plain |= {name: entry.take(name, float) for name in vars(get_loss(plain["loss"]))}
    entry.end()
    to_named(plain)
    return plain
