"""``scoresieve mil``: bags of rows."""

from __future__ import annotations

from typing import Any

import click

from scoresieve.cli.options import (
    FITTING,
    Sizes,
    bag_option,
    common_options,
    examples,
    file_argument,
    fitting_options,
    measure_option,
    method_option,
    model_argument,
    reading_options,
    solving_options,
)


@click.group(invoke_without_command=True)
@click.pass_context
def mil(context: click.Context) -> None:
    """Bags of rows with one label each: molecules, images, documents."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@mil.command(
    "fit",
    epilog=examples(
        "scoresieve mil fit molecules.csv --bag molecule --label active -k 5 -o model",
        "scoresieve mil fit musk1.npz -k 2,5,10 -o model",
    ),
)
@file_argument
@click.option(
    "-k", "k", type=Sizes(), metavar="SIZES", help="How many instances: 10, 5,10,20 or auto."
)
@measure_option
@method_option(
    "sieve: BagScoreSieve; measure: BagMeasureSVC, with a proof.", methods=("sieve", "measure")
)
@bag_option
@reading_options
@solving_options
@fitting_options
def fit_bags(file: str, **options: Any) -> None:
    """Choose the instances that decide about bags, and fit a model on them.

    FILE is a table with a column that names the bag of each row, or an npz with X, bag and y.
    """
    from scoresieve.cli.tasks.fitting import fit_file

    settings = {name: options.pop(name) for name in FITTING}
    fit_file(file, options, of_bags=True, **settings)


@mil.command(
    "predict",
    epilog=examples("scoresieve mil predict model molecules.csv > predictions.csv"),
)
@model_argument
@file_argument
@bag_option
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Instead of stdout.")
@common_options
def predict_bags(
    model: str, file: str, bag: str | None, output: str | None, as_json: bool, quiet: bool
) -> None:
    """Write label, score and probability of each bag of FILE as CSV; - is standard input."""
    from scoresieve.cli.tasks.predicting import predict_file

    predict_file(model, file, output, as_json=as_json, quiet=quiet, bag=bag, of_bags=True)
