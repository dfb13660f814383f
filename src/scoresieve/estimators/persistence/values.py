"""The fitted values of linear models as fields: classes, problem, models, choices, proofs."""

from __future__ import annotations

import numbers
from dataclasses import replace
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from scoresieve._arrays import Array
from scoresieve._record import Record
from scoresieve.estimators.model import (
    THRESHOLD_GOALS,
    ChoiceTable,
    ClassModel,
    FitCertificate,
    FoldSelections,
    ThresholdTable,
)
from scoresieve.estimators.persistence.fields import (
    Field,
    array,
    columns,
    count,
    each,
    labels,
    matrix,
    named,
    nullable,
    number,
    of_type,
    one_of,
    proof,
    struct,
    table,
    to_named,
)
from scoresieve.estimators.persistence.file import DTYPE
from scoresieve.estimators.targets import Targets
from scoresieve.losses import Loss
from scoresieve.risks import CutWeights, Slopes
from scoresieve.solvers.limits import Progress, Status


def _verify_targets(entry: Record, plain: dict[str, Any]) -> None:
    """Classes as ``read_targets`` finds them: sorted labels, or the numbers of columns."""
    kind, classes = plain["kind"], plain["classes"]
    positive, dtype = plain["positive"], plain["dtype"]
    sorted_classes = np.arange(classes.size) if kind == "multilabel" else np.unique(classes)
    if not np.array_equal(sorted_classes, classes):
        entry.refuse("classes", "must be distinct and sorted.")
    if classes.size < 2 or ((classes.size == 2) != (kind == "binary") and kind != "multilabel"):
        entry.refuse("classes", f"has {classes.size} labels, which does not match {kind}.")
    if positive not in ((0, 1) if kind == "binary" else (0,)):
        entry.refuse("positive", f"is {positive}, which is not the index of a class.")
    if dtype != "|O" and not DTYPE.fullmatch(dtype):
        entry.refuse("dtype", f"is {dtype!r:.40}, which labels cannot have.")
    entry.size("classes", "problems", 1 if kind == "binary" else classes.size)


_TARGETS = struct(
    Targets,
    {
        "kind": one_of("binary", "multiclass", "multilabel"),
        "classes": labels("classes"),
        "positive": of_type(int),
        "dtype": Field(lambda record, key: record.take(key, str), lambda d: d.str, np.dtype),
    },
    _verify_targets,
)


def _verify_problem(entry: Record, plain: dict[str, Any]) -> None:
    if (plain["measure"] is None) == (plain["loss"] is None):
        raise ValueError(f"{entry.name} must have either a measure or a loss.")


#: All of a problem but its data, the arguments of ``certify``.
_PROBLEM = struct(
    dict,
    {
        "measure": nullable(named("measure")),
        "loss": nullable(named("loss")),
        "bound": one_of("tight", "paper"),
        "budget": number(int, 1),
        "C": number(float, 0.0),
        "intercept_scaling": number(float, 0.0),
        "always_features": columns(),
        "excluded_features": columns(),
        "feature_groups": nullable(array(np.int64, "features")),
    },
    _verify_problem,
)

_LABELS, _LABEL_MATRIX = labels("labels"), matrix("biuf", "labels", "problems")


def _check_warm_labels(record: Record, key: Any) -> Any:
    """The labels that a warm start compares with new ones."""
    is_matrix = record.known.values["targets_"]["kind"] == "multilabel"
    return (_LABEL_MATRIX if is_matrix else _LABELS).check(record, key)


def _check_warm_weights(record: Record, key: Any) -> Array:
    """One weight for each label."""
    if record.known.values["_warm_y"] is None:
        record.refuse(key, "needs the labels that belong to the weights.")
    return record.array(key, np.float64, ("labels",), finite=True)


