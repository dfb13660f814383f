"""What a direct search raises: a function of the table of alarms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.measures import (
    ROCAUC,
    BalancedAccuracy,
    ContingencyMeasure,
    FBeta,
    FloorMeasure,
    HighestScores,
    Measure,
)
from scoresieve.solvers.direct.line_search import Alarms

#: Where a positive more is worth nothing, an alarm costs so much.
LARGEST_RATE = 1e6


def table_measure(measure: Measure, y: FloatArray) -> ContingencyMeasure:
    """The measure itself where it is one of alarms, else one of alarms that is near to it.

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
    """``M(a, b) = 1 - Delta(a, b)`` of the total weights of alarms.

    Parameters
    ----------
    measure : ContingencyMeasure
    positives, negatives : ndarray of shape (n_samples,)
        What each row counts: its weight in the array of its class, 0 in the other.
    most_alarms : float
        Tables with more are worth nothing. To raise an alarm for every row can be better than any
        model with one feature, and from there no search comes back.
    """

    measure: ContingencyMeasure
    positives: FloatArray
    negatives: FloatArray
    most_alarms: float

    @classmethod
    def of_rows(cls, measure: Measure, y: FloatArray, weights: FloatArray) -> Target:
        """The target for rows of labels y, each as often as it counts.

        Alarms are at most halfway from the positives, or from the k highest scores, to all rows.
        """
        is_positive = y > 0
        positives = np.where(is_positive, weights, 0.0)
        negatives = np.where(is_positive, 0.0, weights)
        share = (measure.n_alarms(y) or 0.0) / np.count_nonzero(is_positive)
        expected = max(1.0, share) * positives.sum()
        most = 0.5 * (expected + weights.sum())
        return cls(table_measure(measure, y), positives, negatives, most)

    def __call__(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """``M(a, b)``, -inf with too many alarms."""
        # Sums of weights may be beyond the ends by a rounding.
        a, b = np.clip(a, 0.0, self._P), np.clip(b, 0.0, self._N)
        value = 1.0 - self.measure.table_loss(a, b, self._P, self._N)
        return np.where(a + b > self.most_alarms, -np.inf, value)

    def value(self, a: float, b: float) -> float:
        """``M(a, b)`` of one table."""
        return float(self(np.array(a), np.array(b)))

    def rate(self, a: Any, b: Any) -> float:
        """What an alarm costs where a positive is worth 1; at half of both, if that is better.

        With no alarm yet, many measures charge nothing for the first.
        """
        half = self._P // 2
        if self.value(half, half) > self.value(a, b):
            a = b = half
        return min(self.measure.rate_at(a, b, self._P, self._N), LARGEST_RATE)

    def alarms(self, scores: FloatArray) -> Alarms:
        """The alarms of some scores."""
        on = scores > 0.0
        a, b = float(self.positives[on].sum()), float(self.negatives[on].sum())
        return Alarms(scores, self.positives, self.negatives, a, b)

    @cached_property
    def _P(self) -> Any:  # a number of rows, or their weight
        return float(self.positives.sum())

    @cached_property
    def _N(self) -> Any:
        return float(self.negatives.sum())
