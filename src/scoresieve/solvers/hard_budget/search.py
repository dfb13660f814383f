"""At most k features, with a certified distance to the best possible k-feature model.

    min { 1/2 ||w||_2^2 + C R(X w)  :  w has at most k units }          (the paper's (25), Lemma 2)

is hard, but its optimum is at least that of the budget norm with B = k, because both norms agree on
vectors of at most k units. So:

1. solve the relaxed problem with budget k: its dual value D bounds every k-feature model;
2. choose k units by their weights and refit on them with the l2 norm, from two starts of which the
   better one goes on:

   * the k units with the largest weights, often best where units say different things, as words do;
   * elimination: refit on several times k units, keep the larger weights, and so on down to k.
     Often better where many units say the same, as instances of one kind do: the relaxed solution
     gives each of them a little, and among the k largest are several of one kind;

3. swap units outside with a large ``||c_u||`` for units inside with a small ``||w_u||``, many at
   first, then fewer, as long as the refitted objective falls;
4. report ``(J_k - D) / J_k``.

Few units can leave ``w = 0`` as the exact optimum of their refit, with nothing to tell which swap
would help; a good model with twice as many units, made smaller step by step, often leads to one
that is not empty.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.solvers.hard_budget.refits import Refit, Refitter, largest
from scoresieve.solvers.limits import Limits, Status, Tracker, one_blas_thread
from scoresieve.solvers.prices import with_lower_price
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.solve import engine_for, finish, run_at_own_price, start_from
from scoresieve.solvers.working import DualSide, Ended, WarmStart

#: Elimination starts from this many times k units and keeps this share in each step.
ELIMINATION_START, ELIMINATION_KEEPS = 8, 0.625
#: What is eliminated does not depend on the last digits.
ELIMINATION_TOL = 0.03
#: What is kept in a step from a larger model to k units.
SHRINKING_KEEPS = 0.8
#: A swap must lower the objective by this share to be kept; refits are accurate to 0.01.
LEAST_GAIN = 1e-3
#: Most refits in one search for swaps.
MAX_REFITS = 20


def solve_hard_budget(
    problem: Problem,
    limits: Limits,
    *,
    solver: str | None = None,
    warm: WarmStart | None = None,
) -> SolveResult:
    """``min { 1/2 ||w||_2^2 + C R(X w) : w has at most k units }``, approximately and certified.

    Conventions
    -----------
    * ``primal`` is the l2 objective J_k of the model, ``dual`` the bound D of the relaxed problem,
      which holds for every model with at most k units, and ``gap = l0_gap = (J_k - D) / J_k``.
      :func:`scoresieve.certify` with budget k recomputes all three.
    * ``n_iter`` and ``history`` are those of the relaxed problem. ``status`` is CONVERGED when the
      relaxed problem and the last refit are within the tolerance.
    * Columns that are always in come on top of the k units.

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
    """
    with one_blas_thread():
        tracker, ended = run_at_own_price(problem, limits, fit_hard, solver=solver, warm=warm)
        best = choose_from(ended, tracker)
        while not np.any(ended.problem.split(best.w)[0]):
            # The relaxed model may have features where none of k has a lower risk than "no".
            cheaper = with_lower_price(ended.problem)
            if cheaper is None or tracker.deadline.is_over:
                break
            limits = replace(limits, deadline=tracker.deadline)
            tracker, ended = run_at_own_price(cheaper, limits, fit_hard, warm=start_from(ended))
            best = choose_from(ended, tracker)
        status = ended.status
        if status.reached_tolerance and best.gap > limits.tol:
            status = best.status
        relaxed = ended.working.scattered(ended.best.w)
        return finish(ended.problem, tracker, best.w, best.primal, status, relaxed=relaxed)


def choose_from(ended: Ended, tracker: Tracker) -> Refit:
    """A model with at most k units that starts from the relaxed solution."""
    relaxed = ended.working.scattered(ended.best.w)
    with tracker.clock.part("hard budget"):
        refitter = Refitter(ended.problem, replace(tracker.limits, deadline=tracker.deadline))
        return choose_units(refitter, relaxed, ended.dual_side())


def fit_hard(
    problem: Problem, limits: Limits, warm: WarmStart | None
) -> tuple[FloatArray, WarmStart]:
    """The weights of a model with at most k units, of all columns, and a start for others.

    The k largest units of the relaxed solution, refitted: enough to see where the best model works.
    """
    tracker = Tracker(limits, problem.risk.no_dual_point())
    ended = engine_for(problem)(problem, tracker, warm)
    relaxed = ended.working.scattered(ended.best.w)
    refitter = Refitter(problem, replace(limits, deadline=tracker.deadline))
    units = largest(refitter.unit_norms(relaxed), problem.norm.budget)
    return refitter.refit(units, relaxed, ended.dual_side()).w, start_from(ended)


def choose_units(refitter: Refitter, relaxed: FloatArray, near: DualSide) -> Refit:
    """Select, refit, and improve by swaps.

    Parameters
    ----------
    refitter : Refitter
        The budget of its norm is k.
    relaxed : ndarray of shape (n_columns,)
        Weights of the relaxed solution.
    near : DualSide
        Of the relaxed solution.
    """
    k = refitter.norm.budget
    best = _from_both_starts(refitter, relaxed, near, k)
    if refitter.is_empty(best) and np.count_nonzero(refitter.unit_norms(relaxed)) >= 2 * k:
        larger = _from_both_starts(refitter, relaxed, near, 2 * k)
        smaller = _shrunk(refitter, larger, k)
        if smaller.units.size <= k and smaller.primal < best.primal:
            best = smaller
    return best


def _from_both_starts(refitter: Refitter, relaxed: FloatArray, near: DualSide, k: int) -> Refit:
    """The better of both starts with k units, improved by swaps."""
    best = refitter.refit(largest(refitter.unit_norms(relaxed), k), relaxed, near)
    other = _by_elimination(refitter, relaxed, near, k, give_up_at=best.primal)
    if other is not None and other.primal < best.primal:
        best = other
    return improve_by_swaps(refitter, best, k)


def _by_elimination(
    refitter: Refitter, relaxed: FloatArray, near: DualSide, k: int, *, give_up_at: float
) -> Refit | None:
    """From the largest units of the relaxed solution down to k; None if nothing is left."""
    w, norms = relaxed, refitter.unit_norms(relaxed)
    size = min(ELIMINATION_START * k, int(np.count_nonzero(norms)))
    if size <= k:
        return None  # the other start has all of them
    while size > k:
        units = largest(norms, size)
        fit = refitter.refit(units, w, near, tol=ELIMINATION_TOL, give_up_at=give_up_at)
        # Fewer units do no better than these.
        if fit.status is Status.CALLBACK or refitter.is_empty(fit) or refitter.time_is_over:
            return None
        w, near, norms = fit.w, fit.dual, refitter.unit_norms(fit.w)
        size = max(k, int(ELIMINATION_KEEPS * size))
    return refitter.refit(largest(norms, k), w, near, give_up_at=give_up_at)


def _shrunk(refitter: Refitter, best: Refit, k: int) -> Refit:
    """A model with fewer and fewer units, each improved by swaps, down to k or to an empty one."""
    size = best.units.size
    while size > k and not refitter.is_empty(best) and not refitter.time_is_over:
        size = max(k, min(size - 1, int(SHRINKING_KEEPS * size)))
        units = largest(refitter.unit_norms(best.w), size)
        best = improve_by_swaps(refitter, refitter.refit(units, best.w, best.dual), size)
    return best


def improve_by_swaps(refitter: Refitter, best: Refit, k: int) -> Refit:
    """The model with at most k units after the swaps that pay.

    Parameters
    ----------
    best : Refit
        With at most k units.
    """
    n_swapped = max(1, k // 2)
    for _ in range(MAX_REFITS):
        if n_swapped < 1 or refitter.time_is_over:
            break
        units, n_swapped = _swapped(refitter, best, k, n_swapped)
        if n_swapped == 0:
            break
        wanted = (1.0 - LEAST_GAIN) * best.primal
        trial = refitter.refit(units, best.w, best.dual, give_up_at=wanted)
        if trial.primal < wanted:
            best = trial
        else:
            n_swapped //= 2
    return best


def _swapped(refitter: Refitter, best: Refit, k: int, n_wanted: int) -> tuple[IntArray, int]:
    """The units after the most promising swap of at most ``n_wanted``, and how many it swaps."""
    outside = refitter.promises(best)
    inside = refitter.unit_norms(best.w)[best.units]
    n_free = k - best.units.size
    entering = np.argsort(-outside, kind="stable")[: n_wanted + n_free]
    entering = entering[outside[entering] > 0.0]
    leaving = np.argsort(inside, kind="stable")[: max(0, entering.size - n_free)]
    # Only pairs where the newcomer promises more than the one it replaces.
    pays = outside[entering[n_free:]][: leaving.size] > inside[leaving]
    n_swaps = int(np.count_nonzero(np.logical_and.accumulate(pays)))
    entering = np.concatenate([entering[:n_free], entering[n_free : n_free + n_swaps]])
    if entering.size == 0:
        return best.units, 0
    stay = np.delete(best.units, leaving[:n_swaps])
    return np.sort(np.concatenate([stay, entering])), max(n_swaps, 1)
