"""Rows that train and rows that are held out: the splits, and what a measure is on a part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.estimators.targets import Targets
from scoresieve.measures import Accuracy, Measure, PrecisionAtK, RecallAtK, get_measure
from scoresieve.solvers.row_weights import apply_weights

_ADVICE = (
    "use fewer splits, or a splitter that spreads each class over all parts, such as "
    "StratifiedKFold."
)


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers of the part that trains and of the part that is held out."""

    train: IntArray
    test: IntArray


@dataclass(frozen=True, eq=False)
class LabelledData:
    """``X``, ``y`` and sample weights in checked form, and the problems that y stands for."""

    X: Any
    y: Any
    weights: FloatArray | None
    targets: Targets

    @property
    def n_counted(self) -> int:
        """Rows, each as often as it counts; only to be used if the weights are whole."""
        return self.X.shape[0] if self.weights is None else int(self.weights.sum())

    def rows(self, rows: IntArray) -> LabelledData:
        """Some of the rows; the classes stay those of all."""
        weights = None if self.weights is None else self.weights[rows]
        return LabelledData(self.X[rows], self.y[rows], weights, self.targets)


def make_splits(cv: Any, data: LabelledData, groups: Any = None) -> list[Split]:
    """The splits of ``check_cv``, each with every class in its training part.

    Rows of weight 0 are in neither part.

    Parameters
    ----------
    cv : None, int, splitter or iterable of (train, test)
        As in scikit-learn; an int is stratified unless y is an indicator matrix.
    groups : array-like of shape (n_samples,), optional
        For splitters that keep the rows of a group together.

    Raises
    ------
    ValueError
        If a part is empty, shares a row with the other part, or has to train without a class.
    """
    splitter = check_cv(cv, data.y, classifier=True)
    splits = [
        Split(_row_numbers(train, data.weights), _row_numbers(test, data.weights))
        for train, test in splitter.split(data.X, data.y, groups)
    ]
    if not splits:
        raise ValueError(f"cv={cv!r} gives no split; give at least one.")
    for number, split in enumerate(splits):
        _check_rows(number, split)
    for problem, labels in enumerate(data.targets.labels(data.y)):
        for number, split in enumerate(splits):
            if _one_kind(labels[split.train]):
                lacking = _lacking(labels, split.train, data.targets, problem)
                raise ValueError(
                    f"the training part of split {number} holds no {lacking}; {_ADVICE}"
                )
    return splits


def _row_numbers(rows: Any, weights: FloatArray | None) -> IntArray:
    """Row numbers with a weight, from row numbers or a boolean mask."""
    rows = np.asarray(rows)
    rows = np.flatnonzero(rows) if rows.dtype.kind == "b" else rows
    return rows if weights is None else rows[weights[rows] > 0]


def _check_rows(number: int, split: Split) -> None:
    """Refuse a part without rows, and rows in both parts."""
    for rows, part in ((split.train, "training"), (split.test, "test")):
        if rows.size == 0:
            raise ValueError(f"the {part} part of split {number} has no rows; change cv.")
    both = np.intersect1d(split.train, split.test)
    if both.size:
        raise ValueError(
            f"row {both[0]} is in the training part and in the test part of split {number}, so "
            "that its score would be of a row that the model has seen; give disjoint parts in cv."
        )


def check_measure(
    measure: str | Measure, data: LabelledData, splits: list[Split], *, is_scored: bool
) -> None:
    """Refuse a measure that is not defined on the rows, or on a test part for any class.

    Parameters
    ----------
    is_scored : bool
        Whether the test parts are scored by the measure.
    """
    measure = get_measure(measure)
    # k of "prec@k" is about all rows, each as often as it counts.
    _, y_counted, _ = apply_weights(measure, data.y, data.y, data.weights)
    for labels in data.targets.labels(y_counted):
        measure.check(labels)
    if isinstance(measure, Accuracy) or not is_scored:
        return
    problems = list(data.targets.labels(data.y))
    for number, split in enumerate(splits):
        if all(_one_kind(labels[split.test]) for labels in problems):
            lacking = _lacking(problems[0], split.test, data.targets, 0)
            raise ValueError(
                f"the test part of split {number} holds no {lacking}, and the measure "
                f"{measure.name!r} needs positives and negatives; {_ADVICE}"
            )


def _one_kind(labels: FloatArray) -> bool:
    return bool(np.all(labels == labels[0]))


def _lacking(labels: FloatArray, rows: IntArray, targets: Targets, problem: int) -> str:
    """What the rows do not hold, and how many of them there are, for messages."""
    name, held = targets.name(problem), labels[rows[0]]
    what = f"example of class {name}" if held < 0 else f"example of a class other than {name}"
    return f"{what} (y has {np.count_nonzero(labels != held)})"


def measure_of_part(measure: Measure, part: LabelledData, data: LabelledData) -> Measure:
    """``k' = round(k n' / n)``, at least 1: the same question about n' of n rows.

    A number k of alarms, as in "prec@100", is about all rows, and a part of them gets its share of
    the alarms. All other measures, "prec@2p" among them, mean the same on any part.

    Parameters
    ----------
    part, data : LabelledData
        Some rows, and all of them.
    """
    if isinstance(measure, PrecisionAtK | RecallAtK) and isinstance(measure.k, int):
        twice = 2 * data.n_counted
        return replace(measure, k=max(1, (2 * measure.k * part.n_counted + twice // 2) // twice))
    return measure
