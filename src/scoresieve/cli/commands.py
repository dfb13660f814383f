"""The commands, each of which does nothing but say what it takes and call the task that does it.

What they import at load is quick, so that ``--help`` answers at once; tasks are imported when they
run.
"""

from __future__ import annotations

from typing import Any

import click

from scoresieve.cli.options import (
    bag_option,
    common_options,
    debug_option,
    examples,
    file_argument,
    fitting_options,
    json_option,
    labelled_options,
    measure_option,
    method_option,
    model_argument,
    prediction_options,
    reading_options,
    sizes_option,
    solving_options,
    usual_measures,
)
from scoresieve.cli.output import ClosedPipe, write, write_json, write_table


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


@click.command(
    epilog=examples(
        "scoresieve fit data.csv --label label -k 10 -o model",
        "scoresieve fit news20.bz2 --positive 3 --unit-rows -k 20 -o model --test news20.t.bz2",
        "scoresieve fit data.csv -k 5,10,20 --measure prec@100 --positive fraud -o model",
        "scoresieve fit data.npz --method measure -k 10 --certificate -o model",
    )
)
@file_argument
@sizes_option("How many features: 10, 5,10,20 or auto.")
@measure_option
@method_option(
    "sieve: several methods, the best by cross-fitting; measure: MeasureSVC, with a proof; else a "
    "loss (BudgetClassifier), with a proof."
)
@click.option("--budget", type=click.IntRange(min=1), help="Instead of -k: B of the budget norm.")
@fitting_options
def fit(file: str, **options: Any) -> None:
    """Choose features and fit a model on the rows of FILE.

    FILE is svmlight (also .gz, .bz2), npz, CSV, parquet, or a folder of row blocks. Columns of a
    table are standardised if they are numbers, one-hot if they are categories, and TF-IDF if they
    are texts; all that is needed to read other files like it is kept with the model.
    """
    from scoresieve.cli.tasks.fitting import fit_file

    fit_file(file, **options)


@click.command(
    epilog=examples(
        "scoresieve path data.csv --label label -k 1,2,5,10,20",
        "scoresieve path data.csv -k 5,10,20 --method measure --json",
    )
)
@file_argument
@sizes_option(default="1,2,5,10,20,50")
@measure_option
@method_option(
    "sieve: the score to expect for each number of features; else the objective of each budget, "
    "and a proof of how far from the best it is."
)
@reading_options
@solving_options
@common_options
def path(file: str, as_json: bool, **options: Any) -> None:
    """Show the score, or the objective, against the number of features."""
    from scoresieve.cli.tasks.fitting import path_of_file

    rows = path_of_file(file, **options)
    (write_json if as_json else write_table)(rows)


@click.command(
    epilog=examples(
        "scoresieve predict model new.csv > predictions.csv",
        "cat new.csv | scoresieve predict model -",
        "scoresieve predict model new.svm.gz --json -o predictions.jsonl",
    )
)
@model_argument
@file_argument
@prediction_options
def predict(model: str, file: str, **options: Any) -> None:
    """Write label, score and probability of each row of FILE as CSV.

    FILE is of the same kind as the training file, without labels if you like; - is standard input.
    The score is above 0 where the positive class is predicted. With --json each line is an object.
    """
    from scoresieve.cli.tasks.predicting import predict_file

    predict_file(model, file, **options)


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
    metavar="NAMES",
    shell_complete=usual_measures,
    help="One or several with commas; by default the one that the model was fitted for.",
)
@labelled_options
def score(model: str, file: str, measure: str | None, as_json: bool, **options: Any) -> None:
    """Measure MODEL on the labelled rows, or bags, of FILE.

    Of more than two classes a measure is the average over the classes, each against the rest.
    """
    from scoresieve.cli.tasks.fitting import check_measures
    from scoresieve.cli.tasks.models import load_model
    from scoresieve.cli.tasks.predicting import held_out_scores

    measures = check_measures(measure) if measure else []
    found = held_out_scores(load_model(model), file, measures, **options)
    if as_json:
        write_json(found)
    else:
        write_table([{"measure": name, "score": value} for name, value in found.items()])


