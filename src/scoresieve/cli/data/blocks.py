"""Folders of row blocks, which stand where a file does and are never read as a whole."""

from __future__ import annotations

import os

from scoresieve.cli.data.npz import Arrays, is_file, load_array
from scoresieve.cli.data.source import Source, reading
from scoresieve.cli.errors import BadData, WrongUse, one_line
from scoresieve.design import DamagedBlocksError, open_blocks


def read_blocks(source: Source, label: str | None = None, bag: str | None = None) -> Arrays:
    """X as it lies in the folder, its labels, and the names of its columns.

    Parameters
    ----------
    label : str, optional
        A ``.npy`` file with other labels than those in the folder.
    bag : str, optional
        Refused: row blocks have no bags.
    """
    if bag is not None:
        raise WrongUse(f"{source.name}: --bag {bag} is not for row blocks, which have no bags.")
    if label is not None and not is_file(label):
        raise WrongUse(
            f"{source.name}: --label {label} is no file that ends in .npy; leave it out for the "
            "labels in the folder, or save others with numpy.save."
        )
    try:
        X = open_blocks(source.name)
    except DamagedBlocksError as error:
        raise BadData(f"{source.name}: {one_line(error)}") from error
    with reading(source.name):
        y = X.labels if label is None else load_array(label)
    return Arrays(X, y, None, X.feature_names)


def refuse_unit_rows(source: Source) -> None:
    """Rows are used as they lie in the folder."""
    raise WrongUse(
        f"{os.fspath(source.name)}: rows of row blocks are not scaled when they are read; give "
        "--unit-rows to scoresieve convert, and leave it out where the blocks are used."
    )
