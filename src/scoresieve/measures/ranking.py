"""Measures of a ranking: the area under the ROC curve, and average precision.

Legend: ``b_k`` is the number of negatives ranked above the k-th ranked positive, ``r_j`` the number
of positives ranked below the j-th ranked negative. A pair of a positive i and a negative j with j
above i is swapped.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from scoresieve._arrays import Array, FloatArray
from scoresieve.measures.contingency import IndexArray, class_sizes, stable_order
from scoresieve.measures.measure import Cut, Measure, WeightedMeasure, named, same_shape

#: How far a number of swaps may be from a whole one by rounding.
_TOLERANCE = 1e-6
#: What rounding may add up to, as a share of the positives' total weight.
_ROUNDING = 1e-9


class RankingMeasure(Measure):
    """``R(s) = max(0, max over rankings of P * Delta - (1/N) sum over swapped pairs (s_i - s_j))``.

    Conventions
    -----------
    * Every swapped pair (i positive, j negative) adds 1/N to ``delta_i`` and -1/N to ``delta_j``.
    * The true ranking has all positives above all negatives. Only other rankings compete.
    """

    flips_examples = False

    @abstractmethod
    def _counts_loss(self, n_above: Array, n_negative: int) -> float:
        """``U * Delta`` from the counts ``b_1 <= ... <= b_P``."""

    def loss_scale(self, y: FloatArray) -> float:
        """``U = P``, the number of positives."""
        return float(np.count_nonzero(y > 0))

    def n_alarms(self, y: FloatArray) -> float:
        """``P``: as many as there are positives."""
        return self.loss_scale(y)

    def loss(self, y: FloatArray, scores: FloatArray) -> float:
        """``Delta = 1 - score`` of the ranking by ``scores``."""
        return 1.0 - self.score(y, scores)

    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``U * Delta`` of the ranking whose swapped pairs add up to ``delta``.

        ``delta`` is ``b / N`` for each positive and ``-r / N`` for each negative; ValueError if no
        ranking has these counts. With ``b_1 <= ... <= b_P`` and ``r_1 >= ... >= r_N`` a ranking has
        ``r_j`` = the number of k with ``b_k >= j``.
        """
        delta = same_shape(delta, y)
        n_positive, n_negative = class_sizes(y)
        counts = n_negative * np.where(y > 0, delta, -delta)
        whole = np.rint(counts)
        wrong = np.flatnonzero(~(np.abs(counts - whole) <= _TOLERANCE))
        if wrong.size:
            raise ValueError(
                f"delta[{wrong[0]}] is {delta[wrong[0]]}, not a multiple of 1/{n_negative}."
            )
        n_above = np.sort(whole[y > 0])
        n_below = np.sort(whole[y <= 0])[::-1]
        implied = n_positive - np.searchsorted(n_above, np.arange(1, n_negative + 1))
        if n_above[0] < 0 or n_above[-1] > n_negative or not np.array_equal(n_below, implied):
            raise ValueError("delta does not add up from the swapped pairs of any ranking.")
        return self._counts_loss(n_above.astype(np.intp), n_negative)


