"""How one column of a table becomes columns of X: numbers, truth values, categories, texts.

number     (x - mean) / scale, the standard deviation of the training rows
flag       0 or 1
category   one column for each value of the training rows, 1 where a row has it; one for two values
text       TF-IDF of its words, rows of length 1
"""

from __future__ import annotations

import sys
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from scoresieve._arrays import FloatArray
from scoresieve._record import Record
from scoresieve.cli.data.cells import numbers_of, texts_of
from scoresieve.cli.errors import BadData, listed, one_line

_TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
#: Words that stand in fewer rows tell nothing about others.
LEAST_ROWS = 2
#: A standard deviation below it is 0.
SMALLEST = sys.float_info.min


class Column(ABC):
    """What every kind of column can do."""

    name: str
    kind: ClassVar[str]
    #: Whether cells of a CSV are wanted as they stand, even if they look like numbers.
    is_text: ClassVar[bool] = True

    def feature_names(self) -> list[str]:
        """Of the columns of X; that of the column itself if it is one."""
        return [self.name]

    @abstractmethod
    def encode(self, values: Any, file: str) -> Any:
        """Columns of X, dense or CSR, from a series of pandas; ``file`` is for messages."""

    def plain(self) -> dict[str, Any]:
        """All that :func:`column_from` needs."""
        values = {k: list(v) if isinstance(v, tuple) else v for k, v in vars(self).items()}
        return {"kind": self.kind, **values}


@dataclass(frozen=True)
class Number(Column):
    """``(x - mean) / scale``."""

    name: str
    mean: float = 0.0
    scale: float = 1.0
    kind: ClassVar[str] = "number"
    is_text: ClassVar[bool] = False

    @classmethod
    def fitted(cls, values: Any, name: str, file: str) -> Number:
        """With mean and standard deviation of the training rows."""
        numbers = numbers_of(values, name, file)
        with np.errstate(over="ignore"):
            mean, scale = float(numbers.mean()), float(numbers.std())
        if not np.isfinite(mean) or not np.isfinite(scale):
            raise BadData(
                f"{file}: the numbers of the column {name!r} are too large to add; divide them, or "
                f"leave the column out with --drop {name}."
            )
        return cls(name, mean, scale if scale >= SMALLEST else 1.0)

    def encode(self, values: Any, file: str) -> FloatArray:
        """See :class:`Column`."""
        return ((numbers_of(values, self.name, file) - self.mean) / self.scale)[:, np.newaxis]

    @classmethod
    def from_record(cls, record: Record) -> Number:
        """From plain data, all of it checked."""
        name, mean = record.take("name", str), record.number("mean", float, -sys.float_info.max)
        return cls(name, mean, record.number("scale", float, SMALLEST))


@dataclass(frozen=True)
class Flag(Column):
    """1 for true, 0 for false."""

    name: str
    kind: ClassVar[str] = "flag"

    @classmethod
    def fitted(cls, values: Any, name: str, file: str) -> Flag:
        """There is nothing to learn."""
        return cls(name)

    def encode(self, values: Any, file: str) -> FloatArray:
        """See :class:`Column`."""
        found = values.astype(str).str.lower().map(_TRUTH).to_numpy(dtype=np.float64)
        wrong = np.flatnonzero(np.isnan(found))
        if wrong.size:
            raise BadData(
                f"{file}: the column {self.name!r} holds {str(values.iloc[wrong[0]])!r} in row "
                f"{wrong[0] + 1}; it must be true or false, as in training."
            )
        return found[:, np.newaxis]

    @classmethod
    def from_record(cls, record: Record) -> Flag:
        """From plain data, all of it checked."""
        return cls(record.take("name", str))


