"""Candidates: ways to choose k columns, for each k of a list.

    columns S, weights w, intercept b  =  select(rows, k)      for k = 2, 5, 10, ...

``ScoreSieve`` compares candidates on held-out rows. None is best everywhere. The squared hinge is
good with few positives, and selects other columns once these are scaled. The bound follows the
measure that is reported. Coordinate ascent on the measure itself can be far better with many
positives. With few rows and many columns univariate filters are more stable than searches.

A new one is a subclass of :class:`Candidate` and a line in
:data:`~scoresieve.estimators.sieve.plan.CANDIDATES`, see docs/adding_a_candidate.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import Any, ClassVar, NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Design, as_design
from scoresieve.design.scaled import ScaledDesign, column_means, equal_factors
from scoresieve.losses import Loss
from scoresieve.measures import Measure
from scoresieve.regularizers import BudgetNorm
from scoresieve.risks import LossRisk
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import Problem, priced_risk
from scoresieve.solvers.subset.columns import FetchedColumns

#: Mean squares of entries that one grid of C serves: unit rows of text to unit deviations.
MEAN_SQUARES = (1e-3, 10.0)
#: The value of the constant column in a search, and where the intercept is almost free.
CONSTANT, FREE_CONSTANT = 1.0, 10.0
#: For columns of one scale that are far from 0, how many times their means it is.
TIMES_MEANS = 10.0


class SelectedColumns(NamedTuple):
    """The chosen columns, sorted, and the model that chose them.

    Attributes
    ----------
    weights : ndarray of shape (len(columns),)
    price : float
        Cost of a false positive in the bound of a measure; NaN for other candidates.
    entered : ndarray of int of shape (len(columns),), or None
        The number of columns at which each entered, see :func:`entered_at`; None where unknown.
    """

    columns: IntArray
    weights: FloatArray
    intercept: float
    price: float = nan
    entered: IntArray | None = None


class Candidate(ABC):
    """A way to choose k columns.

    Attributes
    ----------
    C : float or None
        Weight of the risk; None without regularisation.
    is_univariate : bool
        Whether it ranks single columns. With few rows such filters are preferred to searches, which
        overfit by comparing many sets.
    is_slow : bool
        Whether others have their turn before it where time is limited.
    """

    C: float | None = None
    is_univariate: ClassVar[bool] = False
    is_slow: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Name and settings, for tables: "squared_hinge, C=3"."""

    @abstractmethod
    def select(self, problem: SelectionProblem, sizes: Sequence[int]) -> list[SelectedColumns]:
        """The choice for each number of columns, or of groups of columns.

        Parameters
        ----------
        sizes : sequence of int
            Ascending.
        """


