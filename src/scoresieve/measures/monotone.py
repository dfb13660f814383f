"""Measures that only fall with a miss or an alarm more: MCC and the geometric mean of recalls.

Their loss is neither concave in the alarms nor a fraction of counts, so that the best table is
searched: by blocks of tables, each bounded by its worst corner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import matthews_corrcoef

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.measures.contingency import (
    OrderedClasses,
    SearchedMeasure,
    alarm_counts,
    predicted_labels,
)
from scoresieve.measures.measure import named

#: Parts of a side of a block that it is cut into; two take a quarter more time.
N_PARTS = 4
#: Negatives below 0 that are looked at first, for each positive.
SOUGHT = 16


class MonotoneMeasure(SearchedMeasure):
    """``Delta`` that never falls when a missed positive or a false alarm is added.

    With c missed positives and b alarms the value of a table is ``U Delta(c, b) - missed[c] +
    alarms[b]``, the last two concave. So a block of tables is worth at most Delta at its worst
    corner plus the largest of the other two in their ranges. Blocks that cannot beat the best table
    seen are dropped, the others cut up, down to single tables: exact, and far from all.
    """

    def _lowest_paying(self, negatives: FloatArray, n_positive: int) -> float:
        return lowest_paying(negatives, n_positive)

    def _candidates(self, classes: OrderedClasses) -> tuple[int, int]:
        n_positive, n_alarms = classes.n_positive, classes.alarms.size - 1
        # Blocks [c_low, c_high] x [b_low, b_high]; the true table alone does not compete.
        blocks = np.array([[1, n_positive, 0, n_alarms], [0, 0, min(1, n_alarms), n_alarms]])
        best, winner = -np.inf, (0, 1)
        while blocks.size:
            value, c, b = self._reached(classes, blocks)
            top = int(np.argmax(value))
            if value[top] > best:
                best, winner = value[top], (int(c[top]), int(b[top]))
            blocks = blocks[self._bound(classes, blocks) > best]
            blocks = _cut_up(blocks[(blocks[:, 1] > blocks[:, 0]) | (blocks[:, 3] > blocks[:, 2])])
        return n_positive - winner[0], winner[1]

    def _peaks(self, classes: OrderedClasses, blocks: IntArray) -> tuple[IntArray, IntArray]:
        """Where the two concave parts are largest inside each block."""
        n_below_zero = int(np.count_nonzero(classes.positives < 0))
        c = np.clip(n_below_zero, blocks[:, 0], blocks[:, 1])
        return c, np.clip(classes.n_negative_above_zero, blocks[:, 2], blocks[:, 3])

    def _worth(self, classes: OrderedClasses, c: IntArray, b: IntArray) -> FloatArray:
        """``U Delta(c, b) - missed[c] + alarms[b]``."""
        sizes = classes.n_positive, classes.n_negative
        losses = classes.n_positive * self.table_loss(sizes[0] - c, b, *sizes)
        return losses - classes.missed[c] + classes.alarms[b]

    def _reached(
        self, classes: OrderedClasses, blocks: IntArray
    ) -> tuple[FloatArray, IntArray, IntArray]:
        """The better of each block's peak and worst corner: its value and its table."""
        peak, corner = self._peaks(classes, blocks), (blocks[:, 1], blocks[:, 3])
        at_peak, at_corner = self._worth(classes, *peak), self._worth(classes, *corner)
        is_peak = at_peak >= at_corner
        c, b = (np.where(is_peak, one, other) for one, other in zip(peak, corner, strict=True))
        return np.maximum(at_peak, at_corner), c, b

    def _bound(self, classes: OrderedClasses, blocks: IntArray) -> FloatArray:
        """What no table of a block exceeds."""
        (c, b), sizes = self._peaks(classes, blocks), (classes.n_positive, classes.n_negative)
        worst = self.table_loss(sizes[0] - blocks[:, 1], blocks[:, 3], *sizes)
        return classes.n_positive * worst - classes.missed[c] + classes.alarms[b]


def lowest_paying(negatives: FloatArray, loss_scale: float) -> float:
    """A score such that raising a negative at or below it never pays, whatever the loss U Delta.

    All negatives above 0, or the highest, with the lowest positives make a table that competes.
    Another gains at most U by its loss, so the negatives of at most 0 that it raises sum to at
    least -U, less the highest if that is also below 0. Those nearest 0 that sum to less are sought
    among more and more, which spares the sort of all.
    """
    n_above = int(np.count_nonzero(negatives > 0.0))
    allowance = loss_scale - min(float(negatives.max()), 0.0)
    count = n_above + SOUGHT * int(loss_scale)
    while 2 * count < negatives.size:
        lowest = negatives.size - count - 1
        parted = np.partition(negatives, lowest)
        taken = parted[lowest + 1 :]
        if np.minimum(taken, 0.0).sum() < -allowance:
            return float(parted[lowest])
        count *= 2
    return -np.inf


def _cut_up(blocks: IntArray) -> IntArray:
    """Each block cut into parts of equal length along both its sides; empty ones are left out."""
    (first_c, last_c), (first_b, last_b) = (
        _parts(blocks[:, low], blocks[:, low + 1]) for low in (0, 2)
    )
    corners = np.broadcast_arrays(
        first_c[:, :, None], last_c[:, :, None], first_b[:, None, :], last_b[:, None, :]
    )
    found = np.stack(corners, axis=-1).reshape(-1, 4)
    return found[(found[:, 1] >= found[:, 0]) & (found[:, 3] >= found[:, 2])]


def _parts(low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """The first and the last number of each part of the ranges low .. high."""
    ends = low[:, None] + (high - low + 1)[:, None] * np.arange(N_PARTS + 1) // N_PARTS
    return ends[:, :-1], ends[:, 1:] - 1


@named("mcc")
@dataclass(frozen=True)
class Matthews(MonotoneMeasure):
    """``Delta = (1 - MCC) / 2``, MCC the correlation of predicted and true labels.

    ``MCC = (a / P - b / N) sqrt(P N) / sqrt(m (n - m))`` with m = a + b alarms of n examples, and 0
    if all or none are alarms. The score is MCC itself, between -1 and 1.
    """

    name = "mcc"

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``(1 - MCC) / 2``."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        alarms, n = a + b, n_positive + n_negative
        spread = np.sqrt(alarms * (n - alarms))
        excess = (a / n_positive - b / n_negative) * np.sqrt(n_positive * n_negative)
        return 0.5 - 0.5 * np.divide(excess, spread, out=np.zeros_like(excess), where=spread > 0)

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``matthews_corrcoef`` of scikit-learn for the predictions ``scores > 0``."""
        return float(matthews_corrcoef(y, predicted_labels(scores)))


@named("gmean")
@dataclass(frozen=True)
class GeometricMean(MonotoneMeasure):
    """``Delta = 1 - sqrt(a / P * (1 - b / N))``: the geometric mean of the two recalls."""

    name = "gmean"

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``1 - sqrt(a / P * (1 - b / N))``."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        return 1.0 - np.sqrt(a / n_positive * (1.0 - b / n_negative))

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``sqrt(recall * specificity)`` of the predictions ``scores > 0``."""
        a, b, n_positive = alarm_counts(y, scores)
        return float(1.0 - self.table_loss(a, b, n_positive, np.size(y) - n_positive))
