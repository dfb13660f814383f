"""Selections: ways to choose k columns, each for a whole list of k.

    squared hinge    min { C sum_i c_i (1 - y_i s_i)_+^2 + 1/2 ||w||^2 : k units }   by splicing
    own bound        min { C R(X w) + 1/2 ||w||^2 : k units }   R that of the measure

Neither wins everywhere: the squared hinge ranks better with few positives, the measure's own bound
knows what is reported. ``screened`` looks at the few columns that tell the classes apart best by
themselves, which helps where positives are rare and columns many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_selection import chi2, f_classif

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.losses import Loss
from scoresieve.measures import Measure
from scoresieve.solvers.hard_budget.search import solve_hard_budget
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.splicing.refits import Refitter, columns_of_units
from scoresieve.solvers.splicing.splice import most_promising, splice, start_at_constant

#: Columns that a screened selection looks at, as a multiple of k.
SCREENED = 4
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
    screened : bool
        Whether it looks at the 4 k columns alone that tell the classes apart best one by one.
    """

    kind: Loss | Measure
    C: float
    screened: bool = False

    @property
    def name(self) -> str:
        """For tables: what is minimised, where, and C."""
        where = ", screened" if self.screened else ""
        return f"{self.kind.name}{where}, C={self.C:g}"

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
        if self.screened:
            order = screening_order(X, y, problem)
            return [self._screened(problem.with_budget(k), order, limits) for k in ks]
        found: list[Selected] = []
        for k in ks:
            near = found[-1].units if found else None
            w = self._weights(problem.with_budget(k), limits, near)
            found.append(selected(problem, w))
        return found

    def _screened(self, problem: Problem, order: IntArray, limits: Limits) -> Selected:
        """The choice for one k among the columns of the 4 k first units of the order."""
        units = np.sort(order[: SCREENED * problem.norm.budget])
        columns = np.sort(columns_of_units(problem.norm, units))
        part = replace(
            problem,
            design=problem.design.columns(columns).as_design(),
            norm=problem.norm.restrict(columns),
        )
        w = np.zeros(problem.design.n_columns)
        w[columns] = self._weights(part, limits, None)
        return selected(problem, w)

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


def screening_order(X: Any, y: FloatArray, problem: Problem) -> IntArray:
    """Units by how well each tells the classes apart alone: chi2 of counts, else the F test."""
    has_negatives = (X.data if hasattr(X, "indptr") else np.asarray(X)).min(initial=0.0) < 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        strength, _ = (f_classif if has_negatives else chi2)(X, y)
    strength = np.nan_to_num(strength, nan=0.0, posinf=np.finfo(float).max)
    by_unit = problem.norm.units.sums(np.append(strength, np.zeros(int(problem.constant > 0))))
    return np.argsort(-by_unit, kind="stable")
