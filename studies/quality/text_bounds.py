"""The bound that follows the measure beside the paper's, on text: test scores class by class.

Run ``python -m studies.quality.text_bounds --data FOLDER --jobs 2``. One-vs-rest on News20 (20
classes) and Reuters-120 (50 classes), with an intercept. Each model is trained for the measure it
is judged by, and decides by its own threshold: ``MeasureSVC`` with exactly 10 and 50 words, and on
News20 with the budget 250. The bound ``"tight"`` at the default C and at each C of the grid, and
the paper's at each C, of which the best macro average on the test part is taken: a choice in its
favour. For F1 also chi2, l1-SVM and SVM-RFE: a logistic regression on their columns, plain or
balanced, its C and its threshold by cross-validation.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from scoresieve import MeasureSVC, get_measure
from studies.common.data import Split, load
from studies.common.internals import default_C
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import print_note, print_table
from studies.common.thresholds import best_threshold
from studies.common.timing import timed
from studies.paper.selectors import SELECTORS
from studies.quality.quiet import quiet_thread

GRID = (3.0, 10.0, 30.0, 100.0)
MEASURES = ("f1", "rec@2p", "prbep")
KS = (10, 50)
BUDGET = 250
TOL = 0.1
PAPER_C = 3.0
#: The name in the results, the size of the smallest class, and whether the budget 250 is tried.
SETS = {"news20": (0, True), "reuters120": (15, False)}
RIVALS = ("chi2", "l1-SVM", "SVM-RFE")
RIVAL_CS = (0.1, 1.0, 10.0, 100.0)
N_FOLDS = 5


def sizes(name: str) -> list[dict[str, int]]:
    """The numbers of words, and the budget if it is tried."""
    exact = [{"n_features_to_select": k} for k in KS]
    return [*exact, {"budget": BUDGET}] if SETS[name][1] else exact


def settings(measure: str, size: dict[str, int], args: argparse.Namespace) -> list[dict[str, Any]]:
    """Bounds and values of C; with the budget 250 the paper's is at about its own C = 0.1 n."""
    paper = (PAPER_C,) if "budget" in size else GRID
    bounds = {"tight": sorted({default_C(measure), *args.tight_C}), "paper": paper}
    return [{"bound": bound, "C": C} for bound, Cs in bounds.items() for C in Cs]


def fit_class(
    name: str, label: int, split: Split, measure: str, args: argparse.Namespace
) -> list[dict[str, Any]]:
    """Every size and setting on one class."""
    y, y_test = split.labels(label)
    rows = []
    for size in sizes(name):
        for setting in settings(measure, size, args):
            model = MeasureSVC(measure, tol=TOL, **size, **setting)
            with quiet_thread():
                seconds, _ = timed(lambda model=model: model.fit(split.X, y))
            rows.append(
                {"set": name, "class": label, "measure": measure, "size": _text(size)}
                | setting
                | {
                    "positives": int(np.sum(y > 0)),
                    "price": float(model.price_[0]),
                    "test": 100.0 * model.score(split.X_test, y_test),
                    "train": 100.0 * model.score(split.X, y),
                    "features": model.n_features_selected_,
                    "seconds": seconds,
                }
            )
    log(f"{name} class {label} {measure} done")
    return rows


def _text(size: dict[str, int]) -> str:
    """``k = 10`` or ``B = 250``."""
    ((name, value),) = size.items()
    return f"{'B' if name == 'budget' else 'k'} = {value}"


def fit_rivals(name: str, label: int, split: Split) -> list[dict[str, Any]]:
    """Columns of each rival, and the tuned logistic regression on them."""
    y, y_test = split.labels(label)
    rows = []
    for rival in RIVALS:
        with quiet_thread():
            choices = SELECTORS[rival](split.X, y, list(KS))
            scores = [tuned_f1(split, y, y_test, choice.columns) for choice in choices]
        for k, score in zip(KS, scores, strict=True):
            rows.append({"set": name, "class": label, "size": f"k = {k}", "rival": rival})
            rows[-1]["test"] = score
    log(f"{name} class {label} rivals done")
    return rows


