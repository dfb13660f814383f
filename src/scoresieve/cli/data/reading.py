"""Files as X and y, of rows or of bags: to fit on, and as those that a model was fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import scoresieve
from scoresieve._arrays import Array
from scoresieve.cli.data.labels import Table
from scoresieve.cli.data.matrices import matrix_like, read_matrix
from scoresieve.cli.data.source import Choices, Kind, Source, Watch, find_source
from scoresieve.cli.data.tables import copied_columns, read_table, table_like
from scoresieve.cli.errors import BadData, WrongUse
from scoresieve.tables.encoding import Encoding, Named

if TYPE_CHECKING:  # loaded where a file holds bags
    from scoresieve.mil import Bags

TABLES = (Kind.CSV, Kind.PARQUET)


def read_training(path: str, choices: Choices, watch: Watch | None = None) -> Table:
    """The rows of a file and their labels, and how to read others like it."""
    return training_table(find_source(path), choices, watch)


def training_table(source: Source, choices: Choices, watch: Watch | None = None) -> Table:
    """The same of a source that was found already: standard input can be read only once."""
    read = read_table if source.kind in TABLES else read_matrix
    table = read(source, choices, watch)
    if table.y is None:
        raise WrongUse(
            f"{source.name}: there is no array y with the labels; name theirs with --label."
        )
    return table


def read_like(
    path: str,
    encoding: Encoding,
    *,
    label: str | None = None,
    bag: str | None = None,
    drop: tuple[str, ...] = (),
    with_labels: bool = False,
    copied: Sequence[tuple[str, str]] = (),
    watch: Watch | None = None,
) -> Table:
    """The rows of a file as those that a model was fitted on.

    Parameters
    ----------
    label, bag : str, optional
        Columns with labels and bags, if they are not those of training.
    drop : tuple of str
        Columns to leave out, which the model must not need.
    with_labels : bool
        Whether labels are read; they are as they stand in the file.
    copied : sequence of (str, str)
        Options, and the columns that they name, whose cells are wanted as they stand.
    """
    source = find_source(path)
    if (source.kind in TABLES) != isinstance(encoding.rows, Named):
        has, wants = ("names", "numbers") if source.kind in TABLES else ("numbers", "names")
        formats = "CSV or parquet" if wants == "names" else "svmlight, npz or row-block"
        raise BadData(
            f"{source.name}: its columns have {has}, but those of the model have {wants}; give a "
            f"{formats} file."
        )
    label = (label or encoding.label) if with_labels else None
    encoding = replace(encoding, label=label, bag=bag or encoding.bag)
    if isinstance(encoding.rows, Named):
        table = table_like(source, encoding, encoding.rows.encoder, drop, watch)
        return replace(table, copied=copied_columns(source, copied)) if copied else table
    if copied:
        option, name = copied[0]
        raise WrongUse(
            f"{source.name}: {option} {name} needs a table, whose columns have names; give CSV or "
            "parquet."
        )
    return matrix_like(source, encoding, encoding.rows, drop, watch)


def bags_of(table: Table) -> Bags:
    """The rows of each bag together, in the order of first appearance."""
    if table.bags is None:
        raise WrongUse(f"{table.file}: no column of bags is known; name it with --bag NAME.")
    return scoresieve.mil.Bags.from_groups(table.X, table.bags)


def examples_of(table: Table, of_bags: bool) -> tuple[Any, Array]:
    """X and y of rows, or of bags."""
    if not of_bags:
        return table.X, table.y
    bags = bags_of(table)
    return bags, _labels_of(table, bags)


def _labels_of(table: Table, bags: Bags) -> Array:
    """One label for each bag, from one for each row or one for each bag in the order of names."""
    names, first, bag_of = np.unique(table.bags, return_index=True, return_inverse=True)
    y: Array = table.y
    if y.size != bag_of.size:
        return y[np.searchsorted(names, bags.names)]
    labels = y[first]
    differs = np.flatnonzero(labels[bag_of] != y)
    if differs.size:
        bag = bag_of[differs[0]]
        raise BadData(
            f"{table.file}: rows of the bag {names[bag]} have the labels {labels[bag]} and "
            f"{y[differs[0]]}; give all rows of a bag one label."
        )
    return labels[np.searchsorted(names, bags.names)]
