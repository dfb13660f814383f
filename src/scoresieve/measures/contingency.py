"""Measures of the contingency table: their loss depends on two counts only.

Legend: ``a`` true positives, ``b`` false positives, ``c = P - a`` missed positives.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoresieve.measures._base import Cut, FloatArray, Measure
from scoresieve.measures._ordered import IndexArray, OrderedClasses


class ContingencyMeasure(Measure):
    """``Delta(y, y') = table_loss(a, b, P, N)``, the loss as a function of the table.

    Conventions
    -----------
    * ``a`` counts the positives and ``b`` the negatives that y' labels +1.
    * A table competes if it is admissible and its loss is positive.
    * The unit is P, unless a subclass says otherwise.
    """

    @abstractmethod
    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """``Delta(a, b)`` in [0, 1].

        Parameters
        ----------
        n_true_positive, n_false_positive : array_like
            The counts a and b, of shapes that broadcast.
        n_positive, n_negative : int
            P and N.

        Returns
        -------
        loss : ndarray
            Of the broadcast shape.
        """

    def admissible(
        self, n_true_positive: Any, n_false_positive: Any, y: FloatArray
    ) -> NDArray[np.bool_]:
        """Whether labellings with these counts may compete; all of them, unless overridden.

        Parameters
        ----------
        n_true_positive, n_false_positive : array_like
            The counts a and b, of shapes that broadcast.
        y : ndarray of shape (n_samples,)
            Labels in {-1, +1}.

        Returns
        -------
        admissible : ndarray of bool
            Of the broadcast shape.
        """
        return np.ones(np.broadcast(n_true_positive, n_false_positive).shape, dtype=bool)

    def unit(self, y: FloatArray) -> float:
        """``U = P``, the number of positives."""
        return float(np.count_nonzero(y > 0))

    def loss(self, y: FloatArray, y_pred: FloatArray) -> float:
        """``Delta(y, y_pred)`` in [0, 1], by the formula, admissible or not.

        Parameters
        ----------
        y, y_pred : ndarray of shape (n_samples,)
            True and predicted labels in {-1, +1}.

        Returns
        -------
        loss : float
        """
        y_pred = np.asarray(y_pred)
        if y_pred.shape != np.shape(y):
            raise ValueError(f"y_pred has shape {y_pred.shape}, but y has shape {np.shape(y)}.")
        if not np.all(np.abs(y_pred) == 1):
            raise ValueError("y_pred must hold the labels -1 and +1 only; pass np.sign of scores.")
        return self._labelling_loss(y, y_pred > 0)

    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``U * Delta`` of the labelling that flips where ``delta`` is not zero.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Labels in {-1, +1}.
        delta : ndarray of shape (n_samples,)
            ``y_i`` where the labelling flips i, 0 elsewhere.

        Returns
        -------
        loss : float
            0 for the true labelling, which is always accepted.

        Raises
        ------
        ValueError
            If an entry is neither 0 nor ``y_i``, or if the labelling does not compete: it is not
            admissible, or its loss is 0 although it flips something. Such a cut would not bound
            the risk from below.
        """
        delta = np.asarray(delta)
        if delta.shape != np.shape(y):
            raise ValueError(f"delta has shape {delta.shape}, but y has shape {np.shape(y)}.")
        wrong = np.flatnonzero((delta != 0) & (delta != y))
        if wrong.size:
            i = wrong[0]
            raise ValueError(f"delta[{i}] is {delta[i]}, but it must be 0 or y[{i}] = {y[i]}.")
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
        return self.unit(y) * loss

    def _labelling_loss(self, y: FloatArray, labelled_positive: NDArray[np.bool_]) -> float:
        positive = y > 0
        a = np.count_nonzero(labelled_positive & positive)
        b = np.count_nonzero(labelled_positive) - a
        return float(self.table_loss(a, b, *class_sizes(y)))


class SearchedMeasure(ContingencyMeasure):
    """``max over (a, b) of U * Delta(a, b) - missed[P - a] + alarms[b]``, by search.

    Subclasses name the few tables worth looking at; this class evaluates them and builds the cut.
    """

    @abstractmethod
    def _candidates(
        self, classes: OrderedClasses
    ) -> tuple[IndexArray, IndexArray] | tuple[int, int]:
        """Counts (a, b) of competing tables, one of which attains the maximum."""

    def _lowest_alarm(self, n_positive: int) -> float:
        """Bound such that no candidate raises a negative with a score below it, but the first."""
        return -np.inf

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """The competing labelling with the largest ``loss - <delta, scores>``.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Labels in {-1, +1}, both present.
        scores : ndarray of shape (n_samples,)
            Finite scores.

        Returns
        -------
        cut : Cut
            Among tables of equal value the one with the fewest true positives.
        """
        n_positive, n_negative = class_sizes(y)
        classes = OrderedClasses(y, scores, self._lowest_alarm(n_positive))
        a, b = np.atleast_1d(*self._candidates(classes))
        losses = self.unit(y) * self.table_loss(a, b, n_positive, n_negative)
        best = int(np.argmax(losses - classes.missed[n_positive - a] + classes.alarms[b]))
        delta = classes.flip(n_positive - int(a[best]), int(b[best]))
        return Cut(delta=delta, loss=float(losses[best]))


def class_sizes(y: FloatArray) -> tuple[int, int]:
    """``(P, N)``, the numbers of positives and negatives."""
    n_positive = int(np.count_nonzero(np.asarray(y) > 0))
    return n_positive, int(np.size(y)) - n_positive


def predicted_labels(scores: FloatArray) -> FloatArray:
    """+1 where the score is positive and -1 elsewhere."""
    return np.where(np.asarray(scores) > 0, 1.0, -1.0)


def as_name(value: float) -> str:
    """Shortest text that reads back as the same number: 1.0 gives "1", 0.5 gives "0.5"."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
