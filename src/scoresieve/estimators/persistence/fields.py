"""The fitted attributes of linear models: each as plain data, and how that is checked.

Each has a :class:`Field`, which says how it is written with numbers, text, lists, dicts and arrays
alone, and what a file may hold in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from scoresieve.estimators.persistence.file import DTYPE
from scoresieve.estimators.persistence.record import Record
from scoresieve.estimators.targets import Targets
from scoresieve.measures import Measure, get_measure
from scoresieve.risks import CutWeights
from scoresieve.solvers.limits import Progress, Status

_MOST_FEATURES = 2**48
_SPARSE = {"csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array}
_STATUS = [status.name for status in Status]
_COUNTS = ("iteration", "n_cuts", "n_working", "n_support")
_BOUNDS = ("time", "primal", "dual")


@dataclass
class Known:
    """What has been read so far, in the order of the fields, and the sizes that follow from it."""

    max_bytes: float
    plain: dict[str, Any] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.plain["n_features_in_"]

    @property
    def n_problems(self) -> int:
        """Number of rows of the weights."""
        return to_targets(self.plain["_targets"]).n_problems


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Field:
    """``value(plain(x)) == x`` for one fitted attribute x, and a check of what a file holds.

    Parameters
    ----------
    check : callable
        ``check(record, key, known)`` takes the plain data from the record; ValueError if wrong.
    plain, value : callable
        To plain data and back.
    optional : bool
        Whether a fitted model may lack the attribute; a file holds null then.
    nullable : bool
        Whether the attribute may be None.
    """

    check: Callable[[Record, str, Known], Any]
    plain: Callable[[Any], Any] = _same
    value: Callable[[Any], Any] = _same
    optional: bool = False
    nullable: bool = False

    def read(self, record: Record, key: str, known: Known) -> Any:
        """The checked plain data; None if it is absent and may be."""
        if (self.optional or self.nullable) and record.is_null(key):
            return None
        return self.check(record, key, known)


def plain_measure(measure: Measure) -> str | Measure:
    """The name of a measure, or the measure itself if the name does not say all."""
    try:
        named = get_measure(measure.name)
    except ValueError:
        return measure
    return measure.name if named == measure else measure


def plain_targets(targets: Targets) -> dict[str, Any]:
    """The dtype as text, the rest as it is."""
    return {**vars(targets), "dtype": targets.dtype.str}


def to_targets(plain: dict[str, Any]) -> Targets:
    """The inverse of :func:`plain_targets`."""
    return Targets(**{**plain, "dtype": np.dtype(plain["dtype"])})


def check_targets(record: Record, key: str, known: Known) -> dict[str, Any]:
    """Classes as ``read_targets`` finds them: sorted labels, or the numbers of columns."""
    entry = record.record(key)
    kind = entry.choice("kind", ("binary", "multiclass", "multilabel"))
    classes = check_labels(entry, "classes", (None,))
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
    return {"kind": kind, "classes": classes, "positive": positive, "dtype": dtype}


def check_labels(record: Record, key: str, shape: tuple[int | None, ...]) -> NDArray:
    """Labels of any dtype that scikit-learn takes."""
    labels = record.array(key, "biufmMUO", shape)
    if labels.dtype.kind == "O" and not all(isinstance(item, str) for item in labels.ravel()):
        record.refuse(key, "holds objects that are no text.")
    return labels


def plain_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """The measure by its name, the rest as it is."""
    return {**settings, "measure": plain_measure(settings["measure"])}


def to_settings(plain: dict[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`plain_settings`."""
    return {**plain, "measure": get_measure(plain["measure"])}


