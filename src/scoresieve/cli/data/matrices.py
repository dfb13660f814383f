"""svmlight, npz and row blocks: columns have numbers, to fit on and as those of a model.

svmlight      ``label index:value index:value ...``
npz           ``X``, or ``data, indices, indptr, shape, format`` as ``scipy.sparse.save_npz`` writes
              them; ``y``, ``bag``, ``bag_label`` and ``feature_names`` are optional
row blocks    a folder, which stands where a file does and is never read as a whole
"""

from __future__ import annotations

import os
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from scoresieve._arrays import Array
from scoresieve.cli.data.labels import Arrays, Table, as_labels, choose_positive
from scoresieve.cli.data.source import Choices, Kind, Source, Watch, find_source, reading
from scoresieve.cli.errors import BadData, WrongUse, listed, one_line
from scoresieve.design import DamagedBlocksError, open_blocks
from scoresieve.tables.encoding import Encoding, Numbered

_LABELS = ("y", "label", "labels", "target")
_BAGS = ("bag", "bags", "groups")


def read_matrix(source: Source, choices: Choices, watch: Watch | None) -> Table:
    """X, and y and bags where the file has them."""
    for option in ("text", "categorical", "drop"):
        if getattr(choices, option):
            _refuse_names(source, option)
    if source.kind is Kind.SVMLIGHT:
        for option, value in (("--label", choices.label), ("--bag", choices.bag)):
            if value is not None:
                raise WrongUse(
                    f"{source.name}: {option} {value} is for tables and npz; svmlight lines begin "
                    "with their label and name no bag, so leave it out."
                )
        found = _read_svmlight(source, None, watch)
    else:
        found = _read_arrays(source, choices.label, choices.bag, choices.unit_rows)
    X, names = found.X, [] if found.names is None else map(str, found.names)
    if choices.names is not None:
        names = _read_names(choices.names, X.shape[1])
    rows = Numbered(X.shape[1], found.zero_based, choices.unit_rows, dict(enumerate(names)))
    y = _checked_labels(source, found)
    if y is None:
        return Table(source.name, rows.scaled(X), Encoding(rows), bags=found.bags)
    classes = choose_positive(source.name, y, choices.positive)
    # A file with the labels of these rows is not the one of others.
    label, bag = (None if _is_file(name) else name for name in (choices.label, choices.bag))
    encoding = Encoding(rows, label, bag, classes.against_rest, classes.positive_text)
    return Table(source.name, rows.scaled(X), encoding, classes.y, classes.positive, found.bags)


def _refuse_names(source: Source, option: str) -> NoReturn:
    raise WrongUse(
        f"{source.name}: --{option} needs named columns, and those of {source.kind.value} have "
        "numbers; leave it out."
    )


def matrix_like(
    source: Source, encoding: Encoding, rows: Numbered, drop: tuple[str, ...], watch: Watch | None
) -> Table:
    """X, and labels and bags where the file has them, with the columns of the model."""
    if drop:
        _refuse_names(source, "drop")
    if source.kind is Kind.SVMLIGHT:
        found = _read_svmlight(source, rows, watch)
    else:
        found = _read_arrays(source, encoding.label, encoding.bag, rows.unit_rows)
    if found.X.shape[1] != rows.n_features:
        raise BadData(
            f"{source.name}: X has {found.X.shape[1]} columns, but the model was fitted on "
            f"{rows.n_features}; give the same columns."
        )
    y = _checked_labels(source, found)
    return Table(source.name, rows.scaled(found.X), encoding, y, bags=found.bags)


def _checked_labels(source: Source, found: Arrays) -> Array | None:
    """The labels, if there are any, of rows without NaN, one for each row or bag."""
    X, y, bags = found.X, found.y, found.bags
    # A fit looks itself at row blocks, in the pass that it makes anyway.
    if source.kind is not Kind.BLOCKS and not np.all(np.isfinite(X.data if sp.issparse(X) else X)):
        raise BadData(f"{source.name}: X holds NaN or infinity; fill in or remove these rows.")
    if y is None:
        return None
    if bags is not None and bags.size != X.shape[0]:
        raise BadData(
            f"{source.name}: there are {bags.size} bag names for {X.shape[0]} rows; save one for "
            "each row."
        )
    if y.size not in (X.shape[0], None if bags is None else np.unique(bags).size):
        raise BadData(
            f"{source.name}: there are {y.size} labels for {X.shape[0]} rows; save one a row."
        )
    return as_labels(source.name, y)


def _read_names(path: str, n_features: int) -> list[str]:
    """The names of the columns from a text file, one in each line."""
    with find_source(path).open() as stream:
        names = [line.strip() for line in stream.read().decode("utf-8-sig").splitlines()]
    if len(names) != n_features:
        raise BadData(
            f"{path}: it has {len(names)} lines for {n_features} columns; write one name a line, "
            "for every column."
        )
    return names


