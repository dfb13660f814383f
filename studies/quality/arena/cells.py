"""One piece of work: a method on a task, for some k; its rows are the cells of the arena."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from scoresieve import get_measure
from studies.common.data import DataFolder, Missing
from studies.common.timing import timed
from studies.quality.arena.crossfit import (
    Candidate,
    Selections,
    choose,
    own_candidates,
    parts_of,
    refit_candidates,
    select_all,
)
from studies.quality.arena.methods import MAIN_KS, METHODS, TARGET_SETS, TARGETS, Method
from studies.quality.arena.sets import Task, load_task
from studies.quality.quiet import quiet_thread

#: What is measured on the test rows. Precision at k = P is PRBEP; therefore P / 2 is shown, too.
METRICS = (*TARGETS, "prec@p/2")


@dataclass(frozen=True)
class Unit:
    """What is done in one go.

    Attributes
    ----------
    name, label
        Set and class.
    method : str
    ks : tuple of int
    target : str
        What the method is trained for; methods that take none serve all measures in one unit.
    n_parts : int
        Of the cross-fitting.
    """

    name: str
    label: int
    method: str
    ks: tuple[int, ...]
    target: str
    n_parts: int

    @property
    def key(self) -> tuple[Any, ...]:
        """By which its rows are stored; another grid of settings is another unit."""
        settings = METHODS[self.method].settings
        return ("cells", *self.__dict__.values(), settings)


def play(folder: DataFolder, unit: Unit) -> list[dict[str, Any]]:
    """The rows of a unit."""
    return guarded(folder, unit, lambda task, unit: list(cells(task, METHODS[unit.method], unit)))


def guarded(
    folder: DataFolder, unit: Unit, work: Callable[[Task, Unit], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """What the work gives; one row that says why if it fails, so that others go on."""
    try:
        task = load_task(folder, unit.name, unit.label)
        if not METHODS[unit.method].can_run(task.X):
            return []
        with quiet_thread():
            # Columns are as the set has them, for every method.
            warnings.filterwarnings("ignore", message="columns of X differ", category=UserWarning)
            return work(task, unit)
    except Missing:
        raise
    except Exception:  # a rival may fail in ways of its own
        about = {"set": unit.name, "class": unit.label, "method": unit.method, "ks": unit.ks}
        return [{"kind": "failure", **about, "text": traceback.format_exc(limit=-2)}]


def is_out_of_date(rows: list[dict[str, Any]], changed: Sequence[str] = ()) -> bool:
    """Whether a piece of work failed, or is of a method that has changed."""
    return any(row["kind"] == "failure" or row["method"] in changed for row in rows)


def cells(task: Task, method: Method, unit: Unit) -> Iterator[dict[str, Any]]:
    """One row for each k, form and target."""
    parts = [] if method.tunes_itself else parts_of(task.y, unit.n_parts)
    selections = select_all(task, method, unit.ks, unit.target, parts)
    times = {
        "select_s": float(np.mean([each.seconds for each in selections])),
        "parts_s": sum(each.seconds + each.parts_seconds for each in selections),
        "ks_at_once": len(unit.ks) if method.one_run else 1,
    }
    for i, k in enumerate(unit.ks):
        about = task.about | {"kind": "cell", "k": k, "method": unit.method}
        targets = targets_at(method, unit, k)
        if method.tunes_itself:
            yield about | tuned_row(task, selections[0], i, unit.target) | times
            continue
        forms = {}
        if selections[0].of_all[i].own is not None:
            forms["own"] = own_candidates
        if method.has_refit:
            forms["refit"] = refit_candidates
        for form, make in forms.items():
            seconds, candidates = timed(
                lambda make=make, i=i: make(task, selections, i, parts), process_time
            )
            for number, target in enumerate(targets):
                more, row = timed(
                    lambda c=candidates, target=target: chosen_row(task, c, target), process_time
                )
                row |= {"form": form, "target": target, "refit_s": seconds + more}
                if number:
                    del row["support"]
                yield about | row | times


def targets_at(method: Method, unit: Unit, k: int) -> Sequence[str]:
    """What the candidates are chosen by."""
    if method.targets:
        return (unit.target,)
    return TARGETS if unit.name in TARGET_SETS and k in (0, *MAIN_KS) else TARGETS[:1]


def chosen_row(task: Task, candidates: list[Candidate], target: str) -> dict[str, Any]:
    """The test measures of the best candidate."""
    best = choose(candidates, task.y, target)
    scores = best.candidate.test() - best.threshold
    return {
        "cv": 100.0 * best.score,
        "chosen": best.candidate.name,
        "limit": best.candidate.pick.limit,
        **selected(task, best.candidate.pick.columns),
        **test_measures(task, scores),
    }


def tuned_row(task: Task, selections: Selections, i: int, target: str) -> dict[str, Any]:
    """The test measures of a model that has chosen everything by itself, its threshold being 0."""
    pick = selections.of_all[i]
    scores = pick.own(pick.block(task.test_by_column))
    row = {"form": "own", "target": target, "limit": pick.limit, "refit_s": 0.0}
    return row | selected(task, pick.columns) | test_measures(task, scores)


def selected(task: Task, columns: np.ndarray | None) -> dict[str, Any]:
    """How many columns, which, and how many of the true ones where they are known."""
    if columns is None:
        return {"n_features": task.X.shape[1], "support": ""}
    found = {"n_features": int(columns.size), "support": " ".join(map(str, columns))}
    if task.known_columns is not None:
        found["recovered"] = int(np.isin(task.known_columns, columns).sum())
    return found


def test_measures(task: Task, scores: np.ndarray) -> dict[str, float]:
    """In percent; F1 at the threshold 0. Of more rows than there are the recall is 100."""
    y = task.y_test
    names = [name for name in METRICS if name != "rec@2p" or 2 * np.sum(y > 0) <= y.size]
    found = {name: 100.0 * get_measure(name).score(y, scores) for name in names}
    return {"rec@2p": 100.0} | found
