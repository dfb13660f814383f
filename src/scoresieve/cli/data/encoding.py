"""How the rows of a file become rows of X, as it is kept with a model.

numbered   columns have numbers: svmlight, npz
named      columns have names: CSV, parquet; each becomes columns of X in its own way
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from scoresieve._arrays import Array
from scoresieve._record import Record
from scoresieve.cli.data.columns import Column, column_from
from scoresieve.cli.errors import BadData, WrongUse, listed

VERSION = 1
#: With more columns of zeros and ones than this, X is sparse.
MOST_DENSE = 100
#: What an encoding has besides the columns, in the order of its arguments.
_ABOUT = ("label", "bag", "against_rest", "positive")


@dataclass(frozen=True)
class Numbered:
    """Columns with numbers.

    Attributes
    ----------
    zero_based : bool
        Whether a svmlight file calls the first column 0.
    unit_rows : bool
        Whether rows are divided by their length.
    names : dict
        Of columns as far as they are known, by place from 0.
    """

    n_features: int
    zero_based: bool = False
    unit_rows: bool = False
    names: dict[int, str] = field(default_factory=dict)

    def scaled(self, X: Any) -> Any:
        """Rows of length 1, if that was asked for."""
        return normalize(X) if self.unit_rows else X

    def feature_names(self) -> Array:
        """Names, or numbers as files have them."""
        numbers = np.arange(self.n_features) + (not self.zero_based)
        if not self.names:
            return numbers
        texts = numbers.astype(object)
        for place, name in self.names.items():
            texts[place] = name
        return texts

    def known_names(self) -> list[str] | None:
        """Names of all columns, if files have any."""
        return [str(name) for name in self.feature_names()] if self.names else None

    def described(self) -> str:
        """What a file needs to have."""
        first = 0 if self.zero_based else 1
        scaled = ", rows divided by their length" if self.unit_rows else ""
        return f"columns {first} to {self.n_features + first - 1}{scaled}"

    def keeping(self, support: Array) -> Numbered:
        """With the names of these columns alone, so that a model's file stays small."""
        return replace(self, names={j: self.names[j] for j in support.tolist() if j in self.names})

    def plain(self) -> dict[str, Any]:
        """All that :meth:`from_record` needs."""
        return {
            "kind": "numbered",
            "n_features": self.n_features,
            "zero_based": self.zero_based,
            "unit_rows": self.unit_rows,
            "named": np.array(sorted(self.names), dtype=np.int64),
            "names": [self.names[place] for place in sorted(self.names)],
        }

    @classmethod
    def from_record(cls, record: Record) -> Numbered:
        """From plain data, all of it checked."""
        n_features = record.number("n_features", int, 1)
        flags = record.take("zero_based", bool), record.take("unit_rows", bool)
        places = record.array("named", np.int64, (None,))
        if np.any(places < 0) or np.any(places >= n_features) or np.any(np.diff(places) <= 0):
            record.refuse("named", "must be rising numbers of columns.")
        texts = record.items("names", places.size)
        names = [texts.take(place, str) for place in range(places.size)]
        return cls(n_features, *flags, dict(zip(places.tolist(), names, strict=True)))


@dataclass(frozen=True)
class Named:
    """Columns with names."""

    columns: tuple[Column, ...]

    @property
    def n_features(self) -> int:
        """Of X."""
        return len(self.known_names())

    def feature_names(self) -> Array:
        """Of the columns of X."""
        return np.array(self.known_names(), dtype=object)

    def known_names(self) -> list[str]:
        """The same as texts: tables name all columns."""
        return [name for column in self.columns for name in column.feature_names()]

    def described(self) -> str:
        """What a file needs to have."""
        return "columns " + ", ".join(f"{column.name} ({column.kind})" for column in self.columns)

    def encode(self, frame: Any, file: str) -> Any:
        """X of a data frame: sparse where most of it is zeros."""
        parts = [column.encode(frame[column.name], file) for column in self.columns]
        n_zeros = sum(len(c.feature_names()) for c in self.columns if c.kind == "category")
        if n_zeros > MOST_DENSE or any(column.kind == "text" for column in self.columns):
            return sp.hstack([sp.csr_array(part) for part in parts], format="csr")
        return np.hstack([part.toarray() if sp.issparse(part) else part for part in parts])

    def keeping(self, support: Array) -> Named:
        """All columns: how words are weighted depends on the others of a row."""
        return self

    def plain(self) -> dict[str, Any]:
        """All that :meth:`from_record` needs."""
        return {"kind": "named", "columns": [column.plain() for column in self.columns]}

    @classmethod
    def from_record(cls, record: Record) -> Named:
        """From plain data, all of it checked."""
        parts = record.take("columns", list)
        columns = [
            column_from(Record(part, f"{record.name}.columns.{place}"))
            for place, part in enumerate(parts)
        ]
        if not columns or len({column.name for column in columns}) < len(columns):
            record.refuse("columns", "must be a list of columns with distinct names.")
        return cls(tuple(columns))


