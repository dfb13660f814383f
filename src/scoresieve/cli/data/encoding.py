"""How the rows of a file become rows of X, as it is kept with a model.

numbered   columns have numbers: svmlight, npz
named      columns have names: CSV, parquet; each becomes columns of X in its own way
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from scoresieve._arrays import Array
from scoresieve._record import Record
from scoresieve.cli.data.columns import Column, Number, column_from

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
        return sum(len(column.feature_names()) for column in self.columns)

    def feature_names(self) -> Array:
        """Of the columns of X."""
        names = [name for column in self.columns for name in column.feature_names()]
        return np.array(names, dtype=object)

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
            record.refuse("version", f"is {version}; this scoresieve reads {VERSION}: upgrade it.")
        about = [record.take(name, str, type(None)) for name in _ABOUT]
        entry = record.record("rows")
        kinds: dict[str, Any] = {"numbered": Numbered, "named": Named}
        rows = kinds[entry.choice("kind", list(kinds))].from_record(entry)
        entry.end()
        record.end()
        return cls(rows, *about)

    @classmethod
    def of_model(cls, model: Any) -> Encoding:
        """That of a model that was saved without one: columns as it knows them."""
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            return cls(Numbered(n_columns(model)))
        return cls(Named(tuple(Number(str(name)) for name in names)))


def n_columns(model: Any) -> int:
    """How many columns X must have."""
    embedding = getattr(model, "embedding_", None)
    return int(model.n_features_in_ if embedding is None else embedding.n_columns_in_)
