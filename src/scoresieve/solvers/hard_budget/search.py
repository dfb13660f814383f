"""At most k features, with a certified distance to the best possible k-feature model.

    min { 1/2 ||w||_2^2 + C R(X w)  :  w has at most k units }          (the paper's (25), Lemma 2)

is hard, but its optimum is at least that of the budget norm with B = k, because both norms agree on
vectors of at most k units. So:

1. take the best of several starts, each refitted with the l2 norm: the units that promise most at
   the best constant model and those of a model with fewer features; where the risk has kinks, the
   constant model is that of a squared hinge;
2. improve it by splicing, see :mod:`scoresieve.solvers.splicing.splice`; where the problem is
   small, also what is left of all units when the one that is worth least goes, one by one;
3. solve the relaxed problem with budget k: its dual value D bounds every k-feature model. This is
   the certificate, and may be left out. It ends as soon as D could rise by little that matters. If
   its k largest weights are a better start, they are improved, too;
4. report ``(J_k - D) / J_k``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.measures import Measure
from scoresieve.regularizers.units import largest_positions
from scoresieve.solvers.limits import (
    Deadline,
    Limits,
    Progress,
    Status,
    Tracker,
    one_blas_thread,
)
from scoresieve.solvers.prices import squared_hinge_of, with_lower_price, with_own_price
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.solve import finish, run_at_own_price
from scoresieve.solvers.splicing.fetched import DesignBesideFetched, FetchedColumns
from scoresieve.solvers.splicing.refits import Refit, Refitter
from scoresieve.solvers.splicing.splice import (
    LEAST_GAIN,
    fewer_of_all,
    most_promising,
    splice,
    start_at_constant,
    try_more_pairs,
)
from scoresieve.solvers.working import WarmStart

#: Relative gap of a refit that only shows where the exchanges should begin.
ROUGH_TOL = 0.05
#: The relaxed problem ends when ``P - D`` is this share of ``J_k - P``: more rounds would lower the
#: gap by a sixth at most.
SHARE_LEFT = 0.2


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What the relaxed problem proves, and its weights of all columns of the design."""

    problem: Problem
    tracker: Tracker
    w: FloatArray
    status: Status


def solve_hard_budget(
    problem: Problem,
    limits: Limits,
    *,
    solver: str | None = None,
    warm: WarmStart | None = None,
    certificate: bool = True,
    starts: Iterable[IntArray] = (),
    fetched: FetchedColumns | None = None,
) -> SolveResult:
    """``min { 1/2 ||w||_2^2 + C R(X w) : w has at most k units }``, approximately and certified.

    Conventions
    -----------
    * ``primal`` is the l2 objective J_k of the model, ``dual`` the bound D of the relaxed problem,
      which holds for every model with at most k units, and ``gap = l0_gap = (J_k - D) / J_k``.
      :func:`scoresieve.certify` with budget k recomputes all three. ``refit_gap`` is that of the
      weights among the models of the same columns.
    * ``n_iter`` and ``history`` are those of the relaxed problem. ``status`` is CONVERGED when the
      last refit is within the tolerance, and the relaxed problem, too, or so near its optimum that
      the gap could shrink by a sixth at most.
    * Without a certificate ``dual``, ``gap`` and ``n_iter`` are those of the last refit, among the
      models of its columns, and ``l0_gap`` is NaN.
    * Columns that are always in come on top of the k units.
    * J_k is at most that of each start. Where the time is over that holds for the first of them.

    Parameters
    ----------
    problem : Problem
        Its budget is k.
    limits : Limits
        Of the relaxed problem; the time is for all of it together.
    solver : {"bundle", "two_layer"}, optional
        For the relaxed problem.
    warm : WarmStart, optional
        What the relaxed problem starts from.
    certificate : bool
        Whether the relaxed problem is solved.
    starts : iterable of ndarray of int
        Sorted units of models to start from, at most k of them in each.
    fetched : FetchedColumns, optional
        Of an equal design, where some are there.
    """
    limits = replace(limits, deadline=limits.deadline or Deadline(limits.max_time))
    starts, fetched = list(starts), fetched or FetchedColumns(problem.design)
    # The relaxed problem starts from columns that refits have fetched.
    problem = replace(problem, design=DesignBesideFetched(problem.design, fetched))
    with one_blas_thread():
        priced = with_own_price(problem, limits, fetched)
        priced, best = choose_at_own_price(priced, limits, starts, fetched)
        if not certificate:
            return _reported(priced, limits, best, None)
        near = warm or WarmStart(best.columns, best.w, best.point)
        relaxed = solve_relaxed(priced, limits, best.primal, fetched, solver, near)
        if relaxed.problem is not priced:  # empty at that price, and solved at a lower one
            best = choose_units(relaxed.problem, limits, starts, fetched)
        best = from_relaxed(relaxed, limits, best, fetched)
        return _reported(relaxed.problem, limits, best, relaxed)


