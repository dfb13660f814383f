"""Average precision, with an exact search for the most violated ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import average_precision_score

from scoresieve._arrays import Array, FloatArray
from scoresieve.measures._base import Cut, named
from scoresieve.measures.contingency import IndexArray, stable_order
from scoresieve.measures.ranking import RankingMeasure


@named("average_precision")
@dataclass(frozen=True)
class AveragePrecision(RankingMeasure):
    """``Delta = 1 - (1/P) sum_k k / (k + b_k)``: one minus the average precision.

    The most violated ranking keeps the order of scores inside each class. It places the j-th
    negative just above the positive of rank ``i_j`` that maximises

        T_j(i) = sum_{k >= i} k / (k + j - 1) - k / (k + j) + (s-_j - s+_k) / N ,

    or below all positives, i = P + 1, where T = 0 (Yue, Finley, Radlinski, Joachims, 2007). The
    terms decrease in j, so that ``i_j`` never decreases and the best places fit together.

    Conventions
    -----------
    Tied scores are ranked by index in a cut. The reported score treats them as scikit-learn does.
    """

    name = "average_precision"

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``average_precision_score`` of scikit-learn."""
        return float(average_precision_score(y, scores))

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """Place every negative at its best rank, by divide and conquer in O((P + N) log N)."""
        positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
        positive = positive[stable_order(-scores[positive])]
        negative = negative[stable_order(-scores[negative])]
        gains = _PlacementGains(scores[positive], scores[negative])
        places = gains.best_places()
        if places[0] == positive.size:
            places[0] = gains.best_place_of_first()
        n_above = np.searchsorted(places, np.arange(positive.size), side="right")
        delta = np.zeros(y.size)
        delta[positive] = n_above / negative.size
        delta[negative] = (places - positive.size) / negative.size
        return Cut(delta=delta, loss=self._counts_loss(n_above, negative.size))

    def _counts_loss(self, n_above: Array, n_negative: int) -> float:
        return float(np.sum(n_above / (np.arange(1, n_above.size + 1) + n_above)))


class _PlacementGains:
    """``T_j(i)`` of :class:`AveragePrecision` in O(1), up to a constant of j.

    The sum over k telescopes to harmonic numbers H, without cancellation:

        T_j(i) = const_j - H_{i+j-2} - j / (i + j - 1) + [(P - i + 1) s-_j - sum_{k>=i} s+_k] / N .

    Conventions
    -----------
    Places and ranks count from 0 here: place ``p = i - 1`` is above p = 0..P - 1 or below all, P.

    Parameters
    ----------
    positives, negatives : ndarray
        Scores of the two classes, each descending.
    """

    def __init__(self, positives: FloatArray, negatives: FloatArray) -> None:
        self.n_positive, self.n_negative = positives.size, negatives.size
        self.negatives = negatives
        ranks = np.arange(1, positives.size + negatives.size + 1)
        self.harmonic = np.concatenate(([0.0], np.cumsum(1.0 / ranks)))
        self.tail = np.concatenate((np.cumsum(positives[::-1])[::-1], [0.0]))

    def __call__(self, rank: IndexArray, place: IndexArray) -> FloatArray:
        """Gain of the negative of this rank at this place, for broadcasting arrays."""
        above = rank + place
        margin = (self.n_positive - place) * self.negatives[rank] - self.tail[place]
        return margin / self.n_negative - self.harmonic[above] - (rank + 1.0) / (above + 1.0)

    def best_place_of_first(self) -> int:
        """Best place of the highest negative above at least one positive."""
        return int(np.argmax(self(np.zeros(1, np.intp), np.arange(self.n_positive))))

    def best_places(self) -> IndexArray:
        """Best place of every negative: ``p_1 <= p_2 <= ...``.

        Level by level, the ranks halfway between solved ones are solved all at once. The place of
        each is between the places of its two solved neighbours, so a level costs O(P + N).
        """
        n_negative = self.n_negative
        # One entry more on either side: rank -1 has place 0 and rank N or above has place P.
        step = 1 << (n_negative.bit_length() - 1)
        places = np.full(n_negative + 2 * step + 1, self.n_positive)
        places[0] = 0
        while step:
            ranks = np.arange(step - 1, n_negative, 2 * step)
            lowest, highest = places[ranks + 1 - step], places[ranks + 1 + step]
            lengths = highest - lowest + 1
            starts = np.cumsum(lengths) - lengths
            tried = np.arange(lengths.sum()) + np.repeat(lowest - starts, lengths)
            gains = self(np.repeat(ranks, lengths), tried)
            best = np.repeat(np.maximum.reduceat(gains, starts), lengths)
            hits = np.flatnonzero(gains == best)
            places[ranks + 1] = tried[hits[np.searchsorted(hits, starts)]]
            step //= 2
        return places[1 : n_negative + 1]
