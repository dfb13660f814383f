"""How the rows of a table or a file become rows of X, as it is kept with a model.

numbered   columns have numbers: svmlight, npz
named      columns have names: data frames, CSV, parquet; a ``TableEncoder`` makes X of them
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, normalize
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import Array
from scoresieve._record import Record
from scoresieve.estimators.persistence.registry import PersistenceMixin
from scoresieve.tables.columns import Column, column_from, encode_columns, fit_columns

VERSION = 2
#: With more columns of zeros and ones than this, X is sparse.
MOST_DENSE = 100
#: What an encoding has besides the columns, in the order of its arguments.
_ABOUT = ("label", "bag", "against_rest", "positive")


class TableEncoder(TransformerMixin, BaseEstimator):
    """Columns of a data frame, found by their names, as columns of X.

    =============================  ========================================================
    column                         becomes
    =============================  ========================================================
    numbers                        standardised numbers
    dates (also ISO texts)         standardised days
    true and false                 1 and 0
    few different values           a column of zeros and ones for each; of two values, one
    longer texts                   TF-IDF of the words in at least two rows
    =============================  ========================================================

    **Conventions**

    * A missing number or date is imputed by the median of the training rows. If the training rows
      have such cells, one more column is 1 where the value is missing. A missing category is a
      category of its own, a missing text has no words, a missing flag is the more frequent value.
    * Texts with decimal commas (3,14) are numbers if all values of the column have that form.
    * Columns are matched by name, in any order; unknown ones are ignored.

    Parameters
    ----------
    text : list of str, default=()
        Columns of texts, whatever they look like.
    categorical : list of str, default=()
        Columns of categories.
    drop : list of str, default=()
        Columns to leave out.

    Attributes
    ----------
    columns_ : tuple
        What is known of each column.
    needed_ : ndarray of str
        Columns that ``transform`` asks for. In a pipeline from :func:`scoresieve.load` these are
        the ones that the model has a weight on; another one that is not there, or that cannot be
        read, becomes zeros. A model saved with its certificate needs all columns.
    imputed_ : dict of str to int
        Columns of numbers or dates with missing values, and in how many training rows.
    feature_names_in_ : ndarray of str
        The columns that are encoded.
    n_features_in_ : int
        Their number.

    Examples
    --------
    >>> import pandas as pd
    >>> from scoresieve import TableEncoder
    >>> table = pd.DataFrame({"age": [31, None, 47], "city": ["Bern", "Graz", "Bern"]})
    >>> TableEncoder().fit_transform(table).round(2)
        age  age=(missing)  city=Graz
    0 -1.22            0.0        0.0
    1  0.00            1.0        1.0
    2  1.22            0.0        0.0
    """

    def __init__(
        self,
        *,
        text: Collection[str] = (),
        categorical: Collection[str] = (),
        drop: Collection[str] = (),
    ) -> None:
        self.text = text
        self.categorical = categorical
        self.drop = drop

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn what the columns are.

        Parameters
        ----------
        X : DataFrame of pandas or polars
        y : ignored
        """
        frame = as_frame(X)
        known = list(frame.columns)
        for name in ("text", "categorical", "drop"):
            check_names(name, getattr(self, name), known)
        both = sorted({*self.categorical} & {*self.text})
        if both:
            raise ValueError(
                f"text=[{both[0]!r}] and categorical=[{both[0]!r}] exclude each other; give one."
            )
        used = [name for name in known if name not in {*self.drop}]
        if not used or not len(frame):
            raise ValueError(
                f"X has {len(frame)} rows and {len(used)} columns to encode; give at least one of "
                "each."
            )
        return self._know(fit_columns(frame[used], self.categorical, self.text))

    def _know(self, columns: tuple[Column, ...]) -> TableEncoder:
        self.columns_ = columns
        self.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
        self.n_features_in_ = len(columns)
        self.needed_ = self.feature_names_in_
        return self

    @classmethod
    def of_columns(cls, columns: Collection[Column]) -> TableEncoder:
        """Fitted, from what is known of each column."""
        text, categorical = (
            [column.name for column in columns if column.kind == kind]
            for kind in ("text", "category")
        )
        return cls(text=text, categorical=categorical)._know(tuple(columns))

    def needing(self, places: Array) -> TableEncoder:
        """The same for a model with weights on these columns of X alone."""
        widths = [len(column.feature_names()) for column in self.columns_]
        owners = np.repeat(np.arange(len(widths)), widths)
        found = type(self)(**self.get_params())._know(self.columns_)
        found.needed_ = self.feature_names_in_[np.unique(owners[places])]
        return found

    @property
    def imputed_(self) -> dict[str, int]:
        """Columns with missing numbers or dates, and in how many training rows."""
        counts = {each.name: getattr(each, "n_missing", 0) for each in self.columns_}
        return {name: count for name, count in counts.items() if count}

    def transform(self, X: Any) -> Any:
        """The columns of X.

        Parameters
        ----------
        X : DataFrame of pandas or polars

        Returns
        -------
        DataFrame of pandas, or csr_array
            Sparse with texts, or with more than 100 columns of categories; the names of the columns
            are its attribute ``feature_names`` then, and estimators of scoresieve take them over.
        """
        check_is_fitted(self, "columns_")
        frame = as_frame(X)
        missing = [name for name in self.needed_ if name not in frame.columns]
        if missing:
            shown = ", ".join(map(repr, missing))
            raise ValueError(
                f"X lacks {shown}, which the model was fitted on; add it, or fit again without it "
                f"(drop={missing})."
            )
        parts = encode_columns(frame, self.columns_, {*self.needed_})
        names = self.get_feature_names_out()
        if self._is_sparse():
            rows = sp.hstack([sp.csr_array(part) for part in parts], format="csr")
            rows.feature_names = names
            return rows
        import pandas as pd

        X_out = np.hstack([part.toarray() if sp.issparse(part) else part for part in parts])
        return pd.DataFrame(X_out, columns=names, index=getattr(X, "index", None), copy=False)

    def _is_sparse(self) -> bool:
        n_zeros = sum(len(c.feature_names()) for c in self.columns_ if c.kind == "category")
        return n_zeros > MOST_DENSE or any(column.kind == "text" for column in self.columns_)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of X: ``age``, ``age=(missing)``, ``city=Bern``, ``note:refund``.

        Parameters
        ----------
        input_features : ignored
        """
        check_is_fitted(self, "columns_")
        names = [name for column in self.columns_ for name in column.feature_names()]
        return np.array(names, dtype=object)


def as_frame(X: Any) -> Any:
    """A data frame of pandas, with rows numbered from 0 and names that are distinct texts."""
    if not hasattr(X, "columns") or not (hasattr(X, "iloc") or hasattr(X, "to_pandas")):
        raise TypeError(
            f"X is a {type(X).__name__}, but columns are found by their names; pass a data frame "
            "of pandas or polars."
        )
    frame = X if hasattr(X, "iloc") else X.to_pandas()
    wrong = [name for name in frame.columns if not isinstance(name, str)]
    if wrong:
        raise ValueError(
            f"X has a column named {wrong[0]!r}, which is not text; name the columns with "
            "X.columns = X.columns.astype(str)."
        )
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"X has two columns named {twice[0]!r}; give each its own name.")
    return frame.reset_index(drop=True)


def check_names(parameter: str, names: Any, known: list[str]) -> None:
    """Refuse a parameter that is not a list of columns of X."""
    if isinstance(names, str) or not isinstance(names, Collection):
        raise ValueError(f"{parameter}={names!r} is not a list; write {parameter}=[{names!r}].")
    unknown = [name for name in names if name not in known]
    if unknown:
        shown = ", ".join(map(repr, known[:8]))
        more = f" and {len(known) - 8} more" if len(known) > 8 else ""
        raise ValueError(
            f"{parameter}=[{unknown[0]!r}] is not one of the {len(known)} columns of X: "
            f"{shown}{more}; correct the name."
        )


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

    def keeping(self, places: Array) -> Numbered:
        """With the names of these columns alone, so that a model's file stays small."""
        return replace(self, names={j: self.names[j] for j in places.tolist() if j in self.names})

    def needing(self, places: Array) -> Numbered:
        """The same: a row of a file has all columns."""
        return self

    def step(self) -> Any:
        """What a pipeline begins with, or None."""
        return Normalizer() if self.unit_rows else None

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

    encoder: TableEncoder

    @property
    def n_features(self) -> int:
        """Of X."""
        return len(self.known_names())

    def feature_names(self) -> Array:
        """Of the columns of X."""
        return self.encoder.get_feature_names_out()

    def known_names(self) -> list[str]:
        """The same as texts: tables name all columns."""
        return list(self.feature_names())

    def described(self) -> str:
        """What a file needs to have."""
        columns = [each for each in self.encoder.columns_ if each.name in {*self.encoder.needed_}]
        return "columns " + ", ".join(f"{column.name} ({column.kind})" for column in columns)

    def keeping(self, places: Array) -> Named:
        """All columns: how words are weighted depends on the others of a row."""
        return self

    def needing(self, places: Array) -> Named:
        """The same for a model with weights on these columns of X alone."""
        return Named(self.encoder.needing(places))

    def step(self) -> TableEncoder:
        """What a pipeline begins with."""
        return self.encoder

    def plain(self) -> dict[str, Any]:
        """All that :meth:`from_record` needs."""
        return {"kind": "named", "columns": [column.plain() for column in self.encoder.columns_]}

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
        return cls(TableEncoder.of_columns(columns))


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