def tuned_f1(split: Split, y: np.ndarray, y_test: np.ndarray, columns: np.ndarray) -> float:
    """Test F1 in percent of the logistic regression with the best cross-validated F1."""
    if not columns.size:
        return 0.0
    part, folds = split.X[:, columns], StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    measure, best = get_measure("f1"), (-1.0, None, 0.0)
    for weight in (None, "balanced"):
        for C in RIVAL_CS:
            model = LogisticRegression(C=C, class_weight=weight, max_iter=2000)
            scores = cross_val_predict(model, part, y, cv=folds, method="decision_function")
            threshold = best_threshold(y, scores)
            found = measure.score(y, scores - threshold)
            if found > best[0]:
                best = found, model, threshold
    _, model, threshold = best
    decision = model.fit(part, y).decision_function(split.X_test[:, columns])
    return 100.0 * measure.score(y_test, decision - threshold)


def macro(rows: list[dict[str, Any]], **chosen: Any) -> float:
    """The mean test score of the rows that agree; NaN if there are none."""
    found = [row["test"] for row in rows if all(row.get(k) == v for k, v in chosen.items())]
    return float(np.mean(found)) if found else np.nan


def report(rows: list[dict[str, Any]], rivals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each set, measure and size."""
    summary, lines = [], []
    keys = sorted({(row["set"], row["measure"], row["size"]) for row in rows}, key=str)
    for name, measure, size in keys:
        of_size = {"set": name, "measure": measure, "size": size}
        mine = [row for row in rows if all(row[k] == v for k, v in of_size.items())]
        own_C = default_C(measure)
        ours = macro(mine, bound="tight", C=own_C)
        by_C = {C: macro(mine, bound="paper", C=C) for C in (PAPER_C, *GRID)}
        by_C = {C: score for C, score in by_C.items() if not np.isnan(score)}
        best_C = max(by_C, key=lambda C: by_C[C])
        theirs = {rival: macro(rivals, set=name, size=size, rival=rival) for rival in RIVALS}
        shown = [f"{theirs[rival]:.2f}" if measure == "f1" else "" for rival in RIVALS]
        empty = [
            sum(not row["features"] for row in mine if row["bound"] == bound and row["C"] == C)
            for bound, C in (("tight", own_C), ("paper", best_C))
        ]
        summary.append(of_size | {"tight": ours, "paper": by_C, "rivals": theirs})
        lines.append(
            [
                *(name, measure, size, f"{ours:.2f} (C = {own_C:g})"),
                f"{by_C[best_C]:.2f} (C = {best_C:g})",
                *(f"{ours - by_C[best_C]:+.2f}", *shown, f"{empty[0]} / {empty[1]}"),
            ]
        )
    head = ["data", "measure", "size", "tight, default C", "paper, best C", "gain"]
    print_table([*head, *RIVALS, "empty models"], lines, n_left=3)
    return summary


def report_Cs(rows: list[dict[str, Any]]) -> None:
    """Every C of the tight bound."""
    Cs = sorted({row["C"] for row in rows if row["bound"] == "tight"})
    keys = sorted({(row["set"], row["measure"], row["size"]) for row in rows}, key=str)
    lines = []
    for name, measure, size in keys:
        of_size = {"set": name, "measure": measure, "size": size, "bound": "tight"}
        scores = [f"{macro(rows, **of_size, C=C):.2f}" for C in Cs]
        lines.append([name, measure, size, *scores])
    print_note("The tight bound at every C:")
    print_table(["data", "measure", "size", *(f"C = {C:g}" for C in Cs)], lines, n_left=3)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.text_bounds", __doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--measures", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--every", type=int, default=1, help="take every n-th class only")
    parser.add_argument(
        "--tight-C", nargs="*", type=float, default=[], help="of the tight bound, besides its own"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args(arguments)
    jobs, rival_jobs = [], []
    for name in args.sets:
        split = load(folder_of(args), name)
        labels, counts = np.unique(split.y, return_counts=True)
        labels = labels[counts >= SETS[name][0]][:: args.every]
        labels = labels[:2] if args.quick else labels
        # Reuters is judged by F1 alone.
        measures = args.measures if SETS[name][1] else [m for m in args.measures if m == "f1"]
        jobs += [(name, int(label), split, m, args) for m in measures for label in labels]
        if "f1" in args.measures:
            rival_jobs += [(name, int(label), split) for label in labels]
    pool = Parallel(n_jobs=args.jobs)
    rows = [row for part in pool(delayed(fit_class)(*job) for job in jobs) for row in part]
    rivals = [row for part in pool(delayed(fit_rivals)(*job) for job in rival_jobs) for row in part]
    summary = report(rows, rivals)
    if args.tight_C:
        report_Cs(rows)
    finish(args, {"rows": rows, "rivals": rivals, "summary": summary})


if __name__ == "__main__":
    start(main)
