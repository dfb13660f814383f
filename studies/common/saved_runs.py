"""Tasks that are done once: a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from studies.common.progress import Progress, log
from studies.common.storing import Store
from studies.common.timing import timed

Task = Callable[[], list[dict]]
#: What is shown of a key.
LONGEST = 100


def run_saved(
    tasks: Iterable[tuple[Any, Task]],
    state: Path | None,
    n_jobs: int,
    costs: Sequence[float] | None = None,
    only_stored: bool = False,
    is_old: Callable[[list[dict]], bool] = lambda rows: False,
) -> list[dict]:
    """Rows of all tasks; those in the state file are not run again.

    Parameters
    ----------
    tasks : iterable of (key, callable)
        Each callable gives a list of rows.
    state : Path or None
        The file of a :class:`Store`, to which the tasks that are done are added.
    n_jobs : int
        Tasks at a time.
    costs : sequence of float, optional
        Expected seconds of the tasks, for an estimate of the time left.
    only_stored : bool
        Run nothing: the rows that the state file has.
    is_old : callable
        Whether the rows of a task are not to be taken; then it is run again.
    """
    tasks = [(json.dumps(key), task) for key, task in tasks]
    cost_of = dict(zip((key for key, _ in tasks), costs or [1.0] * len(tasks), strict=True))
    store = Store(state)
    missing = [(key, task) for key, task in tasks if key not in store or is_old(store.result(key))]
    if only_stored:
        tasks, missing = [(key, task) for key, task in tasks if key in store], []
    log(f"{len(tasks)} tasks, {len(tasks) - len(missing)} of them done before")
    progress = Progress("tasks", [cost_of[key] for key, _ in missing], n_jobs)
    answers = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_keyed)(key, task) for key, task in missing
    )
    for key, seconds, rows in answers:
        store.append(key, rows, seconds, [])
        progress.step(cost_of[key], str(json.loads(key))[:LONGEST], seconds)
    return [row for key, _ in tasks for row in store.result(key)]


def _keyed(key: str, task: Task) -> tuple[str, float, list[dict]]:
    return key, *timed(task)
