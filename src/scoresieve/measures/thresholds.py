"""Thresholds of scores, and the tables (a, b) of what lies above them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray


class Tables(NamedTuple):
    """All thresholds of some scores, from none to all above, and the table above each.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Between neighbouring scores; tied scores are on one side.
    a, b : ndarray of shape (n_thresholds,)
        Positives and negatives above it, or their total weights.
    """

    thresholds: FloatArray
    a: FloatArray
    b: FloatArray

    def place(self, scores: FloatArray, threshold: float) -> int:
        """Which of the tables is that of any threshold of the same scores."""
        lowest_above = np.min(scores, where=scores > threshold, initial=np.inf)
        return int(np.count_nonzero(self.thresholds >= lowest_above))


def all_tables(y: FloatArray, scores: FloatArray, weights: FloatArray | None = None) -> Tables:
    """The table above each threshold; weights are how often each example counts."""
    order = np.argsort(-scores, kind="stable")
    ordered, positive = scores[order], y[order] > 0
    last = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], True))
    above, below = ordered[last[:-1]], ordered[last[:-1] + 1]
    thresholds = np.concatenate([[_beyond(ordered[0], 1.0)], _between(above, below)])
    if weights is None:
        a = np.cumsum(positive)[last]
        b = last + 1 - a
    else:
        counts = weights[order]
        a, b = (np.cumsum(np.where(side, counts, 0.0))[last] for side in (positive, ~positive))
    thresholds = np.append(thresholds, _beyond(ordered[-1], -1.0))
    return Tables(thresholds, np.append(0.0, a), np.append(0.0, b))


def _between(above: FloatArray, below: FloatArray) -> FloatArray:
    """The middle, or the lower one where the two are neighbouring numbers."""
    middle = below + 0.5 * (above - below)
    return np.where(middle < above, middle, below)


def _beyond(score: float, direction: float) -> float:
    """Well above or below the score."""
    return float(score + direction * max(1.0, abs(score)))


def top_threshold(scores: FloatArray, k: float, weights: FloatArray | None = None) -> float:
    """``(s_(k) + s_(k+1)) / 2``, the scores descending: k of them are above, fewer if tied.

    k is between 1 and n_samples, or the total weight where ``weights`` counts each score.
    For all of them the threshold is below all scores.
    """
    above, below = _neighbours(scores, int(k)) if weights is None else _weighted(scores, k, weights)
    if below is None:
        return _beyond(above, -1.0)
    return float(_between(np.array(above), np.array(below)))


def _neighbours(scores: FloatArray, k: int) -> tuple[float, float | None]:
    """``s_(k)`` and ``s_(k+1)``, the second None if there are only k."""
    at = scores.size - k
    if at == 0:
        return float(scores.min()), None
    ordered = np.partition(scores, (at - 1, at))
    return float(ordered[at]), float(ordered[at - 1])


def _weighted(scores: FloatArray, k: float, weights: FloatArray) -> tuple[float, float | None]:
    """The scores at which the weight of those that are as high reaches and exceeds k."""
    present = weights > 0
    scores, weights = scores[present], weights[present]
    order = np.argsort(-scores, kind="stable")
    reached = np.cumsum(weights[order])
    # Sums of whole weights are exact; others may miss k by the rounding of a sum.
    slack = k * scores.size * np.finfo(np.float64).eps
    at = min(int(np.searchsorted(reached, k - slack)), scores.size - 1)
    after = int(np.searchsorted(reached, k + slack, side="right"))
    return float(scores[order[at]]), float(scores[order[after]]) if after < scores.size else None
