"""The columns' side of a Newton system that keeps w and c: for columns of unlike sizes.

To eliminate them squares the entries of X: beside a column of size 1e8 one of size 1 is lost in the
Newton matrix. Here they stay,

    A^T a - c = 0 ,   d c - w = 0 ,   1/2 ||c_u||^2 - lambda + z_u - z'_u = 0 ,   sum d = B

with ``a`` one number a row of A (weights of cuts, or a dual vector), one d a unit, and d = 1 for
the columns that are in for certain. The rows of A have conditions of their own, in which ``A w``
stands. With ``theta = 1 / (z/d + z'/(1-d))`` and c eliminated a step solves

    [ H     A        0                         0 ] [ d_a      ]
    [ A^T  -1/d      c/d                       0 ] [ d_w      ]
    [ 0    (c/d)^T  -||c_u||^2/d - 1/theta    -1 ] [ d_d      ]
    [ 0     0       -1^T                       0 ] [ d_lambda ]

after its rows and columns were brought to one size. A column of any size is then a row of this
system like all others: a large one says that ``a`` has to balance on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg.lapack import dgetrf, dgetrs

from scoresieve._arrays import FloatArray
from scoresieve.regularizers import BudgetNorm
from scoresieve.regularizers.units import summed

#: Rounds of scaling of the Newton matrix; each halves how many orders its rows are apart.
EQUILIBRATIONS = 8
#: Refinements of each solution of the Newton system.
REFINEMENTS = 1
#: A residual below this multiple of its rounding is taken as none.
ROUNDED_OFF = 8.0


class ColumnStep(NamedTuple):
    """A step in d, lambda, w and c."""

    d: FloatArray
    level: float
    w: FloatArray
    c: FloatArray


class GradedColumns:
    """Residuals, matrix and steps of the columns.

    Conventions
    -----------
    No column is excluded. There are no units where the budget covers all of them.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns)
    norm : BudgetNorm
        On the columns.

    Attributes
    ----------
    size : int
        Rows of the Newton matrix that belong to the columns, one for lambda included.
    of_w, of_d : ndarray
        Residuals of ``d c - w`` and of the units' conditions, at the point linearised last.
    """

    of_w: FloatArray
    of_d: FloatArray

    def __init__(self, A: FloatArray, norm: BudgetNorm) -> None:
        self.A, self.norm = A, norm
        is_free = norm.unit_of >= 0 if norm.n_units > norm.budget else np.zeros(A.shape[1], bool)
        self._free = np.flatnonzero(is_free)
        self._unit_of = norm.unit_of[self._free]
        self.n_units = norm.n_units if self._free.size else 0
        self.size = A.shape[1] + self.n_units + 1

    def sums(self, x: FloatArray) -> FloatArray:
        """``sum_{j in unit} x_j``."""
        return summed(self._unit_of, x[self._free], self.n_units)

    def spread(self, per_unit: FloatArray, otherwise: float) -> FloatArray:
        """The number of each column's unit, and another for columns that are in anyway."""
        out = np.full(self.A.shape[1], otherwise)
        out[self._free] = per_unit[self._unit_of]
        return out

    def linearise(
        self, a: FloatArray, w: FloatArray, c: FloatArray, level: float, pairs: FloatArray
    ) -> None:
        """Take over a point.

        Parameters
        ----------
        a : ndarray of shape (n_rows,)
        pairs : ndarray of shape (2, 2 * n_units)
            d and 1 - d, and below them their multipliers.
        """
        n_units, ratio = self.n_units, pairs[1] / pairs[0]
        d, multipliers = pairs[0, :n_units], pairs[1]
        self._c, self._d = c, self.spread(d, 1.0)
        self._theta = 1.0 / (ratio[:n_units] + ratio[n_units:])
        self._of_c = a @ self.A - c
        self.of_w = self._d * c - w
        self.of_d = 0.5 * self.sums(c * c) - level + multipliers[:n_units] - multipliers[n_units:]
        self._of_budget = float(d.sum()) - self.norm.budget if n_units else 0.0
        self._a = a

    def rounding_of_c(self, a: FloatArray) -> FloatArray:
        """``eps |A|^T |a|``: what A^T a is known to."""
        return np.finfo(float).eps * (np.abs(a) @ np.abs(self.A))

    def imbalance(self) -> float:
        """What the residual of ``A^T a - c`` costs the dual value, beyond its rounding."""
        known = np.abs(self._of_c) - ROUNDED_OFF * self.rounding_of_c(self._a)
        return 0.5 * self.norm.dual_squared(np.maximum(0.0, known))

    def patient_target(self, target: float, x: FloatArray, z: FloatArray) -> float:
        """The products to aim at: where they are as long as the residual costs more than they do.

        Products that fall before ``a`` balances would leave it no room to.
        """
        total = float(x @ z)
        return max(target, total / x.size) if self.imbalance() > total else target

    def fill(self, matrix: FloatArray) -> None:
        """Write the rows and columns of d_w, d_d and d_lambda behind the first ones of ``matrix``.

        Parameters
        ----------
        matrix : ndarray, square, with at least ``n_rows + size`` rows
            Zero there.
        """
        n_rows, n_columns = self.A.shape
        units = n_rows + n_columns
        level = units + self.n_units
        matrix[:n_rows, n_rows:units] = self.A
        matrix[n_rows:units, :n_rows] = self.A.T
        places = np.arange(n_rows, level)
        squares = self.sums(self._c * self._c / self._d)
        diagonal = np.concatenate([-1.0 / self._d, -squares - 1.0 / self._theta])
        matrix[places, places] = diagonal
        columns, of_units = n_rows + self._free, units + self._unit_of
        matrix[columns, of_units] = (self._c / self._d)[self._free]
        matrix[of_units, columns] = matrix[columns, of_units]
        matrix[units:level, level] = matrix[level, units:level] = -1.0
        # Nothing is chosen: lambda is not needed, and stays where it is.
        matrix[level, level] = 0.0 if self.n_units else 1.0

    def with_second_order(self, affine: ColumnStep, weight: float) -> tuple[FloatArray, FloatArray]:
        """``of_w`` and ``of_d`` with a share of the second-order terms of a step."""
        of_w = self.of_w + weight * self.spread(affine.d, 0.0) * affine.c
        return of_w, self.of_d + 0.5 * weight * self.sums(affine.c * affine.c)

    def side(self, of_w: FloatArray, unbalance: FloatArray) -> FloatArray:
        """The right side of the columns' rows.

        Parameters
        ----------
        unbalance : ndarray of shape (n_units,)
            ``of_d`` with what the products ask of the multipliers.
        """
        pull = of_w / self._d
        return np.concatenate(
            [-self._of_c - pull, self.sums(self._c * pull) - unbalance, [self._of_budget]]
        )

    def step(self, found: FloatArray, of_w: FloatArray, unbalance: FloatArray) -> ColumnStep:
        """The step in all variables of the columns, from the solution on their rows."""
        n_columns = self.A.shape[1]
        d_w, d_level = found[:n_columns], float(found[n_columns + self.n_units])
        c, theta = self._c, self._theta
        # (d + theta c c^T) d_c = pull on each unit, along c and across it.
        pull = d_w - of_w + self.spread(theta * (d_level - unbalance), 0.0) * c
        squares = self.sums(c * c)
        if not self.norm.has_groups:
            d_c = pull / (self._d + self.spread(theta * squares, 0.0))
        else:
            safe = np.where(squares > 0.0, squares, 1.0)
            along = self.spread(self.sums(c * pull) / safe, 0.0) * c
            d_c = (pull - along) / self._d + along / (self._d + self.spread(theta * squares, 0.0))
        d_d = theta * (self.sums(c * d_c) - d_level + unbalance)
        return ColumnStep(d_d, d_level, d_w, d_c)


class EquilibratedLU:
    """``K x = side`` for a symmetric matrix whose entries are many orders apart.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Changed: its rows and columns times powers of two that bring them to one size.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not finite or singular.
    """

    def __init__(self, matrix: FloatArray) -> None:
        self._scales = np.ones(len(matrix))
        for _ in range(EQUILIBRATIONS):
            exponents = np.frexp(np.abs(matrix).max(axis=1))[1] // 2
            scales = np.ldexp(1.0, -exponents)
            matrix *= scales
            matrix *= scales[:, None]
            self._scales *= scales
        if not np.all(np.isfinite(matrix)):
            raise LinAlgError("the Newton matrix is not finite")
        self._matrix = matrix
        self._factor, self._pivots, failed = dgetrf(matrix)
        if failed:
            raise LinAlgError("the Newton matrix is singular")

    def solve(self, side: FloatArray) -> FloatArray:
        """The solution, refined."""
        side = side * self._scales
        found = dgetrs(self._factor, self._pivots, side)[0]
        for _ in range(REFINEMENTS):
            found += dgetrs(self._factor, self._pivots, side - self._matrix @ found)[0]
        return found * self._scales
