"""The dual of a smooth loss with its box: what every way to solve the saddle point has in common.

    F(v) = C sum_i c_i l*(y_i, -v_i / (C c_i)) ,     low <= v <= high

on the rows with a positive weight, and the best points so far.
"""

from __future__ import annotations

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.regularizers import BudgetNorm
from scoresieve.risks import LossRisk

#: A start is at least this share of its typical size away from each bound, at most this share of
#: the box's width, and typical sizes are this share of the box's where nothing else is known.
DISTANCE, MOST_OF_WIDTH, LEAST_SIZE = 0.1, 0.4, 1e-12


class BoxedDual:
    """``F``, the box and ``X_S`` on the rows with a positive weight, and the best points so far.

    Parameters
    ----------
    risk : LossRisk
        Smooth.
    norm : BudgetNorm
        On the working columns.
    X : ndarray of shape (n_samples, n_columns)
        The working columns.

    Attributes
    ----------
    w : ndarray of shape (n_columns,)
        The best primal point over the iterates.
    slopes : ndarray of shape (n_samples,)
        The best dual point on the working columns.
    """

    def __init__(self, risk: LossRisk, C: float, norm: BudgetNorm, X: FloatArray) -> None:
        self.risk, self.C, self.all_X = risk, C, X
        self.rows = np.flatnonzero(risk.row_weights > 0.0)
        self.X, self.norm, self.loss = X[self.rows], norm, risk.loss
        self.y, self.scale = risk.y[self.rows], C * risk.row_weights[self.rows]
        low, high = risk.loss.slope_range(self.y)
        self.low, self.high = -self.scale * high, -self.scale * low
        self.has_low = np.flatnonzero(np.isfinite(self.low))
        self.has_high = np.flatnonzero(np.isfinite(self.high))
        self.n_box = self.has_low.size + self.has_high.size
        self.w, self.slopes = np.zeros(X.shape[1]), np.zeros(risk.y.size)
        self._primal, self._dual = np.inf, -np.inf

    @property
    def bounds(self) -> tuple[float, float]:
        """The best primal and the best dual value so far."""
        return self._primal, self._dual

    def gradient(self, v: FloatArray) -> FloatArray:
        """``F'(v)``."""
        return -self.loss.conjugate_derivative(self.y, -v / self.scale)

    def distances(self, v: FloatArray) -> FloatArray:
        """``v - low`` and ``high - v`` where these are finite."""
        low, high = self.has_low, self.has_high
        return np.concatenate([v[low] - self.low[low], self.high[high] - v[high]])

    def box_sums(self, z: FloatArray, sign: float) -> FloatArray:
        """``z_low + sign z_high``, of shape (n,)."""
        out = np.zeros(self.y.size)
        out[self.has_low] = z[: self.has_low.size]
        out[self.has_high] += sign * z[self.has_low.size : self.n_box]
        return out

    def near(self, slopes: FloatArray, least: float) -> FloatArray:
        """The v of the slopes, moved away from the bounds.

        Parameters
        ----------
        slopes : ndarray of shape (n_samples,)
        least : float
            The least size that is typical for v.
        """
        v = -self.scale * slopes[self.rows]
        size = max(float(np.abs(v).mean()), least) or LEAST_SIZE * float(self.scale.mean())
        width = self.high - self.low
        most = np.where(np.isfinite(width), MOST_OF_WIDTH * width, np.inf)
        room = np.minimum(DISTANCE * size, most)
        return np.clip(v, self.low + room, self.high - room)

    def offer(self, w: FloatArray) -> None:
        """Take a primal point if it is the best so far."""
        value = 0.5 * self.norm.value_squared(w) + self.C * self.risk.value(self.all_X @ w)
        if value < self._primal:
            self._primal, self.w = value, w

    def offer_dual(self, v: FloatArray, c: FloatArray) -> None:
        """Take the best multiple of a dual point if its value is the best so far.

        Parameters
        ----------
        c : ndarray of shape (n_columns,)
            ``X^T v``.
        """
        risk = self.risk
        slopes = np.zeros(risk.y.size)
        slopes[self.rows] = -v / self.scale
        slopes = risk.clipped(slopes)
        theta, value = risk.best_multiple(slopes, self.norm.dual_squared(c), self.C)
        if value > self._dual:
            self._dual, self.slopes = value, risk.clipped(theta * slopes)
