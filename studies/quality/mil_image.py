"""Image data, five one-vs-rest tasks: test F1 against the number of selected instances.

Run ``python -m studies.quality.mil_image --data FOLDER``. The embedding of MILES as it is, sigma
the median distance, 1,200 training and 800 test bags, the paper's C = 10 n for the methods that
optimise a measure, C = 5 for SVM-RFE, as in the paper. Nothing is chosen by test scores.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from scoresieve import MeasureSVC, get_measure
from scoresieve.baselines import L1SVM, SVMRFE, FSMulti, L1BundleSVM
from scoresieve.measures.scales import C_from_paper
from scoresieve.mil import MILESEmbedding
from studies.common.bags import IMAGE_CLASSES, BagSplit, load_image
from studies.common.limits import MARK, fit_noting_limit, marked, tally
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
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.thresholds import best_threshold
from studies.common.timing import timed

#: The paper's C divided by the number of bags.
PAPER_C = 10.0
RFE_C = 5.0
#: liblinear's own default is 0.1; at scikit-learn's 1e-4 the first rounds take minutes.
RFE_TOL = 0.01
HARD, RFE = "ours, hard budget", "SVM-RFE"
FS_F1, FS_ACCURACY = "FSMulti-F1", "FSMulti-accuracy"
L1, L1_BUNDLE = "l1-SVM (MILES)", "l1-bundle-F1"
METHODS = (FS_F1, FS_ACCURACY, HARD, L1, RFE, L1_BUNDLE)
FAST_FIRST = (L1, FS_F1, FS_ACCURACY, HARD, RFE, L1_BUNDLE)
#: What each method is run for: budgets, numbers of instances, or C.
SETTINGS = {
    FS_F1: [1, 2, 3, 4, 6, 8, 10],
    FS_ACCURACY: [1, 2, 3, 4, 6, 8, 10],
    HARD: [5, 10, 20, 40, 80],
    L1: np.geomspace(0.01, 1.0, 15).round(5).tolist(),
    RFE: [5, 10, 20, 40, 60, 80],
    L1_BUNDLE: [0.3, 0.5, 1.0, 2.0, 4.0, 8.0],
}
#: Where the curves are compared.
GRID = np.arange(10, 100, 10)
#: Seconds of one core for the embedding of the training bags.
MOST_SECONDS = 2.0
#: Features from which on SVM-RFE goes on alone for each number.
RFE_STOP = 128


class Task:
    """One class: embedded bags and their labels."""

    def __init__(self, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray):
        self.X, self.y, self.X_test, self.y_test = X, y, X_test, y_test

    def row(self, model: Any, columns: Any = slice(None)) -> dict[str, Any]:
        """How a fitted model does, with its own threshold and with one tuned on training scores."""
        f1 = get_measure("f1")
        train = model.decision_function(self.X[:, columns])
        test = model.decision_function(self.X_test[:, columns])
        tuned = best_threshold(self.y, train)
        gap = getattr(model, "dual_gap_", None)
        return {
            "n_instances": int(model.n_features_selected_),
            "train_f1": 100.0 * f1.score(self.y, train),
            "test_f1": 100.0 * f1.score(self.y_test, test),
            "test_f1_tuned": 100.0 * f1.score(self.y_test, test - tuned),
            "gap": None if gap is None else float(gap[0]),
        }


def make_model(method: str, setting: float, y: np.ndarray, intercept: bool, max_time: float) -> Any:
    """An unfitted model of one of the methods; SVM-RFE is made elsewhere."""
    shared = {"fit_intercept": intercept, "max_time": max_time}
    paper = {"C": PAPER_C, "C_scale": "paper", "budget": int(setting)}
    if method == FS_F1:
        return FSMulti("f1", **paper, **shared)
    if method == FS_ACCURACY:
        return FSMulti("accuracy", **paper, **shared)
    if method == HARD:
        C = C_from_paper(PAPER_C, y, "f1")
        return MeasureSVC("f1", n_features_to_select=int(setting), C=C, tol=0.1, **shared)
    if method == L1:
        return L1SVM(C=float(setting), **shared)
    return L1BundleSVM("f1", C=float(setting), **shared)


def fit_one(task: Task, method: str, setting: float, intercept: bool, max_time: float) -> list:
    """One fit."""
    model = make_model(method, setting, task.y, intercept, max_time)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings(
            "ignore", message=".*the model has no features", category=UserWarning
        )
        seconds, limit = timed(lambda: fit_noting_limit(model, task.X, task.y))
        return [{"setting": setting, "seconds": seconds, "limit": limit, **task.row(model)}]


def fit_rfe(task: Task, intercept: bool) -> list:
    """All numbers of instances; they share the rounds down to 128."""
    rows = []
    settings = {"C": RFE_C, "tol": RFE_TOL, "fit_intercept": intercept}
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = SVMRFE(n_features_to_select=RFE_STOP, **settings)
        shared, limit = timed(lambda: fit_noting_limit(first, task.X, task.y))
        columns = first.support_
        for k in SETTINGS[RFE]:
            model, X = SVMRFE(n_features_to_select=k, **settings), task.X[:, columns]
            seconds, own = timed(lambda model=model, X=X: fit_noting_limit(model, X, task.y))
            row = {"setting": k, "seconds": shared + seconds, "limit": limit or own}
            rows.append(row | task.row(model, columns))
    return rows


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
            shown = [row for row in of_class if row["n_instances"] < 120]
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
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = ["#0072b2", "#56b4e9", "#000000", "#d55e00", "#009e73", "#cc79a7"]
    figure, axes = plt.subplots(
        2, 3, figsize=(11, 6.4), sharex=True, sharey=True, layout="constrained"
    )
    for ax, name in zip(axes.flat, classes, strict=False):
        for method, colour, mark in zip(METHODS, colours, "osDv^x", strict=True):
            points = sorted(
                (place(row), row["test_f1"])
                for row in rows
                if (row["method"], row["class"], row["intercept"]) == (method, name, intercept)
                and 0 < place(row) < 120
            )
            if points:
                ax.plot(
                    *np.transpose(points), color=colour, marker=mark, ms=4, lw=1.4, label=method
                )
        ax.set_title(name, loc="left")
        ax.set_xlim(0, 105)
        ax.set_ylim(0, 85)
        ax.grid(alpha=0.25)
    shown = list(axes.flat[: len(classes)])
    for ax in shown[-3:]:  # those with nothing below them
        ax.set_xlabel("selected instances")
        ax.tick_params(labelbottom=True)
    for ax in axes[:, 0]:
        ax.set_ylabel("test F1, %")
    for ax in axes.flat[len(classes) :]:
        ax.axis("off")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    axes.flat[-1].legend(handles, labels, loc="center", frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    log(f"wrote {path}")


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
