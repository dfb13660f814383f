"""The k units of a hard budget: the largest of a relaxed solution, improved by swaps.

The refit on some units has a dual side: ``v``, with ``c = X^T v`` and ``w_u = c_u`` inside at the
optimum. Units outside with a large ``||c_u||`` replace units inside with a small ``||w_u||``, many
at first, then fewer, as long as the refitted objective falls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoresieve.design import Design
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.result import Status
from scoresieve.solvers.tracker import Limits, Tracker

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: A swap must lower the objective by this share to be kept.
LEAST_GAIN = 1e-4
#: Most refits in the search for swaps.
MAX_REFITS = 20


@dataclass(frozen=True, eq=False)
class Refit:
    """The l2 model on the columns of some units.

    Attributes
    ----------
    units : ndarray of int
        Sorted numbers of the units.
    w : ndarray of shape (n_columns of the design,)
    primal, gap : float
        Objective, and the relative gap of the refit among models on these columns.
    pull : ndarray of shape (n_samples,)
        v, whose correlations with the columns say which of them would help.
    dual_point : DualPoint or LossDualPoint
        Where v comes from; the next refit may start from it.
    status : Status
    """

    units: IntArray
    w: FloatArray
    primal: float
    gap: float
    pull: FloatArray
    dual_point: Any
    status: Status


#: ``refit(units, start, dual_point, limits)``: from the weights and the dual point of the last one.
RefitOn = Callable[[IntArray, FloatArray, Any, Limits], Refit]


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
    clock, k = Tracker(limits).clock, norm.budget
    best = refit(_largest(norm.units.norms(relaxed), k), relaxed, dual_point, limits)
    n_swapped = max(1, k // 2)
    for _ in range(MAX_REFITS):
        left = None if limits.max_time is None else limits.max_time - clock.elapsed
        if n_swapped < 1 or (left is not None and left <= 0):
            break
        units, n_swapped = _swapped(design, norm, best, n_swapped)
        if n_swapped == 0:
            break
        trial = refit(units, best.w, best.dual_point, replace(limits, max_time=left))
        if trial.primal < (1.0 - LEAST_GAIN) * best.primal:
            best = trial
        else:
            n_swapped //= 2
    return best


def columns_of_units(norm: BudgetNorm, units: IntArray) -> IntArray:
    """The columns that are always in, and those of the units."""
    chosen = np.zeros(norm.n_units, dtype=bool)
    chosen[units] = True
    selectable = np.flatnonzero(norm.unit_of >= 0)
    return np.concatenate([norm.always, selectable[chosen[norm.unit_of[selectable]]]])


def _largest(norms: FloatArray, k: int) -> IntArray:
    """Sorted numbers of the k units with the largest norms, ties to the lower number."""
    order = np.argsort(-norms, kind="stable")[:k]
    return np.sort(order[norms[order] > 0.0])


def _swapped(design: Design, norm: BudgetNorm, best: Refit, n_wanted: int) -> tuple[IntArray, int]:
    """The units after the most promising swap of at most ``n_wanted``, and how many it swaps."""
    outside = norm.units.norms(design.correlate(best.pull))
    inside = norm.units.norms(best.w)[best.units]
    outside[best.units] = 0.0
    n_free = norm.budget - best.units.size
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
