"""``scoresieve score``."""

from __future__ import annotations

import click

from scoresieve.cli.options import (
    MeasureName,
    examples,
    file_argument,
    labelled_options,
    model_argument,
)
from scoresieve.cli.output import table, write, write_json
from scoresieve.cli.progress import progress_of_reading


@click.command(
    epilog=examples(
        "scoresieve score model test.csv",
        "scoresieve score model test.csv --measure f1,roc_auc,prec@100 --json",
    )
)
@model_argument
@file_argument
@click.option(
    "--measure",
    type=MeasureName(),
    metavar="NAMES",
    help="One or several with commas; by default the one that the model was fitted for.",
)
@labelled_options
def score(
    model: str,
    file: str,
    measure: str | None,
    label: str | None,
    bag: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure MODEL on the labelled rows, or bags, of FILE.

    Of more than two classes a measure is the average over the classes, each against the rest.
    """
    from scoresieve.cli.tasks.model_file import load_model
    from scoresieve.cli.tasks.models import check_measures
    from scoresieve.cli.tasks.predictions import held_out_scores

    measures = tuple(check_measures(measure)) if measure else ()
    saved = load_model(model)
    with progress_of_reading(f"reading {file}", quiet) as watch:
        found = held_out_scores(saved, file, measures, label=label, bag=bag, watch=watch)
    if as_json:
        write_json(found)
    else:
        write(table(("measure", "score"), list(found.items())))
