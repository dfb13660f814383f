"""``scoresieve convert``."""

from __future__ import annotations

from typing import Any

import click

from scoresieve.cli.options import (
    bag_option,
    common_options,
    examples,
    file_argument,
    reading_options,
)
from scoresieve.cli.output import write, write_json
from scoresieve.cli.progress import progress_of_reading


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
def convert(file: str, output: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Write the rows of FILE to OUTPUT, whose name says the format.

    .svm (also .svm.gz, .svm.bz2), .npz, .csv, .parquet, .blocks. From one table to another
    everything stays as it is; from a table to a matrix, columns become numbers as in fit. An npz is
    read a hundred times faster than svmlight. A folder of row blocks (.blocks) is for data larger
    than memory: other commands take it as FILE, and svmlight of any size becomes one in one pass.
    """
    from scoresieve.cli.tasks.choices import choices_from
    from scoresieve.cli.tasks.convert import check_target, convert_file

    check_target(output)
    with progress_of_reading(f"reading {file}", quiet) as watch:
        shape = convert_file(file, output, choices_from(options), watch)
    if as_json:
        write_json({"output": output, "rows": shape.n_rows, "columns": shape.n_columns})
    else:
        write(f"{shape.n_rows} rows and {shape.n_columns} columns written to {output}\n")