@dataclass(frozen=True)
class Category(Column):
    """One column for each value; a value that training did not have is none of them.

    Of two values the rarer has the column, since the other one would say the same again.

    Attributes
    ----------
    values : tuple of str
        Those that have a column.
    base : str
        The one of two that has none; without it, an empty cell if that is not among the values.
    """

    name: str
    values: tuple[str, ...]
    base: str = ""
    kind: ClassVar[str] = "category"

    @classmethod
    def fitted(cls, values: Any, name: str, file: str) -> Category:
        """With the values of the training rows."""
        counts = Counter(texts_of(values))
        if len(counts) != 2:
            return cls(name, tuple(sorted(counts)))
        rarer, base = sorted(counts, key=lambda value: (counts[value], value))
        return cls(name, (rarer,), base)

    def feature_names(self) -> list[str]:
        """Of the columns of X."""
        return [f"{self.name}={value or '(empty)'}" for value in self.values]

    def encode(self, values: Any, file: str) -> Any:
        """See :class:`Column`."""
        place = {self.base: -1} | {value: at for at, value in enumerate(self.values)}
        texts = texts_of(values)
        new = sorted({text for text in texts if text not in place})
        if new:
            n_new = sum(text not in place for text in texts)
            warnings.warn(
                f"{file}: the column {self.name!r} has values that training did not have, in "
                f"{n_new} of {len(texts)} rows: {listed(map(repr, new), 3)}; nothing is known of "
                "them.",
                stacklevel=2,
            )
        places = np.array([place.get(text, -1) for text in texts], dtype=np.int64)
        rows = np.flatnonzero(places >= 0)
        ones, shape = np.ones(rows.size), (places.size, len(self.values))
        return sp.csr_array((ones, (rows, places[rows])), shape=shape)

    @classmethod
    def from_record(cls, record: Record) -> Category:
        """From plain data, all of it checked."""
        name, values = record.take("name", str), texts_in(record, "values")
        return cls(name, values, record.take("base", str))


@dataclass(frozen=True, eq=False)
class Text(Column):
    """``(1 + log tf) idf`` of each word, rows of length 1."""

    name: str
    terms: tuple[str, ...]
    idf: FloatArray
    kind: ClassVar[str] = "text"

    @classmethod
    def fitted(cls, values: Any, name: str, file: str) -> Text:
        """With the words of the training rows."""
        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=LEAST_ROWS)
        try:
            vectorizer.fit(texts_of(values))
        except ValueError as error:
            raise BadData(
                f"{file}: no word of the text column {name!r} stands in {LEAST_ROWS} rows "
                f"({one_line(error)}); leave the column out with --drop {name}, or treat it as "
                f"categories with --categorical {name}."
            ) from error
        return cls(name, tuple(vectorizer.get_feature_names_out().tolist()), vectorizer.idf_)

    def feature_names(self) -> list[str]:
        """Of the columns of X."""
        return [f"{self.name}:{term}" for term in self.terms]

    def encode(self, values: Any, file: str) -> Any:
        """See :class:`Column`."""
        vectorizer = TfidfVectorizer(sublinear_tf=True, vocabulary=list(self.terms))
        vectorizer.idf_ = self.idf
        return vectorizer.transform(texts_of(values))

    @classmethod
    def from_record(cls, record: Record) -> Text:
        """From plain data, all of it checked."""
        name, terms = record.take("name", str), texts_in(record, "terms")
        return cls(name, terms, record.array("idf", np.float64, (len(terms),), finite=True))


KINDS: dict[str, Any] = {each.kind: each for each in (Number, Flag, Category, Text)}


def column_from(record: Record) -> Column:
    """The column that plain data describes, all of it checked."""
    column = KINDS[record.choice("kind", list(KINDS))].from_record(record)
    record.end()
    return column


def texts_in(record: Record, key: str) -> tuple[str, ...]:
    """A list of distinct texts, not empty."""
    texts = record.take(key, list)
    if not texts or not all(type(text) is str for text in texts) or len({*texts}) < len(texts):
        record.refuse(key, "must be a list of distinct texts.")
    return tuple(texts)
