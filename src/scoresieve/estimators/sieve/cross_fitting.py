"""Cross-fitting: the scores of rows by every setting, fitted without them.

s_i  =  <w, x_i> + b      with (S, w, b) from the rows of all parts but that of row i
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Design
from scoresieve.estimators.progress import Reporter
from scoresieve.estimators.sieve.plan import Plan, fit_finals
from scoresieve.estimators.sieve.splits import Split
from scoresieve.solvers.limits import one_blas_thread
from scoresieve.solvers.subset.columns import FetchedColumns


class ColumnSource(Protocol):
    """Source of the columns: X itself, or an embedding refitted for each split.

    A sieve compares several and chooses one for all classes.
    """

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters of this source, for the table."""

    @property
    def size_name(self) -> str:
        """The name of the number of columns in the table."""

    @property
    def has_same_columns(self) -> bool:
        """Whether a column is the same for all splits."""

    def of_split(self, split: Split) -> Design:
        """All rows, checked, with columns that the training rows alone decide about."""

    def of_all(self) -> Design:
        """All rows, checked, with columns that all of them decide about."""


@dataclass(frozen=True, eq=False)
class RawColumns:
    """The columns of X themselves."""

    X: Design
    settings: dict[str, Any] = field(default_factory=dict)
    size_name = "n_features_to_select"
    has_same_columns = True

    def of_split(self, split: Split) -> Design:
        """X."""
        return self.X

    def of_all(self) -> Design:
        """X."""
        return self.X


class FoldScores(NamedTuple):
    """The scores of held-out rows by the fits without them, and the selections of these fits.

    Attributes
    ----------
    scores : ndarray of shape (candidates, sizes, finals, n_test)
    supports : list of list of ndarray
        The columns, by candidate and size.
    """

    scores: FloatArray
    supports: list[list[IntArray]]


def held_out_scores(
    reporter: Reporter | None,
    plan: Plan,
    source: ColumnSource,
    y: FloatArray,
    weights: FloatArray | None,
    split: Split,
) -> FoldScores:
    """Scores of the test rows of a split by every setting, fitted on its training rows."""
    if reporter is not None:
        reporter.begin()
    begin, X = perf_counter(), source.of_split(split)
    train, test = split.train, split.test
    scores = np.empty((*plan.shape, test.size))
    supports: list[list[IntArray]] = [[] for _ in plan.candidates]
    # Filters first: what they fetch is what searches want.
    order = sorted(range(len(supports)), key=lambda at: not plan.candidates[at].is_univariate)
    with one_blas_thread():
        counts, share = None if weights is None else weights[train], train.size / y.size
        problem = plan.problem(X.rows(train), y[train], counts, share)
        unseen = FetchedColumns(X.rows(test))
        for number in order:
            path = plan.candidates[number].select(problem, plan.sizes)
            supports[number] = [each.columns for each in path]
            every = np.unique(np.concatenate(supports[number]))
            for place, selected in enumerate(path):
                models = fit_finals(plan.finals, problem, selected, every)
                block = unseen.block(selected.columns, every)
                for last, (w, intercept) in enumerate(models):
                    scores[number, place, last] = block.scores(w) + intercept
    if reporter is not None:
        reporter.say(f"{math.prod(plan.shape)} settings, {perf_counter() - begin:.1f} s")
        reporter.end()
    return FoldScores(scores, supports)
