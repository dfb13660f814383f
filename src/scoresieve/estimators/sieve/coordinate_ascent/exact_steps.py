"""The measure as a function of the alarms, and its best step along one weight, exactly.

    M(t) = M(a(t), b(t)) ,   a(t) = sum of the weights of positives with s_i + t x_i > 0 ,  b alike

is a step function of t that changes where a row crosses zero, at ``t_i = -s_i / x_i``: above t_i a
row with x_i > 0 is an alarm, below it one with x_i < 0. So one sort of the crossings and two
running sums give all values of M on a line, for many columns at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Entries
from scoresieve.measures import (
    ROCAUC,
    BalancedAccuracy,
    ContingencyMeasure,
    FBeta,
    FloorMeasure,
    HighestScores,
    Measure,
)

#: Two tables differ if their measures do by more than this; below it is rounding.
LEAST_GAIN = 1e-10
#: Steps that are longer overflow.
FURTHEST = 1e300
#: Crossings on either side of where the scores are that a line is searched among, the nearest.
MOST_CROSSINGS = 2**13
#: Crossings are at different places if they differ by more than this share of themselves.
LEAST_WIDTH = 1e-9
#: Columns with more crossings than this on average are faster to sort one by one.
LONG_COLUMNS = 50
#: Where a positive more is worth nothing, an alarm costs so much.
LARGEST_RATE = 1e6


class Alarms(NamedTuple):
    """The rows with scores above 0; ``a`` and ``b`` are the total weights of either class."""

    scores: FloatArray
    a: float
    b: float


def table_measure(measure: Measure, y: FloatArray) -> ContingencyMeasure:
    """The measure itself if it depends on the alarms alone, else a surrogate that does.

    * Of the k highest scores: ``F_beta`` with beta^2 = k / P. With k alarms it is the mean of
      precision and recall, weighted so that it is ``2 a / (k + P)``, or the measure up to a factor.
    * AUC: balanced accuracy, the area under the curve of one threshold.
    * Floors and average precision: F1, since where nothing meets the floor no step is better.
    """
    if isinstance(measure, HighestScores):
        n_positive = np.count_nonzero(y > 0)
        return FBeta(float(np.sqrt(measure.n_alarms(y) / n_positive)))
    if isinstance(measure, ROCAUC):
        return BalancedAccuracy()
    if isinstance(measure, ContingencyMeasure) and not isinstance(measure, FloorMeasure):
        return measure
    return FBeta()


@dataclass(frozen=True, eq=False)
class Target:
    """What is raised: ``M(a, b) = 1 - Delta(a, b)`` of the total weights of alarms.

    Parameters
    ----------
    measure : ContingencyMeasure
    positives, negatives : ndarray of shape (n_samples,)
        The weight of each row in the array of its class, 0 in the other.
    totals : tuple of float
        Of both arrays.
    most_alarms : float
        Tables with more score nothing. Predicting every row positive can beat any model with one
        feature, and no search recovers from there.
    """

    measure: ContingencyMeasure
    positives: FloatArray
    negatives: FloatArray
    totals: tuple[Any, Any]  # numbers of rows, or their weights
    most_alarms: float

    @classmethod
    def of_rows(cls, measure: Measure, y: FloatArray, weights: FloatArray) -> Target:
        """The target for rows of labels y, each as often as it counts.

        Alarms are at most halfway from the positives, or from the k highest scores, to all rows.
        """
        positives, negatives = (np.where(side, weights, 0.0) for side in (y > 0, y <= 0))
        totals = float(positives.sum()), float(negatives.sum())
        share = (measure.n_alarms(y) or 0.0) / np.count_nonzero(y > 0)
        most = 0.5 * (max(1.0, share) * totals[0] + weights.sum())
        return cls(table_measure(measure, y), positives, negatives, totals, most)

    def __call__(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """``M(a, b)``, -inf with too many alarms."""
        # Sums of weights may be beyond the ends by a rounding.
        a, b = (np.clip(each, 0.0, most) for each, most in zip((a, b), self.totals, strict=True))
        value = 1.0 - self.measure.table_loss(a, b, *self.totals)
        return np.where(a + b > self.most_alarms, -np.inf, value)

    def value(self, a: float, b: float) -> float:
        """``M(a, b)`` of one table."""
        return float(self(np.array(a), np.array(b)))

    def rate(self, a: Any, b: Any) -> float:
        """What an alarm costs where a positive is worth 1; at half of both, if that is better.

        With no alarm yet, many measures charge nothing for the first.
        """
        half = self.totals[0] // 2
        if self.value(half, half) > self.value(a, b):
            a = b = half
        return min(self.measure.rate_at(a, b, *self.totals), LARGEST_RATE)

    def alarms(self, scores: FloatArray) -> Alarms:
        """The alarms of some scores."""
        on = scores > 0.0
        return Alarms(scores, float(self.positives[on].sum()), float(self.negatives[on].sum()))


class Steps(NamedTuple):
    """The measure after the best step along each column, -inf and 0 where none is better."""

    values: FloatArray
    steps: FloatArray


def best_steps(entries: Entries, alarms: Alarms, target: Target) -> Steps:
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
    """
    lengths = np.diff(entries.starts)
    values, steps = np.full(lengths.size, -np.inf), np.zeros(lengths.size)
    some = np.flatnonzero(lengths)
    if some.size:
        line = crossings(entries, lengths[some], alarms, target)
        now = target.value(alarms.a, alarms.b)
        values[some], steps[some] = _best_of_each(line, target, now)
    return Steps(values, steps)


