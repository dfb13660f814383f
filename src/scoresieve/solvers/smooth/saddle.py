"""The dual of a restricted problem as a saddle point: its optimality conditions, linearised.

    min_{v in box}  max_{d in D}   F(v) + 1/2 sum_u d_u ||c_u||^2 + 1/2 ||c_0||^2 ,   c = X_S^T v

with ``F(v) = C sum_i c_i l*(y_i, -v_i / (C c_i))``, one weight d_u a unit, D = {0 <= d <= 1,
sum d = B}, and 0 the columns that are always in. The box is the domain of the conjugate. Convex in
v, linear in d; ``w = d * c`` solves the restricted problem. No kink of the norm or of the loss is
left here.

Optimality, with multipliers z of the bounds (x >= 0 stands for all of ``v - low``, ``high - v``,
``d`` and ``1 - d``), the free variables v and the level lambda of the budget:

    F'(v) + X_S w - z_low + z_high = 0 ,   1/2 ||c_u||^2 - lambda + z_d - z_1-d = 0 ,   sum d = B ,
    x z = 0

A Newton step eliminates everything diagonal and leaves ``Q + Y Y^T``, Q diagonal and Y of the shape
of X_S, which is factorised in the smaller of its two dimensions.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from scoresieve._arrays import FloatArray
from scoresieve.regularizers import BudgetNorm
from scoresieve.risks import LossRisk
from scoresieve.solvers.ill_scaled import shares_of_rows
from scoresieve.solvers.interior import Iterate

#: A start is at least this share of its typical size away from each bound, at most this share of
#: the box's width, and typical sizes are this share of the box's where nothing else is known.
DISTANCE, MOST_OF_WIDTH, LEAST_SIZE = 0.1, 0.4, 1e-12
#: Refinements of each solution of the Newton system.
REFINEMENTS = 2


class SaddleKKT:
    """The saddle point with w and c eliminated, on the rows with a positive weight.

    It also keeps the best primal and the best dual value over the iterates.

    Parameters
    ----------
    risk : LossRisk
        Smooth.
    norm : BudgetNorm
        On the working columns.
    X : ndarray of shape (n_samples, n_columns)
        The working columns.
    primal : float, optional
        A primal value, where C and X are so large that it may be far below that of no weights. Then
        starts are as near 0 as their slopes; and where a margin of 1 - eps costs more than all
        weights do, multiples with margins of 1 serve.

    Attributes
    ----------
    n_units : int
        Units whose weight is to be chosen; none where the budget covers them all.
    w : ndarray of shape (n_columns,)
        The best primal point.
    slopes : ndarray of shape (n_samples,)
        The best dual point on the working columns.
    """

    def __init__(
        self,
        risk: LossRisk,
        C: float,
        norm: BudgetNorm,
        X: FloatArray,
        primal: float | None = None,
    ) -> None:
        self.risk, self.C, self.all_X, self.primal = risk, C, X, primal
        self.rows = np.flatnonzero(risk.row_weights > 0.0)
        self.X, self.norm, self.loss = X[self.rows], norm, risk.loss
        self.n_units = norm.n_units if norm.n_units > norm.budget else 0
        self.y, self.scale = risk.y[self.rows], C * risk.row_weights[self.rows]
        low, high = risk.loss.slope_range(self.y)
        self.low, self.high = -self.scale * high, -self.scale * low
        self.has_low = np.flatnonzero(np.isfinite(self.low))
        self.has_high = np.flatnonzero(np.isfinite(self.high))
        self.n_box = self.has_low.size + self.has_high.size
        self.w, self.slopes = np.zeros(X.shape[1]), np.zeros(risk.y.size)
        self._primal, self._dual = np.inf, -np.inf

    @property
    def bounds(self) -> tuple[float, float]:
        """The best primal and the best dual value so far."""
        return self._primal, self._dual

    def gradient(self, v: FloatArray) -> FloatArray:
        """``F'(v)``."""
        return -self.loss.conjugate_derivative(self.y, -v / self.scale)

    def distances(self, v: FloatArray) -> FloatArray:
        """``v - low`` and ``high - v`` where these are finite."""
        low, high = self.has_low, self.has_high
        return np.concatenate([v[low] - self.low[low], self.high[high] - v[high]])

    def box_sums(self, z: FloatArray, sign: float) -> FloatArray:
        """``z_low + sign z_high``, of shape (n,)."""
        out = np.zeros(self.y.size)
        out[self.has_low] = z[: self.has_low.size]
        out[self.has_high] += sign * z[self.has_low.size : self.n_box]
        return out

    def near(self, slopes: FloatArray) -> FloatArray:
        """The v of the slopes, moved off the bounds; hardly off 0 where that would cost much."""
        v = -self.scale * slopes[self.rows]
        typical = float(np.abs(v).mean())
        size = max(typical, LEAST_SIZE * float(self.scale.mean()))
        width = self.high - self.low
        most = np.where(np.isfinite(width), MOST_OF_WIDTH * width, np.inf)
        room = of_zero = np.minimum(DISTANCE * size, most)
        if self.primal is not None and typical > 0.0:
            of_zero = room * shares_of_rows(self.X) * (typical / size)
        low = self.low + np.where(self.low == 0.0, of_zero, room)
        return np.clip(v, low, self.high - np.where(self.high == 0.0, of_zero, room))

    def offer(self, w: FloatArray) -> None:
        """Take a primal point, or its multiple with margins of 1, if it is the best so far."""
        scores = self.all_X @ w
        multiples = [1.0]
        if self.primal is not None and self.loss.task == "classification":
            margin = float((self.y * scores[self.rows]).min())
            multiples += [(1.0 + 1e-15) / margin] if margin > 0.0 else []
        for multiple in multiples:
            half_norm = 0.5 * self.norm.value_squared(multiple * w)
            value = half_norm + self.C * self.risk.value(multiple * scores)
            if value < self._primal:
                self._primal, self.w = value, multiple * w

    def offer_dual(self, v: FloatArray, c: FloatArray) -> None:
        """Take the best multiple of a dual point if its value is the best so far.

        Parameters
        ----------
        c : ndarray of shape (n_columns,)
            ``X^T v``.
        """
        risk = self.risk
        slopes = np.zeros(risk.y.size)
        slopes[self.rows] = -v / self.scale
        slopes = risk.clipped(slopes)
        theta, value = risk.best_multiple(slopes, self.norm.dual_squared(c), self.C)
        if value > self._dual:
            self._dual, self.slopes = value, risk.clipped(theta * slopes)

    def spread(self, per_unit: FloatArray, always: float) -> FloatArray:
        """A number a column: that of its unit, or ``always`` for columns that are in anyway."""
        if self.n_units:
            return self.norm.units.spread(per_unit, always=always, excluded=0.0)
        return np.full(self.X.shape[1], always)

    def unit_sums(self, x: FloatArray) -> FloatArray:
        """Sums over the columns of the units that are chosen from; empty if none are."""
        return self.norm.units.sums(x) if self.n_units else np.zeros(0)

    def _of_d(self, pairs: FloatArray) -> FloatArray:
        """The entries of ``d`` among those of all pairs."""
        return pairs[self.n_box : self.n_box + self.n_units]

    def _of_complements(self, pairs: FloatArray) -> FloatArray:
        """The entries of ``1 - d`` among those of all pairs."""
        return pairs[self.n_box + self.n_units :]

    def observe(self, point: Iterate) -> None:
        """Evaluate the point, and take its primal or dual value if it is the best so far."""
        self._point, self._v, self._level = point, point.free[:-1], float(point.free[-1])
        self._d = self._of_d(point.values[0])
        self._c = self.X.T @ self._v
        self._delta = self.spread(self._d, 1.0)
        self.offer(self._delta * self._c)
        self.offer_dual(self._v, self._c)

    def linearise(self) -> Iterate:
        """Factorise at the point observed last; the step towards products of zero."""
        x, z = self._point.values
        box = z[: self.n_box]
        self._residual_v = (
            self.gradient(self._v) + self.X @ (self._delta * self._c) - self.box_sums(box, -1.0)
        )
        strengths = self.unit_sums(self._c * self._c)
        self._residual_d = 0.5 * strengths - self._level + self._of_d(z) - self._of_complements(z)
        self._missing = self.norm.budget - float(self._d.sum()) if self.n_units else 0.0
        ratios = z / x
        self._stiffness = self._of_d(ratios) + self._of_complements(ratios)
        curvature = self.loss.conjugate_curvature(self.y, -self._v / self.scale) / self.scale
        self._Q = curvature + self.box_sums(ratios[: self.n_box], 1.0)
        self._factorise(strengths)
        self._push = self.X @ (self._c * self.spread(1.0 / self._stiffness, 0.0))
        self._solved_push = self._solve(self._push)
        return self._step(-x * z, self._residual_v, self._residual_d)

    def corrected(self, target: float, affine: Iterate, weight: float) -> Iterate:
        """The step towards products of ``target``; see ``KKTSystem.corrected``."""
        (x, z), (dx, dz) = self._point.values, affine.values
        d_c = self.X.T @ affine.free[:-1]
        d_d = self.spread(self._of_d(dx), 0.0)
        residual_v = self._residual_v + weight * (self.X @ (d_d * d_c))
        residual_d = self._residual_d + (0.5 * weight) * self.unit_sums(d_c * d_c)
        return self._step(target - x * z - weight * dx * dz, residual_v, residual_d)

    def _step(self, goal: FloatArray, residual_v: FloatArray, residual_d: FloatArray) -> Iterate:
        """The step that changes the products ``x z`` by ``goal`` and takes the residuals away."""
        x, z = self._point.values
        wanted = goal / x
        unbalance = residual_d + self._of_d(wanted) - self._of_complements(wanted)
        shift = unbalance / self._stiffness
        side = self.box_sums(wanted[: self.n_box], -1.0) - residual_v
        side = side - self.X @ (self._c * self.spread(shift, 0.0))
        dv, d_level = self._solve(side), 0.0
        if self.n_units:
            free = float(np.sum(1.0 / self._stiffness)) - float(self._push @ self._solved_push)
            if free == 0.0:
                raise LinAlgError("the bordered Newton system is singular")
            missing = float(shift.sum()) + float(self._push @ dv) - self._missing
            d_level = missing / free
            dv = dv + d_level * self._solved_push
        moved = self.unit_sums(self._c * (self.X.T @ dv))
        d_d = (moved - d_level + unbalance) / self._stiffness
        dx = np.concatenate([dv[self.has_low], -dv[self.has_high], d_d, -d_d])
        return Iterate(np.stack([dx, wanted - z * dx / x]), np.append(dv, d_level))

    def _factorise(self, strengths: FloatArray) -> None:
        """``Q + Y Y^T`` with ``Y = X (diag(d) + c_u c_u^T / stiffness)^{1/2}`` on each unit."""
        self._Y = self.X * np.sqrt(self._delta)
        if self.n_units:
            # (root I + beta c c^T)^2 = d I + c c^T / stiffness
            lift = np.sqrt(self._d + strengths / self._stiffness) - np.sqrt(self._d)
            safe = np.where(strengths > 0.0, strengths, 1.0)
            beta = self._c * self.spread(lift / safe, 0.0)
            if self.norm.has_groups:
                units = self.norm.units.unit_of
                inside = np.flatnonzero(units >= 0)
                sums = np.zeros((self.n_units, self.y.size))
                np.add.at(sums, units[inside], (self.X[:, inside] * self._c[inside]).T)
                self._Y[:, inside] += sums.T[:, units[inside]] * beta[inside]
            else:
                self._Y += self.X * (self._c * beta)
        n, n_columns = self._Y.shape
        self._by_rows = n <= n_columns
        if self._by_rows:
            matrix = self._Y @ self._Y.T
            np.einsum("ii->i", matrix)[:] += self._Q
        else:
            scaled = self._Y / np.sqrt(self._Q)[:, None]
            matrix = scaled.T @ scaled
            np.einsum("ii->i", matrix)[:] += 1.0
        self._factor, failed = dpotrf(matrix, lower=True, clean=False)
        if failed:
            raise LinAlgError("the Newton matrix is not positive definite")

    def _solve(self, side: FloatArray) -> FloatArray:
        """``(Q + Y Y^T)^{-1} side``, refined: the smaller dimension costs digits."""
        x = self._factored(side)
        for _ in range(REFINEMENTS):
            x = x + self._factored(side - self._Q * x - self._Y @ (self._Y.T @ x))
        return x

    def _factored(self, side: FloatArray) -> FloatArray:
        if self._by_rows:
            return dpotrs(self._factor, side, lower=True)[0]
        scaled = side / self._Q
        inner = dpotrs(self._factor, self._Y.T @ scaled, lower=True)[0]
        return scaled - (self._Y @ inner) / self._Q


