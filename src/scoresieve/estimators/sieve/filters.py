"""Columns one at a time, by statistics of their ranks and of their sums.

    a_j = max over both directions of  sum_t (R_t - R_t-1) P_t         average precision

of column j as a score, with precision P and recall R of the rows above each of its values t. A
correlation asks how far the mean of the positives is from that of the others, and a few large
numbers decide; ranks do not see how large they are.

    h_j = (sum_i v_i x_ij)^2 / (p (1 - p) sum_i c_i (x_ij - m_j)) ,    v_i = c_i ([y_i > 0] - p)

is scikit-learn's chi2 of a column of unit deviation with its lowest number m_j, if negative, moved
to 0; p is the share of the positives. It prefers columns that are near their lowest number in most
rows, as genes are that few samples express.

Rows count by their weights c. Only the columns that correlate most with y are looked at: a pass
over X finds these, and of the others few would come in.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve.design import Entries
from scoresieve.estimators.sieve.correlated import by_strength, correlations_at
from scoresieve.risks import LossRisk
from scoresieve.solvers.splicing.refits import Refit, Refitter, columns_of_units

#: Units that are ranked, and numbers that these may have together: where there are many rows they
#: are fewer, but as many as are wanted at least.
N_RANKED, MOST_NUMBERS = 300, 2**22


#: Of the entries of some columns, the rows that are positive, and the weights of rows.
Statistic = Callable[[Entries, BoolArray, FloatArray], FloatArray]


def ranked_by(statistic: Statistic, refitter: Refitter, start: Refit, k: int) -> IntArray:
    """The k units with the largest statistic; of a group of columns it is the norm of theirs."""
    problem, norm, risk = refitter.problem, refitter.norm, refitter.problem.risk
    assert isinstance(risk, LossRisk)
    n_ranked = max(k, min(N_RANKED, MOST_NUMBERS // risk.y.size))
    screened = by_strength(norm.units.norms(correlations_at(refitter, start)), n_ranked)
    columns = columns_of_units(norm, np.sort(screened))[norm.always.size :]
    entries = refitter.fetched.block(columns).entries()
    positive, weights = risk.y > 0.0, risk.row_weights
    strength = np.zeros(problem.design.n_columns)
    # What says nothing stays behind all that does, in front of what was not looked at.
    found = statistic(entries, positive, weights)
    strength[columns] = np.maximum(found, np.finfo(np.float64).tiny)
    return by_strength(norm.units.norms(strength), k)


def above_chance(entries: Entries, positive: BoolArray, weights: FloatArray) -> FloatArray:
    """``a_j`` less the average precision of a column that says nothing."""
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
