"""Bags of instances, the examples of multiple-instance learning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from scoresieve._arrays import Array, IntArray


class Bags:
    """``bag i = instances[offsets[i] : offsets[i + 1]]``: bags stacked into one matrix.

    Conventions
    -----------
    * A bag is a 2-D array with one row per instance; all bags have the same columns.
    * ``bags[3]`` is the array of bag 3. Slices, masks and lists of indices give ``Bags``, so that
      ``train_test_split``, ``cross_val_score`` and ``GridSearchCV`` work.
    * Every bag has at least one instance. Instances are finite numbers.

    Parameters
    ----------
    instances : array or sparse matrix of shape (n_instances, n_columns)
        Sparse ones are kept as CSR.
    offsets : array-like of int of shape (n_bags + 1,)
        Start of each bag, and the number of instances at the end.
    names : array-like of shape (n_bags,), optional
        Name of each bag, by which models name their key instances; its index by default.

    Examples
    --------
    >>> import numpy as np
    >>> bags = Bags.from_list([np.zeros((2, 3)), np.ones((4, 3))])
    >>> len(bags), bags.sizes.tolist(), bags[1].shape
    (2, [2, 4], (4, 3))
    >>> bags[[1]].n_instances
    4
    """

    def __init__(self, instances: Any, offsets: ArrayLike, names: ArrayLike | None = None) -> None:
        self.instances = _as_instances(instances)
        self.offsets = _as_offsets(offsets, self.instances.shape[0])
        self.names = np.arange(len(self)) if names is None else np.asarray(names)
        if self.names.shape != (len(self),):
            raise ValueError(
                f"names has shape {self.names.shape}, but there are {len(self)} bags; give one "
                "name per bag."
            )
        empty = np.flatnonzero(self.sizes == 0)
        if empty.size:
            raise ValueError(f"bag {self.label(empty[0])} is empty; leave it out.")
        row = _first_not_finite(self.instances)
        if row is not None:
            bag, position = self.origin(row)
            raise ValueError(
                f"bag {self.label(bag)} has NaN or infinity in instance {position}; impute it or "
                "leave the instance out."
            )

    @classmethod
    def from_list(cls, bags: Sequence[Any], names: ArrayLike | None = None) -> Bags:
        """Stack a list of 2-D arrays or sparse matrices, one per bag."""
        arrays = [_as_bag(bag, place) for place, bag in enumerate(bags)]
        if not arrays:
            raise ValueError("bags is empty; give at least one bag.")
        _check_same_columns(arrays)
        offsets = np.concatenate([[0], np.cumsum([array.shape[0] for array in arrays])])
        if any(sp.issparse(array) for array in arrays):
            stacked = sp.vstack([sp.csr_array(array) for array in arrays], format="csr")
        else:
            stacked = np.concatenate(arrays)
        return cls(stacked, offsets, names)

    @classmethod
    def from_groups(cls, X: Any, groups: ArrayLike) -> Bags:
        """Rows with equal entries in ``groups`` form a bag; bags are ordered by first appearance.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_instances, n_columns)
        groups : array-like of shape (n_instances,)
            Name of the bag of each row.

        Examples
        --------
        >>> bags = Bags.from_groups([[1.0], [2.0], [3.0]], ["b", "a", "b"])
        >>> bags.names.tolist(), bags[0].ravel().tolist()
        (['b', 'a'], [1.0, 3.0])
        """
        X = _as_instances(X)
        names, members, _ = _by_appearance(groups, X.shape[0])
        order = np.argsort(members, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(members, minlength=names.size))])
        return cls(X[order], offsets, names)

    @classmethod
    def from_dataframe(
        cls, frame: Any, *, bag: str, columns: Sequence[str] | None = None, label: str | None = None
    ) -> Bags | tuple[Bags, Array]:
        """The rows of a pandas or polars frame, assigned to bags by the column ``bag``.

        Parameters
        ----------
        frame : DataFrame
        bag : str
            Column with the name of the bag of each row.
        columns : sequence of str, optional
            Numeric columns that describe an instance; by default all but ``bag`` and ``label``.
        label : str, optional
            Column with the label of the bag, equal in all its rows.

        Returns
        -------
        Bags, or (Bags, ndarray of shape (n_bags,)) with ``label``
        """
        known = list(frame.columns)
        if columns is None:
            columns = [name for name in known if name not in (bag, label)]
        for name in [bag, *columns, *([] if label is None else [label])]:
            if name not in known:
                raise ValueError(
                    f"the frame has no column {name!r}; it has {', '.join(map(repr, known))}."
                )
        groups = np.asarray(frame[bag].to_numpy())
        bags = cls.from_groups(np.asarray(frame[list(columns)].to_numpy()), groups)
        if label is None:
            return bags
        return bags, _one_label_each(groups, np.asarray(frame[label].to_numpy()))

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Number of bags, and of columns of their instances."""
        return len(self), self.instances.shape[1]

    @property
    def sizes(self) -> IntArray:
        """Instances in each bag."""
        return np.diff(self.offsets)

    @property
    def n_instances(self) -> int:
        """Instances in all bags."""
        return int(self.offsets[-1])

    def label(self, bag: int) -> str:
        """The index of a bag, and its name if different, for messages."""
        name = self.names[bag]
        return str(bag) if name == bag else f"{bag} ({name})"

    def origin(self, instance: int) -> tuple[int, int]:
        """The bag of an instance, and its position there."""
        bag = int(np.searchsorted(self.offsets, instance, side="right")) - 1
        return bag, int(instance - self.offsets[bag])

    def alone(self) -> Bags:
        """Each instance as its own bag."""
        return Bags(self.instances, np.arange(self.n_instances + 1))

    def __iter__(self) -> Iterator[Any]:
        for bag in range(len(self)):
            yield self[bag]

    def __getitem__(self, key: Any) -> Any:
        # scikit-learn asks for bags[rows, ...].
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        if isinstance(key, int | np.integer):
            bag = range(len(self))[key]
            return self.instances[self.offsets[bag] : self.offsets[bag + 1]]
        chosen = np.arange(len(self))[key]
        if chosen.ndim != 1 or chosen.size == 0:
            raise IndexError(
                "the index of bags must be an integer, a slice, a mask or a list of integers that "
                f"selects at least one; got {key!r}."
            )
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        return Bags(self.instances[rows], offsets, self.names[chosen])

    def __repr__(self) -> str:
        return f"Bags({len(self)} bags, {self.n_instances} instances, {self.shape[1]} columns)"


