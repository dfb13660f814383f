"""The restricted master problem: the cuts and columns seen so far; and at its own scale.

    min_w   1/2 ||w||_B^2 + C max(0, max_k q_k - <a_k, w>)                       (primal)
    max_{alpha >= 0, sum alpha <= C}   <q, alpha> - 1/2 ||A^T alpha||_(B)^2      (dual)

K cuts, S columns, both of the order of hundreds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.regularizers import BudgetNorm
from scoresieve.regularizers.units import summed
from scoresieve.solvers.interior import Iterate


@dataclass(frozen=True, eq=False)
class MasterProblem:
    """``min_w 1/2 ||w||_B^2 + C max(0, max_k losses_k - <cuts_k, w>)``.

    Parameters
    ----------
    cuts : ndarray of shape (n_cuts, n_columns)
        Row k is ``a_k = X_S^T delta_k``.
    losses : ndarray of shape (n_cuts,)
        ``q_k = U * Delta_k``, not negative.
    C : float
        Weight of the risk, in the user's scale.
    norm : BudgetNorm
        The budget norm on the ``n_columns`` columns of the working set.
    gram : ndarray of shape (n_cuts, n_cuts), optional
        Gram matrix of the cuts on the fixed columns, if the caller keeps it.
    """

    cuts: FloatArray
    losses: FloatArray
    C: float
    norm: BudgetNorm
    gram: FloatArray | None = None

    @property
    def is_quadratic_programme(self) -> bool:
        """Whether the budget covers every unit, so that nothing is left to choose."""
        return self.norm.n_units <= self.norm.budget

    @property
    def free_columns(self) -> IntArray:
        """Columns whose weight d_j is to be chosen; all others but the excluded have d_j = 1."""
        if self.is_quadratic_programme:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.norm.unit_of >= 0)

    @property
    def fixed_columns(self) -> IntArray:
        """The columns F with d_j = 1 for certain: those always in, or all if the budget allows."""
        unit_of = self.norm.unit_of
        return np.flatnonzero(unit_of >= -1 if self.is_quadratic_programme else unit_of == -1)

    def fixed_gram(self) -> FloatArray:
        """``A_F A_F^T`` on the columns F with d_j = 1 for certain."""
        if self.gram is not None:
            return self.gram
        part = self.cuts[:, self.fixed_columns]
        return part @ part.T

    def best_multiple(self, direction: FloatArray) -> float:
        """``min(C, <q, e> / ||A^T e||_(B)^2)``: the multiple of e with the largest dual value.

        Parameters
        ----------
        direction : ndarray of shape (n_cuts,)
            e, non-negative with sum 1.
        """
        curvature = self.norm.dual_squared(self.cuts.T @ direction)
        gain = float(self.losses @ direction)
        if curvature * self.C <= gain:
            return self.C
        return gain / curvature if gain > 0.0 else self.C

    def primal(self, w: FloatArray) -> float:
        """Value of the primal at ``w``: an upper bound of the optimum."""
        risk = max(0.0, float(np.max(self.losses - self.cuts @ w)))
        return 0.5 * self.norm.value_squared(w) + self.C * risk

    def dual(self, alpha: FloatArray) -> float:
        """Value of the dual at a feasible ``alpha``: a lower bound of the optimum."""
        correlations = combined(alpha, self.cuts)
        return float(self.losses @ alpha) - 0.5 * self.norm.dual_squared(correlations)

    def feasible(self, alpha: FloatArray) -> FloatArray:
        """The nearest simple point with ``alpha >= 0`` and ``sum alpha <= C``."""
        alpha = np.maximum(alpha, 0.0)
        total = float(alpha.sum())
        return alpha * (self.C / total) if total > self.C else alpha


@dataclass(frozen=True, eq=False)
class MasterSolution:
    """A primal and a dual point of a master problem, with their values.

    Attributes
    ----------
    w : ndarray of shape (n_columns,)
    alpha : ndarray of shape (n_cuts,)
        Feasible: ``alpha >= 0`` and ``sum alpha <= C`` up to rounding.
    primal, dual : float
        Values of both points; the optimum lies between them.
    n_steps : int
        Newton steps.
    fell_back : bool
        Whether the conic solver gave this solution.
    at_rounding : bool
        Whether the rest of the gap is rounding, so that no method can close it.
    """

    w: FloatArray
    alpha: FloatArray
    primal: float
    dual: float
    n_steps: int
    fell_back: bool = False
    at_rounding: bool = False

    @property
    def relative_gap(self) -> float:
        """``(primal - dual) / primal``."""
        return (self.primal - self.dual) / max(abs(self.primal), np.finfo(float).tiny)

    def is_within(self, tol: float) -> bool:
        """Whether the relative gap is at most ``tol``; a dual value above the primal is no gap."""
        return abs(self.relative_gap) <= tol

    def with_better_of(self, other: MasterSolution) -> MasterSolution:
        """The better primal point of both with the better dual point of both."""
        # Written so that what is not a number loses.
        if not self.primal <= other.primal:
            self = replace(self, w=other.w, primal=other.primal)
        if not self.dual >= other.dual:
            self = replace(self, alpha=other.alpha, dual=other.dual)
        return self


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
    q : ndarray of shape (n_cuts,)
        Scaled losses.
    cap : float
        Bound of ``sum alpha``.
    alpha_scale, loss_scale : float
        What alpha and q are divided by.
    """

    A: FloatArray
    fixed: FloatArray
    gram: FloatArray | None
    unit_of: IntArray | None
    n_units: int
    budget: int
    q: FloatArray
    cap: float
    alpha_scale: float
    loss_scale: float

    @classmethod
    def of(cls, problem: MasterProblem, alpha_scale: float) -> ScaledMaster:
        """The problem with q at most 1 and alpha divided by ``alpha_scale``."""
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
        return summed(self.unit_of, x, self.n_units)

    def spread(self, per_unit: FloatArray) -> FloatArray:
        """The value of each column's unit."""
        return per_unit if self.unit_of is None else per_unit[self.unit_of]

    def couple(self, c: FloatArray) -> FloatArray:
        """``A diag(c)`` summed over the columns of each unit, of shape (K, n_units)."""
        assert self.unit_of is not None
        coupled = np.zeros((self.n_units, self.n_cuts))
        np.add.at(coupled, self.unit_of, (self.A * c).T)
        return coupled.T


class Evaluation:
    """A point with its parts by name, ``c = A^T alpha``, and ``outputs_k = <a_k, w>``."""

    def __init__(self, data: ScaledMaster, point: Iterate) -> None:
        self.point, self.level = point, float(point.free[0])
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


def combined(a: FloatArray, X: FloatArray) -> FloatArray:
    """``sum_i a_i x_i``, each product rounded before it is added.

    So equal products cancel to the last bit on every machine. A matrix product may fuse the
    multiplication with the addition, and then they do not.
    """
    return np.sum(a[:, np.newaxis] * X, axis=0)
