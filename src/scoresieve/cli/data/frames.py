"""Tables with named columns, CSV or parquet, as data frames of just the columns that are needed."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from typing import IO, Any

from scoresieve.cli.data.source import Kind, Source, Watch
from scoresieve.cli.errors import BadData, WrongUse, listed, one_line

_SEPARATORS = (",", ";", "\t", "|")
#: Whatever stands in a row after the last column.
_BEYOND = "(beyond the header)"


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
        frame = _read_csv(source, columns, texts, watch)
    if not len(frame):
        raise BadData(f"{source.name}: there are no rows below the header; add some.")
    return frame[columns]


def _read_csv(source: Source, columns: list[str], texts: Iterable[str], watch: Watch | None) -> Any:
    import pandas as pd

    names, separator = _header(source)
    # Without a column of their own, cells beyond the header would get lost without a word.
    header = io.StringIO()
    csv.writer(header, delimiter=separator, lineterminator="\n").writerow([*names, _BEYOND])
    with source.open(watch) as stream:
        stream.readline()
        try:
            frame = pd.read_csv(
                io.BufferedReader(_Joined(header.getvalue().encode(), stream)),
                sep=separator,
                usecols=[*columns, _BEYOND],
                dtype=dict.fromkeys([*texts, _BEYOND], str),
                encoding="utf-8",
                index_col=False,
                low_memory=False,
            )
        except pd.errors.ParserError as error:
            raise BadData(
                f"{source.name}: a row cannot be read ({one_line(error)}); check quotes and "
                "separators."
            ) from error
    long = frame.pop(_BEYOND).notna().to_numpy()
    if long.any():
        raise BadData(
            f"{source.name}: row {int(long.argmax()) + 1} has more cells than the header has names;"
            " put cells that hold the separator in quotes."
        )
    return frame


class _Joined(io.RawIOBase):
    """Some bytes, and then those of a stream."""

    def __init__(self, start: bytes, stream: IO[bytes]) -> None:
        self._start, self._stream = io.BytesIO(start), stream

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as possible."""
        chunk = self._start.read(len(buffer)) or self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)


def find_column(source: Source, names: list[str], asked: str, option: str) -> str:
    """A column by its name, or else by its number, the first being 1."""
    if asked in names:
        return asked
    if asked.isdecimal() and 1 <= int(asked) <= len(names):
        return names[int(asked) - 1]
    parts = [part.strip() for part in asked.split(",")]
    one_by_one = ""
    if len(parts) > 1 and set(parts) <= set(names):
        one_by_one = f" Give them one by one: {' '.join(f'{option} {part}' for part in parts)}."
    raise WrongUse(
        f"{source.name}: {option} {asked} is none of its {len(names)} columns; they are "
        f"{listed(names)}.{one_by_one}"
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
