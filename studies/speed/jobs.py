"""News20 with 20 classes: two processes against one, in one run, and the same bits.

Run ``python -m studies.speed.jobs --data FOLDER``. ``MeasureSVC`` fits all classes for F1 with
budget 250 and one or two jobs, in turn; the fastest of each counts, because a busy machine only
ever adds time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scoresieve import MeasureSVC
from studies.common.data import load
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import timed

WANTED = 1.6


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.jobs", __doc__)
    parser.add_argument("--budget", type=int, default=250)
    parser.add_argument("--C", type=float, default=3.0, help="the paper's 0.1 n for 750 positives")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args(arguments)
    split = load(folder_of(args), "news20")
    rows = np.isin(split.y, np.unique(split.y)[:4]) if args.quick else slice(None)
    X, y = split.X[rows], split.y[rows]
    seconds: dict[int, list[float]] = {1: [], 2: []}
    models = {}
    for repeat in range(args.repeats):
        for n_jobs in seconds:
            model = MeasureSVC("f1", bound="paper", budget=args.budget, C=args.C, n_jobs=n_jobs)
            time, models[n_jobs] = timed(lambda model=model: model.fit(X, y))
            seconds[n_jobs].append(time)
            log(f"run {repeat + 1}, {n_jobs} jobs: {time:.1f} s")
    ratio = min(seconds[1]) / min(seconds[2])
    same = all(
        np.array_equal(getattr(models[1], name), getattr(models[2], name))
        for name in ("coef_", "intercept_", "primal_", "dual_", "n_iter_")
    )
    print_table(
        ["classes", "one job, s", "two jobs, s", "ratio", "wanted", "speed", "same bits"],
        [
            [
                models[1].classes_.size,
                f"{min(seconds[1]):.1f}",
                f"{min(seconds[2]):.1f}",
                f"{ratio:.2f}",
                f">= {WANTED:g}",
                pass_or_fail(ratio >= WANTED),
                pass_or_fail(same),
            ]
        ],
    )
    print_note(f"Budget {args.budget}, C = {args.C:g}, the fastest of {args.repeats} runs each.")
    finish(args, {"seconds": seconds, "ratio": ratio, "same_bits": same})


if __name__ == "__main__":
    start(main)
