"""How many false alarms are best, for every number of true positives at once.

For measures that are a fraction of counts (F-beta, Jaccard, precision) the loss is concave in the
false alarms b when the true positives a are fixed. So the (b+1)-th highest negative, with score
``-q``, is raised exactly when its gain exceeds its price:

    U * [Delta(a, b + 1) - Delta(a, b)]  >  q .

Solved for a instead of b this is an interval of a for every b, in closed form. Counting for every a
the intervals that hold it gives the best b for all a at once, in O(P + N) after the sorts.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from scoresieve.measures._base import FloatArray
from scoresieve.measures._ordered import IndexArray, OrderedClasses
from scoresieve.measures.contingency import SearchedMeasure

# Stands for a price of zero, so that the closed forms need no special case.
_TINY_PRICE = 1e-300


def interval_of_ratio(
    prices: FloatArray, n_alarms: FloatArray, gain: float
) -> tuple[FloatArray, FloatArray]:
    """Open interval of a where ``gain * a / ((a + m) * (a + m + 1)) > price``.

    The left side is what ``-gain * a / (a + m)`` grows by when m becomes m + 1. The ends are the
    roots of ``price * (a + m) * (a + m + 1) - gain * a``.

    Parameters
    ----------
    prices : ndarray
        Positive prices.
    n_alarms : ndarray
        The values of m.
    gain : float
        Positive factor.

    Returns
    -------
    lower, upper : ndarray
        The ends; ``lower = upper = inf`` where there is no such a.
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


class FractionalMeasure(SearchedMeasure):
    """``Delta(a, b) = 1 - fraction``, concave in b: the best b for every a in closed form."""

    @abstractmethod
    def _paying_interval(
        self, prices: FloatArray, n_alarms: FloatArray, n_positive: int
    ) -> tuple[FloatArray, FloatArray]:
        """Open interval of a for which alarm number b + 1 gains more than its price."""

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
