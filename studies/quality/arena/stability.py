"""How alike the columns are that a method selects on half-samples of the training rows."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection import StratifiedShuffleSplit

from studies.common.data import DataFolder
from studies.quality.arena.cells import Unit, guarded
from studies.quality.arena.methods import METHODS
from studies.quality.arena.sets import Task
from studies.quality.arena.statistics import agreement

#: Where it is looked at: sets, and how many classes of each.
STABILITY_TASKS = {"reuters120": 3, "news20": 3, "dexter": 1, "image": 1}
N_HALVES = 5


def key_of(unit: Unit) -> tuple[Any, ...]:
    """By which its rows are stored."""
    return ("stability", unit.name, unit.label, unit.method, unit.ks)


def resample(folder: DataFolder, unit: Unit) -> list[dict[str, Any]]:
    """The rows of a unit, at the method's first setting."""
    return guarded(folder, unit, _rows)


def _rows(task: Task, unit: Unit) -> list[dict[str, Any]]:
    method = METHODS[unit.method]
    halves = StratifiedShuffleSplit(N_HALVES, train_size=0.5, random_state=0)
    picks = [
        method.select(task.X[rows], task.y[rows], unit.ks, method.settings[0], unit.target)
        for rows, _ in halves.split(task.y, task.y)
    ]
    found = []
    for i, k in enumerate(unit.ks):
        supports = [set(each[i].columns.tolist()) for each in picks]
        jaccard, kuncheva = agreement(supports, task.X.shape[1])
        about = task.about | {"kind": "stability", "method": unit.method, "k": k}
        found.append(about | {"jaccard": jaccard, "kuncheva": kuncheva})
    return found
