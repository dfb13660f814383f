"""The run of a sieve: held-out scores of every setting, the choice, and the models of all rows.

source, class, split    one job: every setting, fitted without the split's held-out rows
source, class           the measure of the pooled scores of every setting
class                   the setting that is chosen, fitted on all rows

A source provides the columns: X itself, or an embedding. All classes share one source.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from scoresieve._arrays import FloatArray
from scoresieve._user_warnings import warn_user
from scoresieve.design import Design
from scoresieve.estimators.model import ChoiceTable, ClassModel
from scoresieve.estimators.progress import Reporter
from scoresieve.estimators.sieve.cross_fitting import ColumnSource, FoldScores, held_out_scores
from scoresieve.estimators.sieve.plan import Plan, fit_finals
from scoresieve.estimators.sieve.results import count_selections, tabulate
from scoresieve.estimators.sieve.scoring import (
    CVScorer,
    CVScores,
    RepeatedCVScorer,
    beats_constant,
    choose,
)
from scoresieve.estimators.sieve.splits import Parts
from scoresieve.measures import Measure
from scoresieve.solvers.limits import one_blas_thread
from scoresieve.solvers.row_weights import apply_weights


class HeldOut(NamedTuple):
    """Scores of the held-out rows by all settings of each source, for one class.

    Attributes
    ----------
    folds : list of list of FoldScores
        For each source and each split.
    scores : list of ndarray of shape (candidates, sizes, finals, n_rounds, n_samples)
        The same for all splits together.
    """

    scorer: RepeatedCVScorer
    folds: list[list[FoldScores]]
    scores: list[FloatArray]
    cv_scores: list[CVScores]


@dataclass(frozen=True, eq=False)
class SieveRun:
    """Everything that a run compares, and the data.

    Parameters
    ----------
    sources : sequence of ColumnSource
        One of them is chosen for all classes.
    """

    plan: Plan
    measure: Measure
    parts: Parts
    sources: Sequence[ColumnSource]

    def __post_init__(self) -> None:
        weights = self.parts.data.weights
        for y in self._labels():
            # k of "prec@k" is about all rows, each as often as it counts.
            self.measure.check(
                y if weights is None else apply_weights(self.measure, y, y, weights)[1]
            )

    @property
    def titles(self) -> list[str]:
        """The titles of the jobs, and of what follows them."""
        return [self._title(*job) for job in self._jobs()] + ["choice"]

    def run(
        self, reporters: Sequence[Reporter | None], n_jobs: int | None
    ) -> tuple[int, list[ClassModel]]:
        """Cross-fit, choose, and fit on all rows: the number of the source, and a model a class.

        Parameters
        ----------
        reporters : sequence of Reporter or None
            One per title; None without reports.
        """
        *of_jobs, of_choice = reporters
        labels, weights = self._labels(), self.parts.data.weights
        found = Parallel(n_jobs=n_jobs)(
            delayed(held_out_scores)(
                *(reporter, self.plan, self.sources[source], labels[problem], weights),
                self.parts.splits[split],
            )
            for reporter, (source, problem, split) in zip(of_jobs, self._jobs(), strict=True)
        )
        if of_choice is not None:
            of_choice.begin()
        n_splits, n_sources = len(self.parts.splits), len(self.sources)
        folds = [found[at : at + n_splits] for at in range(0, len(found), n_splits)]
        classes = [self._held_out(y, folds[at :: len(labels)]) for at, y in enumerate(labels)]
        # The source whose highest scores are highest on average over the classes.
        tops = [[each.cv_scores[at].scores.max() for each in classes] for at in range(n_sources)]
        best = int(np.argmax([np.mean(each) for each in tops]))
        X, models = self.sources[best].of_all(), []
        for problem, held_out in enumerate(classes):
            models.append(self._model(problem, held_out, best, X))
            if of_choice is not None:
                of_choice.say(self._said(problem, models[-1]))
        if of_choice is not None:
            of_choice.end()
        self._warn_of_constants(models)
        return best, models

    def _labels(self) -> list[FloatArray]:
        """-1 or +1 for each row, for each class against the rest."""
        return list(self.parts.data.targets.labels(self.parts.data.y))

    def _jobs(self) -> list[tuple[int, int, int]]:
        """Numbers of source, problem and split."""
        n_problems, n_splits = self.parts.data.targets.n_problems, len(self.parts.splits)
        return list(np.ndindex(len(self.sources), n_problems, n_splits))

    def _title(self, source: int, problem: int, split: int) -> str:
        settings = [f"{name}={value}" for name, value in self.sources[source].settings.items()]
        title = [*settings, f"class {self.parts.data.targets.name(problem)}", f"split {split}"]
        return ", ".join(title)

    def _held_out(self, y: FloatArray, folds: list[list[FoldScores]]) -> HeldOut:
        """One score for each row, round and setting, by models that have not seen the row."""
        parts, weights = self.parts, self.parts.data.weights
        rounds = [CVScorer(self.measure, y, weights, each) for each in parts.part_of]
        scorer, scores = RepeatedCVScorer(rounds), []
        for of_source in folds:
            scores.append(np.full((*self.plan.shape, *parts.part_of.shape), np.nan))
            for fold, at, split in zip(of_source, parts.round_of, parts.splits, strict=True):
                scores[-1][..., at, split.test] = fold.scores
        return HeldOut(scorer, folds, scores, [scorer.cv_scores(each) for each in scores])

    def _model(self, problem: int, held_out: HeldOut, best: int, X: Design) -> ClassModel:
        """The best setting of a class, fitted on all rows for each size up to the chosen one."""
        plan, source = self.plan, self.sources[best]
        settings, size = choose(held_out.cv_scores[best])
        table = tabulate(plan, self.sources, held_out.cv_scores)
        rows = [best * math.prod(plan.shape) + plan.row(k, *s) for k, s in enumerate(settings)]
        (at, final), scorer, smaller = settings[size], held_out.scorer, []
        with one_blas_thread():
            whole = plan.problem(X, scorer.y, self.parts.data.weights)
            path = plan.candidates[at].select(whole, plan.sizes[: size + 1])
            every = np.unique(np.concatenate([each.columns for each in path]))
            fits = [fit_finals([plan.finals[final]], whole, each, every)[0] for each in path]
        for k, (selected, (w, intercept)) in enumerate(zip(path, fits, strict=True)):
            scores = held_out.scores[best][at, k, final]
            slope, shift = sigmoid = scorer.sigmoid(scores)
            threshold = scorer.threshold(scores)
            model = ClassModel(
                selected.columns,
                slope * w,
                slope * intercept + shift,
                slope * threshold + shift,
                alarm_rate=scorer.alarm_rate(scores, threshold),
                C=plan.candidates[at].C,
                price=selected.price,
                n_positives=int(self.parts.n_positives[problem]),
                constant_score=scorer.rounds[0].constant_score,
                choice=ChoiceTable(table, rows[k]),
            )
            smaller.append(model)
        levels = scorer.threshold_table(scores, threshold, sigmoid)
        choice = ChoiceTable(table, rows[size], thresholds=levels)
        if source.has_same_columns:
            counts = count_selections(rows, settings, held_out.folds[best], X.n_columns)
            choice = replace(choice, smaller=tuple(smaller), folds=counts)
        return replace(model, choice=choice)

    def _warn_of_constants(self, models: Sequence[ClassModel]) -> None:
        """One warning about all classes that a constant predicts as well."""
        names = []
        for problem, model in enumerate(models):
            assert model.choice is not None
            row, table = model.choice.row, model.choice.table
            score, error = (float(table[f"{name}_test_score"][row]) for name in ("mean", "std"))
            if not beats_constant(score, error, model.constant_score):
                scores = f"{score:.3f} +- {error:.3f}, {model.constant_score:.3f}"
                names.append(f"{self.parts.data.targets.name(problem)} ({scores})")
        if names:
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            warn_user(
                f"class {', '.join(names[:5])}{more}: the model is no better than predicting a "
                f"constant (cross-validated {self.measure.name} +- its standard error, and that of "
                "the best constant). Give more rows or other columns."
            )

    def _said(self, problem: int, model: ClassModel) -> str:
        """The line about a class for stderr."""
        assert model.choice is not None
        name, chosen = self.parts.data.targets.name(problem), model.choice.params["selection"]
        score = f"{self.measure.name} {model.choice.score:.3f}"
        return f"class {name}: {model.columns.size} columns by {chosen}, cross-validated {score}"
