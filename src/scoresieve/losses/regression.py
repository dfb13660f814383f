"""Losses of the residual ``r = s - y``: squared, epsilon-insensitive, Huber."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.losses.loss import ResidualLoss, positive_setting


@dataclass(frozen=True)
class Squared(ResidualLoss):
    """``l = r^2 / 2``, ``psi*(u) = u^2 / 2``.

    Conventions
    -----------
    With a budget of all columns the problem ``1/2 ||w||^2 + C/2 sum_i r_i^2`` has the solution of
    ``Ridge(alpha=1 / C, fit_intercept=False)``, whose objective is 2 / C times ours.

    Examples
    --------
    >>> import numpy as np
    >>> Squared().value(np.array([1.0, 2.0]), np.array([4.0, 2.0]))
    array([4.5, 0. ])
    """

    name = "squared"
    has_free_intercept = True
    curvature_bound = 1.0
    _largest_slope = np.inf

    def _psi(self, residuals: FloatArray) -> FloatArray:
        return 0.5 * residuals * residuals

    def _psi_slope(self, residuals: FloatArray) -> FloatArray:
        return residuals

    def _psi_curvature(self, residuals: FloatArray) -> FloatArray:
        return np.ones_like(residuals)

    # The loss is its own conjugate.
    _psi_conjugate = _psi
    _psi_conjugate_slope = _psi_slope
    _psi_conjugate_curvature = _psi_curvature


@dataclass(frozen=True)
class EpsilonInsensitive(ResidualLoss):
    """``l = max(0, |r| - epsilon)``, ``psi*(u) = epsilon |u|`` on [-1, 1].

    Conventions
    -----------
    The scale is that of ``LinearSVR(loss="epsilon_insensitive")`` with the same C and epsilon.

    Parameters
    ----------
    epsilon : float
        Half the width of the tube without loss, in the units of y; 0 gives the absolute error.

    Examples
    --------
    >>> import numpy as np
    >>> EpsilonInsensitive(epsilon=0.5).value(np.zeros(3), np.array([0.25, 1.0, -2.0]))
    array([0. , 0.5, 1.5])
    """

    epsilon: float = 0.1

    name = "epsilon_insensitive"
    is_smooth = False

    def __post_init__(self) -> None:
        value = positive_setting(self.epsilon, "epsilon", or_zero=True)
        object.__setattr__(self, "epsilon", value)

    curvature_bound = np.inf
    _largest_slope = 1.0

    def _psi(self, residuals: FloatArray) -> FloatArray:
        return np.maximum(0.0, np.abs(residuals) - self.epsilon)

    def _psi_slope(self, residuals: FloatArray) -> FloatArray:
        return np.where(np.abs(residuals) > self.epsilon, np.sign(residuals), 0.0)

    def _psi_curvature(self, residuals: FloatArray) -> FloatArray:
        return np.zeros_like(residuals)

    def _psi_conjugate(self, slopes: FloatArray) -> FloatArray:
        return self.epsilon * np.abs(slopes)

    def _psi_conjugate_slope(self, slopes: FloatArray) -> FloatArray:
        return self.epsilon * np.sign(slopes)

    def _psi_conjugate_curvature(self, slopes: FloatArray) -> FloatArray:
        return np.zeros_like(slopes)


@dataclass(frozen=True)
class Huber(ResidualLoss):
    """``l = r^2 / 2`` for ``|r| <= epsilon``, ``epsilon (|r| - epsilon / 2)`` beyond.

    ``psi*(u) = u^2 / 2`` on [-epsilon, epsilon].

    Conventions
    -----------
    epsilon is in the units of y: no scale is estimated, as ``HuberRegressor`` does. The loss is
    ``scipy.special.huber(epsilon, r)``.

    Parameters
    ----------
    epsilon : float
        Residual from which on the loss is linear, positive.

    Examples
    --------
    >>> import numpy as np
    >>> Huber(epsilon=1.0).value(np.zeros(2), np.array([0.5, 3.0]))
    array([0.125, 2.5  ])
    """

    epsilon: float = 1.35

    name = "huber"
    has_free_intercept = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_setting(self.epsilon, "epsilon"))

    curvature_bound = 1.0

    @property
    def _largest_slope(self) -> float:
        return self.epsilon

    def _psi(self, residuals: FloatArray) -> FloatArray:
        size = np.abs(residuals)
        inside = np.minimum(size, self.epsilon)
        return inside * (0.5 * inside) + self.epsilon * (size - inside)

    def _psi_slope(self, residuals: FloatArray) -> FloatArray:
        return np.clip(residuals, -self.epsilon, self.epsilon)

    def _psi_curvature(self, residuals: FloatArray) -> FloatArray:
        return np.where(np.abs(residuals) < self.epsilon, 1.0, 0.0)

    def _psi_conjugate(self, slopes: FloatArray) -> FloatArray:
        return 0.5 * slopes * slopes

    def _psi_conjugate_slope(self, slopes: FloatArray) -> FloatArray:
        return slopes

    def _psi_conjugate_curvature(self, slopes: FloatArray) -> FloatArray:
        return np.ones_like(slopes)
