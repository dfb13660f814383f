"""Measures that take sample weights, where a weight is exactly a repetition.

Legend: ``c_i >= 0`` is the weight of example i, ``P_w`` and ``N_w`` are the total weights of the
positives and of the negatives. Whole weights give the measure of the data with example i repeated
``c_i`` times, other weights extend it linearly, and a weight of 0 leaves the example out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_row_weights, check_weights
from scoresieve.measures._base import Measure


@dataclass(frozen=True, eq=False)
class WeightedMeasure(Measure):
    """``R(s; c)``: the risk of a measure on examples that count ``c_i`` times each, or once.

    Conventions
    -----------
    * With weights it belongs to the data that they are of: y and scores must have their length.
    * Its name is that of the measure without weights.
    * ``delta`` of a flipped example is ``c_i y_i``: all its repetitions flip at once.

    Parameters
    ----------
    weights : array-like of shape (n_samples,), optional
        Finite and not negative, with a positive total for each class.
    """

    weights: Any = field(default=None, kw_only=True, repr=False)
    takes_weights = True

    def __post_init__(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "weights", check_weights(self.weights))

    def _settings(self) -> tuple[Any, ...]:
        return tuple(getattr(self, each.name) for each in fields(self) if each.name != "weights")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        assert isinstance(other, WeightedMeasure)
        if self._settings() != other._settings():
            return False
        if self.weights is None or other.weights is None:
            return self.weights is other.weights
        return np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        weights = None if self.weights is None else self.weights.tobytes()
        return hash((type(self), self._settings(), weights))

    @property
    def row_weights(self) -> FloatArray | None:
        """The weights."""
        return self.weights

    def weighted(self, sample_weight: ArrayLike) -> Measure:
        """The measure with these weights; ValueError if it has some already."""
        if self.weights is None:
            return replace(self, weights=sample_weight)
        raise ValueError(
            f"{self.name} was given its weights already; leave sample_weight out, or multiply the "
            "two and give the product."
        )

    def flip_values(self, y: FloatArray) -> FloatArray:
        """``c_i y_i``."""
        return y if self.weights is None else self.weights * y

    def check(self, y: FloatArray) -> None:
        """Raise ValueError if the weights have another length, or leave a class out."""
        if self.weights is not None:
            check_row_weights(self.weights, np.asarray(y), by_class=True)

    def totals(self, y: FloatArray) -> tuple[float, float]:
        """``(P_w, N_w)``, the total weights of the two classes."""
        positive = np.asarray(y) > 0
        if self.weights is None:
            n_positive = int(np.count_nonzero(positive))
            return float(n_positive), float(positive.size - n_positive)
        return float(self.weights[positive].sum()), float(self.weights[~positive].sum())

    def unit(self, y: FloatArray) -> float:
        """``U = P_w``, the total weight of the positives."""
        return self.totals(y)[0]
