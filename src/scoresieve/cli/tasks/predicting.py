"""A saved model on the rows, or bags, of a file: predictions, scores, certificates, report."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scoresieve import get_measure
from scoresieve._arrays import FloatArray
from scoresieve._files import replaced
from scoresieve.cli.data.encoding import Table, text_of
from scoresieve.cli.data.reading import bags_of, read_like
from scoresieve.cli.errors import BadData, WrongUse, naming, one_line
from scoresieve.cli.output import check_output, json_line, progress_of_reading, write
from scoresieve.cli.tasks.models import SavedModel, load_model, read_labelled
from scoresieve.design import DamagedBlocksError
from scoresieve.estimators.linear_model import above_thresholds, measure_of, measure_score
from scoresieve.estimators.model import THRESHOLD_GOALS

#: The 97.5 % quantile of the normal distribution: intervals of 95 %.
QUANTILE = 1.959963984540054


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
        table = read_like(file, saved.encoding, bag=bag, copied=copied, watch=watch)
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
    saved: SavedModel, path: str, measures: Sequence[str] = (), **reading: Any
) -> dict[str, float]:
    """Measures of a model on the labelled rows, or bags, of a file; its own if none is named.

    Parameters
    ----------
    **reading
        As for :func:`read_labelled`.
    """
    return scores_of(saved, read_labelled(path, saved, **reading), measures)


def scores_of(saved: SavedModel, data: Table, measures: Sequence[str]) -> dict[str, float]:
    """Measures of a model on labelled rows; its own if none is named."""
    model = saved.model
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


def score_rows(
    saved: SavedModel, path: str, measures: Sequence[str] = (), **reading: Any
) -> dict[str, Any]:
    """:func:`held_out_scores`, and for two classes precision and recall of the alarms.

    These are records of value, low and high, with the counts that they are from.
    """
    data = read_labelled(path, saved, **reading)
    found: dict[str, Any] = dict(scores_of(saved, data, measures))
    targets = saved.targets
    if targets.kind != "binary":
        return found
    alarms = targets.sign * saved.model.decision_function(data.X) > 0
    is_positive = next(targets.labels(data.y)) > 0
    n_hits, n_alarms, n_positives = (
        int(np.count_nonzero(each)) for each in (alarms & is_positive, alarms, is_positive)
    )
    for name, of in (("precision", n_alarms), ("recall", n_positives)):
        low, high = wilson_interval(n_hits, of)
        found[name] = {"value": n_hits / of if of else math.nan, "low": low, "high": high}
    return found | {
        **{"hits": n_hits, "alarms": n_alarms, "positives": n_positives},
        "rows": is_positive.size,
    }


def wilson_interval(n_hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927); NaN of no rows."""
    if not n:
        return math.nan, math.nan
    share, z = n_hits / n, QUANTILE
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return max(0.0, middle - half), min(1.0, middle + half)


def score_summary(found: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """What :func:`score_rows` found as a table, and a sentence about the alarms of two classes."""
    if "alarms" not in found:
        return [{"measure": name, "score": value} for name, value in found.items()], ""
    rows = []
    for name, value in found.items():
        if not isinstance(value, int):
            value = (
                value if isinstance(value, dict) else {"value": value, "low": None, "high": None}
            )
            ends = {"95 % from": value["low"], "to": value["high"]}
            rows.append({"measure": name, "score": value["value"], **ends})
    sentence = (
        f"{found['alarms']} alarms in {found['rows']} rows, {found['hits']} of them right; "
        f"{found['positives']} positives\n"
    )
    return rows, sentence


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
    about: dict[str, Any] = {"feature_names": saved.feature_names, "title": title}
    if file is None:
        saved.model.report(output, **about)
        return
    data = read_labelled(file, saved, **reading)
    with naming(data.file):
        saved.model.report(output, data.X, data.y, **about)
