"""``scoresieve fit``."""

from __future__ import annotations

from typing import Any

import click

from scoresieve.cli.options import (
    FITTING,
    Sizes,
    examples,
    file_argument,
    fitting_options,
    measure_option,
    method_option,
    reading_options,
    solving_options,
)


@click.command(
    epilog=examples(
        "scoresieve fit data.csv --label label -k 10 -o model",
        "scoresieve fit news20.bz2 --positive 3 --unit-rows -k 20 -o model --test news20.t.bz2",
        "scoresieve fit data.csv -k 5,10,20 --measure prec@100 --positive fraud -o model",
        "scoresieve fit data.npz --method measure -k 10 --certificate -o model",
    )
)
@file_argument
@click.option(
    "-k", "k", type=Sizes(), metavar="SIZES", help="How many features: 10, 5,10,20 or auto."
)
@measure_option
@method_option(
    "sieve: several methods, the best by cross-fitting; measure: MeasureSVC, with a proof; else a "
    "loss (BudgetClassifier), with a proof."
)
@click.option("--budget", type=click.IntRange(min=1), help="Instead of -k: B of the budget norm.")
@reading_options
@solving_options
@fitting_options
def fit(file: str, **options: Any) -> None:
    """Choose features and fit a model on the rows of FILE.

    FILE is svmlight (also .gz, .bz2), npz, CSV, parquet, or a folder of row blocks. Columns of a
    table are standardised if they are numbers, one-hot if they are categories, and TF-IDF if they
    are texts; all that is needed to read other files like it is kept with the model.
    """
    from scoresieve.cli.tasks.fitting import fit_file

    fit_file(file, options, **{name: options.pop(name) for name in FITTING})
