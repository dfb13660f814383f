"""The commands: the arguments of each, and the call of its task.

Tasks are imported when they run, so that ``--help`` answers at once.
"""

from __future__ import annotations

from typing import Any

import click

from scoresieve.cli.options import (
    bag_option,
    command,
    common_options,
    copying_options,
    debug_option,
    drop_option,
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


@command("scoresieve demo", "scoresieve demo -o figures")
@click.option("-o", "--output", default="demo_output", show_default=True, help="Folder to write.")
@debug_option
def demo(output: str) -> int:
    """Compare with an l1-SVM, SVM-RFE and chi2 on docstrings.

    Prints a table of F1 and a summary, and writes a report; with matplotlib also a figure. Nothing
    is downloaded.
    """
    from scoresieve.demo import main

    try:
        return main(["--output", output])
    except BrokenPipeError as error:
        raise ClosedPipe from error


@command(
    "scoresieve fit data.csv --label label -k 10 -o model",
    "scoresieve fit news20.bz2 --positive 3 --unit-rows -k 20 -o model --test news20.t.bz2",
    "scoresieve fit data.csv -k 5,10,20 --measure prec@100 --positive fraud -o model",
    "scoresieve fit data.npz --method measure -k 10 --certificate -o model",
)
@file_argument
@sizes_option("Number of features: 10, a list to choose from (5,10,20), or auto.")
@measure_option
@method_option(
    "sieve: ScoreSieve, which chooses by cross-validation. measure: MeasureSVC, certified. Others: "
    "BudgetClassifier with this loss, certified."
)
@click.option("--budget", type=click.IntRange(min=1), help="Instead of -k: the relaxed budget B.")
@fitting_options
def fit(file: str, **options: Any) -> None:
    """Select features and fit a model on the rows of FILE.

    FILE is CSV, parquet, npz, svmlight (also .gz, .bz2) or a folder of row blocks. In a table,
    numbers and dates are standardised, categories one-hot encoded, and texts become TF-IDF
    features; missing numbers become the median. The model keeps this encoding for predict, score
    and report.
    """
    from scoresieve.cli.tasks.fitting import fit_file

    fit_file(file, **options)


@command(
    "scoresieve path data.csv --label label -k 1,2,5,10,20",
    "scoresieve path data.csv -k 5,10,20 --method measure --json",
)
@file_argument
@sizes_option("Numbers of features, or budgets.", default="1,2,5,10,20,50")
@measure_option
@method_option(
    "sieve: cross-validated score of each number of features. Others: objective and certified gap "
    "of each budget."
)
@reading_options
@solving_options
@common_options
def path(file: str, as_json: bool, **options: Any) -> None:
    """Show the cross-validated score for each number of features.

    With another method than the sieve: the training objective for each budget.
    """
    from scoresieve.cli.tasks.fitting import path_of_file

    rows = path_of_file(file, **options)
    (write_json if as_json else write_table)(rows)


@command(
    "scoresieve predict model new.csv > predictions.csv",
    "cat new.csv | scoresieve predict model -",
    "scoresieve predict model new.csv --id patient --recall 0.9",
    "scoresieve predict model new.csv --id invoice --keep amount --top 50",
    "scoresieve predict model new.svm.gz --json -o predictions.jsonl",
)
@model_argument
@file_argument
@copying_options
@prediction_options
def predict(model: str, file: str, **options: Any) -> None:
    """Write label, score and probability of each row as CSV.

    FILE needs the columns that MODEL has a weight on, in any order, and no labels; - is standard
    input. A score above 0 predicts the positive class. With --json each line is an object. Models
    of the sieve can take another threshold, chosen on the held-out rows of their fit: give
    --recall, --precision, --alarm-rate or both costs.
    """
    from scoresieve.cli.tasks.predicting import predict_file

    predict_file(model, file, **options)


@command(
    "scoresieve score model test.csv",
    "scoresieve score model test.csv --measure f1,roc_auc,prec@100 --json",
)
@model_argument
@file_argument
@click.option(
    "--measure",
    metavar="NAMES",
    shell_complete=usual_measures,
    help="One, or several with commas. Default: the one that MODEL was fitted for.",
)
@drop_option
@labelled_options
def score(model: str, file: str, measure: str | None, as_json: bool, **options: Any) -> None:
    """Score MODEL on the labelled rows, or bags, of FILE.

    Precision and recall of the predictions come with 95 % intervals. With more than two classes:
    the score of the predicted classes, then each class against the rest and the confusion matrix.
    """
    from scoresieve.cli.tasks.fitting import check_measures
    from scoresieve.cli.tasks.models import load_model
    from scoresieve.cli.tasks.predicting import (
        held_out_scores,
        plain_scores,
        score_rows,
        show_alarms,
        show_classes,
    )

    measures = check_measures(measure) if measure else []
    found = held_out_scores(load_model(model), file, measures, **options)
    if as_json:
        write_json(plain_scores(found))
    else:
        write_table(score_rows(found))
        show_classes(found)
        show_alarms(found)


@command(
    "scoresieve inspect model",
    "scoresieve inspect model --class sports",
    "scoresieve inspect model --json",
)
@model_argument
@click.option("--class", "of_class", metavar="NAME", help="One of several classes, in detail.")
@json_option
@debug_option
def inspect(model: str, of_class: str | None, as_json: bool) -> None:
    """Show the features, weights and settings of MODEL.

    Of more than two classes: an overview, or with --class the details of one.
    """
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
    write(summary_of(saved, of_class))


@command(
    "scoresieve fit data.csv --method measure -k 10 --certificate -o model",
    "scoresieve certify model data.csv",
)
@model_argument
@file_argument
@labelled_options
def certify(model: str, file: str, as_json: bool, **options: Any) -> None:
    """Recompute the certified gap from the training rows.

    FILE is the training file of MODEL. No solution of the training problem has an objective below
    the lower bound. Fit MODEL with --certificate, and with --method measure or a loss.
    """
    from scoresieve.cli.tasks.predicting import certificates_of

    rows = certificates_of(model, file, **options)
    (write_json if as_json else write_table)(rows)


@command(
    "scoresieve convert news20.bz2 news20.npz",
    "scoresieve convert data.csv data.svm.gz --label label --positive spam",
    "scoresieve convert data.csv data.parquet",
    "scoresieve convert large.svm.bz2 large.blocks",
)
@file_argument
@click.argument("output", type=click.Path())
@reading_options
@bag_option
@common_options
def convert(file: str, output: str, as_json: bool, **options: Any) -> None:
    """Write the rows of FILE in another format.

    The suffix of OUTPUT sets it: .csv or .parquet for tables, .npz or .svm (also .svm.gz, .svm.bz2)
    for matrices, .blocks for data larger than memory. Tables become matrices as in fit. An npz
    loads a hundred times faster than svmlight. A .blocks folder of row blocks can be the FILE of
    every command; svmlight of any size becomes one in a single pass.
    """
    from scoresieve.cli.tasks.convert import convert_file

    n_rows, n_columns = convert_file(file, output, **options)
    if as_json:
        write_json({"output": output, "rows": n_rows, "columns": n_columns})
    else:
        write(f"{n_rows} rows and {n_columns} columns written to {output}\n")


@command(
    "scoresieve report model -o report.html",
    "scoresieve report model test.csv -o report.html --title 'Refunds in May'",
)
@model_argument
@click.argument("file", required=False, type=click.Path(allow_dash=True))
@click.option(
    "-o", "--output", default="report.html", show_default=True, type=click.Path(), metavar="PAGE"
)
@click.option("--title", help="Heading of the page.")
@labelled_options
def report(model: str, file: str | None, output: str, as_json: bool, **options: Any) -> None:
    """Write one HTML page about MODEL.

    With FILE, held-out rows or bags with labels, it shows the confusion matrix and the
    precision-recall curve. The page is one file and contains no row of the data.
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
    """Multiple-instance learning: one label for each bag of rows."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@command(
    "scoresieve mil fit molecules.csv --bag molecule --label active -k 5 -o model",
    "scoresieve mil fit musk1.npz -k 2,5,10 -o model",
    name="fit",
)
@file_argument
@sizes_option("Number of instances: 10, a list to choose from (5,10,20), or auto.")
@measure_option
@method_option(
    "sieve: BagScoreSieve. measure: BagMeasureSVC, certified.", methods=("sieve", "measure")
)
@bag_option
@fitting_options
def fit_bags(file: str, **options: Any) -> None:
    """Select the instances that decide about bags; fit a model.

    FILE is a table with a column that names the bag of each row, or an npz with X, bag and y.
    """
    from scoresieve.cli.tasks.fitting import fit_file

    fit_file(file, of_bags=True, **options)


@command("scoresieve mil predict model molecules.csv > predictions.csv", name="predict")
@model_argument
@file_argument
@bag_option
@prediction_options
def predict_bags(model: str, file: str, **options: Any) -> None:
    """Write label, score and probability of each bag as CSV.

    FILE needs the columns of the training file, but no labels; - is standard input.
    """
    from scoresieve.cli.tasks.predicting import predict_file

    predict_file(model, file, of_bags=True, **options)


mil.add_command(fit_bags)
mil.add_command(predict_bags)
COMMANDS = (demo, fit, path, predict, score, inspect, certify, convert, report, mil)
