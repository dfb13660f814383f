"""More features never cost more: the objective along the paths of the arena's sets.

    J_k = min { C R(X w) + 1/2 ||w||^2 : k features },    J_k <= J_k' for k' < k

Run ``python -m studies.quality.paths --data FOLDER``. For every class of every set, on all of its
training rows: the searches of ``ScoreSieve`` for k = 5, 10, 20, 50 and 100, each from what it found
for the k before, with the squared hinge at each C of the default grid, and with two measures. Their
prices are given, because a price that each k finds for itself makes each k another problem.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.common.internals import (
    FINE_TOL,
    Limits,
    Problem,
    SelectedColumns,
    make_problem,
    selection_path,
)
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.quality.arena.sets import SETS, Task, load_set, load_task, tasks_of

KS = (5, 10, 20, 50, 100)
CS = (0.3, 1.0, 3.0, 10.0)
KINDS: tuple[dict[str, Any], ...] = (
    *({"loss": "squared_hinge", "C": C} for C in CS),
    {"measure": "f1", "price": 0.5, "C": 3.0},
    {"measure": "prbep", "price": 1.0, "C": 10.0},
)
#: What searches end at, and what refits are accurate to: a rise by less is none.
LIMITS, ROUNDING = Limits(1e-2, 1000), FINE_TOL


def examine(task: Task, kind: dict[str, Any]) -> dict[str, Any]:
    """One path: its objectives, and by what share of itself the objective rises at most."""
    problem = make_problem(task.X, task.y, budget=1, intercept_scaling=1.0, **kind)
    ks = [k for k in KS if k <= problem.norm.n_units]
    path = selection_path(task.X, problem, ks, LIMITS)
    objectives = [objective(problem.with_budget(k), each) for k, each in zip(ks, path, strict=True)]
    rises = [after / before - 1.0 for before, after in itertools.pairwise(objectives)]
    name = kind.get("loss") or kind["measure"]
    log(f"{task.name} {task.label}, {name}, C = {kind['C']:g}: {np.round(objectives, 3)}")
    return {**task.about, "risk": name, "C": kind["C"], "J": objectives, "rise": max(rises)}


def objective(problem: Problem, chosen: SelectedColumns) -> float:
    """``J`` of the model that chose the features."""
    weights = np.zeros(problem.n_features)
    weights[chosen.columns] = chosen.weights
    w = problem.joined(weights, chosen.intercept)
    support = np.flatnonzero(w)
    return problem.objective(w, problem.design.scores(w[support], support))


def report(rows: list[dict[str, Any]]) -> None:
    """One line for each set and risk, and how the claim stands."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["set"], row["risk"]), []).append(row)
    lines = [
        [*names, len(mine), n_rising(mine), f"{max(row['rise'] for row in mine):.1e}"]
        for names, mine in groups.items()
    ]
    print_table(["set", "risk", "paths", "that rise", "largest step"], lines, n_left=2)
    print_note(
        f"J_k never rises with k, up to {ROUNDING:.1%}: {pass_or_fail(not n_rising(rows))} "
        f"({len(rows)} paths)."
    )


def n_rising(rows: list[dict[str, Any]]) -> int:
    """Paths on which more features cost more."""
    return sum(row["rise"] > ROUNDING for row in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.paths", __doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--every", type=int, default=1, help="take every n-th class only")
    args = parser.parse_args(arguments)
    folder, rows = folder_of(args), []
    for name in args.sets[:1] if args.quick else args.sets:
        labels = tasks_of(name, load_set(folder, name)[0])[:: args.every]
        for label in labels[:1] if args.quick else labels:
            task = load_task(folder, name, label)
            rows += [examine(task, kind) for kind in KINDS]
    report(rows)
    finish(args, {"rows": rows})


if __name__ == "__main__":
    start(main)
