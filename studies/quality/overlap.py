"""Overlapping classes: is a model ever empty, and is it good at what it is trained for?

Run ``python -m studies.quality.overlap --jobs 2``. Generated problems: n from 500 to 20,000 rows,
0.5 to 20 % positives, 5 to 50 normal columns of which 2 to 6 matter, noise of 0.3, 1 or 2 times the
signal; the rows with the highest noisy signal are positive. ``MeasureSVC`` at its defaults with as
many features as matter, for every measure, beside a logistic regression on all columns whose
threshold is the best one for the measure on the training rows. That one fits noise with the columns
that do not matter; what is in reach without them says another one, on those that matter alone.
Also: how many masters the conic solver had to take over, and what permuted labels give.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression

from scoresieve import Measure, MeasureSVC, get_measure
from studies.common.internals import counted_masters
from studies.common.options import finish, make_parser, start
from studies.common.progress import log
from studies.common.tables import print_note, print_table
from studies.common.timing import timed

MEASURES = (
    *("f1", "f2", "f0.5", "jaccard", "mcc", "gmean", "accuracy", "balanced_accuracy"),
    *("prec@p/2", "prec@2p", "rec@2p", "prbep", "precision@recall>=0.8", "recall@precision>=0.9"),
    *("roc_auc", "average_precision"),
)
WANTED = 0.97
N_WORST = 20


@dataclass(frozen=True)
class Problem:
    """Rows, labels in {0, 1}, and how they were made."""

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray
    noise: float


def generate(seed: int) -> Problem:
    """A problem whose sizes, share of positives and noise are drawn, too."""
    rng = np.random.default_rng([13, seed])
    n_samples, n_features = int(rng.integers(500, 20_001)), int(rng.integers(5, 51))
    n_relevant = int(rng.integers(2, min(7, n_features)))
    share, noise = rng.uniform(0.005, 0.2), float(rng.choice([0.3, 1.0, 2.0]))
    X = rng.normal(size=(n_samples, n_features))
    weights = np.zeros(n_features)
    relevant = rng.choice(n_features, n_relevant, replace=False)
    weights[relevant] = rng.choice([-1, 1], n_relevant) * rng.uniform(0.5, 1.5, n_relevant)
    signal = X @ weights
    signal = signal / signal.std() + noise * rng.normal(size=n_samples)
    y = np.zeros(n_samples, dtype=int)
    y[np.argsort(-signal)[: max(3, round(share * n_samples))]] = 1
    return Problem(X, y, relevant, noise)


def fit_all(seed: int, measures: Sequence[str], *, permuted: bool) -> list[dict[str, Any]]:
    """Every measure on one problem."""
    problem = generate(seed)
    X, y = problem.X, problem.y
    if permuted:
        y = np.random.default_rng([14, seed]).permutation(y)
    labels = np.where(y > 0, 1.0, -1.0)
    scores, of_relevant = (logistic_scores(part, y) for part in (X, X[:, problem.relevant]))
    shape = {"seed": seed, "n": y.size, "positives": int(y.sum()), "columns": X.shape[1]}
    shape |= {"k": problem.relevant.size, "noise": problem.noise}
    rows = []
    for name in measures:
        measure = get_measure(name)
        theirs, on_relevant = (at_best(measure, labels, each) for each in (scores, of_relevant))
        model = MeasureSVC(name, n_features_to_select=problem.relevant.size)
        with warnings.catch_warnings(record=True) as caught, counted_masters() as masters:
            warnings.simplefilter("always")
            seconds, _ = timed(lambda model=model: model.fit(X, y))
        rows.append(
            shape
            | {
                "measure": name,
                "ours": model.score(X, y),
                "theirs": theirs,
                "on_relevant": on_relevant,
                "price": float(model.price_[0]),
                "features": model.n_features_selected_,
                "masters": masters.n_solved,
                "fall_backs": masters.n_fallbacks,
                "messages": [str(each.message) for each in caught],
                "seconds": seconds,
            }
        )
    log(f"problem {seed} done")
    return rows


def logistic_scores(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of the rows that it was fitted on."""
    return LogisticRegression(max_iter=1000).fit(X, y).decision_function(X)


def at_best(measure: Measure, y: np.ndarray, scores: np.ndarray) -> float:
    """The measure at the threshold that is best for it."""
    return measure.score(y, scores - measure.threshold(y, scores))


