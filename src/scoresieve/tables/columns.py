"""What the columns of a table are, and how each becomes columns of X.

number     (x - mean) / scale, the standard deviation of the training rows
date       days since 1970, standardised in the same way
flag       0 or 1
category   one column for each value of the training rows, 1 where a row has it; one for two values
text       TF-IDF of its words, rows of length 1

A missing number or date is the median of the training rows; one more column is 1 there if the
training rows have missing values. A missing category is a category of its own, a missing text has
no words, and a missing flag is the more frequent value.
"""

from __future__ import annotations

import math
import re
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from scoresieve._arrays import BoolArray, FloatArray
from scoresieve._record import Record
from scoresieve._user_warnings import warn_user

_TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
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
#: At most this many columns with a problem, or values, are described in one message.
MOST_SHOWN = 20

_COMMA = r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?"
_WHOLE = r"[-+]?\d+"
#: 1,234 is either 1.234 or 1234.
_AMBIGUOUS = r"[-+]?[1-9]\d{0,2},\d{3}"
_THOUSANDS = rf"{_COMMA}|[-+]?\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?"
_ISO = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[-+]\d\d:?\d\d)?)?"


class BadColumn(ValueError):
    """A column that cannot be used: what it holds, and what to do."""

    def __init__(self, name: str, fact: str, remedy: str) -> None:
        super().__init__(f"the column {name!r} {fact}; {remedy}.")
        self.name, self.fact, self.remedy = name, fact, remedy


def dropping(name: str) -> str:
    """The remedy of every column."""
    return f"leave it out with drop=[{name!r}]"


class Column(ABC):
    """What every kind of column can do."""

    name: str
    kind: ClassVar[str]
    #: Whether cells of a CSV are wanted as they stand, even if they look like numbers.
    is_text: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def fitted(cls, values: Any, name: str) -> Column:
        """Learnt from the training rows, a series of pandas."""

    def feature_names(self) -> list[str]:
        """Of the columns of X; that of the column itself if it is one."""
        return [self.name]

    @abstractmethod
    def encode(self, values: Any) -> Any:
        """Columns of X, dense or CSR, from a series of pandas."""

    def plain(self) -> dict[str, Any]:
        """All that :func:`column_from` needs."""
        values = {k: list(v) if isinstance(v, tuple) else v for k, v in vars(self).items()}
        return {"kind": self.kind, **values}


@dataclass(frozen=True)
class Quantity(Column):
    """``(x - mean) / scale``, and 1 where x is missing if the training rows have such cells.

    Attributes
    ----------
    median : float
        Stands for missing values; NaN if none is known.
    n_missing : int
        Training rows without a value.
    """

    name: str
    mean: float = 0.0
    scale: float = 1.0
    median: float = math.nan
    n_missing: int = 0

    @classmethod
    def of_numbers(cls, numbers: FloatArray, name: str, **more: Any) -> Any:
        """With mean, standard deviation and median of the training rows."""
        is_missing = np.isnan(numbers)
        if is_missing.all():
            raise BadColumn(name, "has no value in any row", dropping(name))
        median = float(np.median(numbers[~is_missing]))
        filled = np.where(is_missing, median, numbers)
        with np.errstate(over="ignore"):
            mean, scale = float(filled.mean()), float(filled.std())
        if not np.isfinite(mean) or not np.isfinite(scale):
            fact = "is too large to standardise (infinite mean or deviation)"
            raise BadColumn(name, fact, f"rescale it, or {dropping(name)}")
        scale = scale if scale >= SMALLEST else 1.0
        return cls(name, mean, scale, median, int(is_missing.sum()), **more)

    def feature_names(self) -> list[str]:
        """Of the columns of X."""
        return [self.name, f"{self.name}=(missing)"] if self.n_missing else [self.name]

    @abstractmethod
    def numbers_of(self, values: Any) -> FloatArray:
        """The cells as finite numbers, missing ones as NaN."""

    def encode(self, values: Any) -> FloatArray:
        """See :class:`Column`."""
        numbers = self.numbers_of(values)
        is_missing = np.isnan(numbers)
        if is_missing.any() and not self.n_missing:
            _tell_of_new_gaps(
                self.name, is_missing, "the median", is_known=self.median == self.median
            )
        scaled = (np.where(is_missing, self.median, numbers) - self.mean) / self.scale
        return np.column_stack([scaled, is_missing] if self.n_missing else [scaled])

    @classmethod
    def numbers_in(cls, record: Record) -> dict[str, Any]:
        """The attributes that all quantities have."""
        return {
            "name": record.take("name", str),
            "mean": record.number("mean", float, -sys.float_info.max),
            "scale": record.number("scale", float, SMALLEST),
            "median": record.number("median", float, -sys.float_info.max),
            "n_missing": record.number("n_missing", int, 0),
        }


