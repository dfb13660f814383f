"""The table of all fitted attributes, from which each estimator names those that it has."""

from __future__ import annotations

import dataclasses
import numbers
import sys
from typing import Any

import numpy as np

from scoresieve._arrays import Array
from scoresieve.estimators.persistence.kinds import (
    Field,
    array,
    columns,
    count,
    each,
    estimator,
    number,
    table,
    weights,
)
from scoresieve.estimators.persistence.named import (
    check_loss,
    check_measure,
    plain_loss,
    plain_measure,
    to_loss,
)
from scoresieve.estimators.persistence.packing import DTYPE
from scoresieve.estimators.persistence.record import Record
from scoresieve.estimators.persistence.rows import (
    check_matrix,
    plain_sparse,
    plain_weights,
    to_matrix,
)
from scoresieve.estimators.targets import Targets
from scoresieve.losses import Loss
from scoresieve.measures import Measure, get_measure
from scoresieve.risks import CutWeights, DualPoint, Slopes
from scoresieve.solvers.limits import Progress, Status


def _check_text(record: Record, key: Any, size: str, kinds: str = "biufmMUO") -> Array:
    """Labels of any dtype that scikit-learn takes; objects are text."""
    labels = record.array(key, kinds, (size,))
    if labels.dtype.kind == "O" and not all(isinstance(item, str) for item in labels):
        record.refuse(key, "holds objects that are no text.")
    return labels


def _to_targets(plain: dict[str, Any]) -> Targets:
    return Targets(**{**plain, "dtype": np.dtype(plain["dtype"])})


def _check_targets(record: Record, key: Any) -> dict[str, Any]:
    """Classes as ``read_targets`` finds them: sorted labels, or the numbers of columns."""
    entry = record.record(key)
    kind = entry.choice("kind", ("binary", "multiclass", "multilabel"))
    classes = _check_text(entry, "classes", "classes")
    positive, dtype = entry.take("positive", int), entry.take("dtype", str)
    entry.end()
    sorted_classes = np.arange(classes.size) if kind == "multilabel" else np.unique(classes)
    if not np.array_equal(sorted_classes, classes):
        entry.refuse("classes", "must be distinct and sorted.")
    if classes.size < 2 or ((classes.size == 2) != (kind == "binary") and kind != "multilabel"):
        entry.refuse("classes", f"has {classes.size} labels, which are not {kind}.")
    if positive not in ((0, 1) if kind == "binary" else (0,)):
        entry.refuse("positive", f"is {positive}, which is not the number of a class.")
    if dtype != "|O" and not DTYPE.fullmatch(dtype):
        entry.refuse("dtype", f"is {dtype!r:.40}, which labels do not have.")
    plain = {"kind": kind, "classes": classes, "positive": positive, "dtype": dtype}
    record.size(key, "problems", _to_targets(plain).n_problems)
    return plain


_MEASURE = Field(check_measure, plain_measure, get_measure, nullable=True)
_LOSS = Field(check_loss, plain_loss, to_loss, nullable=True)
#: The arguments of ``certify`` that a model keeps.
_ARGUMENTS = {
    "measure": _MEASURE,
    "loss": _LOSS,
    "budget": number(int, 1),
    "C": number(float, 0.0),
    "intercept_scaling": number(float, 0.0),
    "always_features": columns(),
    "excluded_features": columns(),
    "feature_groups": dataclasses.replace(array(np.int64, "features"), nullable=True),
}


def _check_arguments(record: Record, key: Any) -> dict[str, Any]:
    """All of a problem but its data."""
    entry = record.record(key)
    plain = {name: part.read(entry, name) for name, part in _ARGUMENTS.items()}
    entry.end()
    if (plain["measure"] is None) == (plain["loss"] is None):
        record.refuse(key, "must have a measure or a loss, one of them.")
    return plain


def _check_warm_labels(record: Record, key: Any) -> Any:
    """The labels that a warm start compares with new ones."""
    if record.known.values["_targets"]["kind"] == "multilabel":
        return check_matrix(record, key, "biuf", ("labels", "problems"))
    return _check_text(record, key, "labels")


def _check_warm_weights(record: Record, key: Any) -> Array:
    """One weight for each label."""
    if record.known.values["_warm_y"] is None:
        record.refuse(key, "needs the labels that belong to the weights.")
    return record.array(key, np.float64, ("labels",), finite=True)


def _to_point(plain: dict[str, Any]) -> DualPoint:
    return Slopes(**plain) if "slopes" in plain else CutWeights(**plain)


def _trained_for(values: dict[str, Any]) -> Measure | Loss | None:
    """What the model was trained for, as far as it has been read."""
    arguments = values.get("_arguments") or {"loss": None, "measure": values.get("measure_")}
    return _LOSS.to_value(arguments["loss"]) or _MEASURE.to_value(arguments["measure"])


