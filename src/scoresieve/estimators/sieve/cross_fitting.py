"""Cross-fitting: the scores of rows by every setting, fitted without them.

s_i  =  <w, x_i> + b      with (S, w, b) from the rows of all parts but that of row i
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve.design import Design
from scoresieve.estimators.progress import Reporter
from scoresieve.estimators.sieve.candidates import SelectedColumns, SelectionProblem
from scoresieve.estimators.sieve.plan import FinalModel, Plan, fit_finals
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
        NaN for settings that time was over for.
    supports : list of list of ndarray
        The columns, by candidate and size; none of candidates that time was over for.
    seconds : float
        Until the scores of the first candidate were there.
    """

    scores: FloatArray
    supports: list[list[IntArray]]
    seconds: float

    @property
    def reached(self) -> BoolArray:
        """The settings with scores, of shape (candidates, sizes, finals)."""
        return ~np.isnan(self.scores[..., 0])


def held_out_scores(
    reporter: Reporter | None,
    plan: Plan,
    source: ColumnSource,
    y: FloatArray,
    weights: FloatArray | None,
    split: Split,
) -> FoldScores:
    """Scores of the test rows of a split by every setting, fitted on its training rows.

    Where time is limited, all candidates select before any of the further models is fitted. A
    candidate is left out if the slowest so far took longer than there is time, and so is what comes
    after the deadline. The first candidate never is.
    """
    if reporter is not None:
        reporter.begin()
    begin, X = perf_counter(), source.of_split(split)
    train, test = split.train, split.test
    scores = np.full((*plan.shape, test.size), np.nan)
    wanted = np.ones(plan.shape, dtype=bool) if plan.wanted is None else plan.wanted
    turns = [number for number in plan.turns if wanted[number].any()]
    paths: dict[int, list[SelectedColumns]] = {}
    seconds: list[float] = []
    first = 0.0
    with one_blas_thread():
        counts, share = None if weights is None else weights[train], train.size / y.size
        problem = plan.problem(X.rows(train), y[train], counts, share)
        unseen = FetchedColumns(X.rows(test))
        for group in [turns] if plan.is_timed else [[number] for number in turns]:
            for number in group:
                if paths and plan.deadline.left < max(seconds):
                    break
                start = perf_counter()
                paths[number] = plan.candidates[number].select(problem, plan.sizes)
                seconds.append(perf_counter() - start)
                _add_scores(scores[number], plan.finals[:1], problem, paths[number], unseen)
                first = perf_counter() - begin if len(seconds) == 1 else first
            for number in group:
                if number in paths and wanted[number, :, 1:].any():
                    _add_scores(scores[number], plan.finals, problem, paths[number], unseen)
    supports = [[each.columns for each in paths.get(at, [])] for at in range(plan.shape[0])]
    found = FoldScores(scores, supports, first)
    if reporter is not None:
        n_settings = np.count_nonzero(found.reached)
        reporter.say(f"{n_settings} settings, {perf_counter() - begin:.1f} s")
        reporter.end()
    return found


def _add_scores(
    scores: FloatArray,
    finals: Sequence[FinalModel],
    problem: SelectionProblem,
    path: Sequence[SelectedColumns],
    unseen: FetchedColumns,
) -> None:
    """Write the scores of one candidate, by size and final model; own models need no time."""
    every = np.unique(np.concatenate([each.columns for each in path]))
    for place, selected in enumerate(path):
        if len(finals) > 1 and problem.time_is_over:
            return
        models = fit_finals(finals, problem, selected, every)
        block = unseen.block(selected.columns, every)
        for last, (w, intercept) in enumerate(models):
            scores[place, last] = block.scores(w) + intercept
