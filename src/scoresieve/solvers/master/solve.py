"""The restricted master problem, solved by a method that knows its structure.

Mehrotra's steps on the optimality conditions of :mod:`.kkt` need one Cholesky factorisation each,
of the number of cuts or of columns. Where they fail because the sizes of the columns are many
orders apart, they are taken again on columns that are equilibrated, see
:mod:`scoresieve.solvers.ill_scaled`. The conic solver takes over when that fails, which is logged.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray
from scoresieve.solvers.ill_scaled import (
    Equilibration,
    near_balance,
    shares_of_rows,
)
from scoresieve.solvers.interior import Iterate, predictor_corrector
from scoresieve.solvers.master.conic import solve_master_conic
from scoresieve.solvers.master.kkt import MasterKKT
from scoresieve.solvers.master.problem import MasterProblem, MasterSolution, ScaledMaster, combined

logger = logging.getLogger(__name__)

MAX_STEPS = 100
#: Steps without a smaller gap after which the method ends.
STALL_STEPS = 40
#: Share of the uniform point that is mixed into a warm start, to stay away from the boundary; and
#: into the last alpha where only the factors of the columns change.
RECENTRE, RECENTRE_SCALED = 0.1, 1e-4
#: The coarsest relative gap of masters with equilibrated columns: other things widen it.
COARSEST_SCALED = 1e-4
#: Share of the cap that the sum of the first alpha takes.
FIRST_SHARE = 0.9
#: The least first multipliers, as a share of the largest loss.
FIRST_MULTIPLIER = 0.1
#: Products of the bounds of d at the start, as a multiple of the budget's share of the columns'
#: mean strength, and the least strength: by the number of steps on the benchmark's problems.
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
        scales = _scales_of_alpha(problem, direction, is_cold=start is None)
        mixed = (1 - RECENTRE) * direction + RECENTRE / direction.size
        solution, reason = _structured(problem, tol, mixed, scales)
        if solution is not None and solution.is_within(tol):
            return solution
        solution = _better_than_nothing(problem, solution)
        if problem.losses.max() > 0.0:
            solution = _equilibrated(problem, tol, solution)
    if solution.is_within(tol) or solution.at_rounding:
        return solution
    return _fall_back(problem, solution, reason)


def _structured(
    problem: MasterProblem, tol: float, direction: FloatArray, scales: list[float]
) -> tuple[MasterSolution | None, str]:
    """The best solution with one of these scales of alpha, and its fault."""
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

    Its own values come from products of columns, and where these are ill-scaled or C is large
    the digits that matter may be lost.
    """
    primal, dual = problem.primal(solution.w), problem.dual(solution.alpha)
    slack = tol * abs(solution.primal)
    if primal <= solution.primal + slack and dual >= solution.dual - slack:
        return solution
    return replace(solution, primal=primal, dual=dual)


def _better_than_nothing(problem: MasterProblem, solution: MasterSolution | None) -> MasterSolution:
    """The solution with values computed anew, where it is better than no weights at all."""
    w, alpha = np.zeros(problem.cuts.shape[1]), np.zeros(problem.losses.size)
    nothing = MasterSolution(w, alpha, problem.primal(w), 0.0, 0)
    if solution is None:
        return nothing
    primal, dual = problem.primal(solution.w), problem.dual(solution.alpha)
    return replace(solution, primal=primal, dual=dual).with_better_of(nothing)


def _equilibrated(problem: MasterProblem, tol: float, solution: MasterSolution) -> MasterSolution:
    """The solution with the better points of masters whose large columns are made smaller.

    Where one of these is solved and no alpha near its own proves that on the columns themselves,
    the rest of the gap is rounding.
    """
    scaling = Equilibration(problem.cuts, float(problem.losses.max()))
    n_cuts, last, at_rounding = problem.losses.size, None, False
    while (factors := scaling.factors(solution.primal)) is not None:
        scaled = replace(problem, cuts=problem.cuts * factors, gram=None)
        direction = _normalised(n_cuts, shares_of_rows(scaled.cuts))
        if last is not None:
            direction = (1 - RECENTRE_SCALED) * last + RECENTRE_SCALED * direction
        scales = _scales_of_alpha(scaled, direction, is_cold=True)
        found, _ = _structured(scaled, min(tol, COARSEST_SCALED), direction, scales)
        if found is None:
            break
        is_solved = found.is_within(tol)
        at_rounding |= is_solved
        w = factors * found.w
        solution = solution.with_better_of(replace(found, w=w, primal=problem.primal(w), dual=0.0))
        for alpha in near_balance(found.alpha, problem.cuts[:, factors < 1.0], 0.0, np.inf):
            solution = _with_multiple(problem, solution, alpha)
        if solution.is_within(tol):
            return solution
        if not is_solved:
            break
        scaling.follow(found.alpha)
        last = _normalised(n_cuts, found.alpha)
    return replace(solution, at_rounding=at_rounding)


def _with_multiple(
    problem: MasterProblem, solution: MasterSolution, alpha: FloatArray
) -> MasterSolution:
    """The solution with the best multiple of alpha, if its dual value is larger."""
    total, gain = float(alpha.sum()), float(problem.losses @ alpha)
    if not (total > 0.0 and gain > 0.0):
        return solution
    strength = problem.norm.dual_squared(combined(alpha, problem.cuts))
    # Not a bit too large: to scale it down again would spoil what cancels exactly.
    multiple = problem.C / total * (1.0 - alpha.size * float(np.finfo(float).eps))
    if strength * multiple > gain:
        multiple = gain / strength
    alpha = multiple * alpha
    return solution.with_better_of(replace(solution, alpha=alpha, dual=problem.dual(alpha)))


def _normalised(n_cuts: int, start: FloatArray | None) -> FloatArray:
    """The weights of the start with sum 1, or equal ones."""
    total = 0.0 if start is None else float(start.sum())
    return np.full(n_cuts, 1.0 / n_cuts) if start is None or total <= 0.0 else start / total


def _scales_of_alpha(
    problem: MasterProblem, direction: FloatArray, *, is_cold: bool
) -> list[float]:
    """The scales of alpha to try: the best multiple of the start, and C.

    Equal weights know the size of alpha only roughly: it lies between their best multiple and C,
    and the middle is at most half as many orders of magnitude off.
    """
    scale = problem.best_multiple(direction)
    if is_cold:
        scale = min(float(np.sqrt(scale) * np.sqrt(problem.C)), FARTHEST_SCALE * scale)
    return [scale, problem.C] if scale < problem.C else [scale]


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


def _fall_back(problem: MasterProblem, solution: MasterSolution, reason: str) -> MasterSolution:
    """The conic solver's solution, with the points of the interior-point one that are better."""
    logger.warning(
        "the structured master stopped early (%s; %d cuts, %d columns); using the conic solver",
        reason,
        *problem.cuts.shape,
    )
    return replace(solve_master_conic(problem).with_better_of(solution), fell_back=True)
