"""Which C and intercept scaling serve as defaults: held-out F1 over a grid, on four text sets.

One-vs-rest F1 at the threshold as trained, on classes spread over the sorted class sizes of
News20, Reuters-120 and industry-sector-12, and on dexter's validation part. For each C and scaling:
the mean F1, on how many classes it is within a point of the best C of the grid, and how many models
are empty.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from _common import (
    Split,
    finish,
    load_dexter,
    load_news20,
    load_reuters,
    load_sector,
    log,
    make_parser,
    one_vs_rest,
    print_note,
    print_table,
    start,
)
from scoresieve import get_measure, solve

GRID = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SCALINGS = (1.0, 5.0)
BUDGETS = (10, 50)
#: Classes with fewer training positives than this are left out.
FEWEST_POSITIVES = 15

Task = tuple[str, int, Split]


def tasks(args: argparse.Namespace) -> Iterator[Task]:
    """(data set, class, split), some classes of each set, from rare to frequent."""
    sets = {
        "News20": (load_news20, 4),
        "Reuters-120": (load_reuters, 8),
        "sector-12": (load_sector, 4),
        "dexter": (load_dexter, 1),
    }
    for name, (load, n_classes) in sets.items():
        split = load(args)
        labels, counts = np.unique(split.y, return_counts=True)
        if name == "dexter":
            yield name, 1, split
            continue
        labels = labels[np.argsort(counts, kind="stable")]
        labels = labels[np.sort(counts) >= FEWEST_POSITIVES]
        places = np.linspace(0, labels.size - 1, 2 if args.quick else n_classes)
        for label in labels[places.round().astype(int)]:
            yield name, int(label), split


def measure_task(name: str, label: int, split: Split, tol: float) -> list[dict[str, Any]]:
    """Every setting of the grid on one task."""
    y, y_test = one_vs_rest(split.y, label), one_vs_rest(split.y_test, label)
    rows = []
    for budget in BUDGETS:
        for scaling in SCALINGS:
            for C in GRID:
                begin = time.perf_counter()
                fit = solve(
                    split.X, y, measure="f1", budget=budget, C=C, tol=tol, intercept=scaling
                )
                scores = split.X_test @ fit.w + fit.intercept
                rows.append(
                    {
                        "set": name,
                        "class": label,
                        "positives": int(np.sum(y > 0)),
                        "budget": budget,
                        "scaling": scaling,
                        "C": C,
                        "f1": 100.0 * get_measure("f1").score(y_test, scores),
                        "features": int(fit.support.size),
                        "gap": fit.gap,
                        "seconds": time.perf_counter() - begin,
                    }
                )
    log(f"{name} class {label} done")
    return rows


def summarise(rows: list[dict[str, Any]]) -> list[list[Any]]:
    """One line a budget, scaling and C."""
    lines = []
    for budget in BUDGETS:
        for scaling in SCALINGS:
            mine = [r for r in rows if r["budget"] == budget and r["scaling"] == scaling]
            keys = sorted({(r["set"], r["class"]) for r in mine})
            best = {k: max(r["f1"] for r in mine if (r["set"], r["class"]) == k) for k in keys}
            for C in GRID:
                at = [r for r in mine if r["C"] == C]
                near = sum(r["f1"] >= best[r["set"], r["class"]] - 1.0 for r in at)
                lines.append(
                    [
                        budget,
                        f"{scaling:g}",
                        f"{C:g}",
                        f"{np.mean([r['f1'] for r in at]):.1f}",
                        f"{near} of {len(at)}",
                        sum(r["features"] == 0 for r in at),
                        f"{np.median([r['features'] for r in at]):.0f}",
                        f"{np.median([r['seconds'] for r in at]):.2f}",
                    ]
                )
    return lines


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--tol", type=float, default=0.05)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    parts = Parallel(n_jobs=args.jobs)(
        delayed(measure_task)(*task, args.tol) for task in tasks(args)
    )
    rows = [row for part in parts for row in part]
    print_table(
        ["B", "scaling", "C", "mean F1", "within a point of the best C", "empty", "features", "s"],
        summarise(rows),
        left=0,
    )
    print_note(f"{len(parts)} classes, tol {args.tol:g}; F1 at the threshold as trained.")
    finish(args, {"rows": rows})


if __name__ == "__main__":
    start(main)
