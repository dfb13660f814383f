"""News20.binary, 1.36 million columns: time and memory of a fit beside scikit-learn's l1-SVM.

Run ``python -m studies.speed.news20_binary --data FOLDER``. 11,997 training rows, F1, C = 2.5,
budgets 10, 50 and 250, tol 0.05, no intercept. The l1-SVM's C is searched beforehand, so that its
number of features is within 20 % of ours; only final fits are timed, in turn, and the median of
three is taken. Memory beyond X is measured in processes of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from scoresieve import SolveResult, solve
from studies.common.data import Split, load
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import timed
from studies.speed.l1svm import fit_l1svm, peer_row, seconds_text, tune_C
from studies.speed.memory import L1SVM, measure_memory

SETTINGS = {"measure": "f1", "bound": "paper", "C": 2.5, "tol": 0.05}
MEGABYTES_WANTED = 300.0
L1_TOLERANCES = (1e-4, 1e-2)


def compare(split: Split, budget: int, n_repeats: int) -> dict[str, Any]:
    """Our fit and l1-SVM's at both tolerances, in turn."""
    result: SolveResult = solve(split.X, split.y, budget=budget, **SETTINGS)
    n_features = int(result.support.size)
    tuned = {}
    for tol in L1_TOLERANCES:
        tuned[tol] = tune_C(split.X, split.y, n_features, tol=tol)
        log(f"B = {budget}: l1-SVM tol {tol:g}: C {tuned[tol].C:.4g}, {tuned[tol].n_features}")
    ours: list[float] = []
    theirs: dict[float, list[float]] = {tol: [] for tol in L1_TOLERANCES}
    for _ in range(n_repeats):
        ours.append(timed(lambda: solve(split.X, split.y, budget=budget, **SETTINGS))[0])
        for tol, fit in tuned.items():
            again = timed(lambda fit=fit, tol=tol: fit_l1svm(split.X, split.y, fit.C, tol=tol))
            theirs[tol].append(again[0])
    return {
        "budget": budget,
        "seconds": float(np.median(ours)),
        "all_seconds": ours,
        "n_features": n_features,
        "status": result.status.name,
        "primal": result.primal,
        "dual": result.dual,
        "gap": result.gap,
        "rounds": result.n_iter,
        "fall_backs": result.n_fallbacks,
        "timings": result.timings,
        "test_f1": test_f1(split, split.X_test @ result.w),
        "l1svm": {
            f"{tol:g}": peer_row(
                fit,
                n_features,
                seconds=float(np.median(theirs[tol])),
                all_seconds=theirs[tol],
                test_f1=test_f1(split, fit.scores(split.X_test)),
            )
            for tol, fit in tuned.items()
        },
    }


def test_f1(split: Split, scores: np.ndarray) -> float:
    """F1 of the test rows at threshold 0, in per cent."""
    return 100.0 * float(f1_score(split.y_test, np.where(scores > 0, 1, -1)))


def report(results: list[dict[str, Any]], memory: dict[str, dict[str, float]]) -> None:
    headers = ["B", "seconds", "features", "primal", "dual", "gap", "rounds", "test F1"]
    for tol in L1_TOLERANCES:
        headers += [f"l1-SVM {tol:g} s", "features", "test F1", "ratio"]
    rows = []
    for row in results:
        cells = [row["budget"], f"{row['seconds']:.2f}", row["n_features"]]
        cells += [f"{row['primal']:.6g}", f"{row['dual']:.6g}", f"{row['gap']:.4f}"]
        cells += [row["rounds"], f"{row['test_f1']:.2f}"]
        for peer in row["l1svm"].values():
            cells += [seconds_text(peer), peer["n_features"], f"{peer['test_f1']:.2f}"]
            cells += [f"{row['seconds'] / peer['seconds']:.2f}"]
        rows.append(cells)
    print_table(headers, rows)
    if memory:
        names = list(next(iter(memory.values())))
        print("Megabytes beyond X, each from a process of its own (x: X itself)\n")
        print_table(
            ["fit", *names],
            [
                [f"B = {key}" if key.isdecimal() else key, *(f"{row[n]:.0f}" for n in names)]
                for key, row in memory.items()
            ],
        )
        print_note(
            "peak_growth: largest resident memory after the fit less that after loading; "
            "peak_over_resident: less the resident memory before the fit, which hides nothing; "
            "traced_peak: tracemalloc, which does not see what liblinear allocates."
        )


def targets(results: list[dict[str, Any]], memory: dict[str, dict[str, float]]) -> None:
    """How the targets stand."""
    for tol in L1_TOLERANCES:
        faster = [row["seconds"] <= row["l1svm"][f"{tol:g}"]["seconds"] for row in results]
        print_note(
            f"Not slower than l1-SVM at tol {tol:g} in {sum(faster)} of {len(faster)} budgets: "
            f"{pass_or_fail(all(faster))}."
        )
    ours = [row for key, row in memory.items() if key.isdecimal()]
    if ours:
        most = max(value for row in ours for key, value in row.items() if key != "x")
        print_note(
            f"Largest memory beyond X {most:.0f} MB, wanted below {MEGABYTES_WANTED:g}: "
            f"{pass_or_fail(most < MEGABYTES_WANTED)}."
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.news20_binary", __doc__)
    parser.add_argument("--budgets", nargs="+", type=int, default=[10, 50, 250])
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each fit")
    parser.add_argument("--no-memory", action="store_true", help="leave the memory out")
    args = parser.parse_args(arguments)
    if args.quick:
        args.budgets, args.repeats = args.budgets[:1], 1
    split = load(folder_of(args), "news20_binary")
    fits = {str(budget): {"budget": budget, **SETTINGS} for budget in args.budgets}
    fits["l1-SVM"] = L1SVM
    memory = {} if args.no_memory else measure_memory(split.X, split.y, fits)
    results = []
    for budget in args.budgets:
        results.append(compare(split, budget, args.repeats))
        log(f"B = {budget}: {results[-1]['seconds']:.2f} s, {results[-1]['rounds']} rounds")
    print(f"News20.binary, training part {split.X.shape[0]} x {split.X.shape[1]}, {SETTINGS}\n")
    report(results, memory)
    targets(results, memory)
    finish(args, {"results": results, "memory_megabytes": memory})


if __name__ == "__main__":
    start(main)