def choose_at_own_price(
    priced: Problem, limits: Limits, starts: list[IntArray], fetched: FetchedColumns
) -> tuple[Problem, Refit]:
    """The best model, at a lower price where none with features is better than the empty one."""
    while True:
        best = choose_units(priced, limits, starts, fetched)
        is_empty = not np.any(best.w[priced.norm.always.size :])
        cheaper = with_lower_price(priced) if is_empty and not is_over(limits) else None
        if cheaper is None:
            return priced, best
        priced = cheaper


def solve_relaxed(
    problem: Problem,
    limits: Limits,
    value: float,
    fetched: FetchedColumns,
    solver: str | None = None,
    warm: WarmStart | None = None,
) -> Relaxed:
    """The problem with the budget norm in place of the number of units.

    Its optimum lies between D and its own objective P. Once ``P - D`` is a small share of
    ``J_k - P``, the gap that is reported can hardly shrink any more, and it ends.

    Parameters
    ----------
    value : float
        J_k.
    fetched : FetchedColumns
        Takes over the columns that were worked on, for the refits that come after.
    """
    is_asked = limits.callback or (lambda row: False)
    is_enough = False

    def stop(row: Progress) -> bool:
        nonlocal is_enough
        is_enough = row.primal - row.dual <= SHARE_LEFT * (value - row.primal)
        return bool(is_asked(row)) or is_enough

    tracker, ended = run_at_own_price(
        problem, replace(limits, callback=stop), solver=solver, warm=warm
    )
    status = Status.CONVERGED if ended.status is Status.CALLBACK and is_enough else ended.status
    fetched.take_over(ended.working.columns, ended.working.block)
    return Relaxed(ended.problem, tracker, ended.working.scattered(ended.best.w), status)


def from_relaxed(relaxed: Relaxed, limits: Limits, best: Refit, fetched: FetchedColumns) -> Refit:
    """The better of the model and of the one that begins at the k largest relaxed weights."""
    refitter = Refitter(relaxed.problem, limits, fetched)
    k = refitter.norm.budget
    units = largest_positions(refitter.norm.units.norms(relaxed.w), k)
    if refitter.time_is_over or not units.size or np.array_equal(units, best.units):
        return best
    trial = refitter.refit(units, best, give_up_at=best.primal)
    return splice(refitter, trial, k) if trial.primal < best.primal else best


def choose_units(
    problem: Problem,
    limits: Limits,
    starts: Iterable[IntArray],
    fetched: FetchedColumns | None = None,
) -> Refit:
    """A model with at most k units: the best of all starts, spliced.

    Parameters
    ----------
    problem : Problem
        With its price; its budget is k.
    """
    refitter, k = Refitter(problem, limits, fetched), problem.norm.budget
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
    """The other way round: what is left of all units, of a squared hinge where there are kinks."""
    problem = refitter.problem
    if problem.risk.is_smooth or not has_classes(problem):
        return fewer_of_all(refitter, k)
    left = fewer_of_all(refitter.with_risk(squared_hinge_of(problem.risk)), k)
    return refitter.refit(left.units, best.with_weights_of(left))


def own_start(refitter: Refitter, constant: Refit, k: int, give_up_at: float) -> Refit:
    """The units that promise most at the constant model.

    A risk with kinks leaves many of them equal there; the squared hinge sees more, and its weights
    are a start, too. Where another smooth loss takes over then, a rough refit is enough to make it.
    """
    problem = refitter.problem
    if problem.risk.is_smooth or not has_classes(problem):
        return most_promising(refitter, constant, k, give_up_at=give_up_at)
    hinge = refitter.with_risk(squared_hinge_of(problem.risk))
    guess = most_promising(hinge, start_at_constant(hinge), k)
    has_stand_in = problem.risk.flip_values is not None
    guess = guess if has_stand_in else splice(hinge, guess, k)
    tol = ROUGH_TOL if has_stand_in and not refitter.is_small else None
    near = constant.with_weights_of(guess)
    return refitter.refit(guess.units, near, give_up_at=give_up_at, tol=tol)


def has_classes(problem: Problem) -> bool:
    """Whether y holds labels."""
    kind = problem.risk.kind
    return isinstance(kind, Measure) or kind.task == "classification"


def is_over(limits: Limits) -> bool:
    """Whether the deadline has passed."""
    return limits.deadline is not None and limits.deadline.is_over


def _reported(
    problem: Problem, limits: Limits, best: Refit, relaxed: Relaxed | None
) -> SolveResult:
    """The result, with the bound of the relaxed problem or, without it, that of the refit."""
    w = best.scattered(problem.design.n_columns)
    if relaxed is not None:
        status = relaxed.status
        if status.reached_tolerance and best.gap > limits.tol:
            status = best.status
        result = finish(problem, relaxed.tracker, w, best.primal, status, relaxed=relaxed.w)
        return replace(result, refit_gap=best.gap)
    tracker = Tracker(replace(limits, find_smallest_C=False), best.point)
    tracker.primal, tracker.dual = best.primal, (1.0 - best.gap) * best.primal
    result = finish(problem, tracker, w, best.primal, best.status)
    # Nobody has asked whether models with more features are any better.
    status = Status.EMPTY_CHOICE if result.status is Status.ZERO_MODEL else result.status
    return replace(result, status=status, n_iter=best.n_iter, refit_gap=best.gap)
