"""The data sets of the arena, and their tasks: one class against the rest.

Conventions
-----------
* A set is a :class:`~studies.common.data.Split`; its tasks are numbers of classes. Sets of two
  classes have the one task 1, but where test rows are too few for one split to tell methods apart
  (``N_SPLITS``): there task t is the t-th split into as many training and test rows, and task 1 the
  set's own.
* Bags are embedded as MILES does, with all instances of the training bags as columns. Colon has one
  unit of standard deviation in each column, by its training rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from scoresieve.mil import Bags, MILESEmbedding
from studies.common.bags import load_bags, load_image
from studies.common.data import DataFolder, Split, load, permuted
from studies.quality.arena.known_support import make_split, true_columns

#: Classes with fewer training positives are left out.
FEWEST_POSITIVES = 15
#: The positive one of two classes, where it is not +1: the rarer.
COLON_POSITIVE = 2
#: How many times sets of a few hundred rows are split.
N_SPLITS = {"dexter": 5, "dorothea": 5, "colon": 10, "musk1": 10, "elephant": 10}
#: How a set is made: from the folder, and the number of the split, from 0.
Maker = Callable[[DataFolder, int], Split]


@dataclass(frozen=True, eq=False)
class Task:
    """One class against the rest: rows, labels in {-1, +1}, and the same rows by columns.

    Attributes
    ----------
    name : str
        Of the set.
    label : int
        The class.
    X, y, X_test, y_test
        X in CSR or dense.
    by_column, test_by_column
        X and X_test in CSC or dense, from which a few columns are taken quickly.
    known_columns : ndarray of int or None
        Those that make the labels, where that is known.
    """

    name: str
    label: int
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    by_column: Any
    test_by_column: Any
    known_columns: np.ndarray | None = None

    @property
    def about(self) -> dict[str, Any]:
        """What every row says of its task."""
        return {"set": self.name, "class": self.label, "positives": int(np.sum(self.y > 0))}


def _text(name: str) -> Maker:
    return lambda folder, number: split_again(load(folder, name), number)


def split_again(split: Split, number: int) -> Split:
    """The rows of both parts in new parts of the same sizes; split 0 is the set's own."""
    if number == 0:
        return split
    X = sparse.vstack([split.X, split.X_test], format="csr")
    y = np.concatenate([split.y, split.y_test])
    order = np.random.default_rng(number).permutation(y.size)
    train, test = order[: split.y.size], order[split.y.size :]
    return Split(X[train], y[train], X[test], y[test])


def _embedded(bags: Bags, test_bags: Bags, y: np.ndarray, y_test: np.ndarray) -> Split:
    embedding = MILESEmbedding().fit(bags)
    return Split(embedding.transform(bags), y, embedding.transform(test_bags), y_test)


def _image(folder: DataFolder, _: int) -> Split:
    split = load_image(folder)
    return _embedded(split.bags, split.test_bags, split.y, split.y_test)


def _bags(name: str) -> Maker:
    def make(folder: DataFolder, number: int) -> Split:
        bags, y = load_bags(folder, name)
        train, test = permuted(len(bags), number)
        return _embedded(bags[train], bags[test], y[train], y[test])

    return make


def _colon(folder: DataFolder, number: int) -> Split:
    split = split_again(load(folder, "colon"), number)
    X, X_test = split.X.toarray(), split.X_test.toarray()
    scale = np.std(X, axis=0)
    scale[scale == 0.0] = 1.0
    y, y_test = split.labels(COLON_POSITIVE)
    return Split(X / scale, y, X_test / scale, y_test)


#: How each set is made, in the order in which the arena plays them.
SETS: dict[str, Maker] = {
    **{name: _text(name) for name in ("reuters120", "news20", "sector12", "dexter", "dorothea")},
    "colon": _colon,
    "musk1": _bags("musk1"),
    "elephant": _bags("elephant"),
    "image": _image,
    **{name: _text(name) for name in ("url", "news20_binary")},
    "generated": lambda folder, number: make_split(),
}


@lru_cache(maxsize=1)
def load_set(folder: DataFolder, name: str, number: int = 0) -> tuple[Split, Any, Any]:
    """A set, and both its parts by columns; the last one is kept, since tasks come set by set."""
    split = SETS[name](folder, number)
    if not sparse.issparse(split.X):
        split = replace(split, X=np.asarray(split.X), X_test=np.asarray(split.X_test))
        return split, split.X, split.X_test
    return split, split.X.tocsc(), split.X_test.tocsc()


def tasks_of(name: str, split: Split) -> list[int]:
    """The classes with enough training positives, or the splits of a small set."""
    if name in N_SPLITS:
        return list(range(1, N_SPLITS[name] + 1))
    if split.y.ndim == 2:
        return list(range(split.y.shape[1]))
    if set(np.unique(split.y)) == {-1, 1}:
        return [1]
    labels, counts = np.unique(split.y, return_counts=True)
    return [int(label) for label in labels[counts >= FEWEST_POSITIVES]]


def load_task(folder: DataFolder, name: str, label: int) -> Task:
    """One class of a set, or one split of a small one."""
    number = label - 1 if name in N_SPLITS else 0
    split, by_column, test_by_column = load_set(folder, name, number)
    y, y_test = split.labels(1 if name in N_SPLITS else label)
    known = true_columns(label) if name == "generated" else None
    return Task(name, label, split.X, y, split.X_test, y_test, by_column, test_by_column, known)
