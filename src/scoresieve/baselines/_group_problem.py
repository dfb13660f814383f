"""The multiple-kernel subproblem of the feature generating machine, solved in the primal.

F(w_1, ..., w_T) = 1/2 (sum_t ||w_t||)^2 + C sum_i (1 - y_i <sum_t w_t, x_i>)_+^2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Columns, Design
from scoresieve.regularizers import BudgetNorm
from scoresieve.regularizers.units import summed
from scoresieve.solvers.limits import relative_gap

#: What the step is multiplied with after each step that was accepted, and after each that was not.
#: The curvature falls while rows leave the margin, so that a fixed step would become too short.
#: With 1.1 and 0.5 there were 1.5 to 2.5 times as many steps.
LONGER, SHORTER = 1.01, 0.8


@dataclass(frozen=True, eq=False)
class SquaredHingeLoss:
    """``C sum_i (1 - y_i s_i)_+^2``, its gradient, and the dual value of any scores."""

    y: FloatArray
    C: float

    def multipliers(self, scores: FloatArray) -> FloatArray:
        """``alpha_i = 2 C (1 - y_i s_i)_+``: minus the gradient is ``alpha * y``."""
        return 2.0 * self.C * np.maximum(0.0, 1.0 - self.y * scores)

    def value(self, alpha: FloatArray) -> float:
        """The loss at the scores that these are the multipliers of."""
        return float(alpha @ alpha) / (4.0 * self.C)

    def dual(self, alpha: FloatArray, correlation_squared: float) -> tuple[float, float]:
        """``max_s s sum alpha - s^2 sum alpha^2 / (4 C) - s^2/2 c``, and the best factor s.

        For every ``alpha >= 0`` it is a lower bound of the problem whose squared dual norm of
        ``X^T (alpha * y)`` is c.
        """
        total = float(alpha.sum())
        curvature = float(alpha @ alpha) / (2.0 * self.C) + correlation_squared
        if curvature == 0.0:
            return 0.0, 0.0
        factor = total / curvature
        return 0.5 * total * factor, factor


class GroupProblem:
    """``F`` over the groups found so far, in the stacked weights ``v = (w_1, ..., w_T)``.

    Conventions
    -----------
    * A column may be in several groups, and its weights there add up. Products are done with the
      distinct columns only.
    * ``(sum_t ||w_t||)^2`` is the budget norm with B = 1 whose units are the groups, so that its
      prox is exact.
    * ``safe_step`` is a step length that is short enough everywhere, by a bound of the curvature.
    """

    def __init__(self, design: Design, loss: SquaredHingeLoss) -> None:
        self._design, self.loss = design, loss
        self.groups: list[IntArray] = []
        self.columns = np.empty(0, dtype=np.int64)
        self.block: Columns = design.columns(self.columns)

    def add(self, group: IntArray) -> bool:
        """Add a group of sorted column numbers; False if it is empty or in already."""
        if group.size == 0 or any(np.array_equal(group, known) for known in self.groups):
            return False
        new = np.setdiff1d(group, self.columns)
        self.columns = np.concatenate([self.columns, new])
        self.block = self.block.append(self._design.columns(new))
        self.groups.append(group)
        order = np.argsort(self.columns, kind="stable")
        stacked = np.concatenate(self.groups)
        self._places = order[np.searchsorted(self.columns, stacked, sorter=order)]
        sizes = [each.size for each in self.groups]
        self._starts = np.cumsum([0, *sizes[:-1]])
        curvature = 2.0 * self.loss.C * len(sizes) * self.block.as_design().sum_of_squares()
        self.safe_step = 1.0 / max(curvature, np.finfo(float).tiny)
        self.norm = BudgetNorm(
            1, stacked.size, feature_groups=np.repeat(np.arange(len(sizes)), sizes)
        )
        return True

    def collapsed(self, v: FloatArray) -> FloatArray:
        """``sum_t w_t`` on the distinct columns."""
        return summed(self._places, v, self.columns.size)

    def scores(self, v: FloatArray) -> FloatArray:
        """``X sum_t w_t``."""
        return self.block.scores(self.collapsed(v))

    def stacked(self, correlations: FloatArray) -> FloatArray:
        """One number a column and group, from one a distinct column."""
        return correlations[self._places]

    def dual_squared(self, stacked: FloatArray) -> float:
        """``max_t ||c_t||^2``: the dual norm of ``sum_t ||w_t||``."""
        return float(np.add.reduceat(stacked * stacked, self._starts).max())


@dataclass(frozen=True, eq=False)
class GroupSolution:
    """The last point of the accelerated proximal gradient method.

    Attributes
    ----------
    v : ndarray
        Stacked weights.
    scores : ndarray of shape (n_samples,)
    primal, dual : float
        ``F(v)``, and a lower bound of its minimum over these groups.
    step : float
        The last step length, for the next subproblem.
    """

    v: FloatArray
    scores: FloatArray
    primal: float
    dual: float
    n_steps: int
    step: float

    @property
    def gap(self) -> float:
        """Relative gap of the subproblem."""
        return relative_gap(self.primal, self.dual)


def solve_groups(
    problem: GroupProblem,
    v: FloatArray,
    *,
    step: float,
    tol: float,
    max_steps: int,
    expired: Callable[[], bool],
) -> GroupSolution:
    """Minimise F by accelerated proximal gradient steps, until its relative gap is ``tol``.

    Each step is ``v+ = prox(z - step grad(z))`` from an extrapolated point z, with the step length
    found by backtracking. The extrapolation starts anew whenever F rises. The multipliers at z give
    the lower bound at no further product with X.

    Parameters
    ----------
    v : ndarray
        Where to start.
    step : float
        First step length to try.
    tol : float
        Relative gap of the subproblem to stop at.
    expired : callable
        Whether the time is over; asked before each step.
    """
    loss, norm = problem.loss, problem.norm
    step = max(step, problem.safe_step)
    scores = problem.scores(v)
    primal = 0.5 * norm.value_squared(v) + loss.value(loss.multipliers(scores))
    z, z_scores, momentum, dual, n_steps = v, scores, 1.0, 0.0, 0
    while n_steps < max_steps and not expired():
        n_steps += 1
        alpha = loss.multipliers(z_scores)
        descent = problem.stacked(problem.block.correlate(alpha * loss.y))
        dual = max(dual, loss.dual(alpha, problem.dual_squared(descent))[0])
        if relative_gap(primal, dual) <= tol:
            break
        at_z = loss.value(alpha)
        while True:
            trial = norm.prox(z + step * descent, step)
            move = trial - z
            trial_scores = problem.scores(trial)
            at_trial = loss.value(loss.multipliers(trial_scores))
            bound = at_z - float(descent @ move) + 0.5 * float(move @ move) / step
            if at_trial <= bound or step <= problem.safe_step:
                break
            step = max(SHORTER * step, problem.safe_step)
        value = 0.5 * norm.value_squared(trial) + at_trial
        if value > primal and momentum > 1.0:
            z, z_scores, momentum = v, scores, 1.0
            continue
        step *= LONGER
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2 / LONGER))
        ahead = (momentum - 1.0) / following
        z, z_scores = trial + ahead * (trial - v), trial_scores + ahead * (trial_scores - scores)
        v, scores, primal, momentum = trial, trial_scores, value, following
    return GroupSolution(v, scores, primal, dual, n_steps, step)
