"""Candidates that minimise an objective under the limit of k columns.

    Bound         min { C R(X w) + 1/2 ||w||^2 : k units }                     R that of the measure
    LossSearch    min { C sum_i c_i l(y_i, s_i) + 1/2 ||w||^2 : k units }      l a loss
    scaled        the same for X diag(f), columns of one deviation: 1/2 ||w / f||^2

Both splice, see :mod:`scoresieve.solvers.subset.splice`; a unit is a column or a group of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from scoresieve._arrays import IntArray
from scoresieve.estimators.sieve.candidates import (
    CONSTANT,
    Candidate,
    SelectedColumns,
    SelectionProblem,
    halving_sizes,
    with_entries,
)
from scoresieve.losses import Loss
from scoresieve.measures import Measure
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.subset.refits import Refitter
from scoresieve.solvers.subset.splice import most_promising, splice

#: What the name of a loss begins with where it sees columns of one deviation.
SCALED = "scaled_"
#: Gaps that searches stop at: swaps must lower the objective by a tenth of them.
LOSS_TOL, MEASURE_TOL = 0.01, 0.1
#: What the constant model selects.
NO_UNITS: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Bound(Candidate):
    """The bound of the measure, each k started from the previous one."""

    measure: Measure
    C: float
    is_slow: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """As users type it, and C."""
        return f"bound, C={self.C:g}"

    def select(self, problem: SelectionProblem, sizes: Sequence[int]) -> list[SelectedColumns]:
        """The model of :class:`~scoresieve.MeasureSVC` for each k, without a certificate."""
        if problem.weights is not None and not self.measure.takes_weights:
            problem = problem.with_repeated_rows()
        objective = problem.minimising(self.measure.of_share(problem.share), self.C)
        objective = replace(objective, design=problem.fetched)
        limits = replace(problem.limits, tol=MEASURE_TOL)
        found: dict[int, SelectedColumns] = {}
        starts: list[IntArray] = []
        for k in sizes:
            result = solve_problem(
                *(objective.with_budget(k), limits),
                hard=True,
                certificate=False,
                starts=starts,
            )
            w = objective.joined(result.w, result.intercept)
            found[k] = problem.selected(w, result.price)
            starts = [np.flatnonzero(objective.norm.units.norms(w))]
        return with_entries(found, sizes)


@dataclass(frozen=True)
class LossSearch(Candidate):
    """A loss, each k started from half of it.

    The first size starts from the constant model, or from the solution at the previous C if that is
    better.

    Attributes
    ----------
    is_scaled : bool
        Whether columns are scaled to unit deviation.
    """

    loss: Loss
    C: float
    is_scaled: bool = False

    @property
    def name(self) -> str:
        """The loss and C."""
        return f"{SCALED if self.is_scaled else ''}{self.loss.name}, C={self.C:g}"

    def select(self, problem: SelectionProblem, sizes: Sequence[int]) -> list[SelectedColumns]:
        """The best model for each k that splicing finds."""
        objective = replace(problem.minimising(self.loss, self.C), design=problem.fetched)
        factors = np.ones(objective.design.n_columns)
        if self.is_scaled:
            design, fetched = problem.scaled
            factors, constant = design.factors, CONSTANT * float(design.factors[-1])
            objective = replace(objective, design=fetched, constant=constant)
        limits, kind = replace(problem.limits, tol=LOSS_TOL), (self.loss.name, self.is_scaled)
        starts = [NO_UNITS, *problem.notes.get(kind, [])]
        found: dict[int, SelectedColumns] = {}
        for k in halving_sizes(sizes):
            if k not in sizes and problem.time_is_over:
                continue
            refitter = Refitter(objective.with_budget(k), limits)
            begun = [most_promising(refitter, refitter.refit(units), k) for units in starts]
            fit = splice(refitter, min(begun, key=lambda each: each.primal), k)
            w = fit.scattered(objective.design.n_columns)
            starts = [np.flatnonzero(objective.norm.units.norms(w))]
            if not found and starts[0].size:
                problem.notes[kind] = starts
            found[k] = problem.selected(factors * w)
        return with_entries(found, sizes)
