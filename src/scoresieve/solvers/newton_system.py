"""The linearised optimality conditions of the master, factorised once and solved for several sides.

With ``theta = 1 / (u/d + v/(1-d))``, the change of d by a unit of pull, a step solves

    M d_alpha - push d_lambda + 1 d_tau = side ,     M = A diag(d) A^T + A_c diag(theta) A_c^T
                                                         + G + diag(z/alpha) ,   A_c = A diag(c)
    <push, d_alpha> - (sum theta) d_lambda = (budget) ,    sum d_alpha - (slack/tau) d_tau = (cap)

with ``push = A (theta * c)``. Everything else follows from these by elimination of diagonals.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from scoresieve.solvers.newton_factor import choose_factor
from scoresieve.solvers.scaled_master import Evaluation, Point, ScaledMaster

FloatArray = NDArray[np.float64]


class Direction(Point):
    """A step in all variables, with the change ``A^T d_alpha`` of c."""

    __slots__ = ("c",)

    def __init__(self, values: FloatArray, level: float, c: FloatArray) -> None:
        super().__init__(values, level)
        self.c = c


class NewtonSystem:
    """One system for all steps of a solve: its large arrays are allocated once.

    Parameters
    ----------
    data : ScaledMaster
    """

    def __init__(self, data: ScaledMaster) -> None:
        self._data, self._factor = data, choose_factor(data)
        self._sides = np.ones((3, data.n_cuts))

    def linearise(self, state: Evaluation) -> Direction:
        """Factorise at the state, and give the step towards complementarity products of zero."""
        data, self._state = self._data, state
        x, z = state.point.values
        n_cuts = data.n_cuts
        self._ratio = ratio = z / x
        curvature = ratio[data.units] + ratio[data.complements]
        self._theta = theta = 1.0 / curvature
        self._factor.factorise(state, theta, ratio[:n_cuts])
        self._pull = pull = 0.5 * state.strengths
        pull -= state.point.level
        self._coupling = coupling = state.c * data.spread(theta)
        self._side = state.shortfall - z[n_cuts]
        sides = self._sides
        data.A.dot(coupling, out=sides[0])
        np.subtract(self._side, data.A.dot(coupling * data.spread(pull)), out=sides[2])
        self._solved = solved = self._factor.solve(sides)
        (push_push, push_sum), (ones_push, ones_sum), affine = solved.dot(sides[:2].T).tolist()
        self._small = (
            push_push - float(theta.dot(data.ones)),
            -ones_push,
            push_sum,
            -ones_sum - float(x[n_cuts] / z[n_cuts]),
        )
        return self._completed(pull, affine, None)

    def corrected(self, target: float, affine: Direction, weight: float = 1.0) -> Direction:
        """The step towards products of ``target``, with second-order terms of the affine step.

        Parameters
        ----------
        target : float
        affine : Direction
            What ``linearise`` gave.
        weight : float
            Share of the second-order terms.
        """
        data, (dx, dz) = self._data, affine.values
        extra = dx * dz
        extra *= -weight
        extra += target
        extra /= self._state.point.values[0]
        pull = data.unit_sums(affine.c * affine.c)
        pull *= 0.5 * weight
        pull += self._pull
        pull += extra[data.units]
        pull -= extra[data.complements]
        moved = data.spread(dx[data.units]) * affine.c
        moved *= weight
        moved += self._coupling * data.spread(pull)
        side = self._side + extra[: data.n_cuts]
        side -= data.A.dot(moved)
        self._solved[2] = solved = self._factor.solve(side)
        return self._completed(pull, self._sides[:2].dot(solved).tolist(), extra)

    def _completed(
        self, pull: FloatArray, sums: list[float], extra: FloatArray | None
    ) -> Direction:
        """The whole direction from the solved side, its product with push and its sum."""
        data, state = self._data, self._state
        x, z = state.point.values
        n_cuts, units = data.n_cuts, data.units
        slack = float(x[n_cuts])
        cap_side = slack - sums[1]
        if extra is not None:
            cap_side -= slack * float(extra[n_cuts] / z[n_cuts])
        budget_side = data.budget - state.d_total - float(self._theta.dot(pull)) - sums[0]
        d_level, d_tau = self._small_solution(budget_side, cap_side)
        values = np.empty_like(state.point.values)
        dx, dz = values
        d_alpha = dx[:n_cuts]
        np.array((d_level, -d_tau, 1.0)).dot(self._solved, out=d_alpha)
        dx[n_cuts] = -d_alpha.dot(self._sides[1])
        d_c = d_alpha.dot(data.A)
        d_d = data.unit_sums(state.c * d_c)
        d_d += pull
        d_d -= d_level
        np.multiply(d_d, self._theta, out=dx[units])
        np.negative(dx[units], out=dx[data.complements])
        np.multiply(self._ratio, dx, out=dz)
        np.subtract(-z if extra is None else extra - z, dz, out=dz)
        dz[n_cuts] = d_tau
        return Direction(values, d_level, d_c)

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
