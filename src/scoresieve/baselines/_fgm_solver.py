"""The cutting planes of the feature generating machine: one group of B columns a round.

    min_w 1/2 ||w||_B^2 + C sum_i (1 - y_i <w, x_i>)_+^2
        = max_alpha  min over groups G of B columns of  sum_i alpha_i - sum_i alpha_i^2 / (4 C)
                     - 1/2 sum_{j in G} (sum_i alpha_i y_i x_ij)^2

Each round solves the multiple-kernel problem over the T groups found so far, in the primal,

    F(w_1, ..., w_T) = 1/2 (sum_t ||w_t||)^2 + C sum_i (1 - y_i <sum_t w_t, x_i>)_+^2 ,

and adds the group that is worst for its alpha: the B columns with the largest
``|sum_i alpha_i y_i x_ij|``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Columns, Design
from scoresieve.regularizers import BudgetNorm
from scoresieve.regularizers.units import summed
from scoresieve.solvers.limits import Clock, relative_gap

#: The subproblem's relative gap as a share of the tolerance, and the finest one.
INNER_SHARE, INNER_FINEST = 0.3, 1e-10
#: Most proximal steps for one subproblem.
MAX_STEPS = 5_000
#: What the step is multiplied with after each step that was accepted, and after each that was not.
#: The curvature falls while rows leave the margin, so that a fixed step would become too short.
#: With 1.1 and 0.5 there were 1.5 to 2.5 times as many steps.
LONGER, SHORTER = 1.01, 0.8


@dataclass(frozen=True, eq=False)
class GroupRound:
    """One row of the history: groups, seconds, proximal steps, bounds of the original problem."""

    n_groups: int
    time: float
    n_steps: int
    primal: float
    dual: float


@dataclass(frozen=True, eq=False)
class FGMResult:
    """The best weights, and the multipliers of the rows, ``alpha >= 0``, that prove ``dual``.

    ``dual`` bounds the objective over all columns. ``stopped_by`` is "change", "gap",
    "max_groups", "max_time", or "precision" if the subproblem cannot be solved finely enough for
    the gap. ``n_steps`` counts the proximal steps of all rounds.
    """

    w: FloatArray
    alpha: FloatArray
    primal: float
    dual: float
    stopped_by: str
    n_steps: int
    history: list[GroupRound]

    @property
    def gap(self) -> float:
        """``(primal - dual) / primal``."""
        return relative_gap(self.primal, self.dual)


class GroupGeneration:
    """The state between rounds; ``norm``'s columns that are always in belong to every group."""

    def __init__(self, design: Design, y: FloatArray, norm: BudgetNorm, C: float) -> None:
        self.design, self.norm, self.loss = design, norm, SquaredHingeLoss(y, C)
        self.problem = GroupProblem(design, self.loss)
        self.clock = Clock()
        self.history: list[GroupRound] = []
        self.w = np.zeros(0)
        scores = np.zeros(y.size)
        self.primal, self.dual = self.loss.value(self.loss.multipliers(scores)), 0.0
        self.last = GroupSolution(np.zeros(0), scores, self.primal, 0.0, 0, 0.0)
        if self._generate():
            # Too long for sure: the largest curvature is at least the mean one.
            step = self.problem.columns.size * self.problem.safe_step
            self.last = replace(self.last, step=step)

    def _generate(self) -> bool:
        """Bound the problem by one pass over all columns, and add the most violated group."""
        alpha = self.loss.multipliers(self.last.scores)
        correlations = self.design.correlate(alpha * self.loss.y)
        value, factor = self.loss.dual(alpha, self.norm.dual_squared(correlations))
        if value >= self.dual:
            self.dual, self.alpha = value, factor * alpha
        group = np.union1d(self.norm.top_columns(correlations), self.norm.always)
        return self.problem.add(group)

    def round(self, inner_tol: float, max_time: float) -> bool:
        """Solve the subproblem and look for the next group; False if there is none."""
        v = np.append(self.last.v, np.zeros(self.problem.norm.n_columns - self.last.v.size))
        self.last = solve_groups(
            self.problem,
            v,
            step=self.last.step,
            tol=inner_tol,
            max_steps=MAX_STEPS,
            expired=lambda: self.clock.elapsed >= max_time,
        )
        w = self.problem.collapsed(self.last.v)
        columns = self.problem.columns
        loss = self.loss.value(self.loss.multipliers(self.last.scores))
        primal = 0.5 * self.norm.restrict(columns).value_squared(w) + loss
        if primal <= self.primal:
            self.primal, self.w = primal, w
        is_new = self._generate()
        n_groups = len(self.problem.groups) - is_new
        self.history.append(
            GroupRound(n_groups, self.clock.elapsed, self.last.n_steps, self.primal, self.dual)
        )
        return is_new

    def weights(self) -> FloatArray:
        """The best weights, on all columns."""
        w = np.zeros(self.design.n_columns)
        w[self.problem.columns[: self.w.size]] = self.w
        return w


def solve_fgm(
    design: Design,
    y: FloatArray,
    norm: BudgetNorm,
    C: float,
    *,
    tol: float,
    stop: str,
    max_groups: int,
    max_time: float | None = None,
) -> FGMResult:
    """Generate groups until the objective no longer changes, or until the certified gap is small.

    Parameters
    ----------
    design : Design
        X, with the constant column if there is an intercept.
    y : ndarray of shape (n_samples,), in {-1, +1}
    norm : BudgetNorm
        On all columns of the design.
    stop : {"change", "gap"}
        ``"change"``: the objective of the subproblem fell by at most ``tol`` of itself, or the most
        violated group is in already. ``"gap"``: the certified relative gap is at most ``tol``.
    max_time : float, optional
        Seconds, honoured within one proximal step and one pass over X.
    """
    state = GroupGeneration(design, y, norm, C)
    limit = np.inf if max_time is None else max_time
    inner_tol = INNER_SHARE * tol
    before = state.last.primal
    # Without any column that tells the classes apart there is no group, and w = 0 is optimal.
    stopped_by = None if state.problem.groups else stop
    while stopped_by is None:
        is_new = state.round(inner_tol, limit)
        solved = state.last.gap <= inner_tol
        small = before - state.last.primal <= tol * state.last.primal
        before = state.last.primal
        if stop == "gap" and relative_gap(state.primal, state.dual) <= tol:
            stopped_by = "gap"
        elif stop == "change" and solved and (small or not is_new):
            stopped_by = "change"
        elif state.clock.elapsed >= limit:
            stopped_by = "max_time"
        elif len(state.problem.groups) > max_groups:
            stopped_by = "max_groups"
        elif not is_new:
            # What is left of the gap is the subproblem's.
            stopped_by = "precision" if inner_tol <= INNER_FINEST else None
            inner_tol = max(INNER_FINEST, 0.1 * inner_tol)
    n_steps = sum(each.n_steps for each in state.history)
    return FGMResult(
        state.weights(), state.alpha, state.primal, state.dual, stopped_by, n_steps, state.history
    )


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
    """Stacked weights v, their scores, ``F(v)``, and a lower bound of F over these groups.

    ``step`` is the last step length, for the next subproblem.
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

    It starts at v, tries ``step`` first, and asks ``expired`` before each step.
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
