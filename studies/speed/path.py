"""News20.binary: eight budgets in one warm-started run beside a fit for each budget alone.

Run ``python -m studies.speed.path --data FOLDER``. 11,997 training rows, 1,355,191 columns, F1,
C = 2.5, budgets 2, 5, 10, 50, 100, 150, 200 and 250, tol 0.05, no intercept. In each repeat all
fits alone and the path are timed in turn, and medians over the repeats are compared. The target:
the whole path costs at most 2.5 times the most expensive fit alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from scoresieve import SolveResult, budget_path, certify, solve
from studies.common.data import Split, load
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table

SETTINGS = {"measure": "f1", "bound": "paper", "C": 2.5}
TOL = 0.05
BUDGETS = [2, 5, 10, 50, 100, 150, 200, 250]
RATIO_WANTED = 2.5


def timed_twice(function: Any) -> tuple[float, float, Any]:
    """Seconds on the wall, seconds of this process, and the answer.

    The second does not count what other processes on the machine take, though it still rises with
    them, because they share memory and caches.
    """
    wall, own = time.perf_counter(), time.process_time()
    answer = function()
    return time.perf_counter() - wall, time.process_time() - own, answer


def measure(split: Split, budgets: list[int], n_repeats: int) -> dict[str, Any]:
    """All fits alone and the path, in turn, ``n_repeats`` times after one fit as warm-up."""
    X, y = split.X, split.y
    solve(X, y, budget=budgets[0], tol=TOL, **SETTINGS)
    alone = {budget: [] for budget in budgets}
    together = []
    for repeat in range(n_repeats):
        for budget in budgets:
            alone[budget].append(
                timed_twice(lambda b=budget: solve(X, y, budget=b, tol=TOL, **SETTINGS))
            )
        together.append(timed_twice(lambda: fit_path(X, y, budgets)))
        log(f"repeat {repeat + 1}: path {together[-1][0]:.2f} s")
    rows = [
        row(split, budget, alone[budget], together[-1][2][place])
        for place, budget in enumerate(budgets)
    ]
    return {
        "rows": rows,
        "path_seconds": [run[0] for run in together],
        "path_process_seconds": [run[1] for run in together],
    }


def fit_path(X: Any, y: np.ndarray, budgets: list[int]) -> tuple[SolveResult, ...]:
    """All budgets in one warm-started run."""
    return budget_path(X, y, budgets, fit_intercept=False, tol=TOL, **SETTINGS).results


def row(split: Split, budget: int, runs: list, warm: SolveResult) -> dict[str, Any]:
    """One budget: the fit alone and the one of the path."""
    cold: SolveResult = runs[-1][2]
    check = certify(split.X, split.y, warm.w, warm.dual_point, budget=budget, **SETTINGS)
    return {
        "budget": budget,
        "seconds": [run[0] for run in runs],
        "process_seconds": [run[1] for run in runs],
        "rounds": cold.n_iter,
        "path_rounds": warm.n_iter,
        "gap": cold.gap,
        "path_certified_gap": check.gap,
        "n_features": int(cold.support.size),
        "path_n_features": int(warm.support.size),
        "primal": cold.primal,
        "path_primal": warm.primal,
        "agree": max(cold.dual, check.dual) <= min(cold.primal, check.primal),
    }


def report(results: dict[str, Any]) -> None:
    headers = ["B", "alone s", "rounds", "in the path", "gap", "in the path"]
    headers += ["features", "in the path", "primal", "in the path"]
    print_table(
        headers,
        [
            [
                each["budget"],
                f"{np.median(each['seconds']):.2f}",
                each["rounds"],
                each["path_rounds"],
                f"{each['gap']:.4f}",
                f"{each['path_certified_gap']:.4f}",
                each["n_features"],
                each["path_n_features"],
                f"{each['primal']:.6g}",
                f"{each['path_primal']:.6g}",
            ]
            for each in results["rows"]
        ],
    )


def ratios(results: dict[str, Any]) -> dict[str, float]:
    """The path's median time over the largest and over the sum of the medians alone."""
    answer = {}
    for name in ("seconds", "process_seconds"):
        path = float(np.median(results[f"path_{name}"]))
        alone = [float(np.median(each[name])) for each in results["rows"]]
        answer[name] = path / max(alone)
        answer[f"{name}_of_all"] = path / sum(alone)
    return answer


def targets(results: dict[str, Any]) -> None:
    """How the targets stand."""
    rows, ratio = results["rows"], results["ratios"]
    alone = sum(each["rounds"] for each in rows)
    together = sum(each["path_rounds"] for each in rows)
    print_note(
        f"The path takes {np.median(results['path_seconds']):.2f} s, {ratio['seconds']:.2f} times "
        f"the most expensive fit alone, wanted at most {RATIO_WANTED:g}: "
        f"{pass_or_fail(ratio['seconds'] <= RATIO_WANTED)}. In seconds of the process: "
        f"{ratio['process_seconds']:.2f} times."
    )
    print_note(
        f"It takes {ratio['seconds_of_all']:.2f} of the time of all fits alone, and {together} "
        f"rounds instead of {alone}."
    )
    certified = all(each["path_certified_gap"] <= TOL for each in rows)
    agree = all(each["agree"] for each in rows)
    print_note(f"Every budget of the path is certified to {TOL:g}: {pass_or_fail(certified)}.")
    print_note(f"Its bounds and those of the fits alone overlap: {pass_or_fail(agree)}.")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.path", __doc__)
    parser.add_argument("--budgets", nargs="+", type=int, default=BUDGETS)
    parser.add_argument("--repeats", type=int, default=5, help="timed runs of everything")
    args = parser.parse_args(arguments)
    if args.quick:
        args.repeats = 1
    split = load(folder_of(args), "news20_binary")
    results = measure(split, args.budgets, args.repeats)
    results["ratios"] = ratios(results)
    n_samples, n_features = split.X.shape
    print(f"News20.binary, training part {n_samples} x {n_features}, {SETTINGS}, tol {TOL}\n")
    report(results)
    targets(results)
    finish(args, results)


if __name__ == "__main__":
    start(main)
