"""Rows and labels of a file: as they were read, as rows of X, and as classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import Array
from scoresieve.cli.errors import BadData, WrongUse, listed
from scoresieve.tables.encoding import Encoding, text_of


class Arrays(NamedTuple):
    """The content of a file with numbered columns; what is not there is None."""

    X: Any
    y: Array | None
    bags: Array | None = None
    names: Array | None = None
    zero_based: bool = False


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to fit on or to predict.

    Attributes
    ----------
    file : str
        For messages.
    X : DataFrame, ndarray or CSR matrix
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
