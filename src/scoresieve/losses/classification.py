"""Losses of the margin ``m = y s``: hinge, squared hinge, Huberised hinge, logistic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from scoresieve._arrays import FloatArray
from scoresieve.losses.loss import MarginLoss, positive_setting


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """``l = max(0, 1 - m)``, ``phi*(a) = a`` on [-1, 0].

    Conventions
    -----------
    The scale is that of ``LinearSVC(loss="hinge")`` with the same C.

    Examples
    --------
    >>> import numpy as np
    >>> Hinge().value(np.array([1.0, -1.0]), np.array([0.25, -3.0]))
    array([0.75, 0.  ])
    """

    name = "hinge"
    is_smooth = False
    has_one_slope = True
    curvature_bound = np.inf

    def _phi(self, margins: FloatArray) -> FloatArray:
        return np.maximum(0.0, 1.0 - margins)

    def _phi_slope(self, margins: FloatArray) -> FloatArray:
        return np.where(margins < 1.0, -1.0, 0.0)

    def _phi_curvature(self, margins: FloatArray) -> FloatArray:
        return np.zeros_like(margins)

    def _phi_conjugate(self, slopes: FloatArray) -> FloatArray:
        return slopes

    def _phi_conjugate_slope(self, slopes: FloatArray) -> FloatArray:
        return np.ones_like(slopes)

    def _phi_conjugate_curvature(self, slopes: FloatArray) -> FloatArray:
        return np.zeros_like(slopes)


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """``l = max(0, 1 - m)^2``, ``phi*(a) = a + a^2 / 4`` for a <= 0.

    Conventions
    -----------
    The scale is that of ``LinearSVC(loss="squared_hinge")`` with the same C.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredHinge().value(np.array([1.0, -1.0]), np.array([0.5, 1.0]))
    array([0.25, 4.  ])
    """

    name = "squared_hinge"
    _range = (-np.inf, 0.0)

    curvature_bound = 2.0

    def _phi(self, margins: FloatArray) -> FloatArray:
        return np.square(np.maximum(0.0, 1.0 - margins))

    def _phi_slope(self, margins: FloatArray) -> FloatArray:
        return -2.0 * np.maximum(0.0, 1.0 - margins)

    def _phi_curvature(self, margins: FloatArray) -> FloatArray:
        return np.where(margins < 1.0, 2.0, 0.0)

    def _phi_conjugate(self, slopes: FloatArray) -> FloatArray:
        return slopes + 0.25 * slopes * slopes

    def _phi_conjugate_slope(self, slopes: FloatArray) -> FloatArray:
        return 1.0 + 0.5 * slopes

    def _phi_conjugate_curvature(self, slopes: FloatArray) -> FloatArray:
        return np.full_like(slopes, 0.5)


@dataclass(frozen=True)
class Logistic(MarginLoss):
    """``l = log(1 + exp(-m))``, ``phi*(a) = -a log(-a) + (1 + a) log(1 + a)`` on [-1, 0].

    Conventions
    -----------
    * The scale is that of ``LogisticRegression`` with the same C, which leaves its intercept out of
      the penalty.
    * No overflow and no loss of digits at margins of any size: ``l(m) = -m`` to the last digit for
      m = -1000, and ``exp(-700)`` for m = 700.

    Examples
    --------
    >>> import numpy as np
    >>> Logistic().value(np.array([1.0, 1.0]), np.array([-1000.0, 1000.0]))
    array([1000.,    0.])
    """

    name = "logistic"
    has_free_intercept = True
    curvature_bound = 0.25

    def _phi(self, margins: FloatArray) -> FloatArray:
        # np.logaddexp(0, -m) does the same, but takes several times as long.
        return np.maximum(0.0, -margins) + np.log1p(np.exp(-np.abs(margins)))

    def _phi_slope(self, margins: FloatArray) -> FloatArray:
        return -expit(-margins)

    def _phi_curvature(self, margins: FloatArray) -> FloatArray:
        return expit(margins) * expit(-margins)

    def _phi_conjugate(self, slopes: FloatArray) -> FloatArray:
        # 1 + a would be 1 for the slopes of examples far on the right side, and their gain wrong.
        return xlogy(-slopes, -slopes) + xlog1py(1.0 + slopes, slopes)

    def _phi_conjugate_slope(self, slopes: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log1p(slopes) - np.log(-slopes)

    def _phi_conjugate_curvature(self, slopes: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return 1.0 / (-slopes * (1.0 + slopes))


@dataclass(frozen=True)
class HuberHinge(MarginLoss):
    """``l = (1 - m)^2 / (2 delta)`` for 1 - delta <= m <= 1, linear below and 0 above.

    ``phi*(a) = a + delta a^2 / 2`` on [-1, 0]. Below, ``l = 1 - m - delta / 2``, so that the slope
    is continuous and at least -1, as that of the hinge.

    Conventions
    -----------
    * The hinge is the limit of delta = 0: it is larger than this loss by at most delta / 2.
    * scikit-learn's ``modified_huber`` is four times this loss with delta = 2.

    Parameters
    ----------
    delta : float
        Width of the quadratic part, positive.

    Examples
    --------
    >>> import numpy as np
    >>> HuberHinge(delta=0.5).value(np.ones(3), np.array([1.0, 0.75, -1.0]))
    array([0.    , 0.0625, 1.75  ])
    """

    delta: float = 1.0

    name = "huber_hinge"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", positive_setting(self.delta, "delta"))

    @property
    def curvature_bound(self) -> float:
        """``1 / delta``."""
        return 1.0 / self.delta

    def _phi(self, margins: FloatArray) -> FloatArray:
        short = np.maximum(0.0, 1.0 - margins)
        inside = np.minimum(short, self.delta)
        return inside * (0.5 * inside / self.delta) + (short - inside)

    def _phi_slope(self, margins: FloatArray) -> FloatArray:
        return -np.clip((1.0 - margins) / self.delta, 0.0, 1.0)

    def _phi_curvature(self, margins: FloatArray) -> FloatArray:
        inside = (margins < 1.0) & (margins > 1.0 - self.delta)
        return np.where(inside, 1.0 / self.delta, 0.0)

    def _phi_conjugate(self, slopes: FloatArray) -> FloatArray:
        return slopes + 0.5 * self.delta * slopes * slopes

    def _phi_conjugate_slope(self, slopes: FloatArray) -> FloatArray:
        return 1.0 + self.delta * slopes

    def _phi_conjugate_curvature(self, slopes: FloatArray) -> FloatArray:
        return np.full_like(slopes, self.delta)
