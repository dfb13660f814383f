"""Measures that are a fraction of counts: F-beta and Jaccard.

For these the loss is concave in the false alarms b when the true positives a are fixed. So the
(b+1)-th highest negative, with score ``-q``, is raised exactly when its gain exceeds its price:

    U * [Delta(a, b + 1) - Delta(a, b)]  >  q .

Solved for a instead of b this is an interval of a for every b, in closed form. Counting for every a
the intervals that hold it gives the best b for all a at once, in O(P + N) after the sorts.

What the (b+1)-th alarm gains falls with b, so that of many negatives only the highest can pay: of
text with 2 % positives a tenth of them. These are found by counting, and no others are sorted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.measures._base import NUMBER, named
from scoresieve.measures.contingency import (
    IndexArray,
    OrderedClasses,
    SearchedMeasure,
    alarm_counts,
    as_name,
)

# Stands for a price of zero, so that the closed forms need no special case.
_TINY_PRICE = 1e-300
#: Halvings of the range in which the lowest score that pays is sought: 1/4000 of it is left.
_HALVINGS = 12
#: What rounding may do to the largest gain.
_ROUNDING = 1e-9
#: Every so many-th score is looked at first, and stands for so much of these.
_STEP, _TRUSTED = 16, 0.9


def largest_ratio(n_alarms: float, least: float, most: float) -> float:
    """``max a / ((a + m) (a + m + 1))`` over real a from ``least`` to ``most``, m alarms given.

    It rises up to ``sqrt(m (m + 1))``, then falls; and for every a it falls with m.
    """
    a = min(max(float(np.sqrt(n_alarms * (n_alarms + 1.0))), least), most)
    return a / ((a + n_alarms) * (a + n_alarms + 1.0))


def interval_of_ratio(
    prices: FloatArray, n_alarms: FloatArray, gain: float
) -> tuple[FloatArray, FloatArray]:
    """Open interval of a where ``gain * a / ((a + m) * (a + m + 1)) > price``; (inf, inf) if empty.

    The left side is what ``-gain * a / (a + m)`` grows by when m, the number of alarms, becomes
    m + 1. The ends are the roots of ``price * (a + m) * (a + m + 1) - gain * a``.
    """
    product = n_alarms * (n_alarms + 1.0)
    linear = gain - prices * (2.0 * n_alarms + 1.0)
    discriminant = linear**2 - 4.0 * prices**2 * product
    real = (linear > 0) & (discriminant > 0)
    root = np.where(real, linear, 1.0) + np.sqrt(np.where(real, discriminant, 0.0))
    lower = np.where(real, 2.0 * prices * product / root, np.inf)
    upper = np.where(real, root / (2.0 * prices), np.inf)
    return lower, upper


def count_intervals(lower: FloatArray, upper: FloatArray, n_positive: int) -> IndexArray:
    """Number of open intervals that hold a, for a = 0..P; the ends must not be negative."""
    first = np.minimum(np.floor(lower) + 1.0, n_positive + 1.0).astype(np.intp)
    stop = np.minimum(np.ceil(upper), n_positive + 1.0).astype(np.intp)
    stop = np.maximum(stop, first)
    opened = np.bincount(first, minlength=n_positive + 2)
    closed = np.bincount(stop, minlength=n_positive + 2)
    return np.cumsum(opened - closed)[: n_positive + 1]


def highest_that_is(
    is_too_low: Callable[[float, float], bool], scores: FloatArray, each: float, lowest: float
) -> float:
    """About the highest t <= 0 with ``is_too_low(t, number above t)``, which ``lowest`` has.

    Parameters
    ----------
    each : float
        As how many a score counts.
    """
    low, high = lowest, 0.0
    inside, n_above = scores, 0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        is_above = inside > middle
        n_inside = int(np.count_nonzero(is_above))
        if is_too_low(middle, each * (n_above + n_inside)):
            low, inside = middle, inside[is_above]
        else:
            high, n_above, inside = middle, n_above + n_inside, inside[~is_above]
    return low


class FractionalMeasure(SearchedMeasure):
    """``Delta(a, b) = 1 - fraction``, concave in b: the best b for every a in closed form."""

    @abstractmethod
    def _paying_interval(
        self, prices: FloatArray, n_alarms: FloatArray, n_positive: int
    ) -> tuple[FloatArray, FloatArray]:
        """Open interval of a for which alarm number b + 1 gains more than its price."""

    def _largest_gain(self, n_alarms: float, n_positive: int) -> float:
        """``max_a U [Delta(a, b + 1) - Delta(a, b)]`` or a little more; never rises with b.

        Infinite where labellings may need alarms that do not pay.
        """
        return np.inf

    def _lowest_alarm(self, n_positive: int) -> float:
        return -self._largest_gain(0, n_positive)

    def _ordered(self, y: FloatArray, scores: FloatArray) -> OrderedClasses:
        return OrderedClasses(y, scores, self._lowest_paying)

    def _lowest_paying(self, negatives: FloatArray, n_positive: int) -> float:
        """A score t such that raising a negative at or below it never pays.

        Such a negative comes after the b ones above t, so that it gains ``_largest_gain(b)`` at
        most. Where that is at most ``-t``, so it is for every score below t: bisection, on a part
        of the scores that stands for all, and on all of them where it turns out that it does not.
        """
        lowest = self._lowest_alarm(n_positive)
        if not np.isfinite(lowest):
            return lowest

        def is_too_low(score: float, n_above: float) -> bool:
            gain = self._largest_gain(n_above, n_positive)
            return gain * (1.0 + _ROUNDING) <= -score

        some = highest_that_is(is_too_low, negatives[::_STEP], _STEP * _TRUSTED, lowest)
        if is_too_low(some, int(np.count_nonzero(negatives > some))):
            return some
        return highest_that_is(is_too_low, negatives, 1.0, lowest)

    def _best_alarms(self, classes: OrderedClasses) -> IndexArray:
        """The b that maximises the value, for every a = 0..P, over all tables."""
        free = classes.n_negative_above_zero
        # No alarm gains more than U = P: the cap only keeps huge prices from overflowing.
        prices = np.clip(-classes.negatives[free:], _TINY_PRICE, float(classes.n_positive))
        n_alarms = np.arange(free, classes.negatives.size, dtype=float)
        lower, upper = self._paying_interval(prices, n_alarms, classes.n_positive)
        return free + count_intervals(lower, upper, classes.n_positive)

    def _candidates(self, classes: OrderedClasses) -> tuple[IndexArray, IndexArray]:
        n_alarms = self._best_alarms(classes)
        # The true table has no loss. Its best neighbour in b is one alarm, by concavity.
        n_alarms[-1] = max(n_alarms[-1], 1)
        return np.arange(classes.n_positive + 1), n_alarms


@named("f<beta>", pattern=rf"f({NUMBER})", read=float)
@dataclass(frozen=True)
class FBeta(FractionalMeasure):
    """``Delta = 1 - (1 + beta^2) a / (a + b + beta^2 P)``: one minus the F-beta score.

    Conventions
    -----------
    Predictions are +1 where the score is positive. The score of no predicted positives is 0.

    Parameters
    ----------
    beta : float, default=1.0
        Weight of recall against precision, in [1e-6, 1e6]. 2 stresses recall, 0.5 precision.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> FBeta().loss(y, np.array([1.0, -1.0, -1.0, -1.0]))
    0.3333333333333333
    >>> FBeta().most_violated(y, np.array([2.0, 0.5, 0.3, -1.0])).delta
    array([ 0.,  1., -1.,  0.])
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        beta = float(self.beta)
        if not 1e-6 <= beta <= 1e6:
            raise ValueError(f"beta must be between 1e-6 and 1e6, got {self.beta!r}.")
        object.__setattr__(self, "beta", beta)

    @property
    def name(self) -> str:
        """The letter f and beta: "f1", "f2", "f0.5"."""
        return f"f{as_name(self.beta)}"

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``((beta^2 (P - a)) + b) / (a + b + beta^2 P)``, exactly 0 for the true table."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        weight = self.beta**2
        return (b + weight * (n_positive - a)) / (a + b + weight * n_positive)

    def rate_at(self, a: int, b: int, n_positive: int, n_negative: int) -> float:
        """``a / (b + beta^2 P)``, which is F / (2 - F) for beta = 1."""
        return a / (b + self.beta**2 * n_positive)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """F of the predictions ``scores > 0``; 0 without positives and alarms."""
        a, b, n_positive = alarm_counts(y, scores)
        weight = self.beta**2
        return _ratio((1.0 + weight) * a, a + b + weight * n_positive)

    def _largest_gain(self, n_alarms: float, n_positive: int) -> float:
        weight = self.beta**2
        gain = n_positive * (1.0 + weight)
        return gain * largest_ratio(n_alarms + weight * n_positive, 0.0, n_positive)

    def _paying_interval(
        self, prices: FloatArray, n_alarms: FloatArray, n_positive: int
    ) -> tuple[FloatArray, FloatArray]:
        weight = self.beta**2
        gain = n_positive * (1.0 + weight)
        return interval_of_ratio(prices, n_alarms + weight * n_positive, gain)


@named("jaccard")
@dataclass(frozen=True)
class Jaccard(FractionalMeasure):
    """``Delta = 1 - a / (P + b)``: one minus the intersection over union of the positives.

    Predictions are +1 where the score is positive.
    """

    name = "jaccard"

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``(P - a + b) / (P + b)``, exactly 0 for the true table."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        return (n_positive - a + b) / (n_positive + b)

    def rate_at(self, a: int, b: int, n_positive: int, n_negative: int) -> float:
        """``a / (b + P)``."""
        return a / (b + n_positive)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """Intersection over union for the predictions ``scores > 0``; 0 where both are empty."""
        a, b, n_positive = alarm_counts(y, scores)
        return _ratio(a, n_positive + b)

    def _largest_gain(self, n_alarms: float, n_positive: int) -> float:
        union = n_positive + n_alarms
        return n_positive * n_positive / (union * (union + 1.0))

    def _paying_interval(
        self, prices: FloatArray, n_alarms: FloatArray, n_positive: int
    ) -> tuple[FloatArray, FloatArray]:
        # U a [1 / (P + b) - 1 / (P + b + 1)] > price, with U = P.
        union = n_positive + n_alarms
        return prices * union * (union + 1.0) / n_positive, np.full(union.shape, np.inf)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