def ratio(row: dict[str, Any], ours: str = "ours", theirs: str = "theirs") -> float:
    """Our training measure by that of the logistic regression; 1 if neither has any."""
    return 1.0 if row[theirs] <= 0.0 else row[ours] / row[theirs]


def share_reached(rows: list[dict[str, Any]], ours: str, theirs: str) -> str:
    """How many of the fits reach 0.97 of the other."""
    return f"{np.mean([ratio(row, ours, theirs) >= WANTED for row in rows]):.1%}"


def report(rows: list[dict[str, Any]], measures: Sequence[str]) -> None:
    """One line for each measure, then the worst cases."""
    lines = []
    for name in measures:
        mine = [row for row in rows if row["measure"] == name]
        ratios = np.array([ratio(row) for row in mine])
        lines.append(
            [
                name,
                sum(row["features"] == 0 for row in mine),
                share_reached(mine, "ours", "theirs"),
                share_reached(mine, "on_relevant", "theirs"),
                share_reached(mine, "ours", "on_relevant"),
                f"{np.median(ratios):.3f}",
                f"{np.quantile(ratios, 0.05):.3f}",
                f"{ratios.min():.3f}",
                sum(row["masters"] for row in mine),
                sum(row["fall_backs"] for row in mine),
                f"{np.median([row['seconds'] for row in mine]):.2f}",
            ]
        )
    reached = [f"{WANTED} of LR", "LR on the true columns", f"{WANTED} of that"]
    head = ["measure", "empty", *reached, "median", "5 %", "least", "masters"]
    print_table([*head, "fall-backs", "median s"], lines, n_left=1)
    print_note(
        f"Shares of fits: ours that reach {WANTED} of the logistic regression (LR) on all columns, "
        f"LR on the columns that matter that reach {WANTED} of it, ours that reach {WANTED} of "
        "that."
    )
    print_note("The worst cases, our measure by the logistic regression's:")
    worst = sorted(rows, key=ratio)[:N_WORST]
    print_table(
        ["ratio", "measure", "n", "positives", "columns", "k", "noise", "ours", "theirs"],
        [
            [
                *(f"{ratio(row):.3f}", row["measure"], row["n"], row["positives"], row["columns"]),
                *(row["k"], f"{row['noise']:g}", f"{row['ours']:.3f}", f"{row['theirs']:.3f}"),
            ]
            for row in worst
        ],
    )


def report_permuted(rows: list[dict[str, Any]]) -> None:
    """Models without features, and what their users were told."""
    told = sorted({message for row in rows for message in row["messages"]})
    n_empty = sum(row["features"] == 0 for row in rows)
    print_note(f"Permuted labels: {len(rows)} fits, {n_empty} without features. Messages:")
    for message in told[:5]:
        print_note(f"* {message}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.overlap", __doc__, data=False)
    parser.add_argument("--problems", type=int, default=300)
    parser.add_argument("--permuted", type=int, default=10, help="problems with permuted labels")
    parser.add_argument("--measures", nargs="+", default=list(MEASURES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args(arguments)
    if args.quick:
        args.problems, args.permuted = 4, 1
    pool = Parallel(n_jobs=args.jobs)
    wanted = [(seed, False) for seed in range(args.problems)]
    wanted += [(seed, True) for seed in range(args.permuted)]
    parts = pool(delayed(fit_all)(seed, args.measures, permuted=p) for seed, p in wanted)
    rows = [row for part in parts[: args.problems] for row in part]
    permuted = [row for part in parts[args.problems :] for row in part]
    report(rows, args.measures)
    report_permuted(permuted)
    n_masters, n_fallbacks = (sum(row[k] for row in rows) for k in ("masters", "fall_backs"))
    print_note(
        f"{args.problems} problems, {len(rows)} fits: {share_reached(rows, 'ours', 'theirs')} "
        f"reach {WANTED} of the logistic regression on all columns; "
        f"{share_reached(rows, 'on_relevant', 'theirs')} of the logistic regressions on the true "
        f"columns do, and ours reach {WANTED} of those in "
        f"{share_reached(rows, 'ours', 'on_relevant')}; "
        f"{sum(row['features'] == 0 for row in rows)} are empty, "
        f"{n_fallbacks} of {n_masters} masters fell back."
    )
    finish(args, {"rows": rows, "permuted": permuted})


if __name__ == "__main__":
    start(main)
