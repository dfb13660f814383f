"""CSV and parquet: columns have names, to fit on and as those that a model was fitted on."""

from __future__ import annotations

import csv
import io
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import IO, Any

import numpy as np

from scoresieve._arrays import Array
from scoresieve._checks import did_you_mean
from scoresieve.cli.data.labels import Table, as_labels, choose_positive
from scoresieve.cli.data.source import Choices, Kind, Source, Watch
from scoresieve.cli.errors import BadData, WrongUse, listed, naming, one_line
from scoresieve.tables.encoding import Encoding, Named, TableEncoder

#: Names of a column of labels, if the user gives none.
USUAL_LABELS = ("label", "labels", "target", "class", "y")
_SEPARATORS = (",", ";", "\t", "|")
#: Whatever stands in a row after the last column.
_BEYOND = "(beyond the header)"


def read_table(source: Source, choices: Choices, watch: Watch | None) -> Table:
    """X and y; each column has the type that its values suggest, or that the user gave."""
    if choices.names or choices.unit_rows:
        option = "--names" if choices.names else "--unit-rows"
        raise WrongUse(f"{source.name}: {option} is for svmlight and npz; leave it out.")
    names = column_names(source)
    label = _label_column(source, names, choices.label)
    bag = _find_column(source, names, choices.bag, "--bag")
    dropped, categorical, text = (
        {_find_column(source, names, each, f"--{option}") for each in getattr(choices, option)}
        for option in ("drop", "categorical", "text")
    )
    both = sorted(categorical & text)
    if both:
        name = shlex.quote(both[0])
        raise WrongUse(
            f"{source.name}: --text {name} and --categorical {name} exclude each other; give one."
        )
    used = [name for name in names if name not in {label, bag, *dropped}]
    if not used:
        raise BadData(f"{source.name}: no column is left to select from; give at least one.")
    categorical, text = categorical & {*used}, text & {*used}
    frame = read_frame(source, _wanted(used, label, bag), categorical | text, watch)
    classes = choose_positive(source.name, _labels(source, frame, label), choices.positive)
    encoder = TableEncoder(text=sorted(text), categorical=sorted(categorical))
    with naming(source.name):
        X = encoder.fit_transform(frame[used])
    about = label, bag, classes.against_rest, classes.positive_text
    encoding, bags = Encoding(Named(encoder), *about), _bags(source, frame, bag)
    return Table(source.name, X, encoding, classes.y, classes.positive, bags)


def table_like(
    source: Source,
    encoding: Encoding,
    encoder: TableEncoder,
    drop: tuple[str, ...],
    watch: Watch | None,
) -> Table:
    """X, and labels and bags where a column is given, encoded as in training."""
    names, needed = column_names(source), {*encoder.needed_}
    dropped = {_find_column(source, names, each, "--drop") for each in drop}
    for name in sorted(dropped & needed):
        raise WrongUse(
            f"{source.name}: --drop {shlex.quote(name)}: the model needs this column; leave the "
            "option out, or fit again with it."
        )
    known = [each for each in encoder.columns_ if each.name in needed and each.name in names]
    label = _find_column(source, names, encoding.label, "--label")
    bag = _find_column(source, names, encoding.bag, "--bag")
    wanted = _wanted([column.name for column in known], label, bag)
    frame = read_frame(source, wanted, [each.name for each in known if each.is_text], watch)
    with naming(source.name):
        X = encoder.transform(frame)
    y = None if label is None else _labels(source, frame, label)
    bags = _bags(source, frame, bag)
    return Table(source.name, X, encoding, y, bags=bags)


def copied_columns(source: Source, asked: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """The cells of columns that options name, as text; missing ones are empty.

    They are read by themselves, since a column that the model reads as numbers may be one of them.
    """
    names = column_names(source)
    wanted = _wanted([_find_column(source, names, name, option) for option, name in asked])
    frame = read_frame(source, wanted, wanted)
    return {name: frame[name].astype("string").fillna("").tolist() for name in wanted}


def _label_column(source: Source, names: list[str], asked: str | None) -> Any:
    if asked is not None:
        return _find_column(source, names, asked, "--label")
    usual = [name for name in names if name.lower() in USUAL_LABELS]
    if len(usual) != 1:
        raise WrongUse(
            f"{source.name}: the column of the labels is not clear; name it with --label NAME, one "
            f"of {listed(names)}."
        )
    return usual[0]


def _find_column(source: Source, names: list[str], asked: str | None, option: str) -> Any:
    """A column by its name, or else by its number, the first being 1; None if none is asked for."""
    if asked is None or asked in names:
        return asked
    if asked.isdecimal() and 1 <= int(asked) <= len(names):
        return names[int(asked) - 1]
    parts = [part.strip() for part in asked.split(",")]
    one_by_one = ""
    if len(parts) > 1 and set(parts) <= set(names):
        one_by_one = (
            f" Give them one by one: {' '.join(f'{option} {shlex.quote(part)}' for part in parts)}."
        )
    raise WrongUse(
        f"{source.name}: {option} {asked} is not one of its {len(names)} columns"
        f"{did_you_mean(asked, names)}: {listed(names)}.{one_by_one}"
    )


def _wanted(names: list[str], *more: str | None) -> list[str]:
    return list(dict.fromkeys([*names, *(name for name in more if name is not None)]))


def _labels(source: Source, frame: Any, label: str) -> Array:
    return as_labels(f"{source.name}, column {label!r}", frame[label])


def _bags(source: Source, frame: Any, bag: str | None) -> Array | None:
    if bag is None:
        return None
    values = frame[bag]
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise BadData(
            f"{source.name}: row {missing[0] + 1} has no bag in the column {bag!r}; fill it in, or "
            "remove the row."
        )
    return np.array([str(value) for value in values])


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
            f"{source.name}: the column name {twice[0]!r} occurs twice; give each its own name."
        )
    return names


def read_frame(
    source: Source, columns: list[str], texts: Iterable[str] = (), watch: Watch | None = None
) -> Any:
    """A data frame of these columns, in this order.

    Parameters
    ----------
    texts : iterable of str
        Columns of a CSV whose cells are kept as they stand, whether they look like numbers or not.
    """
    import pandas as pd

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
    # Without a column of their own, cells beyond the header would be lost silently.
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
            f"{source.name}: row {int(long.argmax()) + 1} has more cells than the header; put "
            "quotes around cells that contain the separator."
        )
    return frame


class _Joined(io.RawIOBase):
    """Some bytes, and then those of a stream."""

    def __init__(self, start: bytes, stream: IO[bytes]) -> None:
        self._start, self._stream = io.BytesIO(start), stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._start.read(len(buffer)) or self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _header(source: Source) -> tuple[list[str], str]:
    """Names, and the most frequent separator between them."""
    with source.open() as stream:
        text = stream.readline().decode("utf-8-sig").rstrip("\r\n")
    separator = max(_SEPARATORS, key=text.count)
    names = [name.strip() for name in next(csv.reader([text], delimiter=separator))]
    if all(_is_number(name) for name in names):
        raise BadData(
            f"{source.name}: the first line holds only numbers; put the names of the columns there."
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
