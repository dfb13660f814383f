"""Factorisations of the Newton matrix, direct or by its smaller side.

    M = diag(D) + U U^T ,     D = z / alpha ,     U = [ A diag(d + theta c^2)^{1/2} , A_F ]

with A_F the columns that are always in. Where units are groups of columns, theta c^2 couples the
columns of a unit: then U has the blocks ``A diag(d)^{1/2}`` and ``A_c diag(theta)^{1/2}``, with A_c
the sums of ``A diag(c)`` over the columns of each unit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk, dtrsm
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from scoresieve._arrays import FloatArray
from scoresieve.solvers.bundle.scaled import Evaluation, ScaledMaster

#: Ridges of the matrix to try in turn, relative to its largest diagonal entry.
RIDGES = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11)
#: Rows with D below this share of a row's mean squared length are kept, the others eliminated.
KEPT_BELOW = 1e-2
#: The mixed factorisation takes more array operations, which pay from this number of cuts on, and
#: from this multiple of the number of columns on: measured.
FEWEST_CUTS, TALL = 180, 1.6


def _cholesky(assemble: Callable[[], FloatArray]) -> FloatArray:
    """The lower factor, with a relative ridge only where rounding makes it necessary.

    A ridge perturbs the step in directions that the cuts leave free (duplicate or opposite cuts),
    so none is added unless the factorisation fails without it. That overwrites the matrix, so it is
    assembled anew for each attempt.

    Parameters
    ----------
    assemble : callable
        Gives the matrix, of which only the lower triangle is read, in Fortran's order.
    """
    for ridge in RIDGES:
        matrix = assemble()
        if ridge:
            diagonal = np.einsum("ii->i", matrix)
            diagonal += ridge * float(diagonal.max())
        factor, failed = dpotrf(matrix, lower=True, overwrite_a=True, clean=False)
        if not failed:
            return factor
    raise LinAlgError("the Newton matrix is not positive definite")


class _Columns:
    """The factor U, written at each point into the same memory.

    Parameters
    ----------
    fixed : ndarray of shape (n_cuts, n_fixed)
        Last columns of U, which stay the same.
    """

    def __init__(self, data: ScaledMaster, fixed: FloatArray) -> None:
        self._data = data
        self._n_columns = data.A.shape[1]
        self._n_moving = self._n_columns + (0 if data.unit_of is None else data.n_units)
        self._matrix = np.empty((data.n_cuts, self._n_moving + fixed.shape[1]))
        self._matrix[:, self._n_moving :] = fixed

    def at(self, state: Evaluation, theta: FloatArray) -> FloatArray:
        """U at the state, of shape (n_cuts, width)."""
        data, U = self._data, self._matrix
        if data.unit_of is None:
            weights = state.strengths * theta
            weights += state.d
        else:
            weights = data.spread(state.d)
            U[:, self._n_columns : self._n_moving] = data.couple(state.c) * np.sqrt(theta)
        np.multiply(data.A, np.sqrt(weights), out=U[:, : self._n_columns])
        return U


class DirectFactor:
    """``M = L L^T``, of the size of the number of cuts."""

    def __init__(self, data: ScaledMaster) -> None:
        self._gram = data.gram
        self._columns = _Columns(data, data.fixed[:, :0])
        self._matrix = np.zeros((data.n_cuts, data.n_cuts), order="F")
        self._diagonal = np.einsum("ii->i", self._matrix)

    def factorise(self, state: Evaluation, theta: FloatArray, D: FloatArray) -> None:
        """Factorise at the state."""
        U = self._columns.at(state, theta)

        def assemble() -> FloatArray:
            matrix, beta = self._matrix, 0.0
            if self._gram is not None:
                matrix[:], beta = self._gram, 1.0
            if U.shape[1]:
                # U is in C's order, so its transpose needs no copy.
                dsyrk(1.0, U.T, beta=beta, c=matrix, trans=True, lower=True, overwrite_c=True)
            self._diagonal += D
            return matrix

        self._factor = _cholesky(assemble)

    def solve(self, sides: FloatArray) -> FloatArray:
        """``M^{-1}`` times a vector, or times each row of a matrix."""
        return dpotrs(self._factor, sides.T, lower=True)[0].T


class MixedFactor:
    """``E = I + U_L^T D_L^{-1} U_L = R R^T``, ``V = U_s R^{-T}`` and ``F = D_s + V V^T``.

    L are the rows with a large D, cuts that do not bind, and s the others. M is never formed: with
    more cuts than columns E is smaller, and s are few. Only sums of non-negative terms appear, so
    that nothing cancels; Woodbury's identity on all rows would lose the small entries of D.
    """

    def __init__(self, data: ScaledMaster) -> None:
        self._columns = _Columns(data, data.fixed)

    def factorise(self, state: Evaluation, theta: FloatArray, D: FloatArray) -> None:
        """Factorise at the state; see ``DirectFactor.factorise``."""
        self._U = U = self._columns.at(state, theta)
        is_kept = np.less(D, KEPT_BELOW * float(np.vdot(U, U)) / D.size)
        is_kept[D.argmin()] = True
        self._kept = kept = np.flatnonzero(is_kept)
        self._inverse = 1.0 / D
        # Zeros leave the kept rows out of every sum over L without a copy of the others.
        self._inverse[kept] = 0.0
        scaled = U * np.sqrt(self._inverse)[:, None]
        self._R = _cholesky(lambda: _gram_plus(scaled.T, 1.0, trans=False))
        self._V_transposed = dtrsm(1.0, self._R, U[kept].T, lower=True)
        self._F = _cholesky(lambda: _gram_plus(self._V_transposed, D[kept], trans=True))

    def solve(self, sides: FloatArray) -> FloatArray:
        """``M^{-1}`` times a vector, or times each row of a matrix."""
        U, V_transposed = self._U, self._V_transposed
        weighted = sides * self._inverse
        half = dtrtrs(self._R, U.T.dot(weighted.T), lower=True)[0]
        rest = sides[..., self._kept].T - V_transposed.T.dot(half)
        solved_kept = dpotrs(self._F, rest, lower=True)[0]
        y = dtrtrs(self._R, half + V_transposed.dot(solved_kept), lower=True, trans=True)[0]
        solved = weighted - U.dot(y).T * self._inverse
        solved[..., self._kept] = solved_kept.T
        return solved


def _gram_plus(factor: FloatArray, diagonal: FloatArray | float, *, trans: bool) -> FloatArray:
    """Lower triangle of ``X X^T`` or, with ``trans``, ``X^T X``, plus a diagonal."""
    matrix = dsyrk(1.0, factor, trans=trans, lower=True)
    np.einsum("ii->i", matrix)[:] += diagonal
    return matrix


def choose_factor(data: ScaledMaster) -> DirectFactor | MixedFactor:
    """The quicker factorisation.

    Returns
    -------
    DirectFactor or MixedFactor
        The mixed one for many cuts on few columns.
    """
    n_coupled = 0 if data.unit_of is None else data.n_units
    width = data.A.shape[1] + n_coupled + data.fixed.shape[1]
    # Without columns at hand all of M that does not change is in the Gram matrix.
    is_tall = width and data.n_cuts >= max(FEWEST_CUTS, TALL * width)
    return MixedFactor(data) if is_tall else DirectFactor(data)
