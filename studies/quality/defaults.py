"""Which C, intercept scaling and tolerance serve as defaults: held-out F1, on four text sets.

One-vs-rest F1 at the threshold as trained, on classes spread over the sorted class sizes of
News20, Reuters-120 and industry-sector-12, and on dexter's validation part. For each C and scaling:
the mean F1, on how many classes it is within a point of the best C of the grid, how many models are
empty, and how many fits ended at a limit. Then, at one C and scaling, the same for tolerances.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from scoresieve import get_measure, solve
from studies.common.data import Split, load
from studies.common.limits import limit_of
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import print_note, print_table
from studies.common.timing import timed

GRID = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SCALINGS = (1.0, 5.0)
TOLERANCES = (0.2, 0.1, 0.05, 0.02, 0.01)
BUDGETS = (10, 50)
#: The name in the results, that of the data, and how many classes are taken.
SETS = {
    "News20": ("news20", 4),
    "Reuters-120": ("reuters120", 8),
    "sector-12": ("sector12", 4),
    "dexter": ("dexter", 1),
}
#: Classes with fewer training positives than this are left out.
FEWEST_POSITIVES = 15

Task = tuple[str, int, Split]


def tasks(args: argparse.Namespace) -> Iterator[Task]:
    """(data set, class, split), some classes of each set, from rare to frequent."""
    for name, (data, n_classes) in SETS.items():
        split = load(folder_of(args), data)
        labels, counts = np.unique(split.y, return_counts=True)
        if name == "dexter":
            yield name, 1, split
            continue
        labels = labels[np.argsort(counts, kind="stable")]
        labels = labels[np.sort(counts) >= FEWEST_POSITIVES]
        places = np.linspace(0, labels.size - 1, 2 if args.quick else n_classes)
        for label in labels[places.round().astype(int)]:
            yield name, int(label), split


def settings(args: argparse.Namespace) -> list[dict[str, float]]:
    """Every C and scaling at the default tolerance, and every tolerance at one C and scaling."""
    grid = [
        {"budget": budget, "scaling": scaling, "C": C, "tol": args.tol}
        for budget in BUDGETS
        for scaling in SCALINGS
        for C in GRID
    ]
    tolerances = [
        {"budget": budget, "scaling": args.scaling, "C": args.C, "tol": tol}
        for budget in BUDGETS
        for tol in TOLERANCES
    ]
    return grid + [each for each in tolerances if each not in grid]


def measure_task(
    name: str, label: int, split: Split, settings: list[dict[str, float]]
) -> list[dict[str, Any]]:
    """Every setting on one task."""
    y, y_test = split.labels(label)
    rows = []
    for setting in settings:
        options = {name: setting[name] for name in ("budget", "C", "tol")}
        options |= {"measure": "f1", "intercept_scaling": setting["scaling"]}
        seconds, fit = timed(lambda options=options: solve(split.X, y, **options))
        scores = split.X_test @ fit.w + fit.intercept
        rows.append(
            setting
            | {
                "set": name,
                "class": label,
                "positives": int(np.sum(y > 0)),
                "f1": 100.0 * get_measure("f1").score(y_test, scores),
                "features": int(fit.support.size),
                "gap": fit.gap,
                "limit": limit_of(fit),
                "seconds": seconds,
            }
        )
    log(f"{name} class {label} done")
    return rows


def summarise(rows: list[dict[str, Any]], vary: str, values: tuple[float, ...]) -> list[list[Any]]:
    """One line for each value of what varies, against the best of them for each class."""
    best: dict[tuple[str, int], float] = {}
    for row in rows:
        key = row["set"], row["class"]
        best[key] = max(row["f1"], best.get(key, 0.0))
    lines = []
    for value in values:
        at = [row for row in rows if row[vary] == value]
        near = sum(row["f1"] >= best[row["set"], row["class"]] - 1.0 for row in at)
        lines.append(
            [
                f"{value:g}",
                f"{np.mean([row['f1'] for row in at]):.1f}",
                f"{near} of {len(at)}",
                sum(row["features"] == 0 for row in at),
                sum(row["limit"] is not None for row in at),
                f"{np.median([row['features'] for row in at]):.0f}",
                f"{np.median([row['seconds'] for row in at]):.2f}",
            ]
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.defaults", __doc__)
    parser.add_argument("--C", type=float, default=10.0, help="at which tolerances are compared")
    parser.add_argument("--scaling", type=float, default=5.0, help="the same")
    parser.add_argument("--tol", type=float, default=0.05, help="at which C and scaling are")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args(arguments)
    wanted = settings(args)
    parts = Parallel(n_jobs=args.jobs)(delayed(measure_task)(*task, wanted) for task in tasks(args))
    rows = [row for part in parts for row in part]
    head = ["mean F1", "within a point of the best", "empty", "at a limit", "features", "s"]
    for budget in BUDGETS:
        mine = [row for row in rows if row["budget"] == budget]
        for scaling in SCALINGS:
            print_note(f"B = {budget}, intercept scaling {scaling:g}, tol {args.tol:g}:")
            of_grid = [r for r in mine if r["scaling"] == scaling and r["tol"] == args.tol]
            print_table(["C", *head], summarise(of_grid, "C", GRID), n_left=0)
        print_note(f"B = {budget}, intercept scaling {args.scaling:g}, C = {args.C:g}:")
        of_tol = [r for r in mine if r["scaling"] == args.scaling and r["C"] == args.C]
        print_table(["tol", *head], summarise(of_tol, "tol", TOLERANCES), n_left=0)
    print_note(f"{len(parts)} classes; F1 at the threshold as trained.")
    finish(args, {"rows": rows})


if __name__ == "__main__":
    start(main)
