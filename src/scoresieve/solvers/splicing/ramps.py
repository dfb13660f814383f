"""A smooth hinge whose slope falls in several steps, with other steps for each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.losses import Loss


@dataclass(frozen=True, eq=False)
class Ramp:
    """``psi(m)``: convex, 0 on the right; its slope is linear between the knots, -1 before them.

    Attributes
    ----------
    knots : ndarray
        Margins, strictly ascending.
    shares : ndarray
        ``-psi'`` there, descending from 1 to 0.
    """

    knots: FloatArray
    shares: FloatArray

    @classmethod
    def of_steps(cls, steps: FloatArray, width: float) -> Ramp:
        """The mean of hinges at the steps, ``(step - m)_+``, each rounded over the width."""
        knots = np.unique(np.concatenate([steps - 0.5 * width, steps + 0.5 * width]))
        shares = np.clip((steps - knots[:, None]) / width + 0.5, 0.0, 1.0)
        return cls(knots, shares.mean(axis=1))

    @cached_property
    def _pieces(self) -> FloatArray:
        """Of each piece: its right end, and there the share and psi; and psi'' on it."""
        lengths = np.diff(self.knots)
        means = 0.5 * (self.shares[1:] + self.shares[:-1])
        values = np.append(np.cumsum((lengths * means)[::-1])[::-1], 0.0)
        bends = np.concatenate([[0.0], -np.diff(self.shares) / lengths, [0.0]])
        ends = np.array([self.knots, self.shares, values])
        # Nothing is left behind the last knot.
        return np.vstack([np.column_stack([ends, [self.knots[-1], 0.0, 0.0]]), bends])

    def value(self, margins: FloatArray) -> FloatArray:
        """``psi``."""
        end, share, value, bend = self._at(margins)
        left = end - margins
        return value + left * (share + 0.5 * bend * left)

    def slope(self, margins: FloatArray) -> FloatArray:
        """``psi'``."""
        return -np.interp(margins, self.knots, self.shares)

    def curvature(self, margins: FloatArray) -> FloatArray:
        """``psi''``."""
        return self._pieces[3][np.searchsorted(self.knots, margins)]

    def margin(self, slopes: FloatArray) -> FloatArray:
        """The margin with this slope: that of the conjugate."""
        return np.interp(-slopes, self.shares[::-1], self.knots[::-1])

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        """``psi*``."""
        margins = self.margin(slopes)
        return slopes * margins - self.value(margins)

    def _at(self, margins: FloatArray) -> FloatArray:
        return self._pieces[:, np.searchsorted(self.knots, margins)]


@dataclass(frozen=True, eq=False)
class RampLoss(Loss):
    """``l(y, s) = psi_y(y s)``, with one ramp for positives and one for negatives."""

    positives: Ramp
    negatives: Ramp
    name = "ramps"
    task = "classification"

    @property
    def curvature_bound(self) -> float:
        """The steepest piece."""
        steepest = [np.max(ramp._pieces[3]) for ramp in (self.positives, self.negatives)]
        return float(max(steepest))

    def _by_class(
        self, y: FloatArray, along: FloatArray, part: Callable[[Ramp, FloatArray], FloatArray]
    ) -> FloatArray:
        """A function of ``y_i`` times a number, for the ramp of each example's class."""
        out, is_positive = part(self.negatives, -along), y > 0
        out[is_positive] = part(self.positives, along[is_positive])
        return out

    def value(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``psi(y_i s_i)``."""
        return self._by_class(y, scores, Ramp.value)

    def derivative(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``y_i psi'(y_i s_i)``."""
        return y * self._by_class(y, scores, Ramp.slope)

    def curvature(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``psi''(y_i s_i)``."""
        return self._by_class(y, scores, Ramp.curvature)

    def conjugate(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``psi*(y_i u_i)``."""
        along = y * slopes
        inside = self._by_class(y, slopes, Ramp.conjugate)
        return np.where((along >= -1.0) & (along <= 0.0), inside, np.inf)

    def conjugate_derivative(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``y_i psi*'(y_i u_i)``."""
        return y * self._by_class(y, slopes, Ramp.margin)

    def conjugate_curvature(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``1 / psi''`` at the margin with the slope."""
        curvature = self.curvature(y, self.conjugate_derivative(y, slopes))
        return 1.0 / np.maximum(curvature, np.finfo(float).tiny)

    def slope_range(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """From -1 to 0, mirrored for negatives."""
        return np.where(y > 0, -1.0, 0.0), np.where(y > 0, 0.0, 1.0)
