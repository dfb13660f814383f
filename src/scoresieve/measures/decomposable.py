"""Measures that add up over examples: accuracy and balanced accuracy."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from scoresieve._arrays import FloatArray
from scoresieve.measures.contingency import (
    ContingencyMeasure,
    as_name,
    class_sizes,
    predicted_labels,
)
from scoresieve.measures.measure import Cut, WeightedMeasure, check_flips, named


class SumOfErrors(WeightedMeasure, ContingencyMeasure):
    """``U * Delta(y, y') = sum of c_i cost_i over the flipped i``, one cost for each class.

    The risk is a sum of hinges, ``R(s) = sum_i c_i (cost_i - y_i s_i)_+``, and the most violated
    labelling flips every i with ``y_i s_i < cost_i``. No sort is needed.

    Conventions
    -----------
    If no example is worth a flip, the best single flip competes, with a value of at most 0.
    """

    @abstractmethod
    def costs(self, total_positive: float, total_negative: float) -> tuple[float, float]:
        """Cost of a missed positive and of a false alarm of weight 1, in units of ``U * Delta``."""

    def fixed_rate(self, y: FloatArray) -> float:
        """The ratio of the two costs."""
        miss, alarm = self.costs(*self.totals(y))
        return alarm / miss

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """Flip every example whose margin is below its cost, or else the best single one."""
        gains = self._costs_of_examples(y) - y * scores
        flipped = gains > 0
        if self.weights is not None:
            present = self.weights > 0
            flipped &= present
            gains = np.where(present, self.weights * gains, -np.inf)
        if not flipped.any():
            flipped[np.argmax(gains)] = True
        delta = np.where(flipped, self.flip_values(y), 0.0)
        return Cut(delta=delta, loss=self._loss_of(y, delta))

    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``sum of c_i cost_i`` where ``delta`` is not zero; ValueError if it is no labelling."""
        if self.weights is None:
            return super().cut_loss(y, delta)
        flips = self.flip_values(y)
        return self._loss_of(y, check_flips(delta, flips, "sample_weight[{i}] * y[{i}]"))

    def _loss_of(self, y: FloatArray, delta: FloatArray) -> float:
        if self.weights is not None:
            return float(np.abs(delta) @ self._costs_of_examples(y))
        # Counts, so that the loss is that of the table to the last digit.
        n_positive, n_negative = class_sizes(y)
        a = n_positive - np.count_nonzero(delta > 0)
        b = np.count_nonzero(delta < 0)
        return float(self.loss_scale(y) * self.table_loss(a, b, n_positive, n_negative))

    def _costs_of_examples(self, y: FloatArray) -> FloatArray:
        return np.where(np.asarray(y) > 0, *self.costs(*self.totals(y)))


@dataclass(frozen=True, eq=False)
class PricedErrors(SumOfErrors):
    """``U Delta = (P - a) + rate * b``, the surrogate of a measure with a floor.

    At the price ``rate`` its risk is the class-weighted hinge,
    ``sum_pos (1 - s_i)_+ + rate sum_neg (1 + s_j)_+``.
    """

    rate: float

    @property
    def name(self) -> str:
        """The text "errors@" and the rate; it is no measure to ask for by name."""
        return f"errors@{as_name(self.rate)}"

    def costs(self, total_positive: float, total_negative: float) -> tuple[float, float]:
        """1 and the rate."""
        return 1.0, self.rate

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``((P - a) + rate * b) / P``; above 1 where there are many alarms."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        return (n_positive - a + self.rate * b) / n_positive

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``1 - Delta`` of the predictions ``scores > 0``."""
        return 1.0 - self._labelling_loss(y, np.asarray(scores) > 0)


@named("accuracy", "hamming")
@dataclass(frozen=True, eq=False)
class Accuracy(SumOfErrors):
    """``Delta = errors / n`` and ``U = n``: the Hamming loss, whose risk is the sum of hinges.

    Conventions
    -----------
    With this measure and a budget of all features the training problem is the one of
    ``LinearSVC(loss="hinge", fit_intercept=False)`` with the same C.

    Examples
    --------
    >>> import numpy as np
    >>> y, scores = np.array([1.0, -1.0, -1.0]), np.array([0.25, -3.0, 0.5])
    >>> Accuracy().risk(y, scores)
    2.25
    >>> Accuracy(weights=[2.0, 5.0, 1.0]).risk(y, scores)
    3.0
    """

    name = "accuracy"

    def loss_scale(self, y: FloatArray) -> float:
        """``U = P_w + N_w``, the number of examples or their total weight."""
        return sum(self.totals(y))

    def costs(self, total_positive: float, total_negative: float) -> tuple[float, float]:
        """Every error of weight 1 costs 1."""
        return 1.0, 1.0

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``(P - a + b) / n``."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        return (n_positive - a + b) / (n_positive + n_negative)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``accuracy_score`` of scikit-learn for the predictions ``scores > 0``."""
        return float(accuracy_score(y, predicted_labels(scores), sample_weight=self.weights))


@named("balanced_accuracy")
@dataclass(frozen=True, eq=False)
class BalancedAccuracy(SumOfErrors):
    """``Delta = ((P - a) / P + b / N) / 2``: one minus the mean recall of the two classes.

    With ``U = P`` a missed positive costs 1/2 and a false alarm ``P / (2 N)``, weights and their
    totals for counts if there are any.
    """

    name = "balanced_accuracy"

    def costs(self, total_positive: float, total_negative: float) -> tuple[float, float]:
        """``1/2`` and ``P_w / (2 N_w)``."""
        return 0.5, 0.5 * total_positive / total_negative

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``((P - a) / P + b / N) / 2``."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        return 0.5 * ((n_positive - a) / n_positive + b / n_negative)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``balanced_accuracy_score`` of scikit-learn for the predictions ``scores > 0``."""
        labels = predicted_labels(scores)
        return float(balanced_accuracy_score(y, labels, sample_weight=self.weights))
