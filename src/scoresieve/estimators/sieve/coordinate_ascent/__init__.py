"""Coordinate ascent: columns and weights that raise the measure itself on the training rows.

    max { M(X w) : k units }            one unit after the other, all weights set anew after each

1. The units that promise most: those along whose lines the measure may rise, from a pass over few
   rows, see :class:`Screening`.
2. Exact line searches along them; the best enters. Where none raises the measure, along lines that
   move the intercept as well.
3. Line searches along all weights, again and again, until none raises the measure.

It starts without units and without alarms (rows predicted positive), and ends early where no line
raises the measure: the model may have fewer than k units.

No bound is involved: along one weight the measure is a step function, whose best step is found
exactly. Unlike a bound, it charges an error the same however far it is on the wrong side. But
nothing is regularised, which matters with few rows; cross-validation shows when to trust it.

Screening adds up

    o_j = sum over rows that are no alarms of x_ij v_i / s_j ,    n_j = the same over the alarms

with v_i = c_i for positives and -rho c_i for negatives, rho the price of an alarm at the table, and
s_j the root mean square of the entries of the column, so that units of measurement do not matter.
Raising rows that are no alarms pays by o, lowering alarms by -n. On text, the best of the top 100
columns also does better on held-out rows than the best of all columns.

Where columns overlap, a weight alone may raise nothing: it brings alarms of both kinds, and the
threshold would have to rise with it. Centred lines move the intercept so that the rows near the
threshold keep their mean score; units for them are those that tell these rows apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Entries
from scoresieve.estimators.sieve.candidates import (
    CONSTANT,
    Candidate,
    SelectedColumns,
    SelectionProblem,
    halving_sizes,
    with_entries,
)
from scoresieve.estimators.sieve.coordinate_ascent.exact_steps import (
    LEAST_GAIN,
    Alarms,
    Target,
    best_steps,
)
from scoresieve.measures import Measure
from scoresieve.regularizers.units import largest_positions, summed
from scoresieve.solvers.subset.refits import columns_of_units

#: Units for each side whose lines are searched, and how many are fetched with them for later.
POOL, BESIDE = 50, 200
#: Centred lines, which have an entry for every row.
N_CENTRED = 16
#: Numbers that the lines of a side, and what is fetched for it, may have together: where columns
#: are long these are fewer, but at least as many as the last number.
MOST_ENTRIES, MOST_BESIDE, FEWEST = 2**18, 2**22, 2
#: Rows near the threshold, as a multiple of the positives, or of the alarms if these are more.
SHARE_NEAR = 2


class EntryLines(NamedTuple):
    """Lines along which units can enter.

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
    """The most promising units of one problem."""

    def __init__(self, problem: SelectionProblem, target: Target) -> None:
        self._problem, self._target, self._fetched = problem, target, problem.fetched
        design, units = problem.design, problem.norm.units
        counts, norms = design.column_counts(), problem.fetched.column_norms()
        # Very wide data have few columns with an entry.
        self._live = np.flatnonzero((norms > 0.0) & (units.unit_of >= 0))
        self._scales = norms[self._live] / np.sqrt(counts[self._live])
        self._lengths = units.sums(counts)
        self._of_positives = design.correlate(target.positives)[self._live]
        self._of_negatives = design.correlate(target.negatives)[self._live]
        self._has_negative = False

    def lines(self, alarms: Alarms, taken: IntArray) -> EntryLines:
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
            found = EntryLines(units, list(columns[:, np.newaxis]), ones, shifts, entries)
        self._has_negative = self._has_negative or bool(np.any(found.entries.values < 0.0))
        return found

    def centred_lines(self, alarms: Alarms, taken: IntArray) -> EntryLines:
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
        """How many of the first units have at most that many entries together."""
        reached = np.cumsum(self._lengths[units])
        return max(FEWEST, int(np.searchsorted(reached, most, side="right")))

    def _line(self, unit: int, promise: FloatArray, near: IntArray | None = None) -> EntryLines:
        """The line of a unit, each of its columns by its promise; centred by the rows near."""
        columns = self._columns(np.array([unit]))
        here = np.searchsorted(self._live, columns)
        here[here == self._live.size] = 0
        is_live = self._live[here] == columns
        direction = np.where(is_live, promise[here] / self._scales[here], 0.0)
        along = self._fetched.block(columns).scores(direction)
        shift = 0.0 if near is None else -float(along[near].mean())
        entries = Entries.of_column(along + shift)
        return EntryLines(np.array([unit]), [columns], [direction], np.array([shift]), entries)

    def _columns(self, units: IntArray) -> IntArray:
        """The columns of some units, sorted."""
        norm = self._problem.norm
        return columns_of_units(norm, units)[norm.always.size :]


