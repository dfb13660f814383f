"""Selections: ways to choose k columns, each for a whole list of k.

    squared hinge    min { C sum_i c_i (1 - y_i s_i)_+^2 + 1/2 ||w||^2 : k units }   by splicing
    scaled           the same for X diag(f), columns of one deviation: 1/2 ||w / f||^2
    own bound        min { C R(X w) + 1/2 ||w||^2 : k units }   R that of the measure
    direct           max { M(X w) : k units }   M the measure, one unit after the other
    correlation      the k units that say most about y one at a time
    alone, chi2      the k units with the highest average precision, or chi2, one at a time

None wins everywhere: the squared hinge ranks better with few positives, and where scales differ it
sees other columns once they are equal; the measure's own bound knows what is reported, the measure
itself may be far ahead where positives are many, and with few rows and many columns what is chosen
one at a time is steadier than what a search finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Design, as_design
from scoresieve.design.scaled import ScaledDesign, column_means, equal_factors
from scoresieve.estimators.sieve.correlated import Filter, correlated, refits_in_order
from scoresieve.estimators.sieve.filters import above_chance, chi2_statistics, ranked_by
from scoresieve.estimators.sieve.rungs import entered_at, rungs
from scoresieve.losses import Loss
from scoresieve.measures import Measure
from scoresieve.risks import LossRisk
from scoresieve.solvers.direct.search import direct_path
from scoresieve.solvers.hard_budget.search import solve_hard_budget
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.splicing.fetched import DesignBesideFetched, FetchedColumns
from scoresieve.solvers.splicing.refits import Refitter, columns_of_units
from scoresieve.solvers.splicing.splice import most_promising, splice, start_at_constant

#: Names of ways to choose: under a budget what is minimised, one at a time, or the measure itself.
SEARCH, DIRECT = "search", "direct"
#: Ways that look at one unit at a time.
ONE_AT_A_TIME: dict[str, Filter] = {
    "alone": partial(ranked_by, above_chance),
    "chi2": partial(ranked_by, chi2_statistics),
    "correlation": correlated,
}
#: What the name of a loss begins with where it sees columns of one deviation.
SCALED = "scaled_"
#: Mean squares of entries that one grid of C serves: unit rows of text to unit deviations.
MEAN_SQUARES = (1e-3, 10.0)
#: The value of the constant column in a search, and where the intercept is almost free.
CONSTANT, FREE_CONSTANT = 1.0, 10.0
#: For columns of one scale that are far from 0, how many times their means it is.
TIMES_MEANS = 10.0
#: What the constant model selects.
NO_UNITS: IntArray = np.zeros(0, dtype=np.int64)
#: Gaps that searches stop at: swaps must lower the objective by a tenth of them.
LOSS_TOL, MEASURE_TOL = 0.01, 0.1


class Selected(NamedTuple):
    """The chosen units, and the model that chose them: weights of their columns, and intercept.

    Attributes
    ----------
    price : float
        What a false alarm costs in the bound of a measure; NaN for losses.
    entered : ndarray of int of shape (len(columns),), or None
        When each column came in, see :func:`~scoresieve.estimators.sieve.rungs.entered_at`; None
        where that is not known.
    """

    units: IntArray
    columns: IntArray
    w: FloatArray
    intercept: float
    price: float = nan
    entered: IntArray | None = None


@dataclass(frozen=True)
class Selection:
    """A way to choose k columns.

    Attributes
    ----------
    kind : Loss or Measure
        What is minimised under the limit of k units, or the measure that is raised.
    C : float or None
        None where nothing is held back.
    way : str
        "search"; "direct"; or one of ``ONE_AT_A_TIME``, where the loss is only that of the model on
        the units.
    is_scaled : bool
        Whether it sees columns of one deviation; for a search.
    """

    kind: Loss | Measure
    C: float | None
    way: str = SEARCH
    is_scaled: bool = False

    @property
    def name(self) -> str:
        """For tables: what is minimised, and C."""
        own = self.kind.name if self.C is None else f"{self.kind.name}, C={self.C:g}"
        own = SCALED + own if self.is_scaled else own
        return own if self.way == SEARCH else f"{self.way} ({own})"

    def of_share(self, share: float) -> Selection:
        """The same for a share of the rows: a number of alarms is lowered with them."""
        if not isinstance(self.kind, Measure):
            return self
        return replace(self, kind=self.kind.of_share(share))

    def repeats_rows(self, columns: dict[str, Any]) -> bool:
        """Whether rows stand for their weights, since the measure that is bounded takes none."""
        if not isinstance(self.kind, Measure) or self.way != SEARCH:
            return False
        return columns.get("sample_weight") is not None and not self.kind.takes_weights

    def problem(self, X: Any, y: FloatArray, **columns: Any) -> Problem:
        """What is minimised, for one unit; where it does not select, with a free intercept.

        For a direct search it is the rows, the columns and their roles that matter.
        """
        if self.C is None:
            return make_problem(X, y, budget=1, loss="logistic", **columns)
        if self.way in ONE_AT_A_TIME:
            columns = {**columns, "intercept_scaling": FREE_CONSTANT}
        kind: dict[str, Any] = {"measure" if isinstance(self.kind, Measure) else "loss": self.kind}
        return make_problem(X, y, budget=1, C=self.C, **kind, **columns)


def paths(
    selections: Sequence[Selection],
    X: Any,
    y: FloatArray,
    ks: Sequence[int],
    limits: Limits,
    **columns: Any,
) -> Iterator[list[Selected]]:
    """The choice of each selection for each k, ascending.

    Conventions
    -----------
    * A search for k starts from what was found for fewer: for the k before, and a loss for half of
      k, a quarter, and so on, too, see :func:`rungs`. The first of them starts from the constant
      model, or from what the same loss has found there with the C before, if that is better.
    * Columns of X are fetched once for all searches; where scales are made equal, that happens in
      the rows that are given.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        In {-1, +1}.
    limits : Limits
        For their deadline.
    columns : dict
        Roles of columns, weights of rows and the constant, as for :func:`make_problem`.
    """
    design = as_design(X)
    as_given: FetchedColumns | None = None
    scaled: tuple[ScaledDesign, FetchedColumns] | None = None
    smallest: dict[tuple[str, bool], IntArray] = {}
    for selection in selections:
        if selection.repeats_rows(columns):  # rows of its own, and so columns of its own
            problem = selection.problem(X, y, **columns)
            yield searched_path(problem, ks, limits, NO_UNITS, FetchedColumns(problem.design))[0]
            continue
        problem = selection.problem(design, y, **columns)
        if selection.way in ONE_AT_A_TIME:
            refitter = Refitter(problem, replace(limits, tol=LOSS_TOL))
            yield filtered_path(refitter, ONE_AT_A_TIME[selection.way], ks)
            continue
        as_given = as_given or FetchedColumns(problem.design)
        if selection.way == DIRECT:
            assert isinstance(selection.kind, Measure)
            every = rungs(ks)
            models = direct_path(problem, selection.kind, every, limits.deadline, as_given)
            grown = [selected(problem, w, nan) for w, _ in models]
            yield with_entries(dict(zip(every, grown, strict=True)), ks)
            continue
        fetched = as_given
        if selection.is_scaled:
            if scaled is None:
                of_one_scale = with_one_scale(problem, design, as_given)
                scaled = of_one_scale, FetchedColumns(of_one_scale)
            problem, fetched = on_scaled(problem, scaled[0]), scaled[1]
        kind = selection.kind.name, selection.is_scaled
        start = smallest.get(kind, NO_UNITS)
        found, smallest[kind] = searched_path(problem, ks, limits, start, fetched)
        yield found


def with_one_scale(problem: Problem, design: Design, fetched: FetchedColumns) -> ScaledDesign:
    """The columns of a problem, of one deviation; those that are there are not fetched again.

    Parameters
    ----------
    design : Design
        X, without the constant column, and with each row once.
    """
    factors = equal_factors(design, MEAN_SQUARES)
    constant = constant_for(factors * column_means(design))
    beside = DesignBesideFetched(problem.design, fetched)
    return ScaledDesign(beside, np.append(factors, constant / problem.constant))


def on_scaled(problem: Problem, design: ScaledDesign) -> Problem:
    """The problem of these columns, the last of them the constant one."""
    return replace(problem, design=design, constant=problem.constant * float(design.factors[-1]))


def constant_for(means: FloatArray) -> float:
    """The value of the constant column for columns with these means.

    Where all are far from 0, the intercept has to make up for the means of the columns that are
    chosen, and a penalty on it asks for columns whose means cancel. Searches of the columns as they
    are have that penalty: of genes, say, differences are often better than sums. Those of columns
    of one scale have none to speak of, and so do not depend on where the scale of a column begins.
    """
    largest = np.abs(means).max(initial=0.0)
    # Of shares of the largest, whose squares do not overflow.
    share = np.sqrt(np.mean(np.square(means / largest))) if largest > 0.0 else 0.0
    return float(max(CONSTANT, TIMES_MEANS * largest * share))


def searched_path(
    problem: Problem, ks: Sequence[int], limits: Limits, start: IntArray, fetched: FetchedColumns
) -> tuple[list[Selected], IntArray]:
    """The best units for each k that a search finds, and those of the first rung.

    Each is found from the units of the one before; the first from the constant model, or from
    ``start`` if that is better. A loss goes through all rungs.

    Parameters
    ----------
    start : ndarray of int
        The first rung of the same loss with another C.
    """
    is_loss = isinstance(problem.risk, LossRisk)
    found: dict[int, Selected] = {}
    last = NO_UNITS
    for k in rungs(ks) if is_loss else ks:
        if k not in ks and limits.deadline is not None and limits.deadline.is_over:
            continue
        starts = [last] if found or not start.size else [last, start]
        w, price = best_weights(problem.with_budget(k), limits, starts, fetched)
        found[k] = selected(problem, w, price)
        last = found[k].units
    return with_entries(found, ks), found[min(found)].units


def filtered_path(refitter: Refitter, strongest: Filter, ks: Sequence[int]) -> list[Selected]:
    """The units that are strongest one at a time, and the refits on them, for each k."""
    problem, start = refitter.problem, start_at_constant(refitter)
    order = strongest(refitter, start, ks[-1])
    refits = refits_in_order(refitter, ks, start, order)
    width = problem.design.n_columns
    models = [selected(problem, each.scattered(width), nan) for each in refits]
    supports = {k: columns_of_units(problem.norm, np.sort(order[:k])) for k in rungs(ks)}
    return [
        model._replace(entered=entered_at(k, {**supports, k: model.columns}))
        for k, model in zip(ks, models, strict=True)
    ]


def with_entries(found: Mapping[int, Selected], ks: Sequence[int]) -> list[Selected]:
    """What was found for each k, with the numbers that its columns came in at."""
    supports = {k: each.columns for k, each in found.items()}
    return [found[k]._replace(entered=entered_at(k, supports)) for k in ks]


def best_weights(
    problem: Problem, limits: Limits, starts: list[IntArray], fetched: FetchedColumns
) -> tuple[FloatArray, float]:
    """The model for one k, from the better of the starts, and its price."""
    if not isinstance(problem.risk, LossRisk):
        limits = replace(limits, tol=MEASURE_TOL)
        result = solve_hard_budget(
            problem, limits, certificate=False, starts=starts, fetched=fetched
        )
        return problem.joined(result.w, result.intercept), result.price
    k = problem.norm.budget
    refitter = Refitter(problem, replace(limits, tol=LOSS_TOL), fetched)
    begun = [most_promising(refitter, refitter.refit(units), k) for units in starts]
    fit = splice(refitter, min(begun, key=lambda each: each.primal), k)
    return fit.scattered(problem.design.n_columns), nan


def selected(problem: Problem, w: FloatArray, price: float) -> Selected:
    """The units with a weight, and the weights, of features in their order."""
    units = np.flatnonzero(problem.norm.units.norms(w))
    weights, intercept = problem.split(w)
    if isinstance(problem.design, ScaledDesign):
        weights = problem.design.factors[: weights.size] * weights
    columns = np.union1d(np.flatnonzero(weights), problem.always_features)
    return Selected(units, columns, weights[columns], intercept, price)
