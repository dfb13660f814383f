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

from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from scoresieve.solvers.master import MasterProblem, MasterSolution

FloatArray = NDArray[np.float64]

MAX_STEPS = 100
#: Share of the way to the boundary that a step goes.
STEP_FRACTION = 0.99
#: Share of the uniform point that is mixed into a warm start, to stay away from the boundary.
RECENTRE = 0.1
#: Ridges of the Newton matrix to try after none, relative to its largest diagonal entry.
RIDGES = (1e-15, 1e-14, 1e-13, 1e-12, 1e-11)
#: Below this a corrector's step is short enough to try a more careful one.
SHORT_STEP = 0.1
#: From this distance on the cap's multiplier starts smaller, so that their product does not dwarf
#: those of all other pairs.
FAR_CAP = 100.0
#: Steps without a smaller gap after which the method has given what it can.
STALL_STEPS = 40


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
    n_cuts = problem.losses.size
    direction = _starting_direction(n_cuts, start)
    scale = problem.best_multiple(_normalised(n_cuts, start))
    if start is None:
        # Equal weights know the size of alpha only roughly: it lies between their best multiple
        # and C, and the middle is at most half as many orders of magnitude off.
        scale = min(float(np.sqrt(scale) * np.sqrt(problem.C)), 1e8 * scale)
    # Numbers may overflow where C or X is extreme; such steps are not finite and are refused.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        solution = _attempt(problem, scale, direction, tol)
        if not solution.relative_gap <= tol and scale < problem.C:
            again = _attempt(problem, problem.C, direction, tol)
            solution = again if again.relative_gap < solution.relative_gap else solution
    return solution


def _attempt(
    problem: MasterProblem, alpha_scale: float, direction: FloatArray, tol: float
) -> MasterSolution:
    """Solve with alpha in units of ``alpha_scale``."""
    best, n_steps = _iterate(_scaled(problem, alpha_scale), direction, tol)
    return best.solution(problem, n_steps)


def _iterate(data: _Data, direction: FloatArray, tol: float) -> tuple[_Best, int]:
    """Newton steps until the relative gap, or until they lead nowhere; the best, and how many."""
    point, best = _starting_point(data, direction), _Best(data)
    for n_steps in range(MAX_STEPS + 1):
        state = _Evaluation(data, point)
        best.update(state)
        if best.relative_gap <= tol or best.stalled or n_steps == MAX_STEPS:
            break
        # Near the end, products below this no longer matter and make the Newton matrix worse.
        near = best.relative_gap <= 100.0 * tol
        least_product = 0.1 * tol * best.primal / point.x.size if near else 0.0
        moved = _newton_step(data, state, least_product)
        if moved is None:
            break
        point = moved
    return best, n_steps


@dataclass(frozen=True, eq=False)
class _Data:
    """The master in scaled units: ``q`` at most 1, ``alpha`` of the order of 1."""

    A: FloatArray  # (K, S): cuts on the columns of the units; none if the budget covers them all
    unit_of: NDArray[np.int64] | None  # unit of each column of A; None: each column is one
    n_units: int
    budget: int
    gram: FloatArray  # (K, K): Gram matrix on the columns with d = 1 for certain
    q: FloatArray
    cap: float  # bound of sum alpha
    alpha_scale: float
    loss_scale: float

    @property
    def n_cuts(self) -> int:
        return self.q.size

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
        summed = np.zeros((self.n_units, self.n_cuts))
        np.add.at(summed, self.unit_of, (self.A * c).T)
        return summed.T


def _normalised(n_cuts: int, start: FloatArray | None) -> FloatArray:
    """The weights of the start with sum 1, or equal ones."""
    total = 0.0 if start is None else float(start.sum())
    return np.full(n_cuts, 1.0 / n_cuts) if total <= 0.0 else start / total


def _starting_direction(n_cuts: int, start: FloatArray | None) -> FloatArray:
    """Weights with sum 1: those of the start, with equal ones mixed in."""
    return (1 - RECENTRE) * _normalised(n_cuts, start) + RECENTRE / n_cuts


