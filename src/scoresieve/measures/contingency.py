"""Measures of the contingency table: their loss depends on two counts only.

For these the most violated labelling is found on the two classes in the order of their scores.

Legend: ``a`` true positives, ``b`` false positives, ``c = P - a`` missed positives.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scoresieve._arrays import BoolArray, FloatArray
from scoresieve.measures.measure import Cut, Measure, check_flips
from scoresieve.measures.thresholds import Tables, all_tables

IndexArray: TypeAlias = NDArray[np.intp]

#: A threshold is as good as the best one if its score ``1 - Delta`` is lower by this share of it at
#: most, divided by the unit: about the value of two positives. Judged by test scores of
#: text with 16 to 800 positives, beside the trained threshold, the best one, cross-fitted ones, and
#: half a standard error.
SHARE_ALLOWED = 3.0
#: Thresholds are almost the best, by scores of rows that no model has seen, if their measure is
#: lower by at most this share of what the best one gains over no alarms and nothing but alarms.
#: Judged by test F1 of text and small sets, as a share of F1 itself, beside the best one alone,
#: 1, 2 and 8 %, the middle of the range, bootstraps and kernels.
SHARE_OF_BEST = 0.04


class ContingencyMeasure(Measure):
    """``Delta(y, y') = table_loss(a, b, P, N)``, the loss as a function of the table.

    Conventions
    -----------
    * ``a`` counts the positives and ``b`` the negatives that y' labels +1.
    * A table competes if it is admissible and its loss is positive.
    * The unit U is P unless a subclass defines another.
    """

    scores_labels = True

    @abstractmethod
    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``Delta(a, b)`` in [0, 1], of counts a and b of shapes that broadcast."""

    def admissible(self, n_true_positive: Any, n_false_positive: Any, y: FloatArray) -> BoolArray:
        """Whether labellings with the counts a and b may compete; all, unless overridden."""
        return np.ones(np.broadcast(n_true_positive, n_false_positive).shape, dtype=bool)

    def loss_scale(self, y: FloatArray) -> float:
        """``U = P``, the number of positives."""
        return float(np.count_nonzero(y > 0))

    def threshold(self, y: FloatArray, scores: FloatArray, trained: float | None = None) -> float:
        """The threshold with k above it for measures of the k highest; else one near the best.

        It is the nearest to the trained one among those with almost the least loss: the best
        threshold of a few training rows is seldom the best on new rows.
        """
        if self.n_alarms(y) is not None:
            return super().threshold(y, scores)
        tables = all_tables(y, scores, self.row_weights)
        losses = self._loss_of_tables(tables)
        if trained is None:
            return float(tables.thresholds[int(np.argmin(losses))])
        scores_of = 1.0 - losses
        is_good = scores_of >= scores_of.max() * (1.0 - SHARE_ALLOWED / self.loss_scale(y))
        if is_good[tables.place(scores, trained)]:
            return trained
        good = tables.thresholds[is_good]
        return float(good[int(np.argmin(np.abs(good - trained)))])

    def steady_threshold(self, y: FloatArray, scores: FloatArray) -> float:
        """The middle one, by the number of alarms, of the thresholds with almost the best score.

        Which of them has the very best score is chance where positives are few.
        """
        if self.n_alarms(y) is not None:
            return super().steady_threshold(y, scores)
        tables = all_tables(y, scores, self.row_weights)
        scores_of = 1.0 - self._loss_of_tables(tables)
        gain = scores_of.max() - max(scores_of[0], scores_of[-1])
        good = np.flatnonzero(scores_of >= scores_of.max() - SHARE_OF_BEST * gain)
        return float(tables.thresholds[good[(good.size - 1) // 2]])

    def _loss_of_tables(self, tables: Tables) -> FloatArray:
        # The last threshold has all examples above it, so its table holds the sizes of the classes.
        return self.table_loss(tables.a, tables.b, tables.a[-1], tables.b[-1])

    def fixed_rate(self, y: FloatArray) -> float | None:
        """None: the rate is that of a table."""
        return None

    def exchange_rate(self, y: FloatArray, scores: FloatArray) -> float:
        """``(dDelta/db) / (-dDelta/da)`` at the threshold with the least loss.

        (Parambath, Usunier and Grandvalet 2014 show that training with these costs is optimal for
        fractions of counts.)
        """
        tables = all_tables(y, scores)
        best = int(np.argmin(self._loss_of_tables(tables)))
        return self.rate_at(int(tables.a[best]), int(tables.b[best]), *class_sizes(y))

    def rate_at(self, a: int, b: int, n_positive: int, n_negative: int) -> float:
        """``(dDelta/db) / (-dDelta/da)`` at the table (a, b), by differences.

        Infinite if a miss costs nothing there.
        """
        tables = np.clip([b - 1, b + 1], 0, n_negative), np.clip([a - 1, a + 1], 0, n_positive)
        alarm = np.diff(self.table_loss(a, tables[0], n_positive, n_negative)) / np.diff(tables[0])
        miss = -np.diff(self.table_loss(tables[1], b, n_positive, n_negative)) / np.diff(tables[1])
        return float(max(alarm[0], 0.0) / miss[0]) if miss[0] > 0.0 else np.inf

    def loss(self, y: FloatArray, y_pred: FloatArray) -> float:
        """``Delta(y, y_pred)`` of labels in {-1, +1}, by the formula, admissible or not."""
        y_pred = np.asarray(y_pred)
        if y_pred.shape != np.shape(y):
            raise ValueError(f"y_pred has shape {y_pred.shape}, but y has shape {np.shape(y)}.")
        if not np.all(np.abs(y_pred) == 1):
            raise ValueError("y_pred must hold the labels -1 and +1 only; pass np.sign of scores.")
        return self._labelling_loss(y, y_pred > 0)

    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``U * Delta`` of the labelling that flips where ``delta`` is not zero.

        It is 0 for the true labelling, which is always accepted; ValueError if an entry is neither
        0 nor ``y_i``, or if the labelling does not compete: it is not admissible, or its loss is 0
        although it flips something. Such a cut would not bound the risk from below.
        """
        delta = check_flips(delta, y)
        if not delta.any():
            return 0.0
        n_positive, n_negative = class_sizes(y)
        a = n_positive - np.count_nonzero(delta > 0)
        b = np.count_nonzero(delta < 0)
        if not self.admissible(a, b, y):
            raise ValueError(
                f"delta gives {a} true and {b} false positives, not admissible for {self.name}."
            )
        loss = float(self.table_loss(a, b, n_positive, n_negative))
        if loss <= 0:
            raise ValueError(
                f"delta gives {a} true and {b} false positives, whose loss is 0 for {self.name}; "
                "only labellings with a positive loss give cuts."
            )
        return self.loss_scale(y) * loss

    def _labelling_loss(self, y: FloatArray, labelled_positive: BoolArray) -> float:
        positive = y > 0
        a = np.count_nonzero(labelled_positive & positive)
        b = np.count_nonzero(labelled_positive) - a
        return float(self.table_loss(a, b, *class_sizes(y)))


@dataclass(eq=False)
class OrderedClasses:
    """``missed[c]`` = sum of c smallest positive scores, ``alarms[b]`` = of b largest negative.

    A labelling that misses c positives and raises b false alarms costs least margin when it flips
    the c lowest positives and the b highest negatives, so these two tables are all that the search
    for the most violated labelling needs.

    Conventions
    -----------
    * Only values are sorted, never indices: that is much faster than a stable ``argsort``. The
      examples to flip are found afterwards by a threshold, ties by index, lowest index first. The
      result is the one of a stable sort.
    * Negatives below ``lowest_alarm`` are left out of the tables. The measure promises that raising
      them never pays. The largest negative always stays.

    Parameters
    ----------
    lowest_alarm : float, default=-inf
        Negatives need a score above this to be in ``negatives`` and ``alarms``.
    """

    y: FloatArray
    scores: FloatArray
    lowest_alarm: float = -np.inf

    @cached_property
    def _positive_index(self) -> IndexArray:
        return np.flatnonzero(self.y > 0)

    @cached_property
    def _negative_index(self) -> IndexArray:
        return np.flatnonzero(self.y <= 0)

    @property
    def n_positive(self) -> int:
        """``P``, the number of positives."""
        return self._positive_index.size

    @property
    def n_negative(self) -> int:
        """``N``, the number of negatives, also those left out of the tables."""
        return self._negative_index.size

    @cached_property
    def positives(self) -> FloatArray:
        """Scores of the positives, ascending."""
        return np.sort(self.scores[self._positive_index])

    @cached_property
    def scores_of_negatives(self) -> FloatArray:
        """Those of all of them, in the order of the rows."""
        return self.scores[self.y <= 0]

    @cached_property
    def negatives(self) -> FloatArray:
        """Scores of the negatives above ``lowest_alarm``, descending."""
        values = self.scores_of_negatives
        if self.lowest_alarm > -np.inf:
            above = values[values > self.lowest_alarm]
            values = above if above.size else values.max(keepdims=True)
        return np.sort(values)[::-1]

    @cached_property
    def missed(self) -> FloatArray:
        """Sum of the c smallest positive scores, for c = 0..P."""
        return np.concatenate(([0.0], np.cumsum(self.positives)))

    @cached_property
    def alarms(self) -> FloatArray:
        """Sum of the b largest negative scores, for b = 0..len(negatives)."""
        return np.concatenate(([0.0], np.cumsum(self.negatives)))

    @cached_property
    def n_negative_above_zero(self) -> int:
        """How many negatives have a positive score: the b with the largest ``alarms[b]``."""
        return int(np.count_nonzero(self.negatives > 0))

    def flip(self, n_missed: int, n_alarms: int) -> FloatArray:
        """``delta`` that flips the lowest positives (+1) and the highest negatives (-1)."""
        delta = np.zeros(self.y.size)
        if n_missed:
            index = self._positive_index
            delta[_lowest(index, self.scores[index], self.positives[n_missed - 1], n_missed)] = 1.0
        if n_alarms:
            index = self._negative_index
            threshold = -self.negatives[n_alarms - 1]
            delta[_lowest(index, -self.scores_of_negatives, threshold, n_alarms)] = -1.0
        return delta


def _lowest(index: IndexArray, values: FloatArray, threshold: float, count: int) -> IndexArray:
    """Pick the ``count`` lowest values, ``threshold`` being the largest of them, ties by index."""
    chosen = values < threshold
    ties = np.flatnonzero(values == threshold)
    chosen[ties[: count - np.count_nonzero(chosen)]] = True
    return index[chosen]


def stable_order(values: FloatArray) -> IndexArray:
    """Order of the values, ascending, ties by index.

    Without ties every sort is stable, so the fast one is tried first.
    """
    order = np.argsort(values)
    ordered = values[order]
    if np.any(ordered[1:] == ordered[:-1]):
        return np.argsort(values, kind="stable")
    return order


class SearchedMeasure(ContingencyMeasure):
    """``max over (a, b) of U * Delta(a, b) - missed[P - a] + alarms[b]``, by search.

    Subclasses name the few candidate tables; this class evaluates them and builds the cut.
    """

    @abstractmethod
    def _candidates(
        self, classes: OrderedClasses
    ) -> tuple[IndexArray, IndexArray] | tuple[int, int]:
        """Counts (a, b) of competing tables, one of which attains the maximum."""

    def _lowest_alarm(self, n_positive: int) -> float:
        """Bound such that no candidate raises a negative with a score below it, but the first."""
        return -np.inf

    def _lowest_paying(self, negatives: FloatArray, n_positive: int) -> float:
        """The same bound, or a higher one, for these scores of negatives."""
        return self._lowest_alarm(n_positive)

    def _ordered(self, y: FloatArray, scores: FloatArray) -> OrderedClasses:
        """The ordered scores of all examples that can be flipped."""
        classes = OrderedClasses(y, scores)
        lowest = self._lowest_paying(classes.scores_of_negatives, classes.n_positive)
        classes.lowest_alarm = lowest
        return classes

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """The competing labelling with the largest ``loss - <delta, scores>``.

        Among tables of equal value it is the one with the fewest true positives.
        """
        classes = self._ordered(y, scores)
        n_positive, n_negative = classes.n_positive, classes.n_negative
        a, b = np.atleast_1d(*self._candidates(classes))
        losses = self.loss_scale(y) * self.table_loss(a, b, n_positive, n_negative)
        best = int(np.argmax(losses - classes.missed[n_positive - a] + classes.alarms[b]))
        delta = classes.flip(n_positive - int(a[best]), int(b[best]))
        return Cut(delta=delta, loss=float(losses[best]))


def class_sizes(y: FloatArray) -> tuple[int, int]:
    """``(P, N)``, the numbers of positives and negatives."""
    n_positive = int(np.count_nonzero(np.asarray(y) > 0))
    return n_positive, int(np.size(y)) - n_positive


def alarm_counts(y: FloatArray, scores: FloatArray) -> tuple[int, int, int]:
    """``(a, b, P)`` of the predictions ``scores > 0``; much faster than scikit-learn's metrics."""
    positive, alarm = np.asarray(y) > 0, np.asarray(scores) > 0
    a = int(np.count_nonzero(positive & alarm))
    return a, int(np.count_nonzero(alarm)) - a, int(np.count_nonzero(positive))


def predicted_labels(scores: FloatArray) -> FloatArray:
    """+1 where the score is positive and -1 elsewhere."""
    return np.where(np.asarray(scores) > 0, 1.0, -1.0)


def as_name(value: float) -> str:
    """Shortest text that reads back as the same number: 1.0 gives "1", 0.5 gives "0.5"."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