@dataclass(frozen=True, eq=False)
class SelectionProblem:
    """The training rows, and what all candidates share.

    Nothing is checked here: X, weights and labels are rows of the checked arguments of ``fit``.

    Parameters
    ----------
    X : Design
        Without the constant column.
    y : ndarray of shape (n_samples,)
        In {-1, +1}, with both of them present.
    weights : ndarray of shape (n_samples,) or None
        How often each row counts.
    limits : Limits
        With the deadline of all searches together.
    roles : dict
        ``always_features``, ``excluded_features`` and ``feature_groups``, by numbers of columns.
    share : float
        Fraction of all rows that these are: a number of predicted positives is scaled by it.

    Attributes
    ----------
    notes : dict
        Data that a candidate leaves here for later ones, under its own keys.
    """

    X: Design
    y: FloatArray
    weights: FloatArray | None
    limits: Limits
    roles: Mapping[str, Any] = field(default_factory=dict)
    share: float = 1.0
    notes: dict[Any, Any] = field(default_factory=dict, init=False)

    @cached_property
    def design(self) -> Design:
        """X with the constant column, the last one."""
        return as_design(self.X, constant=CONSTANT)

    @cached_property
    def fetched(self) -> FetchedColumns:
        """Columns of the design, which are fetched once for all candidates."""
        return FetchedColumns(self.design)

    @cached_property
    def norm(self) -> BudgetNorm:
        """The roles of the columns of the design, and what a number of columns counts."""
        return BudgetNorm(1, self.X.n_columns, has_constant=True, **self.roles)

    @cached_property
    def scaled(self) -> tuple[ScaledDesign, FetchedColumns]:
        """The columns brought to one deviation in these rows."""
        factors = equal_factors(self.X, MEAN_SQUARES)
        constant = constant_for(factors * column_means(self.X))
        design = self.rescaled(np.append(factors, constant / CONSTANT))
        return design, FetchedColumns(design)

    def rescaled(self, factors: FloatArray) -> ScaledDesign:
        """The design times a factor for each column; what is fetched is not fetched again."""
        return ScaledDesign(self.fetched, factors)

    @property
    def row_weights(self) -> FloatArray:
        """How often each row counts, without weights once."""
        return np.ones(self.y.size) if self.weights is None else self.weights

    @property
    def time_is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.limits.deadline is not None and self.limits.deadline.is_over

    def minimising(self, kind: Loss | Measure, C: float) -> Problem:
        """``min C R(X w) + 1/2 ||w||^2`` with the risk of a loss, or the bound of a measure."""
        if isinstance(kind, Loss):
            risk = LossRisk(kind, self.y, self.weights)
            return Problem(self.design, risk, self.norm, C, CONSTANT)
        bound, price_is = priced_risk(
            kind, self.y, self.weights, bound="tight", price="auto", has_threshold=True
        )
        return Problem(self.design, bound, self.norm, C, CONSTANT, price_is)

    def with_repeated_rows(self) -> SelectionProblem:
        """The same with each row as often as it counts, for measures that take no weights."""
        assert self.weights is not None
        rows = np.repeat(np.arange(self.y.size), self.weights.astype(np.int64))
        return replace(self, X=self.X.rows(rows), y=self.y[rows], weights=None)

    def selected(self, w: FloatArray, price: float = nan) -> SelectedColumns:
        """The columns of the design with a weight, and those that are always in."""
        columns = np.union1d(np.flatnonzero(w[:-1]), self.norm.always[:-1])
        return SelectedColumns(columns, w[columns], float(CONSTANT * w[-1]), price)


def with_entries(
    found: Mapping[int, SelectedColumns], sizes: Sequence[int]
) -> list[SelectedColumns]:
    """The selection for each size, with the sizes at which its columns entered."""
    supports = {k: each.columns for k, each in found.items()}
    return [found[k]._replace(entered=entered_at(k, supports)) for k in sizes]


def entered_at(k: int, supports: Mapping[int, IntArray]) -> IntArray:
    """``e_j`` of the columns of k: the smallest number since which every support has column j.

    Columns that enter early are the most informative; the last of many fit noise.

    Parameters
    ----------
    supports : mapping of int to ndarray
        The columns for k, and for what other numbers there are.
    """
    columns = supports[k]
    entered, stayed = np.full(columns.size, k), np.ones(columns.size, dtype=bool)
    for smaller in sorted((number for number in supports if number < k), reverse=True):
        stayed &= np.isin(columns, supports[smaller])
        entered[stayed] = smaller
    return entered


def halving_sizes(sizes: Sequence[int]) -> list[int]:
    """``sizes``, and k, k / 2, k / 4, ... of each down to the one before, or 2.

    A search that starts with k columns overfits more than one that adds to a smaller selection,
    most of all where k exceeds the number of informative columns, see studies/notes/choice.md.
    """
    found: list[int] = []
    for k in sizes:
        last, halves = found[-1] if found else 1, [k]
        while (half := (halves[-1] + 1) // 2) > last:
            halves.append(half)
        found += halves[::-1]
    return found


def constant_for(means: FloatArray) -> float:
    """The value of the constant column for columns with these means.

    Where all means are far from 0, the intercept has to offset those of the chosen columns, and a
    penalty on it favours columns whose means cancel. Searches of unscaled columns keep that
    penalty: for genes, differences are often better than sums. Searches of scaled columns hardly
    penalise the intercept, so they do not depend on the origin of a scale.
    """
    largest = np.abs(means).max(initial=0.0)
    # Of shares of the largest, whose squares do not overflow.
    share = np.sqrt(np.mean(np.square(means / largest))) if largest > 0.0 else 0.0
    return float(max(CONSTANT, TIMES_MEANS * largest * share))
