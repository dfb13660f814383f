"""A primal-dual interior-point method that knows the master problem's structure.

    min_{alpha >= 0, sum alpha <= C}  max_{d in D}   1/2 alpha^T G alpha
                                     + 1/2 sum_u d_u ||c_u||^2 - <q, alpha> ,   c = A^T alpha

with one weight d_u a unit (a column, or a group of columns), D = {0 <= d <= 1, sum d = B}, and G
the Gram matrix of the cuts on the columns that are always in. Convex in alpha, linear in d.

Optimality, with multipliers z of alpha >= 0, tau of the cap, u and v of 0 <= d <= 1, and the
level lambda of the budget:

    A (d * c) + G alpha - q + tau 1 - z = 0 ,     1/2 ||c_u||^2 - lambda + u - v = 0 ,
    sum d = B ,   alpha z = 0 ,   tau (C - sum alpha) = 0 ,   d u = 0 ,   (1 - d) v = 0

A Newton step eliminates everything diagonal and leaves one K x K Cholesky factorisation and a
2 x 2 system in (d lambda, d tau). Mehrotra's predictor and corrector; the corrector also takes the
second-order terms of the two residuals that are not linear.

Tau is the risk's level and w = d * c the weights, so that every iterate gives a primal and a dual
value of the master; the method stops at their relative gap.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from scoresieve.solvers.master import MasterProblem, MasterSolution

FloatArray = NDArray[np.float64]

MAX_STEPS = 100
#: Share of the way to the boundary that a step goes.
STEP_FRACTION = 0.99
#: Share of the uniform point that is mixed into a warm start, to stay away from the boundary.
RECENTRE = 0.1


@dataclass(frozen=True, eq=False)
class _Data:
    """The master in scaled units: ``q`` at most 1, ``alpha`` of the order of 1."""

    A: FloatArray  # (K, S): cuts on the columns of the units
    unit_of: NDArray[np.int64] | None  # unit of each column; None: each column is one
    n_units: int
    budget: int
    gram: FloatArray  # (K, K): Gram matrix on the columns that are always in
    q: FloatArray
    cap: float  # bound of sum alpha

    def unit_sums(self, x: FloatArray) -> FloatArray:
        """Sum over the columns of each unit."""
        if self.unit_of is None:
            return x
        return np.bincount(self.unit_of, weights=x, minlength=self.n_units)

    def spread(self, per_unit: FloatArray) -> FloatArray:
        """The value of each column's unit."""
        return per_unit if self.unit_of is None else per_unit[self.unit_of]

    def couple(self, c: FloatArray) -> FloatArray:
        """``A diag(c)`` summed over the columns of each unit, of shape (K, n_units)."""
        coupled = self.A * c
        if self.unit_of is None:
            return coupled
        summed = np.zeros((self.A.shape[0], self.n_units))
        np.add.at(summed.T, self.unit_of, coupled.T)
        return summed


@dataclass(frozen=True, eq=False)
class _Point:
    """The variables, or a direction in them. Every part but ``level`` stays positive."""

    alpha: FloatArray
    alpha_dual: FloatArray  # z
    slack: float  # cap - sum alpha
    slack_dual: float  # tau
    d: FloatArray
    complement: FloatArray  # 1 - d
    d_dual: FloatArray  # u
    complement_dual: FloatArray  # v
    level: float  # lambda

    def moved(self, direction: _Point, step: float) -> _Point:
        """``self + step * direction``."""
        return _Point(
            *(getattr(self, f.name) + step * getattr(direction, f.name) for f in fields(self))
        )

    def pairs(self) -> tuple[tuple, ...]:
        """The complementary pairs."""
        return (
            (self.alpha, self.alpha_dual),
            (np.atleast_1d(self.slack), np.atleast_1d(self.slack_dual)),
            (self.d, self.d_dual),
            (self.complement, self.complement_dual),
        )

    def complementarity(self) -> float:
        """Mean product of the complementary pairs (mu)."""
        products = sum(float(a @ b) for a, b in self.pairs())
        return products / sum(a.size for a, _ in self.pairs())

    def longest_step(self, direction: _Point) -> float:
        """Largest step in [0, 1] that keeps every pair non-negative."""
        steepest = 1.0
        for mine, moves in zip(self.pairs(), direction.pairs(), strict=True):
            for value, move in zip(mine, moves, strict=True):
                if value.size:
                    steepest = max(steepest, float(np.max(-move / value)))
        return 1.0 / steepest


