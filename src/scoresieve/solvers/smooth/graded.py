"""The saddle point of :mod:`.saddle` with w and c as variables: for columns of unlike sizes.

To eliminate them squares the entries of X. Here they stay, as
:mod:`scoresieve.solvers.interior.graded` has it with ``a = v``, beside

    F'(v) + X_S w - z_low + z_high = 0 ,   x z = 0

so that a step solves the system of the columns with ``H = F''(v) + z_low/x_low + z_high/x_high``.
A step costs more than that of :mod:`.saddle`: it is for problems that the other cannot solve.
"""

from __future__ import annotations

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.regularizers import BudgetNorm
from scoresieve.risks import LossRisk
from scoresieve.solvers.interior.graded import ColumnStep, EquilibratedLU, GradedColumns
from scoresieve.solvers.interior.predictor_corrector import Iterate
from scoresieve.solvers.smooth.box import DISTANCE, BoxedDual


class GradedSaddle(BoxedDual):
    """The saddle point in units in which C is about 1, and its Newton system.

    Conventions
    -----------
    * ``x = (v - low, high - v, d, 1 - d)``, of the box where it is finite; free are v, lambda, w
      and c.
    * X is multiplied by ``root``, a power of two, and C divided by its square: w is divided by it,
      and scores and slopes stay as they are.
    """

    def __init__(self, risk: LossRisk, C: float, norm: BudgetNorm, X: FloatArray) -> None:
        self.root = float(np.ldexp(1.0, np.frexp(C)[1] // 2))
        super().__init__(risk, C / self.root / self.root, norm, X * self.root)
        self._side = GradedColumns(self.X, norm)
        self._n_rows, self._n_columns = self.X.shape

    def solution(self) -> tuple[FloatArray, FloatArray, float]:
        """The best w, the best slopes and their dual value, in the caller's units."""
        return self.root * self.w, self.slopes, self.root * self.bounds[1] * self.root

    def start(self, w: FloatArray, slopes: FloatArray, open_gap: float) -> Iterate:
        """A point inside every bound near the weights and slopes, whose products share the gap."""
        n_units = self._side.n_units
        v = self.near(slopes, 0.0)
        part = self.norm.budget / max(n_units, 1)
        x = np.concatenate([self.distances(v), np.repeat([part, 1.0 - part], n_units)])
        z = DISTANCE * (open_gap / self.root / self.root) / max(x.size, 1) / x
        w = w / self.root
        misfit = self.gradient(v) + self.X @ w
        box = np.concatenate([misfit[self.has_low], -misfit[self.has_high]])
        z[: self.n_box] = np.maximum(z[: self.n_box], box)
        c = w / self._side.spread(np.full(n_units, part), 1.0)
        return Iterate(np.stack([x, z]), np.concatenate([v, [0.0], w, c]))

    def _parts(self, free: FloatArray) -> tuple[FloatArray, float, FloatArray, FloatArray]:
        """``v``, lambda, w and c."""
        n, S = self._n_rows, self._n_columns
        return free[:n], float(free[n]), free[n + 1 : n + 1 + S], free[n + 1 + S :]

    def observe(self, point: Iterate) -> None:
        """Evaluate the point, and take its primal or dual value if it is the best so far."""
        self._point = point
        v, _, w, _ = self._parts(point.free)
        self.offer(w)
        if self.loss.task == "classification":
            margins = self.y * (self.X @ w)
            if np.all(margins > 0.0):
                # Where C is huge, a margin of 1 - eps costs more than all weights do.
                self.offer(float(1.0 / margins.min()) * (1.0 + 1e-15) * w)
        self.offer_dual(v, v @ self.X)

    def linearise(self) -> Iterate:
        """Factorise at the point observed last; the step towards products of zero."""
        x, z = self._point.values
        v, level, w, c = self._parts(self._point.free)
        self._side.linearise(v, w, c, level, self._point.values[:, self.n_box :])
        self._of_v = self.gradient(v) + self.X @ w - self.box_sums(z, -1.0)
        n = self._n_rows
        matrix = np.zeros((n + self._side.size, n + self._side.size))
        self._side.fill(matrix)
        curvature = self.loss.conjugate_curvature(self.y, -v / self.scale) / self.scale
        matrix[np.arange(n), np.arange(n)] = curvature + self.box_sums(z / x, 1.0)
        self._factor = EquilibratedLU(matrix)
        return self._step(-x * z, self._side.of_w, self._side.of_d)

    def corrected(self, target: float, affine: Iterate, weight: float) -> Iterate:
        """The step towards products of ``target``; see ``KKTSystem.corrected``."""
        (x, z), (dx, dz) = self._point.values, affine.values
        target = self._side.patient_target(target, x, z)
        _, level, w, c = self._parts(affine.free)
        moved = ColumnStep(dx[self.n_box : self.n_box + self._side.n_units], level, w, c)
        of_w, of_d = self._side.with_second_order(moved, weight)
        return self._step(target - x * z - weight * dx * dz, of_w, of_d)

    def _step(self, goal: FloatArray, of_w: FloatArray, of_d: FloatArray) -> Iterate:
        """The step that changes the products ``x z`` by ``goal`` and takes the residuals away."""
        x, z = self._point.values
        n, n_units, wanted = self._n_rows, self._side.n_units, goal / x
        of_pairs = wanted[self.n_box :]
        unbalance = of_d + of_pairs[:n_units] - of_pairs[n_units:]
        side = self.box_sums(wanted, -1.0) - self._of_v
        found = self._factor.solve(np.concatenate([side, self._side.side(of_w, unbalance)]))
        dv, moved = found[:n], self._side.step(found[n:], of_w, unbalance)
        dx = np.concatenate([dv[self.has_low], -dv[self.has_high], moved.d, -moved.d])
        free = np.concatenate([dv, [moved.level], moved.w, moved.c])
        return Iterate(np.stack([dx, wanted - z * dx / x]), free)
