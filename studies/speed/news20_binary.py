"""News20.binary, 1.36 million columns: time and memory of a fit beside scikit-learn's l1-SVM.

Run ``python -m studies.speed.news20_binary --data FOLDER``. 11,997 training rows, F1, C = 2.5,
budgets 10, 50 and 250, tol 0.05, no intercept. The l1-SVM's C is searched beforehand, so that its
number of features is within 20 % of ours; only final fits are timed, in turn, and the median of
three is taken. Memory beyond X is measured in processes of their own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import f1_score

from scoresieve import SolveResult, solve
from studies.common.options import (
    Split,
    finish,
    load_news20_binary,
    log,
    make_parser,
    print_note,
    print_table,
    start,
    timed,
    verdict,
)
from studies.speed.l1svm import WITHIN, L1Fit, distance, fit_l1svm, tune_C

SETTINGS = {"measure": "f1", "C": 2.5, "tol": 0.05}
MEGABYTES_WANTED = 300.0
L1_TOLERANCES = (1e-4, 1e-2)
MEGABYTE = 2.0**20


def measure_memory(split: Split, args: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Peak memory beyond X of each fit, from one process for each number.

    The processes read the training part from plain arrays: reading the original file needs more
    memory than the fit and would hide it.
    """
    peaks = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("data", "indices", "indptr"):
            np.save(Path(folder) / f"{name}.npy", getattr(split.X, name))
        np.save(Path(folder) / "shape.npy", np.array(split.X.shape))
        np.save(Path(folder) / "y.npy", split.y)
        for budget in args.budgets:
            peaks[str(budget)] = in_process(folder, f"budget={budget}")
        peaks["l1-SVM"] = in_process(folder, "l1svm")
    return peaks


def in_process(folder: str, what: str) -> dict[str, float]:
    """Run this script as a probe, for resident memory and then for traced allocations."""
    answer = {}
    for how in ("resident", "traced"):
        command = [
            sys.executable,
            "-m",
            "studies.speed.news20_binary",
            "--probe",
            folder,
            what,
            how,
        ]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        answer |= json.loads(done.stdout)
    log(f"memory of {what}: {', '.join(f'{key} {value:.0f}' for key, value in answer.items())}")
    return answer


def probe(folder: str, what: str, how: str) -> None:
    """Load X, fit, and print how much memory that took, in megabytes."""
    data, indices, indptr, shape, y = (
        np.load(Path(folder) / f"{name}.npy")
        for name in ("data", "indices", "indptr", "shape", "y")
    )
    X = sparse.csr_matrix((data, indices, indptr), shape=tuple(shape))
    answer = {"x": (data.nbytes + indices.nbytes + indptr.nbytes) / MEGABYTE}
    if how == "traced":
        tracemalloc.start()
        probe_fit(X, y, what)
        answer = {"traced_peak": tracemalloc.get_traced_memory()[1] / MEGABYTE}
    else:
        peak_before, resident_before = peak_resident(), linux_status("VmRSS")
        probe_fit(X, y, what)
        peak = peak_resident()
        answer["peak_growth"] = peak - peak_before
        if resident_before is not None:
            answer["peak_over_resident"] = peak - resident_before
    print(json.dumps(answer))


def probe_fit(X: sparse.csr_matrix, y: np.ndarray, what: str) -> None:
    if what == "l1svm":
        fit_l1svm(X, y, 1.0)
    else:
        solve(X, y, budget=int(what.removeprefix("budget=")), **SETTINGS)


def peak_resident() -> float:
    """The largest resident memory so far, in megabytes.

    Linux counts the memory of the parent process into ``ru_maxrss`` of a child that has just
    started, so there the peak is read from the process's own status.
    """
    own = linux_status("VmHWM")
    if own is not None:
        return own
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MEGABYTE if sys.platform == "darwin" else peak / 1024.0


def linux_status(name: str) -> float | None:
    """An entry of the process's status in megabytes; None where there is no such file."""
    path = Path("/proc/self/status")
    if not path.is_file():
        return None
    lines = (line.split() for line in path.read_text().splitlines())
    return next((int(line[1]) / 1024.0 for line in lines if line[0] == f"{name}:"), None)


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
            f"{tol:g}": l1_row(split, tuned[tol], n_features, theirs[tol]) for tol in L1_TOLERANCES
        },
    }


def l1_row(split: Split, fit: L1Fit, n_features: int, seconds: list[float]) -> dict[str, Any]:
    return {
        "C": fit.C,
        "seconds": float(np.median(seconds)),
        "all_seconds": seconds,
        "n_features": fit.n_features,
        "similar": distance(fit, n_features) <= WITHIN,
        "converged": fit.converged,
        "test_f1": test_f1(split, fit.scores(split.X_test)),
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
            mark = "" if peer["similar"] else " (not similar)"
            mark += "" if peer["converged"] else " (not converged)"
            cells += [f"{peer['seconds']:.2f}{mark}", peer["n_features"], f"{peer['test_f1']:.2f}"]
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
            f"{verdict(all(faster))}."
        )
    ours = [row for key, row in memory.items() if key.isdecimal()]
    if ours:
        most = max(value for row in ours for key, value in row.items() if key != "x")
        print_note(
            f"Largest memory beyond X {most:.0f} MB, wanted below {MEGABYTES_WANTED:g}: "
            f"{verdict(most < MEGABYTES_WANTED)}."
        )


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--budgets", nargs="+", type=int, default=[10, 50, 250])
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each fit")
    parser.add_argument("--no-memory", action="store_true", help="leave the memory out")
    parser.add_argument("--probe", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.probe:
        probe(*args.probe)
        return
    if args.quick:
        args.budgets, args.repeats = args.budgets[:1], 1
    split = load_news20_binary(args)
    memory = {} if args.no_memory else measure_memory(split, args)
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
