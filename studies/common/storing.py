"""Raw results: a file of JSON lines, one line for each piece of work; and whole files at once.

A line is ``{"key": settings, "result": ..., "seconds": ..., "warnings": [...], "versions": ...}``.
It is written and flushed as a whole as soon as its piece is done. After an interruption a run goes
on with the pieces that have no line; half a line at the end of a file is ignored and cut off.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import scoresieve


class Store:
    """``results[key]`` for pieces of work, kept in a file; a key is one line of JSON.

    Parameters
    ----------
    path : Path or None
        The file of JSON lines; its folder is made. None keeps them in memory only.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.lines: dict[str, dict[str, Any]] = {}
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._read()

    def __contains__(self, key: str) -> bool:
        return key in self.lines

    def result(self, key: str) -> Any:
        """What a piece of work found."""
        return self.lines[key]["result"]

    def _read(self) -> None:
        """Take over all whole lines, and cut off the rest of an interrupted write."""
        if not self.path.is_file():
            return
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        for line in whole.decode().splitlines():
            entry = json.loads(line)
            self.lines[json.dumps(entry["key"], sort_keys=True)] = entry

    def append(self, key: str, result: Any, seconds: float, warnings: list[str]) -> None:
        """Keep the result of a piece of work: one write of one line.

        Parameters
        ----------
        key : str
            JSON with sorted names.
        result : JSON values and numpy numbers
        seconds : float
        warnings : list of str
        """
        entry = {
            "key": json.loads(key),
            "result": plain(result),
            "seconds": round(seconds, 3),
            "warnings": warnings,
            "versions": versions(),
        }
        line = json.dumps(entry, allow_nan=False)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
                file.flush()
                os.fsync(file.fileno())
        # Read back what a later run would read, so that both make the same tables.
        self.lines[key] = json.loads(line)


def versions() -> dict[str, str]:
    """What the numbers depend on besides settings and machine."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "scoresieve": scoresieve.__version__,
    }


def plain(value: Any) -> Any:
    """Numbers, lists and dictionaries as JSON has them; infinity and NaN become None."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def write_atomically(path: Path, write: Callable[[Any], Any]) -> None:
    """Write beside the file and rename, so that nobody ever sees half of it.

    Parameters
    ----------
    path : Path
    write : callable
        Called with the open binary file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        Path(name).chmod(0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file as a whole."""
    write_atomically(path, lambda file: file.write(text.encode()))
