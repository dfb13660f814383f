"""The risk of a measure: a convex bound of its loss, with its cuts as bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scoresieve._arrays import Array, FloatArray
from scoresieve.measures import Cut, FloorMeasure, Measure
from scoresieve.risks.risk import DualPoint, Risk, class_contrast

#: How far the sum of the weights may exceed C by rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class CutWeights(DualPoint):
    """``alpha >= 0``, ``sum alpha <= C``, and the labellings (or rankings) it weighs.

    It stands for ``v = sum_k alpha_k delta_k`` and the gain ``<q, alpha>``, ``q_k = U Delta_k``.

    Attributes
    ----------
    alpha : ndarray of shape (n_cuts,)
    cuts : ndarray
        For labellings, uint8 of shape (n_cuts, ceil(n_samples / 8)): bit i of row k is set where
        labelling k flips example i. For rankings, float64 of shape (n_cuts, n_samples): delta_k.
    """

    alpha: FloatArray
    cuts: Array


class MeasureRisk(Risk):
    """``R_c(s) = max(0, max_{y'} U Delta(y, y') - sum_{i: y'_i != y_i} c_i y_i s_i)``.

    The price c is 1 for positives and rho for negatives. It enters the joint score
    ``sum_i c_i y'_i s_i``, whose best labelling is sign(s) for every c > 0; so the risk is a convex
    bound of ``U Delta(y, sign(s))`` whatever rho is, and ``R_c(s) = R(c s)``. With rho = 1 it is
    the paper's (13), whose minimiser is often the empty model where rare positives overlap the
    negatives. With the measure's own exchange rate between an alarm and a miss it follows the
    measure.

    The conjugate of this maximum cannot be evaluated at a given v, so that a dual point carries its
    cuts and their weights.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), in {-1, +1}
        Checked.
    weights : ndarray of shape (n_samples,), optional
        Checked; for a measure that takes them.
    price : float
        rho; without effect on rankings.
    is_tight : bool
        Whether the measure's ``tight`` form takes its place, which needs a free threshold.

    Attributes
    ----------
    kind : Measure
        As it is reported.
    measure : Measure
        What the labellings are judged by: bound to the weights, and tight if that is wanted.
    """

    kind: Measure

    def __init__(
        self,
        measure: Measure,
        y: FloatArray,
        weights: FloatArray | None = None,
        *,
        price: float = 1.0,
        is_tight: bool = False,
    ) -> None:
        self.kind, self.y, self.weights = measure, y, weights
        measure.check(y)
        bounded = measure.tight(y, price) if is_tight else measure
        self.measure = bounded if weights is None else bounded.weighted(weights)
        self.measure.check(y)
        self.price, self.is_tight = price if self.measure.flips_examples else 1.0, is_tight
        self._row_values = self.measure.flip_values(y)
        self._prices = None if self.price == 1.0 else np.where(y > 0, 1.0, self.price)
        self.flip_values = None
        if self.measure.flips_examples:
            self.flip_values = self._priced(self._row_values)

    def _priced(self, values: FloatArray) -> FloatArray:
        return values if self._prices is None else self._prices * values

    def with_price(self, price: float) -> MeasureRisk:
        """The risk with another price."""
        return MeasureRisk(self.kind, self.y, self.weights, price=price, is_tight=self.is_tight)

    def value(self, scores: FloatArray) -> float:
        """``R_c(scores)``, by the most violated labelling."""
        priced = self._priced(scores)
        return max(0.0, self.measure.most_violated(self.y, priced).value(priced))

    def cut(self, scores: FloatArray) -> Cut:
        """The most violated labelling, or the zero cut where the risk is 0."""
        priced = self._priced(scores)
        cut = self.measure.most_violated(self.y, priced)
        if cut.value(priced) < 0.0:
            return Cut(np.zeros_like(scores), 0.0)
        return cut if self._prices is None else Cut(self._prices * cut.delta, cut.loss)

    def cut_loss(self, delta: FloatArray) -> float:
        """``U Delta`` of the labelling or ranking; ValueError if there is none."""
        if self._prices is not None:
            # Exact: a delta that flips is the price times what the measure knows.
            flipped = np.asarray(delta) == self.flip_values
            delta = np.where(flipped, self._row_values, delta)
        return self.measure.cut_loss(self.y, delta)

    def contrast(self) -> FloatArray:
        """The mean of the positives minus that of the negatives."""
        return class_contrast(self.y, self._row_values)

    def threshold(self, scores: FloatArray, trained: float, *, is_free: bool) -> float:
        """Where to cut the scores for the measure, which the risk itself cuts at ``trained``.

        Only a model with an intercept is free to be cut anywhere.
        """
        measure = self.kind if self.weights is None else self.kind.weighted(self.weights)
        has_k = measure.n_alarms(self.y) is not None
        if self.is_tight and isinstance(measure, FloorMeasure):
            # What it was trained for knows no floor.
            return measure.threshold(self.y, scores)
        return measure.threshold(self.y, scores, trained) if has_k or is_free else trained

    def no_dual_point(self) -> CutWeights:
        """No cuts."""
        dtype = np.float64 if self.flip_values is None else np.uint8
        return CutWeights(np.zeros(0), np.zeros((0, 0), dtype=dtype))

    def dual_point(self, alpha: FloatArray, packed: Array, C: float) -> CutWeights:
        """The cuts with a positive weight."""
        used = alpha > 0.0
        return CutWeights(alpha[used], packed[used])

    def gain_of_cuts(self, gain: float, v: FloatArray, C: float) -> float:
        """The cuts' own gain."""
        return gain

    def dual_vector(self, point: DualPoint, C: float) -> FloatArray:
        """``sum_k alpha_k delta_k``."""
        assert isinstance(point, CutWeights)
        return self.combine(point.alpha, point.cuts)

    def checked_dual(self, point: DualPoint, C: float) -> tuple[float, FloatArray]:
        """``<q, alpha>`` with each loss recomputed from its labelling, and ``sum alpha_k delta_k``.

        ValueError if alpha is not feasible, or a cut is no labelling or ranking that competes.
        """
        if not isinstance(point, CutWeights):
            raise ValueError(
                f"dual_point must hold cuts with weights for the measure {self.kind.name!r}; got "
                f"{type(point).__name__}. Pass the dual_point of a fit for this measure."
            )
        alpha, cuts, n_samples = np.asarray(point.alpha), np.asarray(point.cuts), self.y.size
        if alpha.size == 0:
            return 0.0, np.zeros(n_samples)
        width = n_samples if self.flip_values is None else -(-n_samples // 8)
        if alpha.ndim != 1 or cuts.shape != (alpha.size, width):
            raise ValueError(
                f"dual_point.alpha has shape {alpha.shape} and dual_point.cuts {cuts.shape}; for "
                f"{n_samples} rows they must be (K,) and (K, {width})."
            )
        if self.flip_values is not None and cuts.dtype != np.uint8:
            raise ValueError(
                f"dual_point.cuts has the dtype {cuts.dtype}; labellings are bits, uint8."
            )
        if not np.all(alpha >= 0) or not alpha.sum() <= C * (1 + ROUNDING):
            raise ValueError(
                f"dual_point.alpha must be non-negative and sum to at most C={C:g}; it has the "
                f"minimum {alpha.min():g} and the sum {alpha.sum():g}."
            )
        losses = [self.cut_loss(self.unpack(each)) for each in cuts]
        return float(np.dot(losses, alpha)), self.combine(alpha, cuts)
