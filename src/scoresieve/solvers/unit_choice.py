"""The k units of a hard budget, from the weights of the relaxed solution.

Two starts, of which the better one goes on:

* the k units with the largest weights, often best where units say different things, as words do;
* elimination: refit on several times k units, keep the larger weights, and so on down to k. Often
  better where many units say the same, as instances of one kind do: the relaxed solution gives
  each of them a little, and among the k largest are several of one kind.

Then :mod:`scoresieve.solvers.swaps`. Few units can leave ``w = 0`` as the exact optimum of their
refit, with nothing to tell which swap would help; a good model with twice as many units, made
smaller step by step, often leads to one that is not empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoresieve.design import Design
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.refits import Refit, RefitOn, Refitter, largest
from scoresieve.solvers.result import Status
from scoresieve.solvers.swaps import improve_by_swaps
from scoresieve.solvers.tracker import Limits

FloatArray = NDArray[np.float64]

#: Elimination starts from this many times k units and keeps this share in each step.
ELIMINATION_START, ELIMINATION_KEEPS = 8, 0.625
#: What is eliminated does not depend on the last digits.
ELIMINATION_TOL = 0.03
#: What is kept in a step from a larger model to k units.
SHRINKING_KEEPS = 0.8


def choose_units(
    design: Design,
    norm: BudgetNorm,
    relaxed: FloatArray,
    dual_point: Any,
    refit: RefitOn,
    limits: Limits,
) -> Refit:
    """Select, refit, and improve by swaps.

    Parameters
    ----------
    design : Design
    norm : BudgetNorm
        Its budget is k.
    relaxed : ndarray of shape (n_columns,)
        Weights of the relaxed solution.
    dual_point : DualPoint or LossDualPoint
        Of the relaxed solution.
    refit : callable
    limits : Limits
        For all of it together; the callback is not called.
    """
    refitter, k = Refitter(design, norm, refit, limits), norm.budget
    best = _from_both_starts(refitter, relaxed, dual_point, k)
    if refitter.is_empty(best) and np.count_nonzero(refitter.unit_norms(relaxed)) >= 2 * k:
        larger = _from_both_starts(refitter, relaxed, dual_point, 2 * k)
        smaller = _shrunk(refitter, larger, k)
        if smaller.units.size <= k and smaller.primal < best.primal:
            best = smaller
    return best


def _from_both_starts(refitter: Refitter, relaxed: FloatArray, dual_point: Any, k: int) -> Refit:
    """The better of both starts with k units, improved by swaps."""
    best = refitter.refit(largest(refitter.unit_norms(relaxed), k), relaxed, dual_point)
    other = _by_elimination(refitter, relaxed, dual_point, k, give_up_at=best.primal)
    if other is not None and other.primal < best.primal:
        best = other
    return improve_by_swaps(refitter, best, k)


def _by_elimination(
    refitter: Refitter, relaxed: FloatArray, dual_point: Any, k: int, *, give_up_at: float
) -> Refit | None:
    """From the largest units of the relaxed solution down to k; None if nothing is left."""
    w, norms = relaxed, refitter.unit_norms(relaxed)
    size = min(ELIMINATION_START * k, int(np.count_nonzero(norms)))
    if size <= k:
        return None  # the other start has all of them
    while size > k:
        units = largest(norms, size)
        fit = refitter.refit(units, w, dual_point, tol=ELIMINATION_TOL, give_up_at=give_up_at)
        # Fewer units do no better than these.
        if fit.status is Status.CALLBACK or refitter.is_empty(fit) or refitter.time_is_over:
            return None
        w, dual_point, norms = fit.w, fit.dual_point, refitter.unit_norms(fit.w)
        size = max(k, int(ELIMINATION_KEEPS * size))
    return refitter.refit(largest(norms, k), w, dual_point, give_up_at=give_up_at)


def _shrunk(refitter: Refitter, best: Refit, k: int) -> Refit:
    """A model with fewer and fewer units, each improved by swaps, down to k or to an empty one."""
    size = best.units.size
    while size > k and not refitter.is_empty(best) and not refitter.time_is_over:
        size = max(k, min(size - 1, int(SHRINKING_KEEPS * size)))
        units = largest(refitter.unit_norms(best.w), size)
        best = improve_by_swaps(refitter, refitter.refit(units, best.w, best.dual_point), size)
    return best
