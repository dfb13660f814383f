"""Musk1 and Elephant: ten times ten-fold cross-validation, beside published figures of MILES.

Run ``python -m studies.quality.mil_cv --data FOLDER --jobs 2 --state FILE``. Width, number of
instances and C are chosen inside the training part of each fold, by three-fold cross-validation:
of our models by ``BagScoreSieve``, of the others by a grid search. Columns are as they are in the
files but for the mean instances, which are standardised.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from scoresieve.baselines import MILES, MeanInstanceSVM
from scoresieve.mil import Bags, BagScoreSieve
from studies.common.bags import load_bags
from studies.common.limits import fit_noting_limit, tally
from studies.common.options import add_state_options, finish, folder_of, make_parser, start
from studies.common.saved_runs import run_saved
from studies.common.tables import print_note, print_table
from studies.common.timing import timed
from studies.quality.quiet import quiet_thread

SIGMAS = ["0.25*median", "0.5*median", "median"]
SIZES = [5, 20, 40]
#: Of the l1-SVM.
MILES_CS = [0.3, 1.0, 10.0]
MEAN_CS = [0.01, 0.1, 1.0, 10.0]
INNER = 3
OURS = {"ours, trained for accuracy": "accuracy", "ours, trained for F1": "f1"}
METHODS = (*OURS, "MILES", "mean instance")
#: Accuracy in percent, by data set, as printed by others, with their source.
PUBLISHED = {
    "musk1": [(86.3, "MILES, Chen, Bi and Wang, TPAMI 2006")],
    "elephant": [],
}


def make_model(method: str) -> Any:
    """A model that chooses its settings by itself."""
    if method in OURS:
        return BagScoreSieve(OURS[method], sigmas=SIGMAS, n_instances_to_select=SIZES, cv=INNER)
    if method == "MILES":
        model, grid = MILES(tol=1e-3), {"sigma": SIGMAS, "C": MILES_CS}
    else:
        model, grid = MeanInstanceSVM(), {"C": MEAN_CS}
    return GridSearchCV(model, grid, cv=INNER)


def one_fold(
    name: str, bags: Bags, y: np.ndarray, method: str, repeat: int, train: Any, test: Any
) -> list[dict[str, Any]]:
    """Fit on one part, predict the other."""
    if method == "mean instance":
        scaler = StandardScaler().fit(bags[train].instances)
        bags = Bags(scaler.transform(bags.instances), bags.offsets, bags.names)
    model = make_model(method)
    with quiet_thread():
        seconds, limit = timed(lambda: fit_noting_limit(model, bags[train], y[train]))
    best = getattr(model, "best_estimator_", model)
    return [
        {
            "data": name,
            "method": method,
            "repeat": repeat,
            "test": np.asarray(test).tolist(),
            "predicted": model.predict(bags[test]).tolist(),
            "chosen": {key: str(value) for key, value in model.best_params_.items()},
            "n_instances": getattr(best, "n_instances_selected_", None),
            "seconds": seconds,
            "limit": limit,
        }
    ]


def make_tasks(args: argparse.Namespace, data: dict[str, tuple[Bags, np.ndarray]]) -> list:
    """(key, callable) for every outer fold of every method."""
    tasks = []
    for repeat in range(args.repeats):
        for name, (bags, y) in data.items():
            splitter = StratifiedKFold(10, shuffle=True, random_state=repeat)
            for fold, (train, test) in enumerate(splitter.split(np.zeros(len(bags)), y)):
                for method in args.methods:
                    run = partial(one_fold, name, bags, y, method, repeat, train, test)
                    tasks.append((f"{name}, run {repeat}, fold {fold}, {method}", run))
    return tasks


def summarise(rows: list[dict], y: np.ndarray) -> dict[str, Any]:
    """Accuracy and F1 of each run over all its folds: their mean and standard deviation."""
    accuracies, scores = [], []
    for repeat in sorted({row["repeat"] for row in rows}):
        predicted = np.zeros(y.size, dtype=int)
        for row in rows:
            if row["repeat"] == repeat:
                predicted[row["test"]] = row["predicted"]
        accuracies.append(100.0 * accuracy_score(y, predicted))
        scores.append(100.0 * f1_score(y, predicted))
    sizes = [row["n_instances"] for row in rows if row["n_instances"] is not None]
    return {
        "n_runs": len(accuracies),
        "accuracy": float(np.mean(accuracies)),
        "accuracy_sd": float(np.std(accuracies)),
        "f1": float(np.mean(scores)),
        "f1_sd": float(np.std(scores)),
        "median_instances": float(np.median(sizes)) if sizes else None,
        "seconds_a_fold": float(np.mean([row["seconds"] for row in rows])),
        "at_a_limit": tally(row["limit"] for row in rows),
    }


def report(rows: list[dict], data: dict[str, tuple[Bags, np.ndarray]], methods: list) -> dict:
    """One table for each data set, with published figures below ours."""
    results: dict[str, Any] = {}
    for name, (bags, y) in data.items():
        print(f"### {name}: {bags!r}, {np.count_nonzero(y > 0)} positive\n")
        table = []
        for method in methods:
            chosen = [row for row in rows if row["data"] == name and row["method"] == method]
            found = results.setdefault(name, {})[method] = summarise(chosen, y)
            size = found["median_instances"]
            table.append(
                [
                    method,
                    f"{found['accuracy']:.1f} ± {found['accuracy_sd']:.1f}",
                    f"{found['f1']:.1f} ± {found['f1_sd']:.1f}",
                    "" if size is None else f"{size:.0f}",
                    f"{found['seconds_a_fold']:.1f}",
                    found["at_a_limit"],
                ]
            )
        table += [
            [f"published: {source}", f"{value}", *[""] * 4] for value, source in PUBLISHED[name]
        ]
        head = ["method", "accuracy, %", "F1, %", "instances", "s a fold", "at a limit"]
        print_table(head, table)
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.mil_cv", __doc__)
    parser.add_argument("--sets", nargs="+", choices=tuple(PUBLISHED), default=list(PUBLISHED))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--repeats", type=int, default=10)
    add_state_options(parser, "folds")
    args = parser.parse_args(arguments)
    if args.quick:
        args.repeats, args.sets = 1, ["musk1"]
    data = {name: load_bags(folder_of(args), name) for name in args.sets}
    rows = run_saved(make_tasks(args, data), args.state, args.jobs)
    summary = report(rows, data, args.methods)
    print_note(
        f"{args.repeats} times ten folds, stratified; ± is the standard deviation over the runs, "
        f"instances the median over the folds. Inner {INNER}-fold choice of sigma among {SIGMAS} "
        f"and the number of instances among {SIZES}, within one standard error. MILES: sigma, and "
        f"C among {MILES_CS}. Mean instance: C among {MEAN_CS}."
    )
    finish(args, {"rows": rows, "summary": summary, "published": PUBLISHED})


if __name__ == "__main__":
    start(main)
