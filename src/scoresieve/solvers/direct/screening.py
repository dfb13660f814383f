"""Screening: the units along whose lines the measure may rise most, from a pass over few rows.

    o_j = sum over rows that are no alarms of x_ij v_i / s_j ,    n_j = the same over the alarms

with v_i = c_i for positives and -rho c_i for negatives, rho the price of an alarm at the table, and
s_j the root mean square of the entries of the column, so that units of measurement do not matter.
Raising rows that are no alarms pays by o, lowering alarms by -n. On text the best of 100 columns by
these two are also better on unseen rows than the best of all columns.

Where columns overlap, a weight alone may raise nothing: it brings alarms of both kinds, and the
threshold would have to rise with it. Centred lines move the intercept so that the rows near the
threshold keep their mean score; units for them are those that tell these rows apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Entries
from scoresieve.regularizers.units import largest_positions, summed
from scoresieve.solvers.direct.line_search import Alarms
from scoresieve.solvers.direct.target import Target
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.splicing.fetched import FetchedColumns
from scoresieve.solvers.splicing.refits import columns_of_units

#: Units for each side whose lines are searched, and how many are fetched with them for later.
POOL, BESIDE = 50, 200
#: Centred lines, which have an entry for every row.
N_CENTRED = 16
#: Numbers that the lines of a side, and what is fetched for it, may have together: where columns
#: are long these are fewer, but so many at least.
MOST_ENTRIES, MOST_BESIDE, FEWEST = 2**18, 2**22, 2
#: Rows near the threshold: so many times the positives, or the alarms if these are more.
SHARE_NEAR = 2


class Candidates(NamedTuple):
    """Lines along which units may enter.

    Attributes
    ----------
    units : ndarray of int of shape (n_lines,)
    columns, directions : list of ndarray
        Of each line the columns of its unit, and how far their weights go with a step of 1.
    shifts : ndarray of shape (n_lines,)
        How far the intercept goes with them.
    entries : Entries
        How far the scores go.
    """

    units: IntArray
    columns: list[IntArray]
    directions: list[FloatArray]
    shifts: FloatArray
    entries: Entries


class Screening:
    """The most promising units for one problem.

    Parameters
    ----------
    fetched : FetchedColumns
        Of the design of the problem.
    """

    def __init__(self, problem: Problem, target: Target, fetched: FetchedColumns) -> None:
        self._problem, self._target, self._fetched = problem, target, fetched
        design, units = problem.design, problem.norm.units
        counts, norms = design.column_counts(), fetched.column_norms
        # Very wide data have few columns with an entry.
        self._live = np.flatnonzero((norms > 0.0) & (units.unit_of >= 0))
        self._scales = norms[self._live] / np.sqrt(counts[self._live])
        self._lengths = units.sums(counts)
        self._of_positives = design.correlate(target.positives)[self._live]
        self._of_negatives = design.correlate(target.negatives)[self._live]
        self._has_negative = False

    def candidates(self, alarms: Alarms, taken: IntArray) -> Candidates:
        """The lines of the weights of the best units that are not taken."""
        promises = self._promises(alarms)
        orders = [self._strongest(each, taken) for each in promises]
        chosen = [order[: min(POOL, self._n_within(order, MOST_ENTRIES))] for order in orders]
        if self._problem.norm.has_groups:
            lines = [
                self._line(int(unit), promise)
                for best, promise in zip(chosen, promises, strict=True)
                for unit in best
            ]
            found = joined(lines)
        else:
            units = np.unique(np.concatenate(chosen))
            columns = self._columns(units)
            later = [order[: self._n_within(order, MOST_BESIDE)] for order in orders]
            beside = self._columns(np.unique(np.concatenate(later)))
            entries = self._fetched.block(columns, beside).entries()
            ones, shifts = [np.ones(1)] * units.size, np.zeros(units.size)
            found = Candidates(units, list(columns[:, np.newaxis]), ones, shifts, entries)
        self._has_negative = self._has_negative or bool(np.any(found.entries.values < 0.0))
        return found

    def centred_candidates(self, alarms: Alarms, taken: IntArray) -> Candidates:
        """The centred lines of the units that best tell apart the rows near the threshold."""
        n_positive = int(np.count_nonzero(self._target.positives))
        n_alarms = int(np.count_nonzero(alarms.scores > 0.0))
        n_near = min(SHARE_NEAR * max(n_positive, n_alarms), alarms.scores.size)
        near = np.sort(np.argpartition(np.abs(alarms.scores), n_near - 1)[:n_near])
        worth, v = self._worth(alarms)[near], np.zeros(alarms.scores.size)
        v[near] = worth - worth.mean()
        promise = self._problem.design.correlate(v)[self._live] / self._scales
        n_lines = min(N_CENTRED, max(FEWEST, MOST_ENTRIES // alarms.scores.size))
        best = self._strongest(promise, taken)[:n_lines]
        return joined([self._line(int(unit), promise, near) for unit in best])

    def _worth(self, alarms: Alarms) -> FloatArray:
        """``v``: what each row is worth as an alarm."""
        target = self._target
        return target.positives - target.rate(alarms.a, alarms.b) * target.negatives

    def _promises(self, alarms: Alarms) -> tuple[FloatArray, FloatArray]:
        """``o`` and ``n`` of the live columns, of the sign that pays, or both if X has both."""
        rate = self._target.rate(alarms.a, alarms.b)
        v = np.where(alarms.scores > 0.0, self._worth(alarms), 0.0)
        on = self._problem.design.correlate(v)[self._live] / self._scales
        off = (self._of_positives - rate * self._of_negatives) / self._scales - on
        if self._has_negative:
            return off, on
        return np.maximum(off, 0.0), np.minimum(on, 0.0)

    def _strongest(self, promise: FloatArray, taken: IntArray) -> IntArray:
        """The units that promise most, the best first."""
        units = self._problem.norm.units
        numbers = units.unit_of[self._live]
        if units.has_groups:
            strength = np.sqrt(summed(numbers, promise * promise, units.n_units))
            numbers = np.arange(units.n_units)
        else:  # numbered by their columns, and so in order
            strength = np.abs(promise)
        strength[np.searchsorted(numbers, taken)] = 0.0
        best = largest_positions(strength, BESIDE)
        return numbers[best[np.argsort(-strength[best], kind="stable")]]

    def _n_within(self, units: IntArray, most: int) -> int:
        """How many of the first units have at most so many entries together."""
        reached = np.cumsum(self._lengths[units])
        return max(FEWEST, int(np.searchsorted(reached, most, side="right")))

    def _line(self, unit: int, promise: FloatArray, near: IntArray | None = None) -> Candidates:
        """The line of a unit, each of its columns by its promise; centred by the rows near."""
        columns = self._columns(np.array([unit]))
        here = np.searchsorted(self._live, columns)
        here[here == self._live.size] = 0
        is_live = self._live[here] == columns
        direction = np.where(is_live, promise[here] / self._scales[here], 0.0)
        along = self._fetched.block(columns).scores(direction)
        shift = 0.0 if near is None else -float(along[near].mean())
        entries = Entries.of_column(along + shift)
        return Candidates(np.array([unit]), [columns], [direction], np.array([shift]), entries)

    def _columns(self, units: IntArray) -> IntArray:
        """The columns of some units, sorted."""
        norm = self._problem.norm
        return columns_of_units(norm, units)[norm.always.size :]


def joined(lines: list[Candidates]) -> Candidates:
    """The lines of several, one after the other."""
    entries = Entries.none()
    for line in lines:
        entries = entries.append(line.entries)
    return Candidates(
        np.concatenate([np.zeros(0, dtype=np.int64), *(line.units for line in lines)]),
        [columns for line in lines for columns in line.columns],
        [direction for line in lines for direction in line.directions],
        np.concatenate([np.zeros(0), *(line.shifts for line in lines)]),
        entries,
    )