def input_of(model: Any, encoding: Encoding) -> dict[str, Any]:
    """What the file of a model keeps of its encoding."""
    rows = encoding.rows if is_of_bags(model) else encoding.rows.keeping(weighted_columns(model))
    return replace(encoding, rows=rows).plain()


def read_input(model: Any, record: Record) -> Encoding:
    """The encoding of a model, checked."""
    if not hasattr(model, "models_"):
        raise ValueError(f"input is of a {type(model).__name__}, which makes no predictions.")
    encoding = Encoding.from_record(record)
    n_columns = n_columns_of(model)
    if encoding.rows.n_features != n_columns:
        raise ValueError(
            f"input describes {encoding.rows.n_features} columns of X; the model has {n_columns}."
        )
    texts = [text_of(label) for label in getattr(model, "classes_", ())]
    if encoding.positive is not None and encoding.positive not in texts:
        raise ValueError(
            f"input.positive is {encoding.positive!r}, not one of the classes {', '.join(texts)}."
        )
    return encoding


def to_predict(model: Any, encoding: Encoding) -> Encoding:
    """The encoding without need of columns that no weight is on; bags need all of them."""
    if is_of_bags(model):
        return encoding
    return replace(encoding, rows=encoding.rows.needing(weighted_columns(model)))


def pipeline_of(model: Any, record: Record) -> Any:
    """What ``load`` returns: a pipeline, or the model if rows of X are rows of the file."""
    encoding = read_input(model, record)
    if not any(has_proof(one) for one in model.models_):  # certify needs all columns
        encoding = to_predict(model, encoding)
    step = encoding.rows.step()
    return model if step is None else make_pipeline(step, model)


