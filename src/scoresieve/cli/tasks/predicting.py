"""A saved model on the rows, or bags, of a file: predictions, scores, certificates, report."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

import scoresieve
from scoresieve import get_measure
from scoresieve._arrays import FloatArray
from scoresieve._files import replaced
from scoresieve.cli.data.labels import Table
from scoresieve.cli.data.reading import bags_of, read_like
from scoresieve.cli.errors import BadData, WrongUse, naming, one_line
from scoresieve.cli.output import (
    check_output,
    json_line,
    progress_of_reading,
    write,
    write_table,
)
from scoresieve.cli.tasks.models import SavedModel, load_model, read_labelled
from scoresieve.design import DamagedBlocksError
from scoresieve.estimators.linear_model import class_scores, measure_of, measure_score
from scoresieve.estimators.model import THRESHOLD_GOALS
from scoresieve.estimators.targets import Targets
from scoresieve.tables.encoding import text_of, to_predict

#: The 97.5 % quantile of the normal distribution: intervals of 95 %.
QUANTILE = 1.959963984540054
#: Classes up to which a confusion matrix is written as text.
MOST_SHOWN = 12


def predict_file(
    path: str,
    file: str,
    *,
    output: str | None,
    as_json: bool,
    quiet: bool,
    top: int | None = None,
    ids: Sequence[str] = (),
    keep: Sequence[str] = (),
    bag: str | None = None,
    drop: tuple[str, ...] = (),
    of_bags: bool = False,
    **goal: float | None,
) -> None:
    """Write predictions of the model at ``path`` to stdout or to ``output``.

    Parameters
    ----------
    top : int, optional
        How many of the highest scores, if not all rows.
    ids, keep : sequence of str
        Columns of the file to put before and behind the predictions.
    bag, drop
        As for :func:`read_like`.
    **goal
        What another threshold shall reach: the arguments of ``ScoreSieve.at``, or None.
    """
    check_output(output)
    saved = load_model(path)
    if saved.is_of_bags != of_bags:
        what, command = ("rows", "predict") if of_bags else ("bags", "mil predict")
        raise WrongUse(f"{path}: this is a model of {what}; use scoresieve {command}.")
    saved = at_goal(saved, path, {name: value for name, value in goal.items() if value is not None})
    if top is not None and saved.targets.kind != "binary":
        raise WrongUse(f"{path}: --top {top} {_TWO_CLASSES}")
    copied = [*(("--id", name) for name in ids), *(("--keep", name) for name in keep)]
    with progress_of_reading(file, quiet) as watch:
        encoding = to_predict(*saved)
        table = read_like(file, encoding, bag=bag, drop=drop, copied=copied, watch=watch)
    X = bags_of(table) if of_bags else table.X
    columns = predictions(saved, X)
    if of_bags:
        columns = {"bag": X.names.tolist(), **columns}
    columns = beside(columns, table, len({*ids}))
    if top is not None:
        columns = highest(columns, top, table.file, is_numbered=not of_bags)
    text = (_as_json_lines if as_json else _as_csv)(columns)
    if output is None:
        write(text)
        return
    with replaced(output) as stream:
        stream.write(text.encode("utf-8"))


#: Why an option is refused for a model of more classes.
_TWO_CLASSES = (
    "needs a model of two classes; fit one class against the others with --positive LABEL."
)


def at_goal(saved: SavedModel, path: str, goal: Mapping[str, float]) -> SavedModel:
    """The model with the threshold for a recall, a precision, an alarm rate or costs, if asked."""
    if not goal:
        return saved
    options = " and ".join(f"--{name.replace('_', '-')} {value:g}" for name, value in goal.items())
    if {*goal} not in map(set, THRESHOLD_GOALS):
        raise WrongUse(
            f"{options}: give one of --recall, --precision and --alarm-rate, or --cost-of-miss and "
            "--cost-of-alarm together."
        )
    if saved.targets.kind != "binary":
        raise WrongUse(f"{path}: {options} {_TWO_CLASSES}")
    if not hasattr(saved.model, "at"):
        raise WrongUse(
            f"{path}: {options} needs scores of held-out rows, which a "
            f"{type(saved.model).__name__} does not have; fit with --method sieve."
        )
    with naming(path):
        return saved._replace(model=saved.model.at(**goal))


def beside(columns: dict[str, Any], table: Table, n_ids: int) -> dict[str, Any]:
    """The predictions between the first copied columns and the others."""
    for name in columns.keys() & table.copied.keys():
        raise WrongUse(
            f"{table.file}: the column {name} has the name of a column of predictions; rename it."
        )
    names = list(table.copied)
    before, behind = (
        {name: table.copied[name] for name in part} for part in (names[:n_ids], names[n_ids:])
    )
    return before | columns | behind


def highest(columns: dict[str, Any], k: int, file: str, *, is_numbered: bool) -> dict[str, Any]:
    """The rows of the k highest scores, highest first; ties by row number."""
    scores = np.asarray(columns["score"])
    if k > scores.size:
        raise WrongUse(f"{file}: --top {k} is more than its {scores.size} rows; lower it.")
    rows = np.argsort(-scores, kind="stable")[:k].tolist()
    numbers = {"row": [row + 1 for row in rows]} if is_numbered else {}
    return numbers | {name: [column[row] for row in rows] for name, column in columns.items()}


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
    saved: SavedModel, path: str, names: Sequence[str] = (), **reading: Any
) -> dict[str, Any]:
    """Measures of a model on the labelled rows, or bags, of a file; its own if none is named.

    Returns
    -------
    dict
        ``measures`` by name. Of two classes also ``alarms``: precision and recall with their
        intervals, and the counts behind them. Of more classes ``classes``, a row of counts and
        measures for each, and ``confusion``: rows are true labels, columns predicted ones.

    Parameters
    ----------
    **reading
        As for :func:`read_labelled`.
    """
    model, targets = saved.model, saved.targets
    data = read_labelled(path, saved._replace(encoding=to_predict(*saved)), **reading)
    own = measure_of(model) or get_measure("accuracy")
    measures = {name: get_measure(name) for name in names} or {own.name: own}
    with naming(data.file):
        about = targets, model.models_, data.y, model.decision_function(data.X)
        of_all = {name: measure_score(each, *about) for name, each in measures.items()}
        if targets.kind == "binary":
            return {"measures": of_all, "alarms": alarms_of(targets, *about[-2:])}
        confusion = confusion_matrix(data.y, targets.predict(about[-1]), labels=targets.classes)
        counts = confusion.sum(axis=1), confusion.sum(axis=0), confusion.diagonal()
        columns = {
            "class": saved.positives,
            **dict(zip(("rows", "predicted", "right"), (c.tolist() for c in counts), strict=True)),
            **{name: class_scores(each, *about).tolist() for name, each in measures.items()},
        }
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {"measures": of_all, "classes": rows, "confusion": confusion.tolist()}


def alarms_of(targets: Targets, y: Any, decision: FloatArray) -> dict[str, Any]:
    """Precision and recall of two classes: value, low and high, with the counts behind them."""
    alarms, is_positive = targets.sign * decision > 0, next(targets.labels(y)) > 0
    n_hits, n_alarms, n_positives = (
        int(np.count_nonzero(each)) for each in (alarms & is_positive, alarms, is_positive)
    )
    found: dict[str, Any] = {}
    for name, of in (("precision", n_alarms), ("recall", n_positives)):
        low, high = wilson_interval(n_hits, of)
        found[name] = {"value": n_hits / of if of else math.nan, "low": low, "high": high}
    counts = {"hits": n_hits, "alarms": n_alarms, "positives": n_positives}
    return {**found, **counts, "rows": is_positive.size}


def wilson_interval(n_hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927); NaN of no rows."""
    if not n:
        return math.nan, math.nan
    share, z = n_hits / n, QUANTILE
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return max(0.0, middle - half), min(1.0, middle + half)