class Crossings(NamedTuple):
    """Intervals between the crossings of each column, column by column.

    ``firsts`` are the places of the first interval of each column, from minus infinity on; a and b
    the table inside of each interval; ``units`` the step that changes a score by at most 1.
    """

    firsts: IntArray
    column_of: IntArray
    lower: FloatArray
    upper: FloatArray
    a: FloatArray
    b: FloatArray
    units: FloatArray


def crossings(entries: Entries, lengths: IntArray, alarms: Alarms, target: Target) -> Crossings:
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
    order = _order_in_columns(at, lengths, of_entry)
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
    for weights, now in ((target.positives, alarms.a), (target.negatives, alarms.b)):
        of_rows = weights[entries.rows]
        changes = np.zeros(column_of.size)
        changes[ends + 1] = rises * of_rows[order]
        changes[firsts] = now + np.add.reduceat(turned * of_rows, _starts(lengths))
        # A running sum that starts anew for each column.
        changes[firsts[1:]] -= np.add.reduceat(changes, firsts)[:-1]
        tables.append(np.cumsum(changes))
    a, b = tables
    return Crossings(firsts, column_of, lower, upper, a, b, units)


def _order_in_columns(at: FloatArray, lengths: IntArray, of_entry: IntArray) -> IntArray:
    """The crossings of each column in order, column by column; equal ones stay as they are."""
    if at.size < LONG_COLUMNS * lengths.size:
        return np.lexsort((at, of_entry))
    ends = np.cumsum(lengths).tolist()
    orders = [first + at[first:last].argsort(kind="stable") for first, last in pairwise([0, *ends])]
    return np.concatenate(orders)


def _starts(lengths: IntArray) -> IntArray:
    """Where columns of these lengths begin."""
    return np.append(0, np.cumsum(lengths)[:-1])


def _near_ones(at: FloatArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Places of the crossings of each column that are nearest to 0 on either side, and how many."""
    kept = []
    for start, n in zip(_starts(lengths), lengths, strict=True):
        column, few = at[start : start + n], n <= 2 * MOST_CROSSINGS
        for is_here in (column <= 0.0, column > 0.0):
            places = np.flatnonzero(is_here)
            if places.size > MOST_CROSSINGS and not few:
                parted = np.argpartition(np.abs(column[places]), MOST_CROSSINGS - 1)
                places = places[parted[:MOST_CROSSINGS]]
            kept.append(start + places)
    sizes = np.array([places.size for places in kept])
    return np.sort(np.concatenate(kept)), sizes[::2] + sizes[1::2]


def _best_of_each(line: Crossings, target: Target, now: float) -> tuple[FloatArray, FloatArray]:
    """The measure in the best interval of each column, and the step into it."""
    found = target(line.a, line.b)
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