def taken_apart(model: Any) -> tuple[Any, dict[str, Any] | None]:
    """The model of a pipeline, and what its file keeps of the step before."""
    last = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(last, PersistenceMixin):
        raise TypeError(
            f"model is a {type(last).__name__}; pass a fitted model of scoresieve, or a pipeline "
            "that ends with one."
        )
    if last is model:
        return model, None
    names = [type(step).__name__ for _, step in model.steps]
    step = model[0]
    is_unit = isinstance(step, Normalizer) and step.norm == "l2"
    if len(names) != 2 or not (isinstance(step, TableEncoder) or is_unit):
        raise ValueError(
            f"model is a pipeline of {', '.join(names)}; a file holds a model of scoresieve, alone "
            "or after TableEncoder or Normalizer(norm='l2'). Pickle other pipelines."
        )
    check_is_fitted(last, "models_")
    rows: Numbered | Named = Numbered(n_columns_of(last), unit_rows=True)
    if isinstance(step, TableEncoder):
        rows = Named(step)
    if rows.n_features != n_columns_of(last):
        raise ValueError(
            f"the encoder makes {rows.n_features} columns, but the model was fitted on "
            f"{n_columns_of(last)}; fit the pipeline as a whole."
        )
    return last, input_of(last, Encoding(rows))


def is_of_bags(model: Any) -> bool:
    """Whether a model takes bags of rows."""
    return hasattr(model, "embedding_")


def n_columns_of(model: Any) -> int:
    """How many columns X must have."""
    return int(model.embedding_.n_columns_in_ if is_of_bags(model) else model.n_features_in_)


def has_proof(one: Any) -> bool:
    """Whether the model of a class has what ``certify`` needs."""
    return one.certificate is not None and one.certificate.dual_point is not None


def weighted_columns(model: Any) -> Array:
    """The columns of X with a weight, of any class."""
    return np.unique(np.concatenate([one.columns[one.weights != 0.0] for one in model.models_]))


def text_of(label: Any) -> str:
    """A label as one writes it: 1 and not 1.0."""
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)
