"""``scoresieve COMMAND``: all commands in one program, and a run of it with its exit code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from scoresieve import __version__
from scoresieve.cli.commands import COMMANDS
from scoresieve.cli.errors import WrongUse, explained, shown_warnings
from scoresieve.cli.options import examples
from scoresieve.cli.output import ClosedPipe, flush

WRONG_DATA, WRONG_USE, INTERRUPTED, TERMINATED, CLOSED_PIPE = 1, 2, 130, 143, 141

EPILOG = """
\b
Data files: CSV, parquet, npz and svmlight (also .gz, .bz2), recognised by their content.
\b
Exit codes:
  0    success
  1    wrong data or model, or a file that cannot be written
  2    wrong use: unknown options, columns or measures
  130  interrupted (Ctrl-C); 143 terminated; no unfinished file is left
  141  the reader of the output has closed it (scoresieve predict ... | head)
\b
Shell completion (bash; also zsh, fish):
  eval "$(_SCORESIEVE_COMPLETE=bash_source scoresieve)"
"""


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Pick the few features that maximise the score you report.\n\n"
    + examples(
        "scoresieve fit data.csv --label label -k 10 -o model",
        "scoresieve predict model new.csv > predictions.csv",
    ),
    epilog=EPILOG,
)
@click.version_option(__version__, prog_name="scoresieve")
@click.pass_context
def program(context: click.Context) -> None:
    """All commands; without one, their help."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _command in COMMANDS:
    program.add_command(_command)


def main() -> NoReturn:
    """Run with the arguments of the process; after SIGTERM, files are complete or absent."""
    signal.signal(signal.SIGTERM, _terminate)
    code = run(sys.argv[1:])
    if code == CLOSED_PIPE:
        # Python flushes once more at exit.
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
        sys.stderr.write(f"scoresieve: error: {explained(error)}\n")
        return WRONG_USE if isinstance(error, click.UsageError | WrongUse) else WRONG_DATA


def _terminate(*_: Any) -> NoReturn:
    raise SystemExit(TERMINATED)
