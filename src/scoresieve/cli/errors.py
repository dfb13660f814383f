"""What is wrong, in one line: the data, or the use of a command."""

from __future__ import annotations


class BadData(ValueError):
    """A file does not hold what it must; the message names the file and says what to do."""


class WrongUse(ValueError):
    """The options do not fit the file; the message names an option."""


def one_line(text: object) -> str:
    """A message without line breaks."""
    return " ".join(str(text).split())


def listed(names: object, most: int = 8) -> str:
    """The first of many names, for a message."""
    texts = [str(name) for name in names]  # type: ignore[attr-defined]
    shown = ", ".join(texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"
