"""svmlight, npz and row blocks: columns have numbers, to fit on and as those of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array
from scoresieve.cli.data.blocks import read_blocks, refuse_unit_rows
from scoresieve.cli.data.encoding import Encoding, Numbered
from scoresieve.cli.data.labels import as_labels, choose_positive
from scoresieve.cli.data.npz import Arrays, is_file, read_npz
from scoresieve.cli.data.source import Kind, Source, Watch
from scoresieve.cli.data.svmlight import read_names, read_svmlight
from scoresieve.cli.data.table import Choices, Table
from scoresieve.cli.errors import BadData, WrongUse


def read_numbered(source: Source, choices: Choices, watch: Watch | None) -> Table:
    """X, and y and bags where the file has them."""
    for option in ("text", "categorical", "drop"):
        if getattr(choices, option):
            raise WrongUse(
                f"{source.name}: --{option} is for columns with names, and those of "
                f"{source.kind.value} have numbers; leave it out."
            )
    y: Array | None
    bags: Array | None = None
    names: Array | None = None
    zero_based = False
    if source.kind is Kind.SVMLIGHT:
        _refuse_names_of_arrays(source, choices.label, choices.bag)
        X, y, zero_based = read_svmlight(source, watch=watch)
    else:
        X, y, bags, names = _read_arrays(source, choices.label, choices.bag, choices.unit_rows)
    if choices.names is not None:
        names = np.array(read_names(choices.names, X.shape[1]), dtype=object)
    known = {} if names is None else dict(enumerate(map(str, names)))
    rows = Numbered(X.shape[1], zero_based, choices.unit_rows, known)
    _check_finite(source, X)
    if y is None:
        return Table(source.name, rows.scaled(X), Encoding(rows), bags=bags)
    _check_length(source, X, y, bags)
    classes = choose_positive(source.name, as_labels(source.name, y), choices.positive)
    # A file with the labels of these rows is not the one of others.
    label, bag = (None if is_file(name) else name for name in (choices.label, choices.bag))
    encoding = Encoding(rows, label, bag, classes.against_rest, classes.positive_text)
    return Table(source.name, rows.scaled(X), encoding, classes.y, classes.positive, bags)


def numbered_like(
    source: Source,
    encoding: Encoding,
    rows: Numbered,
    label: str | None,
    bag: str | None,
    watch: Watch | None,
) -> Table:
    """X, and labels and bags where the file has them, with the columns of the model."""
    y: Array | None
    bags: Array | None = None
    if source.kind is Kind.SVMLIGHT:
        X, y, _ = read_svmlight(
            source, zero_based=rows.zero_based, n_features=rows.n_features, watch=watch
        )
    else:
        X, y, bags, _ = _read_arrays(source, label, bag, rows.unit_rows)
        if X.shape[1] != rows.n_features:
            raise BadData(
                f"{source.name}: X has {X.shape[1]} columns, but the model was fitted on "
                f"{rows.n_features}; give the same columns."
            )
    _check_finite(source, X)
    if y is not None:
        _check_length(source, X, y, bags)
        y = as_labels(source.name, y)
    return Table(source.name, rows.scaled(X), encoding, y, bags=bags)


def _read_arrays(source: Source, label: str | None, bag: str | None, unit_rows: bool) -> Arrays:
    """What an npz file or a folder of row blocks holds."""
    if source.kind is Kind.NPZ:
        return read_npz(source, label, bag)
    if unit_rows:
        refuse_unit_rows(source)
    return read_blocks(source, label, bag)


def _refuse_names_of_arrays(source: Source, label: str | None, bag: str | None) -> None:
    for option, value in (("--label", label), ("--bag", bag)):
        if value is not None:
            raise WrongUse(
                f"{source.name}: {option} {value} is for tables and npz; leave it out, since a "
                "svmlight file has its labels at the beginning of each line and no bags."
            )


def _check_finite(source: Source, X: Any) -> None:
    if source.kind is Kind.BLOCKS:
        return  # a fit looks itself, in the pass that it makes anyway
    values = X.data if sp.issparse(X) else X
    if not np.all(np.isfinite(values)):
        raise BadData(f"{source.name}: X holds NaN or infinity; fill in or leave out these rows.")


def _check_length(source: Source, X: Any, y: Array, bags: Array | None) -> None:
    n_bags = None if bags is None else np.unique(bags).size
    if bags is not None and bags.size != X.shape[0]:
        raise BadData(
            f"{source.name}: there are {bags.size} names of bags for {X.shape[0]} rows; save one "
            "for each row."
        )
    if y.size not in (X.shape[0], n_bags):
        raise BadData(
            f"{source.name}: there are {y.size} labels for {X.shape[0]} rows; save one for each."
        )