def check_settings(record: Record, key: str, known: Known) -> dict[str, Any]:
    """Settings of a problem with the columns of the model."""
    entry = record.record(key)
    settings = {
        "measure": get_measure(entry.take("measure", str)).name,
        "budget": entry.number("budget", int, 1),
        "C": entry.number("C", float, 0.0),
        "intercept": entry.number("intercept", float, 0.0),
        "always": check_columns(entry, "always", known),
        "excluded": check_columns(entry, "excluded", known),
        "feature_groups": None,
    }
    if not entry.is_null("feature_groups"):
        settings["feature_groups"] = entry.array("feature_groups", np.int64, (known.n_features,))
    entry.end()
    return settings


def check_columns(record: Record, key: str, known: Known) -> NDArray[np.int64]:
    """Sorted distinct column numbers."""
    columns = record.array(key, np.int64, (None,))
    if np.any(np.diff(columns) <= 0) or np.any((columns < 0) | (columns >= known.n_features)):
        record.refuse(key, f"must be distinct sorted column numbers below {known.n_features}.")
    return columns


def plain_sparse(matrix: Any) -> Any:
    """The three arrays of a CSR matrix; anything else as it is."""
    if type(matrix).__name__ not in _SPARSE or not sp.issparse(matrix):
        return matrix
    rows = sp.csr_array(matrix, copy=True)
    rows.sum_duplicates()
    return _plain_rows(type(matrix).__name__, rows.shape, rows.data, rows.indices, rows.indptr)


def plain_weights(coef: Any) -> Any:
    """The weights that differ from the commonest zero, which is 0.0 or -0.0, row by row."""
    if not isinstance(coef, np.ndarray) or coef.ndim != 2 or coef.dtype != np.float64:
        return plain_sparse(coef)
    signs = np.signbit(coef[coef == 0])
    zero = -0.0 if 2 * np.count_nonzero(signs) > signs.size else 0.0
    rows, columns = np.nonzero((coef != 0) | (np.signbit(coef) != np.signbit(zero)))
    starts = np.searchsorted(rows, np.arange(len(coef) + 1))
    return _plain_rows("dense", coef.shape, coef[rows, columns], columns, starts) | {"zero": zero}


def _plain_rows(flavour: str, shape: Any, data: Any, columns: Any, starts: Any) -> dict[str, Any]:
    return {
        "flavour": flavour,
        "shape": [int(n) for n in shape],
        "data": data,
        "columns": np.asarray(columns, dtype=np.int64),
        "starts": np.asarray(starts, dtype=np.int64),
    }


def to_matrix(plain: Any) -> Any:
    """The inverse of :func:`plain_sparse` and :func:`plain_weights`."""
    if not isinstance(plain, dict):
        return plain
    data, columns, starts = plain["data"], plain["columns"], plain["starts"]
    if plain["flavour"] != "dense":
        return _SPARSE[plain["flavour"]]((data, columns, starts), shape=tuple(plain["shape"]))
    matrix = np.zeros(plain["shape"])
    if np.signbit(plain["zero"]):
        matrix.fill(plain["zero"])
    matrix[np.repeat(np.arange(len(matrix)), np.diff(starts)), columns] = data
    return matrix


def check_weights(record: Record, key: str, known: Known) -> dict[str, Any]:
    """Finite weights, one row for each problem, that memory can take."""
    entry = record.record(key)
    shape = (known.n_problems, known.n_features)
    plain = _check_rows(entry, ("dense", *_SPARSE), np.float64, shape)
    if plain["flavour"] == "dense":
        plain["zero"] = entry.number("zero", float, 0.0, 0.0)
        n_bytes = 8 * shape[0] * shape[1]
        if n_bytes > known.max_bytes:
            entry.refuse(
                "shape",
                f"is {shape}: dense weights would take {n_bytes} bytes, more than max_bytes="
                f"{known.max_bytes}. Raise max_bytes, or save after sparsify().",
            )
    entry.end()
    return plain


