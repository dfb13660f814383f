"""The problem that every solver minimises, and the points it is evaluated at.

J(w) = 1/2 ||w||_B^2 + C R(X w)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoresieve._checks import check_positive, check_problem
from scoresieve.design import Design, as_design
from scoresieve.measures import Cut, Measure, get_measure
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.row_weights import apply_weights

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
        Bound to the sample weights, if there are any.
    norm : BudgetNorm
        On all columns of the design.
    C : float
    """

    design: Design
    y: FloatArray
    measure: Measure
    norm: BudgetNorm
    C: float

    @cached_property
    def flip_values(self) -> FloatArray:
        """``delta_i`` where a labelling flips i: ``y_i``, times the weight of row i if it has one.

        Their absolute values are the weights of the rows, for every measure.
        """
        return self.measure.flip_values(self.y)

    def cut(self, scores: FloatArray) -> Cut:
        """The most violated cut at the scores, or the zero cut where the risk is 0."""
        cut = self.measure.most_violated(self.y, scores)
        if cut.value(scores) < 0.0:
            return Cut(np.zeros_like(scores), 0.0)
        return cut

    def dual_value(self, gain: float, correlations: FloatArray) -> float:
        """``<q, alpha> - 1/2 ||A alpha||_(B)^2`` over all columns: a lower bound of min J."""
        return gain - 0.5 * self.norm.dual_squared(correlations)


def make_problem(
    X: Any,
    y: ArrayLike,
    *,
    measure: str | Measure,
    budget: int,
    C: float,
    intercept: float = 0.0,
    always: ArrayLike | None = None,
    excluded: ArrayLike | None = None,
    feature_groups: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Problem:
    """The problem that the arguments of :func:`scoresieve.solve` describe, all of them checked."""
    measure = get_measure(measure)
    X, y, weights = apply_weights(measure, X, y, sample_weight)
    if weights is not None:
        measure = measure.weighted(weights)
    intercept = check_positive(intercept, "intercept", or_zero=True)
    design = as_design(X, constant=intercept)
    checked = check_problem(
        design,
        y,
        budget=budget,
        C=C,
        intercept=intercept,
        always=always,
        excluded=excluded,
        feature_groups=feature_groups,
    )
    measure.check(checked.y)
    norm = BudgetNorm(
        checked.budget,
        design.n_columns,
        always=checked.always,
        excluded=checked.excluded,
        groups=checked.groups,
    )
    return Problem(design, checked.y, measure, norm, checked.C)


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
