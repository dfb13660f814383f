"""The optimality conditions of the master with w and c as variables: for columns of unlike sizes.

:mod:`.kkt` eliminates them, which squares the entries of A: beside a column of size 1e8 one of size
1 is lost in the Newton matrix. Here they stay,

    A w - q + tau 1 - z = 0 ,   A^T alpha - c = 0 ,   d c - w = 0 ,
    1/2 c_j^2 - lambda + u_j - v_j = 0 ,   sum d = B ,   sum alpha + slack = cap ,   x z = 0

with d_j = 1 for the columns that are in for certain. With ``theta = 1 / (u/d + v/(1-d))`` and
``W = d + theta c^2`` a step solves

    [ z/alpha   A           0                1        ] [ d_alpha  ]
    [ A^T      -1/W        -c theta/W        0        ] [ d_w      ]
    [ 0        -c theta/W   sum theta d/W    0        ] [ d_lambda ]
    [ 1^T       0           0               -slack/tau] [ d_tau    ]

after its rows and columns were brought to one size. A column of any size is then a row of this
system like all others: a large one says that alpha has to balance on it.

A step costs more than that of :mod:`.kkt`, and its dual values more rounds of rounding: it is for
masters that the other cannot solve. Units are single columns.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg.lapack import dgetrf, dgetrs

from scoresieve._arrays import FloatArray
from scoresieve.solvers.bundle.scaled import MasterProblem, MasterSolution
from scoresieve.solvers.interior.predictor_corrector import Iterate

#: Rounds of scaling of the Newton matrix; each halves how many orders its rows are apart.
EQUILIBRATIONS = 8
#: Refinements of each solution of the Newton system.
REFINEMENTS = 1
#: Share of the cap that the sum of the first alpha takes, and the least first multiplier.
FIRST_SHARE, FIRST_MULTIPLIER = 0.9, 0.1
#: Largest whole multiples that are tried for exact balance.
MULTIPLES = (1.0, 2.0, 3.0, 4.0)
#: A residual below this multiple of its rounding is taken as none.
ROUNDED_OFF = 8.0


class GradedKKT:
    """The master in units of ``alpha_scale``, its Newton system, and the best points so far.

    Conventions
    -----------
    * ``x = (alpha, slack, d, 1 - d)`` with multipliers ``z = (z, tau, u, v)``; free are lambda, w
      and c. Only columns whose d is chosen have a d.
    * Excluded columns are left out.
    """

    def __init__(self, problem: MasterProblem, alpha_scale: float) -> None:
        free, fixed = problem.free_columns, problem.fixed_columns
        self._problem, self._columns = problem, np.concatenate([free, fixed])
        # Powers of two, and of A one: entries that cancel each other still do.
        largest = max(float(problem.losses.max()), np.finfo(float).tiny)
        self._loss_scale = float(np.ldexp(1.0, np.frexp(largest)[1]))
        self._root = float(np.ldexp(1.0, np.frexp(alpha_scale / self._loss_scale)[1] // 2))
        self._alpha_scale = self._root * self._loss_scale * self._root
        self._A = problem.cuts[:, self._columns] * self._root
        self._norm = problem.norm.restrict(self._columns)
        self._q, self._cap = problem.losses / self._loss_scale, problem.C / self._alpha_scale
        self._n_free, self._n_cuts, self._budget = free.size, self._q.size, problem.norm.budget
        self._units = slice(self._n_cuts + 1, self._n_cuts + 1 + free.size)
        self._complements = slice(self._n_cuts + 1 + free.size, None)
        self._primal, self._dual = np.inf, 0.0
        self._w, self._alpha = np.zeros(self._columns.size), np.zeros(self._n_cuts)

    def start(self, direction: FloatArray) -> Iterate:
        """A point inside every bound with alpha along ``direction``, no weights and small c."""
        n_free, n_columns = self._n_free, self._columns.size
        share = self._budget / max(n_free, 1)
        alpha = direction * (FIRST_SHARE * min(1.0, self._cap))
        values = np.empty((2, self._n_cuts + 1 + 2 * n_free))
        x, z = values
        x[: self._n_cuts], x[self._n_cuts] = alpha, self._cap - float(alpha.sum())
        x[self._units], x[self._complements] = share, 1.0 - share
        tau = 1.0 + FIRST_MULTIPLIER
        z[: self._n_cuts], z[self._n_cuts] = tau - self._q, tau / max(1.0, x[self._n_cuts])
        z[self._n_cuts + 1 :] = FIRST_MULTIPLIER
        return Iterate(values, np.zeros(1 + 2 * n_columns))

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
        strength = self._norm.dual_squared(alpha @ self._A)
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
        n_free, n_cuts, n_columns = self._n_free, self._n_cuts, self._columns.size
        level, w, c = free[0], free[1 : 1 + n_columns], free[1 + n_columns :]
        alpha, d = x[:n_cuts], np.ones(n_columns)
        d[:n_free] = x[self._units]
        self._c, self._d, ratio = c, d, z / x
        self._theta = np.zeros(n_columns)
        self._theta[:n_free] = 1.0 / (ratio[self._units] + ratio[self._complements])
        self._W = d + self._theta * c * c
        self._of_alpha = self._A @ w - self._q + z[n_cuts] - z[:n_cuts]
        self._of_c = alpha @ self._A - c
        self._of_w = d * c - w
        self._of_d = 0.5 * c * c - level
        self._of_d[:n_free] += z[self._units] - z[self._complements]
        self._of_budget = float(d[:n_free].sum()) - self._budget if n_free else 0.0
        self._of_cap = float(alpha.sum()) + x[n_cuts] - self._cap
        self._factorise(ratio)
        return self._step(-x * z, self._of_w, self._of_d)

    def corrected(self, target: float, affine: Iterate, weight: float) -> Iterate:
        """The step towards products of ``target``; see ``KKTSystem.corrected``."""
        (x, z), (dx, dz) = self._point.values, affine.values
        total = float(x @ z)
        if self._imbalance() > total:
            # Products that fall before alpha balances would leave it no room to.
            target = max(target, total / x.size)
        d_c = affine.free[1 + self._columns.size :]
        of_w, of_d = self._of_w.copy(), self._of_d + 0.5 * weight * d_c * d_c
        of_w[: self._n_free] += weight * dx[self._units] * d_c[: self._n_free]
        return self._step(target - x * z - weight * dx * dz, of_w, of_d)

    def _factorise(self, ratio: FloatArray) -> None:
        """The matrix, with rows and columns times powers of two that bring them to one size."""
        K, S = self._n_cuts, self._columns.size
        slack_ratio = 1.0 / ratio[K]
        matrix = np.zeros((K + S + 2, K + S + 2))
        matrix[:K, K : K + S], matrix[:K, -1] = self._A, 1.0
        matrix[K : K + S, -2] = -self._c * self._theta / self._W
        matrix += matrix.T
        of_level = float(np.sum(self._theta * self._d / self._W)) if self._n_free else 1.0
        diagonal = np.concatenate([ratio[:K], -1.0 / self._W, [of_level, -slack_ratio]])
        np.einsum("ii->i", matrix)[:] = diagonal
        self._scales = np.ones(K + S + 2)
        for _ in range(EQUILIBRATIONS):
            exponents = np.frexp(np.abs(matrix).max(axis=1))[1] // 2
            scales = np.ldexp(1.0, -exponents)
            matrix *= scales
            matrix *= scales[:, None]
            self._scales *= scales
        self._matrix = matrix
        if not np.all(np.isfinite(matrix)):
            raise LinAlgError("the Newton matrix is not finite")
        self._factor, self._pivots, failed = dgetrf(matrix)
        if failed:
            raise LinAlgError("the Newton matrix is singular")

    def _solve(self, side: FloatArray) -> FloatArray:
        side = side * self._scales
        found = dgetrs(self._factor, self._pivots, side)[0]
        for _ in range(REFINEMENTS):
            found += dgetrs(self._factor, self._pivots, side - self._matrix @ found)[0]
        return found * self._scales

    def _step(self, goal: FloatArray, of_w: FloatArray, of_d: FloatArray) -> Iterate:
        """The step that changes the products ``x z`` by ``goal`` and takes the residuals away."""
        x, z = self._point.values
        K, S, n_free = self._n_cuts, self._columns.size, self._n_free
        wanted, c, theta, W = goal / x, self._c, self._theta, self._W
        unbalance = of_d.copy()
        unbalance[:n_free] += wanted[self._units] - wanted[self._complements]
        pull = of_w + c * theta * unbalance
        level_side = 0.0
        if n_free:
            level_side = self._of_budget + float(
                np.sum(theta * (unbalance * self._d - c * of_w) / W)
            )
        tail = [level_side, -self._of_cap - float(goal[K] / z[K])]
        side = np.concatenate([wanted[:K] - self._of_alpha, -self._of_c - pull / W, tail])
        found = self._solve(side)
        d_w, d_level = found[K : K + S], found[-2]
        d_c = (d_w - pull + c * theta * d_level) / W
        d_d = (theta * (c * d_c - d_level + unbalance))[:n_free]
        d_slack = -self._of_cap - float(found[:K].sum())
        dx = np.concatenate([found[:K], [d_slack], d_d, -d_d])
        dz = wanted - z * dx / x
        dz[K] = found[-1]
        return Iterate(np.stack([dx, dz]), np.concatenate([[d_level], d_w, d_c]))

    def _imbalance(self) -> float:
        """What the residual of ``A^T alpha - c`` costs the dual value, beyond its rounding."""
        known = np.abs(self._of_c) - ROUNDED_OFF * self._rounding_of_c()
        return 0.5 * self._norm.dual_squared(np.maximum(0.0, known))

    def _rounding_of_c(self) -> FloatArray:
        """``eps |A|^T alpha``."""
        alpha = self._point.values[0, : self._n_cuts]
        return np.finfo(float).eps * (alpha @ np.abs(self._A))

    def rounding(self) -> float:
        """What double precision cannot settle of the gap near the last point, in scaled units.

        ``A^T alpha`` is known to ``eps |A|^T alpha``, and where alpha has to balance on a column
        that much of it is left: the dual value loses half its square. The risk is known to
        ``eps (|A| |w| + q)``.
        """
        w = self._point.free[1 : 1 + self._columns.size]
        risk = np.finfo(float).eps * float(np.max(np.abs(self._A) @ np.abs(w) + self._q))
        return 0.5 * self._norm.dual_squared(self._rounding_of_c()) + self._cap * risk

    def solution(self, n_steps: int) -> MasterSolution:
        """The best points, as the caller sees them."""
        problem = self._problem
        w = np.zeros(problem.cuts.shape[1])
        w[self._columns] = (self._root * self._loss_scale) * self._w
        alpha = problem.feasible(self._alpha_scale * self._alpha)
        return MasterSolution(w, alpha, problem.primal(w), problem.dual(alpha), n_steps)
