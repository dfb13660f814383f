"""News20, 20 classes one-vs-rest: macro scores and features beside the paper's table.

Run ``python -m studies.speed.news20 --data FOLDER``. Budget 250, the paper's C = 0.1 n, which is
``0.1 P / 25`` in our scale (P positives of the class), unit-length rows, no intercept. Each model
is trained for the measure it is judged by on the test file: F1 at threshold 0, Rec@2p with k twice
the test positives, PRBEP. ``certify`` recomputes every gap. The paper's two-layer algorithm then
fits some classes for F1 to the same gap.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from scoresieve import SolveResult, certify, get_measure, solve
from studies.common.data import Split, load
from studies.common.internals import solve_two_layer
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import timed

BUDGET = 250
#: The paper's macro averages and numbers of features, and what we want to reach.
PAPER = {"f1": (77.56, 1301), "rec@2p": (91.21, 1186), "prbep": (81.46, 931)}
WANTED = {"f1": 77.5, "rec@2p": 91.0, "prbep": 81.0}
FEATURES_WITHIN = 0.25


def fit(
    split: Split,
    label: int,
    measure: str,
    tol: float,
    solver: Callable[..., SolveResult] = solve,
    **options: Any,
) -> dict[str, Any]:
    """Fit one class and judge it on the test rows."""
    y, y_test = split.labels(label)
    C = 0.1 * float(np.sum(y > 0)) / 25.0
    settings = {"measure": measure, "bound": "paper", "budget": BUDGET, "C": C}
    seconds, result = timed(lambda: solver(split.X, y, tol=tol, **settings, **options))
    certificate = certify(split.X, y, result.w, result.dual_point, **settings)
    return {
        "class": label,
        "measure": measure,
        "C": settings["C"],
        "solver": "bundle" if solver is solve else "two_layer",
        "seconds": seconds,
        "score": 100.0 * get_measure(measure).score(y_test, split.X_test @ result.w),
        "n_features": int(result.support.size),
        "status": result.status.name,
        "gap": certificate.gap,
        "primal": certificate.primal,
        "dual": certificate.dual,
        "rounds": result.n_iter,
        "fall_backs": result.n_fallbacks,
    }


def all_classes(split: Split, args: argparse.Namespace) -> list[dict[str, Any]]:
    """The default solver on every class and measure."""
    results = []
    for measure in args.measures:
        for label in args.classes:
            row = fit(split, label, measure, args.tol)
            log(
                f"{measure} class {label}: {row['seconds']:.1f} s, {row['rounds']} rounds, "
                f"{row['n_features']} features, gap {row['gap']:.3f}, test {row['score']:.2f}"
            )
            results.append(row)
    return results


def report_scores(results: list[dict[str, Any]], args: argparse.Namespace) -> list[dict[str, Any]]:
    """Macro averages beside the paper's."""
    rows, summary = [], []
    complete = len(args.classes) == 20
    for measure in args.measures:
        chosen = [row for row in results if row["measure"] == measure]
        score = float(np.mean([row["score"] for row in chosen]))
        features = float(np.mean([row["n_features"] for row in chosen]))
        paper_score, paper_features = PAPER.get(measure, (np.nan, np.nan))
        good_score = score >= WANTED.get(measure, np.nan)
        good_features = abs(features / paper_features - 1.0) <= FEATURES_WITHIN
        gaps, seconds = [row["gap"] for row in chosen], [row["seconds"] for row in chosen]
        summary.append(
            {
                "measure": measure,
                "macro_score": score,
                "mean_features": features,
                "largest_gap": max(gaps),
                "score_reached": good_score,
                "features_reached": good_features,
            }
        )
        rows.append(
            [
                measure,
                f"{score:.2f}",
                paper_score,
                f">= {WANTED.get(measure, np.nan):g}",
                pass_or_fail(good_score) if complete else "not all classes",
                f"{features:.0f}",
                paper_features,
                pass_or_fail(good_features) if complete else "not all classes",
                f"{max(gaps):.4f}",
                sum(row["status"] == "CONVERGED" for row in chosen),
                sum(row["fall_backs"] for row in chosen),
                f"{np.median(seconds):.2f}",
                f"{max(seconds):.2f}",
                f"{sum(seconds):.1f}",
            ]
        )
    headers = ["measure", "macro test score", "paper", "wanted", "score", "mean features", "paper"]
    headers += [f"features within {FEATURES_WITHIN:.0%}", "largest certified gap", "converged"]
    headers += ["fall-backs", "median s", "largest s", "total s"]
    print_table(headers, rows)
    return summary


def two_layer(split: Split, args: argparse.Namespace) -> list[dict[str, Any]]:
    """The paper's algorithm for F1 on some classes; beside each the bundle, median of three."""
    comparison, rows = [], []
    for label in args.two_layer_classes:
        runs = [fit(split, label, "f1", args.tol) for _ in range(3)]
        ours = sorted(runs, key=lambda run: run["seconds"])[1]
        limits = {"max_time": args.two_layer_time, "max_iter": 10**6}
        theirs = fit(split, label, "f1", args.tol, solve_two_layer, **limits)
        log(
            f"two-layer class {label}: {theirs['status']}, {theirs['seconds']:.1f} s, "
            f"gap {theirs['gap']:.3f}"
        )
        ratio = theirs["seconds"] / ours["seconds"]
        finished = theirs["status"] == "CONVERGED"
        comparison.append({"class": label, "bundle": ours, "two_layer": theirs, "ratio": ratio})
        rows.append(
            [
                label,
                f"{ours['seconds']:.2f}",
                f"{ours['gap']:.4f}",
                f"{theirs['seconds']:.1f}",
                f"{theirs['gap']:.4f}",
                "yes" if finished else f"no: {theirs['status']}",
                f"{'' if finished else '> '}{ratio:.1f}",
                f"{ours['primal']:.5g}",
                f"{theirs['primal']:.5g}",
            ]
        )
    headers = ["class", "bundle s", "gap", "two-layer s", "gap", "reached the gap", "ratio"]
    print_table([*headers, "bundle primal", "two-layer primal"], rows)
    return comparison


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.news20", __doc__)
    parser.add_argument("--classes", nargs="+", type=int, default=list(range(1, 21)))
    parser.add_argument("--measures", nargs="+", default=list(PAPER))
    parser.add_argument("--tol", type=float, default=0.1)
    parser.add_argument("--two-layer-classes", nargs="*", type=int, default=[1, 12, 20])
    parser.add_argument("--two-layer-time", type=float, default=300.0, help="seconds a class")
    args = parser.parse_args(arguments)
    if args.quick:
        args.classes, args.two_layer_classes = args.classes[:2], args.two_layer_classes[:1]
        args.two_layer_time = min(args.two_layer_time, 30.0)
    split = load(folder_of(args), "news20")
    results = all_classes(split, args)
    print(f"News20, B = {BUDGET}, tol {args.tol:g}, {len(args.classes)} classes\n")
    summary = report_scores(results, args)
    comparison = []
    if args.two_layer_classes:
        print(f"The two-layer algorithm, F1, at most {args.two_layer_time:g} s a class\n")
        comparison = two_layer(split, args)
    every_gap = max(row["gap"] for row in results)
    print_note(
        f"Largest certified gap {every_gap:.4f}, wanted at most {args.tol:g}: "
        f"{pass_or_fail(every_gap <= args.tol)}."
    )
    finish(args, {"results": results, "summary": summary, "two_layer": comparison})


if __name__ == "__main__":
    start(main)
