"""What a risk is.

Notation, used by every solver
------------------------------
``scores``
    ``s = X w``, of shape (n_samples,).
cut
    ``R(s') >= loss - <delta, s'>`` for every s'. Equality holds where the cut was taken.
dual point
    What proves a lower bound of ``min_w 1/2 ||w||_B^2 + C R(X w)``, in a form that can be checked.
    It stands for a vector v with one entry a row and a gain, and proves

        D = gain - 1/2 ||X^T v||_(B)^2 ,

    the gain being at most ``-C R*(-v / C)``, with R* the conjugate of R.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from scoresieve._arrays import Array, FloatArray
from scoresieve.losses import Loss
from scoresieve.measures import Cut, Measure


class DualPoint:
    """What proves a lower bound: cuts with their weights, or slopes of a loss."""


class Risk(ABC):
    """``R(s)``: convex in the scores, never negative, bound to the labels or targets y.

    Conventions
    -----------
    * Sample weights are part of the risk; C is not.
    * Cuts are kept packed: one bit an example where every cut flips an example or leaves it, that
      is where ``flip_values`` are given, else as numbers.
    * An instance is never modified.

    Attributes
    ----------
    kind : Measure or Loss
        What it is the risk of, without sample weights.
    y : ndarray of shape (n_samples,)
        Labels in {-1, +1}, or real targets.
    weights : ndarray of shape (n_samples,) or None
        How often each row counts; None if each counts once.
    flip_values : ndarray of shape (n_samples,) or None
        ``delta_i`` of every cut that flips example i; None where deltas are any numbers.
    is_smooth : bool
        Whether R has slopes and curvatures, see :class:`~scoresieve.risks.LossRisk`.
    """

    kind: Measure | Loss
    y: FloatArray
    weights: FloatArray | None
    flip_values: FloatArray | None
    is_smooth: bool = False

    @abstractmethod
    def value(self, scores: FloatArray) -> float:
        """``R(scores)``."""

    @abstractmethod
    def cut(self, scores: FloatArray) -> Cut:
        """The cut at the scores: its value there is ``R(scores)``. The zero cut where R is 0."""

    @abstractmethod
    def cut_loss(self, delta: FloatArray) -> float:
        """The loss of the cut with this delta, recomputed; ValueError if there is no such cut."""

    @abstractmethod
    def contrast(self) -> FloatArray:
        """``v``; its correlation with a column tells how well that separates high y from low y."""

    @abstractmethod
    def no_dual_point(self) -> DualPoint:
        """The dual point with v = 0, which proves that the optimum is not negative."""

    @abstractmethod
    def dual_point(self, alpha: FloatArray, packed: Array, C: float) -> DualPoint:
        """The point that weighs packed cuts by alpha, ``alpha >= 0`` and ``sum alpha <= C``."""

    @abstractmethod
    def gain_of_cuts(self, gain: float, v: FloatArray, C: float) -> float:
        """The gain of the dual point of weighted cuts, ``<q, alpha>`` being the cuts' own."""

    @abstractmethod
    def dual_vector(self, point: DualPoint, C: float) -> FloatArray:
        """``v`` of a dual point that is known to be right."""

    @abstractmethod
    def checked_dual(self, point: DualPoint, C: float) -> tuple[float, FloatArray]:
        """``(gain, v)`` of any point, all of it recomputed; ValueError if it proves nothing."""

    def pack(self, delta: FloatArray) -> Array:
        """A cut as it is kept: one bit an example where there are flip values, else the numbers."""
        return delta if self.flip_values is None else np.packbits(delta != 0)

    def unpack(self, packed: Array) -> FloatArray:
        """The delta of a packed cut."""
        if self.flip_values is None:
            return packed
        return np.where(np.unpackbits(packed, count=self.y.size), self.flip_values, 0.0)

    def combine(self, alpha: FloatArray, packed: Array) -> FloatArray:
        """``sum_k alpha_k delta_k``, one cut at a time, so that no K x n array is made."""
        if self.flip_values is None and alpha.size:
            return alpha @ packed
        total = np.zeros(self.y.size)
        for weight, bits in zip(alpha, packed, strict=True):
            if weight > 0.0:
                total += weight * np.unpackbits(bits, count=self.y.size)
        return total if self.flip_values is None else total * self.flip_values


def class_contrast(y: FloatArray, flip_values: FloatArray) -> FloatArray:
    """The mean of the positives minus that of the negatives, as a vector to correlate with.

    Of y only the sign counts; ``flip_values`` are ``c_i y_i``, with the weights c.
    """
    positive = y > 0
    totals = np.where(positive, np.sum(flip_values[positive]), -np.sum(flip_values[~positive]))
    return flip_values / totals


#: How far, relative to its range, a slope may lie outside by rounding; it is moved inside.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Slopes(DualPoint):
    """``u``: one slope of the loss an example, in the domain of its conjugate.

    It stands for ``v = -C c u`` and the gain ``-C sum_i c_i l*(y_i, u_i)``.
    """

    slopes: FloatArray


