"""Splits into training rows and held-out rows, each row held out equally often."""

from __future__ import annotations

import numbers
import re
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve._user_warnings import warn_user
from scoresieve.estimators.targets import Targets

#: Rounds by default: enough to hold out this many rows together, but not more than this.
ROWS_OF_ALL_ROUNDS, MOST_ROUNDS = 1500, 5
#: The warning of scikit-learn for a class with fewer rows than folds.
_SMALL_CLASS = re.compile(r"The least populated class in y has only .*n_splits=(\d+)")
_ALL_ROWS = "cv must hold out every row equally often: use for example KFold or RepeatedKFold."
_ADVICE = (
    "use fewer splits, or a splitter that spreads each class over all folds, such as "
    "StratifiedKFold."
)


@dataclass(frozen=True, eq=False)
class Split:
    """Indices of the training rows and of the held-out rows."""

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
    """The rows with a weight, their splits, and the split that holds each one out.

    Attributes
    ----------
    round_of : ndarray of int of shape (n_splits,)
        Every round holds each row out once.
    part_of : ndarray of int of shape (n_rounds, n_samples)
        The split of each round that holds each row out.
    n_positives : ndarray of int of shape (n_problems,)
        Rows of each class, those that do not count among them.
    """

    data: LabelledData
    splits: list[Split]
    round_of: IntArray
    part_of: IntArray
    n_positives: IntArray

    def first(self, n_splits: int) -> Parts:
        """The first splits alone; -1 in ``part_of`` where these hold a row out in no split."""
        round_of = self.round_of[:n_splits]
        part_of = self.part_of[: round_of[-1] + 1]
        part_of = np.where(part_of < n_splits, part_of, -1)
        return self._replace(splits=self.splits[:n_splits], round_of=round_of, part_of=part_of)


def make_parts(cv: Any, data: LabelledData, groups: Any = None, n_rounds: int = 1) -> Parts:
    """The splits of :func:`make_splits`, which must hold every row out equally often.

    Rows of weight 0 are left out, so that the numbers in the splits are those of the others.

    Parameters
    ----------
    n_rounds : int
        How often each row is held out if cv is None.
    """
    splits = make_splits(cv, data, groups, n_rounds)
    counts = np.ones(data.y.shape[0], dtype=bool) if data.weights is None else data.weights > 0.0
    round_of, part_of = rounds_of_rows(splits, counts)
    n_positives = data.targets.n_positives(data.y)
    if np.all(counts):
        return Parts(data, splits, round_of, part_of, n_positives)
    place = np.cumsum(counts) - 1
    moved = [Split(place[split.train], place[split.test]) for split in splits]
    kept = data.rows(np.flatnonzero(counts))
    return Parts(kept, moved, round_of, part_of[:, counts], n_positives)


def rounds_of_rows(splits: list[Split], counts: BoolArray) -> tuple[IntArray, IntArray]:
    """The round of each split, and in each round the split in which each row is held out.

    A round ends with the split that holds out the last of its rows. ValueError if one that counts
    is held out twice in a round, or not at all.
    """
    rounds, round_of = [np.full(counts.size, -1)], []
    for number, split in enumerate(splits):
        if np.all(rounds[-1][counts] >= 0):
            rounds.append(np.full(counts.size, -1))
        part_of = rounds[-1]
        taken = split.test[part_of[split.test] >= 0]
        if taken.size:
            raise ValueError(
                f"row {taken[0]} is held out in splits {part_of[taken[0]]} and {number}, but other "
                f"rows in no split; {_ALL_ROWS}"
            )
        part_of[split.test] = number
        round_of.append(len(rounds) - 1)
    missing = np.flatnonzero(counts & (rounds[-1] < 0))
    if missing.size:
        often = "in no split" if len(rounds) == 1 else "less often than other rows"
        raise ValueError(f"row {missing[0]} is held out {often}; {_ALL_ROWS}")
    return np.array(round_of), np.array(rounds)


