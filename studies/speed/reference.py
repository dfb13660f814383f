"""Both solvers on the stored optima of the authors' program and of SVM^perf.

Run ``python -m studies.speed.reference --data FOLDER --reference FOLDER``. At relative gap g,
here the tolerance asked for, a correct solver has, for ``authors.json`` with its bracket
``[lower, upper]`` of the optimum,

    dual <= upper (1 + 1e-6) ,   primal >= lower (1 - 1e-6) ,   primal <= upper (1 + g)

and for ``svmperf.json``, where no budget binds, ``dual <= reference (1 + 1e-6)`` and
``primal <= reference (1 + g)``. ``certify`` recomputes primal and dual. A fit that has not reached
the tolerance is judged by the first two only, and counted.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from scoresieve import certify, solve
from studies.common.data import Missing, read_svmlight
from studies.common.internals import solve_two_layer
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import timed

ROUNDING = 1e-6
SOLVERS = {"bundle": solve, "two_layer": solve_two_layer}
FILES = {
    "authors.json": "the authors' program, run once and stored",
    "svmperf.json": "SVM^perf 3.00, run once and stored",
    "tiny.train.npz": "generated data that both programs were run on",
    "tiny.train.labels.npy": "labels of tiny.train.npz",
}


def reference_file(args: argparse.Namespace, name: str) -> Path:
    """A file of the reference folder."""
    if args.reference is None:
        raise Missing(
            f"{name} is needed ({FILES[name]}): pass --reference FOLDER or set "
            "SCORESIEVE_REFERENCE."
        )
    path = Path(args.reference) / name
    if not path.is_file():
        raise Missing(f"{path} is missing: {FILES[name]}; see README.md of the reference folder.")
    return path


def load(args: argparse.Namespace, name: str) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Training rows of unit length and labels in {-1, +1}."""
    if name == "tiny":
        X = sparse.load_npz(reference_file(args, "tiny.train.npz")).tocsr()
        return X, np.load(reference_file(args, "tiny.train.labels.npy"))
    X, y = read_svmlight(folder_of(args), f"small/{name}.train.svm.gz")
    return X, np.where(y > 0, 1, -1)


def problems(args: argparse.Namespace) -> list[dict[str, Any]]:
    """The entries of both files, with the bracket that holds for each."""
    authors = json.loads(reference_file(args, "authors.json").read_text())
    svmperf = json.loads(reference_file(args, "svmperf.json").read_text())
    entries = [
        {**entry, "from": "authors", "reference_seconds": entry["seconds"]} for entry in authors
    ]
    for entry in svmperf:
        bracket = {"lower": -np.inf, "upper": entry["primal"]}
        entries.append({**entry, **bracket, "from": "svmperf", "budget": None})
    return entries


def run(
    X: sparse.csr_matrix, y: np.ndarray, entry: dict, solver: str, args: argparse.Namespace
) -> dict[str, Any]:
    """One solver on one entry; which of the inequalities it breaks."""
    budget = X.shape[1] if entry["budget"] is None else entry["budget"]
    settings = {"measure": entry["measure"], "bound": "paper", "budget": budget, "C": entry["C"]}
    limits = {"tol": args.tol, "max_time": args.max_time, "max_iter": 10**6}
    seconds, result = timed(lambda: SOLVERS[solver](X, y, **settings, **limits))
    check = certify(X, y, result.w, result.dual_point, **settings)
    broken = []
    if check.dual > entry["upper"] * (1 + ROUNDING):
        broken.append("dual above the optimum")
    if check.primal < entry["lower"] * (1 - ROUNDING):
        broken.append("primal below the optimum")
    # The gap that was reached would be no test: primal <= dual / (1 - gap) by its definition.
    if result.status.reached_tolerance and check.primal > entry["upper"] * (1 + args.tol):
        broken.append("primal too large for the tolerance")
    if abs(check.primal - result.primal) > 1e-9 * check.primal:
        broken.append("primal differs from its certificate")
    if abs(check.dual - result.dual) > 1e-9 * check.primal:
        broken.append("dual differs from its certificate")
    return {
        **{key: entry[key] for key in ("from", "data", "measure", "budget", "C", "upper", "lower")},
        "reference_primal": entry["primal"],
        "reference_seconds": entry.get("reference_seconds"),
        "solver": solver,
        "seconds": seconds,
        "status": result.status.name,
        "reached_tolerance": result.status.reached_tolerance,
        "primal": check.primal,
        "dual": check.dual,
        "gap": check.gap,
        "n_features": int(result.support.size),
        "rounds": result.n_iter,
        "fall_backs": result.n_fallbacks,
        "broken": broken,
    }


def report(results: list[dict[str, Any]]) -> dict[str, Any]:
    headers = ["from", "data", "measure", "solver", "B", "C", "lower", "upper", "their primal"]
    headers += ["primal", "dual", "gap", "seconds", "their s", "rounds", "features", "status"]
    rows = []
    for row in results:
        cells = [row[key] for key in ("from", "data", "measure", "solver")]
        cells += ["all" if row["budget"] is None else row["budget"], f"{row['C']:.4g}"]
        cells += [f"{row['lower']:.6g}" if np.isfinite(row["lower"]) else "", f"{row['upper']:.6g}"]
        cells += [f"{row[key]:.6g}" for key in ("reference_primal", "primal", "dual")]
        cells += [f"{row['gap']:.4f}", f"{row['seconds']:.2f}", row["reference_seconds"] or ""]
        cells += [row["rounds"], row["n_features"], "; ".join(row["broken"]) or row["status"]]
        rows.append(cells)
    print_table([*headers[:-1], "status or what is broken"], rows, n_left=4)
    summary = {}
    for source in ("authors", "svmperf"):
        for solver in SOLVERS:
            chosen = [r for r in results if r["from"] == source and r["solver"] == solver]
            if not chosen:
                continue
            violations = sum(bool(row["broken"]) for row in chosen)
            reached = sum(row["reached_tolerance"] for row in chosen)
            summary[f"{source} {solver}"] = {"violations": violations, "converged": reached}
            print_note(
                f"{source}, {solver}: {violations} of {len(chosen)} problems violate a bound: "
                f"{pass_or_fail(violations == 0)}; {reached} reached the tolerance, "
                f"{sum(row['fall_backs'] for row in chosen)} fall-backs."
            )
    return summary


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.reference", __doc__)
    parser.add_argument(
        "--reference",
        metavar="FOLDER",
        type=Path,
        default=os.environ.get("SCORESIEVE_REFERENCE"),
        help="folder of stored optima; by default the environment variable SCORESIEVE_REFERENCE",
    )
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--max-time", type=float, default=60.0, help="seconds for each fit")
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    args = parser.parse_args(arguments)
    if args.quick:
        args.tol, args.max_time = max(args.tol, 0.05), min(args.max_time, 5.0)
    loaded: dict[str, tuple[sparse.csr_matrix, np.ndarray]] = {}
    results = []
    for entry in problems(args):
        name = entry["data"]
        if name not in loaded:
            loaded[name] = load(args, name)
        for solver in args.solvers:
            row = run(*loaded[name], entry, solver, args)
            log(
                f"{row['from']} {name} {row['measure']} {solver}: {row['seconds']:.1f} s, "
                f"gap {row['gap']:.4f} {row['broken'] or ''}"
            )
            results.append(row)
    finish(args, {"results": results, "summary": report(results)})


if __name__ == "__main__":
    start(main)
