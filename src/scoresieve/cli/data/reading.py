"""Files as X and y: to fit on, and to be read as those that a model was fitted on."""

from __future__ import annotations

from scoresieve.cli.data.encoding import Encoding, Named
from scoresieve.cli.data.named import named_like, read_named
from scoresieve.cli.data.numbered import numbered_like, read_numbered
from scoresieve.cli.data.source import Kind, Source, Watch, find_source
from scoresieve.cli.data.table import Choices, Table
from scoresieve.cli.errors import BadData, WrongUse

TABLES = (Kind.CSV, Kind.PARQUET)


def read_training(path: str, choices: Choices, watch: Watch | None = None) -> Table:
    """The rows of a file and their labels, and how to read others like it."""
    return training_table(find_source(path), choices, watch)


def training_table(source: Source, choices: Choices, watch: Watch | None = None) -> Table:
    """The same of a source that was found already: standard input can be read only once."""
    read = read_named if source.kind in TABLES else read_numbered
    table = read(source, choices, watch)
    if table.y is None:
        raise WrongUse(
            f"{source.name}: there is no array y with the labels; name another one with --label."
        )
    return table


def read_like(
    path: str,
    encoding: Encoding,
    *,
    label: str | None = None,
    bag: str | None = None,
    with_labels: bool = False,
    watch: Watch | None = None,
) -> Table:
    """The rows of a file as those that a model was fitted on.

    Parameters
    ----------
    label, bag : str, optional
        Columns with labels and bags, if they are not those of training.
    with_labels : bool
        Whether labels are read; they are as they stand in the file.
    """
    source = find_source(path)
    if (source.kind in TABLES) != isinstance(encoding.rows, Named):
        has, wants = ("names", "numbers") if source.kind in TABLES else ("numbers", "names")
        formats = "CSV or parquet" if wants == "names" else "svmlight, npz or row block"
        raise BadData(
            f"{source.name}: its columns have {has}, but the model was fitted on columns with "
            f"{wants}; give a file in {formats} form."
        )
    label = (label or encoding.label) if with_labels else None
    bag = bag or encoding.bag
    if isinstance(encoding.rows, Named):
        return named_like(source, encoding, encoding.rows, label, bag, watch)
    return numbered_like(source, encoding, encoding.rows, label, bag, watch)