def plain_scores(found: dict[str, Any]) -> dict[str, Any]:
    """The scores for JSON: measures by name, beside what there is of several classes."""
    others = {name: part for name, part in found.items() if name not in ("measures", "alarms")}
    return {**found["measures"], **found.get("alarms", {}), **others}


def score_rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """A row of the table for each measure, with the intervals of precision and recall."""
    rows = [{"measure": name, "score": score} for name, score in found["measures"].items()]
    shares = {k: each for k, each in found.get("alarms", {}).items() if isinstance(each, dict)}
    if not shares:
        return rows
    return [{**row, "95 % from": None, "to": None} for row in rows] + [
        {"measure": name, "score": each["value"], "95 % from": each["low"], "to": each["high"]}
        for name, each in shares.items()
    ]


def show_alarms(found: dict[str, Any]) -> None:
    """Write the counts of two classes, if the scores are of such."""
    if "alarms" in found:
        words = "{alarms} alarms in {rows} rows, {hits} of them right; {positives} positives\n"
        write(words.format(**found["alarms"]))


def show_classes(found: dict[str, Any]) -> None:
    """Write the tables of several classes, if the scores are of such."""
    rows = found.get("classes", [])
    if not rows:
        return
    write("\neach class against the rest\n")
    write_table(rows)
    if len(rows) > MOST_SHOWN:
        write(f"\nconfusion matrix of {len(rows)} classes: add --json\n")
        return
    names = [row["class"] for row in rows]
    write("\nconfusion matrix: a row for each true class, a column for each predicted one\n")
    write_table(
        [
            {"": name, **dict(zip(names, counts, strict=True))}
            for name, counts in zip(names, found["confusion"], strict=True)
        ]
    )


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
