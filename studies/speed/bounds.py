"""The time of the tight bound beside the paper's, at equal C and gap.

Run ``python -m studies.speed.bounds --data FOLDER``, with nothing else on the machine. F1 and PRBEP
on classes of Reuters-120 with 20 to 150 positives (B = 10 and 50, C = 10 and 100, with an
intercept) and on news20.binary (B = 10, 50 and 250, C = 2.5): both bounds in turn, the least of the
repeats. The time of the tight bound has the search for its price in it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from scoresieve import solve
from studies.common.data import load
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import timed
from studies.speed.reuters import choose_classes

BOUNDS = ("tight", "paper")
MEASURES = ("f1", "prbep")
TOL = 0.1
KEY = ("data", "measure", "C", "budget")


def problems(args: argparse.Namespace) -> Iterator[tuple[str, Any, np.ndarray, dict[str, float]]]:
    """The name of the set, X, y, and the other settings."""
    reuters = load(folder_of(args), "reuters120")
    for label, _ in choose_classes(reuters.y, 2 if args.quick else args.classes):
        for C in (10.0, 100.0):
            for budget in (10, 50):
                yield "Reuters-120", reuters.X, reuters.labels(label)[0], {"C": C, "budget": budget}
    binary = load(folder_of(args), "news20_binary")
    for budget in (10,) if args.quick else (10, 50, 250):
        yield "news20.binary", binary.X, binary.y, {"C": 2.5, "budget": budget}


def compare(X: Any, y: np.ndarray, settings: dict[str, Any], n_repeats: int) -> dict[str, Any]:
    """The least time of each bound, the two in turn."""
    seconds: dict[str, list[float]] = {bound: [] for bound in BOUNDS}
    results = {}
    for _ in range(n_repeats):
        for bound in BOUNDS:
            spent, results[bound] = timed(
                lambda bound=bound: solve(
                    X, y, bound=bound, intercept_scaling=1.0, tol=TOL, **settings
                )
            )
            seconds[bound].append(spent)
    return settings | {
        bound: {
            "seconds": min(seconds[bound]),
            "rounds": results[bound].n_iter,
            "gap": results[bound].gap,
            "features": int(results[bound].support.size),
            "price": results[bound].price,
        }
        for bound in BOUNDS
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.bounds", __doc__)
    parser.add_argument("--classes", type=int, default=8, help="of Reuters-120")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args(arguments)
    rows = []
    for name, X, y, settings in problems(args):
        for measure in MEASURES:
            row = compare(X, y, {"measure": measure, **settings}, args.repeats) | {"data": name}
            rows.append(row)
            log(f"{name} {measure} {settings}: {row['tight']['seconds']:.2f} s")
    lines = []
    for key in sorted({tuple(row[k] for k in KEY) for row in rows}):
        mine = [row for row in rows if key == tuple(row[k] for k in KEY)]
        total = {bound: sum(row[bound]["seconds"] for row in mine) for bound in BOUNDS}
        ratio = total["tight"] / total["paper"]
        lines.append([*key, len(mine), *(f"{total[b]:.2f}" for b in BOUNDS), f"{ratio:.2f}"])
    print_table(
        ["data", "measure", "C", "B", "fits", "tight s", "paper s", "ratio"], lines, n_left=2
    )
    for name in sorted({row["data"] for row in rows}):
        total = [sum(row[b]["seconds"] for row in rows if row["data"] == name) for b in BOUNDS]
        ratio = total[0] / total[1]
        print_note(
            f"{name}: {ratio:.2f} of the paper's time, wanted at most 1: "
            f"{pass_or_fail(ratio <= 1.0)}."
        )
    finish(args, {"rows": rows})


if __name__ == "__main__":
    start(main)
