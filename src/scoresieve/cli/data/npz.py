"""Arrays of NumPy: ``X``, or the parts of a sparse matrix as SciPy saves them, and ``y``.

data, indices, indptr, shape, format    as scipy.sparse.save_npz writes them
X                                       a dense matrix instead
y, bag, bag_label, feature_names        all optional
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array
from scoresieve.cli.data.source import Source
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
        Names of the arrays with the labels and with the bag of each row.
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
    """The array of that name, or else the first of the usual names that is there."""
    if name is not None and name not in file:
        raise WrongUse(
            f"{source.name}: {option} {name} is no array of the file, which holds "
            f"{listed(file.files)}; give one of these."
        )
    found = name or next((each for each in usual if each in file), None)
    array = None if found is None else file[found]
    if array is not None and (array.ndim != 1 or array.dtype.kind not in "biufUS"):
        raise BadData(
            f"{source.name}: the array {found} has the shape {array.shape} and the dtype "
            f"{array.dtype}; it must be one number or text for each row."
        )
    return array
