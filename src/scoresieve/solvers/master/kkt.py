"""The optimality conditions of the master problem: evaluated, bounded, linearised, factorised.

    min_{alpha >= 0, sum alpha <= C}  max_{d in D}   1/2 alpha^T G alpha
                                     + 1/2 sum_u d_u ||c_u||^2 - <q, alpha> ,   c = A^T alpha

with one weight d_u a unit (a column, or a group of columns), D = {0 <= d <= 1, sum d = B}, and G
the Gram matrix of the cuts on the columns that are always in. Convex in alpha, linear in d: the
paper's saddle point (7) on the cuts and columns at hand, with all of D, not only a few groups.

The positive variables are ``x = (alpha, C - sum alpha, d, 1 - d)``, their multipliers
``z = (z, tau, u, v)``, and the free one is the level lambda of the budget:

    A (d * c) + G alpha - q + tau 1 - z = 0 ,     1/2 ||c_u||^2 - lambda + u - v = 0 ,   sum d = B

With ``theta = 1 / (u/d + v/(1-d))``, the change of d by a unit of its residual, a step solves

    M d_alpha - push d_lambda + 1 d_tau = side ,     M = A diag(d) A^T + A_c diag(theta) A_c^T
                                                         + G + diag(z/alpha) ,   A_c = A diag(c)
    <push, d_alpha> - (sum theta) d_lambda = (budget) ,    sum d_alpha - (slack/tau) d_tau = (cap)

with ``push = A (theta * c)``. Everything else follows from these by elimination of diagonals.

Tau is the risk's level and w = d * c the weights, so that every iterate gives a primal and a dual
value of the master.

The Newton matrix is factorised directly or by its smaller side,

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
from scoresieve.solvers.interior import Iterate
from scoresieve.solvers.master.problem import (
    Evaluation,
    MasterProblem,
    MasterSolution,
    ScaledMaster,
)

#: Weights are stretched by less than this: it is for rounding errors, not for poor iterates.
LONGEST_STRETCH = 10.0
#: What a stretch adds on top, so that rounding leaves no risk.
STRETCH_MARGIN = 1e-12


class MasterKKT:
    """One system for all steps of a solve: its large arrays are allocated once.

    It also keeps the best primal and the best dual value over the iterates, in scaled units.
    """

    def __init__(self, data: ScaledMaster) -> None:
        self._data, self._factor = data, choose_factor(data)
        self._sides = np.ones((3, data.n_cuts))
        self._primal, self._dual = np.inf, -np.inf
        self._stretch = 1.0

    @property
    def bounds(self) -> tuple[float, float]:
        """The best primal and the best dual value so far."""
        return self._primal, self._dual

    def observe(self, point: Iterate) -> None:
        """Evaluate the point, and take its primal or dual value if it is the best so far."""
        data, self._state = self._data, Evaluation(self._data, point)
        state, strengths = self._state, self._state.strengths
        # d serves as the certificate of the norm: sum w^2 / d >= ||w||_B^2, equal at the optimum.
        excess = max(1.0, state.d_total / data.budget)
        norm_squared = state.fixed + float(state.d.dot(strengths)) * excess
        risk = max(0.0, float(state.shortfall.max()))
        self._offer_primal(0.5 * norm_squared + data.cap * risk, 1.0)
        # Losses are at most 1, so that a stretch that leaves no risk is at least 1 / (1 - risk).
        if risk < 1.0 and 0.5 * norm_squared < self._primal * (1.0 - risk) ** 2:
            stretch = self._stretch_to_all(state.outputs)
            if stretch is not None:
                self._offer_primal(0.5 * stretch**2 * norm_squared, stretch)
        n_rest = data.n_units - data.budget
        top = np.partition(strengths, n_rest)[n_rest:] if n_rest > 0 else strengths
        dual = float(data.q.dot(state.alpha)) - 0.5 * (state.fixed + float(top.sum()))
        if dual > self._dual:
            self._dual, self._dual_state = dual, state

    def _offer_primal(self, primal: float, stretch: float) -> None:
        if primal < self._primal:
            self._primal, self._primal_state, self._stretch = primal, self._state, stretch

    def _stretch_to_all(self, outputs: FloatArray) -> float | None:
        """The multiple of w that just satisfies every cut; None where one is far from it.

        A large C turns rounding errors of the risk into large terms. Where the cuts can be
        satisfied, a tiny stretch of w leaves no risk at all.
        """
        if not outputs.min() > 0.0:
            return None
        stretch = float((self._data.q / outputs).max())
        return stretch * (1.0 + STRETCH_MARGIN) if stretch < LONGEST_STRETCH else None

    def solution(self, problem: MasterProblem, n_steps: int) -> MasterSolution:
        """The best points, as the caller sees them."""
        data, scale = self._data, self._data.alpha_scale * self._data.loss_scale
        w = (data.alpha_scale * self._stretch * self._primal_state.alpha).dot(problem.cuts)
        w[problem.free_columns] *= data.spread(self._primal_state.d)
        w[problem.norm.excluded] = 0.0
        alpha = data.alpha_scale * self._dual_state.alpha
        return MasterSolution(w, alpha, self._primal * scale, self._dual * scale, n_steps)

    def linearise(self) -> Iterate:
        """Factorise at the point observed last; the step towards products of zero."""
        data, state = self._data, self._state
        x, z = state.point.values
        n_cuts = data.n_cuts
        self._ratio = ratio = z / x
        curvature = ratio[data.units] + ratio[data.complements]
        self._theta = theta = 1.0 / curvature
        self._factor.factorise(state, theta, ratio[:n_cuts])
        self._unbalance = unbalance = 0.5 * state.strengths
        unbalance -= state.level
        self._coupling = coupling = state.c * data.spread(theta)
        self._side = state.shortfall - z[n_cuts]
        sides = self._sides
        data.A.dot(coupling, out=sides[0])
        np.subtract(self._side, data.A.dot(coupling * data.spread(unbalance)), out=sides[2])
        self._solved = solved = self._factor.solve(sides)
        (push_push, push_sum), (ones_push, ones_sum), affine = solved.dot(sides[:2].T).tolist()
        self._small = (
            push_push - float(theta.dot(data.ones)),
            -ones_push,
            push_sum,
            -ones_sum - float(x[n_cuts] / z[n_cuts]),
        )
        direction, self._affine_c = self._completed(unbalance, affine, None)
        return direction

    def corrected(self, target: float, affine: Iterate, weight: float) -> Iterate:
        """The step towards products of ``target``; see ``KKTSystem.corrected``."""
        data, (dx, dz), affine_c = self._data, affine.values, self._affine_c
        extra = dx * dz
        extra *= -weight
        extra += target
        extra /= self._state.point.values[0]
        unbalance = data.unit_sums(affine_c * affine_c)
        unbalance *= 0.5 * weight
        unbalance += self._unbalance
        unbalance += extra[data.units]
        unbalance -= extra[data.complements]
        moved = data.spread(dx[data.units]) * affine_c
        moved *= weight
        moved += self._coupling * data.spread(unbalance)
        side = self._side + extra[: data.n_cuts]
        side -= data.A.dot(moved)
        self._solved[2] = solved = self._factor.solve(side)
        return self._completed(unbalance, self._sides[:2].dot(solved).tolist(), extra)[0]

    def _completed(
        self, unbalance: FloatArray, sums: list[float], extra: FloatArray | None
    ) -> tuple[Iterate, FloatArray]:
        """The whole step from the solved side, its product with push and its sum; and of c."""
        data, state = self._data, self._state
        x, z = state.point.values
        n_cuts, units = data.n_cuts, data.units
        slack = float(x[n_cuts])
        cap_side = slack - sums[1]
        if extra is not None:
            cap_side -= slack * float(extra[n_cuts] / z[n_cuts])
        budget_side = data.budget - state.d_total - float(self._theta.dot(unbalance)) - sums[0]
        d_level, d_tau = self._small_solution(budget_side, cap_side)
        values = np.empty_like(state.point.values)
        dx, dz = values
        d_alpha = dx[:n_cuts]
        np.array((d_level, -d_tau, 1.0)).dot(self._solved, out=d_alpha)
        dx[n_cuts] = -d_alpha.dot(self._sides[1])
        d_c = d_alpha.dot(data.A)
        d_d = data.unit_sums(state.c * d_c)
        d_d += unbalance
        d_d -= d_level
        np.multiply(d_d, self._theta, out=dx[units])
        np.negative(dx[units], out=dx[data.complements])
        np.multiply(self._ratio, dx, out=dz)
        np.subtract(-z if extra is None else extra - z, dz, out=dz)
        dz[n_cuts] = d_tau
        return Iterate(values, np.array((d_level,))), d_c

    def _small_solution(self, budget_side: float, cap_side: float) -> tuple[float, float]:
        """The steps of the budget's level and of the cap's multiplier."""
        a, b, c, d = self._small
        if self._data.n_units == 0:
            return 0.0, cap_side / d
        determinant = a * d - b * c
        if determinant == 0.0 or not np.isfinite(determinant):
            raise LinAlgError("the bordered Newton system is singular")
        return (
            (budget_side * d - b * cap_side) / determinant,
            (a * cap_side - c * budget_side) / determinant,
        )


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
