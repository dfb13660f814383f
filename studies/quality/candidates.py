"""What each candidate of ``ScoreSieve`` brings: test F1 with all of them, and without one.

Run ``python -m studies.quality.candidates --data FOLDER --every 5 --jobs 2``. On classes of the
arena's sets, each with its own ``n_features_to_select=k``: the default candidates, the default ones
without each, and each alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from scoresieve import ScoreSieve
from studies.common.data import DataFolder
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import print_table
from studies.quality.arena.sets import SETS, load_set, load_task, tasks_of
from studies.quality.quiet import quiet_thread

KS = (5, 10, 20, 50, 100)
TEXT = ("reuters120", "news20", "sector12")
ALL = tuple(ScoreSieve().candidates)


def variants() -> dict[str, tuple[str, ...]]:
    """Candidates by what they are called in the table."""
    without = {f"without {name}": tuple(c for c in ALL if c != name) for name in ALL}
    return {"all": ALL, **without, **{f"only {name}": (name,) for name in ALL}}


def play(folder: DataFolder, name: str, label: int, k: int, variant: str) -> dict[str, Any]:
    """One cell: the test F1 of one class."""
    task = load_task(folder, name, label)
    with quiet_thread():
        model = ScoreSieve(n_features_to_select=k, candidates=variants()[variant])
        model.fit(task.X, task.y)
        score = 100.0 * model.score(task.X_test, task.y_test)
    chosen = model.best_params_["selection"]
    log(f"{name} {label}, k = {k}, {variant}: {score:.1f} by {chosen}")
    return {**task.about, "k": k, "variant": variant, "f1": score, "selection": chosen}


def report(rows: list[dict[str, Any]], names: Sequence[str], ks: Sequence[int]) -> None:
    """A table for each set: variants by numbers of features."""
    for name in names:
        lines = []
        for variant in variants():
            mine = [row for row in rows if row["set"] == name and row["variant"] == variant]
            means = [np.mean([row["f1"] for row in mine if row["k"] == k]) for k in ks]
            lines.append([variant, *(f"{mean:.1f}" for mean in means)])
        print_table([f"{name}, test F1", *(f"k = {k}" for k in ks)], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.candidates", __doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(TEXT))
    parser.add_argument("--every", type=int, default=1, help="take every n-th class only")
    parser.add_argument("--ks", nargs="+", type=int, default=list(KS))
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args(arguments)
    rows = play_all(args)
    report(rows, args.sets, args.ks)
    finish(args, {"rows": rows})


def play_all(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Every cell of the sets that were asked for."""
    folder, jobs = folder_of(args), []
    for name in args.sets:
        labels = tasks_of(name, load_set(folder, name)[0])[:: args.every]
        for label in labels[:1] if args.quick else labels:
            jobs += [(name, label, k, variant) for k in args.ks for variant in variants()]
    return Parallel(n_jobs=args.jobs)(delayed(play)(folder, *job) for job in jobs)


if __name__ == "__main__":
    start(main)
