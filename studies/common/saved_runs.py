"""Tasks that are done once: a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from joblib import Parallel, delayed

from studies.common.progress import log
from studies.common.storing import Store
from studies.common.timing import timed

Task = Callable[[], list[dict]]


def run_saved(tasks: Iterable[tuple[str, Task]], state: Path | None, n_jobs: int) -> list[dict]:
    """Rows of all tasks; those in the state file are not run again.

    Parameters
    ----------
    tasks : iterable of (key, callable)
        Each callable gives a list of rows.
    state : Path or None
        The file of a :class:`Store`, to which the tasks that are done are added.
    n_jobs : int
        Tasks at a time.
    """
    tasks = [(json.dumps(key), task) for key, task in tasks]
    store = Store(state)
    missing = [(key, task) for key, task in tasks if key not in store]
    log(f"{len(tasks)} tasks, {len(tasks) - len(missing)} of them done before")
    answers = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_keyed)(key, task) for key, task in missing
    )
    for number, (key, seconds, rows) in enumerate(answers, start=1):
        store.append(key, rows, seconds, [])
        log(f"{number} of {len(missing)}: {json.loads(key)}")
    return [row for key, _ in tasks for row in store.result(key)]


def _keyed(key: str, task: Task) -> tuple[str, float, list[dict]]:
    return key, *timed(task)
