"""Time of ``most_violated`` against the two stable sorts that a plain implementation needs.

Run ``python benchmarks/bench_oracles.py``. Each line gives the median time of one call and its
ratio to ``np.argsort(kind="stable")`` of the positive and of the negative scores, in the same run.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np

from scoresieve.measures import Contingency, get_measure

NAMES = [
    "accuracy",
    "balanced_accuracy",
    "f1",
    "f0.5",
    "f2",
    "jaccard",
    "prec@p/2",
    "prec@2p",
    "rec@2p",
    "prbep",
    "precision@recall>=0.8",
    "roc_auc",
    "average_precision",
]


def median_time(function: Callable[[], object], n_repeats: int) -> float:
    function()
    times = []
    for _ in range(n_repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def f1_of_table(tp, fp, fn, tn):
    return 2 * tp / (2 * tp + fp + fn)


def make_problem(n_positive: int, n_negative: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat([1.0, -1.0], [n_positive, n_negative])
    rng.shuffle(y)
    return y, 0.5 * y + rng.normal(size=y.size)


def run(n_positive: int, n_negative: int, args: argparse.Namespace) -> list[dict]:
    y, scores = make_problem(n_positive, n_negative, args.seed)
    positives, negatives = scores[y > 0], scores[y < 0]

    def two_sorts() -> None:
        np.argsort(positives, kind="stable")
        np.argsort(negatives, kind="stable")

    measures = [get_measure(name) for name in args.measures]
    if n_positive * n_negative <= args.max_tables:
        measures.append(Contingency(f1_of_table, name="f1 as a user's function"))
    rows = []
    for measure in measures:
        # The sorts are timed again beside each measure, so that other load hits both.
        sorts = median_time(two_sorts, args.repeats)
        oracle = median_time(lambda m=measure: m.most_violated(y, scores), args.repeats)
        rows.append(
            {
                "n_positive": n_positive,
                "n_negative": n_negative,
                "measure": measure.name,
                "milliseconds": 1e3 * oracle,
                "sorts_milliseconds": 1e3 * sorts,
                "ratio": oracle / sorts,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measures", nargs="+", default=NAMES, help="names of measures")
    parser.add_argument("--sizes", nargs="+", default=["100000,100000", "800,15000"], help="P,N")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-tables", type=int, default=2 * 10**7, help="for the user's function")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    args = parser.parse_args()
    rows = []
    for size in args.sizes:
        n_positive, n_negative = (int(part) for part in size.split(","))
        rows += run(n_positive, n_negative, args)
    if args.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'P':>8} {'N':>8}  {'measure':<24} {'ms':>9} {'two sorts ms':>13} {'ratio':>7}")
    for row in rows:
        print(
            f"{row['n_positive']:>8} {row['n_negative']:>8}  {row['measure']:<24} "
            f"{row['milliseconds']:>9.3f} {row['sorts_milliseconds']:>13.3f} {row['ratio']:>7.2f}"
        )


if __name__ == "__main__":
    main()
