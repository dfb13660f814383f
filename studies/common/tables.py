"""Tables: the same rows as CSV and as Markdown, in files or on the terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.common.storing import write_text


@dataclass(frozen=True)
class Table:
    """Rows below a head, with a name for its file and a caption.

    Attributes
    ----------
    name : str
        Of the files, without an ending.
    caption : str
    head : sequence of str
    rows : sequence of sequence
        Text, or numbers that are already rounded; None for an empty cell.
    n_left : int
        How many of the first columns are text.
    """

    name: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    n_left: int = 1

    def markdown(self) -> str:
        """The table alone; numbers are aligned right."""
        return markdown(self.head, self.rows, self.n_left)

    def write(self, folder: Path) -> None:
        """``name.csv`` and ``name.md``."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerows([cell(entry) for entry in row] for row in (self.head, *self.rows))
        write_text(folder / f"{self.name}.csv", buffer.getvalue())
        write_text(folder / f"{self.name}.md", f"{self.caption}\n\n{self.markdown()}")


def markdown(head: Sequence[str], rows: Sequence[Sequence[Any]], n_left: int = 1) -> str:
    """A Markdown table; the first ``n_left`` columns are text, the others are aligned right."""
    lines = [[cell(entry) for entry in row] for row in (head, *rows)]
    widths = [max(3, *(len(line[j]) for line in lines)) for j in range(len(head))]
    marks = [
        "-" * width if j < n_left else "-" * (width - 1) + ":" for j, width in enumerate(widths)
    ]
    text = []
    for line in (lines[0], marks, *lines[1:]):
        cells = [
            entry.ljust(width) if j < n_left else entry.rjust(width)
            for j, (entry, width) in enumerate(zip(line, widths, strict=True))
        ]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def print_table(head: Sequence[str], rows: Sequence[Sequence[Any]], *, n_left: int = 1) -> None:
    """A Markdown table on stdout, with an empty line below it."""
    print(markdown(head, rows, n_left), flush=True)


def print_note(text: str) -> None:
    """One line below a table."""
    print(f"* {text}", flush=True)


def pass_or_fail(passed: bool) -> str:
    """How a target stands."""
    return "PASS" if passed else "FAIL"


def cell(entry: Any) -> str:
    """A cell's text."""
    return "" if entry is None else str(entry)


def number(value: float | None, digits: int = 2) -> str | None:
    """A number with so many digits after the point; None stays None."""
    return None if value is None else f"{value:.{digits}f}"
