"""The table of all fitted attributes, from which each estimator names those that it has."""

from __future__ import annotations

import numbers
import sys
from dataclasses import replace
from typing import Any

import numpy as np

from scoresieve._arrays import Array
from scoresieve._record import Record
from scoresieve.estimators.persistence import kinds, rows
from scoresieve.estimators.persistence.kinds import Field, array, columns, each, number
from scoresieve.estimators.persistence.named import check_named, plain_named, to_named
from scoresieve.estimators.persistence.packing import DTYPE
from scoresieve.estimators.sieve.fold_selections import FoldSelections
from scoresieve.estimators.sieve.smaller import SmallerModels
from scoresieve.estimators.targets import Targets
from scoresieve.losses import Loss
from scoresieve.risks import CutWeights, Slopes
from scoresieve.solvers.limits import Progress, Status


def _check_labels(record: Record, key: Any, size: str, dtypes: str = "biufmMUO") -> Array:
    """Labels of any dtype that scikit-learn takes; objects are text."""
    labels = record.array(key, dtypes, (size,))
    if labels.dtype.kind == "O" and not all(isinstance(item, str) for item in labels):
        record.refuse(key, "holds objects that are no text.")
    return labels


def _to_targets(plain: dict[str, Any]) -> Targets:
    return Targets(**{**plain, "dtype": np.dtype(plain["dtype"])})


def _check_targets(record: Record, key: Any) -> dict[str, Any]:
    """Classes as ``read_targets`` finds them: sorted labels, or the numbers of columns."""
    entry = record.record(key)
    kind = entry.choice("kind", ("binary", "multiclass", "multilabel"))
    classes = _check_labels(entry, "classes", "classes")
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


def _named(kind: str) -> Field:
    return Field(lambda record, key: check_named(record, key, kind), plain_named, to_named)


