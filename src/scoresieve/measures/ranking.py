"""Measures of a ranking, and the area under the ROC curve.

Legend: ``b_k`` is the number of negatives ranked above the k-th ranked positive, ``r_j`` the number
of positives ranked below the j-th ranked negative. A pair of a positive i and a negative j with j
above i is swapped.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import roc_auc_score

from scoresieve._arrays import Array, FloatArray
from scoresieve.measures._base import Cut, Measure, named
from scoresieve.measures.contingency import class_sizes
from scoresieve.measures.weighted_auc import WeightedROCAUC

_TOLERANCE = 1e-6


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
        """``Delta = 1 - score`` of the ranking by ``scores``.

        Parameters
        ----------
        y, scores : ndarray of shape (n_samples,)
            Labels in {-1, +1} and scores.

        Returns
        -------
        loss : float
        """
        return 1.0 - self.score(y, scores)

    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``U * Delta`` of the ranking whose swapped pairs add up to ``delta``.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Labels in {-1, +1}.
        delta : ndarray of shape (n_samples,)
            ``b / N`` for each positive and ``-r / N`` for each negative.

        Returns
        -------
        loss : float
            0 for the true ranking.

        Raises
        ------
        ValueError
            If no ranking has these counts. With ``b_1 <= ... <= b_P`` and ``r_1 >= ... >= r_N``
            a ranking has ``r_j`` = the number of k with ``b_k >= j``.
        """
        delta = np.asarray(delta, dtype=float)
        if delta.shape != np.shape(y):
            raise ValueError(f"delta has shape {delta.shape}, but y has shape {np.shape(y)}.")
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
@dataclass(frozen=True)
class ROCAUC(RankingMeasure):
    """``Delta = swapped pairs / (P N)``: one minus the area under the ROC curve.

    The risk is ``R(s) = (1/N) sum over pairs of (1 - s_i + s_j)_+``. The most violated ranking
    swaps every pair with ``s_j > s_i - 1``, found by two sorts.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 1.0, -1.0])
    >>> ROCAUC().risk(y, np.array([2.0, 0.5, 0.0]))
    0.5
    """

    name = "roc_auc"
    takes_weights = True

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``roc_auc_score`` of scikit-learn."""
        return float(roc_auc_score(y, scores))

    def weighted(self, sample_weight: ArrayLike) -> WeightedROCAUC:
        """A pair counts ``c_i c_j`` times."""
        return WeightedROCAUC(sample_weight)

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """Swap every pair whose difference of scores is below 1, or else the closest pair.

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
        positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
        # Both counts compare the same rounded numbers, so that they describe one ranking.
        bars, rivals = scores[positive] - 1.0, scores[negative]
        counts = np.zeros(y.size)
        counts[positive] = negative.size - np.searchsorted(np.sort(rivals), bars, side="right")
        counts[negative] = -np.searchsorted(np.sort(bars), rivals, side="left")
        if not counts.any():
            counts[positive[np.argmin(bars)]] = 1
            counts[negative[np.argmax(rivals)]] = -1
        loss = self._counts_loss(counts[positive], negative.size)
        return Cut(delta=counts / negative.size, loss=loss)

    def _counts_loss(self, n_above: Array, n_negative: int) -> float:
        return float(n_above.sum() / n_negative)
