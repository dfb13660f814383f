"""Files and folders that are there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replaced(path: str | os.PathLike) -> Iterator[IO[bytes]]:
    """A new file beside ``path``, which is put in its place once it is complete and on the disk.

    If anything fails, the old file is as it was and the new one is gone. Errors of the system, such
    as a full disk or a folder without permission, name ``path``.
    """
    path = os.path.realpath(path)
    unfinished = _unfinished(path)
    try:
        # A plain open, unlike mkstemp, gives the permissions that every other file of the user has.
        with open(unfinished, "xb") as stream:
            yield stream
            synced(stream)
        os.replace(unfinished, path)
    except BaseException as error:
        # Also when a signal ends the program between any two of these lines.
        with suppress(FileNotFoundError, PermissionError):
            os.unlink(unfinished)
        _name_the_place(error, path, unfinished)
        raise


@contextmanager
def new_folder(path: str | os.PathLike) -> Iterator[Path]:
    """A folder beside ``path``, which gets that name once the block has ended without an error.

    If anything fails, the folder and all that is in it are gone. ``path`` must not exist: a folder
    with files cannot be replaced in one step.
    """
    path = os.path.realpath(path)
    if os.path.lexists(path):
        raise FileExistsError(
            f"{path!r} exists; give the name of a new folder, or remove this one first."
        )
    unfinished = _unfinished(path)
    try:
        os.mkdir(unfinished)
        yield Path(unfinished)
        os.rename(unfinished, path)
    except BaseException as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        _name_the_place(error, path, unfinished)
        raise


def synced(stream: IO[bytes]) -> None:
    """Wait until the file is on the disk."""
    stream.flush()
    os.fsync(stream.fileno())


def _unfinished(path: str) -> str:
    return f"{path}.{secrets.token_hex(8)}.tmp"


def _name_the_place(error: BaseException, path: str, unfinished: str) -> None:
    """Raise an error of writing anew, with the name that the user gave and what to do.

    Errors of other files, which have names of their own, are left as they are.
    """
    if not isinstance(error, OSError) or error.errno is None:
        return
    if error.filename not in (None, unfinished):
        return
    advice = "free space, or choose another disk"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        advice = "choose a folder that you may write to"
    folder = os.path.dirname(path)
    if error.errno == errno.ENOENT and not os.path.isdir(folder):
        advice = f"make the folder {folder!r} first"
    message = f"cannot write it: {error.strerror}. Nothing is changed; {advice}"
    raise OSError(error.errno, message, path) from error