def _scaled(problem: MasterProblem, alpha_scale: float) -> _Data:
    """The data with q at most 1 and alpha in units of ``alpha_scale``.

    The optimum of a large C often has ``sum alpha`` far below C, so the best multiple of the
    starting weights is the first choice of the unit, and C the second.
    """
    free = problem.free_columns
    loss_scale = max(float(problem.losses.max()), np.finfo(float).tiny)
    factor = alpha_scale / loss_scale
    unit_of = problem.norm.unit_of[free]
    return _Data(
        A=problem.cuts[:, free] * np.sqrt(factor),
        unit_of=unit_of if problem.norm.has_groups and unit_of.size else None,
        n_units=problem.norm.n_units if unit_of.size else 0,
        budget=problem.norm.budget,
        gram=problem.fixed_gram() * factor,
        q=problem.losses / loss_scale,
        cap=problem.C / alpha_scale,
        alpha_scale=alpha_scale,
        loss_scale=loss_scale,
    )


@dataclass(frozen=True, eq=False)
class _Point:
    """All positive variables in ``x``, their multipliers in ``z``, and the budget's level.

    ``x = (alpha, cap - sum alpha, d, 1 - d)`` and ``z = (z, tau, u, v)``; or a direction in them.
    """

    x: FloatArray
    z: FloatArray
    level: float

    def moved(self, direction: _Point, step: float) -> _Point:
        """``self + step * direction``."""
        return _Point(
            self.x + step * direction.x,
            self.z + step * direction.z,
            self.level + step * direction.level,
        )

    def longest_step(self, direction: _Point) -> float:
        """Largest step in [0, 1] that keeps every variable non-negative."""
        steepest = min((direction.x / self.x).min(), (direction.z / self.z).min(), -1.0)
        return -1.0 / float(steepest)


def _starting_point(data: _Data, direction: FloatArray) -> _Point:
    """A point inside every bound, with alpha along ``direction``."""
    n_units = data.n_units
    alpha = direction * (0.9 * min(1.0, data.cap))
    c = data.A.T @ alpha
    share = data.budget / max(n_units, 1)
    d = np.full(n_units, share)
    level = 0.5 * float(data.unit_sums(c * c).mean()) if n_units else 0.0
    outputs = data.A @ (data.spread(d) * c) + data.gram @ alpha
    slack = data.cap - float(alpha.sum())
    tau = max(0.1, float(np.max(data.q - outputs))) / max(1.0, slack / FAR_CAP)
    size = 0.1 * max(level, 1e-3) * share
    return _Point(
        x=np.concatenate([alpha, [slack], d, 1.0 - d]),
        z=np.concatenate(
            [np.maximum(0.1, outputs - data.q + tau), [tau], size / d, size / (1.0 - d)]
        ),
        level=level,
    )


class _Evaluation:
    """A point with its parts by name, ``c = A^T alpha``, and ``outputs_k = <a_k, w>``."""

    def __init__(self, data: _Data, point: _Point) -> None:
        self.point, n_cuts, n_units = point, data.n_cuts, data.n_units
        self.alpha, self.slack = point.x[:n_cuts], point.x[n_cuts]
        self.alpha_dual, self.tau = point.z[:n_cuts], point.z[n_cuts]
        self.d = point.x[n_cuts + 1 : n_cuts + 1 + n_units]
        self.complement = point.x[n_cuts + 1 + n_units :]
        self.d_dual = point.z[n_cuts + 1 : n_cuts + 1 + n_units]
        self.complement_dual = point.z[n_cuts + 1 + n_units :]
        self.c = data.A.T @ self.alpha
        self.strengths = data.unit_sums(self.c * self.c)
        self.fixed_outputs = data.gram @ self.alpha
        self.outputs = data.A @ (data.spread(self.d) * self.c) + self.fixed_outputs


