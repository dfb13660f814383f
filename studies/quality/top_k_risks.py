"""Convex bounds of the misses among the k highest scores, as risks that the bundle can minimise.

    two sums    R(s) = max{ sum_pos h(1 - s_i) + sum_neg h(s_j)  + k - P - (k - P)_+ ,
                            sum_pos h(-s_i)  + sum_neg h(1 + s_j) - (k - P)_+ }
                with h(z) = z_+ or z_+^2
    one class   the same without ``sum_neg h(s_j)`` and ``sum_pos h(-s_i)``: a smaller bound
    avg, max    Kar, Narasimhan and Jain 2015, arXiv 1505.06813, for k <= P; see :class:`Surrogate`

The two sums with h(z) = z_+ are the package's own ``bound="tight"``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from scoresieve.measures import Cut, Measure
from studies.common.internals import CutWeights, DualPoint, MeasureRisk

Array = np.ndarray
#: theta, the weight of the first of two sums, stays this far from 0 and 1.
LEAST_THETA = 1e-9
#: How exactly theta is searched for; every theta gives a lower bound.
THETA_ACCURACY = 1e-3


class StudyRisk(MeasureRisk):
    """A risk whose cuts are numbers: ``delta = -gradient`` and ``loss = R(s) + <delta, s>``.

    Parameters
    ----------
    measure : Measure
        Of the k highest scores.
    y : ndarray of shape (n_samples,), in {-1, +1}
    """

    def __init__(self, measure: Measure, y: Array) -> None:
        super().__init__(measure, y)
        self.flip_values = None
        self.k, self.positive = measure.n_alarms(y), y > 0
        self.n_positive = int(np.count_nonzero(self.positive))

    def value(self, scores: Array) -> float:
        """``R(scores)``, by the cut there."""
        return max(0.0, self.cut(scores).value(scores))


@dataclass(frozen=True, eq=False)
class Combined(DualPoint):
    """``delta``: it stands for ``v = C delta`` and the gain ``-C R*(-delta)``."""

    delta: Array


class TwoSums(StudyRisk):
    """``R(s) = max_theta theta A(s) + (1 - theta) B(s)``, A and B sums over the examples.

    The conjugate separates for each theta, so that it can be evaluated at any delta:

        -R*(-delta) = max_theta  sum_i g(|delta_i|, theta_i) + theta a + (1 - theta) b

    with theta_i = theta for positives and 1 - theta for negatives, and the constants a, b. Where it
    is used, a combination of cuts is worth more than the cuts are, as for any sum of losses.
    """

    #: Whether the bundle's lower bounds are those of the conjugate, not those of the cuts alone.
    uses_conjugate = True

    def __init__(self, measure: Measure, y: Array) -> None:
        super().__init__(measure, y)
        surplus = self.k - self.n_positive
        self.constants = min(surplus, 0), -max(surplus, 0)

    def one_sum(self, scores: Array, counts: Array) -> tuple[Array, Array]:
        """The terms of A (``counts`` the positives) or of B (the negatives), and their -slopes."""
        raise NotImplementedError

    def conjugate_terms(self, sizes: Array, theta: Array) -> Array:
        """``g(|delta_i|, theta_i)``."""
        raise NotImplementedError

    def cut(self, scores: Array) -> Cut:
        """The tangent of the larger sum."""
        cuts = []
        for counts, constant in zip((self.positive, ~self.positive), self.constants, strict=True):
            terms, sizes = self.one_sum(self.y * scores, counts)
            delta = sizes * self.y
            cuts.append(Cut(delta, float(terms.sum() + constant + delta @ scores)))
        return max(cuts, key=lambda cut: cut.value(scores))

    def gain_at(self, theta: float, delta: Array) -> float:
        """``-R*(-delta)``, or less: its value for one theta."""
        weights = np.where(self.positive, theta, 1.0 - theta)
        terms = self.conjugate_terms(np.abs(delta), weights)
        return float(terms.sum() + np.dot((theta, 1.0 - theta), self.constants))

    def gain(self, delta: Array) -> float:
        """``-R*(-delta)``, by a search for theta: it is concave there."""
        best = minimize_scalar(
            lambda theta: -self.gain_at(theta, delta),
            bounds=(LEAST_THETA, 1.0 - LEAST_THETA),
            method="bounded",
            options={"xatol": THETA_ACCURACY},
        )
        return max(-best.fun, self.cut_loss(delta))

    def cut_loss(self, delta: Array) -> float:
        """The better end of theta: a cut belongs to A or to B."""
        return max(self.gain_at(theta, delta) for theta in (LEAST_THETA, 1.0 - LEAST_THETA))

    def gain_of_cuts(self, gain: float, v: Array, C: float) -> float:
        """The conjugate at ``v / C``, which is worth at least as much as the cuts."""
        return max(gain, C * self.gain(v / C)) if self.uses_conjugate else gain

    def no_dual_point(self) -> DualPoint:
        """``delta = 0``."""
        return Combined(np.zeros(self.y.size)) if self.uses_conjugate else super().no_dual_point()

    def dual_point(self, alpha: Array, packed: Array, C: float) -> DualPoint:
        """``delta = sum_k alpha_k delta_k / C``."""
        if not self.uses_conjugate:
            return super().dual_point(alpha, packed, C)
        return Combined(self.combine(alpha, packed) / C)

    def dual_vector(self, point: DualPoint, C: float) -> Array:
        """``v = C delta``."""
        return super().dual_vector(point, C) if isinstance(point, CutWeights) else C * point.delta

    def checked_dual(self, point: DualPoint, C: float) -> tuple[float, Array]:
        """``(-C R*(-delta), C delta)``."""
        if isinstance(point, CutWeights):
            return super().checked_dual(point, C)
        return C * self.gain(point.delta), C * point.delta


class HingeSums(TwoSums):
    """``h(z) = z_+``: the package's bound, with lower bounds from its conjugate.

    ``g(d, theta) = min(d, theta)`` for ``d <= 1``: below theta a term has left one of its kinks.
    """

    def one_sum(self, margins: Array, counts: Array) -> tuple[Array, Array]:
        """``(bar - margin)_+`` with bar 1 for those that count and 0 for the others."""
        left = counts - margins
        return np.maximum(left, 0.0), (left > 0.0).astype(float)

    def conjugate_terms(self, sizes: Array, theta: Array) -> Array:
        """``min(d, theta)``."""
        return np.minimum(sizes, theta)


class SquaredSums(TwoSums):
    """``h(z) = z_+^2``.

    ``g(d, theta) = d - d^2 / (4 theta)`` for ``d <= 2 theta``, else ``theta - (d / 2 - theta)^2``.
    """

    def one_sum(self, margins: Array, counts: Array) -> tuple[Array, Array]:
        """``(bar - margin)_+^2``."""
        left = np.maximum(counts - margins, 0.0)
        return left * left, 2.0 * left

    def conjugate_terms(self, sizes: Array, theta: Array) -> Array:
        """Both branches of g."""
        near = sizes - sizes * sizes / (4.0 * theta)
        return np.where(sizes <= 2.0 * theta, near, theta - (0.5 * sizes - theta) ** 2)


class OneClassSums(TwoSums):
    """``R(s) = max{ sum_pos (1 - s_i)_+ + k - P - (k-P)_+ , sum_neg (1 + s_j)_+ - (k-P)_+ }``.

    Misses are at most the first and alarms at most the second, so that it bounds
    ``max(k - a, b) - (k - P)_+``, too, and it is below the two sums. Cuts lose nothing here.
    """

    uses_conjugate = False

    def one_sum(self, margins: Array, counts: Array) -> tuple[Array, Array]:
        """``(1 - margin)_+`` for those that count."""
        left = np.where(counts, 1.0 - margins, 0.0)
        return np.maximum(left, 0.0), (left > 0.0).astype(float)

    def cut_loss(self, delta: Array) -> float:
        """How many count, and the constant of their class; ValueError if both classes do."""
        of_class = [np.count_nonzero(delta[self.positive]), np.count_nonzero(delta[~self.positive])]
        if min(of_class):
            raise ValueError("delta has entries in both classes.")
        if not max(of_class):
            return float(max(self.constants))
        side = int(of_class[1] > 0)
        return float(of_class[side] + self.constants[side])


class SquaredOneClassSums(TwoSums):
    """``max{ sum_pos (1 - s_i)_+^2 + k - P - (k-P)_+ , sum_neg (1 + s_j)_+^2 - (k-P)_+ }``.

    ``g(d, theta) = d - d^2 / (4 theta)``.
    """

    def one_sum(self, margins: Array, counts: Array) -> tuple[Array, Array]:
        """``(1 - margin)_+^2`` for those that count."""
        left = np.maximum(np.where(counts, 1.0 - margins, 0.0), 0.0)
        return left * left, 2.0 * left

    def conjugate_terms(self, sizes: Array, theta: Array) -> Array:
        """``d - d^2 / (4 theta)``."""
        return sizes - sizes * sizes / (4.0 * theta)


class Surrogate(StudyRisk):
    """Kar, Narasimhan and Jain's surrogates of Prec@k, k <= P, in counts of misses.

    With y and y' in {0, 1}, y' of exactly k ones, K of them right:

        structural  max_{y'} k - K + <y' - y, s>                                    (SVM^perf's)
        avg         max_{y'} k - K + <(1 - y) y', s> - (k - K) / (P - K) <(1 - y') y, s>
        max         max_{y'} k - K + <(1 - y) y', s> - min_{z <= (1 - y') y, |z| = k - K} <z, s>

    (From memory of the paper and derived again: only its abstract could be looked up.) The best y'
    with m = k - K false alarms takes the m highest negatives, and leaves out the lowest positives:

        R(s) = max_m  m + (the m highest negatives) - c_m (the n_m lowest positives)

    with (c_m, n_m) = (1, P - k + m), (m / (P - k + m), P - k + m) and (1, m). **At k = P all three
    are the same**, and the same as the paper's bound of PRBEP.

    Parameters
    ----------
    form : {"structural", "avg", "max"}
    """

    def __init__(self, measure: Measure, y: Array, form: str) -> None:
        super().__init__(measure, y)
        if self.k > self.n_positive:
            raise ValueError(f"k={self.k} is above the number of positives, {self.n_positive}.")
        n_alarms = np.arange(min(self.k, y.size - self.n_positive) + 1)
        self._n_alarms, self._n_out = n_alarms, n_alarms + self.n_positive - self.k
        self._share = np.ones(n_alarms.size)
        if form == "max":
            self._n_out = n_alarms
        elif form == "avg":
            self._share = n_alarms / np.maximum(self._n_out, 1)

    def cut(self, scores: Array) -> Cut:
        """The best number of false alarms, or the zero cut where the risk is 0."""
        positives, negatives = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        low = positives[np.argsort(scores[positives], kind="stable")]
        high = negatives[np.argsort(-scores[negatives], kind="stable")]
        highest, lowest = (np.cumsum(np.append(0.0, scores[order])) for order in (high, low))
        values = self._n_alarms + highest[self._n_alarms] - self._share * lowest[self._n_out]
        best, delta = int(np.argmax(values)), np.zeros(scores.size)
        if values[best] <= 0.0:
            return Cut(delta, 0.0)
        delta[high[: self._n_alarms[best]]] = -1.0
        delta[low[: self._n_out[best]]] = self._share[best]
        return Cut(delta, float(self._n_alarms[best]))

    def cut_loss(self, delta: Array) -> float:
        """``m``, the number of false alarms."""
        return float(np.count_nonzero(delta[~self.positive]))
