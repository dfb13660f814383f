"""Units: what a budget counts. One column, or one group of columns that enter together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Entries of ``unit_of`` for the columns that belong to no unit.
ALWAYS = -1
EXCLUDED = -2


@dataclass(frozen=True, eq=False)
class Units:
    """``unit_of[j]`` = the unit of column j, or -1 (always in), or -2 (excluded).

    Conventions
    -----------
    * Units are numbered 0 .. n_units - 1 by their first column, so that "the lower unit" and "the
      lower column" mean the same in ties, and units of one column each are in column order.
    * ``columns`` selects the columns that belong to a unit, in ascending order. It is a slice where
      they are contiguous, so that the usual case (an intercept in the last column) makes views.

    Parameters
    ----------
    unit_of : ndarray of int64 of shape (n_features,)
    n_units : int
    always, excluded : ndarray of int64
        Sorted column numbers.
    columns : slice or ndarray of int64
    has_groups : bool
        False when each unit is one column.
    """

    unit_of: IntArray
    n_units: int
    always: IntArray
    excluded: IntArray
    columns: slice | IntArray
    has_groups: bool

    @classmethod
    def from_columns(
        cls,
        n_features: int,
        always: ArrayLike | None,
        excluded: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> Units:
        """Check the three column lists and number the units."""
        status = np.zeros(n_features, dtype=np.int64)
        for name, listed, mark in (("always", always, ALWAYS), ("excluded", excluded, EXCLUDED)):
            columns = _column_numbers(name, listed, n_features)
            taken = columns[status[columns] != 0]
            if taken.size:
                raise ValueError(
                    f"column {taken[0]} is in both always and excluded; leave it in one of them."
                )
            status[columns] = mark
        selectable = status == 0
        if groups is None:
            status[selectable] = np.arange(np.count_nonzero(selectable))
        else:
            labels = np.asarray(groups)
            if labels.shape != (n_features,) or labels.dtype.kind not in "iu":
                raise ValueError(
                    f"groups must be {n_features} integers, one for each column; got an array of "
                    f"shape {labels.shape} and dtype {labels.dtype}."
                )
            mixed = _mixed_column(labels, status)
            if mixed is not None:
                raise ValueError(
                    f"groups: the group of column {mixed} is partly in always or excluded; list "
                    "all columns of the group or none."
                )
            status[selectable] = _number_by_first_column(labels[selectable])
        return cls._from_unit_of(status)

    @classmethod
    def _from_unit_of(cls, unit_of: IntArray) -> Units:
        """Derive everything from a dense numbering that is known to be right."""
        always = np.flatnonzero(unit_of == ALWAYS)
        excluded = np.flatnonzero(unit_of == EXCLUDED)
        n_units = int(unit_of.max(initial=-1)) + 1
        n_selectable = unit_of.size - always.size - excluded.size
        columns = np.flatnonzero(unit_of >= 0)
        for array in (unit_of, always, excluded, columns):
            array.setflags(write=False)
        if n_selectable == 0:
            columns = slice(0, 0)
        elif columns[-1] - columns[0] + 1 == n_selectable:
            columns = slice(int(columns[0]), int(columns[-1]) + 1)
        return cls(unit_of, n_units, always, excluded, columns, n_units < n_selectable)

    def restrict(self, columns: IntArray) -> Units:
        """The units of a sub-vector; a group may lose columns, and its others stay together."""
        unit_of = self.unit_of[columns]
        selectable = unit_of >= 0
        kept = unit_of[selectable]
        if self.has_groups:
            unit_of[selectable] = _number_by_first_column(kept)
        else:
            # Each column is a unit of its own: numbering them is counting.
            unit_of[selectable] = np.arange(kept.size)
        return Units._from_unit_of(unit_of)

    def sums(self, x: FloatArray) -> FloatArray:
        """``sum_{j in unit} x_j`` for every unit, a view of x where each unit is one column."""
        selected = x[self.columns]
        if not self.has_groups:
            return selected
        return np.bincount(self.unit_of[self.columns], weights=selected, minlength=self.n_units)

    def norms(self, x: FloatArray) -> FloatArray:
        """``sqrt(sum_{j in unit} x_j^2)`` for every unit."""
        if not self.has_groups:
            return np.abs(x[self.columns])
        return np.sqrt(self.sums(x * x))

    def spread(self, per_unit: FloatArray, always: float, excluded: float) -> FloatArray:
        """One number a column: that of its unit, or the one given for columns outside all units."""
        out = np.empty(self.unit_of.size)
        out[self.columns] = per_unit[self.unit_of[self.columns]] if self.has_groups else per_unit
        out[self.always] = always
        out[self.excluded] = excluded
        return out


def _mixed_column(groups: IntArray, status: IntArray) -> int | None:
    """A column whose group also has columns of another status, or None."""
    if not np.any(status):
        return None
    order = np.lexsort((status, groups))
    after, before = order[1:], order[:-1]
    mixed = (groups[after] == groups[before]) & (status[after] != status[before])
    return int(before[mixed].min()) if mixed.any() else None


def _column_numbers(name: str, listed: ArrayLike | None, n_features: int) -> IntArray:
    """Sorted unique column numbers, checked for range."""
    if listed is None:
        return np.empty(0, dtype=np.int64)
    columns = np.asarray(listed)
    if columns.size == 0:
        return np.empty(0, dtype=np.int64)
    if columns.ndim != 1 or columns.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a 1-D array of column numbers; got an array of shape {columns.shape} "
            f"and dtype {columns.dtype}."
        )
    if columns.min() < 0 or columns.max() >= n_features:
        wrong = columns[(columns < 0) | (columns >= n_features)][0]
        raise ValueError(f"{name} holds {wrong}; columns are numbered 0 to {n_features - 1}.")
    return np.unique(columns).astype(np.int64)


def _number_by_first_column(labels: NDArray[np.integer]) -> IntArray:
    """Dense numbers of equal labels, in the order in which the labels first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse.reshape(-1)]
