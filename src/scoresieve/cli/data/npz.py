"""Arrays of NumPy: ``X``, or the parts of a sparse matrix as SciPy saves them, and ``y``.

data, indices, indptr, shape, format    as scipy.sparse.save_npz writes them
X                                       a dense matrix instead
y, bag, bag_label, feature_names        all optional
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array
from scoresieve.cli.data.source import Source, reading
from scoresieve.cli.errors import BadData, WrongUse, listed

_LABELS = ("y", "label", "labels", "target")
_BAGS = ("bag", "bags", "groups")


class Arrays(NamedTuple):
    """The content of a file; what is not there is None."""

    X: Any
    y: Array | None
    bags: Array | None
    names: Array | None


def read_npz(source: Source, label: str | None = None, bag: str | None = None) -> Arrays:
    """X and what belongs to its rows and columns.

    Parameters
    ----------
    label, bag : str, optional
        Names of the arrays with the labels and with the bag of each row, or ``.npy`` files.
    """
    with source.open() as stream, np.load(stream, allow_pickle=False) as file:
        X = _matrix(source, file, stream)
        names = file.get("feature_names")
        bags = _array(source, file, bag, _BAGS, "--bag")
        y = _array(source, file, label, _LABELS, "--label")
        if y is None and bags is not None and "bag_label" in file:
            y = file["bag_label"]
    if names is not None and names.shape != (X.shape[1],):
        raise BadData(
            f"{source.name}: feature_names has the shape {names.shape}, but X has {X.shape[1]} "
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
            f"{source.name}: it holds {listed(file.files)} and no matrix; save X under the name X, "
            "or with scipy.sparse.save_npz."
        )
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise BadData(
            f"{source.name}: X has the shape {X.shape} and the dtype {X.dtype}; it must be a "
            "matrix of numbers with at least one row and one column."
        )
    return X if X.dtype == np.float32 else X.astype(np.float64)


def _array(
    source: Source, file: Any, name: str | None, usual: tuple[str, ...], option: str
) -> Array | None:
    """The array of that name, in the file or a file itself, or else the first usual one."""
    if name is not None and is_file(name) and name not in file:
        return load_array(name)
    if name is not None and name not in file:
        raise WrongUse(
            f"{source.name}: {option} {name} is no array of the file, which holds "
            f"{listed(file.files)}; give one of these, or a file that ends in .npy."
        )
    found = name or next((each for each in usual if each in file), None)
    return None if found is None else _checked(source.name, file[found], found)


def is_file(name: str | None) -> bool:
    """Whether an array is a file of its own, as labels beside ``scipy.sparse.save_npz`` are."""
    return name is not None and name.endswith(".npy") and os.path.exists(name)


def load_array(name: str) -> Array:
    """The array in a ``.npy`` file."""
    with reading(name):
        return _checked(name, np.load(name, allow_pickle=False), "in it")


def _checked(file: str, array: Array, name: str) -> Array:
    if array.ndim != 1 or array.dtype.kind not in "biufUS":
        raise BadData(
            f"{file}: the array {name} has the shape {array.shape} and the dtype {array.dtype}; it "
            "must be one number or text for each row."
        )
    return array
