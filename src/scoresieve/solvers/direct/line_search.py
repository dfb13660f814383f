"""Exact line searches: the measure along one weight, for many columns at once.

    M(t) = M(a(t), b(t)) ,   a(t) = sum of the weights of positives with s_i + t x_i > 0 ,  b alike

is a step function of t that changes where a row crosses zero, at ``t_i = -s_i / x_i``: above t_i a
row with x_i > 0 is an alarm, below it one with x_i < 0. So all values of M on a line are had from
one sort of the crossings and two running sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Entries

#: Two tables differ if their measures do by more than this; below it is rounding.
LEAST_GAIN = 1e-10
#: Steps that are longer overflow.
FURTHEST = 1e300
#: Crossings on either side of where the scores are that a line is searched among, the nearest.
MOST_CROSSINGS = 2**13
#: Crossings are at different places if they differ by more than this share of themselves.
LEAST_WIDTH = 1e-9


class Alarms(NamedTuple):
    """What is an alarm at some scores: ``a`` and ``b`` are total weights of rows above 0.

    Attributes
    ----------
    scores : ndarray of shape (n_samples,)
    positives, negatives : ndarray of shape (n_samples,)
        What each row counts in ``a`` and in ``b``.
    """

    scores: FloatArray
    positives: FloatArray
    negatives: FloatArray
    a: float
    b: float


class Steps(NamedTuple):
    """The measure after the best step along each column, -inf and 0 where none is better."""

    values: FloatArray
    steps: FloatArray


def best_steps(
    entries: Entries, alarms: Alarms, measure: Callable[[FloatArray, FloatArray], FloatArray]
) -> Steps:
    """The best step along each column from where the scores are.

    Conventions
    -----------
    * A step ends in the middle between two crossings, but not much further than the first.
    * Of equally good steps the shortest is taken.
    * A line with very many crossings is searched among the nearest ones.

    Parameters
    ----------
    entries : Entries
        Of the columns; one without entries has no step.
    measure : callable
        Of total weights a and b of the alarms among positives and negatives.
    """
    lengths = np.diff(entries.starts)
    values, steps = np.full(lengths.size, -np.inf), np.zeros(lengths.size)
    some = np.flatnonzero(lengths)
    if some.size:
        line = crossings(entries, lengths[some], alarms)
        now = float(measure(np.array(alarms.a), np.array(alarms.b)))
        values[some], steps[some] = _best_of_each(line, measure, now)
    return Steps(values, steps)


class Crossings(NamedTuple):
    """Intervals between the crossings of each column, one column after the other.

    Attributes
    ----------
    firsts : ndarray of int of shape (n_columns,)
        Place of the first interval, from minus infinity on, of each column.
    column_of : ndarray of int
        For each interval.
    lower, upper : ndarray
        Where intervals begin and end.
    a, b : ndarray
        The table inside each.
    units : ndarray of shape (n_columns,)
        The step that changes a score by at most 1.
    """

    firsts: IntArray
    column_of: IntArray
    lower: FloatArray
    upper: FloatArray
    a: FloatArray
    b: FloatArray
    units: FloatArray


def crossings(entries: Entries, lengths: IntArray, alarms: Alarms) -> Crossings:
    """All intervals of columns with ``lengths`` entries, none without."""
    with np.errstate(over="ignore"):  # entries that are smaller than any that matters
        units = 1.0 / np.maximum.reduceat(np.abs(entries.values), _starts(lengths))
        at = -alarms.scores[entries.rows] / entries.values
    units, at = np.minimum(units, FURTHEST), np.clip(at, -FURTHEST, FURTHEST)
    is_long = lengths > 2 * MOST_CROSSINGS
    if np.any(is_long):
        places, lengths = _near_ones(at, lengths)
        entries = Entries(entries.starts, entries.rows[places], entries.values[places])
        at = at[places]
    n_columns = lengths.size
    of_entry = np.repeat(np.arange(n_columns), lengths)
    order = np.lexsort((at, of_entry)) if n_columns > 1 else np.argsort(at, kind="stable")
    # One interval more than crossings: the crossing at e ends interval e + column.
    ends = np.arange(at.size) + of_entry
    firsts = _starts(lengths) + np.arange(n_columns)
    column_of = np.repeat(np.arange(n_columns), lengths + 1)
    lower, upper = np.full(column_of.size, -np.inf), np.full(column_of.size, np.inf)
    lower[ends + 1] = upper[ends] = at[order]
    # What lies beyond the nearest crossings is not known.
    low, high = firsts[is_long], (firsts + lengths)[is_long]
    lower[low], upper[high] = upper[low], lower[high]
    is_on, is_on_at_first = alarms.scores[entries.rows] > 0.0, entries.values < 0.0
    turned, rises = is_on_at_first.astype(np.float64) - is_on, np.sign(entries.values)[order]
    tables = []
    for weights, now in ((alarms.positives, alarms.a), (alarms.negatives, alarms.b)):
        of_rows = weights[entries.rows]
        changes = np.zeros(column_of.size)
        changes[ends + 1] = rises * of_rows[order]
        changes[firsts] = now + np.add.reduceat(turned * of_rows, _starts(lengths))
        # A running sum that starts anew for each column.
        changes[firsts[1:]] -= np.add.reduceat(changes, firsts)[:-1]
        tables.append(np.cumsum(changes))
    a, b = tables
    return Crossings(firsts, column_of, lower, upper, a, b, units)


def _starts(lengths: IntArray) -> IntArray:
    """Where columns of these lengths begin."""
    return np.append(0, np.cumsum(lengths)[:-1])


def _near_ones(at: FloatArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Places of the nearest crossings of each column, and how many these are."""
    starts = _starts(lengths)
    kept = [
        start + _nearest(at[start : start + n]) for start, n in zip(starts, lengths, strict=True)
    ]
    return np.concatenate(kept), np.array([places.size for places in kept])