@dataclass(frozen=True)
class Number(Quantity):
    """Numbers.

    Attributes
    ----------
    comma : bool
        Whether the training rows have decimal commas.
    """

    comma: bool = False
    kind: ClassVar[str] = "number"
    is_text: ClassVar[bool] = False

    @classmethod
    def fitted(cls, values: Any, name: str) -> Number:
        """See :class:`Column`."""
        found: Number = cls.of_numbers(_numbers(values, name, remedy=dropping(name)), name)
        has_texts = values.dtype.kind not in "biuf"
        comma = has_texts and bool(_known(values).str.contains(",").any())
        return replace(found, comma=comma)

    def numbers_of(self, values: Any) -> FloatArray:
        """See :class:`Quantity`."""
        return _numbers(values, self.name, self.comma)

    @classmethod
    def from_record(cls, record: Record) -> Number:
        """From plain data, all of it checked."""
        return cls(**cls.numbers_in(record), comma=record.take("comma", bool))


@dataclass(frozen=True)
class Date(Quantity):
    """Days since 1970; a day without a time zone begins in UTC."""

    kind: ClassVar[str] = "date"
    is_text: ClassVar[bool] = True

    @classmethod
    def fitted(cls, values: Any, name: str) -> Date:
        """See :class:`Column`."""
        found: Date = cls.of_numbers(_days(values, name, remedy=dropping(name)), name)
        return found

    def numbers_of(self, values: Any) -> FloatArray:
        """See :class:`Quantity`."""
        return _days(values, self.name)

    @classmethod
    def from_record(cls, record: Record) -> Date:
        """From plain data, all of it checked."""
        return cls(**cls.numbers_in(record))


@dataclass(frozen=True)
class Flag(Column):
    """1 for true, 0 for false.

    Attributes
    ----------
    usual : bool
        The more frequent value of the training rows.
    """

    name: str
    usual: bool
    kind: ClassVar[str] = "flag"

    @classmethod
    def fitted(cls, values: Any, name: str) -> Flag:
        """See :class:`Column`."""
        return cls(name, bool(values.astype(float).mean() > 0.5))

    def encode(self, values: Any) -> FloatArray:
        """See :class:`Column`."""
        is_missing = values.isna().to_numpy()
        found = values.astype(str).str.lower().map(_TRUTH).to_numpy(dtype=np.float64)
        _refuse_cell(
            np.isnan(found) & ~is_missing,
            *(values, self.name, "but was true or false in training", "correct it"),
        )
        if is_missing.any():
            _tell_of_new_gaps(self.name, is_missing, f"the usual value ({str(self.usual).lower()})")
        return np.where(is_missing, float(self.usual), found)[:, np.newaxis]

    @classmethod
    def from_record(cls, record: Record) -> Flag:
        """From plain data, all of it checked."""
        return cls(record.take("name", str), record.take("usual", bool))


