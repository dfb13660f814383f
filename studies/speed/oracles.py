"""Time of ``most_violated`` against the two stable sorts that a plain implementation needs.

Run ``python -m studies.speed.oracles``. Each line gives the median time of one call and its
ratio to ``np.argsort(kind="stable")`` of the positive and of the negative scores, in the same run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from scoresieve.measures import Contingency, get_measure
from studies.common.options import finish, make_parser, start
from studies.common.progress import log
from studies.common.tables import print_table
from studies.common.timing import median_time

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
        log(f"{measure.name}, P = {n_positive}, N = {n_negative}: ratio {oracle / sorts:.2f}")
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


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.oracles", __doc__, data=False)
    parser.add_argument("--measures", nargs="+", default=NAMES, help="names of measures")
    parser.add_argument("--sizes", nargs="+", default=["100000,100000", "800,15000"], help="P,N")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-tables", type=int, default=2 * 10**7, help="for the user's function")
    args = parser.parse_args(arguments)
    if args.quick:
        args.sizes, args.repeats = args.sizes[-1:], min(args.repeats, 5)
    rows = []
    for size in args.sizes:
        n_positive, n_negative = (int(part) for part in size.split(","))
        rows += run(n_positive, n_negative, args)
    print_table(
        ["measure", "P", "N", "ms", "two sorts ms", "ratio"],
        [
            [
                *(row[key] for key in ("measure", "n_positive", "n_negative")),
                f"{row['milliseconds']:.3f}",
                f"{row['sorts_milliseconds']:.3f}",
                f"{row['ratio']:.2f}",
            ]
            for row in rows
        ],
    )
    finish(args, {"results": rows})


if __name__ == "__main__":
    start(main)
