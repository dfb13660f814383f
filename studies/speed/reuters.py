"""Reuters-120, rare positives and large C: does every fit converge, and how long does it take?

Run ``python -m studies.speed.reuters --data FOLDER``. Ten classes with 20 to 150 positives among
8,505 training rows, F1, intercept 1, C = 1, 10 and 100, budgets 10 and 50, tol 0.1, at most 1000
rounds. Beside each fit the l1-SVM with the same intercept and a similar number of features.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from scoresieve import SolveResult, certify, get_measure, solve
from studies.common.data import Split, load
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import timed
from studies.speed.l1svm import fit_l1svm, peer_row, seconds_text, tune_C

FEWEST, MOST = 20, 150
INTERCEPT = 1.0
L1_TOL = 1e-4


def choose_classes(y: np.ndarray, n_classes: int) -> list[tuple[int, int]]:
    """(class, positives), evenly over the classes in question, sorted by positives."""
    labels, counts = np.unique(y, return_counts=True)
    found = sorted((int(c), int(label)) for label, c in zip(labels, counts, strict=True))
    found = [(label, count) for count, label in found if FEWEST <= count <= MOST]
    positions = np.linspace(0, len(found) - 1, min(n_classes, len(found))).round().astype(int)
    return [found[position] for position in positions]


def fit(split: Split, label: int, C: float, budget: int, args: argparse.Namespace) -> dict:
    """One fit, its certificate, and the l1-SVM beside it."""
    y, y_test = split.labels(label)
    settings = {
        "measure": "f1",
        "bound": "paper",
        "budget": budget,
        "C": C,
        "intercept_scaling": INTERCEPT,
    }
    seconds, result = timed(
        lambda: solve(split.X, y, tol=args.tol, max_iter=args.max_iter, **settings)
    )
    certificate = certify(
        split.X, y, result.w, result.dual_point, intercept=result.intercept, **settings
    )
    scores = split.X_test @ result.w + result.intercept
    return {
        "class": label,
        "n_positive": int(np.sum(y > 0)),
        "C": C,
        "budget": budget,
        "status": result.status.name,
        "reached_tolerance": result.status.reached_tolerance,
        "gap": certificate.gap,
        "primal": certificate.primal,
        "dual": certificate.dual,
        "rounds": result.n_iter,
        "seconds": seconds,
        "seconds_of_fit": seconds - result.timings.get("smallest C", 0.0),
        "n_features": int(result.support.size),
        "fall_backs": result.n_fallbacks,
        "smallest_C": result.smallest_C,
        "timings": result.timings,
        "test_f1": 100.0 * get_measure("f1").score(y_test, scores),
        "l1svm": None if result.support.size == 0 else beside(split, y, y_test, result),
    }


def beside(split: Split, y: np.ndarray, y_test: np.ndarray, result: SolveResult) -> dict[str, Any]:
    """The l1-SVM with about as many features; only its last fit is timed."""
    wanted = int(result.support.size)
    tuned = tune_C(split.X, y, wanted, tol=L1_TOL, intercept=INTERCEPT)
    seconds, peer = timed(lambda: fit_l1svm(split.X, y, tuned.C, tol=L1_TOL, intercept=INTERCEPT))
    test_f1 = 100.0 * get_measure("f1").score(y_test, peer.scores(split.X_test))
    return peer_row(peer, wanted, seconds=seconds, test_f1=test_f1)


def table_row(row: dict[str, Any]) -> list[Any]:
    peer, smallest = row["l1svm"], row["smallest_C"]
    cells = [row["class"], row["n_positive"], f"{row['C']:g}", row["budget"], row["status"]]
    cells += [f"{row['gap']:.4f}", row["rounds"], f"{row['seconds_of_fit']:.2f}"]
    cells += [row["n_features"], row["fall_backs"], "" if smallest is None else f"{smallest:.3g}"]
    cells += [f"{row['test_f1']:.1f}"]
    if peer is None:
        return [*cells, "", "", ""]
    return [*cells, seconds_text(peer), peer["n_features"], f"{peer['test_f1']:.1f}"]


def report(results: list[dict[str, Any]], args: argparse.Namespace) -> dict[str, Any]:
    """The table, one line for each setting, and what it comes to."""
    headers = ["class", "positives", "C", "B", "status", "gap", "rounds", "seconds", "features"]
    headers += ["fall-backs", "smallest C", "test F1", "l1-SVM s", "features", "test F1"]
    print_table(headers, [table_row(row) for row in results])
    settings = []
    for C in args.C:
        for budget in args.budgets:
            chosen = [row for row in results if row["C"] == C and row["budget"] == budget]
            rounds = [row["rounds"] for row in chosen]
            seconds = [row["seconds_of_fit"] for row in chosen]
            peers = [row["l1svm"]["seconds"] for row in chosen if row["l1svm"]]
            settings.append(
                [
                    f"{C:g}",
                    budget,
                    f"{sum(row['reached_tolerance'] for row in chosen)} of {len(chosen)}",
                    f"{np.median(rounds):.0f}",
                    max(rounds),
                    f"{np.median(seconds):.2f}",
                    f"{max(seconds):.2f}",
                    f"{np.median(peers):.2f}" if peers else "",
                    f"{max(peers):.2f}" if peers else "",
                ]
            )
    headers = ["C", "B", "converged", "median rounds", "most rounds", "median s", "most s"]
    print_table([*headers, "l1-SVM median s", "l1-SVM most s"], settings)
    converged = all(row["reached_tolerance"] and row["gap"] <= args.tol for row in results)
    summary = {
        "all_converged": converged,
        "most_rounds": max(row["rounds"] for row in results),
        "most_seconds": max(row["seconds_of_fit"] for row in results),
        "fall_backs": sum(row["fall_backs"] for row in results),
        "empty_models": sum(row["n_features"] == 0 for row in results),
    }
    print_note(
        f"All converged: {pass_or_fail(converged)}; most rounds {summary['most_rounds']}, most "
        f"seconds {summary['most_seconds']:.2f}, fall-backs {summary['fall_backs']}, empty models "
        f"{summary['empty_models']} of {len(results)}."
    )
    print_note("Seconds leave out the search for smallest C, which empty models add.")
    return summary


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.reuters", __doc__)
    parser.add_argument("--n-classes", type=int, default=10)
    parser.add_argument("--C", nargs="+", type=float, default=[1.0, 10.0, 100.0])
    parser.add_argument("--budgets", nargs="+", type=int, default=[10, 50])
    parser.add_argument("--tol", type=float, default=0.1)
    parser.add_argument("--max-iter", type=int, default=1000)
    args = parser.parse_args(arguments)
    if args.quick:
        args.n_classes = min(args.n_classes, 2)
    split = load(folder_of(args), "reuters120")
    classes = choose_classes(split.y, args.n_classes)
    listed = ", ".join(f"{label} ({count})" for label, count in classes)
    print(f"Reuters-120, {split.X.shape[0]} training rows, classes (positives): {listed}\n")
    results = []
    for label, _ in classes:
        for C in args.C:
            for budget in args.budgets:
                row = fit(split, label, C, budget, args)
                log(
                    f"class {label} C={C:g} B={budget}: {row['status']}, gap {row['gap']:.3f}, "
                    f"{row['rounds']} rounds, {row['seconds']:.1f} s"
                )
                results.append(row)
    finish(args, {"classes": classes, "results": results, "summary": report(results, args)})


if __name__ == "__main__":
    start(main)
