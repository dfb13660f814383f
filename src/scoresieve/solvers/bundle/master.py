"""The restricted master problem, solved by a method that knows its structure.

Tried first are Mehrotra's steps on the optimality conditions of :mod:`.kkt`: one Cholesky
factorisation a step, of the number of cuts or of columns. Where these fail, because the sizes of
the columns or C are many orders apart, those of :mod:`.graded` follow. The conic solver takes over
when they fail, too, and not for want of digits, which is logged.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray
from scoresieve.solvers.bundle.capped import with_smaller_columns
from scoresieve.solvers.bundle.graded import GradedKKT
from scoresieve.solvers.bundle.kkt import MasterKKT
from scoresieve.solvers.bundle.scaled import MasterProblem, MasterSolution, ScaledMaster
from scoresieve.solvers.conic import solve_master_conic
from scoresieve.solvers.interior.predictor_corrector import Iterate, predictor_corrector

logger = logging.getLogger(__name__)

MAX_STEPS = 100
#: Steps without a smaller gap after which the method has given what it can.
STALL_STEPS = 40
#: Most cuts, columns and units together of the method for columns of unlike sizes: its matrix has a
#: row for each.
GRADED_SIZE = 600
#: Share of the uniform point that is mixed into a warm start, to stay away from the boundary.
RECENTRE = 0.1
#: Share of the cap that the sum of the first alpha takes.
FIRST_SHARE = 0.9
#: The least first multipliers, in units of the losses, which are at most 1.
FIRST_MULTIPLIER = 0.1
#: Products of the bounds of d at the start, in units of the budget's share of the columns' mean
#: strength, and the least strength: by the number of steps on the benchmark's problems.
START_PRODUCT, LEAST_STRENGTH = 1.0, 1e-3
#: From this distance on the cap's multiplier starts smaller, so that their product does not dwarf
#: those of all other pairs.
FAR_CAP = 100.0
#: A cold start's scale of alpha is at most this many times the best multiple of equal weights.
FARTHEST_SCALE = 1e8


def solve_master(
    problem: MasterProblem, *, tol: float = 1e-6, start: FloatArray | None = None
) -> MasterSolution:
    """Solve the master problem to the relative gap ``tol``.

    Parameters
    ----------
    tol : float
        Relative gap at which the interior-point method stops.
    start : ndarray of shape (n_cuts,), optional
        A feasible alpha to start near: the last round's, with zeros for new cuts.

    Returns
    -------
    MasterSolution
        Of an interior-point method if it reached ``tol`` or what double precision allows, else the
        better one of its and the conic solver's.
    """
    # Numbers may overflow where C or X is extreme; such steps are not finite and are refused.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        direction = _normalised(problem.losses.size, start)
        scale = _scale_of_alpha(problem, direction, is_cold=start is None)
        scales = [scale, problem.C] if scale < problem.C else [scale]
        mixed = (1 - RECENTRE) * direction + RECENTRE / direction.size
        solution, reason = _structured(problem, tol, mixed, scales)
        if solution is not None and solution.is_within(tol):
            return solution
        if not problem.losses.max() > 0.0:
            # No cut asks for anything, and without weights there is nothing to pay.
            n_cuts, n_columns = problem.cuts.shape
            return MasterSolution(np.zeros(n_columns), np.zeros(n_cuts), 0.0, 0.0, 0)
        if sum(problem.cuts.shape) + problem.norm.n_units <= GRADED_SIZE:
            solution = _graded(problem, tol, mixed, scales, solution)
            if solution is not None and solution.is_within(tol):
                return solution
            if solution is not None and solution.at_rounding:
                return with_smaller_columns(problem, solution, partial(_by_both_methods, tol=tol))
    return _fall_back(problem, solution, reason)


def _by_both_methods(problem: MasterProblem, *, tol: float) -> MasterSolution | None:
    """The solution from equal weights, first by the method for columns of unlike sizes."""
    direction = _normalised(problem.losses.size, None)
    scale = _scale_of_alpha(problem, direction, is_cold=True)
    scales = [scale, problem.C] if scale < problem.C else [scale]
    solution = _graded(problem, tol, direction, scales, None)
    if solution is not None and solution.is_within(tol):
        return solution
    other, _ = _structured(problem, tol, direction, scales)
    return solution if other is None else other.with_better_of(solution or other)


def _structured(
    problem: MasterProblem, tol: float, direction: FloatArray, scales: list[float]
) -> tuple[MasterSolution | None, str]:
    """The best solution with one of these units of alpha, and what is wrong with it."""
    solution, reason = None, ""
    for alpha_scale in scales:
        data = ScaledMaster.of(problem, alpha_scale)
        try:
            system = MasterKKT(data)
            n_steps = predictor_corrector(
                system,
                _starting_point(data, direction),
                tol=tol,
                max_steps=MAX_STEPS,
                stall_steps=STALL_STEPS,
            )
        except LinAlgError as error:
            reason = str(error)
            continue
        found = _confirmed(problem, system.solution(problem, n_steps), tol)
        if solution is None or abs(found.relative_gap) < abs(solution.relative_gap):
            solution = found
        if solution.is_within(tol):
            break
        reason = f"relative gap {solution.relative_gap:.1e} after {solution.n_steps} steps"
    return solution, reason


def _confirmed(problem: MasterProblem, solution: MasterSolution, tol: float) -> MasterSolution:
    """The solution, with values computed anew if they are not what its points are worth.

    Its own values come from products of columns, and where these are of unlike sizes or C is large
    the digits that matter may be lost.
    """
    primal, dual = problem.primal(solution.w), problem.dual(solution.alpha)
    slack = tol * abs(solution.primal)
    if primal <= solution.primal + slack and dual >= solution.dual - slack:
        return solution
    return replace(solution, primal=primal, dual=dual)


def _graded(
    problem: MasterProblem,
    tol: float,
    direction: FloatArray,
    scales: list[float],
    solution: MasterSolution | None,
) -> MasterSolution | None:
    """The solution with the better points of the method for columns of unlike sizes."""
    for alpha_scale in scales:
        system = GradedKKT(problem, alpha_scale)
        try:
            n_steps = predictor_corrector(
                system,
                system.start(direction),
                tol=tol,
                max_steps=MAX_STEPS,
                stall_steps=STALL_STEPS,
            )
        except LinAlgError as error:
            logger.info("the method for columns of unlike sizes cannot start: %s", error)
            continue
        system.balance()
        found = system.solution(n_steps)
        solution = found if solution is None else found.with_better_of(solution)
        if solution.is_within(tol):
            break
        primal, _ = system.bounds
        if system.rounding() > tol * primal:
            solution = replace(solution, at_rounding=True)
    return solution


def _normalised(n_cuts: int, start: FloatArray | None) -> FloatArray:
    """The weights of the start with sum 1, or equal ones."""
    total = 0.0 if start is None else float(start.sum())
    return np.full(n_cuts, 1.0 / n_cuts) if start is None or total <= 0.0 else start / total


def _scale_of_alpha(problem: MasterProblem, direction: FloatArray, *, is_cold: bool) -> float:
    """The unit of alpha: the best multiple of the start.

    Equal weights know the size of alpha only roughly: it lies between their best multiple and C,
    and the middle is at most half as many orders of magnitude off.
    """
    scale = problem.best_multiple(direction)
    if not is_cold:
        return scale
    return min(float(np.sqrt(scale) * np.sqrt(problem.C)), FARTHEST_SCALE * scale)


def _starting_point(data: ScaledMaster, direction: FloatArray) -> Iterate:
    """A point inside every bound, with alpha along ``direction``."""
    n_units = data.n_units
    alpha = direction * (FIRST_SHARE * min(1.0, data.cap))
    c = alpha.dot(data.A)
    share = data.budget / max(n_units, 1)
    level = 0.5 * float(data.unit_sums(c * c).mean()) if n_units else 0.0
    outputs = data.A.dot(share * c)
    if data.gram is not None:
        outputs += data.gram.dot(alpha)
    slack = data.cap - float(alpha.sum())
    tau = max(FIRST_MULTIPLIER, float((data.q - outputs).max())) / max(1.0, slack / FAR_CAP)
    size = START_PRODUCT * max(level, LEAST_STRENGTH) * share
    values = np.empty((2, alpha.size + 1 + 2 * n_units))
    x, z = values
    x[: alpha.size], x[alpha.size] = alpha, slack
    x[data.units], x[data.complements] = share, 1.0 - share
    np.maximum(FIRST_MULTIPLIER, outputs - data.q + tau, out=z[: alpha.size])
    z[alpha.size] = tau
    z[alpha.size + 1 :] = size / x[alpha.size + 1 :]
    return Iterate(values, np.array((level,)))


def _fall_back(
    problem: MasterProblem, solution: MasterSolution | None, reason: str
) -> MasterSolution:
    """The conic solver's solution, with the points of the interior-point one that are better."""
    logger.warning(
        "the structured master stopped early (%s; %d cuts, %d columns); using the conic solver",
        reason,
        *problem.cuts.shape,
    )
    conic = solve_master_conic(problem)
    if solution is not None:
        conic = conic.with_better_of(solution)
    return replace(conic, fell_back=True)