@click.command(epilog=examples("scoresieve inspect model", "scoresieve inspect model --json"))
@model_argument
@json_option
@debug_option
def inspect(model: str, as_json: bool) -> None:
    """Show the features, weights and settings of MODEL."""
    from scoresieve.cli.tasks.models import as_plain, load_model, summary_of

    saved = load_model(model)
    plain, columns = as_plain(saved), saved.encoding.rows.described()
    if as_json:
        write_json({**plain, "columns": columns})
        return
    settings = ", ".join(f"{name}={value!r}" for name, value in plain["settings"].items())
    write(f"{plain['estimator']}({settings})\n")
    write(f"classes: {', '.join(plain['classes'])}\n")
    write(f"reads: {columns}\n")
    write(summary_of(saved))


@click.command(
    epilog=examples(
        "scoresieve fit data.csv --method measure -k 10 --certificate -o model",
        "scoresieve certify model data.csv",
    )
)
@model_argument
@file_argument
@labelled_options
def certify(model: str, file: str, as_json: bool, **options: Any) -> None:
    """Recompute from the training rows in FILE how far MODEL is from the best.

    No model of the problem has an objective below the lower bound. This needs a model that was
    fitted with --method measure or a loss and with --certificate.
    """
    from scoresieve.cli.tasks.predicting import certificates_of

    rows = certificates_of(model, file, **options)
    (write_json if as_json else write_table)(rows)


@click.command(
    epilog=examples(
        "scoresieve convert news20.bz2 news20.npz",
        "scoresieve convert data.csv data.svm.gz --label label --positive spam",
        "scoresieve convert data.csv data.parquet",
        "scoresieve convert large.svm.bz2 large.blocks",
    )
)
@file_argument
@click.argument("output", type=click.Path())
@reading_options
@bag_option
@common_options
def convert(file: str, output: str, as_json: bool, **options: Any) -> None:
    """Write the rows of FILE to OUTPUT, whose name says the format.

    .svm (also .svm.gz, .svm.bz2), .npz, .csv, .parquet, .blocks. From one table to another
    everything stays as it is; from a table to a matrix, columns become numbers as in fit. An npz is
    read a hundred times faster than svmlight. A folder of row blocks (.blocks) is for data larger
    than memory: other commands take it as FILE, and svmlight of any size becomes one in one pass.
    """
    from scoresieve.cli.tasks.convert import convert_file

    n_rows, n_columns = convert_file(file, output, **options)
    if as_json:
        write_json({"output": output, "rows": n_rows, "columns": n_columns})
    else:
        write(f"{n_rows} rows and {n_columns} columns written to {output}\n")


@click.command(
    epilog=examples(
        "scoresieve report model -o report.html",
        "scoresieve report model test.csv -o report.html --title 'Refunds in May'",
    )
)
@model_argument
@click.argument("file", required=False, type=click.Path(allow_dash=True))
@click.option(
    "-o", "--output", default="report.html", show_default=True, type=click.Path(), metavar="PAGE"
)
@click.option("--title", help="Heading of the page.")
@labelled_options
def report(model: str, file: str | None, output: str, as_json: bool, **options: Any) -> None:
    """Write one HTML page to look at MODEL.

    With FILE, labelled rows or bags that the model has not seen, it also shows the confusion matrix
    and the precision-recall curve. The page is one file, and holds no row of the data.
    """
    from scoresieve.cli.tasks.predicting import report_model

    report_model(model, output, file, **options)
    if as_json:
        write_json({"report": output})
    else:
        write(f"page written to {output}\n")


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
@sizes_option("How many instances: 10, 5,10,20 or auto.")
@measure_option
@method_option(
    "sieve: BagScoreSieve; measure: BagMeasureSVC, with a proof.", methods=("sieve", "measure")
)
@bag_option
@fitting_options
def fit_bags(file: str, **options: Any) -> None:
    """Choose the instances that decide about bags, and fit a model on them.

    FILE is a table with a column that names the bag of each row, or an npz with X, bag and y.
    """
    from scoresieve.cli.tasks.fitting import fit_file

    fit_file(file, of_bags=True, **options)


@mil.command(
    "predict",
    epilog=examples("scoresieve mil predict model molecules.csv > predictions.csv"),
)
@model_argument
@file_argument
@bag_option
@prediction_options
def predict_bags(model: str, file: str, **options: Any) -> None:
    """Write label, score and probability of each bag of FILE as CSV; - is standard input."""
    from scoresieve.cli.tasks.predicting import predict_file

    predict_file(model, file, of_bags=True, **options)


COMMANDS = (demo, fit, path, predict, score, inspect, certify, convert, report, mil)
