"""Refits: the l2 model on the columns of a few units, which the search for k units compares.

    min { 1/2 ||w||_2^2 + C R(X w)  :  w_u = 0 for the units u outside }

A refit has a dual side: ``v``, with ``c = X^T v`` and ``w_u = c_u`` inside at the optimum. What v
says about the units outside tells who should come in.
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

#: Refits that are compared are at least this accurate.
REFIT_TOL = 0.01
#: Seconds for a refit that must be made though the time is over: enough for one round.
LAST_SECONDS = 1e-3


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


class Refitter:
    """Refits within one limit of time, each given up as soon as it is certain to be too dear.

    Parameters
    ----------
    design : Design
    norm : BudgetNorm
    refit_on : callable
    limits : Limits
        For all refits together; the callback is not called.
    """

    def __init__(self, design: Design, norm: BudgetNorm, refit_on: RefitOn, limits: Limits) -> None:
        self.design, self.norm = design, norm
        self._refit_on, self._limits = refit_on, limits
        self._clock = Tracker(limits).clock

    @property
    def time_is_over(self) -> bool:
        """Whether the limit of time has passed."""
        limit = self._limits.max_time
        return limit is not None and self._clock.elapsed >= limit

    def refit(
        self,
        units: IntArray,
        start: FloatArray,
        dual_point: Any,
        *,
        tol: float = REFIT_TOL,
        give_up_at: float = np.inf,
    ) -> Refit:
        """The model on these units; given up once no model on them is below ``give_up_at``."""
        left = self._limits.max_time
        if left is not None:
            left = max(left - self._clock.elapsed, LAST_SECONDS)
        limits = replace(
            self._limits,
            tol=min(self._limits.tol, tol),
            max_time=left,
            callback=lambda row: bool(row.dual >= give_up_at),
        )
        return self._refit_on(units, start, dual_point, limits)

    def unit_norms(self, w: FloatArray) -> FloatArray:
        """``||w_u||_2`` of every unit."""
        return self.norm.units.norms(w)

    def promises(self, fit: Refit) -> FloatArray:
        """``||c_u||_2`` of every unit outside, 0 for those inside."""
        promise = self.unit_norms(self.design.correlate(fit.pull))
        promise[fit.units] = 0.0
        return promise

    def is_empty(self, fit: Refit) -> bool:
        """Whether no unit has a weight."""
        return not np.any(self.unit_norms(fit.w))


def largest(norms: FloatArray, k: int) -> IntArray:
    """Sorted numbers of the k units with the largest norms, ties to the lower number."""
    order = np.argsort(-norms, kind="stable")[:k]
    return np.sort(order[norms[order] > 0.0])


def columns_of_units(norm: BudgetNorm, units: IntArray) -> IntArray:
    """The columns that are always in, and those of the units."""
    chosen = np.zeros(norm.n_units, dtype=bool)
    chosen[units] = True
    selectable = np.flatnonzero(norm.unit_of >= 0)
    return np.concatenate([norm.always, selectable[chosen[norm.unit_of[selectable]]]])
