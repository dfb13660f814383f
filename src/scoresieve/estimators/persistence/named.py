"""Measures and losses by the names that give them back, in fitted state and as parameters."""

from __future__ import annotations

from typing import Any

from scoresieve.estimators.persistence.record import Record
from scoresieve.losses import Loss, get_loss
from scoresieve.measures import Measure, get_measure


def plain_measure(measure: Measure) -> str | Measure:
    """The name of a measure, or the measure itself if the name does not say all."""
    try:
        return measure.name if get_measure(measure.name) == measure else measure
    except ValueError:
        return measure


def plain_loss(loss: Loss) -> dict[str, Any] | Loss:
    """The name of a loss and its settings, or the loss itself if they do not say all."""
    plain = {"name": loss.name, **vars(loss)}
    try:
        return plain if to_loss(plain) == loss else loss
    except ValueError:
        return loss


def to_loss(plain: dict[str, Any] | Loss) -> Loss:
    """The inverse of :func:`plain_loss`."""
    if isinstance(plain, Loss):
        return plain
    settings = {name: value for name, value in plain.items() if name != "name"}
    return get_loss(plain["name"], **settings)


def check_measure(record: Record, key: Any) -> str:
    """The name of a measure."""
    return get_measure(record.take(key, str)).name


def check_loss(record: Record, key: Any) -> dict[str, Any]:
    """The name of a loss and all its settings."""
    entry = record.record(key)
    loss = get_loss(entry.take("name", str))
    plain = {"name": loss.name} | {name: entry.take(name, float) for name in vars(loss)}
    entry.end()
    to_loss(plain)
    return plain


def plain_parameter(value: Any) -> Any:
    """A measure, a loss or a dict as a dict that says which of them it is; all else as it is."""
    if isinstance(value, Measure):
        return {"measure": refuse_own(plain_measure(value))}
    if isinstance(value, Loss):
        return {"loss": refuse_own(plain_loss(value))}
    return {"items": [list(item) for item in value.items()]} if type(value) is dict else value


def read_parameter(record: Record, key: str) -> Any:
    """The inverse of :func:`plain_parameter`."""
    if not record.holds(key, dict):
        return record.take(key)
    entry = record.record(key)
    if entry.names() == ["measure"]:
        return get_measure(check_measure(entry, "measure"))
    if entry.names() == ["loss"]:
        return to_loss(check_loss(entry, "loss"))
    items = entry.take("items", list)
    entry.end()
    try:
        return dict(items)
    except (TypeError, ValueError):
        entry.refuse("items", "must be pairs of keys and values.")


def refuse_own(value: Any) -> Any:
    """The value, unless it is a measure or a loss that only code can make."""
    if isinstance(value, Measure | Loss):
        raise ValueError(
            f"{value!r} has no name that gives it back: a function, weights or a class of your own "
            "cannot be in a file of plain data. Pickle the model instead."
        )
    return value
