"""Fields: how one fitted attribute becomes plain data and back, and what a file may hold of it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from operator import getitem
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array
from scoresieve._record import Record
from scoresieve.losses import Loss, get_loss
from scoresieve.measures import Measure, get_measure

_MOST = 2**48
_SPARSE = {"csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array}


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
    lean : callable
        The value without what grows with the training rows and serves ``certify`` and warm starts
        alone.
    optional : bool
        Whether a fitted model may lack the attribute; a file holds null then.
    """

    check: Callable[[Record, Any], Any]
    plain: Callable[[Any], Any] = _same
    value: Callable[[Any], Any] = _same
    lean: Callable[[Any], Any] = _same
    optional: bool = False


def nullable(part: Field, *, optional: bool = False) -> Field:
    """The same where a value may be None, or missing."""

    def unless_none(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda value: None if value is None else change(value)

    return Field(
        lambda record, key: None if record.is_null(key) else part.check(record, key),
        unless_none(part.plain),
        unless_none(part.value),
        unless_none(part.lean),
        optional,
    )


def proof(part: Field) -> Field:
    """The same for what a file without certificate leaves out."""
    return dataclasses.replace(nullable(part), lean=lambda value: None)


def of_type(kind: type) -> Field:
    """A value of just this type; NaN and infinity are numbers here."""
    return Field(lambda record, key: record.take(key, kind))


def one_of(*choices: str) -> Field:
    """One of these words."""
    return Field(lambda record, key: record.choice(key, choices))


def number(kind: type, low: float = -sys.float_info.max) -> Field:
    """A finite number of at least ``low``."""
    return Field(lambda record, key: record.number(key, kind, low))


def count(size: str) -> Field:
    """A size: a number of at least 1."""
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


def labels(size: str, dtypes: str = "biufmMUO") -> Field:
    """Labels of any dtype that scikit-learn takes; objects are text."""

    def check(record: Record, key: Any) -> Array:
        found = record.array(key, dtypes, (size,))
        if found.dtype.kind == "O" and not all(isinstance(item, str) for item in found):
            record.refuse(key, "holds objects that are not strings.")
        return found

    return Field(check)


def each(part: Field, n_items: str | int | None = "problems", collect: Callable = list) -> Field:
    """A list or tuple of such parts, by default one for each problem."""

    def check(record: Record, key: Any) -> list[Any]:
        length = record.known.sizes[n_items] if isinstance(n_items, str) else n_items
        items = record.items(key, length)
        return [part.check(items, number) for number in items.names()]

    return Field(
        check,
        plain=lambda items: [part.plain(item) for item in items],
        value=lambda items: collect(part.value(item) for item in items),
        lean=lambda items: collect(part.lean(item) for item in items),
    )


def struct(
    kind: Callable[..., Any],
    parts: dict[str, Field],
    verify: Callable[[Record, dict[str, Any]], None] = lambda record, plain: None,
) -> Field:
    """A dict, or a value of a dataclass, with a field for each of its entries or attributes.

    Parameters
    ----------
    verify : callable, optional
        Refuses what does not go together, of parts that were checked one by one.
    """
    get: Callable[[Any, str], Any] = getitem if kind is dict else getattr

    def check(record: Record, key: Any) -> dict[str, Any]:
        entry = record.record(key)
        plain = {name: part.check(entry, name) for name, part in parts.items()}
        entry.end()
        verify(entry, plain)
        return plain

    found = Field(
        check,
        plain=lambda value: {k: part.plain(get(value, k)) for k, part in parts.items()},
        value=lambda plain: kind(**{k: part.value(plain[k]) for k, part in parts.items()}),
        lean=lambda value: kind(**{k: part.lean(get(value, k)) for k, part in parts.items()}),
    )
    # None passes all but the check, which names what is missing.
    return dataclasses.replace(nullable(found), check=check)


def table(row: Any) -> Field:
    """Rows of one dataclass of numbers as one array, in which integers stay exact."""
    names = [field.name for field in dataclasses.fields(row)]
    kinds = [int if field.type == "int" else float for field in dataclasses.fields(row)]
    whole = [place for place, kind in enumerate(kinds) if kind is int]

    def plain(rows: list[Any]) -> Array:
        values = [[getattr(each, name) for name in names] for each in rows]
        return np.array(values, dtype=np.float64).reshape(len(rows), len(names))

    def value(plain: Array) -> list[Any]:
        return [row(*(kind(v) for kind, v in zip(kinds, r, strict=True))) for r in plain.tolist()]

    def check(record: Record, key: Any) -> Array:
        rows = record.array(key, np.float64, (None, len(names)))
        if not np.all(np.isfinite(rows[:, whole])):
            record.refuse(key, "holds counts that are not integers.")
        return rows

    return Field(check, plain, value)


def matrix(dtype: Any, n_rows: str, n_columns: str) -> Field:
    """A finite matrix whose number of columns is known: dense ones as they are, and CSR ones.

    Of these the file has the entries other than 0: data and columns of row i are those from
    ``starts[i]`` to ``starts[i + 1]``.
    """

    def plain(value: Any) -> Any:
        if type(value).__name__ not in _SPARSE or not sp.issparse(value):
            return value
        rows = sp.csr_array(value, copy=True)
        rows.sum_duplicates()
        return {
            "flavour": type(value).__name__,
            "shape": [int(n) for n in rows.shape],
            "data": rows.data,
            "columns": rows.indices.astype(np.int64),
            "starts": rows.indptr.astype(np.int64),
        }

    def value(plain: Any) -> Any:
        if not isinstance(plain, dict):
            return plain
        parts = plain["data"], plain["columns"], plain["starts"]
        return _SPARSE[plain["flavour"]](parts, shape=tuple(plain["shape"]))

    def check(record: Record, key: Any) -> Any:
        if record.holds(key, np.ndarray):
            return record.array(key, dtype, (n_rows, n_columns), finite=True)
        entry = record.record(key)
        plain = _check_csr(entry, dtype, record.size_of(n_rows), record.known.sizes[n_columns])
        record.size(key, n_rows, plain["shape"][0])
        return plain

    return Field(check, plain, value)


def _check_csr(entry: Record, dtype: Any, n_rows: int | None, n_columns: int) -> dict[str, Any]:
    """The parts of a CSR matrix, whose entries ascend in its rows."""
    flavour = entry.choice("flavour", tuple(_SPARSE))
    starts, places = (entry.array(name, np.int64, (None,)) for name in ("starts", "columns"))
    shape = [max(starts.size - 1, 0) if n_rows is None else n_rows, n_columns]
    if entry.take("shape", list) != shape or starts.size != shape[0] + 1:
        entry.refuse("shape", f"must be {shape}, and there must be as many rows.")
    data = entry.array("data", dtype, places.shape, finite=True)
    if starts[0] != 0 or starts[-1] != places.size or np.any(np.diff(starts) < 0):
        entry.refuse("starts", f"must ascend from 0 to {places.size}.")
    new_row = np.zeros(places.size + 1, dtype=bool)
    new_row[starts] = True
    ascending = (np.diff(places) > 0) | new_row[1:-1]
    if not np.all(ascending) or np.any((places < 0) | (places >= n_columns)):
        entry.refuse("columns", f"must ascend in each row, and be from 0 to {n_columns - 1}.")
    entry.end()
    return {"flavour": flavour, "shape": shape, "data": data, "columns": places, "starts": starts}


def named(kind: str) -> Field:
    """A measure or a loss by its name with all settings: ``{"loss": "huber", "epsilon": 0.5}``."""

    def plain(value: Any) -> Any:
        """Unchanged, if name and settings do not give it back."""
        if not isinstance(value, Measure | Loss):
            return value
        found = {kind: value.name} | (vars(value) if kind == "loss" else {})
        try:
            return found if to_named(found) == value else value
        except ValueError:
            return value

    def check(record: Record, key: Any) -> dict[str, Any]:
        value = record.take(key)
        if isinstance(value, Measure | Loss):  # No file has it: a model is about to be saved.
            raise ValueError(
                f"{key}={value!r} has no name that gives it back: your own functions, weights or "
                "classes cannot be stored as plain data. Pickle the model instead."
            )
        entry = Record(value, f"{record.name}.{key}")
        found = {kind: entry.take(kind, str)}
        if kind == "loss":
            found |= {name: entry.take(name, float) for name in vars(get_loss(found["loss"]))}
        entry.end()
        to_named(found)
        return found

    return Field(check, plain, to_named)


def to_named(plain: Any) -> Any:
    """A measure or loss from its name and settings; unchanged if it has none (in pickles)."""
    if type(plain) is not dict:
        return plain
    if "measure" in plain:
        return get_measure(plain["measure"])
    return get_loss(plain["loss"], **{k: v for k, v in plain.items() if k != "loss"})
