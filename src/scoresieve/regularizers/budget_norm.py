"""The budget norm (the k-support norm), its dual norm, its best weights and its prox."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._checks import check_count
from scoresieve.regularizers.units import Units, largest_positions, prox_weights, split_norms


@dataclass(frozen=True, init=False, eq=False, repr=False)
class BudgetNorm:
    """``||w||_B^2 = min_{d in D} sum_j w_j^2 / d_j``, ``D = {0 <= d_j <= 1, sum_j d_j <= B}``.

    The paper's regulariser, (4) with p = 2; it is the k-support norm (Argyriou, Foygel and Srebro
    2012). Its dual norm is ``||c||_(B)^2`` = the sum of the B largest ``c_j^2``. With B = 1 it is
    the l1 norm, with B >= n_features the l2 norm; for a vector of at most B non-zeros it is the l2
    norm.

    Conventions
    -----------
    * The budget counts units. A unit is one column, or one group of columns that share one d_j; a
      group counts as the number ``sqrt(sum_j w_j^2)``.
    * ``always`` columns have d_j = 1 outside the budget. ``excluded`` columns have d_j = 0: the
      norm is infinite if w_j != 0 there. Neither kind belongs to a unit.
    * Vectors are float64 of shape (n_columns,). An instance is never modified.

    Parameters
    ----------
    budget : int
        B, at least 1. It may exceed the number of units; then the norm is the l2 norm.
    n_features : int
        Number of columns, without the constant one.
    always_features, excluded_features : array-like of int or boolean mask, optional
    feature_groups : array-like of int of shape (n_features,) or list of lists, optional
        Columns with equal numbers, or in one list, are one unit. By default each column is one.
    has_constant : bool
        Whether the vectors have one more column, the last, that is always in: the intercept's.

    Attributes
    ----------
    units : Units
        Which columns form which unit.

    Examples
    --------
    >>> import numpy as np
    >>> norm = BudgetNorm(2, n_features=4)
    >>> norm.value_squared(np.array([3.0, 1.0, 1.0, 0.0]))
    13.0
    >>> norm.dual_squared(np.array([3.0, 1.0, 2.0, 0.0]))
    13.0
    >>> norm.best_d(np.array([3.0, 1.0, 1.0, 0.0]))
    array([1. , 0.5, 0.5, 0. ])
    """

    budget: int
    units: Units

    def __init__(
        self,
        budget: int,
        n_features: int,
        *,
        always_features: Any = None,
        excluded_features: Any = None,
        feature_groups: Any = None,
        has_constant: bool = False,
    ) -> None:
        units = Units.from_columns(
            check_count(n_features, "n_features"),
            always_features=always_features,
            excluded_features=excluded_features,
            feature_groups=feature_groups,
            has_constant=has_constant,
        )
        vars(self).update(budget=check_count(budget, "budget"), units=units)

    def _vector(self, x: ArrayLike) -> FloatArray:
        x = np.asarray(x, dtype=np.float64)
        if x.shape != self.unit_of.shape:
            raise ValueError(
                f"the vector has shape {x.shape}; this norm is of vectors of shape "
                f"({self.n_columns},)."
            )
        return x

    def __repr__(self) -> str:
        return f"BudgetNorm(budget={self.budget}, n_columns={self.n_columns})"

    @property
    def n_columns(self) -> int:
        """Length of the vectors, a constant column included."""
        return self.units.unit_of.size

    @property
    def always(self) -> IntArray:
        """Sorted numbers of the columns with d_j = 1 outside the budget."""
        return self.units.always

    @property
    def excluded(self) -> IntArray:
        """Sorted numbers of the columns with d_j = 0."""
        return self.units.excluded

    @property
    def unit_of(self) -> IntArray:
        """The unit of each column: 0 .. n_units - 1, -1 for always, -2 for excluded."""
        return self.units.unit_of

    @property
    def n_units(self) -> int:
        """How many units the budget chooses from."""
        return self.units.n_units

    @property
    def has_groups(self) -> bool:
        """False when each unit is one column."""
        return self.units.has_groups

    def unit_sums(self, x: ArrayLike) -> FloatArray:
        """``sum_{j in unit} x_j`` for every unit; may be a view of x, so do not write to it."""
        return self.units.sums(self._vector(x))

    def restrict(self, columns: ArrayLike) -> BudgetNorm:
        """The norm of ``w[columns]``, for a w that is zero elsewhere.

        Columns are without repeats, in any order; of a group that is cut the rest stays together.
        """
        return self._changed(units=self.units.restrict(np.asarray(columns, dtype=np.int64)))

    def with_budget(self, budget: int) -> BudgetNorm:
        """The norm over the same units with another budget."""
        return self._changed(budget=check_count(budget, "budget"))

    def _changed(self, **parts: Any) -> BudgetNorm:
        changed = copy(self)
        vars(changed).update(parts)
        return changed

    def value_squared(self, w: ArrayLike) -> float:
        """``||w||_B^2 = sum_{i<=r} z_(i)^2 + tail^2 / (B - r)``, z the unit norms, descending.

        ``tail`` is the sum of the z after the r-th, and r the number of units with d = 1. O(m).
        """
        w = self._vector(w)
        if self.excluded.size and np.any(w[self.excluded]):
            return float("inf")
        fixed = w[self.always]
        outside = float(fixed @ fixed)
        norms = self.units.norms(w)
        if self.budget >= norms.size:
            return float(norms @ norms) + outside
        top, r, tail = split_norms(norms, self.budget)
        ones = top[top.size - r :]
        return float(ones @ ones) + tail * tail / (self.budget - r) + outside

    def best_d(self, w: ArrayLike) -> FloatArray:
        """``d_j = min(1, z_j / t)``, ``t = tail / (B - r)``: the minimiser in the norm of w.

        Where several d are best (units with w = 0), the smallest is returned.
        """
        norms = self.units.norms(self._vector(w))
        threshold = 0.0
        if self.budget < norms.size:
            _, r, tail = split_norms(norms, self.budget)
            threshold = tail / (self.budget - r)
        if threshold > 0.0:
            d = np.minimum(norms, threshold) / threshold
        else:
            d = (norms > 0.0).astype(np.float64)
        return self.units.spread(d, always=1.0, excluded=0.0)

    def dual_squared(self, c: ArrayLike) -> float:
        """``||c||_(B)^2`` = sum of the B largest unit sums of c_j^2, plus those always in. O(m)."""
        c = self._vector(c)
        fixed = c[self.always]
        squares = self.units.sums(c * c)
        # Many zeros, such as those of empty columns, make a partition a hundred times as slow.
        squares = squares[squares != 0.0]
        if self.budget < squares.size:
            n_rest = squares.size - self.budget
            squares.partition(n_rest)
            squares = squares[n_rest:]
        return float(squares.sum()) + float(fixed @ fixed)

    def top_columns(self, c: ArrayLike) -> IntArray:
        """The columns of the B units with the largest sums of c_j^2: the paper's d of (9). O(m).

        Units with sum 0 are left out, as are the columns that are always in. Among equal sums the
        lower unit is taken. Column numbers are sorted.
        """
        c = self._vector(c)
        squares = self.units.sums(c * c)
        units = largest_positions(squares, self.budget)
        if self.has_groups:
            chosen = np.zeros(self.n_units, dtype=bool)
            chosen[units] = True
            units = np.flatnonzero(chosen[self.unit_of[self.units.columns]])
        if isinstance(self.units.columns, slice):
            return units + self.units.columns.start
        return self.units.columns[units]

    def prox(self, v: ArrayLike, step: float) -> FloatArray:
        """``argmin_w 1/2 ||w - v||^2 + step/2 ||w||_B^2``, exact in O(m log m).

        For fixed d the minimum is at ``w_j = v_j d_j / (d_j + step)`` and is
        ``step/2 sum_j z_j^2 / (d_j + step)``. Minimised over D this gives
        ``d_j = clip(theta z_j - step, 0, 1)``, with theta such that ``sum_j d_j = B``, or d_j = 1
        wherever z_j > 0 if that is within the budget.
        """
        if not (np.isfinite(step) and step > 0):
            raise ValueError(f"step must be positive and finite; got {step!r}.")
        v = self._vector(v)
        norms = self.units.norms(v)
        if self.budget >= np.count_nonzero(norms):
            d = (norms > 0.0).astype(np.float64)
        else:
            d = prox_weights(norms / norms.max(), step, self.budget)
        return v * self.units.spread(d / (d + step), always=1.0 / (1.0 + step), excluded=0.0)
