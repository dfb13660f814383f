"""What a bag may look like: 2-D, finite, not empty. Each error names the bag."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from scoresieve._arrays import IntArray


def as_instances(instances: Any) -> Any:
    """A 2-D array or a CSR array, of float32 if it was that, else of float64."""
    if sp.issparse(instances):
        instances = sp.csr_array(instances)
    else:
        try:
            instances = np.asarray(instances)
        except ValueError as error:
            raise ValueError(f"instances cannot be read as a 2-D array: {error}") from error
    if instances.ndim != 2:
        raise ValueError(
            f"instances must be 2-D, one row for each instance; got shape {instances.shape}."
        )
    if instances.dtype.kind not in "biuf":
        raise ValueError(f"instances must hold real numbers; got dtype {instances.dtype}.")
    if instances.shape[1] == 0:
        raise ValueError("instances have no columns; give at least one.")
    return instances if instances.dtype == np.float32 else instances.astype(np.float64, copy=False)


def as_bag(bag: Any, place: int) -> Any:
    """One bag of a list as :func:`as_instances` has it, with its place in every error."""
    try:
        array = as_instances(bag)
    except ValueError as error:
        raise ValueError(f"bag {place}: {error}") from error
    if array.shape[0] == 0:
        raise ValueError(f"bag {place} is empty; leave it out.")
    return array


def as_offsets(offsets: ArrayLike, n_instances: int) -> IntArray:
    """Whole numbers that never fall, from 0 to the number of instances."""
    offsets = np.asarray(offsets)
    good = offsets.ndim == 1 and offsets.size >= 2 and offsets.dtype.kind in "iu"
    if not good or offsets[0] != 0 or offsets[-1] != n_instances or np.any(np.diff(offsets) < 0):
        raise ValueError(
            f"offsets must be whole numbers that rise from 0 to the {n_instances} instances, one "
            f"more than there are bags; got {offsets!r}."
        )
    return offsets.astype(np.int64)


def check_same_columns(arrays: list) -> None:
    """Refuse bags with another number of columns than the first."""
    for place, array in enumerate(arrays):
        if array.shape[1] != arrays[0].shape[1]:
            raise ValueError(
                f"bag {place} has {array.shape[1]} columns, but bag 0 has {arrays[0].shape[1]}; "
                "all bags must have the same columns."
            )


def first_not_finite(instances: Any) -> int | None:
    """The first row with NaN or infinity; None if there is none."""
    values = instances.data if sp.issparse(instances) else instances
    # NaN and infinity reach the sum, so one pass without a mask settles the usual case.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return None
    finite = np.isfinite(values)
    if finite.all():
        return None
    if sp.issparse(instances):
        at = int(np.argmin(finite))
        return int(np.searchsorted(instances.indptr, at, side="right")) - 1
    return int(np.argmin(finite.all(axis=1)))


def check_length(n_bags: int, y: Any) -> None:
    """Refuse labels that are not one for each bag."""
    n_labels = y.shape[0] if hasattr(y, "shape") else len(y)
    if n_labels != n_bags:
        raise ValueError(
            f"y has {n_labels} labels, but there are {n_bags} bags; give one label for each bag."
        )
