"""The search for k features beside the best of all choices, on small problems.

Run ``python -m studies.quality.exhaustive --jobs 2``. Generated problems: 5 to 14 columns that have
much or little in common, 40 to 120 rows, 1 to 4 features, several C, with and without an intercept;
every kind of risk in turn. Each choice of k columns is refitted, and the search is measured by the
least objective. Also: whether a search that is given a start ever ends above it, and whether one
more feature ever costs more than none.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from studies.common.internals import (
    FINE_TOL,
    Limits,
    Problem,
    Refitter,
    make_problem,
    solve_hard_budget,
)
from studies.common.options import finish, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import timed

KINDS = (
    *({"loss": name} for name in ("squared_hinge", "logistic", "squared", "huber", "hinge")),
    {"measure": "f1", "price": 0.5},
    {"measure": "jaccard", "price": 0.3},
    # A price that is not given falls where the model is empty: another problem.
    {"measure": "prbep", "price": 1.0},
    {"measure": "accuracy", "price": 1.0},
    *({"measure": name} for name in ("balanced_accuracy", "roc_auc")),
)
#: How near the least objective is near, and how many searches are to end there.
NEAR, WANTED = 0.01, 0.97
#: A refit by cuts is that accurate, so that a start may have been refitted a little better.
ROUNDING = FINE_TOL
SEARCH, EXACT = Limits(1e-2, 1000), Limits(1e-3, 1000)


def generate(seed: int) -> tuple[str, Problem]:
    """The name of the risk, and a problem whose sizes and noise are drawn, too."""
    rng, kind = np.random.default_rng([2026, seed]), KINDS[seed % len(KINDS)]
    name = kind.get("loss") or kind["measure"]
    m, k, n = int(rng.integers(5, 15)), int(rng.integers(1, 5)), int(rng.integers(40, 121))
    X = rng.normal(size=(n, m)) @ (np.eye(m) + rng.choice([0.3, 1.0]) * rng.normal(size=(m, m)))
    signal = X @ (rng.normal(size=m) * (rng.random(m) < 0.6))
    signal += rng.choice([0.5, 2.0]) * (signal.std() + 1e-9) * rng.normal(size=n)
    y = np.where(signal > np.quantile(signal, rng.choice([0.5, 0.8])), 1.0, -1.0)
    if name in ("squared", "huber"):
        y = signal / signal.std()
    C, intercept = float(rng.choice([0.1, 1.0, 3.0])), float(rng.choice([0.0, 1.0]))
    # The tight bound of the break-even point has the intercept as its threshold.
    intercept = 1.0 if name == "prbep" else intercept
    return name, make_problem(X, y, budget=k, C=C, intercept_scaling=intercept, **kind)


def best_of_all(problem: Problem) -> float:
    """The least objective of all choices of k columns."""
    refitter, best = Refitter(problem, EXACT), np.inf
    for units in itertools.combinations(range(problem.norm.n_units), problem.norm.budget):
        best = min(best, refitter.refit(np.array(units), give_up_at=best).primal)
    return best


def examine(seed: int) -> dict[str, Any]:
    """One problem: the search, the best of all, a start, and one feature more."""
    name, problem = generate(seed)
    seconds, found = timed(lambda: solve_hard_budget(problem, SEARCH, certificate=False))
    n_units, k = problem.norm.n_units, problem.norm.budget
    units = np.sort(np.random.default_rng([18, seed]).permutation(n_units)[:k])
    begun = Refitter(problem, SEARCH).refit(units).primal
    after = solve_hard_budget(problem, SEARCH, certificate=False, starts=[units]).primal
    larger = problem.with_budget(min(k + 1, n_units))
    support = found.support[found.support < n_units]
    more = solve_hard_budget(larger, SEARCH, certificate=False, starts=[support]).primal
    log(f"problem {seed} done")
    return {
        **{"seed": seed, "risk": name, "columns": n_units, "k": k, "seconds": seconds},
        "excess": found.primal / best_of_all(problem) - 1.0,
        "above_start": after / begun - 1.0,
        "above_fewer": more / found.primal - 1.0,
    }


def share_near(rows: list[dict[str, Any]]) -> float:
    """Searches that end near the least objective."""
    return float(np.mean([row["excess"] <= NEAR for row in rows]))


def n_above(rows: list[dict[str, Any]], name: str) -> int:
    """Searches that end above what they began with, but for the accuracy of refits."""
    return sum(row[name] > ROUNDING for row in rows)


def report(rows: list[dict[str, Any]]) -> None:
    """One line for each risk, one for all, and how the targets stand."""
    lines = []
    for name in [*dict.fromkeys(row["risk"] for row in rows), "all"]:
        mine = [row for row in rows if name in (row["risk"], "all")]
        worst = max(row["excess"] for row in mine)
        middle = np.median([row["seconds"] for row in mine])
        lines.append(
            [
                *(name, len(mine), f"{share_near(mine):.1%}", f"{worst:.1%}"),
                *(n_above(mine, "above_start"), n_above(mine, "above_fewer"), f"{middle:.3f}"),
            ]
        )
    head = ["risk", "problems", f"within {NEAR:.0%}", "worst", "above a start", "above k - 1"]
    print_table([*head, "median s"], lines, n_left=1)
    passed = share_near(rows) >= WANTED
    print_note(f"At least {WANTED:.0%} within {NEAR:.0%} of the best: {pass_or_fail(passed)}.")
    passed = not n_above(rows, "above_start") and not n_above(rows, "above_fewer")
    print_note(f"Never above a start or a smaller budget: {pass_or_fail(passed)}.")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.exhaustive", __doc__, data=False)
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args(arguments)
    if args.quick:
        args.problems = 2 * len(KINDS)
    pool = Parallel(n_jobs=args.jobs)
    rows = pool(delayed(examine)(seed) for seed in range(args.problems))
    report(rows)
    finish(args, {"rows": rows})


if __name__ == "__main__":
    start(main)
