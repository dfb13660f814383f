"""Tables with named columns, to fit on and as those that a model was fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np

from scoresieve._arrays import Array
from scoresieve.cli.data.encoding import Encoding, Named
from scoresieve.cli.data.frames import column_names, find_column, read_frame
from scoresieve.cli.data.kinds import fit_columns
from scoresieve.cli.data.labels import as_labels, choose_positive
from scoresieve.cli.data.source import Source, Watch
from scoresieve.cli.data.table import Choices, Table
from scoresieve.cli.errors import BadData, WrongUse, listed

#: A column of this name holds the labels, if the user names none.
USUAL_LABELS = ("label", "labels", "target", "class", "y")


def read_named(source: Source, choices: Choices, watch: Watch | None) -> Table:
    """X and y, each column being what it looks like or was said to be."""
    if choices.names or choices.unit_rows:
        option = "--names" if choices.names else "--unit-rows"
        raise WrongUse(f"{source.name}: {option} is for svmlight and npz; leave it out.")
    names = column_names(source)
    label = _label_column(source, names, choices.label)
    bag = None if choices.bag is None else find_column(source, names, choices.bag, "--bag")
    asked: dict[str, set[str]] = {
        option: {find_column(source, names, each, f"--{option}") for each in columns}
        for option, columns in (
            *(("drop", choices.drop), ("categorical", choices.categorical)),
            ("text", choices.text),
        )
    }
    used = [name for name in names if name not in {label, bag, *asked["drop"]}]
    if not used:
        raise BadData(f"{source.name}: no column is left to choose from; give at least one more.")
    texts = {*asked["categorical"], *asked["text"]} & {*used}
    wanted = [name for name in (label, bag) if name is not None]
    frame = read_frame(source, [*used, *wanted], texts, watch)
    classes = choose_positive(
        source.name, as_labels(f"{source.name}, column {label!r}", frame[label]), choices.positive
    )
    columns = fit_columns(frame[used], source.name, asked["categorical"], asked["text"])
    rows = Named(columns)
    encoding = Encoding(rows, label, bag, classes.against_rest, classes.positive_text)
    X = rows.encode(frame, source.name)
    bags = None if bag is None else _bags(source, frame[bag])
    return Table(source.name, X, encoding, classes.y, classes.positive, bags)


def _label_column(source: Source, names: list[str], asked: str | None) -> str:
    if asked is not None:
        return find_column(source, names, asked, "--label")
    usual = [name for name in names if name.lower() in USUAL_LABELS]
    if len(usual) != 1:
        raise WrongUse(
            f"{source.name}: say which column holds the labels with --label NAME; the columns are "
            f"{listed(names)}."
        )
    return usual[0]


def _bags(source: Source, values: Any) -> Array:
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise BadData(
            f"{source.name}: row {missing[0] + 1} has no bag in the column {values.name!r}; fill "
            "it in, or leave the row out."
        )
    return np.array([str(value) for value in values])


def named_like(
    source: Source,
    encoding: Encoding,
    rows: Named,
    label: str | None,
    bag: str | None,
    watch: Watch | None,
) -> Table:
    """X, and labels and bags where a column is given, encoded as in training."""
    names = column_names(source)
    missing = [column.name for column in rows.columns if column.name not in names]
    if missing:
        raise BadData(
            f"{source.name}: it lacks {listed(map(repr, missing))}, which the model was fitted on; "
            "add the column, or fit without it."
        )
    label = None if label is None else find_column(source, names, label, "--label")
    bag = None if bag is None else find_column(source, names, bag, "--bag")
    wanted = [each for each in (label, bag) if each is not None]
    texts = [column.name for column in rows.columns if column.is_text]
    columns = dict.fromkeys([*(column.name for column in rows.columns), *wanted])
    frame = read_frame(source, columns, texts, watch)
    y = None if label is None else as_labels(f"{source.name}, column {label!r}", frame[label])
    bags = None if bag is None else _bags(source, frame[bag])
    return Table(source.name, rows.encode(frame, source.name), encoding, y, bags=bags)
