"""``scoresieve demo``."""

from __future__ import annotations

import click

from scoresieve.cli.options import debug_option, examples
from scoresieve.cli.output import ClosedPipe


@click.command(epilog=examples("scoresieve demo", "scoresieve demo -o figures"))
@click.option("-o", "--output", default="demo_output", show_default=True, help="Folder.")
@debug_option
def demo(output: str) -> int:
    """Select words on docstrings, beside an l1-SVM, SVM-RFE and chi2; no download.

    It prints a table and a summary, writes a report, and draws F1 against the number of words where
    matplotlib is installed.
    """
    from scoresieve.demo import main

    try:
        return main(["--output", output])
    except BrokenPipeError as error:
        raise ClosedPipe from error
