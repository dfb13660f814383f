"""The optimality conditions of the master problem: evaluated, bounded, linearised.

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
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray
from scoresieve.solvers.bundle.factor import choose_factor
from scoresieve.solvers.bundle.scaled import Evaluation, MasterProblem, MasterSolution, ScaledMaster
from scoresieve.solvers.interior.predictor_corrector import Iterate

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
        data, unit = self._data, self._data.alpha_scale * self._data.loss_scale
        w = (data.alpha_scale * self._stretch * self._primal_state.alpha).dot(problem.cuts)
        w[problem.free_columns] *= data.spread(self._primal_state.d)
        w[problem.norm.excluded] = 0.0
        alpha = data.alpha_scale * self._dual_state.alpha
        return MasterSolution(w, alpha, self._primal * unit, self._dual * unit, n_steps)

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