@dataclass(frozen=True)
class Category(Column):
    """One column for each value of the training rows; other values are 0 in all of them.

    Of two values only the rarer has a column: the other would be redundant.

    Attributes
    ----------
    values : tuple of str
        Those that have a column; a missing value is the empty text.
    base : str
        The one of two that has none; without it, a missing value if that is not among the values.
    """

    name: str
    values: tuple[str, ...]
    base: str = ""
    kind: ClassVar[str] = "category"

    @classmethod
    def fitted(cls, values: Any, name: str) -> Category:
        """See :class:`Column`."""
        counts = Counter(texts_of(values))
        if len(counts) != 2:
            return cls(name, tuple(sorted(counts)))
        rarer, base = sorted(counts, key=lambda value: (counts[value], value))
        return cls(name, (rarer,), base)

    def feature_names(self) -> list[str]:
        """Of the columns of X."""
        return [f"{self.name}={value or '(missing)'}" for value in self.values]

    def encode(self, values: Any) -> Any:
        """See :class:`Column`."""
        place = {self.base: -1} | {value: at for at, value in enumerate(self.values)}
        texts = texts_of(values)
        new = sorted({text for text in texts if text not in place})
        if new:
            n_new = sum(text not in place for text in texts)
            shown = ", ".join(map(repr, new[:3]))
            more = f" and {len(new) - 3} more" if len(new) > 3 else ""
            warn_user(
                f"the column {self.name!r} has values unseen in training in {n_new} of "
                f"{len(texts)} rows ({shown}{more}); the model ignores them. To use them, fit on "
                "rows that have them."
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
    def fitted(cls, values: Any, name: str) -> Text:
        """See :class:`Column`."""
        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=LEAST_ROWS)
        try:
            vectorizer.fit(texts_of(values))
        except ValueError as error:
            raise BadColumn(
                name,
                f"is a text without a word in {LEAST_ROWS} rows or more "
                f"({' '.join(str(error).split()).rstrip('.')})",
                f"{dropping(name)}, or make it categories with categorical=[{name!r}]",
            ) from error
        return cls(name, tuple(vectorizer.get_feature_names_out().tolist()), vectorizer.idf_)

    def feature_names(self) -> list[str]:
        """Of the columns of X."""
        return [f"{self.name}:{term}" for term in self.terms]

    def encode(self, values: Any) -> Any:
        """See :class:`Column`."""
        vectorizer = TfidfVectorizer(sublinear_tf=True, vocabulary=list(self.terms))
        vectorizer.idf_ = self.idf
        return vectorizer.transform(texts_of(values))

    @classmethod
    def from_record(cls, record: Record) -> Text:
        """From plain data, all of it checked."""
        name, terms = record.take("name", str), texts_in(record, "terms")
        return cls(name, terms, record.array("idf", np.float64, (len(terms),), finite=True))


KINDS: dict[str, Any] = {each.kind: each for each in (Number, Date, Flag, Category, Text)}


def column_from(record: Record) -> Column:
    """The column that plain data describes, all of it checked."""
    column: Column = KINDS[record.choice("kind", list(KINDS))].from_record(record)
    record.end()
    return column


def texts_in(record: Record, key: str) -> tuple[str, ...]:
    """A list of distinct texts, not empty."""
    texts = record.take(key, list)
    if not texts or not all(type(text) is str for text in texts) or len({*texts}) < len(texts):
        record.refuse(key, "must be a list of distinct texts.")
    return tuple(texts)


def fit_columns(
    frame: Any, categorical: Collection[str] = (), text: Collection[str] = ()
) -> tuple[Column, ...]:
    """Each column as the user declared it, or else by its values; one error tells of all."""
    found, problems = [], []
    for name in frame.columns:
        try:
            if name in categorical or name in text:
                kind: Any = Category if name in categorical else Text
            else:
                kind = _looks_like(frame[name], name)
            found.append(kind.fitted(frame[name], name))
        except BadColumn as problem:
            problems.append(problem)
    raise_all(
        problems,
        f"Correct the cells, leave columns out with drop={[each.name for each in problems]}, or "
        "give their types with categorical=[...] or text=[...].",
    )
    return tuple(found)