def _check_rows(
    entry: Record, flavours: tuple[str, ...], dtype: Any, shape: tuple[int | None, int]
) -> dict[str, Any]:
    """Sorted entries in the rows of a sparse matrix."""
    flavour = entry.choice("flavour", flavours)
    starts, columns = (entry.array(key, np.int64, (None,)) for key in ("starts", "columns"))
    shape = (max(starts.size - 1, 0) if shape[0] is None else shape[0], shape[1])
    if entry.take("shape", list) != list(shape) or starts.size != shape[0] + 1:
        entry.refuse("shape", f"must be {list(shape)}, and there must be as many rows.")
    data = entry.array("data", dtype, columns.shape, finite=True)
    if starts[0] != 0 or starts[-1] != columns.size or np.any(np.diff(starts) < 0):
        entry.refuse("starts", f"must ascend from 0 to {columns.size}.")
    new_row = np.zeros(columns.size + 1, dtype=bool)
    new_row[starts] = True
    ascending = (np.diff(columns) > 0) | new_row[1:-1]
    if not np.all(ascending) or np.any((columns < 0) | (columns >= shape[1])):
        entry.refuse("columns", f"must ascend in each row, and be from 0 to {shape[1] - 1}.")
    return _plain_rows(flavour, shape, data, columns, starts)


