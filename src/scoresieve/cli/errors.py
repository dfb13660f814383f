"""What is wrong, in one line: the data, or the use of a command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class BadData(ValueError):
    """A file does not hold what it must; the message names the file and says what to do."""


class WrongUse(ValueError):
    """The options do not fit the file; the message names an option."""


@contextmanager
def naming(file: str) -> Iterator[None]:
    """What the library has to say against the content of a file begins with its name."""
    try:
        yield
    except ValueError as error:
        advice = "; give more rows, or fewer parts with --cv 2" if "n_splits" in str(error) else ""
        raise BadData(f"{file}: {one_line(error).rstrip('.')}{advice}.") from error


def one_line(text: object) -> str:
    """A message without line breaks."""
    return " ".join(str(text).split())


def listed(names: Iterable[object], most: int = 8) -> str:
    """The first of many names, for a message."""
    texts = [str(name) for name in names]
    shown = ", ".join(texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"