def _read_svmlight(source: Source, like: Numbered | None, watch: Watch | None) -> Arrays:
    """X in CSR form and the labels, with the columns of the file that a model was fitted on.

    Without one, columns count from 1, as they should, unless the file has a column 0. Columns
    beyond those of a model have no weight and are left out.
    """
    with source.open(watch) as stream:
        try:
            # Numbers as they stand: whether they count from 0 is decided once, not file by file.
            X, y = load_svmlight_file(stream, zero_based=True)
        except (ValueError, OverflowError) as error:
            raise BadData(
                f"{source.name}: a line is not of the form 'label index:value ...' with increasing "
                f"indices ({one_line(error)}); correct it."
            ) from error
    if X.nnz == 0:
        raise BadData(f"{source.name}: no line has any 'index:value' pair; check the file.")
    first = int(X.indices.min())
    if like is not None and not like.zero_based and first == 0:
        raise BadData(
            f"{source.name}: it has a column 0, but columns of the training file start at 1; "
            "renumber them."
        )
    zero_based = first == 0 if like is None else like.zero_based
    if not zero_based:
        X = _reshaped(X, X.indices - 1, X.shape[1] - 1)
    if like is not None and X.shape[1] > like.n_features:
        X = X[:, : like.n_features]
    elif like is not None:
        X = _reshaped(X, X.indices, like.n_features)
    return Arrays(X, y, zero_based=zero_based)


def _reshaped(X: Any, indices: Array, n_features: int) -> Any:
    return sp.csr_matrix((X.data, indices, X.indptr), shape=(X.shape[0], n_features))


def _read_arrays(source: Source, label: str | None, bag: str | None, unit_rows: bool) -> Arrays:
    """What an npz file or row blocks hold; label and bag are names of arrays or ``.npy`` files."""
    if source.kind is Kind.NPZ:
        return _read_npz(source, label, bag)
    if unit_rows:
        raise WrongUse(
            f"{source.name}: row blocks are not scaled when they are read; give --unit-rows to "
            "scoresieve convert, which writes them, and leave it out here."
        )
    return _read_blocks(source, label, bag)


def _read_npz(source: Source, label: str | None, bag: str | None) -> Arrays:
    with source.open() as stream, np.load(stream, allow_pickle=False) as file:
        X = _matrix(source, file, stream)
        names = file.get("feature_names")
        bags = _array(source, file, bag, _BAGS, "--bag")
        y = _array(source, file, label, _LABELS, "--label")
        if y is None and bags is not None and "bag_label" in file:
            y = file["bag_label"]
    if names is not None and names.shape != (X.shape[1],):
        raise BadData(
            f"{source.name}: feature_names has shape {names.shape}, but X has {X.shape[1]} "
            "columns; save one name for each."
        )
    return Arrays(X, y, bags, names)


def _matrix(source: Source, file: Any, stream: Any) -> Any:
    if "X" in file:
        X = file["X"]
    elif "indptr" in file:
        stream.seek(0)
        X = sp.load_npz(stream).tocsr()
    else:
        raise BadData(
            f"{source.name}: it holds {listed(file.files)} but no matrix; save X under the name X, "
            "or with scipy.sparse.save_npz."
        )
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise BadData(
            f"{source.name}: X has shape {X.shape} and dtype {X.dtype}; save a matrix of numbers "
            "with at least one row and one column."
        )
    return X if X.dtype == np.float32 else X.astype(np.float64)


def _array(
    source: Source, file: Any, name: str | None, usual: tuple[str, ...], option: str
) -> Array | None:
    """The array of that name, in the file or a file itself, or else the first usual one."""
    if name is not None and name not in file:
        if _is_file(name):
            return _load_array(name)
        raise WrongUse(
            f"{source.name}: {option} {name} is not an array of the file; give one of "
            f"{listed(file.files)}, or a .npy file."
        )
    found = name or next((each for each in usual if each in file), None)
    return None if found is None else _checked(source.name, file[found], found)


def _is_file(name: str | None) -> bool:
    """Whether an array is a file of its own, as labels beside ``scipy.sparse.save_npz`` are."""
    return name is not None and name.endswith(".npy") and os.path.exists(name)


def _load_array(name: str) -> Array:
    with reading(name):
        return _checked(name, np.load(name, allow_pickle=False), "in it")


def _checked(file: str, array: Array, name: str) -> Array:
    if array.ndim != 1 or array.dtype.kind not in "biufUS":
        raise BadData(
            f"{file}: the array {name} has shape {array.shape} and dtype {array.dtype}; save one "
            "number or text for each row."
        )
    return array


def _read_blocks(source: Source, label: str | None, bag: str | None) -> Arrays:
    """X as it lies in the folder; a label is a ``.npy`` file that replaces those in there."""
    if bag is not None:
        raise WrongUse(f"{source.name}: row blocks have no bags; leave --bag {bag} out.")
    if label is not None and not _is_file(label):
        raise WrongUse(
            f"{source.name}: --label {label} is not a .npy file; leave it out to use the labels in "
            "the folder, or save others with numpy.save."
        )
    try:
        X = open_blocks(source.name)
    except DamagedBlocksError as error:
        raise BadData(f"{source.name}: {one_line(error)}") from error
    with reading(source.name):
        y = X.labels if label is None else _load_array(label)
    return Arrays(X, y, None, X.feature_names)
