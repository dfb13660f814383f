"""Measures bound to sample weights, where a weight is exactly a repetition.

Legend: ``c_i >= 0`` is the weight of example i, ``P_w`` and ``N_w`` are the total weights of the
positives and of the negatives. Whole weights give the measure of the data with example i repeated
``c_i`` times, other weights extend it linearly, and a weight of 0 leaves the example out.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_row_weights, check_weights
from scoresieve.measures._base import Cut, Measure
from scoresieve.measures.contingency import predicted_labels


@dataclass(frozen=True, eq=False)
class WeightedMeasure(Measure):
    """``R(s; c)``: the risk of a measure on examples that count ``c_i`` times each.

    Conventions
    -----------
    * It belongs to the data whose weights it holds: y and scores must have their length.
    * Its name is that of the measure without weights.
    * ``delta`` of a flipped example is ``c_i y_i``: all its repetitions flip at once.

    Parameters
    ----------
    weights : array-like of shape (n_samples,)
        Finite and not negative, with a positive total for each class.
    """

    weights: Any
    #: So that a second set of weights is refused with the reason.
    takes_weights = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", check_weights(self.weights))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash((type(self), self.weights.tobytes()))

    def weighted(self, sample_weight: ArrayLike) -> Measure:
        """Weights are given once; ValueError."""
        raise ValueError(
            f"{self.name} was given its weights already; leave sample_weight out, or multiply the "
            "two and give the product."
        )

    def flip_values(self, y: FloatArray) -> FloatArray:
        """``c_i y_i``."""
        return self.weights * y

    def check(self, y: FloatArray) -> None:
        """Raise ValueError if the weights have another length, or leave a class out."""
        check_row_weights(self.weights, np.asarray(y), by_class=True)

    def totals(self, y: FloatArray) -> tuple[float, float]:
        """``(P_w, N_w)``, the total weights of the two classes."""
        positive = np.asarray(y) > 0
        return float(self.weights[positive].sum()), float(self.weights[~positive].sum())

    def unit(self, y: FloatArray) -> float:
        """``U = P_w``, the total weight of the positives."""
        return self.totals(y)[0]


class WeightedHinges(WeightedMeasure):
    """``R(s) = sum_i c_i (cost_i - y_i s_i)_+``, one cost for each class.

    The most violated labelling flips every i with ``y_i s_i < cost_i``, and costs the sum of
    ``c_i cost_i`` over them.
    """

    @abstractmethod
    def costs(self, total_positive: float, total_negative: float) -> tuple[float, float]:
        """Cost of a missed positive and of a false alarm of weight 1."""

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """Flip every example whose margin is below its cost, or else the best single one.

        Parameters
        ----------
        y, scores : ndarray of shape (n_samples,)
            Labels in {-1, +1} and finite scores.

        Returns
        -------
        cut : Cut
        """
        costs, present = self._costs_of_examples(y), self.weights > 0
        gains = costs - y * scores
        flipped = present & (gains > 0)
        if not flipped.any():
            flipped[np.argmax(np.where(present, self.weights * gains, -np.inf))] = True
        delta = np.where(flipped, self.flip_values(y), 0.0)
        return Cut(delta=delta, loss=float(np.abs(delta) @ costs))

    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``sum of c_i cost_i`` where ``delta`` is not zero; ValueError if it is no labelling.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Labels in {-1, +1}.
        delta : ndarray of shape (n_samples,)
            ``c_i y_i`` where the labelling flips i, 0 elsewhere.

        Returns
        -------
        loss : float
            0 for the true labelling.
        """
        delta, flips = same_shape(delta, y), self.flip_values(y)
        wrong = np.flatnonzero((delta != 0) & (delta != flips))
        if wrong.size:
            i = wrong[0]
            raise ValueError(
                f"delta[{i}] is {delta[i]}, but it must be 0 or sample_weight[{i}] * y[{i}] = "
                f"{flips[i]}."
            )
        return float(np.abs(delta) @ self._costs_of_examples(y))

    def _costs_of_examples(self, y: FloatArray) -> FloatArray:
        return np.where(np.asarray(y) > 0, *self.costs(*self.totals(y)))


class WeightedAccuracy(WeightedHinges):
    """``R(s) = sum_i c_i (1 - y_i s_i)_+`` and ``U = sum_i c_i``: accuracy with weights.

    Examples
    --------
    >>> import numpy as np
    >>> y, scores = np.array([1.0, -1.0, -1.0]), np.array([0.25, -3.0, 0.5])
    >>> WeightedAccuracy(np.array([2.0, 5.0, 1.0])).risk(y, scores)
    3.0
    """

    name = "accuracy"

    def unit(self, y: FloatArray) -> float:
        """``U = P_w + N_w``, the total weight."""
        return sum(self.totals(y))

    def costs(self, total_positive: float, total_negative: float) -> tuple[float, float]:
        """Every error of weight 1 costs 1."""
        return 1.0, 1.0

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``accuracy_score`` of scikit-learn with these weights, for ``scores > 0``."""
        return float(accuracy_score(y, predicted_labels(scores), sample_weight=self.weights))


class WeightedBalancedAccuracy(WeightedHinges):
    """``U * Delta = sum_missed c_i / 2 + P_w / (2 N_w) sum_alarms c_j``: the mean weighted recall.

    ``U = P_w``. The risk is ``sum_i c_i (cost_i - y_i s_i)_+`` with these two costs.
    """

    name = "balanced_accuracy"

    def costs(self, total_positive: float, total_negative: float) -> tuple[float, float]:
        """``1/2`` and ``P_w / (2 N_w)``."""
        return 0.5, 0.5 * total_positive / total_negative

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``balanced_accuracy_score`` of scikit-learn with these weights, for ``scores > 0``."""
        labels = predicted_labels(scores)
        return float(balanced_accuracy_score(y, labels, sample_weight=self.weights))


def same_shape(delta: Any, y: FloatArray) -> FloatArray:
    """``delta`` as float64; ValueError if its shape is not that of y."""
    delta = np.asarray(delta, dtype=np.float64)
    if delta.shape != np.shape(y):
        raise ValueError(f"delta has shape {delta.shape}, but y has shape {np.shape(y)}.")
    return delta
