"""``scoresieve inspect``."""

from __future__ import annotations

import click

from scoresieve.cli.options import debug_option, examples, json_option, model_argument
from scoresieve.cli.output import write, write_json


@click.command(epilog=examples("scoresieve inspect model", "scoresieve inspect model --json"))
@model_argument
@json_option
@debug_option
def inspect(model: str, as_json: bool) -> None:
    """Show the features, weights and settings of MODEL."""
    from scoresieve.cli.tasks.describe import as_plain, columns_in_words, in_words
    from scoresieve.cli.tasks.model_file import load_model

    saved = load_model(model)
    plain = as_plain(saved)
    if as_json:
        write_json({**plain, "columns": columns_in_words(saved.encoding)})
        return
    settings = ", ".join(f"{name}={value!r}" for name, value in plain["settings"].items())
    write(f"{plain['estimator']}({settings})\n")
    write(f"classes: {', '.join(plain['classes'])}\n")
    write(f"reads: {columns_in_words(saved.encoding)}\n")
    write(in_words(saved))
