"""Any measure of the contingency table that a user writes as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.measures.contingency import OrderedClasses, SearchedMeasure, class_sizes

#: How many tables are evaluated at once. Keeps the memory of a search at some ten megabytes.
CHUNK_SIZE = 1 << 17

_TOLERANCE = 1e-9
_ZERO_LOSS = 1e-12


@dataclass(frozen=True)
class Contingency(SearchedMeasure):
    """``Delta = 1 - function(tp, fp, fn, tn)``: a measure given as a function of the table.

    Conventions
    -----------
    * The function is called with four float arrays that broadcast, and returns an array (or a
      number) that broadcasts with them. Every value must be in [0, 1].
    * The true table (P, 0, 0, N) must have no loss. Losses below 1e-12 count as 0.
    * The search is exact for every function. It looks at up to ``(P + 1) * (N + 1)`` tables, in
      bounded memory, and skips tables that could not win even with a loss of 1.
    * To pickle a model, define the function at the top level of a module.

    Parameters
    ----------
    function : callable
        ``function(tp, fp, fn, tn)``.
    greater_is_better : bool, default=True
        Whether the function is a score (1 is perfect) or a loss (0 is perfect).
    name : str, default=""
        Name of the measure in reports; by default that of the function.

    Examples
    --------
    >>> import numpy as np
    >>> def mean_recall(tp, fp, fn, tn):
    ...     return (tp / (tp + fn) + tn / (tn + fp)) / 2
    >>> measure = Contingency(mean_recall)
    >>> measure.name
    'mean_recall'
    >>> measure.loss(np.array([1.0, 1.0, -1.0]), np.array([1.0, -1.0, -1.0]))
    0.25
    """

    function: Callable[..., Any]
    greater_is_better: bool = field(default=True, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(
                f"function must be a callable of (tp, fp, fn, tn), got {self.function!r}."
            )
        if not self.name:
            object.__setattr__(self, "name", getattr(self.function, "__name__", "contingency"))

    def table_loss(
        self, n_true_positive: Any, n_false_positive: Any, n_positive: int, n_negative: int
    ) -> FloatArray:
        """The function's loss; ValueError, with the table, if a value is not in [0, 1]."""
        a, b = np.asarray(n_true_positive, dtype=float), np.asarray(n_false_positive, dtype=float)
        # A 0/0 inside the function is reported below, with its table, if it reaches the result.
        with np.errstate(all="ignore"):
            values = self.function(a, b, n_positive - a, n_negative - b)
        try:
            values = np.asarray(values, dtype=float)
            values = np.broadcast_to(values, np.broadcast(a, b).shape)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{self.name} must return numbers of the shape of its arguments: {error}."
            ) from error
        losses = 1.0 - values if self.greater_is_better else values
        wrong = ~((losses >= -_TOLERANCE) & (losses <= 1.0 + _TOLERANCE))
        if wrong.any():
            first = np.unravel_index(np.argmax(wrong), wrong.shape)
            tp, fp = (int(counts[first]) for counts in np.broadcast_arrays(a, b))
            raise ValueError(
                f"{self.name} is {values[first]} for the table tp={tp}, fp={fp}, "
                f"fn={n_positive - tp}, tn={n_negative - fp}; it must be in [0, 1] for every table."
            )
        return np.where(losses <= _ZERO_LOSS, 0.0, np.minimum(losses, 1.0))

    def check(self, y: FloatArray) -> None:
        """Raise ValueError if the true table has a loss, or if the function fails on it."""
        n_positive, n_negative = class_sizes(y)
        loss = float(self.table_loss(n_positive, 0, n_positive, n_negative))
        if loss > _TOLERANCE:
            raise ValueError(
                f"{self.name} has the loss {loss} for the true table tp={n_positive}, fp=0, fn=0, "
                f"tn={n_negative}, but it must be 0. Check the function and greater_is_better="
                f"{self.greater_is_better}."
            )

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``1 - Delta`` of the predictions ``scores > 0``."""
        return 1.0 - self._labelling_loss(y, np.asarray(scores) > 0)

    def _candidates(self, classes: OrderedClasses) -> tuple[int, int]:
        """The winner of a scan over all tables that could have the largest value.

        A table is worth at most ``U - missed[P - a] + alarms[b]``, its value with a loss of 1.
        Rows and columns whose bound is below the best value of a coarse grid are skipped.
        """
        self.check(classes.y)
        n_positive, n_negative = classes.n_positive, classes.n_negative
        best, winner = self._best_of_grid(classes), None
        n_rows = max(1, CHUNK_SIZE // (n_negative + 1))
        for start in range(0, n_positive + 1, n_rows):
            a = np.arange(start, min(start + n_rows, n_positive + 1))
            ceiling = n_positive - classes.missed[n_positive - a]
            b = np.flatnonzero(ceiling.max() + classes.alarms >= best)
            a = a[ceiling + classes.alarms[b].max(initial=-np.inf) >= best]
            if not a.size:
                continue
            values = self._values(classes, a, b)
            row, column = np.unravel_index(np.argmax(values), values.shape)
            top = values[row, column]
            if top > best or (winner is None and top == best > -np.inf):
                best, winner = top, (int(a[row]), int(b[column]))
        if winner is None:
            raise ValueError(
                f"{self.name} has no loss for any table with {n_positive} positives and "
                f"{n_negative} negatives; some table must have a worse value than the true one."
            )
        return winner

    def _values(self, classes: OrderedClasses, a: Any, b: Any) -> FloatArray:
        """``U * Delta - missed[P - a] + alarms[b]``, and -inf where the table does not compete."""
        n_positive = classes.n_positive
        losses = self.table_loss(a[:, None], b[None, :], n_positive, classes.n_negative)
        values = n_positive * losses - classes.missed[n_positive - a][:, None] + classes.alarms[b]
        values[(losses <= 0) | ((a == n_positive)[:, None] & (b == 0))] = -np.inf
        return values

    def _best_of_grid(self, classes: OrderedClasses) -> float:
        """The largest value on about 32 x 32 tables: a lower bound of the maximum."""
        a = np.unique(np.linspace(0, classes.n_positive, 32).astype(int))
        b = np.unique(np.linspace(0, classes.n_negative, 32).astype(int))
        return float(self._values(classes, a, b).max())
