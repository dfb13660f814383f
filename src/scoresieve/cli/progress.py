"""One line on stderr that says how far a command is and how long it will take; none in scripts.

A fit may run in several processes, so that its progress goes through a file: each task that ends
adds a line to it, and a thread of the command reads them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Seconds between two looks.
PAUSE = 0.2


class ProgressLine:
    """``title: 40 %, 12 s left``, written over itself, and gone at the end."""

    def __init__(self, title: str, stream: Any = None) -> None:
        self._title, self._stream = title, stream or sys.stderr
        self._start = self._last = time.monotonic()
        self._width = 0

    def share(self, done: float) -> None:
        """Say how much is done, in [0, 1], unless the last word is fresh."""
        if time.monotonic() - self._last >= PAUSE:
            self.say(in_words(done, time.monotonic() - self._start))

    def say(self, text: str) -> None:
        """Write over what stands there."""
        line = f"{self._title}: {text}"
        self._stream.write(f"\r{line:<{self._width}}")
        self._stream.flush()
        self._last, self._width = time.monotonic(), len(line)

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            self._stream.write(f"\r{'':<{self._width}}\r")
            self._stream.flush()


def in_words(done: float, seconds: float) -> str:
    """How much is done, and how long the rest will take if it goes on so."""
    if done <= 0.0:
        return f"{seconds:.0f} s so far"
    left = seconds * (1.0 - done) / done
    return f"{100 * done:.0f} %, {left:.0f} s left"


def is_shown(quiet: bool) -> bool:
    """Whether somebody watches: stderr is a terminal."""
    return not quiet and sys.stderr.isatty()


@contextmanager
def progress_of_reading(title: str, quiet: bool) -> Iterator[Any]:
    """A callback for the share of a file that has been read, or None."""
    if not is_shown(quiet):
        yield None
        return
    line = ProgressLine(title)
    try:
        yield line.share
    finally:
        line.clear()


class TaskCounter:
    """A callback of scikit-learn that writes down what has ended: tasks, and rounds with a gap.

    Only the name of the file travels to other processes.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to close."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """The first task says how many there are."""
        if context.parent is None:
            self._add(f"total {context.max_subtasks}")

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> bool:
        """Write the end of a task down; never stop."""
        row = (metadata or {}).get("progress")
        if row is not None:
            self._add(f"gap {row.gap:.2g}")
        elif context.parent is not None and context.parent.parent is None:
            self._add("done")
        return False

    def _add(self, line: str) -> None:
        with open(self.path, "a", encoding="ascii") as file:
            file.write(f"{line}\n")


def fit_in_words(lines: list[str], seconds: float) -> str:
    """What the lines of a :class:`TaskCounter` say after so many seconds."""
    totals = [line.split()[1] for line in lines if line.startswith("total ")]
    total = int(totals[-1]) if totals and totals[-1].isdecimal() else 0
    done = lines.count("done") / total if total > 1 else 0.0
    gaps = [line for line in lines if line.startswith("gap ")]
    return ", ".join([in_words(done, seconds), *gaps[-1:]])


@contextmanager
def progress_of_fit(model: Any, title: str, quiet: bool) -> Iterator[None]:
    """Show how far the fit of a model is while the block runs."""
    if not is_shown(quiet):
        yield
        return
    handle, path = tempfile.mkstemp(prefix="scoresieve-progress-")
    os.close(handle)
    has_callbacks = hasattr(model, "set_callbacks")
    if has_callbacks:
        model.set_callbacks(TaskCounter(path))
    line, over = ProgressLine(title), threading.Event()
    watcher = threading.Thread(target=_watch, args=(line, path, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        line.clear()
        os.unlink(path)
        if has_callbacks:
            model.set_callbacks()


def _watch(line: ProgressLine, path: str, over: threading.Event) -> None:
    start = time.monotonic()
    while not over.wait(PAUSE):
        with open(path, encoding="ascii") as file:
            line.say(fit_in_words(file.read().splitlines(), time.monotonic() - start))
