"""At most k features, with a certified distance to the best possible k-feature model.

    min { 1/2 ||w||_2^2 + C R(X w)  :  w has at most k units }          (the paper's (25), Lemma 2)

is hard, but its optimum is at least that of the budget norm with B = k, because both norms agree on
vectors of at most k units. So:

1. take the best of several starts, each refitted with the l2 norm: the most promising units at the
   best constant model, and those of a model with fewer features. Where the risk has kinks, the
   constant model is that of a squared hinge;
2. improve it by splicing, see :mod:`scoresieve.solvers.subset.splice`. Where the problem is small,
   also improve the result of backward elimination from all units;
3. solve the relaxed problem with budget k: its dual value D bounds every k-feature model. This is
   the certificate, and may be left out. The run ends as soon as a larger D would hardly change the
   gap. If the k largest relaxed weights are a better start, improve them as well;
4. report ``(J_k - D) / J_k``.

These are the steps of :func:`scoresieve.solvers.solve.solve_problem`.

Conventions
-----------
* ``primal`` is the l2 objective J_k of the model, ``dual`` the bound D of the relaxed problem,
  which holds for every model with at most k units, and ``gap = l0_gap = (J_k - D) / J_k``.
  :func:`scoresieve.certify` with budget k recomputes all three. ``refit_gap`` is that of the
  weights among the models of the same columns.
* ``n_iter`` and ``history`` are those of the relaxed problem. ``status`` is CONVERGED when the last
  refit is within the tolerance and the relaxed problem is as well, or as near its optimum as
  ``SHARE_LEFT`` asks.
* Without a certificate ``dual``, ``gap`` and ``n_iter`` are those of the last refit, among the
  models of its columns, and ``l0_gap`` is NaN.
* The price is lowered where no model with features is better than the empty one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.measures import Measure
from scoresieve.regularizers.units import largest_positions
from scoresieve.solvers.engines import SolveResult, make_result
from scoresieve.solvers.limits import Limits, Status, Tracker, relative_gap
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.subset.refits import Refit, Refitter
from scoresieve.solvers.subset.splice import (
    LEAST_GAIN,
    fewer_of_all,
    most_promising,
    splice,
    start_at_constant,
    try_more_pairs,
)
from scoresieve.solvers.subset.surrogate import squared_hinge_of
from scoresieve.solvers.working import Resumable

#: Relative gap of a refit that only shows where the exchanges should begin.
ROUGH_TOL = 0.05
#: The relaxed problem ends when ``P - D`` is this share of ``J_k - P``: more rounds would lower the
#: gap by a sixth at most.
SHARE_LEFT = 0.2


def choose_units(problem: Problem, limits: Limits, starts: Iterable[IntArray]) -> Refit:
    """A model with at most k units: the best of all starts, spliced.

    Parameters
    ----------
    problem : Problem
        With its price; its budget is k.
    """
    refitter, k = Refitter(problem, limits), problem.norm.budget
    best = constant = start_at_constant(refitter)
    for units in starts:
        # A model with features is worth more than to be in time to the millisecond.
        is_enough = refitter.time_is_over and best.units.size > 0
        if units.size == 0 or np.array_equal(units, best.units) or is_enough:
            continue
        trial = refitter.refit(units, best, give_up_at=best.primal)
        best = trial if trial.primal < best.primal else best
    # Where there are kinks the empty model may be the best one, but for rounding.
    least_gain = 0.0 if problem.risk.is_smooth else LEAST_GAIN
    if best.units.size == 0 or not refitter.time_is_over:
        wanted = (1.0 - least_gain) * best.primal
        trial = own_start(refitter, constant, k, give_up_at=wanted)
        best = trial if trial.primal < wanted else best
    best = splice(refitter, best, k)
    if refitter.is_small and not refitter.time_is_over:
        other = from_all(refitter, best, k)
        if not np.array_equal(other.units, best.units):
            other = splice(refitter, other, k)
        best = other if other.primal < (1.0 - least_gain) * best.primal else best
        best = try_more_pairs(refitter, best, k)
    return best if best.gap <= refitter.tol else refitter.refit(best.units, best)


def from_all(refitter: Refitter, best: Refit, k: int) -> Refit:
    """The result of backward elimination from all units, by a squared hinge where R has kinks."""
    problem = refitter.problem
    if problem.risk.is_smooth or not has_classes(problem):
        return fewer_of_all(refitter, k)
    left = fewer_of_all(refitter.with_risk(squared_hinge_of(problem.risk)), k)
    return refitter.refit(left.units, best.with_weights_of(left))


def own_start(refitter: Refitter, constant: Refit, k: int, give_up_at: float) -> Refit:
    """The most promising units at the constant model.

    A risk with kinks leaves many of them equal there. The squared hinge sees more, and its weights
    are a start. Where a surrogate takes over from there, a rough refit is enough to make it.
    """
    problem = refitter.problem
    if problem.risk.is_smooth or not has_classes(problem):
        return most_promising(refitter, constant, k, give_up_at=give_up_at)
    hinge = refitter.with_risk(squared_hinge_of(problem.risk))
    guess = most_promising(hinge, start_at_constant(hinge), k)
    has_surrogate = problem.risk.flip_values is not None
    guess = guess if has_surrogate else splice(hinge, guess, k)
    tol = ROUGH_TOL if has_surrogate and not refitter.is_small else None
    near = constant.with_weights_of(guess)
    return refitter.refit(guess.units, near, give_up_at=give_up_at, tol=tol)


def has_classes(problem: Problem) -> bool:
    """Whether y holds labels."""
    kind = problem.risk.kind
    return isinstance(kind, Measure) or kind.task == "classification"


def until_enough(limits: Limits, value: float) -> Limits:
    """The limits of the relaxed problem beside a model of objective J_k.

    Its optimum lies between D and its own objective P. Once ``P - D`` is a small share of
    ``J_k - P``, the reported gap can hardly shrink.
    """
    return replace(
        limits,
        enough=lambda row: row.primal - row.dual <= SHARE_LEFT * (value - row.primal),
    )


def beside_relaxed(
    problem: Problem, limits: Limits, best: Refit, relaxed: Resumable, starts: Iterable[IntArray]
) -> Refit:
    """The model, at the price of the relaxed problem and improved from its k largest weights.

    Nothing is improved once the callback has asked to stop.

    Parameters
    ----------
    problem : Problem
        Of the model; that of the run has a lower price if it had no features at this one.
    """
    refitter, has_changed = Refitter(relaxed.problem, limits), relaxed.problem is not problem
    refitter.fetched.take_over(relaxed.working.columns, relaxed.working.block)
    if relaxed.tracker.is_stopped:
        return at_its_price(refitter, best, relaxed.tracker.dual) if has_changed else best
    if has_changed:
        best = choose_units(relaxed.problem, limits, starts)
    k = refitter.norm.budget
    units = largest_positions(refitter.norm.units.norms(weights_of(relaxed)), k)
    if refitter.time_is_over or not units.size or np.array_equal(units, best.units):
        return best
    trial = refitter.refit(units, best, give_up_at=best.primal)
    return splice(refitter, trial, k) if trial.primal < best.primal else best


def at_its_price(refitter: Refitter, fit: Refit, dual: float) -> Refit:
    """The same weights at another price, whose lower bound gives their gap: no run is needed."""
    problem = refitter.problem
    value = 0.5 * float(fit.w @ fit.w) + problem.C * problem.risk.value(refitter.scores(fit))
    return replace(fit, primal=value, gap=relative_gap(value, dual))


def weights_of(relaxed: Resumable) -> FloatArray:
    """Its weights of all columns of the design."""
    return relaxed.working.scattered(relaxed.best.w)


def uncertified(problem: Problem, limits: Limits, best: Refit) -> SolveResult:
    """The result with the bound of the last refit, among the models of its columns."""
    tracker = Tracker(limits, best.point)
    tracker.primal, tracker.dual = best.primal, (1.0 - best.gap) * best.primal
    w = best.scattered(problem.design.n_columns)
    result = make_result(problem, tracker, w, best.primal, best.status)
    # Nobody has asked whether models with more features are any better.
    status = Status.EMPTY_CHOICE if result.status is Status.ZERO_MODEL else result.status
    return replace(result, status=status, n_iter=best.n_iter, refit_gap=best.gap)


def certified(limits: Limits, best: Refit, relaxed: Resumable) -> SolveResult:
    """The result with the bound of the relaxed problem."""
    problem, status = relaxed.problem, relaxed.status
    if status.reached_tolerance and best.gap > limits.tol:
        status = best.status
    w = best.scattered(problem.design.n_columns)
    result = make_result(problem, relaxed.tracker, w, best.primal, status)
    status = result.status
    if status is Status.ZERO_MODEL and result.gap > limits.tol:
        has_features = np.any(problem.split(weights_of(relaxed))[0])
        status = Status.EMPTY_CHOICE if has_features else status
    return replace(result, status=status, l0_gap=result.gap, refit_gap=best.gap)
