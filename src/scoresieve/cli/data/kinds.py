"""What the columns of a table are: numbers, truth values, categories or texts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from scoresieve.cli.data.columns import Category, Column, Flag, Number, Text
from scoresieve.cli.errors import BadData, WrongUse

#: Few different values are categories, however many words they have.
FEW_VALUES = 20
#: Cells of a text have at least so many words, in most rows.
WORDS_OF_TEXT = 3
#: More different values than this, and than half of the rows, are names of rows.
MANY_VALUES = 50


def fit_columns(
    frame: Any, file: str, categorical: Collection[str], text: Collection[str]
) -> tuple[Column, ...]:
    """Each column in the way that it was said to be, or else looks like."""
    both = sorted({*categorical} & {*text})
    if both:
        raise WrongUse(
            f"{file}: --text {both[0]} and --categorical {both[0]} contradict; give one."
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
            f"{file}: the column {name!r} holds dates; turn them into numbers, or leave the column "
            f"out with --drop {name}."
        )
    if not values.dropna().map(np.isscalar).all():
        raise BadData(
            f"{file}: the column {name!r} holds lists or other parts; make columns of them, or "
            f"leave it out with --drop {name}."
        )
    known = values.dropna().astype(str)
    n_values, n_rows = known.nunique(), len(values)
    n_words = known.str.split().str.len()
    if n_values > FEW_VALUES and float((n_words >= WORDS_OF_TEXT).mean()) >= 0.5:
        return Text
    if n_values > MANY_VALUES and 2 * n_values > n_rows:
        raise BadData(
            f"{file}: the column {name!r} has {n_values} different values in {n_rows} rows, as "
            f"names of rows have; leave it out with --drop {name}, or say what it is with "
            f"--categorical {name} or --text {name}."
        )
    return Category