def starting_point(system: SaddleKKT, slopes: FloatArray, share: float) -> Iterate:
    """A point inside every bound, near the given slopes, whose products share the open gap.

    Parameters
    ----------
    slopes : ndarray of shape (n_samples,)
        A dual point.
    share : float
        How much of the open gap.
    """
    risk, C, norm, open_gap = system.risk, system.C, system.norm, system.primal
    if open_gap is None:
        strength = norm.dual_squared(system.all_X.T @ risk.vector(slopes, C))
        empty = C * risk.value(np.zeros(risk.y.size))
        open_gap = share * (empty - risk.best_multiple(slopes, strength, C)[1])
    v = system.near(slopes)
    c = system.X.T @ v
    d = np.full(system.n_units, norm.budget / max(system.n_units, 1))
    level = 0.5 * float(system.unit_sums(c * c).mean()) if system.n_units else 0.0
    misfit = system.gradient(v) + system.X @ (system.spread(d, 1.0) * c)
    x = np.concatenate([system.distances(v), d, 1.0 - d])
    z = DISTANCE * open_gap / max(x.size, 1) / x
    box = np.concatenate([misfit[system.has_low], -misfit[system.has_high]])
    if system.primal is not None:
        # The distance to the farther bound can be 1e37: its multiplier has no part in the misfit.
        nearest = np.minimum(v - system.low, system.high - v)
        nearest = np.concatenate([nearest[system.has_low], nearest[system.has_high]])
        box = np.where(x[: system.n_box] <= nearest, box, 0.0)
    z[: system.n_box] = np.maximum(z[: system.n_box], box)
    return Iterate(np.stack([x, z]), np.append(v, level))
