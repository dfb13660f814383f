"""Candidates, and the choice among them: everything by scores of rows that a model has not seen.

For each of five parts of the training rows a selector sees the other four, and so do the refits on
its columns; the scores of the five parts together are cross-fitted. The threshold of a candidate is
the best one for F1 on its cross-fitted scores, and the candidate with the best measure of these is
chosen. Its model for the test rows is the one of all training rows, the selection included. The
same for every method; the parts are the same, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from scoresieve import get_measure
from studies.common.thresholds import best_threshold
from studies.common.timing import timed
from studies.quality.arena.methods import Method
from studies.quality.arena.picks import Pick
from studies.quality.arena.refits import LOSSES, Linear, balanced, fit_path, merge_rows
from studies.quality.arena.sets import Task

#: The C of the refits, and their kinds: the loss and whether classes are balanced.
REFIT_CS = (0.1, 1.0, 10.0, 100.0)
KINDS = tuple(product(LOSSES, (False, True)))

Part = tuple[np.ndarray, np.ndarray]


class Candidate(NamedTuple):
    """A model that may be chosen.

    Attributes
    ----------
    name : str
        Its settings.
    scores : ndarray of shape (n_samples,)
        Cross-fitted, of the training rows.
    test : callable
        Scores of the test rows by the model of all training rows.
    pick : Pick
        Of all training rows.
    """

    name: str
    scores: np.ndarray
    test: Callable[[], np.ndarray]
    pick: Pick


@dataclass(frozen=True)
class Selections:
    """The selections of a method at one setting: ``of_parts[part][i]`` and ``of_all[i]`` for k_i.

    Attributes
    ----------
    of_parts, of_all : lists of Pick
    setting : Any
    seconds, parts_seconds : float
        Of the selection on all rows, and of those on the parts; of the process, which others
        disturb less than a clock.
    """

    of_parts: list[list[Pick]]
    of_all: list[Pick]
    setting: Any
    seconds: float
    parts_seconds: float


def parts_of(y: np.ndarray, n_parts: int) -> list[Part]:
    """(rows to learn from, rows held out), the same for all methods."""
    folds = StratifiedKFold(n_parts, shuffle=True, random_state=0)
    return list(folds.split(np.zeros(y.size), y))


def select_all(
    task: Task, method: Method, ks: Sequence[int], target: str, parts: list[Part]
) -> list[Selections]:
    """The selections at every setting, on all rows and on all but one part."""
    found = []
    for setting in method.settings:

        def select(rows: Any, setting: Any = setting) -> list[Pick]:
            return method.select(task.X[rows], task.y[rows], ks, setting, target)

        seconds, of_all = timed(lambda select=select: select(slice(None)), process_time)
        parts_seconds, of_parts = timed(
            lambda select=select: [select(learned) for learned, _ in parts], process_time
        )
        found.append(Selections(of_parts, of_all, setting, seconds, parts_seconds))
    return found


def own_candidates(
    task: Task, selections: list[Selections], i: int, parts: list[Part]
) -> list[Candidate]:
    """The selector's own models with its i-th k, one for each setting."""
    candidates = []
    for each in selections:
        scores = np.zeros(task.y.size)
        for (_, held), picks in zip(parts, each.of_parts, strict=True):
            pick = picks[i]
            X = task.X if pick.columns is None else task.by_column
            scores[held] = pick.own(pick.block(X)[held])
        pick = each.of_all[i]
        candidates.append(Candidate(f"{each.setting}", scores, _own_test(task, pick), pick))
    return candidates


def _own_test(task: Task, pick: Pick) -> Callable[[], np.ndarray]:
    return lambda: pick.own(pick.block(task.test_by_column))


def refit_candidates(
    task: Task, selections: list[Selections], i: int, parts: list[Part]
) -> list[Candidate]:
    """Every refit on the columns of every setting."""
    candidates = []
    for each in selections:
        scores = np.zeros((len(KINDS), len(REFIT_CS), task.y.size))
        for (learned, held), picks in zip(parts, each.of_parts, strict=True):
            block = picks[i].block(task.by_column)
            models = refit(block[learned], task.y[learned])
            for kind, C in np.ndindex(*scores.shape[:2]):
                scores[kind, C, held] = models[kind][C](block[held])
        pick = each.of_all[i]
        for kind, C in np.ndindex(*scores.shape[:2]):
            loss, is_balanced = KINDS[kind]
            name = f"{each.setting}, {loss}{', balanced' * is_balanced}, C = {REFIT_CS[C]:g}"
            test = _refit_test(task, pick, kind, C)
            candidates.append(Candidate(name, scores[kind, C], test, pick))
    return candidates


def refit(block: np.ndarray, y: np.ndarray, kinds: Sequence[int] | None = None) -> Any:
    """``models[kind][C]`` on dense columns, for all kinds or for some.

    Parameters
    ----------
    block : ndarray of shape (n_samples, k)
    y : ndarray of shape (n_samples,)
    kinds : sequence of int, optional
        Positions in ``KINDS``.
    """
    rows = merge_rows(block, y)
    models: dict[int, list[Linear]] = {}
    for kind in range(len(KINDS)) if kinds is None else kinds:
        loss, is_balanced = KINDS[kind]
        weighted = balanced(rows) if is_balanced else rows
        models[kind] = fit_path(weighted, LOSSES[loss], REFIT_CS)
    return models


def _refit_test(task: Task, pick: Pick, kind: int, C: int) -> Callable[[], np.ndarray]:
    def test() -> np.ndarray:
        model = refit(pick.block(task.by_column), task.y, [kind])[kind][C]
        return model(pick.block(task.test_by_column))

    return test


class Chosen(NamedTuple):
    """The best candidate, its threshold, and its measure on the cross-fitted scores."""

    candidate: Candidate
    threshold: float
    score: float


def choose(candidates: list[Candidate], y: np.ndarray, target: str) -> Chosen:
    """The candidate with the best measure at its threshold; of equal ones the first."""
    measure, best = get_measure(target), None
    for each in candidates:
        threshold = best_threshold(y, each.scores)
        score = measure.score(y, each.scores - threshold)
        if best is None or score > best.score:
            best = Chosen(each, threshold, score)
    return best
