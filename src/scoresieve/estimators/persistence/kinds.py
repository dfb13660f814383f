"""Kinds of fitted attributes: how each becomes plain data and back, and what a file may hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from scoresieve._arrays import Array
from scoresieve._record import Record
from scoresieve.estimators.persistence.classes import model_of
from scoresieve.estimators.persistence.rows import check_coefficients, plain_weights, to_matrix

_MOST = 2**48


def _same(value: Any) -> Any:
    return value


@dataclasses.dataclass(frozen=True)
class Field:
    """``value(plain(x)) == x`` for one fitted attribute x, and a check of what a file holds.

    Attributes
    ----------
    check : callable
        ``check(record, key)`` takes the plain data from the record; ValueError if wrong.
    plain, value : callable
        To plain data of numbers, text, lists, dicts and arrays, and back.
    optional, nullable : bool
        Whether a fitted model may lack the attribute, or have None; a file holds null then.
    is_proof : bool
        Whether it grows with the training rows and serves ``certify`` and warm starts only.
    is_list : bool
        Whether it has one item for each problem.
    """

    check: Callable[[Record, Any], Any]
    plain: Callable[[Any], Any] = _same
    value: Callable[[Any], Any] = _same
    optional: bool = False
    nullable: bool = False
    is_proof: bool = False
    is_list: bool = False

    def read(self, record: Record, key: Any) -> Any:
        """The checked plain data; None if it is absent and may be."""
        if (self.optional or self.nullable) and record.is_null(key):
            return None
        return self.check(record, key)

    def to_plain(self, value: Any) -> Any:
        """The plain data of a value that may be None."""
        return None if value is None else self.plain(value)

    def to_value(self, plain: Any) -> Any:
        """The inverse of :meth:`to_plain`."""
        return None if plain is None else self.value(plain)


def number(kind: type, low: float) -> Field:
    """A finite number of at least ``low``."""
    return Field(lambda record, key: record.number(key, kind, low))


def count(size: str) -> Field:
    """A number of at least 1 that says how large something is."""
    return Field(lambda record, key: record.size(key, size, record.number(key, int, 1, _MOST)))


def array(dtype: Any, *sizes: str | int | None, finite: bool = False) -> Field:
    """An array of these sizes."""
    return Field(lambda record, key: record.array(key, dtype, sizes, finite=finite))


def columns(size: str | None = None, *, below: str | None = "features") -> Field:
    """Sorted distinct numbers, below a size that is known."""

    def check(record: Record, key: Any) -> Array:
        numbers = record.array(key, np.int64, (size,))
        end = _MOST if below is None else record.known.sizes[below]
        if np.any(np.diff(numbers) <= 0) or np.any((numbers < 0) | (numbers >= end)):
            record.refuse(key, f"must be distinct sorted column numbers below {end}.")
        return numbers

    return Field(check)


def weights(*sizes: str) -> Field:
    """Weights of which few are not 0."""
    check = partial(check_coefficients, sizes=sizes)
    return Field(check, plain_weights, to_matrix)


def each(part: Field) -> Field:
    """A list with one such part for each problem."""

    def check(record: Record, key: Any) -> list[Any]:
        items = record.items(key, record.known.sizes["problems"])
        return [part.read(items, number) for number in items.names()]

    return Field(
        check,
        plain=lambda items: [part.to_plain(item) for item in items],
        value=lambda items: [part.to_value(item) for item in items],
        is_proof=part.is_proof,
        is_list=True,
    )


def table(row: Any) -> Field:
    """Rows of one dataclass of numbers as one array; whole numbers are exact in it, too."""
    fields = dataclasses.fields(row)
    kinds = [int if field.type == "int" else float for field in fields]
    whole = [place for place, kind in enumerate(kinds) if kind is int]

    def plain(rows: list[Any]) -> Array:
        values = [[getattr(each, field.name) for field in fields] for each in rows]
        return np.array(values, dtype=np.float64).reshape(len(rows), len(fields))

    def value(plain: Array) -> list[Any]:
        return [row(*(kind(v) for kind, v in zip(kinds, r, strict=True))) for r in plain.tolist()]

    def check(record: Record, key: Any) -> Array:
        rows = record.array(key, np.float64, (None, len(fields)))
        if not np.all(np.isfinite(rows[:, whole])):
            record.refuse(key, "holds counts that are no numbers.")
        return rows

    return Field(check, plain, value)


def estimator(*names: str) -> Field:
    """A fitted model of one of these classes, which is plain data by itself."""
    return Field(lambda record, key: model_of(record.record(key), *names))
