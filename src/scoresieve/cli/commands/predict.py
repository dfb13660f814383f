"""``scoresieve predict``."""

from __future__ import annotations

import click

from scoresieve.cli.options import common_options, examples, file_argument, model_argument


@click.command(
    epilog=examples(
        "scoresieve predict model new.csv > predictions.csv",
        "cat new.csv | scoresieve predict model -",
        "scoresieve predict model new.svm.gz --json -o predictions.jsonl",
    )
)
@model_argument
@file_argument
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Instead of stdout.")
@common_options
def predict(model: str, file: str, output: str | None, as_json: bool, quiet: bool) -> None:
    """Write label, score and probability of each row of FILE as CSV.

    FILE is of the same kind as the training file, without labels if you like; - is standard input.
    The score is above 0 where the positive class is predicted. With --json each line is an object.
    """
    from scoresieve.cli.tasks.predicting import predict_file

    predict_file(model, file, output, as_json=as_json, quiet=quiet)
