"""Measures of a ranking, and the area under the ROC curve.

Legend: ``b_k`` is the number of negatives ranked above the k-th ranked positive, ``r_j`` the number
of positives ranked below the j-th ranked negative. A pair of a positive i and a negative j with j
above i is swapped.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score

from scoresieve._arrays import Array, FloatArray
from scoresieve.measures._base import Cut, Measure, named, same_shape
from scoresieve.measures.contingency import class_sizes
from scoresieve.measures.weighted import WeightedMeasure

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

    def unit(self, y: FloatArray) -> float:
        """``U = P``, the number of positives."""
        return float(np.count_nonzero(y > 0))

    def n_alarms(self, y: FloatArray) -> float:
        """``P``: as many as there are positives."""
        return self.unit(y)

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
        sum over i for each negative j, every ``z_ij`` in [0, 1] saying how far a pair is swapped.
        Loss and delta are linear in z, so that every z gives a bound, mixtures of rankings too.
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
