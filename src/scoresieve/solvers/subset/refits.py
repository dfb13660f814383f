"""Refits: the l2 model on the columns of a few units, which the search for k units compares.

    min { 1/2 ||w||_2^2 + C R(X w)  :  w_u = 0 for the units u outside }

A refit has a dual side: ``v``, with ``c = X^T v`` and ``w_u = c_u`` inside at the optimum. Outside,
``c_u`` tells which units should come in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.regularizers import BudgetNorm
from scoresieve.risks import CutWeights, DualPoint, LossRisk, Risk, Slopes
from scoresieve.solvers.engines import engine_for
from scoresieve.solvers.limits import Limits, Status, Tracker, relative_gap
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.subset.columns import FetchedColumns, merge_equal_rows
from scoresieve.solvers.subset.quick_fits import constant_fit, newton_fit
from scoresieve.solvers.working import WarmStart

#: Refits that are compared are at least this accurate: by cuts, and by Newton's method, whose last
#: digits cost one step more.
REFIT_TOL, NEWTON_TOL = 0.01, 1e-6
#: A problem is small if it has at most this many pairs of units to exchange, and numbers in X. Then
#: every pair can be tried, and refits by cuts have the relative gap FINE_TOL.
FEW_PAIRS, FEW_NUMBERS, FINE_TOL = 64, 2**16, 2e-3
#: Share of the weight whose cuts the next refit starts from.
SHARE_OF_CUTS = 0.95


@dataclass(frozen=True, eq=False)
class Refit:
    """The l2 model on the columns of some units.

    Attributes
    ----------
    units : ndarray of int
        Sorted numbers of the units.
    columns : ndarray of int
        Those always in, then those of the units, sorted.
    w : ndarray of shape (len(columns),)
    primal, gap : float
        Objective, and the relative gap of the refit among models on these columns.
    v : ndarray of shape (n_samples,)
        The dual side.
    curvatures : ndarray of shape (n_samples,)
        Of C R in the scores. Where R has kinks: ``|v_i|``, as if each row with a slope could change
        its score by about 1 before the slope is 0.
    point : DualPoint
        Whose cuts, if it has any, the next refit may start from.
    """

    units: IntArray
    columns: IntArray
    w: FloatArray
    primal: float
    gap: float
    v: FloatArray
    curvatures: FloatArray
    point: DualPoint
    status: Status
    n_iter: int = 1

    def scattered(self, n_columns: int) -> FloatArray:
        """The weights of all columns of the design."""
        out = np.zeros(n_columns)
        out[self.columns] = self.w
        return out

    def with_weights_of(self, fit: Refit) -> Refit:
        """What has the cuts of this one and the weights of a fit of another risk."""
        return replace(self, units=fit.units, columns=fit.columns, w=fit.w)


class Refitter:
    """Refits of one problem until one deadline, each given up once it cannot be good enough.

    Parameters
    ----------
    problem : Problem
        Of its budget only matters whether there are few pairs to exchange.
    limits : Limits
        With a deadline for all refits together; the callback is not told of them.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self.problem, self.norm = problem, problem.norm
        self.limits = replace(limits.begun(), callback=None, is_stopped=False)
        self.fetched = FetchedColumns.of(problem.design)
        self.n_refits = 0

    @property
    def is_small(self) -> bool:
        """Whether every pair of units can be tried, and is worth it."""
        if not self.limits.thorough:
            return False
        norm, design = self.norm, self.problem.design
        n_pairs = norm.budget * (norm.n_units - norm.budget)
        return n_pairs <= FEW_PAIRS and design.n_samples * design.n_columns <= FEW_NUMBERS

    @property
    def tol(self) -> float:
        """Relative gap of refits by cuts."""
        return min(self.limits.tol, FINE_TOL if self.is_small else REFIT_TOL)

    @property
    def time_is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.limits.time_is_over

    def refit(
        self,
        units: IntArray,
        near: Refit | None = None,
        *,
        beside: IntArray | None = None,
        give_up_at: float = np.inf,
        tol: float | None = None,
    ) -> Refit:
        """The model on these units; given up once no model on them is below ``give_up_at``.

        Parameters
        ----------
        units : ndarray of int
            Sorted.
        near : Refit, optional
            Whose weights and cuts it starts from.
        beside : ndarray of int, optional
            Columns that the next refits may want, to be fetched together.
        tol : float, optional
            Relative gap of a refit by cuts, where it need not be that of all refits.
        """
        self.n_refits += 1
        columns = columns_of_units(self.norm, units)
        start = np.zeros(columns.size) if near is None else moved(near.columns, near.w, columns)
        if columns.size == 0:
            return self._without_columns(units)
        if units.size == 0:
            constant = self._constant(columns, tol or self.tol)
            if constant is not None:
                return constant
        block = self.fetched.block(columns, beside)
        problem = replace(
            self.problem,
            design=block.as_design(),
            norm=BudgetNorm(columns.size, columns.size),
            constant=0.0,
        )
        risk = problem.risk
        if isinstance(risk, LossRisk) and risk.is_smooth:
            fine = min(self.limits.tol, NEWTON_TOL)
            few = merge_equal_rows(block, risk)
            fit = newton_fit(few.block, few.risk, problem.C, start, tol=fine, give_up_at=give_up_at)
            if fit is not None:
                gap = fit.left / fit.value if fit.value > 0.0 else 0.0
                scores = fit.scores[few.places]
                slopes = risk.slopes(scores)
                v, curvatures = risk.vector(slopes, problem.C), problem.C * risk.curvatures(scores)
                return Refit(
                    *(units, columns, fit.w, fit.value, gap, v, curvatures, Slopes(slopes)),
                    Status.CONVERGED,
                )
        limits = replace(
            self.limits, tol=tol or self.tol, enough=lambda row: row.dual >= give_up_at
        )
        tracker = Tracker(limits, risk.no_dual_point())
        point = None if near is None else near.point
        warm = WarmStart(np.arange(columns.size), start, point)
        ended = engine_for(problem)(problem, tracker, warm)
        side = ended.dual_side()
        side = side._replace(point=heavy_cuts(side.point))
        w = ended.working.scattered(ended.best.w)
        curvatures = curvatures_of(problem, ended.best.scores, side.v)
        return Refit(
            *(units, columns, w, tracker.primal, tracker.gap, side.v, curvatures),
            *(side.point, ended.status, max(1, len(tracker.history))),
        )

    def _without_columns(self, units: IntArray) -> Refit:
        """The one model without columns; the slopes, or the cuts, at scores of 0 are its v."""
        risk, C = self.problem.risk, self.problem.C
        scores = np.zeros(risk.y.size)
        v = C * risk.contrast()
        if isinstance(risk, LossRisk):
            v = risk.vector(risk.slopes(scores), C)
        nothing = np.zeros(0, dtype=np.int64)
        primal, curvatures = C * risk.value(scores), curvatures_of(self.problem, scores, v)
        return Refit(
            *(units, nothing, np.zeros(0), primal, 0.0, v, curvatures, risk.no_dual_point()),
            Status.CONVERGED,
        )

    def _constant(self, columns: IntArray, tol: float) -> Refit | None:
        """The model of the constant column alone, where the risk has kinks."""
        problem, risk, C = self.problem, self.problem.risk, self.problem.C
        is_constant = problem.constant and columns.tolist() == [problem.design.n_columns - 1]
        fit = None
        if is_constant and not risk.is_smooth:
            fit = constant_fit(risk, C, problem.constant, tol)
        if fit is None:
            return None
        packed = np.array([risk.pack(each.delta) for each in fit.cuts])
        point = risk.dual_point(fit.alpha, packed, C)
        v = risk.dual_vector(point, C)
        gain = risk.gain_of_cuts(float(fit.alpha @ [each.loss for each in fit.cuts]), v, C)
        dual = gain - 0.5 * (problem.constant * float(v.sum())) ** 2
        gap = relative_gap(fit.primal, dual)
        return Refit(
            *(np.zeros(0, dtype=np.int64), columns, np.array([fit.w]), fit.primal, gap, v),
            *(np.abs(v), point, Status.CONVERGED),
        )

    def with_risk(self, risk: Risk, tol: float | None = None) -> Refitter:
        """Refits of the same columns for another risk; what was fetched is shared."""
        limits = replace(self.limits, tol=tol or self.limits.tol)
        return Refitter(replace(self.problem, design=self.fetched, risk=risk), limits)

    def of_rows(self, rows: IntArray) -> Refitter:
        """Refits of some of the rows alone; for the risk of a loss."""
        risk = self.problem.risk
        assert isinstance(risk, LossRisk)
        weights = None if risk.weights is None else risk.weights[rows]
        part = replace(
            self.problem,
            design=self.problem.design.rows(rows),
            risk=LossRisk(risk.loss, risk.y[rows], weights),
        )
        return Refitter(part, self.limits)

    def scores(self, fit: Refit) -> FloatArray:
        """``X w``."""
        return self.fetched.block(fit.columns).scores(fit.w)

    def is_empty(self, fit: Refit) -> bool:
        """Whether no unit has a weight."""
        return not np.any(fit.w[self.norm.always.size :])