def _check_point(record: Record, key: Any) -> dict[str, Array]:
    """Slopes, or weights that are not negative and as many cuts of one width."""
    values, sizes = record.known.values, record.known.sizes
    kind = _trained_for(values)
    if kind is None:
        record.refuse(key, "must be null: this model has no certificate.")
    entry = record.record(key)
    if "labels" in sizes and values.get("_warm_weights") is None:
        # Without sample weights, by which rows may be repeated, there is one row for each label.
        sizes |= {"rows": sizes["labels"], "bytes": -(-sizes["labels"] // 8)}
    if isinstance(kind, Loss):
        plain = {"slopes": entry.array("slopes", np.float64, ("rows",), finite=True)}
    else:
        alpha = entry.array("alpha", np.float64, (None,), finite=True)
        dtype, width = (np.uint8, "bytes") if kind.flips_examples else (np.float64, "rows")
        # No cuts have no width.
        shape = (alpha.size, width if alpha.size else None)
        plain = {"alpha": alpha, "cuts": entry.array("cuts", dtype, shape, finite=True)}
        if np.any(alpha < 0):
            entry.refuse("alpha", "must not be negative.")
    entry.end()
    return plain


def _check_results(record: Record, key: Any) -> dict[str, Any]:
    """The points of a grid, and columns with a number for each of them, or a text."""
    entry = record.record(key)
    order = entry.names()
    found: dict[str, Any] = {"mean_test_score": entry.array("mean_test_score", "f", ("points",))}
    points = entry.items("params", record.known.sizes["points"])
    found["params"] = [_check_cells(points.record(number)) for number in points.names()]
    for name in entry.names():
        found[name] = entry.array(name, "ifO", ("points",))
        _check_cells(Record(dict(enumerate(found[name])), f"{entry.name}.{name}"))
    if not all("C" in point for point in found["params"]):
        entry.refuse("params", "must have C in each point.")
    return {name: found[name] for name in order}


def _check_cells(record: Record) -> dict[Any, Any]:
    """Numbers and text."""
    cells = {key: record.take(key) for key in record.names()}
    for key, cell in cells.items():
        if not isinstance(cell, str | numbers.Real):
            record.refuse(key, f"must be a number or text, not {cell!r:.80}.")
    return cells


def _check_best_index(record: Record, key: Any) -> int:
    """One of the points."""
    return record.number(key, int, 0, record.known.sizes["points"] - 1)


_STATUS = Field(
    lambda record, key: record.choice(key, [status.name for status in Status]),
    plain=lambda status: status.name,
    value=lambda name: Status[name],
)
_POINT = Field(
    _check_point,
    plain=lambda point: dict(vars(point)),
    value=_to_point,
    nullable=True,
    is_proof=True,
)
_HISTORY = table(Progress)
_REAL = Field(lambda record, key: record.take(key, float))

#: All fitted attributes by name.
FIELDS: dict[str, Field] = {
    "n_features_in_": count("features"),
    "feature_names_in_": Field(
        lambda record, key: _check_text(record, key, "features", "O"), optional=True
    ),
    "_targets": Field(
        _check_targets,
        plain=lambda targets: {**vars(targets), "dtype": targets.dtype.str},
        value=_to_targets,
    ),
    "_arguments": Field(
        _check_arguments,
        plain=lambda values: {k: part.to_plain(values[k]) for k, part in _ARGUMENTS.items()},
        value=lambda plain: {k: part.to_value(plain[k]) for k, part in _ARGUMENTS.items()},
    ),
    "measure_": Field(check_measure, plain_measure, get_measure),
    "support_": columns("selected"),
    "coef_": weights("problems", "features"),
    "intercept_": array(np.float64, "problems", finite=True),
    "_biases": array(np.float64, "problems", finite=True),
    "supports_": each(columns()),
    "C_": array(np.float64, "problems", finite=True),
    **dict.fromkeys(("primal_", "dual_", "gap_", "l0_gap_"), array(np.float64, "problems")),
    **dict.fromkeys(("n_iter_", "n_steps_"), array(np.int64, "problems")),
    "status_": each(_STATUS),
    "stopped_by_": array("U", "problems"),
    "history_": each(_HISTORY),
    "path_": each(array(np.float64, None, 2)),
    "kernel_weights_": each(array(np.float64, "features")),
    "rankings_": each(array(np.int64, "features")),
    "scales_": dataclasses.replace(
        weights("problems", "features"),
        plain=lambda scales: plain_weights(np.array(scales)),
        value=lambda plain: list(to_matrix(plain)),
    ),
    "_warm_y": Field(_check_warm_labels, plain_sparse, to_matrix, nullable=True, is_proof=True),
    "_warm_weights": Field(_check_warm_weights, nullable=True, is_proof=True),
    "_dual_points": each(_POINT),
    # Of models that were chosen by cross-validation.
    "n_splits_": number(int, 1),
    "cv_results_": Field(_check_results),
    "best_index_": Field(_check_best_index),
    "estimator_": estimator("MeasureSVC", "BagMeasureSVC"),
    # Of bags: prototypes are the features of the model on the embedding.
    "n_columns_in_": count("columns"),
    "prototypes_": Field(
        lambda record, key: check_matrix(record, key, "f", ("features", "columns")),
        plain_sparse,
        to_matrix,
    ),
    "prototype_indices_": columns("features", below=None),
    "sigma_": dataclasses.replace(number(float, 0.0), nullable=True),
    "embedding_": estimator("MILESEmbedding"),
    "model_": estimator("MeasureSVC"),
    "_origins": array(np.int64, "selected", 2),
}

#: Attributes of a model with one problem and no axis for it.
OF_ONE_PROBLEM: dict[str, Field] = {
    **{k: FIELDS[k] for k in ("n_features_in_", "feature_names_in_", "_arguments", "support_")},
    "coef_": weights("features"),
    **dict.fromkeys(("intercept_", "_offset"), number(float, -sys.float_info.max)),
    **dict.fromkeys(("primal_", "dual_", "gap_", "l0_gap_"), _REAL),
    "n_iter_": number(int, 0),
    "status_": _STATUS,
    "history_": _HISTORY,
    "_dual_point": _POINT,
}


def fields_of(*names: str) -> dict[str, Field]:
    """Some fields of the table, in an order in which each check finds the sizes it needs."""
    return {name: FIELDS[name] for name in names}
