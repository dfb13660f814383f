"""Errors and warnings as one line each on stderr: bad data, wrong use, and those of the library."""

from __future__ import annotations

import ast
import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

#: Arguments of the library in its messages, and the options that stand for them here.
_OPTIONS = {
    "pos_label": "--positive",
    "n_features_to_select": "-k",
    "n_instances_to_select": "-k",
    "max_time": "--max-time",
    "max_iter": "--max-time",
    "n_jobs": "--jobs",
}
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})\b(=?)")
#: Arguments that are lists of columns: ``drop=['a', 'b']`` is ``--drop a --drop b``.
_TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_COLUMNS = re.compile(rf"\b(drop|text|categorical)=(\[{_TEXT}(?:, {_TEXT})*\])")
_ANY_COLUMN = re.compile(r"\b(drop|text|categorical)=\[\.\.\.\]")
#: How the name of a file that is being written ends.
_UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.tmp$")
#: Optional packages, and the extra that brings them.
_EXTRAS = {"pandas": "cli", "pyarrow": "cli", "matplotlib": "plot"}
#: They are about code, which a user of commands does not write.
_ABOUT_CODE = (
    *(DeprecationWarning, PendingDeprecationWarning, FutureWarning),
    *(ImportWarning, ResourceWarning),
)


class BadData(ValueError):
    """A file does not hold what it must; the message names the file and a remedy."""


class WrongUse(ValueError):
    """The options do not fit the file; the message names an option."""


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Errors of the library about the content of a file begin with its name."""
    try:
        yield
    except ValueError as error:
        advice = "; give more rows, or fewer folds with --cv 2" if "n_splits" in str(error) else ""
        raise BadData(f"{file}: {one_line(error).rstrip('.')}{advice}.") from error


def one_line(text: object) -> str:
    """A message without line breaks."""
    return " ".join(str(text).split())


def listed(names: Iterable[object], most: int = 8) -> str:
    """The first of many names, for a message."""
    texts = [str(name) for name in names]
    shown = ", ".join(texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"


def explained(error: Exception) -> str:
    """One line: what is wrong, and what to do."""
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "scoresieve"
        return f"{one_line(error.format_message())} See {path} --help."
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRAS:
        extra = _EXTRAS[error.name]
        return f'the package {error.name} is missing; pip install "scoresieve[{extra}]"'
    if isinstance(error, OSError) and error.filename is not None:
        name = _UNFINISHED.sub("", str(error.filename))
        return f"{name}: {error.strerror}; check the name and the folder."
    if isinstance(error, MemoryError):
        known = _with_options(error)
        return known or "there is not enough memory for this file; give fewer rows or columns."
    if isinstance(error, ValueError | TypeError | OSError):
        return _with_options(error)
    return (
        f"unexpected error ({type(error).__name__}: {one_line(error)}); run it again with --debug "
        "and report the traceback."
    )


def _with_options(message: object) -> str:
    """A message of the library with the names of options for those of arguments."""
    text = _COLUMNS.sub(_options_of, one_line(message))
    text = _ANY_COLUMN.sub(r"--\1 NAME", text)
    return _ARGUMENT.sub(lambda found: _OPTIONS[found[1]] + " " * len(found[2]), text)


def _options_of(found: re.Match[str]) -> str:
    """``--drop a --drop 'b c'``, as one types it in a shell."""
    names = ast.literal_eval(found[2])
    return " ".join(f"--{found[1]} {shlex.quote(name)}" for name in names)


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Each warning of the library as one line on stderr, once."""
    seen = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        line = _with_options(message)
        if line not in seen:
            seen.add(line)
            sys.stderr.write(f"scoresieve: warning: {line}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for about_code in _ABOUT_CODE:
            warnings.simplefilter("ignore", about_code)
        warnings.showwarning = show
        yield
