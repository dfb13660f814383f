"""Columns brought to one scale, whatever their units are.

    z_ij = f_j x_ij ,     f_j = g / d_j ,     d_j^2 = (1/n) sum_i (x_ij - m_j)^2

with one g for all columns. A penalty on weights penalises a column with small numbers more than the
same column in another unit, and in text rare words more than frequent ones. After this scaling it
treats all columns alike. Nothing is centred: X stays sparse.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design._base import BLOCK_NUMBERS, Columns, Design, WrappedDesign

#: A column is constant if its spread is a smaller share than this of its norm.
LEAST_SPREAD = 1e-7
#: Columns have one scale if the largest deviation is at most this many times the smallest.
SAME_SCALE = 1.2


class ScaledDesign(WrappedDesign):
    """``X diag(f)``: each column of X times a factor of its own.

    Conventions
    -----------
    X is neither copied nor modified; blocks of columns are multiplied when they are made. Weights w
    for these columns are weights ``f * w`` for those of X.

    Parameters
    ----------
    design : Design
        X.
    factors : ndarray of shape (n_columns,)
        Finite; 0 hides a column.
    """

    def __init__(self, design: Design, factors: FloatArray) -> None:
        super().__init__(design)
        self.factors = factors

    def correlate(self, v: FloatArray) -> FloatArray:
        """``f * X^T v``."""
        return self.factors * self._design.correlate(v)

    def columns(self, idx: IntArray) -> Columns:
        """``X[:, idx] diag(f[idx])`` as a block."""
        return self._design.columns(idx).scaled(self.factors[idx])

    def rows(self, idx: IntArray) -> ScaledDesign:
        """The rows, with the factors of all of them."""
        return ScaledDesign(self._design.rows(idx), self.factors)

    def scores(self, w: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] (f[idx] * w)``."""
        return self._design.scores(self.factors[idx] * w, idx)

    def total(
        self,
        function: Callable[..., float],
        w: FloatArray,
        idx: IntArray,
        bias: float,
        *per_row: FloatArray,
    ) -> float:
        """``sum_i f(<w, x_i> + bias, t_i, ...)``."""
        return self._design.total(function, self.factors[idx] * w, idx, bias, *per_row)

    def sum_of_squares(self) -> float:
        """``sum_ij z_ij^2``."""
        return float(np.sum(np.square(self.column_norms())))

    def column_norms(self) -> FloatArray:
        """``|f_j| ||x_j||``."""
        return np.abs(self.factors) * self._design.column_norms()

    def column_counts(self) -> FloatArray:
        """How many numbers of every column are not 0."""
        return np.where(self.factors != 0.0, self._design.column_counts(), 0.0)

    def max_abs(self) -> float:
        """``max_ij |z_ij|``, some columns at a time."""
        step = max(1, BLOCK_NUMBERS // max(1, self.n_samples))
        starts = range(0, self.n_columns, step)
        blocks = (np.arange(at, min(at + step, self.n_columns)) for at in starts)
        found = (np.abs(self.columns(idx).entries().values).max(initial=0.0) for idx in blocks)
        return float(max(found, default=0.0))


def norms_and_spreads(design: Design) -> tuple[FloatArray, FloatArray]:
    """``||x_j||`` and the share ``||x_j - m_j|| / ||x_j||``; both are 0 for a constant column."""
    norms, n_samples = design.column_norms(), design.n_samples
    known = np.where(norms > 0.0, norms, 1.0)
    # Squares of numbers of any size overflow; of their shares they do not.
    share_of_mean = design.correlate(np.ones(n_samples)) / known / np.sqrt(n_samples)
    spreads = np.sqrt(np.maximum(1.0 - share_of_mean * share_of_mean, 0.0))
    varies = (spreads > LEAST_SPREAD) & (norms > 0.0)
    return np.where(varies, norms, 0.0), np.where(varies, spreads, 0.0)


def column_means(design: Design) -> FloatArray:
    """``m_j`` of every column."""
    return design.correlate(np.full(design.n_samples, 1.0 / design.n_samples))


def deviations(design: Design) -> FloatArray:
    """``d_j`` of every column."""
    norms, spreads = norms_and_spreads(design)
    return norms / np.sqrt(design.n_samples) * spreads


def have_one_scale(design: Design) -> bool:
    """Whether the deviations of all columns that are not constant are nearly equal."""
    found = deviations(design)
    found = found[found > 0.0]
    return found.size == 0 or bool(found.max() <= SAME_SCALE * found.min())


def equal_factors(design: Design, mean_square: tuple[float, float]) -> FloatArray:
    """``f_j``: the same deviation for all columns, 0 for those that are constant.

    The mean square of the entries that are not 0, their means taken off, is as in X, or the nearer
    of two bounds if it is outside of them. It is at least the share of entries that are not 0: rows
    of text have a natural length, but a column without zeros has no unit that is better than its
    deviation.

    Parameters
    ----------
    mean_square : tuple of float
        The bounds.
    """
    found = deviations(design)
    varies = found > 0.0
    if not np.any(varies):
        return np.zeros(found.size)
    largest = found.max()
    per_entry = design.n_samples / design.column_counts()[varies].sum()
    # Of shares of the largest, whose squares do not overflow.
    own = largest * np.sqrt(per_entry * np.sum(np.square(found[varies] / largest)))
    n_varying = np.count_nonzero(varies)
    least, most = mean_square
    share = 1.0 / (per_entry * n_varying)
    wanted = np.clip(own, np.sqrt(max(least, share)), np.sqrt(most))
    deviation = wanted / np.sqrt(per_entry * n_varying)
    return np.where(varies, deviation / np.where(varies, found, 1.0), 0.0)