#: The arguments of ``certify`` that a model keeps.
_ARGUMENTS = {
    "measure": replace(_named("measure"), nullable=True),
    "loss": replace(_named("loss"), nullable=True),
    "bound": Field(lambda record, key: record.choice(key, ("tight", "paper"))),
    "budget": number(int, 1),
    "C": number(float, 0.0),
    "intercept_scaling": number(float, 0.0),
    "always_features": columns(),
    "excluded_features": columns(),
    "feature_groups": replace(array(np.int64, "features"), nullable=True),
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
        return rows.check_matrix(record, key, "biuf", ("labels", "problems"))
    return _check_labels(record, key, "labels")


def _check_warm_weights(record: Record, key: Any) -> Array:
    """One weight for each label."""
    if record.known.values["_warm_y"] is None:
        record.refuse(key, "needs the labels that belong to the weights.")
    return record.array(key, np.float64, ("labels",), finite=True)


def _check_point(record: Record, key: Any) -> dict[str, Array]:
    """Slopes, or weights that are not negative and as many cuts of one width."""
    values, sizes = record.known.values, record.known.sizes
    arguments = values.get("_arguments", {"loss": None, "measure": values.get("measure_")})
    kind = to_named(arguments["loss"] or arguments["measure"])
    if kind is None:
        record.refuse(key, "must be null: such a model has no certificate.")
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


#: What the summary of a chosen model says of its point of the grid.
_POINT_HAS = ("C", "selection", "final_model")


def _check_results(record: Record, key: Any) -> dict[str, Any]:
    """The points of a grid, and columns with a number or a text for each of them."""
    entry = record.record(key)
    found: dict[str, Any] = dict.fromkeys(entry.names())
    found["mean_test_score"] = entry.array("mean_test_score", np.float64, ("points",))
    found["std_test_score"] = entry.array("std_test_score", np.float64, ("points",))
    found["params"] = points = entry.take("params", list)
    record.size(key, "points", len(points))
    found |= {name: entry.array(name, "ifO", ("points",)) for name in entry.names()}
    if not all(type(point) is dict and {*_POINT_HAS} <= {*point} for point in points):
        entry.refuse("params", f"must be points of a grid, each with {', '.join(_POINT_HAS)}.")
    if not all(
        [type(point[k]) is int for k in point if k.startswith("n_")] == [True] for point in points
    ):
        entry.refuse("params", "must be points with one number of columns each.")
    # What nothing holds back has no C.
    cells = [point[k] for point in points for k in point if k != "C" or point[k] is not None]
    cells += [cell for name in found if name != "params" for cell in found[name]]
    if not all(isinstance(cell, str | numbers.Real) for cell in cells):
        record.refuse(key, "holds what is neither a number nor text.")
    return found


def _check_rows(record: Record, key: Any, size: str = "problems") -> Array:
    """Numbers of rows of the tables: by default the chosen one for each problem."""
    found = record.array(key, np.int64, (size,))
    if np.any(found < 0) or np.any(found >= record.known.sizes["points"]):
        record.refuse(key, "holds a number that is no row of the tables.")
    return found


def _check_smaller(record: Record, key: Any) -> dict[str, Any]:
    """As many weights, intercepts and thresholds as there are rows of the table."""
    entry, n = record.record(key), f"models of {record.name}.{key}"
    plain: dict[str, Any] = {"rows": _check_rows(entry, "rows", n)}
    for name in ("intercepts", "odds"):
        plain[name] = entry.array(name, np.float64, (n,), finite=True)
    plain["coefs"] = rows.check_matrix(entry, "coefs", "f", (n, "features"))
    entry.end()
    return plain


def _check_selections(record: Record, key: Any) -> dict[str, Any]:
    """Counts from 1 to the number of fits, for as many sizes as there are rows of the table."""
    entry, n = record.record(key), f"sizes of {record.name}.{key}"
    plain: dict[str, Any] = {"rows": _check_rows(entry, "rows", n)}
    plain["n_folds"] = most = entry.number("n_folds", int, 1)
    plain["counts"] = rows.check_matrix(entry, "counts", np.int64, (n, "features"))
    counts = rows.to_matrix(plain["counts"])
    if isinstance(counts, np.ndarray) or np.any((counts.data < 1) | (counts.data > most)):
        entry.refuse("counts", f"must be a sparse matrix of numbers from 1 to {most}.")
    entry.end()
    return plain


_REAL = Field(lambda record, key: record.take(key, float))
_REALS, _FINITE = array(np.float64, "problems"), array(np.float64, "problems", finite=True)
_WHOLE = array(np.int64, "problems")
_WEIGHTS = kinds.weights("problems", "features")
# A proof, too: its size follows the rounds, and predictions need it as little.
_HISTORY = replace(kinds.table(Progress), nullable=True, is_proof=True)
_SMALLER = Field(
    _check_smaller,
    plain=lambda models: {**vars(models), "coefs": rows.plain_sparse(models.coefs)},
    value=lambda plain: SmallerModels(**{**plain, "coefs": rows.to_matrix(plain["coefs"])}),
)
_SELECTIONS = Field(
    _check_selections,
    plain=lambda found: {**vars(found), "counts": rows.plain_sparse(found.counts)},
    value=lambda plain: FoldSelections(**{**plain, "counts": rows.to_matrix(plain["counts"])}),
)
_STATUS = Field(
    lambda record, key: record.choice(key, [status.name for status in Status]),
    plain=lambda status: status.name,
    value=lambda name: Status[name],
)
_POINT = Field(
    _check_point,
    plain=lambda point: dict(vars(point)),
    value=lambda plain: Slopes(**plain) if "slopes" in plain else CutWeights(**plain),
    nullable=True,
    is_proof=True,
)

#: All fitted attributes by name, of models with one problem for each class.
FIELDS: dict[str, Field] = {
    "n_features_in_": kinds.count("features"),
    "feature_names_in_": Field(
        lambda record, key: _check_labels(record, key, "features", "O"), optional=True
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
    "measure_": _named("measure"),
    "support_": columns("selected"),
    "supports_": each(columns()),
    "coef_": _WEIGHTS,
    **dict.fromkeys(("intercept_", "_biases", "C_", "price_"), _FINITE),
    **dict.fromkeys(("primal_", "dual_", "gap_", "l0_gap_", "refit_gap_"), _REALS),
    "training_score_": _REALS,
    "n_samples_fit_": number(int, 1),
    **dict.fromkeys(("n_iter_", "n_steps_", "n_positives_"), _WHOLE),
    "status_": each(_STATUS),
    "stopped_by_": array("U", "problems"),
    "history_": each(_HISTORY),
    "path_": each(array(np.float64, None, 2)),
    "kernel_weights_": each(array(np.float64, "features")),
    "rankings_": each(array(np.int64, "features")),
    "scales_": replace(
        _WEIGHTS,
        plain=lambda scales: rows.plain_weights(np.array(scales)),
        value=lambda plain: list(rows.to_matrix(plain)),
    ),
    "_warm_y": Field(
        _check_warm_labels, rows.plain_sparse, rows.to_matrix, nullable=True, is_proof=True
    ),
    "_warm_weights": Field(_check_warm_weights, nullable=True, is_proof=True),
    "_dual_points": each(_POINT),
    # Of models that were chosen by cross-validation.
    "_tables": each(Field(_check_results)),
    "_rows": Field(_check_rows),
    "_odds": _FINITE,
    "_prices": _REALS,
    "smaller_models_": replace(each(_SMALLER), nullable=True),
    "fold_selections_": replace(each(_SELECTIONS), nullable=True),
    # Of bags: prototypes are the features of the model on the embedding.
    "n_columns_in_": kinds.count("columns"),
    "prototypes_": Field(
        lambda record, key: rows.check_matrix(record, key, "f", ("features", "columns")),
        rows.plain_sparse,
        rows.to_matrix,
    ),
    "prototype_indices_": columns("features", below=None),
    "sigma_": replace(number(float, 0.0), nullable=True),
    "embedding_": kinds.estimator("MILESEmbedding"),
    "model_": kinds.estimator("MeasureSVC"),
    "_origins": array(np.int64, "selected", 2),
}

#: Those of a model with one problem and no axis for it.
FIELDS_OF_ONE_PROBLEM: dict[str, Field] = {
    **{k: FIELDS[k] for k in ("n_features_in_", "feature_names_in_", "_arguments", "support_")},
    "coef_": kinds.weights("features"),
    **dict.fromkeys(("intercept_", "_offset"), number(float, -sys.float_info.max)),
    **dict.fromkeys(("primal_", "dual_", "gap_", "l0_gap_", "refit_gap_"), _REAL),
    "training_score_": _REAL,
    "n_samples_fit_": FIELDS["n_samples_fit_"],
    "n_iter_": number(int, 0),
    "status_": _STATUS,
    "history_": _HISTORY,
    "_dual_point": _POINT,
}


def fields_of(*names: str) -> dict[str, Field]:
    """Some fields of the table, in an order in which each check finds the sizes it needs."""
    return {name: FIELDS[name] for name in names}
