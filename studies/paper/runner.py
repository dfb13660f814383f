"""Units of work: those that are not stored yet are done, in one process or several."""

from __future__ import annotations

import importlib
import multiprocessing
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from time import perf_counter
from typing import Any

from threadpoolctl import threadpool_limits

from studies.common.progress import Progress
from studies.common.storing import Store
from studies.paper.context import Context, Unit

Done = tuple[Unit, Any, float, list[str]]


class Results:
    """The results of the units of a plan, whether they are of this run or of an earlier one.

    Parameters
    ----------
    context : Context
    units : list of Unit
    store : Store
    """

    def __init__(self, context: Context, units: list[Unit], store: Store) -> None:
        keys = [unit.key(context) for unit in units]
        self._found = [
            (unit, store.lines[key]) for unit, key in zip(units, keys, strict=True) if key in store
        ]
        self.seconds = sum(entry["seconds"] for _, entry in self._found)

    def __len__(self) -> int:
        return len(self._found)

    def select(self, task: str, **settings: Any) -> list[tuple[dict[str, Any], Any]]:
        """(settings, result) of each unit of a task with these settings, in the plan's order."""
        return [
            (dict(unit.settings), entry["result"])
            for unit, entry in self._found
            if unit.task == task
            and all(unit.settings.get(name) == value for name, value in settings.items())
        ]

    def values(self, task: str, **settings: Any) -> list[Any]:
        """The results alone."""
        return [result for _, result in self.select(task, **settings)]


def found_sets(available: list[str], collect: Callable[[str], Any]) -> dict[str, Any]:
    """``collect(data)`` of each data set that has something to show.

    Parameters
    ----------
    available : list of str
    collect : callable
    """
    return {data: found for data in available if (found := collect(data))}


def run_units(
    module: str, context: Context, units: list[Unit], store: Store, *, jobs: int | None = None
) -> None:
    """Do the units that have no stored result, and store each as soon as it is done.

    Parameters
    ----------
    module : str
        The experiment's name.
    context : Context
    units : list of Unit
    store : Store
    jobs : int, optional
        Processes at a time; those of the context by default. Timed experiments take one.
    """
    jobs = context.jobs if jobs is None else jobs
    missing = [unit for unit in units if unit.key(context) not in store]
    if not missing:
        return
    costs = [unit.cost for unit in missing]
    progress = Progress(module, costs, jobs, len(units) - len(missing))
    for unit, result, seconds, messages in finished(module, context, missing, jobs):
        store.append(unit.key(context), result, seconds, messages)
        progress.step(unit.cost, describe(unit), seconds)


def finished(module: str, context: Context, units: list[Unit], jobs: int) -> Iterator[Done]:
    """Each unit with its result, as soon as it is done."""
    if jobs == 1:
        for unit in units:
            yield do(module, context, unit)
        return
    methods = multiprocessing.get_all_start_methods()
    method = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(jobs, mp_context=method) as pool:
        waiting = [pool.submit(do, module, context, unit) for unit in units]
        try:
            for future in as_completed(waiting):
                yield future.result()
        except BaseException:
            for future in waiting:
                future.cancel()
            # A unit takes minutes, for which nobody who stops a run wants to wait.
            for process in set(multiprocessing.active_children()).difference(others):
                process.terminate()
            raise


def do(module: str, context: Context, unit: Unit) -> Done:
    """One unit, with one BLAS thread; what it warned of is returned, not shown."""
    task = importlib.import_module(f"{__package__}.{module}").TASKS[unit.task]
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = perf_counter()
        result = task(context, **unit.settings)
        seconds = perf_counter() - begin
    return unit, result, seconds, sorted({str(warning.message) for warning in caught})


def describe(unit: Unit) -> str:
    """A few words for a line of progress."""
    short = [
        f"{name} {value}" for name, value in unit.settings.items() if not isinstance(value, list)
    ]
    return ", ".join([unit.task, *short[:5]])
