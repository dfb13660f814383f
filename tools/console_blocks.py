"""Console blocks of a document: commands, and what they print.

``python tools/console_blocks.py docs/command_line.md examples/command_line`` runs the commands of a
document in a copy of a folder and writes what they print below them.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NUMBER_OR_SPACE = re.compile(r"([-+]?\d+\.\d+(?:e[-+]?\d+)?|\s+)")


class Command(NamedTuple):
    """A line after ``$``, and the lines that follow it."""

    line: str
    output: str


def commands_of(document: str) -> list[Command]:
    """All commands of all blocks, in order."""
    return [command for block in _BLOCK.findall(document) for command in _commands(block)]


def _commands(block: str) -> list[Command]:
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [Command(*part.partition("\n")[::2]) for part in parts]


def filled(document: str, run: Callable[[str], str]) -> str:
    """The document with what ``run(line)`` gives below each command."""

    def fill(found: re.Match) -> str:
        outputs = [f"$ {line}\n{run(line)}" for line, _ in _commands(found[1])]
        return f"```console\n{''.join(outputs)}```"

    return _BLOCK.sub(fill, document)


def same_output(expected: str, found: str, rtol: float = 0.02) -> bool:
    """Whether words are the same, and numbers almost: last digits depend on the machine."""
    texts = [_NUMBER_OR_SPACE.split(text.strip()) for text in (expected, found)]
    first, second = ([part for part in text if part.strip()] for text in texts)
    return len(first) == len(second) and all(
        _same(one, other, rtol) for one, other in zip(first, second, strict=True)
    )


def _same(expected: str, found: str, rtol: float) -> bool:
    try:
        return math.isclose(float(expected), float(found), rel_tol=rtol, abs_tol=1e-3)
    except ValueError:
        return expected == found


def in_a_shell(line: str, folder: Path | None = None) -> str:
    """What a shell prints, for which ``scoresieve`` is that of this interpreter."""
    script = f'scoresieve() {{ "{sys.executable}" -m scoresieve.cli "$@"; }}\n{line}'
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, cwd=folder
    )
    return done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(options.folder, Path(folder) / "copy")
        text = options.document.read_text(encoding="utf-8")
        new = filled(text, lambda line: in_a_shell(line, copy))
    options.document.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
