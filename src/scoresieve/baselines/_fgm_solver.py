"""The cutting planes of the feature generating machine: one group of B columns a round.

    min_w 1/2 ||w||_B^2 + C sum_i (1 - y_i <w, x_i>)_+^2
        = max_alpha  min over groups G of B columns of  sum_i alpha_i - sum_i alpha_i^2 / (4 C)
                     - 1/2 sum_{j in G} (sum_i alpha_i y_i x_ij)^2

Each round solves the problem over the groups found so far (``_group_problem``), and adds the group
that is worst for its alpha: the B columns with the largest ``|sum_i alpha_i y_i x_ij|``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.baselines._group_problem import (
    GroupProblem,
    GroupSolution,
    SquaredHingeLoss,
    solve_groups,
)
from scoresieve.design import Design
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.limits import Clock, relative_gap

#: The subproblem's relative gap as a share of the tolerance, and the finest one.
INNER_SHARE, INNER_FINEST = 0.3, 1e-10
#: Most proximal steps for one subproblem.
MAX_STEPS = 5_000


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
    """What the cutting planes found.

    Attributes
    ----------
    w : ndarray of shape (n_columns,)
    alpha : ndarray of shape (n_samples,)
        Multipliers of the rows, ``alpha >= 0``, that prove ``dual``.
    primal, dual : float
        Objective, and its certified lower bound over all columns.
    stopped_by : {"change", "gap", "max_groups", "max_time", "precision"}
        ``"precision"`` if the subproblem cannot be solved finely enough for the gap.
    n_steps : int
        Proximal steps of all rounds.
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
    """The state between rounds.

    Parameters
    ----------
    design : Design
        X, with the constant column if there is an intercept.
    y : ndarray of shape (n_samples,), in {-1, +1}
    norm : BudgetNorm
        On all columns of the design. Columns that are always in belong to every group.
    """

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
    design, y, norm, C
        See :class:`GroupGeneration`.
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
