"""Univariate filters: columns ranked one at a time.

    r_j = |sum_i v_i x_ij| / sqrt(sum_i (x_ij - m_j)^2)                      correlation
    a_j = max over both directions of  sum_t (R_t - R_t-1) P_t               average precision
    h_j = (sum_i v_i x_ij)^2 / (p (1 - p) sum_i c_i (x_ij - m_j))            chi2

with weights c of the rows. A search compares sets of columns, and with thousands of columns and a
few dozen rows it overfits. Ranking single columns overfits less.

In r, ``v_i = c_i (y_i - p_i)`` with p the probabilities of the model without units. Without weights
and without columns that are always in, these are the columns with the largest F of an analysis of
variance. Weights enter what a column tells, not how far it spreads: the norms of columns are known
without them. A correlation asks how far the mean of the positives is from that of the others, and a
few large numbers decide; ranks do not see how large they are: a is that of column j as a score,
with precision P and recall R of the rows above each of its values t.

h is scikit-learn's chi2 of a column of unit deviation with its lowest number m_j, if negative,
moved to 0; ``v_i = c_i ([y_i > 0] - p)`` with p the share of the positives. It prefers columns that
are near their lowest number in most rows, as genes are that few samples express.

For a and h only the columns with the largest r are looked at: a pass over X finds these, and of the
others few would come in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve.design import Design, Entries
from scoresieve.design.scaled import norms_and_spreads
from scoresieve.estimators.sieve.candidates import (
    CONSTANT,
    FREE_CONSTANT,
    Candidate,
    SelectedColumns,
    SelectionProblem,
    entered_at,
    halving_sizes,
)
from scoresieve.losses import get_loss
from scoresieve.regularizers.units import largest_positions
from scoresieve.solvers.subset.refits import Refit, Refitter, columns_of_units
from scoresieve.solvers.subset.splice import start_at_constant

#: The loss of the model on the columns.
LOSS = "logistic"
#: Relative gap of its fits.
TOL = 0.01
#: Units that are ranked, and numbers that these may have together: where there are many rows they
#: are fewer, but as many as are wanted at least.
N_RANKED, MOST_NUMBERS = 300, 2**22
#: Of the entries of some columns, the rows that are positive, and the weights of rows.
Statistic = Callable[[Entries, BoolArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Filter(Candidate):
    """The k units with the largest statistic, and a logistic regression on them.

    Parameters
    ----------
    statistic : str
        A key of ``STATISTICS``.
    C : float
        Of the logistic regression.
    """

    statistic: str
    C: float
    is_univariate: ClassVar[bool] = True

    @property
    def is_slow(self) -> bool:  # type: ignore[override]
        """Whether every column is sorted."""
        return self.statistic == "average_precision"

    @property
    def name(self) -> str:
        """The statistic, and what the model on the columns is."""
        return f"{self.statistic} ({LOSS}, C={self.C:g})"

    def select(self, problem: SelectionProblem, sizes: Sequence[int]) -> list[SelectedColumns]:
        """The strongest units, and the model on them, for each k."""
        seen, norm = without_units(problem, self.C), problem.norm
        order = strongest_units(problem, seen, STATISTICS[self.statistic], sizes[-1])
        supports = {k: columns_of_units(norm, np.sort(order[:k])) for k in halving_sizes(sizes)}
        fit, found = seen.fit, []
        for k in sizes:
            fit = seen.refitter.refit(np.sort(order[:k]), fit)
            model = problem.selected(seen.factors * fit.scattered(norm.n_columns))
            entered = entered_at(k, {**supports, k: model.columns})
            found.append(model._replace(entered=entered))
        return found


class WithoutUnits(NamedTuple):
    """The model without units, a refitter for scaled columns, and r of every unit."""

    refitter: Refitter
    factors: FloatArray
    fit: Refit
    correlations: FloatArray


def without_units(problem: SelectionProblem, C: float) -> WithoutUnits:
    """What all filters share, computed once for the rows."""
    key = WithoutUnits, C
    if key not in problem.notes:
        factors = np.append(np.ones(problem.X.n_columns), FREE_CONSTANT / CONSTANT)
        design, objective = problem.rescaled(factors), problem.minimising(get_loss(LOSS), C)
        objective = replace(objective, design=design, constant=FREE_CONSTANT)
        refitter = Refitter(objective, replace(problem.limits, tol=TOL))
        fit = start_at_constant(refitter)
        found = problem.norm.units.norms(correlations(design, fit.v, problem.row_weights))
        problem.notes[key] = WithoutUnits(refitter, factors, fit, found)
    return problem.notes[key]


def correlations(design: Design, v: FloatArray, weights: FloatArray) -> FloatArray:
    """``r`` of every column, 0 for those that are constant.

    The sum of v is that of the rounding and of an intercept that costs a little: it is taken off.
    """
    v = v - weights * (v.sum() / weights.sum())
    norms, spreads = norms_and_spreads(design)
    varies = spreads > 0.0
    strength = np.abs(design.correlate(v)) / np.where(varies, norms, 1.0)
    return np.where(varies, strength / np.where(varies, spreads, 1.0), 0.0)


def strongest_units(
    problem: SelectionProblem, seen: WithoutUnits, statistic: Statistic | None, k: int
) -> IntArray:
    """The k units with the largest statistic, by default r, the strongest first.

    That of a group of columns is the norm of theirs.
    """
    if statistic is None:
        return by_strength(seen.correlations, k)
    norm, n_ranked = problem.norm, max(k, min(N_RANKED, MOST_NUMBERS // problem.y.size))
    screened = by_strength(seen.correlations, n_ranked)
    columns = columns_of_units(norm, np.sort(screened))[norm.always.size :]
    entries = problem.fetched.block(columns).entries()
    strength = np.zeros(norm.n_columns)
    # What tells nothing stays behind all that does, in front of what was not looked at.
    found = statistic(entries, problem.y > 0.0, problem.row_weights)
    strength[columns] = np.maximum(found, np.finfo(np.float64).tiny)
    return by_strength(norm.units.norms(strength), k)


def by_strength(strength: FloatArray, k: int) -> IntArray:
    """The k strongest, strongest first, ties by index; never one of strength 0."""
    found = largest_positions(strength, k)
    return found[np.argsort(-strength[found], kind="stable")]


def above_chance(entries: Entries, positive: BoolArray, weights: FloatArray) -> FloatArray:
    """``a_j`` minus the average precision of an uninformative column."""
    return average_precisions(entries, positive, weights) - weights[positive].sum() / weights.sum()


def chi2_statistics(entries: Entries, positive: BoolArray, weights: FloatArray) -> FloatArray:
    """``h_j`` of every column."""
    n_columns, total = entries.starts.size - 1, weights.sum()
    share = weights[positive].sum() / total
    column = np.repeat(np.arange(n_columns), np.diff(entries.starts))
    lowest, largest = np.zeros(n_columns), np.zeros(n_columns)
    np.minimum.at(lowest, column, entries.values)
    np.maximum.at(largest, column, np.abs(entries.values))

    def summed(numbers: FloatArray) -> FloatArray:
        every = weights[entries.rows] * numbers
        return np.bincount(column, weights=every, minlength=n_columns).astype(np.float64)

    # Of shares of the largest number, whose squares do not overflow.
    values = entries.values / largest[column]
    sums, of_positives = summed(values), summed(values * positive[entries.rows])
    deviations = np.sqrt(np.maximum(summed(values * values) / total - np.square(sums / total), 0.0))
    above_lowest = sums - total * np.divide(lowest, largest, out=lowest, where=largest > 0.0)
    told = np.square(of_positives - share * sums) / (share * (1.0 - share))
    return np.divide(told, above_lowest * deviations, out=np.zeros(n_columns), where=deviations > 0)


def average_precisions(entries: Entries, positive: BoolArray, weights: FloatArray) -> FloatArray:
    """``a_j`` of every column."""
    total, of_positives = weights.sum(), weights[positive].sum()
    found = np.empty(entries.starts.size - 1)
    for column, (begin, end) in enumerate(pairwise(entries.starts)):
        rows = entries.rows[begin:end]
        every, relevant = weights[rows], weights[rows] * positive[rows]
        # All rows without an entry are tied at 0.
        values = np.append(entries.values[begin:end], 0.0)
        every = np.append(every, total - every.sum())
        relevant = np.append(relevant, of_positives - relevant.sum())
        order = np.argsort(values, kind="stable")
        is_first = np.append(True, np.diff(values[order]) > 0.0)
        ties = np.flatnonzero(is_first)
        every, relevant = (np.add.reduceat(each[order], ties) for each in (every, relevant))
        found[column] = max(_precision(relevant, every), _precision(relevant[::-1], every[::-1]))
    return found


def _precision(relevant: FloatArray, every: FloatArray) -> float:
    """The average precision of groups of tied rows, the group of the lowest score first."""
    relevant, every = relevant[::-1], every[::-1]
    n_relevant, n_every = np.cumsum(relevant), np.cumsum(every)
    precision = np.divide(n_relevant, n_every, out=np.zeros(every.size), where=n_every > 0.0)
    return float(relevant @ precision / n_relevant[-1])


#: Univariate statistics by name; None for ``r`` itself.
STATISTICS: dict[str, Statistic | None] = {
    "average_precision": above_chance,
    "chi2": chi2_statistics,
    "correlation": None,
}
