"""The run of a sieve: cross-fitted scores of every setting, the choice, and the model of all rows.

view, class, split    one job: every setting, fitted without the split's held-out rows
view, class           the measure of the pooled scores of every setting
class                 the setting that is chosen, fitted on all rows
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.estimators.progress import Reporter, reported
from scoresieve.estimators.sieve.calibration import Sigmoid, fit_sigmoid
from scoresieve.estimators.sieve.choice import (
    Judge,
    Judged,
    best_of_each_size,
    one_standard_error,
    tabulate,
)
from scoresieve.estimators.sieve.cross_fitting import Plan, final_fit, fold_scores
from scoresieve.estimators.sieve.splits import Parts, Split
from scoresieve.estimators.sieve.views import View, best_view, joined
from scoresieve.measures import Measure
from scoresieve.solvers.row_weights import apply_weights


class Chosen(NamedTuple):
    """The model of one class.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
    intercept : float
        Before the threshold is taken off.
    threshold : float
        Where the cross-fitted scores are best cut.
    row : int
        Of ``cv_results_``.
    """

    w: FloatArray
    intercept: float
    columns: IntArray
    threshold: float
    sigmoid: Sigmoid
    row: int


class Sieved(NamedTuple):
    """The view of the models, and for each class its model and the table that it was chosen from.

    The table is ``cv_results_`` of all views, one after the other.
    """

    view: int
    tables: list[dict[str, Any]]
    models: list[Chosen]


@dataclass(frozen=True, eq=False)
class Sieving:
    """All that a run compares, and on what.

    Parameters
    ----------
    views : sequence of View
        One of them is chosen for all classes.
    """

    plan: Plan
    measure: Measure
    parts: Parts
    views: Sequence[View]

    def __post_init__(self) -> None:
        data = self.parts.data
        for y in data.targets.labels(data.y):
            # k of "prec@k" is about all rows, each as often as it counts.
            _, counted, _ = apply_weights(self.measure, y, y, data.weights)
            self.measure.check(counted)

    @property
    def titles(self) -> list[str]:
        """What each job is about, and what comes after the jobs."""
        return [self._title(*job) for job in self._jobs()] + ["choice"]

    def run(self, reporters: list[Reporter], n_jobs: int | None) -> Sieved:
        """Cross-fit, choose, and fit on all rows.

        Parameters
        ----------
        reporters : list of Reporter
            One for each of the titles.
        """
        *of_jobs, of_choice = reporters
        data, labels = self.parts.data, self._labels()
        found = Parallel(n_jobs=n_jobs)(
            delayed(reported)(
                *(reporter, cross_fit, reporter, self.plan, self.views[view]),
                *(labels[problem], data.weights, self.parts.splits[split]),
            )
            for reporter, (view, problem, split) in zip(of_jobs, self._jobs(), strict=True)
        )
        return reported(of_choice, self._choose, of_choice, found)

    def _labels(self) -> list[FloatArray]:
        """-1 or +1 for each row, for each class against the rest."""
        return list(self.parts.data.targets.labels(self.parts.data.y))

    def _jobs(self) -> list[tuple[int, int, int]]:
        """Numbers of view, problem and split."""
        n_problems, n_splits = self.parts.data.targets.n_problems, len(self.parts.splits)
        return list(np.ndindex(len(self.views), n_problems, n_splits))

    def _title(self, view: int, problem: int, split: int) -> str:
        settings = [f"{name}={value}" for name, value in self.views[view].settings.items()]
        title = [*settings, f"class {self.parts.data.targets.name(problem)}", f"split {split}"]
        return ", ".join(title)

    def _choose(self, reporter: Reporter, found: list[FloatArray]) -> Sieved:
        """The view, and in it the model of each class, from the scores that the jobs gave."""
        data, part_of = self.parts.data, self.parts.part_of
        judges = [Judge(self.measure, y, data.weights, part_of) for y in self._labels()]
        pooled = [self._pooled(part) for part in in_pieces(found, len(self.parts.splits))]
        scores = in_pieces(pooled, len(judges))  # by view and class
        judged = [list(map(Judge.judged, judges, of_view)) for of_view in scores]
        best = best_view(judged)
        X, first_row = self.views[best].of_all(), best * math.prod(self.plan.shape)
        tables, models = [], []
        for problem, judge in enumerate(judges):
            of_class = [tabulate(self.plan, of_view[problem]) for of_view in judged]
            tables.append(joined(of_class, self.views))
            model = self._chosen(X, judge, scores[best][problem], judged[best][problem])
            models.append(model._replace(row=first_row + model.row))
            reporter.say(self._said(problem, tables[-1], models[-1]))
        return Sieved(best, tables, models)

    def _pooled(self, found: list[FloatArray]) -> FloatArray:
        """One score for each row and setting, by the models that have not seen the row."""
        scores = np.full((*self.plan.shape, self.parts.part_of.size), np.nan)
        for part, split in zip(found, self.parts.splits, strict=True):
            scores[..., split.test] = part
        return scores

    def _chosen(self, X: Any, judge: Judge, scores: FloatArray, judged: Judged) -> Chosen:
        """The best setting, fitted on all rows."""
        plan, weights = self.plan, self.parts.data.weights
        settings = best_of_each_size(judged)
        tops = [judged.scores[s, k, f] for k, (s, f) in enumerate(settings)]
        errors = [judged.errors[s, k, f] for k, (s, f) in enumerate(settings)]
        size = one_standard_error(np.array(tops), np.array(errors))
        selection, final = settings[size]
        unseen = scores[selection, size, final]
        selected, w, intercept = final_fit(
            *(plan, X, judge.y, weights),
            *(plan.selections[selection], plan.ks[size], plan.finals[final]),
        )
        of_columns = np.zeros(X.shape[1])
        of_columns[selected.columns] = w
        n_selections, _, n_finals = plan.shape
        row = (size * n_selections + selection) * n_finals + final
        sigmoid = fit_sigmoid(judge.y, unseen, weights)
        threshold = judge.threshold(unseen)
        return Chosen(of_columns, intercept, selected.columns, threshold, sigmoid, row)

    def _said(self, problem: int, table: dict[str, Any], model: Chosen) -> str:
        """The line about a class for stderr."""
        name, score = self.parts.data.targets.name(problem), table["mean_test_score"][model.row]
        size, chosen = model.columns.size, table["param_selection"][model.row]
        return f"class {name}: {size} columns by {chosen}, {self.measure.name} {score:.3f} unseen"


def cross_fit(
    reporter: Reporter,
    plan: Plan,
    view: View,
    y: FloatArray,
    weights: FloatArray | None,
    split: Split,
) -> FloatArray:
    """Scores of the held-out rows by every setting, in the view of the rows that train."""
    begin = perf_counter()
    scores = fold_scores(plan, view.of_split(split), y, weights, split.train, split.test)
    reporter.say(f"{math.prod(plan.shape)} settings, {perf_counter() - begin:.1f} s")
    return scores


def in_pieces(items: list[Any], size: int) -> list[list[Any]]:
    """The items in lists of ``size``."""
    return [items[at : at + size] for at in range(0, len(items), size)]
