"""The budget norm around a point: a smooth function on the columns in use.

With O the units whose size is above the threshold t and F the other units in use,

    1/2 ||w||_B^2 = 1/2 sum_{u in O} ||w_u||^2 + (sum_{u in F} ||w_u||)^2 / (2 k) ,   k = B - |O|

near w, and ``t = sum_{u in F} ||w_u|| / k``. The function has a kink of height t where a unit gets
or loses its weight and is otherwise continuously differentiable, so that a Newton method works on
the columns in use. If at most B units are in use, F is empty, t is 0 and there is no kink.
"""

from __future__ import annotations

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray
from scoresieve.regularizers.budget_norm import BudgetNorm
from scoresieve.regularizers.units import largest_positions, split_norms


class NormPiece:
    """``1/2 ||.||_B^2`` near w, on the columns that may change: gradient and Hessian.

    Conventions
    -----------
    * Vectors are of shape (n_columns,); directions are zero on columns that are not ``free``.
    * Columns that are always in are free, and all others too if the budget covers every unit.

    Parameters
    ----------
    norm : BudgetNorm
        On the working columns.
    w : ndarray of shape (n_columns,)

    Attributes
    ----------
    free : ndarray of bool of shape (n_columns,)
        Columns of the units in use.
    threshold : float
        t, the height of the kink; 0 without one.
    gradient : ndarray of shape (n_columns,)
        ``w_j`` in O and ``t w_j / ||w_u||`` in F, 0 where not free.
    diagonal : ndarray of shape (n_columns,)
        Of the Hessian.
    """

    def __init__(self, norm: BudgetNorm, w: FloatArray) -> None:
        sizes = norm.units.norms(w)
        used = sizes > 0.0
        fractional = np.zeros(sizes.size, dtype=bool)
        self._norm, self._share, self.threshold = norm, 1.0, 0.0
        if norm.n_units <= norm.budget:
            used[:] = True
        elif np.count_nonzero(used) > norm.budget:
            _, n_ones, tail = split_norms(sizes, norm.budget)
            self._share = float(norm.budget - n_ones)
            self.threshold = tail / self._share
            fractional[:] = used
            if n_ones:
                fractional[largest_positions(sizes, n_ones)] = False
        self.free = norm.units.spread(used, always=1.0, excluded=0.0) > 0.0
        self._set_derivatives(w, sizes, fractional)

    def _set_derivatives(self, w: FloatArray, sizes: FloatArray, fractional: BoolArray) -> None:
        spread, n_units = self._norm.units.spread, sizes.size
        in_ones = self.free & (spread(fractional, always=0.0, excluded=0.0) == 0.0)
        inverse = np.divide(1.0, sizes, out=np.zeros(n_units), where=fractional)
        # e_j = w_j / ||w_u|| in F and 0 elsewhere
        self._along = w * spread(inverse, always=0.0, excluded=0.0)
        self._ones = in_ones.astype(np.float64)
        self.gradient = self._ones * w + self.threshold * self._along
        self._round = None
        if self._norm.has_groups and np.any(fractional):
            self._round = self.threshold * spread(inverse, always=0.0, excluded=0.0)
        self.diagonal = self._ones + self._along * self._along / self._share
        if self._round is not None:
            self.diagonal += self._round * (1.0 - self._along * self._along)

    def hessian_times(self, p: FloatArray) -> FloatArray:
        """``p`` in O, ``e <e, p> / k + t (p_u - e_u <e_u, p_u>) / ||w_u||`` in F.

        e is ``w_u / ||w_u||`` on each unit of F; the last term is for groups only.
        """
        out = self._ones * p
        if self.threshold > 0.0:
            out += self._along * (float(self._along @ p) / self._share)
        if self._round is not None:
            units = self._norm.units
            inside = units.spread(units.sums(self._along * p), always=0.0, excluded=0.0)
            out += self._round * (p - self._along * inside)
        return out

    def without_crossings(self, w: FloatArray, moved: FloatArray) -> FloatArray:
        """``moved``, with 0 for units that went through 0 on the way from w, if it is a kink."""
        if self.threshold <= 0.0:
            return moved
        units = self._norm.units
        crossed = units.sums(w * moved) <= 0.0
        return moved * units.spread(np.where(crossed, 0.0, 1.0), always=1.0, excluded=0.0)
