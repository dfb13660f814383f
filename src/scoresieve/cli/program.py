"""``scoresieve COMMAND``: all commands, and what they have in common."""

from __future__ import annotations

import click

from scoresieve import __version__
from scoresieve.cli.commands.certify import certify
from scoresieve.cli.commands.convert import convert
from scoresieve.cli.commands.demo import demo
from scoresieve.cli.commands.fit import fit
from scoresieve.cli.commands.inspect import inspect
from scoresieve.cli.commands.mil import mil
from scoresieve.cli.commands.path import path
from scoresieve.cli.commands.predict import predict
from scoresieve.cli.commands.report import report
from scoresieve.cli.commands.score import score
from scoresieve.cli.options import examples

EPILOG = """
\b
Data files: svmlight (also .gz, .bz2), npz, CSV and parquet, told apart by their content.
\b
Exit codes:
  0    all is well
  1    the data or the model is wrong, or a file cannot be written
  2    the command was used wrongly
  130  interrupted (Ctrl-C); 143 terminated; no unfinished file is left
  141  nobody reads the output any more (scoresieve predict ... | head)
\b
Shell completion (bash; also zsh, fish):
  eval "$(_SCORESIEVE_COMPLETE=bash_source scoresieve)"
\b
"""


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG
    + examples(
        "scoresieve fit data.csv --label label -k 10 -o model",
        "scoresieve predict model new.csv > predictions.csv",
    ),
)
@click.version_option(__version__, prog_name="scoresieve")
@click.pass_context
def program(context: click.Context) -> None:
    """Pick the few features that maximise the score you report."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _command in (demo, fit, path, predict, score, inspect, certify, convert, mil, report):
    program.add_command(_command)
