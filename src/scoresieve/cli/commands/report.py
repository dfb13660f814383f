"""``scoresieve report``."""

from __future__ import annotations

import click

from scoresieve.cli.options import examples, labelled_options, model_argument
from scoresieve.cli.output import write, write_json
from scoresieve.cli.progress import progress_of_reading


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
def report(
    model: str,
    file: str | None,
    output: str,
    title: str | None,
    label: str | None,
    bag: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write one HTML page to look at MODEL.

    With FILE, labelled rows or bags that the model has not seen, it also shows the confusion matrix
    and the precision-recall curve. The page is one file, and holds no row of the data.
    """
    from scoresieve.cli.tasks.files import check_output
    from scoresieve.cli.tasks.model_file import load_model
    from scoresieve.cli.tasks.reports import report_model

    check_output(output)
    saved = load_model(model)
    with progress_of_reading(f"reading {file}", quiet) as watch:
        report_model(saved, output, file, title, label=label, bag=bag, watch=watch)
    if as_json:
        write_json({"report": output})
    else:
        write(f"page written to {output}\n")
