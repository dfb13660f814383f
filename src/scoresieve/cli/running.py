"""A run of the command line: what it says when something is wrong, and its exit code."""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from scoresieve.cli.errors import WrongUse, one_line
from scoresieve.cli.output import ClosedPipe, flush
from scoresieve.cli.program import program

WRONG_DATA, WRONG_USE, INTERRUPTED, TERMINATED, CLOSED_PIPE = 1, 2, 130, 143, 141

#: Arguments of the library in its messages, and the options that stand for them here.
_OPTIONS = {
    "pos_label": "--positive",
    "n_features_to_select": "-k",
    "n_instances_to_select": "-k",
    "max_time": "--max-time",
    "max_iter": "--max-time",
    "n_jobs": "--jobs",
}
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})\b")
#: How the name of a file that is being written ends.
_UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.tmp$")
#: Optional packages, and the extra that brings them.
_EXTRAS = {"pandas": "cli", "pyarrow": "cli", "matplotlib": "plot"}


def main() -> NoReturn:
    """Run with the arguments of the process. SIGTERM ends it as an error would: files are kept."""
    signal.signal(signal.SIGTERM, _terminate)
    code = run(sys.argv[1:])
    if code == CLOSED_PIPE:
        # Python flushes once more on its way out, to nobody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """The exit code of a run, whose errors are one line each on stderr."""
    try:
        with shown_warnings():
            code = program.main(list(arguments), prog_name="scoresieve", standalone_mode=False)
            flush()
        return code if isinstance(code, int) else 0
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.stderr.write("scoresieve: interrupted\n")
        return INTERRUPTED
    except ClosedPipe:
        return CLOSED_PIPE
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc()
        sys.stderr.write(f"scoresieve: error: {in_words(error)}\n")
        return WRONG_USE if isinstance(error, click.UsageError | WrongUse) else WRONG_DATA


def in_words(error: Exception) -> str:
    """One line that says what is wrong and what to do."""
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "scoresieve"
        return f"{one_line(error.format_message())} See {path} --help."
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRAS:
        extra = _EXTRAS[error.name]
        return f'this needs the package {error.name}; pip install "scoresieve[{extra}]"'
    if isinstance(error, OSError) and error.filename is not None:
        name = _UNFINISHED.sub("", str(error.filename))
        return f"{name}: {error.strerror}; check the name and the folder."
    if isinstance(error, MemoryError):
        said = with_options(one_line(error))
        return said or "there is not enough memory for this file; give fewer rows or columns."
    if isinstance(error, ValueError | TypeError | OSError):
        return with_options(one_line(error))
    return (
        f"this should not happen ({type(error).__name__}: {one_line(error)}); run it again with "
        "--debug and report what it shows."
    )


def with_options(message: str) -> str:
    """A message of the library with the names of options for those of arguments."""
    return _ARGUMENT.sub(lambda found: _OPTIONS[found[1]], message)


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Each warning of the library as one line on stderr, once."""
    seen = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        line = with_options(one_line(message))
        if line not in seen:
            seen.add(line)
            sys.stderr.write(f"scoresieve: warning: {line}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for about_code in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", about_code)
        warnings.simplefilter("ignore", ImportWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.showwarning = show
        yield


def _terminate(*_: Any) -> NoReturn:
    raise SystemExit(TERMINATED)