@dataclass(frozen=True)
class Encoding:
    """Rows as rows of X, and labels as classes.

    Attributes
    ----------
    label, bag : str, optional
        Names of the columns, or of the arrays, with labels and bags.
    against_rest : str, optional
        The class that all others are one class against.
    positive : str, optional
        The positive one of two classes, if the user named it.
    """

    rows: Numbered | Named
    label: str | None = None
    bag: str | None = None
    against_rest: str | None = None
    positive: str | None = None

    def keeping(self, support: Array) -> Encoding:
        """Without what only columns outside of the support would need."""
        return replace(self, rows=self.rows.keeping(support))

    def plain(self) -> dict[str, Any]:
        """All that :meth:`from_record` needs."""
        about = {name: getattr(self, name) for name in _ABOUT}
        return {"version": VERSION, **about, "rows": self.rows.plain()}

    @classmethod
    def from_record(cls, record: Record) -> Encoding:
        """From plain data, all of it checked."""
        version = record.take("version", int)
        if version != VERSION:
            record.refuse("version", f"is {version}, but this version reads {VERSION}; upgrade.")
        about = [record.take(name, str, type(None)) for name in _ABOUT]
        entry = record.record("rows")
        kinds: dict[str, Any] = {"numbered": Numbered, "named": Named}
        rows = kinds[entry.choice("kind", list(kinds))].from_record(entry)
        entry.end()
        record.end()
        return cls(rows, *about)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to fit on or to predict.

    Attributes
    ----------
    file : str
        For messages.
    X : ndarray or CSR matrix
    encoding : Encoding
        How other files like this one become X.
    y : ndarray, optional
    positive : object
        The positive class, if the user named it.
    bags : ndarray, optional
        The bag of each row.
    copied : dict, optional
        Cells of columns to put beside the predictions, as text.
    """

    file: str
    X: Any
    encoding: Encoding
    y: Any = None
    positive: Any = None
    bags: Any = None
    copied: dict[str, list[str]] = field(default_factory=dict)


#: More different numbers than this that are not whole are measurements, not classes.
MOST_FRACTIONS = 20


class Classes(NamedTuple):
    """Labels to fit on.

    Attributes
    ----------
    y : ndarray
    positive : object
        The positive class, if the user named one of two.
    against_rest : str, optional
        The one of several classes that all others are one class against.
    """

    y: Array
    positive: Any = None
    against_rest: str | None = None

    @property
    def positive_text(self) -> str | None:
        """The positive class as one writes it."""
        return None if self.positive is None else text_of(self.positive)


def as_labels(name: str, values: Any) -> Array:
    """Whole numbers, truth values or text, one for each row and none missing."""
    import pandas as pd

    series = pd.Series(values)
    missing = np.flatnonzero(series.isna())
    if missing.size:
        raise BadData(
            f"{name}: {missing.size} rows have no label (first: row {missing[0] + 1}); fill them "
            "in, or remove these rows."
        )
    if pd.api.types.is_bool_dtype(series):
        return series.to_numpy(dtype=bool)
    if not pd.api.types.is_numeric_dtype(series):
        return np.array([str(value) for value in series])
    numbers = series.to_numpy(dtype=np.float64)
    if np.all(np.isfinite(numbers)) and np.all(numbers == np.round(numbers)):
        return numbers.astype(np.int64)
    found = np.unique(numbers)
    if found.size > MOST_FRACTIONS or not np.all(np.isfinite(numbers)):
        raise BadData(
            f"{name}: the labels are {found.size} different numbers such as {found[0]:g}, not "
            "classes; choose a column of classes with --label."
        )
    return numbers


def choose_positive(name: str, y: Array, positive: str | None) -> Classes:
    """The classes in y, with the positive one if it was named."""
    classes = np.unique(y)
    if classes.size < 2:
        raise BadData(
            f"{name}: all rows have the label {text_of(classes[0])}; add rows of a second class, "
            "or choose another column with --label."
        )
    if positive is None:
        return Classes(y)
    place = _find(positive, classes)
    if place is None:
        raise WrongUse(
            f"{name}: --positive {positive} is not a label; choose one of "
            f"{listed(map(text_of, classes))}."
        )
    label = text_of(classes[place])
    if classes.size == 2:
        return Classes(y, classes[place].item())
    return Classes(_one_class(y == classes[place], label), label, label)


def match_labels(name: str, y: Array, classes: Array, against_rest: str | None) -> Array:
    """The labels of another file as classes of a model."""
    if against_rest is not None:
        return _one_class(np.array([text_of(label) == against_rest for label in y]), against_rest)
    known = {text_of(label): place for place, label in enumerate(classes)}
    found, places = np.unique(y, return_inverse=True)
    unknown = [text_of(label) for label in found if text_of(label) not in known]
    if unknown:
        raise BadData(
            f"{name}: the label {unknown[0]} is not a class of the model ({listed(known)}); "
            "correct it, or choose the column of the labels with --label."
        )
    return classes[np.array([known[text_of(label)] for label in found])[places]]


def text_of(label: Any) -> str:
    """A label as one writes it: 1 and not 1.0."""
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)


def _one_class(is_it: Array, label: str) -> Array:
    return np.where(is_it, label, f"not {label}")


def _find(positive: str, classes: Array) -> int | None:
    texts = [text_of(label) for label in classes]
    if positive in texts:
        return texts.index(positive)
    try:  # "+1" and "1.0" are 1
        return texts.index(text_of(float(positive)))
    except ValueError:
        return None