def check_warm_labels(record: Record, key: str, known: Known) -> Any:
    """The labels that a warm start compares with new ones."""
    targets = to_targets(known.plain["_targets"])
    if targets.kind != "multilabel":
        labels = check_labels(record, key, (None,))
    elif record.holds(key, np.ndarray):
        labels = record.array(key, "biuf", (None, targets.n_problems))
    else:
        entry = record.record(key)
        labels = _check_rows(entry, tuple(_SPARSE), "biuf", (None, targets.n_problems))
        entry.end()
    n_rows = _n_rows(labels)
    for cuts in (point["cuts"] for point in known.plain["_dual_points"] if len(point["cuts"])):
        if cuts.shape[1] != (-(-n_rows // 8) if cuts.dtype == np.uint8 else n_rows):
            record.refuse(key, f"has {n_rows} labels, for which the cuts have a wrong width.")
    return labels


def _n_rows(labels: Any) -> int:
    return labels["shape"][0] if isinstance(labels, dict) else len(labels)


def check_warm_weights(record: Record, key: str, known: Known) -> NDArray[np.float64]:
    """One weight for each label."""
    labels = known.plain["_warm_y"]
    if labels is None:
        record.refuse(key, "needs the labels that belong to the weights.")
    return record.array(key, np.float64, (_n_rows(labels),), finite=True)


def check_points(record: Record, key: str, known: Known) -> list[dict[str, Any]]:
    """Weights that are not negative, and as many cuts of one width."""
    flips = to_settings(known.plain["_arguments"]).measure.flips_examples
    points, widths = [], set()
    for entry in record.items(key, known.n_problems):
        alpha = entry.array("alpha", np.float64, (None,), finite=True)
        # The empty dual point has no cuts that could be numbers.
        dtype = np.uint8 if flips or alpha.size == 0 else np.float64
        cuts = entry.array("cuts", dtype, (alpha.size, None), finite=True)
        entry.end()
        if np.any(alpha < 0):
            entry.refuse("alpha", "must not be negative.")
        points.append({"alpha": alpha, "cuts": cuts})
        widths |= {cuts.shape[1]} if alpha.size else set()
    if len(widths) > 1:
        record.refuse(key, f"has cuts of different widths: {sorted(widths)}.")
    return points


def plain_history(history: list[list[Progress]]) -> list[dict[str, Any]]:
    """Whole numbers and real ones as two tables for each problem."""
    return [
        {"counts": _table(rows, _COUNTS, np.int64), "bounds": _table(rows, _BOUNDS, np.float64)}
        for rows in history
    ]


def _table(rows: list[Progress], names: tuple[str, ...], dtype: Any) -> NDArray:
    values = [[getattr(row, name) for name in names] for row in rows]
    return np.array(values, dtype=dtype).reshape(len(rows), len(names))


def to_history(plain: list[dict[str, Any]]) -> list[list[Progress]]:
    """The inverse of :func:`plain_history`."""
    names = (*_COUNTS, *_BOUNDS)
    tables = [(tables["counts"].tolist(), tables["bounds"].tolist()) for tables in plain]
    return [
        [
            Progress(**dict(zip(names, [*counts, *bounds], strict=True)))
            for counts, bounds in zip(*both, strict=True)
        ]
        for both in tables
    ]


def check_history(record: Record, key: str, known: Known) -> list[dict[str, Any]]:
    """As many whole numbers as real ones."""
    history = []
    for entry in record.items(key, known.n_problems):
        counts = entry.array("counts", np.int64, (None, len(_COUNTS)))
        bounds = entry.array("bounds", np.float64, (len(counts), len(_BOUNDS)))
        entry.end()
        history.append({"counts": counts, "bounds": bounds})
    return history


def check_status(record: Record, key: str, known: Known) -> list[str]:
    """One known name for each problem."""
    names = record.take(key, list)
    if len(names) != known.n_problems or any(name not in _STATUS for name in names):
        record.refuse(key, f"must be {known.n_problems} of {_STATUS}.")
    return names


def check_supports(record: Record, key: str, known: Known) -> list[NDArray[np.int64]]:
    """Sorted column numbers for each problem."""
    supports = record.take(key, list)
    by_problem = Record(dict(enumerate(supports)), f"{record.name}.{key}")
    if len(supports) != known.n_problems:
        record.refuse(key, f"has {len(supports)} items; it must be {known.n_problems}.")
    return [check_columns(by_problem, number, known) for number in range(len(supports))]


def per_problem(dtype: Any, *, finite: bool = False) -> Callable[[Record, str, Known], NDArray]:
    """A check for one number for each problem."""
    return lambda record, key, known: record.array(key, dtype, (known.n_problems,), finite=finite)


def check_names(record: Record, key: str, known: Known) -> NDArray:
    """One text for each column."""
    names = record.array(key, "O", (known.n_features,))
    if not all(isinstance(name, str) for name in names):
        record.refuse(key, "holds names that are no text.")
    return names


#: The fitted attributes of a linear model, in an order in which each check finds what it needs.
LINEAR_FIELDS: dict[str, Field] = {
    "n_features_in_": Field(lambda record, key, _: record.number(key, int, 1, _MOST_FEATURES)),
    "feature_names_in_": Field(check_names, optional=True),
    "_targets": Field(check_targets, plain_targets, to_targets),
    "_arguments": Field(check_settings, plain_settings, to_settings),
    "coef_": Field(check_weights, plain_weights, to_matrix),
    "intercept_": Field(per_problem(np.float64, finite=True)),
    "_biases": Field(per_problem(np.float64, finite=True)),
    "support_": Field(check_columns),
    "supports_": Field(check_supports),
    "primal_": Field(per_problem(np.float64)),
    "dual_": Field(per_problem(np.float64)),
    "dual_gap_": Field(per_problem(np.float64)),
    "l0_gap_": Field(per_problem(np.float64), optional=True),
    "n_iter_": Field(per_problem(np.int64)),
    "status_": Field(
        check_status,
        plain=lambda status: [reason.name for reason in status],
        value=lambda names: [Status[name] for name in names],
    ),
    "history_": Field(check_history, plain_history, to_history),
    "_dual_points": Field(
        check_points,
        plain=lambda points: [dict(vars(point)) for point in points],
        value=lambda points: [CutWeights(**point) for point in points],
    ),
    "_warm_y": Field(check_warm_labels, plain_sparse, to_matrix, nullable=True),
    "_warm_weights": Field(check_warm_weights, nullable=True),
}

#: Attributes that are attributes of others, and therefore in no file.
LINEAR_DERIVED = {
    "classes_": ("_targets", "classes"),
    "measure_": ("_arguments", "measure"),
    "budget_": ("_arguments", "budget"),
    "n_features_selected_": ("support_", "size"),
}
