"""Predictions for the rows or bags of a file: all of ``predict`` and ``mil predict``."""

from __future__ import annotations

from typing import Any

from scoresieve.cli.data.reading import read_like
from scoresieve.cli.errors import WrongUse
from scoresieve.cli.output import write
from scoresieve.cli.progress import progress_of_reading
from scoresieve.cli.tasks.bags import bags_of
from scoresieve.cli.tasks.files import check_output, write_text
from scoresieve.cli.tasks.model_file import load_model
from scoresieve.cli.tasks.predictions import as_csv, as_json_lines, predictions


def predict_file(
    path: str,
    file: str,
    output: str | None,
    *,
    as_json: bool,
    quiet: bool,
    bag: str | None = None,
    of_bags: bool = False,
) -> None:
    """Write what the model at ``path`` says of a file, to stdout or to ``output``."""
    check_output(output)
    saved = load_model(path)
    if hasattr(saved.model, "embedding_") != of_bags:
        what, command = ("rows", "predict") if of_bags else ("bags", "mil predict")
        raise WrongUse(f"{path}: this is a model of {what}; use scoresieve {command}.")
    with progress_of_reading(f"reading {file}", quiet) as watch:
        table = read_like(file, saved.encoding, bag=bag, watch=watch)
    columns: dict[str, Any] = {}
    X = table.X
    if of_bags:
        X = bags_of(table)
        columns["bag"] = X.names.tolist()
    columns |= predictions(saved, X)
    text = as_json_lines(columns) if as_json else as_csv(columns)
    if output is None:
        write(text)
    else:
        write_text(output, text)
