"""The master problem in units of its own size, its iterates, and the bounds they give.

    x = (alpha, C - sum alpha, d, 1 - d) > 0 ,     z = (z, tau, u, v) > 0 ,     level lambda

are the positive variables, their multipliers and the budget's level. At every iterate the weights
``w = d * c`` with ``c = A^T alpha`` give an upper bound of the optimum and alpha a lower one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scoresieve.solvers.master import MasterProblem, MasterSolution

FloatArray = NDArray[np.float64]

#: Steps without a smaller gap after which the method has given what it can.
STALL_STEPS = 40
#: Weights are stretched by less than this: it is for rounding errors, not for poor iterates.
LONGEST_STRETCH = 10.0


@dataclass(frozen=True, eq=False)
class ScaledMaster:
    """The master with ``q`` at most 1 and ``alpha`` of the order of 1.

    Attributes
    ----------
    A : ndarray of shape (n_cuts, n_columns)
        Cuts on the columns of the units; no columns if the budget covers them all.
    fixed : ndarray of shape (n_cuts, n_fixed)
        Cuts on the columns with d = 1 for certain; none of them if the budget covers all and they
        are as many as the cuts, when the Gram matrix serves better.
    gram : ndarray of shape (n_cuts, n_cuts) or None
        Gram matrix of the cuts on the columns with d = 1 for certain; None if there are none.
    unit_of : ndarray of shape (n_columns,) or None
        Unit of each column of A; None if each column is one.
    n_units, budget : int
    q : ndarray of shape (n_cuts,)
        Scaled losses.
    cap : float
        Bound of ``sum alpha``.
    alpha_scale, loss_scale : float
        Units of alpha and of q.
    """

    A: FloatArray
    fixed: FloatArray
    gram: FloatArray | None
    unit_of: NDArray[np.int64] | None
    n_units: int
    budget: int
    q: FloatArray
    cap: float
    alpha_scale: float
    loss_scale: float

    @classmethod
    def of(cls, problem: MasterProblem, alpha_scale: float) -> ScaledMaster:
        """The problem with q at most 1 and alpha in units of ``alpha_scale``."""
        loss_scale = max(float(problem.losses.max()), np.finfo(float).tiny)
        factor = alpha_scale / loss_scale
        free, norm = problem.free_columns, problem.norm
        unit_of = norm.unit_of[free]
        is_all = free.size == problem.cuts.shape[1]
        fixed = problem.fixed_columns
        has_gram = fixed.size > 0 or not free.size
        if not free.size and fixed.size >= problem.losses.size:
            fixed = fixed[:0]
        return cls(
            A=(problem.cuts if is_all else problem.cuts[:, free]) * np.sqrt(factor),
            fixed=problem.cuts[:, fixed] * np.sqrt(factor),
            gram=problem.fixed_gram() * factor if has_gram else None,
            unit_of=unit_of if norm.has_groups and unit_of.size else None,
            n_units=norm.n_units if unit_of.size else 0,
            budget=norm.budget,
            q=problem.losses / loss_scale,
            cap=problem.C / alpha_scale,
            alpha_scale=alpha_scale,
            loss_scale=loss_scale,
        )

    @cached_property
    def n_cuts(self) -> int:
        """Length of alpha."""
        return self.q.size

    @cached_property
    def ones(self) -> FloatArray:
        """One for each unit: products with it are the quickest sums of short vectors."""
        return np.ones(self.n_units)

    @cached_property
    def units(self) -> slice:
        """Where the d of the units stand in ``x``."""
        return slice(self.n_cuts + 1, self.n_cuts + 1 + self.n_units)

    @cached_property
    def complements(self) -> slice:
        """Where the 1 - d of the units stand in ``x``."""
        return slice(self.n_cuts + 1 + self.n_units, None)

    def unit_sums(self, x: FloatArray) -> FloatArray:
        """Sum over the columns of each unit."""
        if self.unit_of is None:
            return x
        return np.bincount(self.unit_of, weights=x, minlength=self.n_units)

    def spread(self, per_unit: FloatArray) -> FloatArray:
        """The value of each column's unit."""
        return per_unit if self.unit_of is None else per_unit[self.unit_of]

    def couple(self, c: FloatArray) -> FloatArray:
        """``A diag(c)`` summed over the columns of each unit, of shape (K, n_units)."""
        summed = np.zeros((self.n_units, self.n_cuts))
        np.add.at(summed, self.unit_of, (self.A * c).T)
        return summed.T


