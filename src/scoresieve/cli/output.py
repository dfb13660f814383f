"""Output of a command: results on stdout, and on a terminal progress on stderr.

Results are tables for people and JSON for machines. A fit may run in several processes, so that its
progress goes through a file: each task that ends adds a line to it, and a thread of the command
reads them.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scoresieve.cli.errors import BadData

#: Seconds between two looks at how far a command is.
PAUSE = 0.2


class ClosedPipe(Exception):
    """Whoever read stdout has gone, as ``head`` does."""


def write(text: str) -> None:
    """Text to stdout."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError as error:
        raise ClosedPipe from error


def flush() -> None:
    """All of it, now."""
    try:
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise ClosedPipe from error


def write_json(value: Any) -> None:
    """One JSON document; what is no number is null."""
    write(json.dumps(_plain(value), indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def json_line(value: Any) -> str:
    """One line of JSON."""
    return json.dumps(_plain(value), allow_nan=False, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    """Values of NumPy and their containers as those of JSON."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | set | range):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def write_table(rows: Sequence[dict[str, Any]]) -> None:
    """A column for each key, numbers to the right and text to the left."""
    columns = list(zip(*(row.values() for row in rows), strict=True))
    is_text = [any(isinstance(value, str) for value in column) for column in columns]
    lines = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            text.ljust(width) if left else text.rjust(width)
            for text, width, left in zip(line, widths, is_text, strict=True)
        ]
        write(f"{'  '.join(cells).rstrip()}\n")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4g}"
    return "-" if value is None else str(value)


def check_output(path: str | None) -> None:
    """Refuse a name that could not be written, before a fit takes its time."""
    if path is None:
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise BadData(f"{path}: this is a folder; give -o the name of a file.")
    if not os.path.isdir(folder):
        raise BadData(f"{path}: there is no folder {folder}; make it first.")
    if not os.access(folder, os.W_OK):
        raise BadData(f"{path}: no permission to write to {folder}; choose another folder.")


class ProgressLine:
    """``title: 40 %, 12 s left``, written over itself, and gone at the end."""

    def __init__(self, title: str, stream: Any = None) -> None:
        self._title, self._stream = title, stream or sys.stderr
        self._start = self._last = time.monotonic()
        self._width = 0

    def share(self, done: float) -> None:
        """Show how much is done, in [0, 1], at most once in ``PAUSE`` seconds."""
        if time.monotonic() - self._last >= PAUSE:
            self.show(time_left(done, time.monotonic() - self._start))

    def show(self, text: str) -> None:
        """Replace the text of the line."""
        line = f"{self._title}: {text}"
        self._stream.write(f"\r{line:<{self._width}}")
        self._stream.flush()
        self._last, self._width = time.monotonic(), len(line)

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            self._stream.write(f"\r{'':<{self._width}}\r")
            self._stream.flush()


def time_left(done: float, seconds: float) -> str:
    """How much is done, and how long the rest will take if it goes on so."""
    if done <= 0.0:
        return f"{seconds:.0f} s so far"
    left = seconds * (1.0 - done) / done
    return f"{100 * done:.0f} %, {left:.0f} s left"


def _is_shown(quiet: bool) -> bool:
    """Whether somebody watches: stderr is a terminal."""
    return not quiet and sys.stderr.isatty()


@contextmanager
def progress_of_reading(file: str | None, quiet: bool) -> Iterator[Any]:
    """A callback for the share of a file that has been read, or None."""
    if not _is_shown(quiet):
        yield None
        return
    line = ProgressLine(f"reading {file}")
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
        """Write down how many tasks there are when the first one begins."""
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


def state_of_fit(lines: list[str], seconds: float) -> str:
    """The progress that the lines of a :class:`TaskCounter` show after ``seconds``."""
    totals = [line.split()[1] for line in lines if line.startswith("total ")]
    total = int(totals[-1]) if totals and totals[-1].isdecimal() else 0
    done = lines.count("done") / total if total > 1 else 0.0
    gaps = [line for line in lines if line.startswith("gap ")]
    return ", ".join([time_left(done, seconds), *gaps[-1:]])


@contextmanager
def progress_of_fit(model: Any, quiet: bool) -> Iterator[None]:
    """Show how far the fit of a model is while the block runs."""
    if not _is_shown(quiet):
        yield
        return
    handle, path = tempfile.mkstemp(prefix="scoresieve-progress-")
    os.close(handle)
    has_callbacks = hasattr(model, "set_callbacks")
    if has_callbacks:
        model.set_callbacks(TaskCounter(path))
    line, over = ProgressLine("fitting"), threading.Event()
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
            line.show(state_of_fit(file.read().splitlines(), time.monotonic() - start))
