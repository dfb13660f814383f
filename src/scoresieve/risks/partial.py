"""The risk of some of the rows, for scores of all of them: cross-fitting without copies of X."""

from __future__ import annotations

import numpy as np

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve.measures import Cut
from scoresieve.risks.base import DualPoint
from scoresieve.risks.measure import MeasureRisk, PackedCuts


class PartialRisk(PackedCuts):
    """``R(s) = R_rows(s_rows)``: rows that are left out have no say, and cuts are 0 there.

    Parameters
    ----------
    risk : MeasureRisk
        Of all rows.
    rows : ndarray of int
        Those that count, with both classes among them.
    """

    def __init__(self, risk: MeasureRisk, rows: IntArray) -> None:
        weights = None if risk.weights is None else risk.weights[rows]
        self.inner = MeasureRisk(
            risk.kind, risk.y[rows], weights, price=risk.price, is_tight=risk.is_tight
        )
        self.kind, self.y, self.weights, self._rows = risk.kind, risk.y, risk.weights, rows
        inner_flips = self.inner.flip_values
        self.flip_values = None if inner_flips is None else self._spread(inner_flips)

    def _spread(self, values: FloatArray) -> FloatArray:
        """The values at the rows, and 0 elsewhere."""
        spread = np.zeros(self.y.size)
        spread[self._rows] = values
        return spread

    def value(self, scores: FloatArray) -> float:
        """``R_rows(s_rows)``."""
        return self.inner.value(scores[self._rows])

    def cut(self, scores: FloatArray) -> Cut:
        """The cut of the rows."""
        cut = self.inner.cut(scores[self._rows])
        return Cut(self._spread(cut.delta), cut.loss)

    def cut_loss(self, delta: FloatArray) -> float:
        """The loss of the cut at the rows."""
        return self.inner.cut_loss(np.asarray(delta)[self._rows])

    def contrast(self) -> FloatArray:
        """That of the rows."""
        return self._spread(self.inner.contrast())

    def no_dual_point(self) -> DualPoint:
        """No cuts."""
        return self.inner.no_dual_point()

    def dual_point(self, alpha: FloatArray, packed: Array, C: float) -> DualPoint:
        """The cuts with a positive weight, of all rows."""
        return self.inner.dual_point(alpha, packed, C)

    def gain_of_cuts(self, gain: float, v: FloatArray, C: float) -> float:
        """The cuts' own gain."""
        return gain

    def dual_vector(self, point: DualPoint, C: float) -> FloatArray:
        """``sum_k alpha_k delta_k``."""
        return self.combine(point.alpha, point.cuts)  # type: ignore[attr-defined]

    def checked_dual(self, point: DualPoint, C: float) -> tuple[float, FloatArray]:
        """Not offered: what is certified is a model of all rows."""
        raise ValueError("a model of some of the rows is not certified; fit all of them.")
