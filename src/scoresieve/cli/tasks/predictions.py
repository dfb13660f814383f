"""Labels, scores and probabilities of rows or bags; measures of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scoresieve import get_measure
from scoresieve._arrays import Array, FloatArray
from scoresieve.cli.data.labels import text_of
from scoresieve.cli.errors import naming
from scoresieve.cli.output import json_line
from scoresieve.cli.tasks.labelled import read_labelled
from scoresieve.cli.tasks.model_file import SavedModel
from scoresieve.estimators.decision import measure_score


def predictions(saved: SavedModel, X: Any) -> dict[str, Any]:
    """Columns ``label``, ``score`` and, where the model has them, ``probability``.

    Score and probability are those of the positive class, of more than two classes those of the
    label.
    """
    model, targets = saved.model, saved.targets
    decision = model.decision_function(X)
    labels = model._targets.predict(decision)
    found: dict[str, Any] = {"label": [text_of(label) for label in labels]}
    found["score"] = _of_class(targets.sign * decision, decision, targets)
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(X)
        of_class = chances[:, targets.positive] if targets.kind == "binary" else chances
        found["probability"] = _of_class(of_class, decision, targets)
    return found


def _of_class(values: FloatArray, decision: FloatArray, targets: Any) -> FloatArray:
    if targets.kind == "binary":
        return values
    return values[np.arange(len(values)), np.argmax(decision, axis=1)]


def as_csv(columns: dict[str, Iterable[Any]]) -> str:
    """With a header; numbers have seven digits."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([f"{cell:.7g}" if isinstance(cell, float) else cell for cell in row])
    return stream.getvalue()


def as_json_lines(columns: dict[str, Iterable[Any]]) -> str:
    """One object in each line."""
    rows = zip(*columns.values(), strict=True)
    return "".join(json_line(dict(zip(columns, row, strict=True))) for row in rows)


def scores_of(saved: SavedModel, X: Any, y: Array, measures: list[str]) -> dict[str, float]:
    """Each measure of the model's decisions; its own one if none is named."""
    model, targets = saved.model, saved.targets
    if not measures:
        own = getattr(model, "measure_", None)
        return {"accuracy" if own is None else own.name: float(model.score(X, y))}
    decision = model._above_thresholds(model.decision_function(X))
    return {name: measure_score(get_measure(name), targets, y, decision) for name in measures}


def held_out_scores(
    saved: SavedModel, path: str, measures: Sequence[str] = (), **columns: Any
) -> dict[str, float]:
    """Measures of a model on the labelled rows, or bags, of a file; columns as for reading it."""
    data = read_labelled(path, saved, **columns)
    with naming(data.file):
        return scores_of(saved, data.X, data.y, list(measures))
