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
from scoresieve.estimators.sieve.calibration import Sigmoid
from scoresieve.estimators.sieve.choice import (
    Judge,
    Judged,
    Panel,
    best_of_each_size,
    one_standard_error,
    tabulate,
)
from scoresieve.estimators.sieve.cross_fitting import FoldScores, Plan, final_fits, fold_scores
from scoresieve.estimators.sieve.fold_selections import FoldSelections, count_selections
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
    price : float
        Of a false alarm in the bound that chose the columns; NaN if a loss did.
    """

    w: FloatArray
    intercept: float
    columns: IntArray
    threshold: float
    sigmoid: Sigmoid
    row: int
    price: float

    @property
    def odds(self) -> float:
        """The log-odds of the threshold."""
        return float(self.sigmoid.log_odds(self.threshold))

    def decision(self) -> tuple[FloatArray, float]:
        """Weights and intercept of the log-odds above those of the threshold."""
        slope = self.sigmoid.slope
        return slope * self.w, slope * (self.intercept - self.threshold)


class Sieved(NamedTuple):
    """The view of the models, and for each class its models and the table they were chosen from.

    The table is ``cv_results_`` of all views, one after the other. ``selections`` tell what the
    fits of the splits have selected, where their columns are the same.
    """

    view: int
    tables: list[dict[str, Any]]
    paths: list[list[Chosen]]
    selections: list[FoldSelections] | None

    @property
    def models(self) -> list[Chosen]:
        """The chosen ones."""
        return [path[-1] for path in self.paths]


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

    def _choose(self, reporter: Reporter, found: list[FoldScores]) -> Sieved:
        """The view, and in it the model of each class, from the scores that the jobs gave."""
        data, part_of = self.parts.data, self.parts.part_of
        judges = [
            Panel([Judge(self.measure, y, data.weights, each) for each in part_of])
            for y in self._labels()
        ]
        of_splits = in_pieces(found, len(self.parts.splits))
        scores = in_pieces(list(map(self._pooled, of_splits)), len(judges))  # by view and class
        judged = [list(map(Panel.judged, judges, of_view)) for of_view in scores]
        best = best_view(judged)
        X, first_row = self.views[best].of_all(), best * math.prod(self.plan.shape)
        tables, paths, selections = [], [], []
        for problem, judge in enumerate(judges):
            of_class = [tabulate(self.plan, of_view[problem]) for of_view in judged]
            tables.append(joined(of_class, self.views))
            path = self._chosen(X, judge, scores[best][problem], judged[best][problem])
            paths.append([each._replace(row=first_row + each.row) for each in path])
            reporter.say(self._said(problem, tables[-1], path[-1]))
            if self.views[best].has_same_columns:
                ways = self._ways(judged[best][problem], path[-1].row, len(path))
                rows = [first_row + self.plan.row(s, k, f) for k, (s, f) in enumerate(ways)]
                fits = of_splits[best * len(judges) + problem]
                supports = [[fit.supports[s][k] for k, (s, _) in enumerate(ways)] for fit in fits]
                selections.append(count_selections(rows, supports, X.shape[1]))
        return Sieved(best, tables, paths, selections or None)

    def _ways(self, judged: Judged, row: int, n_smaller: int) -> list[tuple[int, int]]:
        """Selection and final model that are told about for each number of columns.

        They are those of the chosen row for the first numbers, and the best for each larger one.
        """
        n_selections, _, n_finals = self.plan.shape
        chosen = row // n_finals % n_selections, row % n_finals
        return [chosen] * n_smaller + best_of_each_size(judged)[n_smaller:]

    def _pooled(self, found: list[FoldScores]) -> FloatArray:
        """One score for each row, round and setting, by models that have not seen the row."""
        parts = self.parts
        scores = np.full((*self.plan.shape, *parts.part_of.shape), np.nan)
        for part, at, split in zip(found, parts.round_of, parts.splits, strict=True):
            scores[..., at, split.test] = part.scores
        return scores

    def _chosen(self, X: Any, judge: Panel, scores: FloatArray, judged: Judged) -> list[Chosen]:
        """The best setting, fitted on all rows for each number of columns up to the chosen one."""
        plan, weights = self.plan, self.parts.data.weights
        settings = best_of_each_size(judged)
        tops = [judged.scores[s, k, f] for k, (s, f) in enumerate(settings)]
        errors = [judged.errors[s, k, f] for k, (s, f) in enumerate(settings)]
        size = one_standard_error(np.array(tops), np.array(errors))
        selection, final = settings[size]
        fits = final_fits(
            *(plan, X, judge.y, weights),
            *(plan.selections[selection], plan.ks[size], plan.finals[final]),
        )
        found = []
        for at_k, fit in enumerate(fits):
            unseen, of_columns = scores[selection, at_k, final], np.zeros(X.shape[1])
            of_columns[fit.columns] = fit.w
            row = plan.row(selection, at_k, final)
            about = judge.threshold(unseen), judge.sigmoid(unseen), row, fit.price
            found.append(Chosen(of_columns, fit.intercept, fit.columns, *about))
        return found

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
) -> FoldScores:
    """Scores of the held-out rows by every setting, in the view of the rows that train."""
    begin = perf_counter()
    found = fold_scores(plan, view.of_split(split), y, weights, split.train, split.test)
    reporter.say(f"{math.prod(plan.shape)} settings, {perf_counter() - begin:.1f} s")
    return found


def in_pieces(items: list[Any], size: int) -> list[list[Any]]:
    """The items in lists of ``size``."""
    return [items[at : at + size] for at in range(0, len(items), size)]
