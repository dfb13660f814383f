"""Selections: ways to choose k columns, each for a whole list of k.

    squared hinge    min { C sum_i c_i (1 - y_i s_i)_+^2 + 1/2 ||w||^2 : k units }   by splicing
    own bound        min { C R(X w) + 1/2 ||w||^2 : k units }   R that of the measure

Neither wins everywhere: the squared hinge ranks better with few positives, the measure's own bound
knows what is reported.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.losses import Loss
from scoresieve.measures import Measure
from scoresieve.solvers.hard_budget.search import solve_hard_budget
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.splicing.refits import Refitter
from scoresieve.solvers.splicing.splice import most_promising, splice, start_at_constant

#: Gaps that searches stop at: swaps must lower the objective by a tenth of them.
LOSS_TOL, MEASURE_TOL = 0.01, 0.1


class Selected(NamedTuple):
    """The chosen units, and the model that chose them: weights of their columns, and intercept."""

    units: IntArray
    columns: IntArray
    w: FloatArray
    intercept: float


@dataclass(frozen=True)
class Selection:
    """A way to choose k columns.

    Attributes
    ----------
    kind : Loss or Measure
        What is minimised under the limit of k units.
    C : float
    """

    kind: Loss | Measure
    C: float

    @property
    def name(self) -> str:
        """For tables: what is minimised, and C."""
        return f"{self.kind.name}, C={self.C:g}"

    def of_share(self, share: float) -> Selection:
        """The same for a share of the rows: a number of alarms is lowered with them."""
        if not isinstance(self.kind, Measure):
            return self
        return replace(self, kind=self.kind.of_share(share))

    def path(
        self, X: Any, y: FloatArray, ks: list[int], limits: Limits, **columns: Any
    ) -> list[Selected]:
        """The choice for each k, ascending, each from the one before.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            In {-1, +1}.
        limits : Limits
            For their deadline.
        columns : dict
            Roles of columns, weights of rows and the constant, as for :func:`make_problem`.
        """
        problem = make_problem(
            X,
            y,
            measure=self.kind if isinstance(self.kind, Measure) else None,
            loss=None if isinstance(self.kind, Measure) else self.kind,
            budget=1,
            C=self.C,
            **columns,
        )
        found: list[Selected] = []
        for k in ks:
            near = found[-1].units if found else None
            w = self._weights(problem.with_budget(k), limits, near)
            found.append(selected(problem, w))
        return found

    def _weights(self, problem: Problem, limits: Limits, near: IntArray | None) -> FloatArray:
        """The model for one k, near that for a smaller one."""
        if isinstance(self.kind, Measure):
            starts = [] if near is None else [near]
            limits = replace(limits, tol=MEASURE_TOL)
            result = solve_hard_budget(problem, limits, certificate=False, starts=starts)
            return problem.joined(result.w, result.intercept)
        k = problem.norm.budget
        refitter = Refitter(problem, replace(limits, tol=LOSS_TOL))
        start = start_at_constant(refitter) if near is None else refitter.refit(near)
        fit = splice(refitter, most_promising(refitter, start, k), k)
        return fit.scattered(problem.design.n_columns)


def selected(problem: Problem, w: FloatArray) -> Selected:
    """The units with a weight, and the weights, of features in their order."""
    weights, intercept = problem.split(w)
    columns = np.union1d(np.flatnonzero(weights), problem.always_features)
    units = np.flatnonzero(problem.norm.units.norms(w))
    return Selected(units, columns, weights[columns], intercept)
