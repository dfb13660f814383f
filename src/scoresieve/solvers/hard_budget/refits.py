"""Refits: the l2 model on the columns of a few units, which the search for k units compares.

    min { 1/2 ||w||_2^2 + C R(X w)  :  w_u = 0 for the units u outside }

A refit has a dual side: ``v``, with ``c = X^T v`` and ``w_u = c_u`` inside at the optimum. What v
says about the units outside tells who should come in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.limits import Limits, Status, Tracker
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.solve import engine_for
from scoresieve.solvers.working import DualSide, WarmStart

#: Refits that are compared are at least this accurate.
REFIT_TOL = 0.01


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
    dual : DualSide
        The correlations of its v with the columns say which of them would help, and the next refit
        may start from its point.
    """

    units: IntArray
    w: FloatArray
    primal: float
    gap: float
    dual: DualSide
    status: Status


class Refitter:
    """Refits until one deadline, each given up as soon as it is certain to be too dear.

    Parameters
    ----------
    limits : Limits
        With a deadline for all refits together; the callback is not called.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self.problem, self.norm, self._limits = problem, problem.norm, limits

    @property
    def time_is_over(self) -> bool:
        """Whether the deadline has passed."""
        deadline = self._limits.deadline
        return deadline is not None and deadline.is_over

    def refit(
        self,
        units: IntArray,
        start: FloatArray,
        near: DualSide,
        *,
        tol: float = REFIT_TOL,
        give_up_at: float = np.inf,
    ) -> Refit:
        """The model on these units; given up once no model on them is below ``give_up_at``.

        Parameters
        ----------
        start : ndarray of shape (n_columns of the design,)
            Weights to start from.
        near : DualSide
            Of a fit whose cuts may serve here.
        """
        problem, columns = self.problem, columns_of_units(self.norm, units)
        if columns.size == 0:
            # Without a column there is one model, and what came in still tells who may enter.
            primal = problem.C * problem.risk.value(np.zeros(problem.risk.y.size))
            w = np.zeros(self.norm.n_columns)
            return Refit(units, w, primal, 0.0, near, Status.CONVERGED)
        limits = replace(
            self._limits,
            tol=min(self._limits.tol, tol),
            callback=lambda row: bool(row.dual >= give_up_at),
        )
        tracker = Tracker(limits, problem.risk.no_dual_point())
        warm = WarmStart(np.arange(columns.size), start[columns], near.point)
        ended = engine_for(problem)(problem.on_columns(columns), tracker, warm)
        w = np.zeros(self.norm.n_columns)
        w[columns] = ended.working.scattered(ended.best.w)
        return Refit(units, w, tracker.primal, tracker.gap, ended.dual_side(), ended.status)

    def unit_norms(self, w: FloatArray) -> FloatArray:
        """``||w_u||_2`` of every unit."""
        return self.norm.units.norms(w)

    def promises(self, fit: Refit) -> FloatArray:
        """``||c_u||_2`` of every unit outside, 0 for those inside."""
        promise = self.unit_norms(self.problem.design.correlate(fit.dual.v))
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
