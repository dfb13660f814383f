"""What a command says on stdout: tables for people, JSON for machines."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any


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


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns with a heading each, numbers to the right and text to the left."""
    cells = [[_cell(value) for value in row] for row in rows]
    is_text = [any(isinstance(value, str) for value in column) for column in _columns(rows)]
    is_text = is_text or [True] * len(headings)
    widths = [max(map(len, column)) for column in _columns([list(headings), *cells])]
    lines = [
        "  ".join(
            text.ljust(width) if left else text.rjust(width)
            for text, width, left in zip(row, widths, is_text, strict=True)
        ).rstrip()
        for row in [list(headings), *cells]
    ]
    return "\n".join(lines) + "\n"


def _columns(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*rows, strict=True))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4g}"
    return "-" if value is None else str(value)
