"""Multiple-instance data for the benchmarks, and what they do with scores and saved rows."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from scoresieve.mil import Bags
from studies.common.options import ORIGINS, data_file, log

ORIGINS.update(
    {
        "image/miml_image.npz": "the paper's Image data, from sandgh/mtp_stage1 @ 11a94301",
        "mil/musk1.npz": "Musk1, from jmarrietar/MILpy @ 79fef5dd",
        "mil/elephant.npz": "Elephant, from jmarrietar/MILpy @ 79fef5dd",
    }
)


@dataclass(frozen=True, eq=False)
class BagSplit:
    """Training and test bags, and indicators in {-1, +1} of shape (n_bags, n_classes)."""

    bags: Bags
    y: np.ndarray
    test_bags: Bags
    y_test: np.ndarray
    classes: list[str]


def load_image(args: argparse.Namespace) -> BagSplit:
    """Image: 1,200 training and 800 test bags of nine instances with 15 columns, five classes."""
    with np.load(data_file(args.data, "image/miml_image.npz")) as stored:
        X, Y = stored["X"].astype(np.float64), stored["Y"].astype(np.float64)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:1200], order[1200:]
    names = ["desert", "mountains", "sea", "sunset", "trees"]
    return BagSplit(
        Bags.from_list(list(X[train])), Y[train], Bags.from_list(list(X[test])), Y[test], names
    )


def load_bags(args: argparse.Namespace, name: str) -> tuple[Bags, np.ndarray]:
    """Musk1 or Elephant: bags and their labels in {-1, +1}."""
    with np.load(data_file(args.data, f"mil/{name}.npz")) as stored:
        bags = Bags.from_groups(stored["X"].astype(np.float64), stored["bag"])
        return bags, stored["bag_label"].astype(np.int64)[bags.names]


def best_threshold(y: np.ndarray, scores: np.ndarray) -> float:
    """The threshold with the highest F1 on these scores; of equal ones the highest."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(y[order] > 0)
    f1 = 2.0 * hits / (np.arange(1, y.size + 1) + np.count_nonzero(y > 0))
    ordered = np.append(scores[order], -np.inf)
    f1[ordered[:-1] == ordered[1:]] = -1.0
    place = int(np.argmax(f1))
    below = ordered[place + 1]
    return float(ordered[place] - 1.0 if np.isinf(below) else (ordered[place] + below) / 2)


def run_saved(
    tasks: Iterable[tuple[str, Callable[[], list[dict]]]], state: Path | None, n_jobs: int
) -> list[dict]:
    """Rows of all tasks; those in the state file are not run again.

    Parameters
    ----------
    tasks : iterable of (key, callable)
        Each callable gives a list of rows.
    state : Path or None
        A file with one line of JSON for each task that is done, to which others are added.
    n_jobs : int
        Tasks at a time.
    """
    done = dict(_read_state(state)) if state is not None and state.is_file() else {}
    tasks = list(tasks)
    missing = [(key, task) for key, task in tasks if key not in done]
    log(f"{len(tasks)} tasks, {len(tasks) - len(missing)} of them done before")
    answers = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_keyed)(key, task) for key, task in missing
    )
    for number, (key, rows) in enumerate(answers, start=1):
        done[key] = rows
        if state is not None:
            with state.open("a") as file:
                file.write(json.dumps([key, rows]) + "\n")
        log(f"{number} of {len(missing)}: {key}")
    return [row for key, _ in tasks for row in done[key]]


def _keyed(key: str, task: Callable[[], list[dict]]) -> tuple[str, list[dict]]:
    return key, task()


def _read_state(state: Path) -> Iterator[tuple[str, Any]]:
    for line in state.read_text().splitlines():
        try:
            key, rows = json.loads(line)
        except ValueError:
            continue  # the last line of a run that was killed
        yield key, rows
