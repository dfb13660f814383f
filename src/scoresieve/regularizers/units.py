"""Units: what a budget counts. One column, or one group of columns that enter together.

Below are the kernels of the budget norm that see the norms of the units alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve._checks import check_columns, check_disjoint, check_groups

#: Entries of ``unit_of`` for the columns that belong to no unit.
ALWAYS = -1
EXCLUDED = -2
#: Of norms that are at most 1, a smaller one cannot matter in float64, and its breaks overflow.
_LEAST_NORM = 1e-200


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
    always, excluded : ndarray of int64
        Sorted column numbers.
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
        *,
        always_features: Any = None,
        excluded_features: Any = None,
        feature_groups: Any = None,
        has_constant: bool = False,
    ) -> Units:
        """Check the roles of the columns and number the units; see :class:`BudgetNorm`."""
        always = check_columns(always_features, n_features, "always_features")
        excluded = check_columns(excluded_features, n_features, "excluded_features")
        check_disjoint(always, excluded, n_features)
        groups = check_groups(feature_groups, n_features)
        unit_of = np.zeros(n_features + has_constant, dtype=np.int64)
        unit_of[always], unit_of[excluded] = ALWAYS, EXCLUDED
        unit_of[n_features:] = ALWAYS
        selectable = np.flatnonzero(unit_of == 0)
        if groups is None:
            unit_of[selectable] = np.arange(selectable.size)
        else:
            _refuse_mixed_groups(groups, unit_of[:n_features])
            unit_of[selectable] = _number_by_first_column(groups[selectable])
        return cls._from_unit_of(unit_of)

    @classmethod
    def _from_unit_of(cls, unit_of: IntArray) -> Units:
        """Derive everything from a dense numbering that is known to be right."""
        always = np.flatnonzero(unit_of == ALWAYS)
        excluded = np.flatnonzero(unit_of == EXCLUDED)
        n_units = int(unit_of.max(initial=-1)) + 1
        n_selectable = unit_of.size - always.size - excluded.size
        selectable = np.flatnonzero(unit_of >= 0)
        for array in (unit_of, always, excluded, selectable):
            array.setflags(write=False)
        columns: slice | IntArray = selectable
        if n_selectable == 0:
            columns = slice(0, 0)
        elif selectable[-1] - selectable[0] + 1 == n_selectable:
            columns = slice(int(selectable[0]), int(selectable[-1]) + 1)
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
        return self._from_unit_of(unit_of)

    def sums(self, x: FloatArray) -> FloatArray:
        """``sum_{j in unit} x_j`` for every unit, a view of x where each unit is one column."""
        selected = x[self.columns]
        if not self.has_groups:
            return selected
        return summed(self.unit_of[self.columns], selected, self.n_units)

    def norms(self, x: FloatArray) -> FloatArray:
        """``sqrt(sum_{j in unit} x_j^2)`` for every unit."""
        if not self.has_groups:
            return np.abs(x[self.columns])
        return np.sqrt(self.sums(x * x))

    def spread(
        self, per_unit: FloatArray | BoolArray, always: float, excluded: float
    ) -> FloatArray:
        """One number a column: that of its unit, or the one given for columns outside all units."""
        out = np.empty(self.unit_of.size)
        out[self.columns] = per_unit[self.unit_of[self.columns]] if self.has_groups else per_unit
        out[self.always] = always
        out[self.excluded] = excluded
        return out


def summed(places: IntArray, values: FloatArray, n_places: int) -> FloatArray:
    """The sum of the values at each place."""
    return np.bincount(places, weights=values, minlength=n_places).astype(np.float64, copy=False)


def _refuse_mixed_groups(groups: IntArray, roles: IntArray) -> None:
    """ValueError if columns of one group have different roles."""
    order = np.lexsort((roles, groups))
    after, before = order[1:], order[:-1]
    mixed = (groups[after] == groups[before]) & (roles[after] != roles[before])
    if mixed.any():
        raise ValueError(
            f"feature_groups: the group of column {before[mixed].min()} is partly in "
            "always_features or excluded_features; list all columns of the group or none."
        )


def _number_by_first_column(labels: IntArray) -> IntArray:
    """Dense numbers of equal labels, in the order in which the labels first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse.reshape(-1)]


def split_norms(norms: FloatArray, budget: int) -> tuple[FloatArray, int, float]:
    """The ``budget`` largest norms ascending, how many of them have d = 1, and the rest's sum.

    ``r`` is the first index with ``sum_{i>r} z_(i) >= (B - r) z_(r+1)``. The difference of the two
    sides never decreases with r and is not negative at r = B - 1, so counting the negative ones
    finds it. Sums run from small to large: no cancellation, and no r out of range by rounding.
    """
    n_rest = norms.size - budget
    parted = np.partition(norms, n_rest)
    top = parted[n_rest:]
    top.sort()
    tails = np.cumsum(top)
    tails += parted[:n_rest].sum()
    # Entry k belongs to r = budget - 1 - k, hence the factor B - r = k + 1.
    r = int(np.count_nonzero(tails < top * np.arange(1, budget + 1)))
    return top, r, float(tails[budget - 1 - r])


def largest_positions(values: FloatArray, count: int) -> IntArray:
    """Sorted positions of the ``count`` largest positive values, ties to the lower position."""
    n_positive = int(np.count_nonzero(values > 0.0))
    if count >= n_positive:
        return np.flatnonzero(values > 0.0)
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    # Many zeros, such as those of empty columns, make a partition a hundred times as slow.
    among = values if 2 * n_positive > values.size else values[values > 0.0]
    threshold = np.partition(among, among.size - count)[among.size - count]
    found = np.flatnonzero(values >= threshold)
    surplus = found.size - count
    if surplus:
        tied = np.flatnonzero(values[found] == threshold)
        found = np.delete(found, tied[tied.size - surplus :])
    return found


def prox_weights(norms: FloatArray, step: float, budget: int) -> FloatArray:
    """``d_j = clip(theta z_j - step, 0, 1)`` with ``sum_j d_j = B``, for norms scaled to max 1.

    ``sum_j d_j`` is increasing and piecewise linear in theta, with breaks at ``step / z_j`` and
    ``(1 + step) / z_j``. Bisection over the sorted breaks finds the piece, one division the theta.
    """
    positive = norms[norms > _LEAST_NORM]
    if positive.size <= budget:
        return (norms > _LEAST_NORM).astype(np.float64)
    breaks = np.sort(np.concatenate([step / positive, (1.0 + step) / positive]))
    low, high = 0, breaks.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(breaks[middle] * positive - step, 0.0, 1.0).sum() <= budget:
            low = middle
        else:
            high = middle
    inside = 0.5 * (breaks[low] + breaks[high]) * positive
    ones = inside >= 1.0 + step
    active = positive[(inside > step) & ~ones]
    theta = breaks[low]
    if active.size:
        theta = (budget - np.count_nonzero(ones) + step * active.size) / active.sum()
        theta = min(max(theta, breaks[low]), breaks[high])
    return np.clip(theta * norms - step, 0.0, 1.0)
