"""Which C serves as the default for bags: F1 by three-fold cross-validation inside training bags.

Run ``python -m studies.quality.mil_defaults --data FOLDER --jobs 2``. ``BagMeasureSVC("f1")`` with
all other settings at their defaults, with at most ten instances, and as the relaxed model with
B = 50, on the five classes of the Image data (training part only), Musk1 and Elephant.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from scoresieve.mil import BagMeasureSVC, Bags
from studies.common.bags import IMAGE_CLASSES, load_bags, load_image
from studies.common.limits import fit_noting_limit
from studies.common.options import add_state_options, finish, folder_of, make_parser, start
from studies.common.saved_runs import run_saved
from studies.common.tables import print_note, print_table
from studies.quality.quiet import quiet_thread

GRID = (1.0, 3.0, 10.0, 30.0, 100.0)
FEW = 10
BUDGET = 50
FORMS = {
    "default": {},
    f"{FEW} instances": {"n_instances_to_select": FEW},
    f"B = {BUDGET}": {"budget": BUDGET},
}
NEAR = 1.0


def problems(args: argparse.Namespace) -> Iterator[tuple[str, Bags, np.ndarray]]:
    """(name, bags, labels) of each task."""
    folder = folder_of(args)
    image = load_image(folder)
    classes = IMAGE_CLASSES[:1] if args.quick else IMAGE_CLASSES
    for number, name in enumerate(classes):
        yield name, image.bags, image.y[:, number]
    for name in ("musk1", "elephant"):
        yield name, *load_bags(folder, name)


def score(name: str, bags: Bags, y: np.ndarray, form: str, C: float) -> list[dict[str, Any]]:
    """Mean held-out F1, and the number of instances, over three folds."""
    scores, sizes, limits = [], [], []
    model = BagMeasureSVC("f1", C=C, **FORMS[form])
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    with quiet_thread():
        for train, test in folds.split(np.zeros(len(y)), y):
            fitted = clone(model)
            limits.append(fit_noting_limit(fitted, bags[train], y[train]))
            scores.append(100.0 * fitted.score(bags[test], y[test]))
            sizes.append(fitted.n_instances_selected_)
    row = {"task": name, "form": form, "C": C, "f1": float(np.mean(scores))}
    row |= {"n_instances": float(np.mean(sizes)), "n_empty": int(sizes.count(0))}
    return [row | {"n_limited": sum(limit is not None for limit in limits)}]


def report(rows: list[dict[str, Any]], form: str) -> None:
    """F1 and instances of each task and C, and how often each C is near the best."""
    chosen = [row for row in rows if row["form"] == form]
    names = list(dict.fromkeys(row["task"] for row in chosen))
    found = {(row["task"], row["C"]): row for row in chosen}
    best = {name: max(found[name, C]["f1"] for C in GRID) for name in names}
    print(f"### {form}: held-out F1 (instances)\n")
    table = [
        [name, *(f"{found[name, C]['f1']:.1f} ({found[name, C]['n_instances']:.0f})" for C in GRID)]
        for name in names
    ]
    near = [sum(found[name, C]["f1"] >= best[name] - NEAR for name in names) for C in GRID]
    table.append([f"within {NEAR:g} point of the best", *(f"{n} of {len(names)}" for n in near)])
    for text, field in (("empty models", "n_empty"), ("fits at a limit", "n_limited")):
        table.append([text, *(sum(found[name, C][field] for name in names) for C in GRID)])
    print_table(["task", *(f"C = {C:g}" for C in GRID)], table)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.mil_defaults", __doc__)
    add_state_options(parser, "tasks")
    args = parser.parse_args(arguments)
    tasks = [
        (f"{name}, {form}, {C:g}", partial(score, name, bags, y, form, C))
        for name, bags, y in problems(args)
        for form in FORMS
        for C in GRID
    ]
    rows = run_saved(tasks, args.state, args.jobs)
    for form in FORMS:
        report(rows, form)
    print_note("Three stratified folds; the test part of the Image data is not touched.")
    finish(args, {"rows": rows})


if __name__ == "__main__":
    start(main)