def solve_interior_point(
    problem: MasterProblem, *, tol: float = 1e-6, start: FloatArray | None = None
) -> MasterSolution:
    """Solve the master problem to the relative gap ``tol``, in at most ``MAX_STEPS`` steps.

    Parameters
    ----------
    problem : MasterProblem
    tol : float
        Relative gap of the master's own primal and dual values.
    start : ndarray of shape (n_cuts,), optional
        A feasible alpha to start near.

    Returns
    -------
    MasterSolution
        The best primal and the best dual point seen; check ``relative_gap``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the Newton system cannot be factorised.
    """
    data, alpha_scale = _scaled(problem, start)
    point = _starting_point(data, None if start is None else start / alpha_scale)
    best = _Best(problem, data, alpha_scale)
    n_steps = 0
    while True:
        best.update(point)
        if best.relative_gap <= tol or n_steps == MAX_STEPS:
            return best.solution(n_steps)
        moved = _newton_step(data, point)
        if moved is None:
            return best.solution(n_steps)
        point = moved
        n_steps += 1


def _scaled(problem: MasterProblem, start: FloatArray | None) -> tuple[_Data, float]:
    """Scaled data and the size of alpha: that of the start, or the best multiple of equal weights.

    The optimum of a large C often has ``sum alpha`` far below C, so C itself is no good scale.
    """
    unit_of, cuts = problem.norm.unit_of, problem.cuts
    n_cuts, n_units, budget = cuts.shape[0], problem.norm.n_units, problem.norm.budget
    # A budget that covers every unit leaves nothing to choose: a plain quadratic programme.
    fixed = unit_of >= -1 if n_units <= budget else unit_of == -1
    free = (unit_of >= 0) & ~fixed
    A, gram = cuts[:, free], cuts[:, fixed] @ cuts[:, fixed].T
    loss_scale = max(float(problem.losses.max()), np.finfo(float).tiny)
    if start is not None and start.sum() > 0:
        alpha_scale = float(start.sum())
    else:
        equal = np.full(n_cuts, 1.0 / n_cuts)
        curvature = problem.norm.dual_squared(cuts.T @ equal)
        gain = float(problem.losses @ equal)
        unbounded = curvature * problem.C <= gain
        alpha_scale = problem.C if unbounded else max(gain / curvature, 1e-12 * problem.C)
    factor = alpha_scale / loss_scale
    grouped = problem.norm.has_groups and bool(free.any())
    data = _Data(
        A=A * np.sqrt(factor),
        unit_of=unit_of[free] if grouped else None,
        n_units=n_units if free.any() else 0,
        budget=budget,
        gram=gram * factor,
        q=problem.losses / loss_scale,
        cap=problem.C / alpha_scale,
    )
    return data, alpha_scale


def _starting_point(data: _Data, start: FloatArray | None) -> _Point:
    """A point inside every bound, near ``start`` if there is one."""
    n_cuts = data.q.size
    uniform = np.full(n_cuts, 1.0 / n_cuts)
    alpha = uniform if start is None else (1 - RECENTRE) * start + RECENTRE * uniform
    alpha = alpha * (0.9 * min(1.0, data.cap) / alpha.sum())
    c = data.A.T @ alpha
    strengths = 0.5 * data.unit_sums(c * c)
    d = np.full(data.n_units, data.budget / max(data.n_units, 1))
    level = float(strengths.mean()) if data.n_units else 0.0
    outputs = data.A @ (data.spread(d) * c) + data.gram @ alpha
    tau = max(0.1, float(np.max(data.q - outputs)))
    size = 0.1 * max(level, 1e-3) * (data.budget / max(data.n_units, 1))
    return _Point(
        alpha=alpha,
        alpha_dual=np.maximum(0.1, outputs - data.q + tau),
        slack=data.cap - float(alpha.sum()),
        slack_dual=tau,
        d=d,
        complement=1.0 - d,
        d_dual=size / d,
        complement_dual=size / (1.0 - d),
        level=level,
    )


