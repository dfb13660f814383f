"""The structured interior-point method against the conic solver on the master problem.

Run ``python -m studies.speed.master [--data FOLDER]``. Random problems, and problems captured
from fits: on generated text always, on News20 class 12 and Reuters at C = 100 with a data folder.
Both solvers take each problem in the same run, in turn, from a cold start. Times are medians.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from studies.common.internals import (
    MasterProblem,
    MasterSolution,
    clarabel_timed,
    solve_master,
    solve_master_conic,
)
from studies.common.options import finish, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import geometric_mean, timed
from studies.speed.master_problems import fit_problems, random_problems

TOL = 1e-6
WANTED_RATIO, WANTED_DIFFERENCE = 5.0, 1e-6


def attempt(solver: Callable[[], MasterSolution]) -> tuple[float, MasterSolution | None]:
    """Seconds and solution, None if the solver gave up."""
    try:
        return timed(solver)
    except LinAlgError as error:
        log(f"failure: {error}")
        return np.nan, None


def compare(name: str, problem: MasterProblem, n_repeats: int) -> dict[str, Any]:
    """Both solvers in turn, ``n_repeats`` times after a warm-up."""
    times: dict[str, list[float]] = {"structured": [], "conic": [], "loose": []}
    inside: list[float] = []
    for repeat in range(n_repeats + 1):
        seconds, ours = attempt(lambda: solve_master(problem, tol=TOL))
        with clarabel_timed(inside):
            conic_seconds, theirs = attempt(lambda: solve_master_conic(problem))
        loose_seconds, loose = attempt(lambda: solve_master_conic(problem, tol=TOL))
        if repeat == 0:
            inside.clear()
            continue
        times["structured"].append(seconds)
        times["conic"].append(conic_seconds)
        times["loose"].append(loose_seconds)
    medians = {key: float(np.median(values)) for key, values in times.items()}
    medians["clarabel"] = float(np.median(inside)) if inside else np.nan
    n_cuts, n_columns = problem.cuts.shape
    return {
        "problem": name,
        "n_cuts": n_cuts,
        "n_columns": n_columns,
        "budget": problem.norm.budget,
        "C": problem.C,
        "seconds": medians,
        "assembly_seconds": medians["conic"] - medians["clarabel"],
        "ratio": medians["conic"] / medians["structured"],
        "ratio_without_assembly": medians["clarabel"] / medians["structured"],
        "ratio_equal_tolerance": medians["loose"] / medians["structured"],
        "structured": checked(problem, ours),
        "conic": checked(problem, theirs),
        "conic_equal_tolerance": checked(problem, loose),
        "difference": difference(problem, ours, theirs),
    }


def checked(problem: MasterProblem, solution: MasterSolution | None) -> dict[str, Any] | None:
    """Values recomputed from the points, with alpha made feasible."""
    if solution is None:
        return None
    primal, dual = problem.primal(solution.w), problem.dual(problem.feasible(solution.alpha))
    return {
        "primal": primal,
        "dual": dual,
        "gap": (primal - dual) / max(primal, np.finfo(float).tiny),
        "steps": solution.n_steps,
    }


def difference(
    problem: MasterProblem, ours: MasterSolution | None, theirs: MasterSolution | None
) -> float:
    """The larger relative difference of the two primal and of the two dual values."""
    one, two = checked(problem, ours), checked(problem, theirs)
    if one is None or two is None:
        return np.nan
    size = max(min(one["primal"], two["primal"]), np.finfo(float).tiny)
    return max(abs(one[key] - two[key]) / size for key in ("primal", "dual"))


def report(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Print the table and the summary, and give the latter back."""
    headers = [
        "problem",
        "K",
        "S",
        "B",
        "C",
        "structured ms",
        "steps",
        "conic ms",
        "of it assembly",
    ]
    headers += ["ratio", "without assembly", "equal tolerance", "difference", "gap", "conic gap"]
    rows = []
    for row in results:
        seconds, ours, theirs = row["seconds"], row["structured"], row["conic"]
        rows.append(
            [
                *(row[key] for key in ("problem", "n_cuts", "n_columns", "budget")),
                f"{row['C']:g}",
                f"{1e3 * seconds['structured']:.1f}",
                ours["steps"] if ours else "failed",
                f"{1e3 * seconds['conic']:.1f}",
                f"{1e3 * row['assembly_seconds']:.1f}",
                f"{row['ratio']:.1f}",
                f"{row['ratio_without_assembly']:.1f}",
                f"{row['ratio_equal_tolerance']:.1f}",
                f"{row['difference']:.1e}",
                f"{ours['gap']:.1e}" if ours else "failed",
                f"{theirs['gap']:.1e}" if theirs else "failed",
            ]
        )
    print_table(headers, rows)
    summary = summarise(results)
    for line in summary["lines"]:
        print_note(line)
    return summary


def failed(row: dict[str, Any], which: str) -> bool:
    """Whether a solver gave up, or missed the gap that the structured one is asked for."""
    return row[which] is None or not row[which]["gap"] <= TOL


def summarise(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Smallest and mean ratios, largest difference, failures; targets as they stand."""
    both = [row for row in results if row["structured"] is not None and row["conic"] is not None]
    failures = {
        which: sum(failed(row, which) for row in results)
        for which in ("structured", "conic", "conic_equal_tolerance")
    }
    lines, ratios = [], {}
    for key, text in (
        ("ratio", "conic / structured"),
        ("ratio_without_assembly", "Clarabel alone, without our assembly / structured"),
        ("ratio_equal_tolerance", f"conic at tolerance {TOL:g} / structured"),
    ):
        values = [row[key] for row in both if np.isfinite(row[key])]
        reached = sum(value >= WANTED_RATIO for value in values)
        ratios[key] = {"smallest": min(values), "geometric_mean": geometric_mean(values)}
        lines.append(
            f"{text}: smallest {min(values):.1f}, geometric mean {geometric_mean(values):.1f}; "
            f"at least {WANTED_RATIO:g} in {reached} of {len(results)} problems: "
            f"{pass_or_fail(reached == len(results))}."
        )
    largest = max(row["difference"] for row in both)
    agree = len(both) == len(results) and largest <= WANTED_DIFFERENCE
    lines.append(
        f"Largest relative difference in the objective {largest:.1e}, wanted at most "
        f"{WANTED_DIFFERENCE:g}: {pass_or_fail(agree)}."
    )
    lines.append(
        f"Failures (error, or gap above {TOL:g}): structured {failures['structured']}, conic "
        f"{failures['conic']}, conic at tolerance {TOL:g} {failures['conic_equal_tolerance']}."
    )
    return {
        "ratios": ratios,
        "largest_difference": largest,
        "failures": failures,
        "lines": lines,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.master", __doc__)
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each solver")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-fit", type=int, default=4, help="problems taken from each fit")
    parser.add_argument("--fit-tol", type=float, default=0.03, help="tolerance of those fits")
    parser.add_argument("--fit-time", type=float, default=60.0, help="seconds for each of them")
    args = parser.parse_args(arguments)
    results = []
    for name, problem in [*random_problems(args), *fit_problems(args)]:
        results.append(compare(name, problem, args.repeats))
        row = results[-1]
        log(f"{name} {problem.cuts.shape} B={row['budget']} ratio {row['ratio']:.1f}")
    finish(args, {"results": results, "summary": report(results)})


if __name__ == "__main__":
    start(main)
