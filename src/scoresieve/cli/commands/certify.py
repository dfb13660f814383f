"""``scoresieve certify``."""

from __future__ import annotations

import click

from scoresieve.cli.options import (
    examples,
    file_argument,
    labelled_options,
    model_argument,
)
from scoresieve.cli.output import table, write, write_json
from scoresieve.cli.progress import progress_of_reading


@click.command(
    epilog=examples(
        "scoresieve fit data.csv --method measure -k 10 --certificate -o model",
        "scoresieve certify model data.csv",
    )
)
@model_argument
@file_argument
@labelled_options
def certify(
    model: str, file: str, label: str | None, bag: str | None, as_json: bool, quiet: bool
) -> None:
    """Recompute from the training rows in FILE how far MODEL is from the best.

    No model of the problem has an objective below the lower bound. This needs a model that was
    fitted with --method measure or a loss and with --certificate.
    """
    from scoresieve.cli.tasks.certificates import certificates_of
    from scoresieve.cli.tasks.model_file import load_model

    saved = load_model(model)
    with progress_of_reading(f"reading {file}", quiet) as watch:
        rows = certificates_of(model, saved, file, label=label, bag=bag, watch=watch)
    if as_json:
        write_json(rows)
    else:
        write(table(list(rows[0]), [list(row.values()) for row in rows]))