class Point:
    """All positive variables and their multipliers, rows of ``values``; and the budget's level."""

    __slots__ = ("level", "values")

    def __init__(self, values: FloatArray, level: float) -> None:
        self.values, self.level = values, level

    def moved(self, direction: Point, step: float) -> Point:
        """``self + step * direction``."""
        values = direction.values * step
        values += self.values
        return Point(values, self.level + step * direction.level)

    def longest_step(self, direction: Point) -> float:
        """Largest step in [0, 1] that keeps every variable non-negative."""
        steepest = float((direction.values / self.values).min())
        # Written so that what is not a number stays one.
        return 1.0 if steepest >= -1.0 else -1.0 / steepest


class Evaluation:
    """A point with its parts by name, ``c = A^T alpha``, and ``outputs_k = <a_k, w>``."""

    __slots__ = (
        "alpha",
        "c",
        "d",
        "d_total",
        "fixed",
        "outputs",
        "point",
        "shortfall",
        "strengths",
    )

    def __init__(self, data: ScaledMaster, point: Point) -> None:
        self.point = point
        x = point.values[0]
        self.alpha, self.d = x[: data.n_cuts], x[data.units]
        self.c = self.alpha.dot(data.A)
        self.strengths = data.unit_sums(self.c * self.c)
        self.outputs = data.A.dot(data.spread(self.d) * self.c)
        self.fixed = 0.0
        if data.gram is not None:
            fixed_outputs = data.gram.dot(self.alpha)
            self.fixed = float(self.alpha.dot(fixed_outputs))
            self.outputs += fixed_outputs
        self.shortfall = data.q - self.outputs
        self.d_total = float(self.d.dot(data.ones))


class BestBounds:
    """The best primal and the best dual value over the iterates, in scaled units."""

    def __init__(self, data: ScaledMaster) -> None:
        self._data = data
        self.primal, self._dual = np.inf, -np.inf
        self._primal_state = self._dual_state = None
        self._stretch = 1.0
        self._smallest_gap, self._n_without_progress = np.inf, 0

    @property
    def relative_gap(self) -> float:
        """``(primal - dual) / primal``."""
        return (self.primal - self._dual) / max(abs(self.primal), np.finfo(float).tiny)

    @property
    def stalled(self) -> bool:
        """Whether the gap has not become smaller for many steps."""
        return self._n_without_progress >= STALL_STEPS

    def update(self, state: Evaluation) -> None:
        """Take the state's primal or dual value if it is the best so far."""
        data, strengths = self._data, state.strengths
        # d serves as the certificate of the norm: sum w^2 / d >= ||w||_B^2, equal at the optimum.
        excess = max(1.0, state.d_total / data.budget)
        norm_squared = state.fixed + float(state.d.dot(strengths)) * excess
        risk = max(0.0, float(state.shortfall.max()))
        self._offer_primal(state, 0.5 * norm_squared + data.cap * risk, 1.0)
        # Losses are at most 1, so that a stretch that leaves no risk is at least 1 / (1 - risk).
        if risk < 1.0 and 0.5 * norm_squared < self.primal * (1.0 - risk) ** 2:
            stretch = self._stretch_to_all(state.outputs)
            if stretch is not None:
                self._offer_primal(state, 0.5 * stretch**2 * norm_squared, stretch)
        n_rest = data.n_units - data.budget
        top = np.partition(strengths, n_rest)[n_rest:] if n_rest > 0 else strengths
        dual = float(data.q.dot(state.alpha)) - 0.5 * (state.fixed + float(top.sum()))
        if dual > self._dual:
            self._dual, self._dual_state = dual, state
        gap = self.primal - self._dual
        self._n_without_progress = (
            0 if gap < 0.99 * self._smallest_gap else self._n_without_progress + 1
        )
        self._smallest_gap = min(self._smallest_gap, gap)

    def _offer_primal(self, state: Evaluation, primal: float, stretch: float) -> None:
        if primal < self.primal:
            self.primal, self._primal_state, self._stretch = primal, state, stretch

    def _stretch_to_all(self, outputs: FloatArray) -> float | None:
        """The multiple of w that just satisfies every cut; None where one is far from it.

        A large C turns rounding errors of the risk into large terms. Where the cuts can be
        satisfied, a tiny stretch of w leaves no risk at all.
        """
        if not outputs.min() > 0.0:
            return None
        stretch = float((self._data.q / outputs).max())
        return stretch * (1.0 + 1e-12) if stretch < LONGEST_STRETCH else None

    def solution(self, problem: MasterProblem, n_steps: int) -> MasterSolution:
        """The best points, as the caller sees them."""
        data, unit = self._data, self._data.alpha_scale * self._data.loss_scale
        w = (data.alpha_scale * self._stretch * self._primal_state.alpha).dot(problem.cuts)
        w[problem.free_columns] *= data.spread(self._primal_state.d)
        w[problem.norm.excluded] = 0.0
        alpha = data.alpha_scale * self._dual_state.alpha
        return MasterSolution(w, alpha, self.primal * unit, self._dual * unit, n_steps)
