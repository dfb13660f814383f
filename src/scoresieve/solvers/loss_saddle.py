"""The dual of a restricted problem as a saddle point, and its Newton system.

    min_{v in box}  max_{d in D}   F(v) + 1/2 sum_u d_u ||c_u||^2 + 1/2 ||c_0||^2 ,   c = X_S^T v

with ``F(v) = C sum_i c_i l*(y_i, -v_i / (C c_i))``, one weight d_u a unit, D = {0 <= d <= 1,
sum d = B}, and 0 the columns that are always in. The box is the domain of the conjugate. Convex in
v, linear in d; ``w = d * c`` solves the restricted problem.

Optimality, with multipliers z of the bounds (x >= 0 stands for all of ``v - low``, ``high - v``,
``d`` and ``1 - d``) and the level lambda of the budget:

    F'(v) + X_S w - z_low + z_high = 0 ,   1/2 ||c_u||^2 - lambda + z_d - z_1-d = 0 ,   sum d = B ,
    x z = 0

A Newton step eliminates everything diagonal and leaves ``Q + Y Y^T``, Q diagonal and Y of the shape
of X_S, which is factorised in the smaller of its two dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.loss_problem import LossProblem

FloatArray = NDArray[np.float64]

#: Refinements of each solution of the Newton system.
REFINEMENTS = 2


class SaddleData:
    """``F``, the box and ``X_S``, on the rows with a positive weight.

    Parameters
    ----------
    problem : LossProblem
        With a smooth loss.
    norm : BudgetNorm
        On the working columns.
    X : ndarray of shape (n_samples, n_columns)
        The working columns.
    """

    def __init__(self, problem: LossProblem, norm: BudgetNorm, X: FloatArray) -> None:
        self.rows = np.flatnonzero(problem.weights > 0.0)
        self.X, self.norm, self.loss = X[self.rows], norm, problem.loss
        self.y, self.scale = problem.y[self.rows], problem.row_scale[self.rows]
        low, high = problem.loss.slope_range(self.y)
        self.low, self.high = -self.scale * high, -self.scale * low
        self.has_low = np.flatnonzero(np.isfinite(self.low))
        self.has_high = np.flatnonzero(np.isfinite(self.high))
        #: Units whose weight is to be chosen; none where the budget covers them all.
        self.n_units = norm.n_units if norm.n_units > norm.budget else 0
        self.n_box = self.has_low.size + self.has_high.size

    def slopes(self, v: FloatArray) -> FloatArray:
        """``u = -v / (C c)``."""
        return -v / self.scale

    def gradient(self, v: FloatArray) -> FloatArray:
        """``F'(v)``."""
        return -self.loss.conjugate_derivative(self.y, self.slopes(v))

    def curvature(self, v: FloatArray) -> FloatArray:
        """``F''(v)``."""
        return self.loss.conjugate_curvature(self.y, self.slopes(v)) / self.scale

    def spread(self, per_unit: FloatArray, always: float) -> FloatArray:
        """A number a column: that of its unit, or ``always`` for columns that are in anyway."""
        if self.n_units:
            return self.norm.units.spread(per_unit, always=always, excluded=0.0)
        return np.full(self.X.shape[1], always)

    def unit_sums(self, x: FloatArray) -> FloatArray:
        """Sums over the columns of the units that are chosen from; empty if none are."""
        return self.norm.units.sums(x) if self.n_units else np.zeros(0)

    def distances(self, v: FloatArray) -> FloatArray:
        """``v - low`` and ``high - v`` where these are finite."""
        low, high = self.has_low, self.has_high
        return np.concatenate([v[low] - self.low[low], self.high[high] - v[high]])

    def box_times(self, dv: FloatArray) -> FloatArray:
        """The change of the distances with v."""
        return np.concatenate([dv[self.has_low], -dv[self.has_high]])

    def box_sums(self, z: FloatArray, sign: float) -> FloatArray:
        """``z_low + sign z_high``, of shape (n,)."""
        out = np.zeros(self.y.size)
        out[self.has_low] = z[: self.has_low.size]
        out[self.has_high] += sign * z[self.has_low.size : self.n_box]
        return out


@dataclass(frozen=True, eq=False)
class SaddlePoint:
    """v, all positive variables x with their multipliers z, and the budget's level; or a step."""

    v: FloatArray
    x: FloatArray
    z: FloatArray
    level: float

    def moved(self, step: SaddlePoint, size: float) -> SaddlePoint:
        """``self + size * step``."""
        return SaddlePoint(
            self.v + size * step.v,
            self.x + size * step.x,
            self.z + size * step.z,
            self.level + size * step.level,
        )

    def longest_step(self, step: SaddlePoint) -> float:
        """Largest size in [0, 1] that keeps x and z non-negative."""
        steepest = min((step.x / self.x).min(initial=0.0), (step.z / self.z).min(initial=0.0))
        return min(1.0, -1.0 / steepest) if steepest < 0.0 else 1.0