def as_bags(bags: Any) -> Bags:
    """``Bags``, a list of 2-D arrays or sparse matrices, or one 3-D array, as ``Bags``."""
    if isinstance(bags, Bags):
        return bags
    if isinstance(bags, np.ndarray) and bags.ndim == 2 and bags.dtype.kind != "O":
        raise ValueError(
            f"bags is one 2-D array of shape {bags.shape}; give a list of 2-D arrays, one per bag, "
            "[array] for a single bag, or Bags.from_groups(X, groups)."
        )
    if isinstance(bags, str) or sp.issparse(bags) or not hasattr(bags, "__iter__"):
        raise ValueError(
            f"bags must be a list of 2-D arrays, or Bags; got {type(bags).__name__}. For a single "
            "bag give [array]."
        )
    return Bags.from_list(list(bags))


def check_length(n_bags: int, y: Any) -> None:
    """Refuse labels unless there is one per bag."""
    n_labels = y.shape[0] if hasattr(y, "shape") else len(y)
    if n_labels != n_bags:
        raise ValueError(
            f"y has {n_labels} labels, but there are {n_bags} bags; give one label per bag."
        )


def _as_instances(instances: Any) -> Any:
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
            f"instances must be 2-D, one row per instance; got shape {instances.shape}."
        )
    if instances.dtype.kind not in "biuf":
        raise ValueError(f"instances must hold real numbers; got dtype {instances.dtype}.")
    if instances.shape[1] == 0:
        raise ValueError("instances have no columns; give at least one.")
    return instances if instances.dtype == np.float32 else instances.astype(np.float64, copy=False)


def _as_bag(bag: Any, place: int) -> Any:
    """One bag of a list as :func:`_as_instances` has it, with its place in every error."""
    try:
        array = _as_instances(bag)
    except ValueError as error:
        raise ValueError(f"bag {place}: {error}") from error
    if array.shape[0] == 0:
        raise ValueError(f"bag {place} is empty; leave it out.")
    return array


def _as_offsets(offsets: ArrayLike, n_instances: int) -> IntArray:
    """Whole numbers that never fall, from 0 to the number of instances."""
    offsets = np.asarray(offsets)
    good = offsets.ndim == 1 and offsets.size >= 2 and offsets.dtype.kind in "iu"
    if not good or offsets[0] != 0 or offsets[-1] != n_instances or np.any(np.diff(offsets) < 0):
        raise ValueError(
            f"offsets must be integers that rise from 0 to the {n_instances} instances, one more "
            f"than there are bags; got {offsets!r}."
        )
    return offsets.astype(np.int64)


def _check_same_columns(arrays: list) -> None:
    """Refuse bags with another number of columns than the first."""
    for place, array in enumerate(arrays):
        if array.shape[1] != arrays[0].shape[1]:
            raise ValueError(
                f"bag {place} has {array.shape[1]} columns, but bag 0 has {arrays[0].shape[1]}; "
                "all bags must have the same columns."
            )


def _first_not_finite(instances: Any) -> int | None:
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


def _by_appearance(groups: ArrayLike, n_rows: int) -> tuple[Array, IntArray, IntArray]:
    """Names in the order of first appearance, each row's number among them, and first rows."""
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        raise ValueError(
            f"groups has shape {groups.shape}, but X has {n_rows} rows; give one name per row."
        )
    names, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    appearance = np.argsort(first, kind="stable")
    rank = np.empty(names.size, dtype=np.int64)
    rank[appearance] = np.arange(names.size)
    return names[appearance], rank[inverse], first[appearance]


def _one_label_each(groups: Array, labels: Array) -> Array:
    """The label of each bag, from those of its rows."""
    _, members, first = _by_appearance(groups, labels.size)
    differs = np.flatnonzero(labels != labels[first[members]])
    if differs.size:
        row = differs[0]
        raise ValueError(
            f"bag {groups[row]!r} has the labels {labels[first[members[row]]]!r} and "
            f"{labels[row]!r}; all rows of a bag must have the same label."
        )
    return labels[first]
