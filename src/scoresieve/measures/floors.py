"""One rate, given that another reaches a floor: precision given recall, recall given precision.

Below the floor the loss is 1, whatever the table is. So their bounds, with any price, are nearly
those of a constant, and where positives are rare the best model has no features. The tight form is
another: a class-weighted hinge whose own threshold is where unseen scores reach the floor, by the
choice of its price: what the curve of hits over alarms trades there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import precision_score, recall_score

from scoresieve._arrays import FloatArray
from scoresieve.measures.contingency import (
    ContingencyMeasure,
    IndexArray,
    OrderedClasses,
    SearchedMeasure,
    as_name,
    class_sizes,
    predicted_labels,
)
from scoresieve.measures.decomposable import PricedErrors
from scoresieve.measures.fractional import FractionalMeasure
from scoresieve.measures.measure import NUMBER, named
from scoresieve.measures.thresholds import all_tables

#: Share of the positives on either side of a threshold that the slope there is taken over.
WINDOW = 0.15


@dataclass(frozen=True)
class FloorMeasure(ContingencyMeasure):
    """``Delta = 1 - one rate`` where the other rate is at least ``floor``, and 1 elsewhere.

    Parameters
    ----------
    floor : float
        The rate to reach, in (0, 1].
    """

    floor: float

    #: The floor is one of each class alone.
    scores_labels = False
    #: The rate that has the floor, for messages.
    floored = "rate"

    def __post_init__(self) -> None:
        floor = float(self.floor)
        if not 0 < floor <= 1:
            raise ValueError(f"floor must be a {self.floored} in (0, 1], got {self.floor!r}.")
        object.__setattr__(self, "floor", floor)

    def tight(self, y: FloatArray, price: float) -> PricedErrors:
        """Missed positives, and alarms at their price."""
        return PricedErrors(price)

    def exchange_rate(self, y: FloatArray, scores: FloatArray) -> float:
        """``da / db``, the hits that a lower threshold gains per alarm, near the best threshold.

        The loss itself jumps there. A threshold is best for costs at which the two balance, and so
        this is the price of a hinge whose own threshold lies there.
        """
        tables, (n_positive, n_negative) = all_tables(y, scores), class_sizes(y)
        losses = self.table_loss(tables.a, tables.b, n_positive, n_negative)
        best = int(np.argmin(losses))
        if losses[best] >= 1.0:
            # No threshold reaches the floor: where it is nearest.
            best = int(np.argmax(tables.a / np.maximum(tables.a + tables.b, 1.0)))
        reach = max(1.0, WINDOW * n_positive)
        ends = np.clip(tables.a[best] + np.array([-reach, reach]), 0.0, n_positive)
        low, high = np.searchsorted(tables.a, ends)
        # Many tied scores may jump over the whole window.
        low = min(low, high - 1)
        alarms = tables.b[high] - tables.b[low]
        return float((tables.a[high] - tables.a[low]) / max(1.0, alarms))


@named("precision@recall>=<floor>", pattern=rf"precision@recall>=({NUMBER})", read=float)
@dataclass(frozen=True)
class PrecisionUnderRecallFloor(FloorMeasure, FractionalMeasure):
    """``Delta = b / (a + b)`` if ``a / P >= floor``, else 1: precision, given enough recall.

    Conventions
    -----------
    The score is the precision of the predictions ``scores > 0`` if their recall reaches the floor
    and 0 otherwise.

    Parameters
    ----------
    floor : float
        The recall to reach, in (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> measure = PrecisionUnderRecallFloor(floor=0.8)
    >>> measure.loss(y, np.array([1.0, 1.0, 1.0, -1.0]))
    0.3333333333333333
    >>> measure.loss(y, np.array([1.0, -1.0, -1.0, -1.0]))
    1.0
    """

    floored = "recall"

    @property
    def name(self) -> str:
        """The text "precision@recall>=" and the floor."""
        return f"precision@recall>={as_name(self.floor)}"

    def least_true_positive(self, n_positive: int) -> int:
        """The smallest a with ``a / P >= floor``, as the division is rounded."""
        least = math.ceil(self.floor * n_positive)
        while (least - 1) / n_positive >= self.floor:
            least -= 1
        while least / n_positive < self.floor:
            least += 1
        return least

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``b / (a + b)`` where a reaches the floor, 1 elsewhere."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        reached = a >= self.least_true_positive(n_positive)
        return np.where(reached, b / np.maximum(a + b, 1.0), 1.0)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """Precision of the predictions ``scores > 0``, or 0 if their recall is below the floor."""
        y_pred = predicted_labels(scores)
        if recall_score(y, y_pred) < self.floor:
            return 0.0
        return float(precision_score(y, y_pred, zero_division=0.0))

    def _gain(self, n_positive: int) -> tuple[float, float, float]:
        return float(n_positive), 0.0, float(self.least_true_positive(n_positive))

    def _candidates(self, classes: OrderedClasses) -> tuple[IndexArray, IndexArray]:
        least = self.least_true_positive(classes.n_positive)
        n_alarms = np.maximum(self._best_alarms(classes), 1)
        # Below the floor the loss is 1 whatever b is: only alarms with a positive score pay.
        n_alarms[:least] = classes.n_negative_above_zero
        return np.arange(classes.n_positive + 1), n_alarms


@named("recall@precision>=<floor>", pattern=rf"recall@precision>=({NUMBER})", read=float)
@dataclass(frozen=True)
class RecallUnderPrecisionFloor(FloorMeasure, SearchedMeasure):
    """``Delta = (P - a) / P`` if ``a / (a + b) >= floor``, else 1: recall, given enough precision.

    Conventions
    -----------
    The score is the recall of the predictions ``scores > 0`` if their precision reaches the floor
    and 0 otherwise; without predicted positives it is 0.

    Parameters
    ----------
    floor : float
        The precision to reach, in (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> measure = RecallUnderPrecisionFloor(floor=0.9)
    >>> measure.loss(y, np.array([1.0, -1.0, -1.0, -1.0]))
    0.5
    >>> measure.loss(y, np.array([1.0, 1.0, 1.0, -1.0]))
    1.0
    """

    floored = "precision"

    @property
    def name(self) -> str:
        """The text "recall@precision>=" and the floor."""
        return f"recall@precision>={as_name(self.floor)}"

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``(P - a) / P`` where the precision reaches the floor, 1 elsewhere."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        return np.where(self._reaches(a, b), (n_positive - a) / n_positive, 1.0)

    def _reaches(self, a: FloatArray, b: FloatArray) -> Any:
        return a / np.maximum(a + b, 1.0) >= self.floor

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """Recall of the predictions ``scores > 0``, or 0 if their precision is below the floor."""
        y_pred = predicted_labels(scores)
        if precision_score(y, y_pred, zero_division=0.0) < self.floor:
            return 0.0
        return float(recall_score(y, y_pred))

    def most_alarms(self, a: FloatArray) -> FloatArray:
        """The largest b with ``a / (a + b) >= floor``, as the division is rounded; a at least 1."""
        most = np.floor(a / self.floor - a)
        most -= ~self._reaches(a, most)
        return most + self._reaches(a, most + 1.0)

    def _candidates(self, classes: OrderedClasses) -> tuple[IndexArray, IndexArray]:
        """For every a the best b with the floor reached, where b costs nothing, and without."""
        n_positive, free = classes.n_positive, classes.n_negative_above_zero
        a = np.arange(n_positive + 1)
        most = np.append(-1, self.most_alarms(a[1:].astype(float)).astype(np.intp))
        within = (a > 0) & (a < n_positive)
        beyond = most < classes.n_negative
        b_within, b_beyond = np.minimum(free, most), np.maximum(free, most + 1)
        return (
            np.concatenate([a[within], a[beyond]]),
            np.concatenate([b_within[within], b_beyond[beyond]]),
        )
