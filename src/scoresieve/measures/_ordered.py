"""The two classes of a sample, each in the order of its scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scoresieve.measures._base import FloatArray

IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class OrderedClasses:
    """``missed[c]`` = sum of c smallest positive scores, ``alarms[b]`` = of b largest negative.

    A labelling that misses c positives and raises b false alarms costs least margin when it flips
    the c lowest positives and the b highest negatives, so these two tables are all that the search
    for the most violated labelling needs.

    Conventions
    -----------
    * Only values are sorted, never indices: that is much faster than a stable ``argsort``. The
      examples to flip are found afterwards by a threshold, ties by index, lowest index first. The
      result is the one of a stable sort.
    * Negatives below ``lowest_alarm`` are left out of the tables. The measure promises that raising
      them never pays. The largest negative always stays.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels in {-1, +1}, both present.
    scores : ndarray of shape (n_samples,)
        Finite scores.
    lowest_alarm : float, default=-inf
        Negatives need a score above this to be in ``negatives`` and ``alarms``.
    """

    y: FloatArray
    scores: FloatArray
    lowest_alarm: float = -np.inf

    @cached_property
    def _positive_index(self) -> IndexArray:
        return np.flatnonzero(self.y > 0)

    @cached_property
    def _negative_index(self) -> IndexArray:
        return np.flatnonzero(self.y <= 0)

    @property
    def n_positive(self) -> int:
        """``P``, the number of positives."""
        return self._positive_index.size

    @property
    def n_negative(self) -> int:
        """``N``, the number of negatives, also those left out of the tables."""
        return self._negative_index.size

    @cached_property
    def positives(self) -> FloatArray:
        """Scores of the positives, ascending."""
        return np.sort(self.scores[self._positive_index])

    @cached_property
    def negatives(self) -> FloatArray:
        """Scores of the negatives above ``lowest_alarm``, descending."""
        values = self.scores[self._negative_index]
        if self.lowest_alarm > -np.inf:
            above = values[values > self.lowest_alarm]
            values = above if above.size else values.max(keepdims=True)
        return np.sort(values)[::-1]

    @cached_property
    def missed(self) -> FloatArray:
        """Sum of the c smallest positive scores, for c = 0..P."""
        return np.concatenate(([0.0], np.cumsum(self.positives)))

    @cached_property
    def alarms(self) -> FloatArray:
        """Sum of the b largest negative scores, for b = 0..len(negatives)."""
        return np.concatenate(([0.0], np.cumsum(self.negatives)))

    @cached_property
    def n_negative_above_zero(self) -> int:
        """How many negatives have a positive score: the b with the largest ``alarms[b]``."""
        return int(np.count_nonzero(self.negatives > 0))

    def flip(self, n_missed: int, n_alarms: int) -> FloatArray:
        """``delta`` that flips the lowest positives (+1) and the highest negatives (-1).

        Parameters
        ----------
        n_missed, n_alarms : int
            How many positives and negatives to flip.

        Returns
        -------
        delta : ndarray of shape (n_samples,)
        """
        delta = np.zeros(self.y.size)
        if n_missed:
            index = self._positive_index
            delta[_lowest(index, self.scores[index], self.positives[n_missed - 1], n_missed)] = 1.0
        if n_alarms:
            index = self._negative_index
            threshold = -self.negatives[n_alarms - 1]
            delta[_lowest(index, -self.scores[index], threshold, n_alarms)] = -1.0
        return delta


def _lowest(index: IndexArray, values: FloatArray, threshold: float, count: int) -> IndexArray:
    """Pick the ``count`` lowest values, ``threshold`` being the largest of them, ties by index."""
    chosen = values < threshold
    ties = np.flatnonzero(values == threshold)
    chosen[ties[: count - np.count_nonzero(chosen)]] = True
    return index[chosen]


def stable_order(values: FloatArray) -> IndexArray:
    """Order of the values, ascending, ties by index.

    Without ties every sort is stable, so the fast one is tried first.
    """
    order = np.argsort(values)
    ordered = values[order]
    if np.any(ordered[1:] == ordered[:-1]):
        return np.argsort(values, kind="stable")
    return order
