"""Surrogates: smooth losses that take the place of a risk with kinks near one of its refits.

    R(s) = max_k q_k - <delta_k, s>  ~  sum_i c_i psi(y_i s_i) ,    -psi' = share of cuts that flip

A cut flips the examples of each class whose margins are below some threshold. At a refit the cuts
have weights, by which the share ``y_i v_i / (C c_i)`` of them flips row i: it falls from 1 to 0
as the margin grows. At fixed thresholds the risk is a sum of hinges, one loss for each class. With
rounded corners Newton's method refits it in milliseconds. So exchanges are tried on it, and only
their result is refitted by cuts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.losses import Loss, SquaredHinge
from scoresieve.risks import LossRisk, Risk
from scoresieve.solvers.subset.refits import Refit, Refitter

#: Steps that the shares are seen in, and how far each is rounded: losses are counts of errors, so
#: that margins are about 1.
N_STEPS, WIDTH = 4, 0.5
#: Halvings of the range of margins.
BISECTIONS = 30
#: Digits of a step's margin: knots that are closer would have slopes made of rounding errors.
DIGITS = 6


def squared_hinge_of(risk: Risk) -> LossRisk:
    """The squared hinge of the same labels and weights: a surrogate before there is a refit."""
    return LossRisk(SquaredHinge(), risk.y, risk.weights)


def surrogate_near(refitter: Refitter, fit: Refit) -> LossRisk | None:
    """The smooth risk near the fit; None where cuts do not flip examples."""
    risk, C = refitter.problem.risk, refitter.problem.C
    if risk.flip_values is None:
        return None
    y, weights = risk.y, np.abs(risk.flip_values)
    margins, shares = y * refitter.scores(fit), np.zeros(y.size)
    np.divide(y * fit.v, C * weights, out=shares, where=weights > 0.0)
    ramps = [ramp_of(margins[side], shares[side], weights[side]) for side in (y > 0, y < 0)]
    return LossRisk(RampLoss(*ramps), y, weights)


def ramp_of(margins: FloatArray, shares: FloatArray, weights: FloatArray) -> Ramp:
    """The ramp that has, step by step, the same sum of shares over a class.

    Sums, because most rows of text have the same margin, just where the share falls.
    """
    steps = np.arange(N_STEPS)[:, None]
    wanted = np.clip(N_STEPS * shares - steps, 0.0, 1.0) @ weights
    at, place = np.unique(margins, return_inverse=True)
    total = np.bincount(place, weights=weights)
    below, moments = (np.append(0.0, np.cumsum(each)) for each in (total, total * at))
    low, high = np.full(N_STEPS, at[0] - WIDTH), np.full(N_STEPS, at[-1] + WIDTH)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        # Rows before the width of the step count in full, those inside it by their place.
        start, end = (np.searchsorted(at, middle + side * WIDTH) for side in (-0.5, 0.5))
        inside = (middle / WIDTH + 0.5) * (below[end] - below[start])
        found = below[start] + inside - (moments[end] - moments[start]) / WIDTH
        low, high = np.where(found < wanted, middle, low), np.where(found < wanted, high, middle)
    return Ramp.of_steps(np.round(low, DIGITS), WIDTH)


@dataclass(frozen=True, eq=False)
class Ramp:
    """``psi(m)``, a hinge whose slope falls in several steps.

    It is convex and 0 on the right; its slope is linear between the knots, -1 before them.

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
        piece = np.searchsorted(self.knots, margins)
        end, share, value, bend = (each[piece] for each in self._pieces)
        left = end - margins
        return value + left * (share + 0.5 * bend * left)

    def slope(self, margins: FloatArray) -> FloatArray:
        """``psi'``."""
        return -np.interp(margins, self.knots, self.shares)

    def curvature(self, margins: FloatArray) -> FloatArray:
        """``psi''``."""
        return np.asarray(self._pieces[3][np.searchsorted(self.knots, margins)])

    def margin(self, slopes: FloatArray) -> FloatArray:
        """The margin with this slope: that of the conjugate."""
        return np.interp(-slopes, self.shares[::-1], self.knots[::-1])

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        """``psi*``."""
        margins = self.margin(slopes)
        return slopes * margins - self.value(margins)


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