class LossRisk(Risk):
    """``R(s) = sum_i c_i l(y_i, s_i)``.

    Conventions
    -----------
    * Every convex loss has cuts, so that the bundle can minimise it; their ``loss`` may be
      negative, that of the first one, at scores of 0, is not.
    * Slopes of C R are the slopes of R: the weight C enters v and the gain.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels in {-1, +1} or real targets, checked.
    weights : ndarray of shape (n_samples,), optional
        c, checked; ones by default.
    """

    def __init__(self, loss: Loss, y: FloatArray, weights: FloatArray | None = None) -> None:
        self.kind = self.loss = loss
        self.y, self.weights = y, weights
        #: c, also where no weights were given.
        self.row_weights = np.ones(y.size) if weights is None else weights
        self.is_smooth = loss.is_smooth
        self.flip_values = self.row_weights * y if loss.has_one_slope else None

    def value(self, scores: FloatArray) -> float:
        """``sum_i c_i l(y_i, s_i)``."""
        return float(self.row_weights @ self.loss.value(self.y, scores))

    def slopes(self, scores: FloatArray) -> FloatArray:
        """``u_i = l'(y_i, s_i)``."""
        return self.loss.derivative(self.y, scores)

    def curvatures(self, scores: FloatArray) -> FloatArray:
        """``c_i l''(y_i, s_i)``."""
        return self.row_weights * self.loss.curvature(self.y, scores)

    def gain(self, slopes: FloatArray) -> float:
        """``-sum_i c_i l*(y_i, u_i)``: the gain of the slopes for C = 1."""
        return -float(self.row_weights @ self.loss.conjugate(self.y, slopes))

    def vector(self, slopes: FloatArray, C: float) -> FloatArray:
        """``v = -C c u``."""
        return -(C * self.row_weights) * slopes

    def clipped(self, slopes: FloatArray) -> FloatArray:
        """The slopes moved into the domain of the conjugate; rounding may have led them out."""
        return np.clip(slopes, *self.loss.slope_range(self.y))

    def best_multiple(self, slopes: FloatArray, strength: float, C: float) -> tuple[float, float]:
        """``theta`` with a large dual value of ``theta u``, and that value.

        The gain of ``theta u`` is 0 at theta = 0 and quadratic in theta for every loss but the
        logistic one, so that its values at 1/2 and 1 give the best theta in closed form. The
        strength is ``||X^T v||_(B)^2`` of u, over the columns that the bound is wanted for.
        """
        whole, half = C * self.gain(slopes), C * self.gain(0.5 * slopes)
        bend = max(0.0, 2.0 * (2.0 * half - whole))
        curvature = 2.0 * bend + strength
        value = whole - 0.5 * strength
        if not (curvature > 0.0 and np.isfinite(curvature)):
            return 1.0, value
        theta = max(0.0, (whole + bend) / curvature)
        theta = min(theta, self.loss.largest_multiple(self.y, slopes))
        # In this order: the square of a theta of 1e-170 would be 0, and the strength cost nothing.
        scaled = C * self.gain(self.clipped(theta * slopes)) - 0.5 * theta * (theta * strength)
        return (theta, scaled) if scaled > value else (1.0, value)

    def cut(self, scores: FloatArray) -> Cut:
        """The tangent of R at the scores."""
        slopes = self.slopes(scores)
        return Cut(-self.row_weights * slopes, self.gain(slopes))

    def cut_loss(self, delta: FloatArray) -> float:
        """``-sum_i c_i l*(y_i, -delta_i / c_i)``; ValueError where that is no slope."""
        loss = self.gain(self._slopes_of(delta, 1.0))
        if not np.isfinite(loss) or np.any(delta[self.row_weights == 0.0]):
            raise ValueError(f"delta is not made of slopes of the {self.loss.name} loss.")
        return loss

    def contrast(self) -> FloatArray:
        """The mean of high y minus that of low y: the classes, or the sides of the median."""
        if self.loss.task == "classification":
            return class_contrast(self.y, self.row_weights * self.y)
        sides = np.where(self.y > np.median(self.y), 1.0, -1.0)
        return class_contrast(sides, sides)

    def no_dual_point(self) -> Slopes:
        """Slopes of 0."""
        return Slopes(np.zeros(self.y.size))

    def dual_point(self, alpha: FloatArray, packed: Array, C: float) -> Slopes:
        """``u_i = -sum_k alpha_k delta_ki / (C c_i)``."""
        return Slopes(self.clipped(self._slopes_of(self.combine(alpha, packed), C)))

    def gain_of_cuts(self, gain: float, v: FloatArray, C: float) -> float:
        """The conjugate at the combined slopes, which is worth at least as much as the cuts."""
        return max(gain, C * self.gain(self.clipped(self._slopes_of(v, C))))

    def dual_vector(self, point: DualPoint, C: float) -> FloatArray:
        """``v = -C c u``."""
        assert isinstance(point, Slopes)
        return self.vector(point.slopes, C)

    def _slopes_of(self, v: FloatArray, C: float) -> FloatArray:
        """``-v / (C c)``, and 0 for rows without weight."""
        scale = C * self.row_weights
        return np.divide(-v, scale, out=np.zeros_like(v), where=scale > 0.0)

    def checked_dual(self, point: DualPoint, C: float) -> tuple[float, FloatArray]:
        """``(-C sum_i c_i l*(y_i, u_i), -C c u)``; ValueError if u is no slope of the loss."""
        if not isinstance(point, Slopes):
            raise ValueError(
                f"dual_point must hold slopes of the {self.loss.name} loss; got "
                f"{type(point).__name__}. Pass the dual_point of a fit for this loss."
            )
        slopes = np.asarray(point.slopes, dtype=np.float64)
        if slopes.shape != self.y.shape:
            raise ValueError(
                f"dual_point.slopes has shape {slopes.shape}; there are {self.y.size} rows."
            )
        low, high = self.loss.slope_range(self.y)
        margin = ROUNDING * np.maximum(1.0, np.abs(slopes))
        fine = np.isfinite(slopes) & (slopes >= low - margin) & (slopes <= high + margin)
        wrong = np.flatnonzero(~fine)
        if wrong.size:
            i = wrong[0]
            raise ValueError(
                f"dual_point.slopes[{i}] is {slopes[i]:g}, but slopes of the {self.loss.name} loss "
                f"there lie between {low[i]:g} and {high[i]:g}."
            )
        slopes = np.clip(slopes, low, high)
        return C * self.gain(slopes), self.vector(slopes, C)
