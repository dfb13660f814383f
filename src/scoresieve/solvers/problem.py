"""The problem that every solver minimises, and the points it is evaluated at.

J(w) = 1/2 ||w||_B^2 + C R(X w)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from scoresieve.design import Design
from scoresieve.measures import Cut, Measure
from scoresieve.regularizers import BudgetNorm

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """``J(w) = 1/2 ||w||_B^2 + C R(X w)``, R the risk of a measure on the labels y.

    Attributes
    ----------
    design : Design
        X, with the constant column last if there is an intercept.
    y : ndarray of shape (n_samples,), in {-1, +1}
    measure : Measure
    norm : BudgetNorm
        On all columns of the design.
    C : float
    """

    design: Design
    y: FloatArray
    measure: Measure
    norm: BudgetNorm
    C: float

    def cut(self, scores: FloatArray) -> Cut:
        """The most violated cut at the scores, or the zero cut where the risk is 0."""
        cut = self.measure.most_violated(self.y, scores)
        if cut.value(scores) < 0.0:
            return Cut(np.zeros_like(scores), 0.0)
        return cut

    def full_correlations(self, combined: FloatArray) -> FloatArray:
        """``X^T sum_k alpha_k delta_k``: one pass over all columns."""
        return self.design.correlate(combined)

    def dual_value(self, gain: float, correlations: FloatArray) -> float:
        """``<q, alpha> - 1/2 ||A alpha||_(B)^2`` over all columns: a lower bound of min J."""
        return gain - 0.5 * self.norm.dual_squared(correlations)


class Clock:
    """Seconds since the start, and seconds by part."""

    def __init__(self) -> None:
        self._start = perf_counter()
        self.parts: dict[str, float] = {}

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return perf_counter() - self._start

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time of the block under ``name``."""
        start = perf_counter()
        try:
            yield
        finally:
            self.parts[name] = self.parts.get(name, 0.0) + perf_counter() - start