class _Best:
    """The best primal and the best dual value over the iterates, in scaled units."""

    def __init__(self, data: _Data) -> None:
        self._data = data
        self.primal, self._dual = np.inf, -np.inf
        self._primal_state = self._dual_state = None
        self._stretch = 1.0
        self._smallest_gap, self._n_without_progress = np.inf, 0

    @property
    def relative_gap(self) -> float:
        return (self.primal - self._dual) / max(abs(self.primal), np.finfo(float).tiny)

    def update(self, state: _Evaluation) -> None:
        """Take the state's primal or dual value if it is the best so far."""
        data = self._data
        fixed = float(state.alpha @ state.fixed_outputs)
        # d serves as the certificate of the norm: sum w^2 / d >= ||w||_B^2, equal at the optimum.
        excess = max(1.0, float(state.d.sum()) / data.budget)
        norm_squared = fixed + float(state.d @ state.strengths) * excess
        for stretch in self._stretches(state.outputs):
            risk = max(0.0, float((data.q - stretch * state.outputs).max()))
            primal = 0.5 * stretch**2 * norm_squared + data.cap * risk
            if primal < self.primal:
                self.primal, self._primal_state, self._stretch = primal, state, stretch
        top = state.strengths
        if data.n_units > data.budget:
            top = np.partition(top, data.n_units - data.budget)[data.n_units - data.budget :]
        dual = float(data.q @ state.alpha) - 0.5 * (fixed + float(top.sum()))
        if dual > self._dual:
            self._dual, self._dual_state = dual, state
        progress = self.primal - self._dual < 0.99 * self._smallest_gap
        self._n_without_progress = 0 if progress else self._n_without_progress + 1
        self._smallest_gap = min(self._smallest_gap, self.primal - self._dual)

    @property
    def stalled(self) -> bool:
        return self._n_without_progress >= STALL_STEPS

    def _stretches(self, outputs: FloatArray) -> list[float]:
        """Multiples of w to try: itself, and the one that just satisfies every cut.

        A large C turns rounding errors of the risk into large terms. Where the cuts can be
        satisfied, a tiny stretch of w leaves no risk at all.
        """
        q = self._data.q
        if (outputs <= 0.1 * q).any():
            return [1.0]
        return [1.0, float((q / outputs).max()) * (1.0 + 1e-12)]

    def solution(self, problem: MasterProblem, n_steps: int) -> MasterSolution:
        """The best points, as the caller sees them."""
        data, unit = self._data, self._data.alpha_scale * self._data.loss_scale
        w = problem.cuts.T @ (data.alpha_scale * self._stretch * self._primal_state.alpha)
        w[problem.free_columns] *= data.spread(self._primal_state.d)
        w[problem.norm.excluded] = 0.0
        alpha = data.alpha_scale * self._dual_state.alpha
        return MasterSolution(w, alpha, self.primal * unit, self._dual * unit, n_steps)


def _newton_step(data: _Data, state: _Evaluation, least_product: float) -> _Point | None:
    """One predictor-corrector step; None if it cannot move."""
    point, system = state.point, _NewtonSystem(data, state)
    affine = system.direction(0.0)
    reach = point.longest_step(affine)
    predicted = point.moved(affine, reach)
    mu = float(point.x @ point.z) / point.x.size
    centring = (max(float(predicted.x @ predicted.z), 0.0) / (mu * point.x.size)) ** 3
    target = max(centring * mu, min(mu, least_product))
    direction = system.direction(target, second_order=affine)
    step = point.longest_step(direction)
    if step < SHORT_STEP:
        # Second-order terms of a direction that can hardly be followed mislead: then they are
        # weighted by how far it can. Without this the method cycled on a few problems.
        careful = system.direction(target, second_order=affine, weight=reach * reach)
        careful_step = point.longest_step(careful)
        if careful_step > step:
            direction, step = careful, careful_step
    step *= STEP_FRACTION
    if not np.isfinite(step) or step < 1e-10:
        return None
    return point.moved(direction, step)


def _cholesky(matrix: FloatArray) -> FloatArray:
    """The lower factor, with a relative ridge only where rounding makes it necessary.

    A ridge perturbs the step in directions that the cuts leave free (duplicate or opposite cuts),
    so none is added unless the factorisation fails without it. The matrix is overwritten: LAPACK
    uses its lower triangle, whose transpose keeps what a second attempt needs.
    """
    diagonal = np.einsum("ii->i", matrix)
    kept, size = diagonal.copy(), float(diagonal.max())
    for ridge in RIDGES:
        # A symmetric matrix is its own transpose, and the transposed view needs no copy.
        factor, failed = dpotrf(matrix.T, lower=True, overwrite_a=True, clean=False)
        if not failed:
            return factor
        matrix[:] = np.tril(matrix, -1) + np.tril(matrix, -1).T
        diagonal[:] = kept + ridge * size
    raise LinAlgError("the Newton matrix is not positive definite")