def _nearest(at: FloatArray) -> IntArray:
    """Places of the crossings that are nearest to 0 on either side, all if these are few."""
    if at.size <= 2 * MOST_CROSSINGS:
        return np.arange(at.size)
    sides = []
    for is_here in (at <= 0.0, at > 0.0):
        places = np.flatnonzero(is_here)
        if places.size > MOST_CROSSINGS:
            parted = np.argpartition(np.abs(at[places]), MOST_CROSSINGS - 1)
            places = places[parted[:MOST_CROSSINGS]]
        sides.append(places)
    return np.sort(np.concatenate(sides))


def _best_of_each(
    line: Crossings, measure: Callable[[FloatArray, FloatArray], FloatArray], now: float
) -> tuple[FloatArray, FloatArray]:
    """The measure in the best interval of each column, and the step into it."""
    found = measure(line.a, line.b)
    sizes = np.minimum(np.abs(line.lower), np.abs(line.upper))  # of the shortest step into it
    is_better = (found > now + LEAST_GAIN) & (line.upper - line.lower > LEAST_WIDTH * sizes)
    found = np.where(is_better, found, -np.inf)
    best = np.maximum.reduceat(found, line.firsts)
    is_best = is_better & (found >= best[line.column_of] - LEAST_GAIN)
    sizes = np.where(is_best, sizes, np.inf)
    shortest = np.minimum.reduceat(sizes, line.firsts)
    places = np.flatnonzero(is_best & (sizes <= shortest[line.column_of]))
    columns, first = np.unique(line.column_of[places], return_index=True)
    steps = np.zeros(best.size)
    chosen = places[first]
    steps[columns] = _inside(line.lower[chosen], line.upper[chosen], line.units[columns])
    return best, steps


def _inside(lower: FloatArray, upper: FloatArray, units: FloatArray) -> FloatArray:
    """The middle, of an interval that is cut off at twice its nearer end and a unit more."""
    nearer = np.where(lower >= 0.0, lower, upper)
    further = np.where(lower >= 0.0, np.minimum(upper, 2.0 * lower + units), 0.0)
    further = np.where(lower >= 0.0, further, np.maximum(lower, 2.0 * upper - units))
    return nearer + 0.5 * (further - nearer)