class _Best:
    """The best primal and the best dual value over the iterates, in the user's units."""

    def __init__(self, problem: MasterProblem, data: _Data, alpha_scale: float) -> None:
        self._problem, self._data, self._alpha_scale = problem, data, alpha_scale
        self._fixed = problem.norm.unit_of == -1
        self._primal, self._dual = np.inf, -np.inf
        self._w = self._alpha = np.zeros(0)

    @property
    def relative_gap(self) -> float:
        return (self._primal - self._dual) / max(abs(self._primal), np.finfo(float).tiny)

    def update(self, point: _Point) -> None:
        """Take the point's primal or dual value if it is the best so far."""
        problem = self._problem
        alpha = self._alpha_scale * point.alpha
        c = problem.cuts.T @ alpha
        weights = self._column_weights(point)
        w = weights * c
        # d serves as the certificate of the norm: sum w^2 / d >= ||w||_B^2, equal at the optimum.
        total = float(point.d.sum())
        shrink = min(1.0, self._data.budget / total) if self._data.n_units else 1.0
        norm_squared = float(w @ c) / shrink
        risk = max(0.0, float(np.max(problem.losses - problem.cuts @ w)))
        primal = 0.5 * norm_squared + problem.C * risk
        dual = float(problem.losses @ alpha) - 0.5 * problem.norm.dual_squared(c)
        if primal < self._primal:
            self._primal, self._w = primal, w
        if dual > self._dual:
            self._dual, self._alpha = dual, alpha

    def _column_weights(self, point: _Point) -> FloatArray:
        unit_of = self._problem.norm.unit_of
        if self._data.n_units == 0:
            return (unit_of >= -1).astype(np.float64)
        weights = self._fixed.astype(np.float64)
        free = unit_of >= 0
        weights[free] = point.d[unit_of[free]]
        return weights

    def solution(self, n_steps: int) -> MasterSolution:
        """The best points, as the caller sees them."""
        return MasterSolution(self._w, self._alpha, self._primal, self._dual, n_steps)


def _newton_step(data: _Data, point: _Point) -> _Point | None:
    """One predictor-corrector step; None if it cannot move."""
    system = _NewtonSystem(data, point)
    affine = system.direction(target=0.0)
    mu = point.complementarity()
    mu_affine = point.moved(affine, point.longest_step(affine)).complementarity()
    centring = (max(mu_affine, 0.0) / mu) ** 3
    direction = system.direction(target=centring * mu, second_order=affine)
    step = STEP_FRACTION * point.longest_step(direction)
    if not np.isfinite(step) or step < 1e-10:
        return None
    return point.moved(direction, step)


