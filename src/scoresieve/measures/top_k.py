"""Measures of the k examples with the highest scores: Prec@k, Rec@k and the break-even point.

In the paper the labellings that compete are restricted by the number of examples they label +1:

    Prec@k: a + b >= k        Rec@k: a + b <= k        PRBEP: a + b = P

Where an intercept serves as the threshold, :class:`TopHits` bounds all three without that.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray
from scoresieve.measures.contingency import (
    ContingencyMeasure,
    IndexArray,
    OrderedClasses,
    SearchedMeasure,
    class_sizes,
)
from scoresieve.measures.fractional import FractionalMeasure
from scoresieve.measures.measure import Cut, check_flips, named

#: k inside a name.
K_PATTERN = r"([\d.]+%?|[\d.]*p(?:/\d+)?)"
_MULTIPLE = re.compile(r"(?P<factor>\d+(?:\.\d+)?)?p(?:/(?P<divisor>\d+))?")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")


class RowShare(Fraction):
    """A share of the rows at hand, where a plain fraction is a multiple of P."""


def read_k(text: str) -> int | str:
    """K in a name: a number, a multiple of P, or a share of the rows."""
    return int(text) if text.isdecimal() else text


@dataclass(frozen=True)
class TopHits(ContingencyMeasure):
    """``U Delta = max(k - a, b) - max(k - P, 0)``: misses among the k highest, at any threshold.

    If a + b <= k, the k highest scores hold at least a positives, so that at most k - a of them are
    misses; if a + b >= k, at most b are. Both are equal to the misses at a + b = k. For k above P
    the k - P unavoidable misses are subtracted. Both functions separate over the examples, so the
    risk is the maximum of two hinge sums:

        R(s) = max{ sum_pos (1 - s_i)_+ + sum_neg (s_j)_+  +  k - P - (k - P)_+ ,
                    sum_pos (-s_i)_+  + sum_neg (1 + s_j)_+  -  (k - P)_+ }

    in O(n), without a sort, for every k from 1 to n. The score is the
    number of hits among the k highest scores, divided by the largest possible one.

    Parameters
    ----------
    k : int
        At least 1.
    """

    k: int

    scores_labels = False

    @property
    def name(self) -> str:
        """The text "hits@" and k; it is no measure to ask for by name."""
        return f"hits@{self.k}"

    def loss_scale(self, y: FloatArray) -> float:
        """``min(k, P)``, the most hits that there can be."""
        return float(min(self.k, class_sizes(y)[0]))

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``(max(k - a, b) - max(k - P, 0)) / min(k, P)``; above 1 where there are more alarms."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        misses = np.maximum(self.k - a, b) - max(self.k - n_positive, 0)
        return misses / min(self.k, n_positive)

    def n_alarms(self, y: FloatArray) -> int:
        """``k`` examples."""
        return self.k

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """Expected number of positives among the k highest scores, divided by min(k, P)."""
        return expected_true_positives(y, scores, self.k) / self.loss_scale(y)

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """The more violated of two labellings, one for misses and one for alarms."""
        positive, margins = y > 0, y * scores
        unavoidable = max(self.k - int(np.count_nonzero(positive)), 0)
        cuts = []
        for bars, constant in ((positive, self.k - np.count_nonzero(positive)), (~positive, 0)):
            # Whoever counts is flipped below a margin of 1, all others below 0.
            flipped = margins < bars
            loss = float(constant - unavoidable + np.count_nonzero(flipped & bars))
            cuts.append(Cut(np.where(flipped, y, 0.0), loss))
        return max(cuts, key=lambda cut: cut.value(scores))

    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``max(k - a, b) - max(k - P, 0)`` of the labelling; ValueError if it is none."""
        delta, (n_positive, _) = check_flips(delta, y), class_sizes(y)
        a, b = n_positive - np.count_nonzero(delta > 0), np.count_nonzero(delta < 0)
        return float(max(self.k - a, b) - max(self.k - n_positive, 0))


class HighestScores(ContingencyMeasure):
    """A measure of the ``n_alarms`` highest scores."""

    scores_labels = False

    @abstractmethod
    def n_alarms(self, y: FloatArray) -> int:
        """``k``, a number of examples."""

    def tight(self, y: FloatArray, price: float) -> TopHits:
        """Hits among the k highest scores."""
        return TopHits(self.n_alarms(y))

    def fixed_rate(self, y: FloatArray) -> float:
        """``min(1, P / k)``: a miss is one of P positives, an alarm one of k places.

        At k = P one more miss is one more alarm. Above k = P some places are spare: on three text
        collections P / k gained one to two points of Rec@2p and Rec@4p over 1. Below k = P prices
        above 1 did not pay throughout.
        """
        return min(1.0, class_sizes(y)[0] / self.n_alarms(y))


