"""Measures that add up over examples: accuracy and balanced accuracy."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from scoresieve._arrays import FloatArray
from scoresieve.measures._base import Cut, named
from scoresieve.measures.contingency import ContingencyMeasure, class_sizes, predicted_labels
from scoresieve.measures.weighted import WeightedAccuracy, WeightedBalancedAccuracy


class WeightedErrors(ContingencyMeasure):
    """``U * Delta(y, y') = sum of cost_i over the flipped i``, one cost for each class.

    The risk is a sum of hinges, ``R(s) = sum_i (cost_i - y_i s_i)_+``, and the most violated
    labelling flips every i with ``y_i s_i < cost_i``. No sort is needed.

    Conventions
    -----------
    If no example is worth a flip, the best single flip competes, with a value of at most 0.
    """

    @abstractmethod
    def costs(self, n_positive: int, n_negative: int) -> tuple[float, float]:
        """Cost of a missed positive and of a false alarm, both in units of ``U * Delta``."""

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """Flip every example whose margin is below its cost, or else the best single one.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Labels in {-1, +1}, both present.
        scores : ndarray of shape (n_samples,)
            Finite scores.

        Returns
        -------
        cut : Cut
        """
        sizes = class_sizes(y)
        cost_positive, cost_negative = self.costs(*sizes)
        gains = np.where(y > 0, cost_positive, cost_negative) - y * scores
        flipped = gains > 0
        if not flipped.any():
            flipped[np.argmax(gains)] = True
        delta = np.where(flipped, y, 0.0)
        n_missed = np.count_nonzero(delta > 0)
        n_alarms = np.count_nonzero(delta < 0)
        loss = self.unit(y) * self.table_loss(sizes[0] - n_missed, n_alarms, *sizes)
        return Cut(delta=delta, loss=float(loss))


@named("accuracy", "hamming")
@dataclass(frozen=True)
class Accuracy(WeightedErrors):
    """``Delta = errors / n`` and ``U = n``: the Hamming loss, whose risk is the sum of hinges.

    Conventions
    -----------
    With this measure and a budget of all features the training problem is the one of
    ``LinearSVC(loss="hinge", fit_intercept=False)`` with the same C.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, -1.0, -1.0])
    >>> Accuracy().risk(y, np.array([0.25, -3.0, 0.5]))
    2.25
    """

    name = "accuracy"
    takes_weights = True

    def unit(self, y: FloatArray) -> float:
        """``U = n``, the number of examples."""
        return float(np.size(y))

    def costs(self, n_positive: int, n_negative: int) -> tuple[float, float]:
        """Every error costs 1."""
        return 1.0, 1.0

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``(P - a + b) / n``."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        return (n_positive - a + b) / (n_positive + n_negative)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``accuracy_score`` of scikit-learn for the predictions ``scores > 0``."""
        return float(accuracy_score(y, predicted_labels(scores)))

    def weighted(self, sample_weight: ArrayLike) -> WeightedAccuracy:
        """Every error of example i costs ``c_i``."""
        return WeightedAccuracy(sample_weight)


@named("balanced_accuracy")
@dataclass(frozen=True)
class BalancedAccuracy(WeightedErrors):
    """``Delta = ((P - a) / P + b / N) / 2``: one minus the mean recall of the two classes.

    With ``U = P`` a missed positive costs 1/2 and a false alarm ``P / (2 N)``.
    """

    name = "balanced_accuracy"
    takes_weights = True

    def costs(self, n_positive: int, n_negative: int) -> tuple[float, float]:
        """``1/2`` and ``P / (2 N)``."""
        return 0.5, 0.5 * n_positive / n_negative

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``((P - a) / P + b / N) / 2``."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        return 0.5 * ((n_positive - a) / n_positive + b / n_negative)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``balanced_accuracy_score`` of scikit-learn for the predictions ``scores > 0``."""
        return float(balanced_accuracy_score(y, predicted_labels(scores)))

    def weighted(self, sample_weight: ArrayLike) -> WeightedBalancedAccuracy:
        """A missed positive costs ``c_i / 2`` and a false alarm ``c_j P_w / (2 N_w)``."""
        return WeightedBalancedAccuracy(sample_weight)