@named("roc_auc")
@dataclass(frozen=True, eq=False)
class ROCAUC(WeightedMeasure, RankingMeasure):
    """``Delta = swapped pairs / (P N)``: one minus the area under the ROC curve.

    The risk is ``R(s) = (1/N_w) sum over pairs of c_i c_j (1 - s_i + s_j)_+``. The most violated
    ranking swaps every pair with ``s_j > s_i - 1``, found by two sorts. A swapped pair adds
    ``c_i c_j / N_w`` to ``delta_i`` and to the loss, and takes it from ``delta_j``.

    Conventions
    -----------
    If no pair is worth a swap, the closest one is swapped; then the value is at most 0, and where
    it is negative another pair of less weight may have a larger one.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 1.0, -1.0])
    >>> ROCAUC().risk(y, np.array([2.0, 0.5, 0.0]))
    0.5
    """

    name = "roc_auc"

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``roc_auc_score`` of scikit-learn."""
        return float(roc_auc_score(y, scores, sample_weight=self.weights))

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """Swap every pair whose difference of scores is below 1, or else the closest pair."""
        weights = np.ones(y.size) if self.weights is None else self.weights
        present = weights > 0
        positive, negative = np.flatnonzero(present & (y > 0)), np.flatnonzero(present & (y <= 0))
        # Both counts compare the same rounded numbers, so that they describe one ranking.
        bars, rivals = scores[positive] - 1.0, scores[negative]
        swapped = np.zeros(y.size)
        if self.weights is None:
            swapped[positive] = negative.size - np.searchsorted(np.sort(rivals), bars, side="right")
            swapped[negative] = -np.searchsorted(np.sort(bars), rivals, side="left")
        else:
            swapped[positive] = _weight_beyond(-rivals, weights[negative], -bars)
            swapped[negative] = -_weight_beyond(bars, weights[positive], rivals)
        if not swapped.any():
            i, j = positive[np.argmin(bars)], negative[np.argmax(rivals)]
            swapped[i], swapped[j] = weights[j], -weights[i]
        total_negative = self.totals(y)[1]
        loss = float((weights * swapped)[positive].sum() / total_negative)
        return Cut(delta=weights * (swapped / total_negative), loss=loss)

    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``U * Delta = sum of delta over the positives``; ValueError if no swaps add up to it.

        With weights, ``delta`` is ``(1/N_w) sum_j z_ij c_i c_j`` for each positive i and minus the
        sum over i for each negative j. ``z_ij`` in [0, 1] is the extent to which a pair is swapped.
        Loss and delta are linear in z, so every z gives a bound, also mixtures of rankings.
        """
        if self.weights is None:
            return super().cut_loss(y, delta)
        delta, (total_positive, total_negative) = same_shape(delta, y), self.totals(y)
        positive = np.asarray(y) > 0
        ratio = total_positive / total_negative
        flows = np.where(positive, delta, -delta)
        most = self.weights * np.where(positive, 1.0, ratio)
        wrong = np.flatnonzero(~((flows >= 0) & (flows <= most * (1 + _ROUNDING))))
        if wrong.size:
            i = wrong[0]
            sign = 1.0 if positive[i] else -1.0
            raise ValueError(
                f"delta[{i}] is {delta[i]}, but it must be between 0 and {sign * most[i]}."
            )
        present = self.weights > 0
        one, other = (
            (flows[members] / total_positive, most[members] / total_positive)
            for members in (positive & present, ~positive & present)
        )
        if not _can_flow(*one, *other):
            raise ValueError("delta does not add up from the swapped pairs of any ranking.")
        return float(flows[positive].sum())

    def _counts_loss(self, n_above: Array, n_negative: int) -> float:
        return float(n_above.sum() / n_negative)


def _weight_beyond(values: FloatArray, weights: FloatArray, bars: FloatArray) -> FloatArray:
    """For each bar, the total weight of the values below it."""
    order = np.argsort(values, kind="stable")
    sums = np.concatenate(([0.0], np.cumsum(weights[order])))
    return sums[np.searchsorted(values[order], bars, side="left")]


def _can_flow(
    sent: FloatArray, shares: FloatArray, received: FloatArray, other_shares: FloatArray
) -> bool:
    """Whether ``f_ij`` in ``[0, shares_i other_shares_j]`` have the sums ``sent``, ``received``.

    By the theorem of the maximal flow, for the senders I with the largest ``sent / shares`` and
    the sum t of their shares, ``sum_I sent <= sum_j min(received_j, t other_shares_j)`` must hold,
    and all together must send what is received. (The theorem of Gale and Ryser, with weights.)
    """
    if not abs(sent.sum() - received.sum()) <= _ROUNDING:
        return False
    senders = np.argsort(-sent / shares, kind="stable")
    t = np.cumsum(shares[senders])
    levels = received / other_shares
    receivers = np.argsort(levels, kind="stable")
    full = np.concatenate(([0.0], np.cumsum(received[receivers])))
    open_shares = np.concatenate((np.cumsum(other_shares[receivers][::-1])[::-1], [0.0]))
    n_full = np.searchsorted(levels[receivers], t, side="right")
    room = full[n_full] + t * open_shares[n_full]
    return bool(np.all(np.cumsum(sent[senders]) <= room + _ROUNDING))


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

    Places and ranks count from 0 here: place ``p = i - 1`` is above p = 0..P - 1 or below all, P.
    The scores of each class descend.
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
