"""The optimality conditions of the master with w and c as variables: for columns of unlike sizes.

:mod:`.kkt` eliminates them, which squares the entries of A. Here they stay, as
:mod:`scoresieve.solvers.interior.graded` has it, beside

    A w - q + tau 1 - z = 0 ,   sum alpha + slack = cap ,   x z = 0

so that a step solves the system of the columns with ``H = z/alpha`` and one row more,

    [ 1^T   0   0   0   -slack/tau ]      for d_tau.

A step costs more than that of :mod:`.kkt`, and its dual values more rounds of rounding: it is for
masters that the other cannot solve.
"""

from __future__ import annotations

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.regularizers.units import ALWAYS
from scoresieve.solvers.bundle.scaled import MasterProblem, MasterSolution, combined
from scoresieve.solvers.interior.graded import ColumnStep, EquilibratedLU, GradedColumns
from scoresieve.solvers.interior.predictor_corrector import Iterate

#: Share of the cap that the sum of the first alpha takes, and the least first multiplier.
FIRST_SHARE, FIRST_MULTIPLIER = 0.9, 0.1
#: Largest whole multiples that are tried for exact balance.
MULTIPLES = (1.0, 2.0, 3.0, 4.0)


class GradedKKT:
    """The master in units of ``alpha_scale``, its Newton system, and the best points so far.

    Conventions
    -----------
    * ``x = (alpha, slack, d, 1 - d)`` with multipliers ``z = (z, tau, u, v)``; free are lambda, w
      and c. Only units that are chosen from have a d.
    * Excluded columns are left out.
    """

    def __init__(self, problem: MasterProblem, alpha_scale: float) -> None:
        self._problem, self._columns = problem, np.flatnonzero(problem.norm.unit_of >= ALWAYS)
        # Powers of two, and of A one: entries that cancel each other still do.
        largest = max(float(problem.losses.max()), np.finfo(float).tiny)
        self._loss_scale = float(np.ldexp(1.0, np.frexp(largest)[1]))
        self._root = float(np.ldexp(1.0, np.frexp(alpha_scale / self._loss_scale)[1] // 2))
        self._alpha_scale = self._root * self._loss_scale * self._root
        self._A = problem.cuts[:, self._columns] * self._root
        self._norm = problem.norm.restrict(self._columns)
        self._side = GradedColumns(self._A, self._norm)
        self._q, self._cap = problem.losses / self._loss_scale, problem.C / self._alpha_scale
        self._n_cuts = self._q.size
        self._primal, self._dual = np.inf, 0.0
        self._w, self._alpha = np.zeros(self._columns.size), np.zeros(self._n_cuts)

    def start(self, direction: FloatArray) -> Iterate:
        """A point inside every bound with alpha along ``direction``, no weights and small c."""
        n_units = self._side.n_units
        share = self._norm.budget / max(n_units, 1)
        alpha = direction * (FIRST_SHARE * min(1.0, self._cap))
        values = np.empty((2, self._n_cuts + 1 + 2 * n_units))
        x, z = values
        x[: self._n_cuts], x[self._n_cuts] = alpha, self._cap - float(alpha.sum())
        x[self._n_cuts + 1 :] = np.repeat([share, 1.0 - share], n_units)
        tau = 1.0 + FIRST_MULTIPLIER
        z[: self._n_cuts], z[self._n_cuts] = tau - self._q, tau / max(1.0, x[self._n_cuts])
        z[self._n_cuts + 1 :] = FIRST_MULTIPLIER
        return Iterate(values, np.zeros(1 + 2 * self._columns.size))

    @property
    def bounds(self) -> tuple[float, float]:
        """The best primal and the best dual value so far."""
        return self._primal, self._dual

    def observe(self, point: Iterate) -> None:
        """Evaluate w and the best multiple of alpha, and keep what is the best so far."""
        self._point, n_columns = point, self._columns.size
        w = point.free[1 : 1 + n_columns]
        outputs = self._A @ w
        self._offer(w, outputs)
        needed = self._q > 0.0
        if np.all(outputs[needed] > 0.0):
            stretch = float(np.max(self._q[needed] / outputs[needed])) * (1.0 + 1e-15)
            self._offer(stretch * w, stretch * outputs)
        self._offer_dual(point.values[0, : self._n_cuts])

    def balance(self) -> None:
        """Try whole multiples of one number near the last alpha, which may cancel to the last bit.

        Where columns are large and their entries are alike, no other alpha is worth anything.
        """
        alpha = self._point.values[0, : self._n_cuts]
        for most in MULTIPLES:
            whole = np.rint(alpha * (most / float(alpha.max())))
            if whole.any():
                self._offer_dual(whole)

    def _offer_dual(self, alpha: FloatArray) -> None:
        """Take the best multiple of alpha if its dual value is the best so far."""
        gain = float(self._q @ alpha)
        strength = self._norm.dual_squared(combined(alpha, self._A))
        # Not a bit too large: to scale it down again would spoil what cancels exactly.
        margin = self._n_cuts * float(np.finfo(float).eps)
        multiple = self._cap / float(alpha.sum()) * (1.0 - margin)
        if strength * multiple > gain > 0.0:
            multiple = gain / strength
        dual = multiple * (gain - 0.5 * multiple * strength)
        if dual > self._dual:
            self._dual, self._alpha = dual, multiple * alpha

    def _offer(self, w: FloatArray, outputs: FloatArray) -> None:
        risk = max(0.0, float(np.max(self._q - outputs)))
        primal = 0.5 * self._norm.value_squared(w) + self._cap * risk
        if primal < self._primal:
            self._primal, self._w = primal, w

    def linearise(self) -> Iterate:
        """Factorise at the point observed last; the step towards products of zero."""
        (x, z), free = self._point.values, self._point.free
        K, n_columns = self._n_cuts, self._columns.size
        w, c, pairs = free[1 : 1 + n_columns], free[1 + n_columns :], self._point.values[:, K + 1 :]
        self._side.linearise(x[:K], w, c, float(free[0]), pairs)
        self._of_alpha = self._A @ w - self._q + z[K] - z[:K]
        self._of_cap = float(x[:K].sum()) + x[K] - self._cap
        matrix = np.zeros((K + self._side.size + 1, K + self._side.size + 1))
        self._side.fill(matrix)
        matrix[np.arange(K), np.arange(K)] = z[:K] / x[:K]
        matrix[:K, -1] = matrix[-1, :K] = 1.0
        matrix[-1, -1] = -x[K] / z[K]
        self._factor = EquilibratedLU(matrix)
        return self._step(-x * z, self._side.of_w, self._side.of_d)

    def corrected(self, target: float, affine: Iterate, weight: float) -> Iterate:
        """The step towards products of ``target``; see ``KKTSystem.corrected``."""
        (x, z), (dx, dz) = self._point.values, affine.values
        target = self._side.patient_target(target, x, z)
        n_columns, first = self._columns.size, self._n_cuts + 1
        moved = ColumnStep(
            dx[first : first + self._side.n_units],
            float(affine.free[0]),
            affine.free[1 : 1 + n_columns],
            affine.free[1 + n_columns :],
        )
        of_w, of_d = self._side.with_second_order(moved, weight)
        return self._step(target - x * z - weight * dx * dz, of_w, of_d)

    def _step(self, goal: FloatArray, of_w: FloatArray, of_d: FloatArray) -> Iterate:
        """The step that changes the products ``x z`` by ``goal`` and takes the residuals away."""
        x, z = self._point.values
        K, n_units, wanted = self._n_cuts, self._side.n_units, goal / x
        unbalance = of_d + wanted[K + 1 : K + 1 + n_units] - wanted[K + 1 + n_units :]
        side = np.concatenate(
            [
                wanted[:K] - self._of_alpha,
                self._side.side(of_w, unbalance),
                [-self._of_cap - float(goal[K] / z[K])],
            ]
        )
        found = self._factor.solve(side)
        moved = self._side.step(found[K:-1], of_w, unbalance)
        d_slack = -self._of_cap - float(found[:K].sum())
        dx = np.concatenate([found[:K], [d_slack], moved.d, -moved.d])
        dz = wanted - z * dx / x
        dz[K] = found[-1]
        return Iterate(np.stack([dx, dz]), np.concatenate([[moved.level], moved.w, moved.c]))

    def rounding(self) -> float:
        """What double precision cannot settle of the gap near the last point, in scaled units.

        ``A^T alpha`` is known to ``eps |A|^T alpha``, and where alpha has to balance on a column
        that much of it is left: the dual value loses half its square. The risk is known to
        ``eps (|A| |w| + q)``.
        """
        alpha, w = (
            self._point.values[0, : self._n_cuts],
            self._point.free[1 : 1 + self._columns.size],
        )
        risk = np.finfo(float).eps * float(np.max(np.abs(self._A) @ np.abs(w) + self._q))
        return 0.5 * self._norm.dual_squared(self._side.rounding_of_c(alpha)) + self._cap * risk

    def solution(self, n_steps: int) -> MasterSolution:
        """The best points, as the caller sees them."""
        problem = self._problem
        w = np.zeros(problem.cuts.shape[1])
        w[self._columns] = (self._root * self._loss_scale) * self._w
        alpha = problem.feasible(self._alpha_scale * self._alpha)
        return MasterSolution(w, alpha, problem.primal(w), problem.dual(alpha), n_steps)