class SaddleNewton:
    """The linearised optimality conditions at a point, factorised once for several steps.

    Parameters
    ----------
    data : SaddleData
    point : SaddlePoint

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite in double precision.
    """

    def __init__(self, data: SaddleData, point: SaddlePoint) -> None:
        self.data, self.point = data, point
        n_box, n_units = data.n_box, data.n_units
        self.d = point.x[n_box : n_box + n_units]
        self.c = data.X.T @ point.v
        self.delta = data.spread(self.d, 1.0)
        box, d_dual, one_dual = np.split(point.z, [n_box, n_box + n_units])
        self.residual_v = (
            data.gradient(point.v) + data.X @ (self.delta * self.c) - data.box_sums(box, -1.0)
        )
        strengths = data.unit_sums(self.c * self.c)
        self.residual_d = 0.5 * strengths - point.level + d_dual - one_dual
        self.residual_budget = data.norm.budget - float(self.d.sum()) if n_units else 0.0
        ratios = point.z / point.x
        self.stiffness = ratios[n_box : n_box + n_units] + ratios[n_box + n_units :]
        self.Q = data.curvature(point.v) + data.box_sums(ratios[:n_box], 1.0)
        self._factorise(strengths)
        push = self.c * data.spread(1.0 / self.stiffness, 0.0)
        self.push = data.X @ push
        self.solved_push = self._solve(self.push)

    def _factorise(self, strengths: FloatArray) -> None:
        """``Q + Y Y^T`` with ``Y = X (diag(d) + c_u c_u^T / stiffness)^{1/2}`` on each unit."""
        data = self.data
        self.Y = data.X * np.sqrt(self.delta)
        if data.n_units:
            root = np.sqrt(self.d)
            # (root I + beta c c^T)^2 = d I + c c^T / stiffness
            lift = np.sqrt(self.d + strengths / self.stiffness) - root
            safe = np.where(strengths > 0.0, strengths, 1.0)
            beta = self.c * data.spread(lift / safe, 0.0)
            if data.norm.has_groups:
                units = data.norm.units.unit_of
                inside = np.flatnonzero(units >= 0)
                sums = np.zeros((data.n_units, data.y.size))
                np.add.at(sums, units[inside], (data.X[:, inside] * self.c[inside]).T)
                self.Y[:, inside] += sums.T[:, units[inside]] * beta[inside]
            else:
                self.Y += data.X * (self.c * beta)
        n, n_columns = self.Y.shape
        self.by_rows = n <= n_columns
        if self.by_rows:
            matrix = self.Y @ self.Y.T
            np.einsum("ii->i", matrix)[:] += self.Q
        else:
            scaled = self.Y / np.sqrt(self.Q)[:, None]
            matrix = scaled.T @ scaled
            np.einsum("ii->i", matrix)[:] += 1.0
        self.factor, failed = dpotrf(matrix, lower=True, clean=False)
        if failed:
            raise LinAlgError("the Newton matrix is not positive definite")

    def _solve(self, side: FloatArray) -> FloatArray:
        """``(Q + Y Y^T)^{-1} side``, refined: the smaller dimension costs digits."""
        x = self._factored(side)
        for _ in range(REFINEMENTS):
            x = x + self._factored(side - self.Q * x - self.Y @ (self.Y.T @ x))
        return x

    def _factored(self, side: FloatArray) -> FloatArray:
        if self.by_rows:
            return dpotrs(self.factor, side, lower=True)[0]
        scaled = side / self.Q
        return scaled - (self.Y @ dpotrs(self.factor, self.Y.T @ scaled, lower=True)[0]) / self.Q

    def step(
        self, target: float, ahead: SaddlePoint | None = None, weight: float = 1.0
    ) -> SaddlePoint:
        """The step towards products ``x z`` of ``target``.

        Parameters
        ----------
        target : float
        ahead : SaddlePoint, optional
            A step whose second-order terms are taken into account.
        weight : float
            By how much.
        """
        data, point = self.data, self.point
        n_box, n_units = data.n_box, data.n_units
        goal = target - point.x * point.z
        residual_v, residual_d = self.residual_v, self.residual_d
        if ahead is not None:
            goal = goal - weight * ahead.x * ahead.z
            d_c = data.X.T @ ahead.v
            d_d = data.spread(ahead.x[n_box : n_box + n_units], 0.0)
            residual_v = residual_v + weight * (data.X @ (d_d * d_c))
            residual_d = residual_d + (0.5 * weight) * data.unit_sums(d_c * d_c)
        wanted = goal / point.x
        pull = residual_d + wanted[n_box : n_box + n_units] - wanted[n_box + n_units :]
        pulled = pull / self.stiffness
        side = data.box_sums(wanted[:n_box], -1.0) - residual_v
        side = side - data.X @ (self.c * data.spread(pulled, 0.0))
        dv, d_level = self._solve(side), 0.0
        if n_units:
            free = float(np.sum(1.0 / self.stiffness)) - float(self.push @ self.solved_push)
            missing = float(pulled.sum()) + float(self.push @ dv) - self.residual_budget
            d_level = missing / free
            dv = dv + d_level * self.solved_push
        moved = data.unit_sums(self.c * (data.X.T @ dv))
        d_d = (moved - d_level + pull) / self.stiffness
        dx = np.concatenate([data.box_times(dv), d_d, -d_d])
        return SaddlePoint(dv, dx, wanted - point.z * dx / point.x, d_level)
