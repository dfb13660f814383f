"""Rows that train and rows that are held out, each row once."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve.estimators.targets import Targets

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

    def rows(self, rows: IntArray) -> LabelledData:
        """Some of the rows; the classes stay those of all."""
        weights = None if self.weights is None else self.weights[rows]
        return LabelledData(self.X[rows], self.y[rows], weights, self.targets)


class Parts(NamedTuple):
    """The rows that count, the splits of them, and the split that holds each one out."""

    data: LabelledData
    splits: list[Split]
    part_of: IntArray


def make_parts(cv: Any, data: LabelledData, groups: Any = None) -> Parts:
    """The splits of :func:`make_splits`, which must hold every row out once.

    Rows of weight 0 are left out, so that the numbers in the splits are those of the others.
    """
    splits = make_splits(cv, data, groups)
    counts = np.ones(data.y.shape[0], dtype=bool) if data.weights is None else data.weights > 0.0
    part_of = parts_of_rows(splits, counts)
    if np.all(counts):
        return Parts(data, splits, part_of)
    place = np.cumsum(counts) - 1
    moved = [Split(place[split.train], place[split.test]) for split in splits]
    return Parts(data.rows(np.flatnonzero(counts)), moved, part_of[counts])


def parts_of_rows(splits: list[Split], counts: BoolArray) -> IntArray:
    """The split in which each row is held out; ValueError if one that counts is not, or twice."""
    part_of = np.full(counts.size, -1)
    for number, split in enumerate(splits):
        taken = split.test[part_of[split.test] >= 0]
        if taken.size:
            raise ValueError(
                f"row {taken[0]} is held out in splits {part_of[taken[0]]} and {number}; cv must "
                "hold every row out once, as KFold does."
            )
        part_of[split.test] = number
    missing = np.flatnonzero(counts & (part_of < 0))
    if missing.size:
        raise ValueError(
            f"row {missing[0]} is held out in no split; cv must hold every row out once, as KFold "
            "does."
        )
    return part_of


def make_splits(cv: Any, data: LabelledData, groups: Any = None) -> list[Split]:
    """The splits of ``check_cv``, each with every class in its training part.

    Rows of weight 0 are in neither part.

    Parameters
    ----------
    cv : None, int, splitter or iterable of (train, test)
        As in scikit-learn; an int is stratified unless y is an indicator matrix, and shuffled.
    groups : array-like of shape (n_samples,), optional
        For splitters that keep the rows of a group together.

    Raises
    ------
    ValueError
        If a part is empty, shares a row with the other part, or has to train without a class.
    """
    if isinstance(cv, numbers.Integral) and (isinstance(cv, bool) or cv < 2):
        raise ValueError(f"cv must be at least 2 parts, a splitter or pairs of rows; got {cv!r}.")
    splitter = shuffled(check_cv(cv, data.y, classifier=True), cv)
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


def shuffled(splitter: Any, cv: Any) -> Any:
    """What stands for a number of parts, with rows in random order, the same at every call.

    Files are often sorted, by source or by date: a part that is a block of neighbours says little
    about rows like those that the others hold.
    """
    if cv is not None and not isinstance(cv, numbers.Integral):
        return splitter
    return type(splitter)(splitter.get_n_splits(), shuffle=True, random_state=0)


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


def _one_kind(labels: FloatArray) -> bool:
    return bool(np.all(labels == labels[0]))


def _lacking(labels: FloatArray, rows: IntArray, targets: Targets, problem: int) -> str:
    """What the rows do not hold, and how many of them there are, for messages."""
    name, held = targets.name(problem), labels[rows[0]]
    what = f"example of class {name}" if held < 0 else f"example of a class other than {name}"
    return f"{what} (y has {np.count_nonzero(labels != held)})"