def joined(lines: list[EntryLines]) -> EntryLines:
    """The lines of several together."""
    entries = Entries.none()
    for line in lines:
        entries = entries.append(line.entries)
    return EntryLines(
        np.concatenate([np.zeros(0, dtype=np.int64), *(line.units for line in lines)]),
        [columns for line in lines for columns in line.columns],
        [direction for line in lines for direction in line.directions],
        np.concatenate([np.zeros(0), *(line.shifts for line in lines)]),
        entries,
    )


#: Rounds over all weights after each unit, at most.
MAX_ROUNDS = 20


@dataclass(frozen=True)
class CoordinateAscent(Candidate):
    """The measure itself, or its surrogate from :func:`table_measure`."""

    measure: Measure

    @property
    def name(self) -> str:
        """As users type it."""
        return "coordinate_ascent"

    def select(self, problem: SelectionProblem, sizes: Sequence[int]) -> list[SelectedColumns]:
        """The model for each k, which contains the units of all smaller ones."""
        ascent, found = Ascent(problem, self.measure.of_share(problem.share)), {}
        for k in halving_sizes(sizes):
            while ascent.units.size < k and not problem.time_is_over and ascent.enter():
                pass
            found[k] = ascent.selected()
        return with_entries(found, sizes)


class Ascent:
    """A model that grows by the unit that raises the measure most.

    Attributes
    ----------
    units : ndarray of int
        Those that have entered.
    """

    def __init__(self, problem: SelectionProblem, measure: Measure) -> None:
        self._problem = problem
        self._target = Target.of_rows(measure, problem.y, problem.row_weights)
        self._screening = Screening(problem, self._target)
        self.units = np.zeros(0, dtype=np.int64)
        self._columns = columns_of_units(problem.norm, self.units)
        self._entries = problem.fetched.block(self._columns).entries()
        self._w = np.where(self._columns == problem.X.n_columns, -1.0 / CONSTANT, 0.0)
        self._alarms = self._target.alarms(np.full(problem.y.size, -1.0))
        if self._columns.size > 1:
            self._ascend()

    def selected(self) -> SelectedColumns:
        """The model as it is now."""
        w = np.zeros(self._problem.design.n_columns)
        w[self._columns] = self._w
        return self._problem.selected(w)

    def enter(self) -> bool:
        """Add one unit and update all weights; False if none raises the measure."""
        for screened in (self._screening.lines, self._screening.centred_lines):
            lines = screened(self._alarms, self.units)
            found = best_steps(lines.entries, self._alarms, self._target)
            if np.any(found.steps):
                best = int(np.argmax(found.values))
                self._let_in(lines, best, found.steps[best])
                self._ascend()
                return True
        return False

    def _let_in(self, lines: EntryLines, number: int, step: float) -> None:
        """Make a step along a line."""
        columns, weights = lines.columns[number], step * lines.directions[number]
        shift, block = step * lines.shifts[number], self._problem.fetched.block(columns)
        self._w[self._columns == self._problem.X.n_columns] += shift / CONSTANT
        self.units = np.append(self.units, lines.units[number])
        self._columns = np.concatenate([self._columns, columns])
        self._w = np.concatenate([self._w, weights])
        self._entries = self._entries.append(block.entries())
        scores = self._alarms.scores + (block.scores(weights) + shift)
        self._alarms = self._target.alarms(scores)

    def _ascend(self) -> None:
        """Line searches along every weight until none raises the measure.

        All lines are searched from one point. Of the steps that are found the best is made, then
        of the others those that still raise the measure.
        """
        for _ in range(MAX_ROUNDS):
            found = best_steps(self._entries, self._alarms, self._target)
            order = np.argsort(-found.values, kind="stable")
            moved = [self._move(at, found.steps[at]) for at in order if found.steps[at] != 0.0]
            if not any(moved):
                return

    def _move(self, place: int, step: float) -> bool:
        """Change one weight if that raises the measure."""
        one = slice(*self._entries.starts[place : place + 2])
        rows, alarms, target = self._entries.rows[one], self._alarms, self._target
        before = alarms.scores[rows]
        after = before + step * self._entries.values[one]
        turned = (after > 0.0).astype(np.float64) - (before > 0.0)
        a = float(alarms.a + turned @ target.positives[rows])
        b = float(alarms.b + turned @ target.negatives[rows])
        if target.value(a, b) <= target.value(alarms.a, alarms.b) + LEAST_GAIN:
            return False
        alarms.scores[rows] = after
        self._alarms = alarms._replace(a=a, b=b)
        self._w[place] += step
        return True
