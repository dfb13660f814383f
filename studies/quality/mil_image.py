"""Image data, five one-vs-rest tasks: test F1 against the number of selected instances.

Run ``python -m studies.quality.mil_image --data FOLDER``. The embedding of MILES as it is, sigma
the median distance, 1,200 training and 800 test bags, the paper's C = 10 n for the methods that
optimise a measure, C = 5 for SVM-RFE, as in the paper. Nothing is chosen by test scores.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from itertools import product
from time import process_time
from typing import Any

from scoresieve.mil import MILESEmbedding
from studies.common.bags import IMAGE_CLASSES, BagSplit, load_image
from studies.common.options import (
    add_state_options,
    finish,
    folder_of,
    make_parser,
    result_file,
    start,
)
from studies.common.progress import log
from studies.common.saved_runs import run_saved
from studies.common.tables import pass_or_fail, print_note
from studies.quality.mil_image_fits import (
    FS_ACCURACY,
    FS_F1,
    HARD,
    L1,
    L1_BUNDLE,
    METHODS,
    RFE,
    SETTINGS,
    Task,
    fit_one,
    fit_rfe,
)
from studies.quality.mil_image_show import detail, draw, report

FAST_FIRST = (L1, FS_F1, FS_ACCURACY, HARD, RFE, L1_BUNDLE)
#: Seconds of one core for the embedding of the training bags.
MOST_SECONDS = 2.0


def make_tasks(args: argparse.Namespace, split: BagSplit, X: Any, X_test: Any) -> list:
    """(key, callable) for every fit; slow methods last."""
    tasks = []
    for intercept, method, number in product(args.intercepts, FAST_FIRST, args.classes):
        if method not in args.methods:
            continue
        name, with_intercept = IMAGE_CLASSES[number], bool(intercept)
        task = Task(X, split.y[:, number], X_test, split.y_test[:, number])
        about = {"method": method, "class": name, "intercept": with_intercept}
        key = f"{method}, {name}, intercept {intercept}"
        if method == RFE:
            run = partial(fit_rfe, task, with_intercept)
            tasks.append((key, partial(labelled, about, run)))
            continue
        for setting in args.numbers if method == HARD else SETTINGS[method]:
            max_time = args.bundle_time if method == L1_BUNDLE else args.max_time
            run = partial(fit_one, task, method, setting, with_intercept, max_time)
            tasks.append((f"{key}, {setting}", partial(labelled, about, run)))
    return tasks


def embedding_seconds(split: BagSplit) -> float:
    """Least of three times of the processor, which other processes disturb less than a clock."""
    seconds = []
    for _ in range(3):
        begin = process_time()
        MILESEmbedding().fit_transform(split.bags)
        seconds.append(process_time() - begin)
    return min(seconds)


def labelled(about: dict[str, Any], run: Any) -> list[dict]:
    """Rows with what they are about."""
    return [about | row for row in run()]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.mil_image", __doc__)
    parser.add_argument("--classes", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--intercepts", nargs="+", type=int, choices=(0, 1), default=[0, 1])
    parser.add_argument(
        "--numbers",
        nargs="+",
        type=int,
        default=SETTINGS[HARD],
        help="numbers of instances for the hard budget, which takes longer the more they are",
    )
    parser.add_argument("--max-time", type=float, default=120.0, help="seconds for each fit")
    parser.add_argument(
        "--bundle-time", type=float, default=20.0, help="the same for the l1-bundle method"
    )
    add_state_options(parser, "fits")
    parser.add_argument("--figure", type=result_file, help="draw the curves to this PNG file")
    args = parser.parse_args(arguments)
    if args.quick:
        args.classes, args.intercepts, args.max_time = [0], [0], 10.0
        args.methods = [method for method in args.methods if method in (FS_F1, HARD, L1)]
    split = load_image(folder_of(args))
    embedding = MILESEmbedding().fit(split.bags)
    X, X_test = embedding.transform(split.bags), embedding.transform(split.test_bags)
    seconds = embedding_seconds(split)
    log(f"embedding of {len(split.bags)} bags: {seconds:.2f} s")
    rows = run_saved(make_tasks(args, split, X, X_test), args.state, args.jobs)
    classes = [IMAGE_CLASSES[number] for number in args.classes]
    summary = []
    for intercept in map(bool, args.intercepts):
        detail(rows, classes, intercept)
        summary += [report(rows, classes, intercept, f) for f in ("test_f1", "test_f1_tuned")]
    print_note(
        f"Embedding: {len(split.bags)} bags of nine instances, {X.shape[1]} prototypes, sigma "
        f"{embedding.sigma_:.4g}; fit and transform take {seconds:.2f} s of one core (the least of "
        f"three): {pass_or_fail(seconds < MOST_SECONDS)} (below {MOST_SECONDS:g} s wanted)."
    )
    if args.figure is not None:
        draw(rows, classes, bool(args.intercepts[0]), args.figure)
    finish(args, {"rows": rows, "summary": summary, "embedding_seconds": seconds})


if __name__ == "__main__":
    start(main)
