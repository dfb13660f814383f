"""Tables with named columns, CSV or parquet, as data frames of just the columns that are needed."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

from scoresieve.cli.data.source import Kind, Source, Watch
from scoresieve.cli.errors import BadData, WrongUse, listed, one_line

_SEPARATORS = (",", ";", "\t", "|")


def column_names(source: Source) -> list[str]:
    """The names in the header."""
    if source.kind is Kind.PARQUET:
        from pyarrow import parquet

        with source.open() as stream:
            names = parquet.read_schema(stream).names
    else:
        names, _ = _header(source)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadData(
            f"{source.name}: the column {twice[0]!r} is there twice; give each column its own name."
        )
    return names


def read_frame(
    source: Source, columns: Iterable[str], texts: Iterable[str] = (), watch: Watch | None = None
) -> Any:
    """A data frame of these columns, in this order.

    Parameters
    ----------
    texts : iterable of str
        Columns of a CSV whose cells are kept as they stand, whether they look like numbers or not.
    """
    import pandas as pd

    columns = list(columns)
    if source.kind is Kind.PARQUET:
        with source.open(watch) as stream:
            frame = pd.read_parquet(stream, columns=columns, engine="pyarrow")
    else:
        _, separator = _header(source)
        with source.open(watch) as stream, warnings.catch_warnings():
            # Rows that are longer than the header would lose cells with no more than a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            try:
                frame = pd.read_csv(
                    stream,
                    sep=separator,
                    usecols=columns,
                    dtype=dict.fromkeys(texts, str),
                    encoding="utf-8-sig",
                    index_col=False,
                    low_memory=False,
                )
            except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
                raise BadData(
                    f"{source.name}: the rows do not fit the header ({one_line(error)}); every row "
                    "needs as many cells as there are names, and cells with a separator quotes."
                ) from error
    if not len(frame):
        raise BadData(f"{source.name}: there are no rows below the header; add some.")
    return frame[columns]


def find_column(source: Source, names: list[str], asked: str, option: str) -> str:
    """A column by its name, or else by its number, the first being 1."""
    if asked in names:
        return asked
    if asked.isdecimal() and 1 <= int(asked) <= len(names):
        return names[int(asked) - 1]
    raise WrongUse(
        f"{source.name}: {option} {asked} is none of its {len(names)} columns; they are "
        f"{listed(names)}."
    )


def _header(source: Source) -> tuple[list[str], str]:
    """Names and the separator that stands most often between them."""
    with source.open() as stream:
        text = stream.readline().decode("utf-8-sig").rstrip("\r\n")
    separator = max(_SEPARATORS, key=text.count)
    names = [name.strip() for name in next(csv.reader([text], delimiter=separator))]
    if all(_is_number(name) for name in names):
        raise BadData(
            f"{source.name}: the first line holds numbers only; a CSV file needs a first line with "
            "the names of the columns."
        )
    if not all(names):
        raise BadData(
            f"{source.name}: the column {names.index('') + 1} has no name; name it in the first "
            "line."
        )
    return names, separator


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