class _NewtonSystem:
    """The linearised optimality conditions at a point, factorised once, solved for two sides."""

    def __init__(self, data: _Data, state: _Evaluation) -> None:
        self.data, self.state = data, state
        self.residual_alpha = state.outputs - data.q + state.tau - state.alpha_dual
        pressure = state.d_dual - state.complement_dual - state.point.level
        self.residual_d = 0.5 * state.strengths + pressure
        self.residual_budget = data.budget - float(state.d.sum())
        self.curvature = state.d_dual / state.d + state.complement_dual / state.complement
        self._factorise()

    def _factorise(self) -> None:
        """``A diag(d) A^T + A_c diag(1/curvature) A_c^T + G + diag(z/alpha)``, A_c = A diag(c)."""
        data, state = self.data, self.state
        if data.unit_of is None:
            scaled = data.A * np.sqrt(state.d + state.strengths / self.curvature)
            matrix = scaled @ scaled.T + data.gram
        else:
            scaled = data.A * np.sqrt(data.spread(state.d))
            coupled = data.couple(state.c) / np.sqrt(self.curvature)
            matrix = scaled @ scaled.T + coupled @ coupled.T + data.gram
        np.einsum("ii->i", matrix)[:] += state.alpha_dual / state.alpha
        self.factor = _cholesky(matrix)
        self.push = data.A @ (state.c * data.spread(1.0 / self.curvature))
        sides = np.array([self.push, np.ones(data.n_cuts)]).T
        self.solved_push, self.solved_ones = self._solve(sides).T
        self.small = (
            self.push @ self.solved_push - np.sum(1.0 / self.curvature),
            -(self.push @ self.solved_ones),
            self.solved_push.sum(),
            -self.solved_ones.sum() - state.slack / state.tau,
        )

    def _solve(self, side: FloatArray) -> FloatArray:
        return dpotrs(self.factor, side, lower=True)[0]

    def direction(
        self, target: float, second_order: _Point | None = None, weight: float = 1.0
    ) -> _Point:
        """The step towards complementarity products of ``target``."""
        data, state = self.data, self.state
        n_cuts, n_units = data.n_cuts, data.n_units
        x, z = state.point.x, state.point.z
        goal = target - x * z
        residual_alpha, residual_d = self.residual_alpha, self.residual_d
        if second_order is not None:
            goal -= weight * (second_order.x * second_order.z)
            d_c = data.A.T @ second_order.x[:n_cuts]
            d_d = second_order.x[n_cuts + 1 : n_cuts + 1 + n_units]
            residual_alpha = residual_alpha + weight * (data.A @ (data.spread(d_d) * d_c))
            residual_d = residual_d + (0.5 * weight) * data.unit_sums(d_c * d_c)
        wanted = goal / x
        pull = (
            residual_d + wanted[n_cuts + 1 : n_cuts + 1 + n_units] - wanted[n_cuts + 1 + n_units :]
        )
        pulled = pull / self.curvature
        side = wanted[:n_cuts] - residual_alpha - data.A @ (state.c * data.spread(pulled))
        solved = self._solve(side)
        d_level, d_tau = self._small_solution(solved, float(pulled.sum()), float(goal[n_cuts]))
        d_alpha = solved + self.solved_push * d_level - self.solved_ones * d_tau
        moved = data.unit_sums(state.c * (data.A.T @ d_alpha))
        d_d = (moved - d_level + pull) / self.curvature
        dx = np.concatenate([d_alpha, [-d_alpha.sum()], d_d, -d_d])
        dz = wanted - z * dx / x
        dz[n_cuts] = d_tau
        return _Point(dx, dz, d_level)

    def _small_solution(
        self, solved: FloatArray, pulled: float, goal_slack: float
    ) -> tuple[float, float]:
        """The steps of the budget's level and of the cap's multiplier."""
        a, b, c, d = self.small
        cap_side = -goal_slack / self.state.tau - solved.sum()
        if self.data.n_units == 0:
            return 0.0, float(cap_side / d)
        budget_side = self.residual_budget - pulled - self.push @ solved
        determinant = a * d - b * c
        if determinant == 0.0 or not np.isfinite(determinant):
            raise LinAlgError("the bordered Newton system is singular")
        return (
            float((budget_side * d - b * cap_side) / determinant),
            float((a * cap_side - c * budget_side) / determinant),
        )
