"""Tables and the figure of the Image data: test F1 over the number of selected instances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies.common.limits import MARK, marked, tally
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.quality.mil_image_fits import FS_ACCURACY, FS_F1, HARD, L1, METHODS

#: Where the curves are compared.
GRID = np.arange(10, 100, 10)
#: Models with more instances are not shown one by one.
MOST_SHOWN = 120


def place(row: dict[str, Any]) -> int:
    """The number of instances, or that which was asked for and led to an empty model."""
    return row["setting"] if row["method"] == HARD else row["n_instances"]


def curve(rows: list[dict], field: str) -> np.ndarray | None:
    """F1 at the numbers of instances of the grid, by interpolation; None without a model there.

    An empty model counts with its F1, at the number that was asked for if that was a number of
    instances, else at 0. Outside the numbers that a method reached, the nearest one holds.
    """
    points = [(place(row), row[field]) for row in rows]
    if not any(0 < n < 100 for n, _ in points):
        return None
    numbers, scores = np.transpose(points)
    distinct = np.unique(numbers)
    return np.interp(GRID, distinct, [scores[numbers == n].mean() for n in distinct])


def report(rows: list[dict], classes: list[str], intercept: bool, field: str) -> dict[str, Any]:
    """Mean F1 over the grid of instance numbers for each class, and who is ahead."""
    chosen = [row for row in rows if row["intercept"] == intercept]
    threshold = "0" if field == "test_f1" else "of the best training F1"
    print(f"### {'With' if intercept else 'Without'} intercept, threshold {threshold}\n")
    means: dict[str, dict[str, float]] = {}
    for method in METHODS:
        for name in classes:
            of_class = [r for r in chosen if r["method"] == method and r["class"] == name]
            found = curve(of_class, field)
            if found is not None:
                means.setdefault(method, {})[name] = float(found.mean())
    table = [
        [
            method,
            *(f"{scores[name]:.1f}" if name in scores else "" for name in classes),
            f"{np.mean(list(scores.values())):.1f}" if len(scores) == len(classes) else "",
        ]
        for method, scores in means.items()
    ]
    print_table(["mean test F1, 10 to 90 instances", *classes, "mean"], table)
    ahead = {}
    for ours in (HARD, FS_F1, FS_ACCURACY):
        if ours in means and L1 in means:
            won = [name for name in classes if means[ours].get(name, -1) > means[L1].get(name, -1)]
            ahead[ours] = won
            wanted = min(4, len(classes))
            print_note(
                f"{ours} is ahead of {L1} below 100 instances on {len(won)} of {len(classes)} "
                f"classes: {pass_or_fail(len(won) >= wanted)} (at least {wanted} wanted)."
            )
    print()
    return {"intercept": intercept, "field": field, "means": means, "ahead_of_l1": ahead}


def detail(rows: list[dict], classes: list[str], intercept: bool) -> None:
    """Number of instances and test F1 of every model, marked where its fit ended at a limit."""
    print(f"### Every model, {'with' if intercept else 'without'} intercept: instances:F1\n")
    limits: dict[str, list] = {}
    table = []
    for method in METHODS:
        cells = []
        for name in classes:
            of_class = [
                row
                for row in rows
                if (row["method"], row["class"], row["intercept"]) == (method, name, intercept)
            ]
            of_class.sort(key=lambda row: (row["n_instances"], row["test_f1"]))
            limits.setdefault(method, []).extend(row["limit"] for row in of_class)
            shown = [row for row in of_class if row["n_instances"] < MOST_SHOWN]
            cells.append(" ".join(map(point_text, shown)))
        if any(cells):
            table.append([method, *cells])
    print_table(["method", *classes], table, n_left=1 + len(classes))
    counts = [f"{method} {tally(each)}" for method, each in limits.items() if each]
    print_note(f"{MARK} marks fits that ended at a limit: {'; '.join(counts)}.")
    print()


def point_text(row: dict[str, Any]) -> str:
    """``instances:F1``, marked if the fit ended at a limit."""
    return marked(f"{row['n_instances']}:{row['test_f1']:.0f}", [row["limit"]])


def draw(rows: list[dict], classes: list[str], intercept: bool, path: Path) -> None:
    """One panel for each class."""
    # matplotlib is needed for the figure alone.
    from studies.common.figures import Line, Panels

    chosen = [r for r in rows if r["intercept"] == intercept and 0 < place(r) < MOST_SHOWN]
    panels = Panels(len(classes), 3)
    for panel, name in enumerate(classes):
        lines = []
        for method in METHODS:
            own = [r for r in chosen if (r["method"], r["class"]) == (method, name)]
            own.sort(key=lambda r: (place(r), r["test_f1"]))
            parts = zip(*((place(r), r["test_f1"], r["limit"]) for r in own), strict=True)
            if own:
                lines.append(Line(method, *parts))
        texts = (name, "selected instances", "test F1, %")
        panels.lines(panel, lines, *texts, xlim=(0, 105), ylim=(0, 85))
    panels.write(path.parent, path.stem, endings=("png",))
    log(f"wrote {path}")