class _NewtonSystem:
    """The linearised optimality conditions at a point, factorised once, solved for two sides."""

    def __init__(self, data: _Data, point: _Point) -> None:
        self.data, self.point = data, point
        self.c = data.A.T @ point.alpha
        outputs = data.A @ (data.spread(point.d) * self.c) + data.gram @ point.alpha
        self.residual_alpha = outputs - data.q + point.slack_dual - point.alpha_dual
        self.residual_d = (
            0.5 * data.unit_sums(self.c * self.c)
            - point.level
            + point.d_dual
            - point.complement_dual
        )
        self.residual_budget = data.budget - float(point.d.sum())
        self.curvature = point.d_dual / point.d + point.complement_dual / point.complement
        self._factorise()

    def _factorise(self) -> None:
        """``A diag(d) A^T + A_c diag(1/curvature) A_c^T + G + diag(z/alpha)``."""
        data, point = self.data, self.point
        if data.unit_of is None:
            scaled = data.A * np.sqrt(point.d + self.c * self.c / self.curvature)
            matrix = scaled @ scaled.T + data.gram
            self.push = data.A @ (self.c / self.curvature)
        else:
            self.coupled = data.couple(self.c)
            scaled = data.A * np.sqrt(data.spread(point.d))
            coupled = self.coupled / np.sqrt(self.curvature)
            matrix = scaled @ scaled.T + coupled @ coupled.T + data.gram
            self.push = self.coupled @ (1.0 / self.curvature)
        diagonal = np.einsum("ii->i", matrix)
        # The relative ridge keeps duplicate cuts apart; it perturbs the step, not the optimum.
        diagonal += point.alpha_dual / point.alpha + 1e-13 * diagonal.max()
        self.factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        sides = np.column_stack([self.push, np.ones_like(self.push)])
        self.solved_push, self.solved_ones = self._solve(sides).T
        self.small = np.array(
            [
                [self.push @ self.solved_push - np.sum(1.0 / self.curvature), 0.0],
                [self.solved_push.sum(), 0.0],
            ]
        )
        self.small[:, 1] = (
            -(self.push @ self.solved_ones),
            -self.solved_ones.sum() - point.slack / point.slack_dual,
        )

    def _solve(self, side: FloatArray) -> FloatArray:
        return cho_solve(self.factor, side, check_finite=False)

    def direction(self, *, target: float, second_order: _Point | None = None) -> _Point:
        """The step towards complementarity products of ``target``."""
        data, point = self.data, self.point
        goal_alpha, goal_slack, goal_d, goal_complement = self._goals(target, second_order)
        residual_alpha, residual_d = self.residual_alpha, self.residual_d
        if second_order is not None:
            dc = data.A.T @ second_order.alpha
            residual_alpha = residual_alpha + data.A @ (data.spread(second_order.d) * dc)
            residual_d = residual_d + 0.5 * data.unit_sums(dc * dc)
        pull = residual_d + goal_d / point.d - goal_complement / point.complement
        pulled = pull / self.curvature
        side = goal_alpha / point.alpha - residual_alpha - data.A @ (self.c * data.spread(pulled))
        solved = self._solve(side)
        d_level, d_tau = self._small_solution(solved, pulled, goal_slack)
        d_alpha = solved + self.solved_push * d_level - self.solved_ones * d_tau
        d_c = data.A.T @ d_alpha
        d_d = (data.unit_sums(self.c * d_c) - d_level + pull) / self.curvature
        return _Point(
            alpha=d_alpha,
            alpha_dual=(goal_alpha - point.alpha_dual * d_alpha) / point.alpha,
            slack=-float(d_alpha.sum()),
            slack_dual=d_tau,
            d=d_d,
            complement=-d_d,
            d_dual=(goal_d - point.d_dual * d_d) / point.d,
            complement_dual=(goal_complement + point.complement_dual * d_d) / point.complement,
            level=d_level,
        )

    def _goals(self, target: float, second_order: _Point | None) -> list:
        """Wanted change of each complementarity product."""
        goals = [target - a * b for a, b in self.point.pairs()]
        if second_order is not None:
            moves = second_order.pairs()
            goals = [goal - a * b for goal, (a, b) in zip(goals, moves, strict=True)]
        goals[1] = float(goals[1][0])
        return goals

    def _small_solution(
        self, solved: FloatArray, pulled: FloatArray, goal_slack: float
    ) -> tuple[float, float]:
        """The steps of the budget's level and of the cap's multiplier."""
        cap_side = -goal_slack / self.point.slack_dual - solved.sum()
        if self.data.n_units == 0:
            return 0.0, float(cap_side / self.small[1, 1])
        budget_side = self.residual_budget - pulled.sum() - self.push @ solved
        d_level, d_tau = np.linalg.solve(self.small, np.array([budget_side, cap_side]))
        return float(d_level), float(d_tau)