def encode_columns(frame: Any, columns: Collection[Column], needed: Collection[str]) -> list[Any]:
    """The columns of X of each column of a frame; one error tells of all that cannot be read.

    Zeros stand for columns that are not needed and not there, or not as they should be.
    """
    found, problems = [], []
    for column in columns:
        part: Any = sp.csr_array((len(frame), len(column.feature_names())))
        if column.name in frame.columns:
            try:
                part = column.encode(frame[column.name])
            except BadColumn as problem:
                problems += [problem] if column.name in needed else []
        found.append(part)
    raise_all(problems, "Correct the cells.")
    return found


def raise_all(problems: list[BadColumn], remedy: str) -> None:
    """One error for all of them, if there are any."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        facts = " ".join(f"{each.name!r} {each.fact}." for each in problems[:MOST_SHOWN])
        more = len(problems) - MOST_SHOWN
        rest = f" And {more} more." if more > 0 else ""
        raise ValueError(f"{len(problems)} columns cannot be used. {facts}{rest} {remedy}")


def _looks_like(values: Any, name: str) -> Any:
    """The kind of a column that the user declared nothing about."""
    import pandas as pd

    if pd.api.types.is_timedelta64_dtype(values):
        fact = "holds spans of time, which are not numbers"
        raise BadColumn(name, fact, f"convert them, or {dropping(name)}")
    if pd.api.types.is_complex_dtype(values):
        fact = "holds complex numbers"
        raise BadColumn(name, fact, f"split it into columns, or {dropping(name)}")
    if not values.notna().any():
        raise BadColumn(name, "has no value in any row", dropping(name))
    if pd.api.types.is_bool_dtype(values):
        return Category if values.isna().any() else Flag
    if pd.api.types.is_numeric_dtype(values):
        return Number
    if pd.api.types.is_datetime64_any_dtype(values):
        return Date
    if isinstance(values.dtype, pd.CategoricalDtype):
        return Category
    cells = values.dropna()
    if not (cells.map(np.isscalar) | cells.map(_has_iso_form)).all():
        fact = "holds lists or other containers"
        raise BadColumn(name, fact, f"split it into columns, or {dropping(name)}")
    known = _known(values)
    is_date, is_number = known.str.fullmatch(_ISO), _are_numbers(known)
    if is_date.all():
        return Date
    if is_number.all() and known.str.contains(",").any():
        return Number
    if 2 * is_date.sum() >= len(known):
        _refuse_cell(
            _unlike(is_date, values), values, name, "but dates in most other rows", _ways_out(name)
        )
    with_commas = known.str.fullmatch(_THOUSANDS) & ~is_number
    is_like = is_number | with_commas
    if 2 * is_like.sum() >= len(known) and (_are_many(known) or with_commas.any()):
        _refuse_cell(
            _unlike(is_number, values),
            values,
            name,
            "but numbers in most other rows",
            _ways_out(name),
        )
    n_values, n_rows = known.nunique(), len(values)
    n_words = known.str.split().str.len()
    if n_values > FEW_VALUES and float((n_words >= WORDS_OF_TEXT).mean()) >= 0.5:
        return Text
    if n_values > MANY_VALUES and 2 * n_values > n_rows:
        fact = f"has {n_values} different values in {n_rows} rows, like an identifier"
        ways = f"{dropping(name)}, or give its type with categorical=[{name!r}] or text=[{name!r}]"
        raise BadColumn(name, fact, ways)
    return Category


def _known(values: Any) -> Any:
    """The cells with a value as texts, under their row numbers."""
    texts = values.dropna().astype(str).str.strip()
    return texts[texts != ""]


def _has_iso_form(cell: Any) -> bool:
    return re.fullmatch(_ISO, str(cell)) is not None


def _unlike(has_form: Any, values: Any) -> BoolArray:
    """The rows of a column whose cells have a value, but not this form."""
    found: BoolArray = ~has_form.reindex(values.index, fill_value=True).to_numpy(dtype=bool)
    return found


def _are_many(known: Any) -> bool:
    """Whether there are too many different values, or too few rows for them, for categories."""
    n_values = known.nunique()
    return bool(n_values > FEW_VALUES or 2 * n_values > len(known))


def _ways_out(name: str) -> str:
    return f"correct it, {dropping(name)}, or make it categories with categorical=[{name!r}]"


def _are_numbers(texts: Any) -> Any:
    """Which texts are numbers: with points, or with commas if no cell has a point."""
    import pandas as pd

    numbers = pd.to_numeric(_with_points(texts), errors="coerce")
    return np.isfinite(numbers.astype(float))


def _with_points(texts: Any, comma: bool = False) -> Any:
    """Decimal commas as points, if all cells have that form and 1,234 cannot mean 1234."""
    has_comma = texts.str.fullmatch(_COMMA)
    if not has_comma.any() or not (has_comma | texts.str.fullmatch(_WHOLE)).all():
        return texts
    if not comma and texts[has_comma].str.fullmatch(_AMBIGUOUS).all():
        return texts
    return texts.str.replace(",", ".")


def _numbers(values: Any, name: str, comma: bool = False, remedy: str = "") -> FloatArray:
    """The cells of a column as finite numbers and NaN; an error names the first that is neither."""
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        known = _known(values)
        numbers = pd.to_numeric(_with_points(known, comma), errors="coerce").astype(float)
        numbers = numbers.where(numbers.notna(), np.inf)  # a cell that is not a number
        found = numbers.reindex(values.index).to_numpy(dtype=np.float64)
    else:
        found = values.to_numpy(dtype=np.float64, na_value=np.nan)
    ways = "correct it" + (f", or {remedy}" if remedy else "")
    _refuse_cell(np.isinf(found), values, name, "not a finite number", ways)
    return found


def _days(values: Any, name: str, remedy: str = "") -> FloatArray:
    """Dates as days since 1970; an error names the first cell that is none."""
    import pandas as pd

    given, is_wrong = values, np.zeros(len(values), dtype=bool)
    if not pd.api.types.is_datetime64_any_dtype(values):
        texts = _known(values)
        is_wrong[texts.index] = True
        given = texts.where(texts.str.fullmatch(_ISO)).reindex(values.index)
    stamps = pd.to_datetime(given, utc=True, format="ISO8601", errors="coerce")
    is_wrong &= stamps.isna().to_numpy()
    ways = "correct it" + (f", or {remedy}" if remedy else "")
    _refuse_cell(is_wrong, values, name, "not an ISO date such as 2026-11-20", ways)
    days = (stamps - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    return days.to_numpy(dtype=np.float64, na_value=np.nan)


def _refuse_cell(is_wrong: BoolArray, values: Any, name: str, what: str, remedy: str) -> None:
    """An error that names the first of these cells, its row, and how many there are."""
    rows = np.flatnonzero(is_wrong)
    if rows.size:
        cell = str(values.iloc[rows[0]])
        many = f" (and {rows.size - 1} more such cells)" if rows.size > 1 else ""
        if re.fullmatch(_AMBIGUOUS, cell.strip()):
            what = "where the comma may be decimal or between thousands"
        elif re.fullmatch(_COMMA, cell.strip()):
            what = "with a decimal comma, which other rows do not have"
        fact = f"holds {cell!r} in row {rows[0] + 1}, {what}{many}"
        raise BadColumn(name, fact, remedy)


def _tell_of_new_gaps(name: str, is_missing: BoolArray, by: str, is_known: bool = True) -> None:
    """Warn that missing values were filled in where the training rows had none."""
    n_missing, first = int(is_missing.sum()), int(is_missing.argmax()) + 1
    fact = f"has missing values in {n_missing} rows (first: row {first})"
    if not is_known:
        raise BadColumn(name, fact, "fill them in")
    warn_user(
        f"the column {name!r} {fact} and had none in training; {by} of the training rows "
        "stands for them."
    )


def texts_of(values: Any) -> list[str]:
    """The cells as text; a missing one is empty, and 1.0 is 1."""
    known = values.notna().to_numpy()
    return [_text(value) if is_known else "" for value, is_known in zip(values, known, strict=True)]


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    text = str(value)
    # pandas reads true, True and TRUE as the same value.
    return text.capitalize() if text.lower() in ("true", "false") else text
