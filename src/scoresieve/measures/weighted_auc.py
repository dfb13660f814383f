"""The area under the ROC curve with sample weights.

Legend: ``c_i`` is the weight of example i, ``P_w`` and ``N_w`` are the total weights of the
positives and of the negatives, ``z_ij`` in [0, 1] says how far the pair of a positive i and a
negative j is swapped.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from scoresieve._arrays import FloatArray
from scoresieve.measures._base import Cut
from scoresieve.measures.weighted import WeightedMeasure, same_shape

#: What rounding may add up to, as a share of ``P_w``.
_TOLERANCE = 1e-9


class WeightedROCAUC(WeightedMeasure):
    """``R(s) = (1/N_w) sum over pairs of c_i c_j (1 - s_i + s_j)_+``, i positive, j negative.

    A swapped pair adds ``c_i c_j / N_w`` to ``delta_i`` and to the loss, and takes it from
    ``delta_j``; ``U = P_w``. The most violated ranking is found by two sorts.

    Conventions
    -----------
    If no pair is worth a swap, the closest one is swapped; then the value is at most 0, and where
    it is negative another pair of less weight may have a larger one.
    """

    name = "roc_auc"
    flips_examples = False

    def n_alarms(self, y: FloatArray) -> float:
        """``P_w``: the total weight of the positives."""
        return self.unit(y)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``roc_auc_score`` of scikit-learn with these weights."""
        return float(roc_auc_score(y, scores, sample_weight=self.weights))

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """Swap every pair whose difference of scores is below 1, or else the closest pair.

        Parameters
        ----------
        y, scores : ndarray of shape (n_samples,)
            Labels in {-1, +1} and finite scores.

        Returns
        -------
        cut : Cut
        """
        present = self.weights > 0
        positive, negative = np.flatnonzero(present & (y > 0)), np.flatnonzero(present & (y <= 0))
        # Both sums compare the same rounded numbers, so that they describe one ranking.
        bars, rivals = scores[positive] - 1.0, scores[negative]
        swapped = np.zeros(y.size)
        swapped[positive] = _weight_beyond(-rivals, self.weights[negative], -bars)
        swapped[negative] = -_weight_beyond(bars, self.weights[positive], rivals)
        if not swapped.any():
            i, j = positive[np.argmin(bars)], negative[np.argmax(rivals)]
            swapped[i], swapped[j] = self.weights[j], -self.weights[i]
        delta = self.weights * (swapped / self.totals(y)[1])
        return Cut(delta=delta, loss=float(delta[positive].sum()))

    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``U * Delta = sum of delta over the positives``; ValueError if no swaps add up to it.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Labels in {-1, +1}.
        delta : ndarray of shape (n_samples,)
            ``(1/N_w) sum_j z_ij c_i c_j`` for each positive i, minus the sum over i for each
            negative j, with every ``z_ij`` in [0, 1] (1 if the pair is swapped).

        Returns
        -------
        loss : float
            0 for the true ranking.

        Raises
        ------
        ValueError
            If there are no such ``z_ij``. Then the cut would not bound the risk from below. Loss
            and delta are linear in z, so that every z gives a bound, mixtures of rankings too.
        """
        delta, (total_positive, total_negative) = same_shape(delta, y), self.totals(y)
        positive = np.asarray(y) > 0
        ratio = total_positive / total_negative
        flows = np.where(positive, delta, -delta)
        most = self.weights * np.where(positive, 1.0, ratio)
        wrong = np.flatnonzero(~((flows >= 0) & (flows <= most * (1 + _TOLERANCE))))
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
    if not abs(sent.sum() - received.sum()) <= _TOLERANCE:
        return False
    senders = np.argsort(-sent / shares, kind="stable")
    t = np.cumsum(shares[senders])
    levels = received / other_shares
    receivers = np.argsort(levels, kind="stable")
    full = np.concatenate(([0.0], np.cumsum(received[receivers])))
    open_shares = np.concatenate((np.cumsum(other_shares[receivers][::-1])[::-1], [0.0]))
    n_full = np.searchsorted(levels[receivers], t, side="right")
    room = full[n_full] + t * open_shares[n_full]
    return bool(np.all(np.cumsum(sent[senders]) <= room + _TOLERANCE))
