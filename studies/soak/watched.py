"""A child process that may use little memory, in which nothing may be run that a file brought."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from studies.common.progress import log
from studies.soak.tally import Clock, Run, Tally

#: Bytes beyond those that the child has when it begins.
ALLOWANCE = 512 * 2**20
#: Cases between two reports of progress.
REPORT_EVERY = 5000
#: What a loader never does: each would be code or a way out.
FORBIDDEN = (
    *("pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen"),
    *("socket.__new__", "socket.connect", "ctypes.dlopen"),
)
#: What others may open: the interpreter its modules, joblib the number of cores.
FINE = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]), "/proc", "/sys/fs/cgroup")


class Loader(Protocol):
    """One way into the package, and the files that try it."""

    name: str

    def prepare(self, folder: Path) -> None:
        """Write the valid files that cases are made of; called once."""

    def try_one(self, source: Any, number: int, tally: Tally) -> None:
        """Make a file, load it and use what came of it; count the outcome."""


class Watch:
    """Whether something forbidden happened, as the interpreter itself reports it."""

    def __init__(self, folder: Path) -> None:
        self.is_on, self.seen = False, []
        self._folder = str(folder)
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple) -> None:
        if not self.is_on:
            return
        if event in FORBIDDEN:
            self.seen.append(event)
        elif event == "open" and isinstance(arguments[0], str | bytes):
            path = os.fsdecode(arguments[0])
            if not path.startswith((self._folder, *FINE)):
                self.seen.append(f"open {path}")

    def taken(self) -> list[str]:
        """What was seen since the last call."""
        seen, self.seen = self.seen, []
        return seen


def run_watched(make: Callable[[], Loader], run: Run, folder: Path) -> Tally:
    """Do the cases in a child; if one ends it, count that and go on behind it in another child."""
    context = multiprocessing.get_context("spawn")
    clock, total = Clock(run), Tally(make().name)
    first, last = run.first, run.first + run.cases
    while first < last and clock.spent() < run.seconds:
        here, there = context.Pipe(duplex=False)
        at = context.Value("q", first)
        left = replace(run, first=first, cases=last - first, seconds=run.seconds - clock.spent())
        child = context.Process(target=_cases, args=(make, left, folder, at, there))
        child.start()
        there.close()
        try:
            # One tally for each case, so that a crash takes none of them with it.
            while (case := here.recv()) is not None:
                total.add(case)
            first = last
        except EOFError:
            child.join()
            total.fail(at.value, f"the process ended with code {child.exitcode}")
            first = at.value + 1
        child.join()
    return total


def _cases(make: Callable[[], Loader], run: Run, folder: Path, at: Any, answer: Any) -> None:
    """What the child does."""
    loader = make()
    loader.prepare(folder)
    for number in range(3):  # lazy imports and caches come first
        loader.try_one(run.source(number), number, Tally("warm-up"))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ALLOWANCE, used + ALLOWANCE))
    watch, n_failures = Watch(folder), 0
    for number in Clock(run).numbers():
        at.value, tally = number, Tally(loader.name)
        watch.is_on = True
        try:
            loader.try_one(run.source(number), number, tally)
        except BaseException as error:
            tally.fail(number, f"{type(error).__module__}.{type(error).__name__}: {error}")
        watch.is_on = False
        if events := watch.taken():
            tally = Tally(loader.name)
            tally.fail(number, f"forbidden: {', '.join(events)}")
        answer.send(tally)
        n_failures += tally.n_failures
        if (number + 1) % REPORT_EVERY == 0:
            log(f"{loader.name}: {number + 1} cases, {n_failures} failures")
    answer.send(None)
