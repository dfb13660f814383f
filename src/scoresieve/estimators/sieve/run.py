"""The run of a sieve: held-out scores of every setting, the choice, and the models of all rows.

source, class, split    one job: every setting, fitted without the split's held-out rows
source, class           the measure of the pooled scores of every setting
class                   the setting that is chosen, fitted on all rows

With a limit of time the first candidate is timed. By what it took there are fewer sources, then
fewer splits. Each job, the scores and the last fits have deadlines of their own, after which
settings are left out: what is compared is what all jobs have reached. Where time is left every row
is held out again.

A source provides the columns: X itself, or an embedding. All classes share one source.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from scoresieve._arrays import BoolArray, FloatArray
from scoresieve._user_warnings import warn_user
from scoresieve.design import Design
from scoresieve.estimators.model import ChoiceTable, ClassModel
from scoresieve.estimators.progress import Reporter
from scoresieve.estimators.sieve.cross_fitting import ColumnSource, FoldScores, held_out_scores
from scoresieve.estimators.sieve.plan import Plan, fit_finals
from scoresieve.estimators.sieve.results import count_selections, find_vetoes, tabulate
from scoresieve.estimators.sieve.scoring import (
    CVScorer,
    CVScores,
    RepeatedCVScorer,
    beats_constant,
    choose,
)
from scoresieve.estimators.sieve.splits import Parts
from scoresieve.measures import Measure
from scoresieve.solvers.limits import Deadline, one_blas_thread
from scoresieve.solvers.row_weights import apply_weights

#: Numbers of source, class and split.
Job = tuple[int, int, int]
#: The most of the time that is left that scores, and the last fits, may take.
SHARE_OF_SCORES, SHARE_OF_LAST_FITS = 0.3, 0.4
#: Candidates that a job has time for at least, of those that are as fast as the first.
FEWEST = 3
#: A round, and the last fits, may take this many times what they took so far.
MARGIN = 1.5


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
        jobs = _Jobs(self, dict(zip(self._jobs(), of_jobs, strict=True)), n_jobs)
        if self.plan.is_timed:
            done, last_fits = jobs.play_in_time()
        else:
            jobs.play(self._jobs(), self.plan.deadline)
            done, last_fits = self, 0.0
        if of_choice is not None:
            of_choice.begin()
        found = done._choose(jobs.found, last_fits, of_choice)
        if of_choice is not None:
            of_choice.end()
        return found

    def _choose(
        self, found: dict[Job, FoldScores], last_fits: float, reporter: Reporter | None
    ) -> tuple[int, list[ClassModel]]:
        """The source, and the model of each class, by the scores of all jobs.

        Parameters
        ----------
        last_fits : float
            Seconds to keep for the models.
        """
        labels, classes, deadline = self._labels(), [], self.plan.deadline
        for at, y in enumerate(labels):
            folds = [
                [found[source, at, split] for split in range(len(self.parts.splits))]
                for source in range(len(self.sources))
            ]
            share = (deadline.left - last_fits) / (len(labels) - at)
            classes.append(self._held_out(y, folds, deadline.within(max(0.0, share))))
        # The source whose highest scores are highest on average over the classes.
        tops = [
            np.mean([np.nanmax(each.cv_scores[at].scores) for each in classes])
            for at in range(len(self.sources))
        ]
        best = int(np.argmax(tops))
        X, models = self.sources[best].of_all(), []
        for problem, held_out in enumerate(classes):
            models.append(self._model(problem, held_out, best, X))
            if reporter is not None:
                reporter.say(self._said(problem, models[-1]))
        self._warn_of_constants(models)
        return best, models

    def _labels(self) -> list[FloatArray]:
        """-1 or +1 for each row, for each class against the rest."""
        return list(self.parts.data.targets.labels(self.parts.data.y))

    def _jobs(self) -> list[Job]:
        n_problems, n_splits = self.parts.data.targets.n_problems, len(self.parts.splits)
        return list(np.ndindex(len(self.sources), n_problems, n_splits))

    def _title(self, source: int, problem: int, split: int) -> str:
        settings = [f"{name}={value}" for name, value in self.sources[source].settings.items()]
        title = [*settings, f"class {self.parts.data.targets.name(problem)}", f"split {split}"]
        return ", ".join(title)

    def _held_out(
        self, y: FloatArray, folds: list[list[FoldScores]], deadline: Deadline
    ) -> HeldOut:
        """One score for each row, round and setting, by models that have not seen the row.

        Where time was over before all splits had been played, the rows that were held out.
        """
        parts, weights = self.parts, self.parts.data.weights
        rows = np.flatnonzero(parts.part_of[0] >= 0)
        measure = self.measure.of_share(rows.size / y.size)
        weights = None if weights is None else weights[rows]
        rounds = [CVScorer(measure, y[rows], weights, each[rows]) for each in parts.part_of]
        scorer, scores, place = RepeatedCVScorer(rounds), [], np.cumsum(parts.part_of[0] >= 0) - 1
        for of_source in folds:
            shape = *self.plan.shape, len(rounds), rows.size
            scores.append(np.full(shape, np.nan))
            for fold, at, split in zip(of_source, parts.round_of, parts.splits, strict=True):
                scores[-1][..., at, place[split.test]] = fold.scores
            reached = np.all([fold.reached for fold in of_source], axis=0)
            scores[-1][~reached] = np.nan
        found = []
        for at, each in enumerate(scores):
            share = deadline.left / (len(scores) - at)
            found.append(scorer.cv_scores(each, deadline.within(share)))
        return HeldOut(scorer, folds, scores, found)

    def _model(self, problem: int, held_out: HeldOut, best: int, X: Design) -> ClassModel:
        """The best setting of a class, fitted on all rows for each size up to the chosen one."""
        plan, source = self.plan, self.sources[best]
        settings, size = choose(held_out.cv_scores[best])
        table = tabulate(plan, self.sources, held_out.cv_scores)
        rows = [best * math.prod(plan.shape) + plan.row(k, *s) for k, s in enumerate(settings)]
        (at, final), scorer = settings[size], held_out.scorer
        smaller: list[ClassModel] = []
        until = plan.deadline.within(plan.deadline.left / (len(self._labels()) - problem))
        whole = plan.until(until).problem(X, self._labels()[problem], self.parts.data.weights)
        with one_blas_thread():
            least = size if whole.time_is_over else 0
            path = plan.candidates[at].select(whole, plan.sizes[least : size + 1])
            every = np.unique(np.concatenate([each.columns for each in path]))
        for k, selected in reversed(list(enumerate(path, least))):
            if smaller and whole.time_is_over:
                break
            with one_blas_thread():
                w, intercept = fit_finals([plan.finals[final]], whole, selected, every)[0]
            scores = held_out.scores[best][at, k, final]
            slope, shift = scorer.sigmoid(scores)
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
            if plan.candidates[at].C is None and plan.finals[final].C is None:
                block = whole.fetched.block(selected.columns)
                model = replace(model, vetoes=find_vetoes(block, w, intercept - threshold))
            smaller.append(model)
        scores = held_out.scores[best][at, size, final]
        levels = scorer.threshold_table(scores, scorer.threshold(scores), scorer.sigmoid(scores))
        choice = ChoiceTable(table, rows[size], thresholds=levels)
        if source.has_same_columns:
            counts = count_selections(rows, settings, held_out.folds[best], X.n_columns)
            choice = replace(choice, smaller=tuple(smaller[::-1]), folds=counts)
        return replace(smaller[0], choice=choice)

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


class _Jobs:
    """The jobs of a run: those that were played, and their results.

    Attributes
    ----------
    found : dict of Job to FoldScores
    """

    def __init__(
        self, run: SieveRun, reporters: dict[Job, Reporter | None], n_jobs: int | None
    ) -> None:
        self._run, self._reporters, self._n_jobs = run, reporters, n_jobs
        self._labels = run._labels()
        self.found: dict[Job, FoldScores] = {}

    def play(self, jobs: Sequence[Job], deadline: Deadline, *, is_reported: bool = True) -> None:
        """Fit and score without the held-out rows, each job until the deadline."""
        run = self._run
        found = Parallel(n_jobs=self._n_jobs)(
            delayed(held_out_scores)(
                self._reporters[job] if is_reported else None,
                run.plan.until(deadline, self._reached(job)),
                *(run.sources[job[0]], self._labels[job[1]], run.parts.data.weights),
                run.parts.splits[job[2]],
            )
            for job in jobs
        )
        self.found.update(zip(jobs, found, strict=True))

    def play_in_time(self) -> tuple[SieveRun, float]:
        """All jobs that there is time for.

        Returns
        -------
        run : SieveRun
            What was played of the run.
        last_fits : float
            Seconds that the models of all rows may take.
        """
        run, round_of, deadline = self._run, self._run.parts.round_of, self._run.plan.deadline
        n_splits = int(np.count_nonzero(round_of == 0))
        self.play([(0, 0, 0)], Deadline(0.0), is_reported=False)
        first, start = self.found[0, 0, 0], perf_counter()
        share = run.parts.splits[0].train.size / self._labels[0].size
        last_fits = MARGIN * first.seconds * len(self._labels) / share
        last_fits = min(last_fits, SHARE_OF_LAST_FITS * deadline.left)
        scores = self._seconds_of_scores(n_splits)
        left = deadline.left - last_fits
        room = left - min(scores, SHARE_OF_SCORES * left)
        jobs = self._of_splits(range(n_splits))
        while FEWEST * first.seconds * self._n_turns(len(jobs)) > room:
            if len(run.sources) > 1:
                run = self._run = replace(run, sources=run.sources[:-1])
            elif n_splits > 1:
                n_splits -= 1
            else:
                break
            jobs = self._of_splits(range(n_splits))
        if len(jobs) > 1 or room > first.seconds:
            self.found.clear()
            self._play_until(jobs, room)
        one_round, n_played = perf_counter() - start, n_splits
        n_rounds = int(round_of[-1]) + 1 if n_splits == np.count_nonzero(round_of == 0) else 1
        for number in range(1, n_rounds):
            splits = np.flatnonzero(round_of == number)
            room = deadline.left - last_fits - (number + 1) * scores
            if room < MARGIN * one_round:
                break
            jobs = self._of_splits(splits)
            self._play_until(jobs, room)
            before = {job: self.found[*job[:2], 0].reached for job in jobs}
            if not all(np.all(self.found[job].reached >= before[job]) for job in jobs):
                break
            n_played += splits.size
        return replace(run, parts=run.parts.first(n_played)), last_fits

    @property
    def _n_workers(self) -> int:
        return int(effective_n_jobs(self._n_jobs))

    def _n_turns(self, n_jobs: int) -> int:
        """How often each worker has a job."""
        return math.ceil(n_jobs / self._n_workers)

    def _of_splits(self, splits: Iterable[int]) -> list[Job]:
        """Jobs in the order in which there may be time for them."""
        sources, labels = range(len(self._run.sources)), range(len(self._labels))
        return [(s, p, int(split)) for split in splits for p in labels for s in sources]

    def _play_until(self, jobs: list[Job], seconds: float) -> None:
        """Play jobs in that time: each has what those before it have left.

        What another split of a class has not reached in time is not tried again.
        """
        n, n_turns, end = self._n_workers, self._n_turns(len(jobs)), perf_counter() + seconds
        for turn in range(n_turns):
            deadline = Deadline(max(0.0, end - perf_counter()) / (n_turns - turn))
            self.play(jobs[turn * n : (turn + 1) * n], deadline)

    def _reached(self, job: Job) -> BoolArray | None:
        """The settings that all splits of a source and a class have reached so far."""
        masks = [found.reached for each, found in self.found.items() if each[:2] == job[:2]]
        return np.all(masks, axis=0) if masks else None

    def _seconds_of_scores(self, n_splits: int) -> float:
        """What the scores of all settings and their errors take, by those of one."""
        plan, y, weights = self._run.plan, self._labels[0], self._run.parts.data.weights
        seen = self.found[0, 0, 0].scores[plan.turns[0], 0, 0]
        scorer = CVScorer(self._run.measure, y, weights, self._run.parts.part_of[0])
        start = perf_counter()
        scorer.at_best(np.resize(seen, y.size), np.arange(y.size))
        one = (1 + n_splits) * (perf_counter() - start)
        return one * math.prod(plan.shape) * len(self._labels) * len(self._run.sources)