def _check_point(record: Record, key: Any) -> dict[str, Array]:
    """Slopes, or weights that are not negative and as many cuts of one width."""
    values, sizes = record.known.values, record.known.sizes
    problem = values.get("problem_") or {"loss": None, "measure": values["measure_"]}
    kind = to_named(problem["loss"] or problem["measure"])
    is_loss = isinstance(kind, Loss)
    # Whole weights of other measures repeat the rows.
    is_repeated = values.get("_warm_weights") is not None and not (is_loss or kind.takes_weights)
    if "labels" in sizes and not is_repeated:
        sizes |= {"rows": sizes["labels"], "bytes of rows": -(-sizes["labels"] // 8)}
    entry = record.record(key)
    if is_loss:
        plain = {"slopes": entry.array("slopes", np.float64, ("rows",), finite=True)}
    else:
        alpha = entry.array("alpha", np.float64, (None,), finite=True)
        width = "bytes of rows" if kind.flips_examples else "rows"
        dtype = np.uint8 if kind.flips_examples else np.float64
        shape = (alpha.size, width if alpha.size else None)  # no cuts have no width
        plain = {"alpha": alpha, "cuts": entry.array("cuts", dtype, shape, finite=True)}
        if np.any(alpha < 0):
            entry.refuse("alpha", "must not be negative.")
    entry.end()
    return plain


_POINT = Field(
    _check_point,
    plain=lambda point: dict(vars(point)),
    value=lambda plain: Slopes(**plain) if "slopes" in plain else CutWeights(**plain),
)
_STATUS = Field(
    lambda record, key: record.choice(key, [status.name for status in Status]),
    plain=lambda status: status.name,
    value=lambda name: Status[name],
)


def _check_gap(record: Record, key: Any) -> float:
    """Every fit has one; without a lower bound it is infinite."""
    gap = record.take(key, float)
    if isnan(gap):
        record.refuse(key, "must not be NaN.")
    return gap


_CERTIFICATE = struct(
    FitCertificate,
    {
        **dict.fromkeys(("primal", "dual", "l0_gap", "refit_gap"), of_type(float)),
        "gap": Field(_check_gap),
        "status": nullable(_STATUS),
        # Its size follows the rounds, and predictions do not need it.
        "history": proof(table(Progress)),
        "dual_point": proof(_POINT),
    },
)

#: What the summary of a chosen model shows of its setting, besides the number of columns.
_POINT_HAS = {"C", "selection", "final_model"}
_SCORES = {f"{name}_test_score" for name in ("mean", "std", "rank")}


def _check_results(record: Record, key: Any) -> dict[str, Any]:
    """The points of a grid, and columns with a number or a text for each of them."""
    entry = record.record(key)
    found: dict[str, Any] = dict.fromkeys(entry.names())
    found["params"] = points = entry.take("params", list)
    record.size(key, "points", len(points))
    names = {*points[0]} if points and type(points[0]) is dict else set()
    if not names >= _POINT_HAS or not all(type(p) is dict and {*p} == names for p in points):
        entry.refuse("params", f"must be settings, each with {sorted(_POINT_HAS)}.")
    if not all(type(p["selection"]) is type(p["final_model"]) is str for p in points):
        entry.refuse("params", "must name selection and final_model of each setting.")
    sizes = [name for name in names if name.startswith("n_")]
    if len(sizes) != 1 or not all(type(point[sizes[0]]) is int for point in points):
        entry.refuse("params", "must be settings with one number of columns each.")
    for name in sorted(_SCORES | {f"param_{name}" for name in names - {"C"}}):
        is_real = name in ("mean_test_score", "std_test_score")
        found[name] = entry.array(name, np.float64 if is_real else "ifO", ("points",))
    entry.end()
    # What nothing regularises has no C.
    cells = [point[k] for point in points for k in point if k != "C" or point[k] is not None]
    for name, column in {**found, "params": cells}.items():
        if not all(isinstance(cell, str | numbers.Real) for cell in column):
            entry.refuse(name, "holds values that are neither numbers nor strings.")
    return found


def _check_row(record: Record, key: Any) -> int:
    """The number of a row of the table."""
    return record.number(key, int, 0, record.known.sizes["points"] - 1)


def _verify_folds(entry: Record, plain: dict[str, Any]) -> None:
    """Rows of the table, and counts from 1 to the number of fits."""
    rows, counts, most = plain["rows"], plain["counts"], plain["n_folds"]
    if np.any(rows < 0) or np.any(rows >= entry.known.sizes["points"]):
        entry.refuse("rows", "holds a number that is not a row of the table.")
    if type(counts) is not dict or np.any((counts["data"] < 1) | (counts["data"] > most)):
        entry.refuse("counts", f"must be a sparse matrix of numbers from 1 to {most}.")


_FOLDS = struct(
    FoldSelections,
    {
        "rows": array(np.int64, ".sizes"),
        "n_folds": number(int, 1),
        "counts": matrix(np.int64, ".sizes", "features"),
    },
    _verify_folds,
)


def _verify_thresholds(entry: Record, plain: dict[str, Any]) -> None:
    """Descending thresholds, and counts that rise from 0 to those of both classes."""
    if np.any(np.diff(plain["thresholds"]) > 0):
        entry.refuse("thresholds", "must be descending.")
    for name in ("n_hits", "n_false_alarms"):
        counts = plain[name]
        if counts.size < 2 or counts[0] != 0 or counts[-1] <= 0 or np.any(np.diff(counts) < 0):
            entry.refuse(name, "must rise from 0 to the rows of the class.")


_THRESHOLDS = struct(
    ThresholdTable,
    {
        name: array(np.float64, ".thresholds", finite=True)
        for name in ("thresholds", "n_hits", "n_false_alarms")
    },
    _verify_thresholds,
)


def _check_goal(record: Record, key: Any) -> dict[str, float]:
    """What a threshold was chosen for."""
    entry = record.record(key)
    names = next((each for each in THRESHOLD_GOALS if {*each} == {*entry.names()}), None)
    if names is None:
        record.refuse(key, f"must have the entries of one of {THRESHOLD_GOALS}.")
    return {name: entry.number(name, float, 0.0) for name in names}


#: What every linear model has, one of those with fewer columns included.
_LINEAR = {
    "columns": columns(".columns"),
    "weights": array(np.float64, ".columns", finite=True),
    **dict.fromkeys(("intercept", "threshold"), number(float)),
    "C": nullable(number(float, 0.0)),
    **dict.fromkeys(("price", "training_score", "constant_score", "alarm_rate"), of_type(float)),
    "goal": nullable(Field(_check_goal, plain=dict)),
    **dict.fromkeys(("n_positives", "n_iter"), number(int, 0)),
    "vetoes": array(np.int64, None, 4),
}
#: Models with fewer columns share the table of the chosen one.
_ROW = struct(partial(ChoiceTable, {}), {"row": Field(_check_row)})


def _with_table(table: Any, smaller: Any, **parts: Any) -> ChoiceTable:
    own = [replace(one, choice=replace(one.choice, table=table)) for one in smaller]
    return ChoiceTable(table, smaller=tuple(own), **parts)


_CHOICE = struct(
    _with_table,
    {
        "table": Field(_check_results),
        "row": Field(_check_row),
        "smaller": each(struct(ClassModel, {**_LINEAR, "choice": _ROW}), None, tuple),
        "folds": nullable(_FOLDS),
        "thresholds": _THRESHOLDS,
    },
)


def _no(what: str) -> Field:
    """Null, of models without it."""
    refusal = f"must be null: such a model has no {what}."
    return nullable(Field(lambda record, key: record.refuse(key, refusal)))


def _models(n_models: int | str, *, certificate: bool = False, choice: bool = False) -> Field:
    """A model for each class, whose weights of all columns fit into the memory allowed."""
    of_fit = {
        "certificate": _CERTIFICATE if certificate else _no("certificate"),
        "choice": _CHOICE if choice else _no("table of choices"),
    }
    found = each(struct(ClassModel, _LINEAR | of_fit), n_models, tuple)

    def check(record: Record, key: Any) -> Any:
        known = record.known
        n = known.sizes[n_models] if isinstance(n_models, str) else n_models
        n_bytes = 8 * n * known.sizes["features"]
        if not known.values.get("_is_sparse") and n_bytes > known.max_bytes:
            record.refuse(
                key,
                f"are {n} of {known.sizes['features']} columns: dense weights would take {n_bytes} "
                f"bytes, more than max_bytes={known.max_bytes}. Raise max_bytes, or save after "
                "sparsify().",
            )
        return found.check(record, key)

    return replace(found, check=check)


#: The columns that a model was fitted on.
_COLUMNS: dict[str, Field] = {
    "n_features_in_": count("features"),
    "feature_names_in_": nullable(labels("features", "O"), optional=True),
}
#: What classifiers may keep, in an order in which each check finds the sizes that it needs.
_OF_CLASSIFIERS: dict[str, Field] = {
    "targets_": _TARGETS,
    "problem_": _PROBLEM,
    "measure_": named("measure"),
    "n_samples_fit_": number(int, 1),
    "_is_sparse": of_type(bool),
    # What a warm start compares: labels and weights of the fit before.
    "_warm_y": proof(replace(_LABEL_MATRIX, check=_check_warm_labels)),
    "_warm_weights": proof(Field(_check_warm_weights)),
}
_ALWAYS = ("targets_", "n_samples_fit_", "_is_sparse")


def classifier(*has: str, columns: dict[str, Field] = _COLUMNS) -> dict[str, Field]:
    """The fitted state of a linear classifier: its classes, and a model for each.

    Parameters
    ----------
    *has : str
        What there is besides: ``"problem_"``, ``"measure_"``, ``"_warm_y"``, ``"_warm_weights"``;
        and in each model a ``"certificate"`` or a ``"choice"``.
    columns : dict of str to Field
        The columns selected from; sets the size ``"features"``.
    """
    kept = {k: part for k, part in _OF_CLASSIFIERS.items() if k in (*_ALWAYS, *has)}
    models = _models("problems", certificate="certificate" in has, choice="choice" in has)
    return {**columns, **kept, "models_": models}


#: What a fitted regression keeps: one model, and what was taken off y before the fit.
REGRESSOR: dict[str, Field] = {
    **_COLUMNS,
    "problem_": _PROBLEM,
    "n_samples_fit_": number(int, 1),
    "offset_": number(float),
    "models_": _models(1, certificate=True),
}
