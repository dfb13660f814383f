"""Measures of the k examples with the highest scores: Prec@k, Rec@k and the break-even point.

The labellings that compete are restricted by the number of examples they label +1:

    Prec@k: a + b >= k        Rec@k: a + b <= k        PRBEP: a + b = P
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray
from scoresieve.measures._at_k import K_PATTERN, AtK, expected_true_positives, read_k
from scoresieve.measures._base import named
from scoresieve.measures.contingency import (
    IndexArray,
    OrderedClasses,
    SearchedMeasure,
    class_sizes,
)
from scoresieve.measures.fractional import FractionalMeasure, interval_of_ratio


@named("prec@<k>", pattern=f"prec@{K_PATTERN}", read=read_k)
@dataclass(frozen=True)
class PrecisionAtK(AtK, FractionalMeasure):
    """``Delta = 1 - a / (a + b)`` over labellings with ``a + b >= k``: precision at k.

    Conventions
    -----------
    * The score is the expected precision of the k highest scores, over all orders of ties.
    * With k above P the true labelling is not admissible. Its loss is still 0, so that the risk
      is never negative.

    Parameters
    ----------
    k : int or str
        A number of examples, or a multiple of the number of positives: "p", "2p", "p/2", "0.5p".

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> PrecisionAtK(k=2).score(y, np.array([3.0, 1.0, 1.0, 0.0]))
    0.75
    >>> PrecisionAtK(k="0.5p") == PrecisionAtK(k="p/2")
    True
    """

    @property
    def name(self) -> str:
        """The text "prec@" and k."""
        return f"prec@{self.k}"

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``b / (a + b)``, and 1 if nothing is labelled +1."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        return np.where(a + b > 0, b / np.maximum(a + b, 1.0), 1.0)

    def admissible(self, n_true_positive: Any, n_false_positive: Any, y: FloatArray) -> BoolArray:
        """``a + b >= k``."""
        return np.add(n_true_positive, n_false_positive) >= self.n_selected(y)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """Expected number of positives among the k highest scores, divided by k."""
        k = self.n_selected(y)
        return expected_true_positives(y, scores, k) / k

    def _paying_interval(
        self, prices: FloatArray, n_alarms: FloatArray, n_positive: int
    ) -> tuple[FloatArray, FloatArray]:
        return interval_of_ratio(prices, n_alarms, float(n_positive))

    def _candidates(self, classes: OrderedClasses) -> tuple[IndexArray, IndexArray]:
        a = np.arange(classes.n_positive + 1)
        # Concave in b: the constrained best is the nearest admissible one with a positive loss.
        needed = np.maximum(self.n_selected(classes.y) - a, 1)
        n_alarms = np.maximum(self._best_alarms(classes), needed)
        possible = needed <= classes.n_negative
        return a[possible], n_alarms[possible]


class _RecallSearch(SearchedMeasure):
    """``Delta = 1 - a / P``, whatever b is."""

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``(P - a) / P``."""
        a = np.asarray(n_true_positive, dtype=float)
        return (n_positive - a) / n_positive + np.zeros(np.shape(n_false_positive))


@named("rec@<k>", pattern=f"rec@{K_PATTERN}", read=read_k)
@dataclass(frozen=True)
class RecallAtK(AtK, _RecallSearch):
    """``Delta = 1 - a / P`` over labellings with ``a + b <= k``: recall at k.

    Conventions
    -----------
    The score is the expected recall of the k highest scores, over all orders of tied scores.

    Parameters
    ----------
    k : int or str
        A number of examples, or a multiple of the number of positives: "p", "2p", "p/2", "0.5p".
    """

    @property
    def name(self) -> str:
        """The text "rec@" and k."""
        return f"rec@{self.k}"

    def admissible(self, n_true_positive: Any, n_false_positive: Any, y: FloatArray) -> BoolArray:
        """``a + b <= k``."""
        return np.add(n_true_positive, n_false_positive) <= self.n_selected(y)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """Expected number of positives among the k highest scores, divided by P."""
        return expected_true_positives(y, scores, self.n_selected(y)) / self.unit(y)

    def _lowest_alarm(self, n_positive: int) -> float:
        return 0.0

    def _candidates(self, classes: OrderedClasses) -> tuple[IndexArray, IndexArray]:
        k = self.n_selected(classes.y)
        a = np.arange(min(k, classes.n_positive - 1) + 1)
        return a, np.minimum(k - a, classes.n_negative_above_zero)


@named("prbep")
@dataclass(frozen=True)
class PRBEP(_RecallSearch):
    """``Delta = 1 - a / P`` over labellings with ``a + b = P``: precision/recall break-even point.

    Conventions
    -----------
    As many examples are labelled +1 as there are positives, so precision equals recall. The score
    is the expected precision of the P highest scores, over all orders of tied scores.
    """

    name = "prbep"

    def n_alarms(self, y: FloatArray) -> int:
        """``P`` examples."""
        return class_sizes(y)[0]

    def admissible(self, n_true_positive: Any, n_false_positive: Any, y: FloatArray) -> BoolArray:
        """``a + b = P``."""
        return np.add(n_true_positive, n_false_positive) == class_sizes(y)[0]

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """Expected number of positives among the P highest scores, divided by P."""
        n_positive = class_sizes(y)[0]
        return expected_true_positives(y, scores, n_positive) / n_positive

    def _candidates(self, classes: OrderedClasses) -> tuple[IndexArray, IndexArray]:
        n_alarms = np.arange(1, min(classes.n_positive, classes.n_negative) + 1)[::-1]
        return classes.n_positive - n_alarms, n_alarms