def n_default_rounds(n_samples: int) -> int:
    """How often each row is held out by default: more than once if there are few rows.

    Scores on a few dozen rows depend on the split; means over several splits depend less on it.
    """
    return int(np.clip(ROWS_OF_ALL_ROUNDS // max(n_samples, 1), 1, MOST_ROUNDS))


def make_splits(cv: Any, data: LabelledData, groups: Any = None, n_rounds: int = 1) -> list[Split]:
    """The splits of ``check_cv``, each with every class in its training part.

    Rows of weight 0 are in neither part.

    Parameters
    ----------
    cv : None, int, splitter or iterable of (train, test)
        As in scikit-learn; an int is stratified unless y is an indicator matrix, and shuffled.
    groups : array-like of shape (n_samples,), optional
        For splitters that keep the rows of a group together.
    n_rounds : int
        How often each row is held out if cv is None.

    Raises
    ------
    ValueError
        If a split has no training or test rows, shares a row between them, or trains without a
        class.
    """
    if isinstance(cv, numbers.Integral) and (isinstance(cv, bool) or cv < 2):
        raise ValueError(f"cv must be 2 or more folds, a splitter or pairs of rows; got {cv!r}.")
    splitter = check_cv(cv, data.y, classifier=True)
    splitters = [shuffled(splitter, cv, seed) for seed in range(n_rounds if cv is None else 1)]
    splits, n_parts_of_small_class = _split(splitters, data, groups)
    if not splits:
        raise ValueError(f"cv={cv!r} yields no split; give at least one.")
    for number, split in enumerate(splits):
        _check_rows(number, split)
    for problem, labels in enumerate(data.targets.labels(data.y)):
        for number, split in enumerate(splits):
            if np.unique(labels[split.train]).size == 1:
                lacking = _lacking(labels, split.train, data.targets, problem)
                raise ValueError(
                    f"the training rows of split {number} hold no {lacking}; {_ADVICE}"
                )
    if n_parts_of_small_class is not None:
        classes, counts = np.unique(data.y, return_counts=True)
        label, count = classes[np.argmin(counts)].item(), int(counts.min())
        warn_user(
            f"class {label!r} has {count} rows, fewer than the {n_parts_of_small_class} folds of "
            "cv: some folds hold none, which makes its scores imprecise. "
            f"Pass cv={count}, or add rows of the class."
        )
    return splits


def _split(splitters: list[Any], data: LabelledData, groups: Any) -> tuple[list[Split], str | None]:
    """The splits; and if scikit-learn warns of a class with fewer rows than parts, these parts.

    It does so for every splitter. Other warnings are given as they were.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        splits = [
            Split(_row_numbers(train, data.weights), _row_numbers(test, data.weights))
            for each in splitters
            for train, test in each.split(data.X, data.y, groups)
        ]
    n_parts = None
    for each in caught:
        match = _SMALL_CLASS.match(str(each.message))
        if match:
            n_parts = match[1]
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return splits, n_parts


def shuffled(splitter: Any, cv: Any, seed: int) -> Any:
    """The splitter that stands for a number of folds, shuffled with a fixed seed.

    Files are often sorted, by source or by date. A fold of neighbouring rows is then a poor sample.
    """
    if cv is not None and not isinstance(cv, numbers.Integral):
        return splitter
    return type(splitter)(splitter.get_n_splits(), shuffle=True, random_state=seed)


def _row_numbers(rows: Any, weights: FloatArray | None) -> IntArray:
    """Row numbers with a weight, from row numbers or a boolean mask."""
    rows = np.asarray(rows)
    rows = np.flatnonzero(rows) if rows.dtype.kind == "b" else rows
    return rows if weights is None else rows[weights[rows] > 0]


def _check_rows(number: int, split: Split) -> None:
    """Refuse splits without rows, and rows on both sides."""
    for rows, part in ((split.train, "training"), (split.test, "test")):
        if rows.size == 0:
            raise ValueError(f"split {number} of cv has no {part} rows; use another cv.")
    both = np.intersect1d(split.train, split.test)
    if both.size:
        raise ValueError(
            f"row {both[0]} is both a training row and a test row of split {number}, so its score "
            "would be optimistic; give disjoint rows in cv."
        )


def _lacking(labels: FloatArray, rows: IntArray, targets: Targets, problem: int) -> str:
    """The class that the rows lack, and its number of rows in y, for messages."""
    name, held = targets.name(problem), labels[rows[0]]
    what = f"example of class {name}" if held < 0 else f"example of a class other than {name}"
    return f"{what} (y has {np.count_nonzero(labels != held)})"