@dataclass(frozen=True)
class AtK(HighestScores):
    """Holds k in its shortest spelling, and converts it to a number of examples."""

    k: int | str

    def __post_init__(self) -> None:
        k = parse_k(self.k)
        shortest: int | Fraction | str = k
        if isinstance(k, RowShare):
            percent = Decimal(100 * k.numerator) / k.denominator
            shortest = f"{percent.normalize():f}%"
        elif isinstance(k, Fraction):
            factor = "" if k.numerator == 1 else k.numerator
            shortest = f"{factor}p" if k.denominator == 1 else f"{factor}p/{k.denominator}"
        object.__setattr__(self, "k", shortest)

    def n_alarms(self, y: FloatArray) -> int:
        """``k`` examples, ``floor(multiple * P)`` or ``floor(share * n_samples)``, at least 1.

        ValueError if there are fewer than k examples.
        """
        n_positive, n_negative = class_sizes(y)
        k = parse_k(self.k)
        if isinstance(k, Fraction):
            n_counted = n_positive + (n_negative if isinstance(k, RowShare) else 0)
            k = max(1, k.numerator * n_counted // k.denominator)
        if k > n_positive + n_negative:
            raise ValueError(
                f"k={self.k!r} asks for the {k} highest scores, but there are only "
                f"{n_positive + n_negative} examples ({n_positive} positives); choose a smaller k."
            )
        return k

    def of_share(self, share: float) -> Any:
        """A number k of examples times the share, at least 1; "2p" and "1%" scale by themselves."""
        if not isinstance(self.k, int):
            return self
        return replace(self, k=max(1, round(share * self.k)))

    def check(self, y: FloatArray) -> None:
        """Raise ValueError if k exceeds the number of examples."""
        self.n_alarms(y)


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
        A number of examples; a multiple of the number of positives: "p", "2p", "p/2", "0.5p"; or a
        share of the examples at hand: "1%", "0.5%".

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
        return np.add(n_true_positive, n_false_positive) >= self.n_alarms(y)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """Expected number of positives among the k highest scores, divided by k."""
        k = self.n_alarms(y)
        return expected_true_positives(y, scores, k) / k

    _needs_alarms = True

    def _gain(self, n_positive: int) -> tuple[float, float, float]:
        return float(n_positive), 0.0, 0.0

    def _candidates(self, classes: OrderedClasses) -> tuple[IndexArray, IndexArray]:
        a = np.arange(classes.n_positive + 1)
        # Concave in b: the constrained best is the nearest admissible one with a positive loss.
        needed = np.maximum(self.n_alarms(classes.y) - a, 1)
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
        As in :class:`PrecisionAtK`.
    """

    @property
    def name(self) -> str:
        """The text "rec@" and k."""
        return f"rec@{self.k}"

    def admissible(self, n_true_positive: Any, n_false_positive: Any, y: FloatArray) -> BoolArray:
        """``a + b <= k``."""
        return np.add(n_true_positive, n_false_positive) <= self.n_alarms(y)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """Expected number of positives among the k highest scores, divided by P."""
        return expected_true_positives(y, scores, self.n_alarms(y)) / self.loss_scale(y)

    def _lowest_alarm(self, n_positive: int) -> float:
        return 0.0

    def _candidates(self, classes: OrderedClasses) -> tuple[IndexArray, IndexArray]:
        k = self.n_alarms(classes.y)
        a = np.arange(min(k, classes.n_positive - 1) + 1)
        return a, np.minimum(k - a, classes.n_negative_above_zero)


@named("prbep")
@dataclass(frozen=True)
class PRBEP(HighestScores, _RecallSearch):
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


def parse_k(k: int | str) -> int | Fraction:
    """``k`` itself, or the multiple of P of "2p" and "p/2", or the share of the rows of "1%"."""
    if isinstance(k, Integral) and not isinstance(k, bool) and k >= 1:
        return int(k)
    text = k.replace(" ", "").lower() if isinstance(k, str) else ""
    match = _MULTIPLE.fullmatch(text)
    if match and int(match["divisor"] or 1) > 0:
        multiple = Fraction(match["factor"] or 1) / int(match["divisor"] or 1)
        if multiple > 0:
            return multiple
    share = _PERCENT.fullmatch(text)
    if share and 0 < Fraction(share[1]) <= 100:
        return RowShare(Fraction(share[1]) / 100)
    raise ValueError(
        f"k must be a positive integer, a multiple of the number of positives such as '2p', 'p/2' "
        f"or '0.5p', or a share of the rows such as '1%', at most '100%'; got {k!r}."
    )


def expected_true_positives(y: FloatArray, scores: FloatArray, k: int) -> float:
    """Mean number of positives among the k highest scores, over all orders of the tied scores."""
    positive, scores = np.asarray(y) > 0, np.asarray(scores)
    threshold = np.partition(scores, scores.size - k)[scores.size - k]
    above, tied = scores > threshold, scores == threshold
    share = (k - np.count_nonzero(above)) / np.count_nonzero(tied)
    return float(np.count_nonzero(positive & above) + share * np.count_nonzero(positive & tied))