def curvatures_of(problem: Problem, scores: FloatArray, v: FloatArray) -> FloatArray:
    """``C c_i l''_i`` of a smooth loss, and ``|v_i|`` where the risk has kinks."""
    risk = problem.risk
    if isinstance(risk, LossRisk) and risk.is_smooth:
        return problem.C * risk.curvatures(scores)
    return np.abs(v)


def heavy_cuts(point: DualPoint) -> DualPoint:
    """The heaviest cuts, of most of the weight: a coarse master leaves a little on every cut."""
    if not isinstance(point, CutWeights) or not point.alpha.size:
        return point
    order = np.argsort(-point.alpha, kind="stable")
    reached = np.cumsum(point.alpha[order])
    kept = np.sort(order[: int(np.searchsorted(reached, SHARE_OF_CUTS * reached[-1])) + 1])
    return CutWeights(point.alpha[kept], point.cuts[kept])


def moved(columns: IntArray, w: FloatArray, others: IntArray) -> FloatArray:
    """The weights at other columns, 0 where there was none."""
    found = np.zeros(others.size)
    _, here, there = np.intersect1d(columns, others, assume_unique=True, return_indices=True)
    found[there] = w[here]
    return found


def columns_of_units(norm: BudgetNorm, units: IntArray) -> IntArray:
    """The columns that are always in, and those of the units."""
    if not norm.has_groups and isinstance(norm.units.columns, slice):
        return np.concatenate([norm.always, norm.units.columns.start + np.sort(units)])
    chosen = np.zeros(norm.n_units, dtype=bool)
    chosen[units] = True
    selectable = np.flatnonzero(norm.unit_of >= 0)
    return np.concatenate([norm.always, selectable[chosen[norm.unit_of[selectable]]]])
