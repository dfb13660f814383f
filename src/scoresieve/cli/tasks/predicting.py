"""A saved model on the rows, or bags, of a file: predictions, scores, certificates, report."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

import scoresieve
from scoresieve import get_measure
from scoresieve._arrays import FloatArray
from scoresieve._files import replaced
from scoresieve.cli.data.reading import bags_of, read_like
from scoresieve.cli.errors import BadData, WrongUse, naming, one_line
from scoresieve.cli.output import check_output, json_line, progress_of_reading, write
from scoresieve.cli.tasks.models import SavedModel, load_model, read_labelled
from scoresieve.design import DamagedBlocksError
from scoresieve.estimators.linear_model import above_thresholds, measure_of, measure_score
from scoresieve.tables.encoding import text_of, to_predict


def predict_file(
    path: str,
    file: str,
    *,
    output: str | None,
    as_json: bool,
    quiet: bool,
    of_bags: bool = False,
    **reading: Any,
) -> None:
    """Write predictions of the model at ``path`` to stdout or to ``output``.

    Parameters
    ----------
    **reading
        ``bag`` and ``drop``, as for :func:`read_like`.
    """
    check_output(output)
    saved = load_model(path)
    if saved.is_of_bags != of_bags:
        what, command = ("rows", "predict") if of_bags else ("bags", "mil predict")
        raise WrongUse(f"{path}: this is a model of {what}; use scoresieve {command}.")
    with progress_of_reading(file, quiet) as watch:
        table = read_like(file, to_predict(*saved), watch=watch, **reading)
    columns: dict[str, Any] = {}
    X = table.X
    if of_bags:
        X = bags_of(table)
        columns["bag"] = X.names.tolist()
    columns |= predictions(saved, X)
    text = (_as_json_lines if as_json else _as_csv)(columns)
    if output is None:
        write(text)
        return
    with replaced(output) as stream:
        stream.write(text.encode("utf-8"))


def predictions(saved: SavedModel, X: Any) -> dict[str, Any]:
    """Columns ``label``, ``score`` and, where the model has them, ``probability``.

    Score and probability are those of the positive class, of more than two classes those of the
    label.
    """
    model, targets = saved.model, saved.targets
    decision = model.decision_function(X)
    labels = model.targets_.predict(decision)
    found: dict[str, Any] = {"label": [text_of(label) for label in labels]}
    found["score"] = _of_class(targets.sign * decision, decision, targets)
    if all(one.choice is not None for one in model.models_):
        chances = model.predict_proba(X)
        of_class = chances[:, targets.positive] if targets.kind == "binary" else chances
        found["probability"] = _of_class(of_class, decision, targets)
    return found


def _of_class(values: FloatArray, decision: FloatArray, targets: Any) -> FloatArray:
    if targets.kind == "binary":
        return values
    return values[np.arange(len(values)), np.argmax(decision, axis=1)]


def _as_csv(columns: dict[str, Any]) -> str:
    """With a header; numbers have seven digits."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([f"{cell:.7g}" if isinstance(cell, float) else cell for cell in row])
    return stream.getvalue()


def _as_json_lines(columns: dict[str, Any]) -> str:
    """One object in each line."""
    rows = zip(*columns.values(), strict=True)
    return "".join(json_line(dict(zip(columns, row, strict=True))) for row in rows)


def held_out_scores(
    saved: SavedModel, path: str, measures: Sequence[str] = (), **reading: Any
) -> dict[str, float]:
    """Measures of a model on the labelled rows, or bags, of a file; its own if none is named.

    Parameters
    ----------
    **reading
        As for :func:`read_labelled`.
    """
    model = saved.model
    data = read_labelled(path, saved._replace(encoding=to_predict(*saved)), **reading)
    with naming(data.file):
        if not measures:
            own = measure_of(model)
            score = float(model.score(data.X, data.y))
            return {"accuracy" if own is None else own.name: score}
        decision = above_thresholds(model.targets_, model.models_, model.decision_function(data.X))
        return {
            name: measure_score(get_measure(name), saved.targets, data.y, decision)
            for name in measures
        }


def certificates_of(path: str, file: str, **reading: Any) -> list[dict[str, Any]]:
    """Objective, lower bound and gap of each class, recomputed from the training rows.

    Parameters
    ----------
    path : str
        Of the model.
    **reading
        As for :func:`read_labelled`.
    """
    saved = load_model(path)
    model = saved.model
    proofs = [one.certificate for one in model.models_]
    if None in proofs:
        raise BadData(
            f"{path}: a {type(model).__name__} is chosen by cross-validation and has no "
            "certificate; fit with --certificate, and with --method measure or a loss."
        )
    if any(proof is not None and proof.dual_point is None for proof in proofs):
        raise BadData(
            f"{path}: it has no dual point, which the lower bound needs; fit again with "
            "--certificate."
        )
    data = read_labelled(file, saved, **reading)
    try:
        found = model.certify(data.X, data.y)
    except DamagedBlocksError as error:
        raise BadData(f"{data.file}: {one_line(error)}") from error
    except ValueError as error:
        raise BadData(
            f"{data.file}: it does not match the certificate of {path}, so it is not the training "
            f"file ({one_line(error)}); give that file."
        ) from error
    found = found if isinstance(found, list) else [found]
    return [
        {
            "class": label,
            "objective": each.primal,
            "lower bound": each.dual,
            "gap": each.gap,
            "gap of the fit": float(gap),
        }
        for label, each, gap in zip(saved.positives, found, model.gap_, strict=True)
    ]


def report_model(
    path: str, output: str, file: str | None, *, title: str | None, **reading: Any
) -> None:
    """Write the page, with curves of the labelled rows of a file if there is one.

    Parameters
    ----------
    path : str
        Of the model.
    **reading
        As for :func:`read_labelled`.
    """
    check_output(output)
    saved = load_model(path)
    about: dict[str, Any] = {
        "feature_names": saved.feature_names,
        "title": title,
        "encoder": saved.encoding.rows.step(),
    }
    if file is None:
        scoresieve.report.write_report(saved.model, output, **about)
        return
    data = read_labelled(file, saved, **reading)
    with naming(data.file):
        scoresieve.report.write_report(saved.model, output, data.X, data.y, **about)
