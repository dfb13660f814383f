"""What the columns of a table are, and how each becomes columns of X.

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
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from scoresieve._arrays import FloatArray
from scoresieve._record import Record
from scoresieve.cli.errors import BadData, WrongUse, listed, one_line

_TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
#: Words in fewer rows than this are left out.
LEAST_ROWS = 2
#: A standard deviation below this counts as 0.
SMALLEST = sys.float_info.min
#: At most this many different values: categories, however many words they have.
FEW_VALUES = 20
#: Least words of a cell of a text column, in most rows.
WORDS_OF_TEXT = 3
#: More different values than this, and than half of the rows: identifiers.
MANY_VALUES = 50


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
                f"{file}: the column {name!r} is too large to standardise (infinite mean or "
                f"deviation); rescale it, or leave it out with --drop {name}."
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
                f"{wrong[0] + 1}, but was true or false in training; correct it."
            )
        return found[:, np.newaxis]

    @classmethod
    def from_record(cls, record: Record) -> Flag:
        """From plain data, all of it checked."""
        return cls(record.take("name", str))


@dataclass(frozen=True)
class Category(Column):
    """One column for each value of the training rows; other values are 0 in all of them.

    Of two values only the rarer has a column: the other would be redundant.

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
                f"{file}: the column {self.name!r} has values unseen in training in {n_new} of "
                f"{len(texts)} rows ({listed(map(repr, new), 3)}); the model ignores them. To use "
                "them, fit on rows that have them.",
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
                f"{file}: no word of the text column {name!r} occurs in {LEAST_ROWS} rows or more "
                f"({one_line(error)}); leave it out with --drop {name}, or make it categories with "
                f"--categorical {name}."
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


def fit_columns(
    frame: Any, file: str, categorical: Collection[str], text: Collection[str]
) -> tuple[Column, ...]:
    """Each column as the user declared it, or else by its values."""
    both = sorted({*categorical} & {*text})
    if both:
        raise WrongUse(
            f"{file}: --text {both[0]} and --categorical {both[0]} exclude each other; give one."
        )
    found = []
    for name in frame.columns:
        if name in categorical or name in text:
            kind: Any = Category if name in categorical else Text
        else:
            kind = _looks_like(frame[name], name, file)
        found.append(kind.fitted(frame[name], name, file))
    return tuple(found)


def _looks_like(values: Any, name: str, file: str) -> Any:
    import pandas as pd

    if pd.api.types.is_bool_dtype(values):
        return Flag
    if pd.api.types.is_numeric_dtype(values):
        return Number
    if pd.api.types.is_datetime64_any_dtype(values) or pd.api.types.is_timedelta64_dtype(values):
        raise BadData(
            f"{file}: the column {name!r} holds dates, which are not numbers; convert them, or "
            f"leave it out with --drop {name}."
        )
    if not values.dropna().map(np.isscalar).all():
        raise BadData(
            f"{file}: the column {name!r} holds lists or other containers; split it into columns, "
            f"or leave it out with --drop {name}."
        )
    known = values.dropna().astype(str)
    n_values, n_rows = known.nunique(), len(values)
    n_words = known.str.split().str.len()
    if n_values > FEW_VALUES and float((n_words >= WORDS_OF_TEXT).mean()) >= 0.5:
        return Text
    if n_values > MANY_VALUES and 2 * n_values > n_rows:
        raise BadData(
            f"{file}: the column {name!r} has {n_values} different values in {n_rows} rows, like "
            f"an identifier; leave it out with --drop {name}, or give its type with "
            f"--categorical {name} or --text {name}."
        )
    return Category


def numbers_of(values: Any, name: str, file: str) -> FloatArray:
    """The cells of a column as finite numbers; an error names the first that is not."""
    import pandas as pd

    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if not wrong.size:
        return numbers
    cell, row = values.iloc[wrong[0]], wrong[0] + 1
    if pd.isna(cell):
        raise BadData(
            f"{file}: the column {name!r} has missing values in {int(values.isna().sum())} rows "
            f"(first: row {row}); fill them in, or fit without the column (--drop {name})."
        )
    raise BadData(
        f"{file}: the column {name!r} holds {str(cell)!r} in row {row}, not a finite number; "
        f"correct it, or fit without the column (--drop {name})."
    )


def texts_of(values: Any) -> list[str]:
    """The cells as text; a missing one is empty."""
    known = values.notna().to_numpy()
    texts = [str(value) if is_known else "" for value, is_known in zip(values, known, strict=True)]
    # pandas reads true, True and TRUE as the same value.
    return [text.capitalize() if text.lower() in ("true", "false") else text for text in texts]
