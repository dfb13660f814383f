"""Files that a command writes: looked at before the work, and complete or not there."""

from __future__ import annotations

import os

from scoresieve._files import replaced
from scoresieve.cli.errors import BadData

__all__ = ["check_new_folder", "check_output", "replaced", "write_text"]


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
        raise BadData(f"{path}: the folder {folder} cannot be written to; choose another one.")


def check_new_folder(path: str) -> None:
    """Refuse a folder that is there already, or that could not be made."""
    if os.path.lexists(path):
        raise BadData(
            f"{path}: it exists; give the name of a new folder, or remove that one first."
        )
    check_output(path.rstrip("/"))


def write_text(path: str, text: str) -> None:
    """All of the text, or the file as it was."""
    with replaced(path) as stream:
        stream.write(text.encode("utf-8"))
