"""Tasks out of the files of ``collect.py``: which rows, which words, which classes."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from studies.common.data import Missing
from studies.quality.arena.sets import Task

#: Texts of a collection at most, half of them for training, and the seed that draws them.
MOST_ROWS, SEED = 8_000, 0
#: A word is a column if it is in so many training rows.
FEWEST_ROWS = 3
#: Training positives of a class, and how many classes of a collection are taken.
POSITIVES = (30, 600)
N_TASKS = 10
ENDING = ".jsonl.gz"


class Collection(NamedTuple):
    """The drawn rows of a collection, the training rows first.

    Attributes
    ----------
    X, by_column : csr_matrix, csc_matrix
        Of all rows.
    labels : list of set of str
        Of each row.
    n_train : int
    classes : list of str
        Whose tasks are played, the rarest first.
    """

    X: sparse.csr_matrix
    by_column: sparse.csc_matrix
    labels: list[set[str]]
    n_train: int
    classes: list[str]


def names_in(folder: Path | None) -> list[str]:
    """The collections of a folder; :class:`Missing` if there are none."""
    files = [] if folder is None else sorted(folder.glob(f"*{ENDING}"))
    if not files:
        raise Missing(
            f"No collection (NAME{ENDING}) is in --data FOLDER: make them with "
            "python -m studies.quality.fresh.collect --out FOLDER"
        )
    return [path.name.removesuffix(ENDING) for path in files]


def drawn(n_texts: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the training and of the test rows."""
    order = np.random.default_rng(SEED).permutation(n_texts)[:MOST_ROWS]
    return order[: order.size // 2], order[order.size // 2 :]


def chosen_classes(labels: list[set[str]]) -> list[str]:
    """Evenly over the classes with neither few nor many rows, ordered by how many they have."""
    counts: dict[str, int] = {}
    for each in labels:
        for label in each:
            counts[label] = counts.get(label, 0) + 1
    low, high = POSITIVES
    found = sorted((n, label) for label, n in counts.items() if low <= n <= high)
    places = np.linspace(0, len(found) - 1, min(N_TASKS, len(found))).round().astype(int)
    return [found[place][1] for place in places]


@lru_cache(maxsize=16)
def load_collection(folder: Path, name: str) -> Collection:
    """Read, draw, and count words; idf and the list of words are those of the training rows."""
    with gzip.open(folder / f"{name}{ENDING}", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    train, test = drawn(len(rows))
    vectorizer = TfidfVectorizer(min_df=FEWEST_ROWS).fit(rows[i][0] for i in train)
    order = np.append(train, test)
    X = sparse.csr_matrix(vectorizer.transform(rows[i][0] for i in order))
    # liblinear takes 32-bit indices only.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    labels = [set(rows[i][1]) for i in order]
    return Collection(X, X.tocsc(), labels, train.size, chosen_classes(labels[: train.size]))


def load_task(folder: Path, name: str, number: int) -> Task:
    """The class at a place of ``classes`` against the rest."""
    X, by_column, labels, n, classes = load_collection(folder, name)
    y = np.where([classes[number] in each for each in labels], 1.0, -1.0)
    return Task(name, number, X[:n], y[:n], X[n:], y[n:], by_column[:n], by_column[n:])
