"""Measures that are a fraction of counts: F-beta and Jaccard.

For these the loss is concave in the false alarms b when the true positives a are fixed. So the
(b+1)-th highest negative, of score ``-q``, is raised exactly when its gain exceeds its score cost:

    U * [Delta(a, b + 1) - Delta(a, b)]  >  q .

Solved for a instead of b this is an interval of a for every b, in closed form. Counting for every a
the intervals that hold it gives the best b for all a at once, in O(P + N) after the sorts.

What the (b+1)-th alarm gains falls with b, so that of many negatives only the highest can pay: of
text with 2 % positives a tenth of them. These are found by counting, and no others are sorted.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.measures.contingency import (
    IndexArray,
    OrderedClasses,
    SearchedMeasure,
    alarm_counts,
    as_name,
)
from scoresieve.measures.measure import NUMBER, named

# Stands for a score cost of zero, so that the closed forms need no special case.
_TINY_COST = 1e-300
#: Halvings of the range in which the lowest score that pays is sought: 1/4000 of it is left.
_HALVINGS = 12
#: What rounding may do to the largest gain.
_ROUNDING = 1e-9
#: Every 16th score is looked at first, and stands for this share of them.
_STEP, _TRUSTED = 16, 0.9


def largest_gain(
    gain: float, n_first: float, least: float, n_positive: int, n_alarms: float
) -> float:
    """``max gain a / ((a + m) (a + m + 1))`` over real a from ``least`` to P, ``m = m_0 + b``.

    It rises up to ``a = sqrt(m (m + 1))``, then falls; and for every a it falls with b.
    """
    m = n_first + n_alarms
    a = min(max(float(np.sqrt(m * (m + 1.0))), least), n_positive)
    return gain * (a / ((a + m) * (a + m + 1.0)))


def interval_of_ratio(
    costs: FloatArray, n_alarms: FloatArray, gain: float
) -> tuple[FloatArray, FloatArray]:
    """Open interval of a where ``gain * a / ((a + m) * (a + m + 1)) > cost``; (inf, inf) if empty.

    The left side is what ``-gain * a / (a + m)`` grows by when m, the number of alarms, becomes
    m + 1. The ends are the roots of ``cost * (a + m) * (a + m + 1) - gain * a``.
    """
    product = n_alarms * (n_alarms + 1.0)
    linear = gain - costs * (2.0 * n_alarms + 1.0)
    discriminant = linear**2 - 4.0 * costs**2 * product
    real = (linear > 0) & (discriminant > 0)
    root = np.where(real, linear, 1.0) + np.sqrt(np.where(real, discriminant, 0.0))
    lower = np.where(real, 2.0 * costs * product / root, np.inf)
    upper = np.where(real, root / (2.0 * costs), np.inf)
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

    #: Whether labellings that compete may need alarms that do not pay.
    _needs_alarms = False

    @abstractmethod
    def _gain(self, n_positive: int) -> tuple[float, float, float]:
        """``gain, m_0, least``: what alarm number b + 1 gains where a positives are true.

        It is ``gain a / ((a + m) (a + m + 1))`` with ``m = m_0 + b``, and no competing labelling
        has fewer than ``least`` true positives.
        """

    #: Open interval of a where alarm b + 1 gains more than its score cost; of costs, m, and gain.
    _paying_interval = staticmethod(interval_of_ratio)

    def _lowest_paying(self, negatives: FloatArray, n_positive: int) -> float:
        """A score t such that raising a negative at or below it never pays.

        Such a negative comes after the b ones above t, so that it gains :func:`largest_gain` of b
        at most. Where that is at most ``-t``, so it is for every score below t: bisection, on a
        part of the scores that stands for all, and on all of them where it turns out that it does
        not.
        """
        if self._needs_alarms:
            return -np.inf
        gain_after = partial(largest_gain, *self._gain(n_positive), n_positive)
        lowest = -gain_after(0)
        for seen, each in ((negatives[::_STEP], _STEP * _TRUSTED), (negatives, 1.0)):
            low, high, inside, n_above = lowest, 0.0, seen, 0
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                is_above = inside > middle
                n_inside = int(np.count_nonzero(is_above))
                if gain_after(each * (n_above + n_inside)) * (1.0 + _ROUNDING) <= -middle:
                    low, inside = middle, inside[is_above]
                else:
                    high, n_above, inside = middle, n_above + n_inside, inside[~is_above]
            if gain_after(int(np.count_nonzero(negatives > low))) * (1.0 + _ROUNDING) <= -low:
                break
        return low

    def _best_alarms(self, classes: OrderedClasses) -> IndexArray:
        """The b that maximises the value, for every a = 0..P, over all tables."""
        negatives, free = classes.negatives, classes.n_negative_above_zero
        # No alarm gains more than U = P: the cap only keeps huge costs from overflowing.
        costs = np.clip(-negatives[free:], _TINY_COST, float(classes.n_positive))
        n_alarms = np.arange(free, negatives.size, dtype=float)
        gain, n_first, _ = self._gain(classes.n_positive)
        lower, upper = self._paying_interval(costs, n_first + n_alarms, gain)
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

    def _gain(self, n_positive: int) -> tuple[float, float, float]:
        weight = self.beta**2
        return n_positive * (1.0 + weight), weight * n_positive, 0.0


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

    def _gain(self, n_positive: int) -> tuple[float, float, float]:
        # U a [1 / (P + b) - 1 / (P + b + 1)] is largest for a = P.
        return float(n_positive), 0.0, float(n_positive)

    @staticmethod
    def _paying_interval(
        costs: FloatArray, n_alarms: FloatArray, gain: float
    ) -> tuple[FloatArray, FloatArray]:
        # U a [1 / (P + b) - 1 / (P + b + 1)] > cost, with U = P = gain.
        union = gain + n_alarms
        return costs * union * (union + 1.0) / gain, np.full(union.shape, np.inf)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
