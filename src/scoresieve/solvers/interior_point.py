"""A primal-dual interior-point method that knows the master problem's structure.

    min_{alpha >= 0, sum alpha <= C}  max_{d in D}   1/2 alpha^T G alpha
                                     + 1/2 sum_u d_u ||c_u||^2 - <q, alpha> ,   c = A^T alpha

with one weight d_u a unit (a column, or a group of columns), D = {0 <= d <= 1, sum d = B}, and G
the Gram matrix of the cuts on the columns that are always in. Convex in alpha, linear in d.

Optimality, with multipliers z of alpha >= 0, tau of the cap, u and v of 0 <= d <= 1, and the
level lambda of the budget:

    A (d * c) + G alpha - q + tau 1 - z = 0 ,     1/2 ||c_u||^2 - lambda + u - v = 0 ,
    sum d = B ,   alpha z = 0 ,   tau (C - sum alpha) = 0 ,   d u = 0 ,   (1 - d) v = 0

A Newton step eliminates everything diagonal and leaves one Cholesky factorisation, of the number of
cuts or of columns, and a 2 x 2 system in (d lambda, d tau): ``newton_system``. Mehrotra's predictor
and corrector; the corrector also takes the second-order terms of the two residuals that are not
linear.

Tau is the risk's level and w = d * c the weights, so that every iterate gives a primal and a dual
value of the master; the method stops at their relative gap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scoresieve.solvers.master import MasterProblem, MasterSolution
from scoresieve.solvers.newton_system import NewtonSystem
from scoresieve.solvers.scaled_master import BestBounds, Evaluation, Point, ScaledMaster

FloatArray = NDArray[np.float64]

MAX_STEPS = 100
#: Share of the way to the boundary that a step goes.
STEP_FRACTION = 0.99
#: Share of the uniform point that is mixed into a warm start, to stay away from the boundary.
RECENTRE = 0.1
#: Products of the bounds of d at the start, in units of the budget's share of the columns' mean
#: strength: by the number of steps on the benchmark's problems.
START_PRODUCT = 1.0
#: Below these a predictor's or a corrector's step is short: then the corrector is a careful one.
SHORT_REACH, SHORT_STEP = 0.2, 0.1
#: From this distance on the cap's multiplier starts smaller, so that their product does not dwarf
#: those of all other pairs.
FAR_CAP = 100.0


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
    best, n_steps = _iterate(ScaledMaster.of(problem, alpha_scale), direction, tol)
    return best.solution(problem, n_steps)


def _iterate(data: ScaledMaster, direction: FloatArray, tol: float) -> tuple[BestBounds, int]:
    """Newton steps until the relative gap, or until they lead nowhere; the best, and how many."""
    point, best, system = _starting_point(data, direction), BestBounds(data), NewtonSystem(data)
    for n_steps in range(MAX_STEPS + 1):
        state = Evaluation(data, point)
        best.update(state)
        gap = best.relative_gap
        if gap <= tol or best.stalled or n_steps == MAX_STEPS:
            break
        # Near the end, products below this no longer matter and make the Newton matrix worse.
        least_product = 0.1 * tol * best.primal / point.values.shape[1] if gap <= 100 * tol else 0.0
        moved = _newton_step(system, state, least_product)
        if moved is None:
            break
        point = moved
    return best, n_steps


def _normalised(n_cuts: int, start: FloatArray | None) -> FloatArray:
    """The weights of the start with sum 1, or equal ones."""
    total = 0.0 if start is None else float(start.sum())
    return np.full(n_cuts, 1.0 / n_cuts) if total <= 0.0 else start / total


def _starting_direction(n_cuts: int, start: FloatArray | None) -> FloatArray:
    """Weights with sum 1: those of the start, with equal ones mixed in."""
    return (1 - RECENTRE) * _normalised(n_cuts, start) + RECENTRE / n_cuts


def _starting_point(data: ScaledMaster, direction: FloatArray) -> Point:
    """A point inside every bound, with alpha along ``direction``."""
    n_units = data.n_units
    alpha = direction * (0.9 * min(1.0, data.cap))
    c = alpha.dot(data.A)
    share = data.budget / max(n_units, 1)
    level = 0.5 * float(data.unit_sums(c * c).mean()) if n_units else 0.0
    outputs = data.A.dot(share * c)
    if data.gram is not None:
        outputs += data.gram.dot(alpha)
    slack = data.cap - float(alpha.sum())
    tau = max(0.1, float((data.q - outputs).max())) / max(1.0, slack / FAR_CAP)
    size = START_PRODUCT * max(level, 1e-3) * share
    values = np.empty((2, alpha.size + 1 + 2 * n_units))
    x, z = values
    x[: alpha.size], x[alpha.size] = alpha, slack
    x[data.units], x[data.complements] = share, 1.0 - share
    np.maximum(0.1, outputs - data.q + tau, out=z[: alpha.size])
    z[alpha.size] = tau
    z[alpha.size + 1 :] = size / x[alpha.size + 1 :]
    return Point(values, level)


def _newton_step(system: NewtonSystem, state: Evaluation, least_product: float) -> Point | None:
    """One predictor-corrector step; None if it cannot move."""
    point = state.point
    affine = system.linearise(state)
    reach = point.longest_step(affine)
    total = float(point.values[0].dot(point.values[1]))
    # The affine step's first-order terms cancel the products, x dz + z dx = -x z.
    left = (1.0 - reach) * total + reach * reach * float(affine.values[0].dot(affine.values[1]))
    mu = total / point.values.shape[1]
    target = max((max(left, 0.0) / total) ** 3 * mu, min(mu, least_product))
    # Second-order terms of a direction that can hardly be followed mislead: then they are weighted
    # by how far it can. Without this the method cycled on a few problems.
    weight = 1.0 if reach >= SHORT_REACH else reach
    direction = system.corrected(target, affine, weight)
    step = point.longest_step(direction)
    if step < SHORT_STEP and weight == 1.0:
        careful = system.corrected(target, affine, weight=reach * reach)
        careful_step = point.longest_step(careful)
        if careful_step > step:
            direction, step = careful, careful_step
    step *= STEP_FRACTION
    if not np.isfinite(step) or step < 1e-10:
        return None
    return point.moved(direction, step)
