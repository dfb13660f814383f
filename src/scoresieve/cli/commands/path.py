"""``scoresieve path``."""

from __future__ import annotations

from typing import Any

import click

from scoresieve.cli.options import (
    Sizes,
    common_options,
    examples,
    file_argument,
    measure_option,
    method_option,
    reading_options,
    solving_options,
)
from scoresieve.cli.output import table, write, write_json
from scoresieve.cli.progress import progress_of_reading


@click.command(
    epilog=examples(
        "scoresieve path data.csv --label label -k 1,2,5,10,20",
        "scoresieve path data.csv -k 5,10,20 --method measure --json",
    )
)
@file_argument
@click.option("-k", "k", type=Sizes(), default="1,2,5,10,20,50", show_default=True, metavar="SIZES")
@measure_option
@method_option(
    "sieve: the score to expect for each number of features; else the objective of each budget, "
    "and a proof of how far from the best it is."
)
@reading_options
@solving_options
@common_options
def path(file: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Show the score, or the objective, against the number of features."""
    from scoresieve.cli.data.reading import read_training
    from scoresieve.cli.tasks.choices import choices_from, settings_from
    from scoresieve.cli.tasks.paths import budgets_table, sieve_table

    settings = settings_from(options)
    with progress_of_reading(f"reading {file}", quiet) as watch:
        data = read_training(file, choices_from(options), watch)
    make = sieve_table if settings.method == "sieve" else budgets_table
    rows = make(data, settings, quiet)
    if as_json:
        write_json(rows)
    else:
        write(table(list(rows[0]), [list(row.values()) for row in rows]))
