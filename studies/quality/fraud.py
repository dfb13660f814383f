"""Rare alarms: 200,000 rows, 30 columns, 0.2 % positives, six features for each measure.

Run ``python -m studies.quality.fraud``. Generated: normal columns, of which six are shifted for the
positives by a gamma variable of their own, and six more are mixtures of those with noise. For each
measure ``MeasureSVC`` at its defaults with six features, on one core: seconds, the measure on the
training rows beside a logistic regression's on all columns at its best threshold, the precision at
a recall of 0.8 of both, and how many lines were logged.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from scoresieve import MeasureSVC, get_measure
from studies.common.options import finish, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import timed
from studies.quality.overlap import MEASURES

SHAPE = (200_000, 30)
SHARE = 0.002
SHIFTS = np.array([2.0, -1.5, 1.5, 1.0, -1.0, 1.0])
N_FEATURES = 6
FLOOR = "precision@recall>=0.8"
SECONDS_WANTED, PRECISION_WANTED = 15.0, 0.98


def generate(n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X and labels in {-1, +1}."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, SHAPE[1]))
    n_positive = round(SHARE * n_samples)
    X[:n_positive, :N_FEATURES] += SHIFTS * rng.gamma(2.0, 0.75, size=(n_positive, 1))
    X[:, N_FEATURES : 2 * N_FEATURES] += 0.5 * X[:, :N_FEATURES]
    order = rng.permutation(n_samples)
    return X[order], np.where(order < n_positive, 1.0, -1.0)


class CountLines(logging.Handler):
    """Counts what is logged under the root."""

    def __init__(self) -> None:
        super().__init__(level=logging.INFO)
        self.n_lines = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count the line."""
        self.n_lines += 1


def at_best(name: str, y: np.ndarray, scores: np.ndarray) -> float:
    """The measure at the threshold that is best for it."""
    measure = get_measure(name)
    return measure.score(y, scores - measure.threshold(y, scores))


def fit(X: np.ndarray, y: np.ndarray, name: str, theirs: np.ndarray) -> dict[str, Any]:
    """One measure."""
    counter = CountLines()
    logging.getLogger().addHandler(counter)
    model = MeasureSVC(name, n_features_to_select=N_FEATURES)
    seconds, _ = timed(lambda: model.fit(X, y))
    logging.getLogger().removeHandler(counter)
    precision = at_best(FLOOR, y, model.decision_function(X))
    log(f"{name}: {seconds:.1f} s")
    return {
        "measure": name,
        "seconds": seconds,
        "ours": model.score(X, y),
        "theirs": at_best(name, y, theirs),
        "precision": precision,
        "price": float(model.price_[0]),
        "features": model.n_features_selected_,
        "lines": counter.n_lines,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.fraud", __doc__, data=False)
    parser.add_argument("--measures", nargs="+", default=list(MEASURES))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    X, y = generate(20_000 if args.quick else SHAPE[0], args.seed)
    scores = LogisticRegression().fit(X, y).decision_function(X)
    theirs = at_best(FLOOR, y, scores)
    rows = [fit(X, y, name, scores) for name in args.measures]
    print_table(
        ["measure", "s", "ours", "logistic", "precision at recall 0.8", "of logistic's", "price"],
        [
            [
                *(row["measure"], f"{row['seconds']:.1f}", f"{row['ours']:.3f}"),
                *(f"{row['theirs']:.3f}", f"{row['precision']:.3f}"),
                *(f"{row['precision'] / theirs:.3f}", f"{row['price']:.3g}"),
            ]
            for row in rows
        ],
    )
    slowest = max(row["seconds"] for row in rows)
    floor = next((row["precision"] for row in rows if row["measure"] == FLOOR), np.nan)
    print_note(
        f"Slowest fit {slowest:.1f} s, wanted at most {SECONDS_WANTED:g}: "
        f"{pass_or_fail(slowest <= SECONDS_WANTED)}."
    )
    print_note(
        f"Trained for it, precision at recall 0.8 is {floor:.3f}, the logistic regression's "
        f"{theirs:.3f}: {pass_or_fail(floor >= PRECISION_WANTED * theirs)}."
    )
    print_note(f"{sum(row['lines'] for row in rows)} lines were logged.")
    finish(args, {"rows": rows, "logistic_precision": theirs})


if __name__ == "__main__":
    start(main)
