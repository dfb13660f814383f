"""The time of ``ScoreSieve`` with its default grid beside ``GridSearchCV`` over the same grid.

Run ``python -m studies.speed.sieve --data FOLDER``, with nothing else on the machine. F1, k = 5,
10, 20 and 50, five parts, one core: classes of Reuters-120 with 20 to 150 positives, and three of
News20. ``GridSearchCV`` is given the same selections without certificates, once with their own
models and once with a squared hinge on what they select; those that are no estimators, the filters
and the coordinate ascent, it is spared. ``--classes-of-grid`` of Reuters' classes are searched so.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from scoresieve import BudgetClassifier, MeasureSVC, ScoreSieve
from studies.common.data import load
from studies.common.internals import DEFAULT_CS, FINAL_CS
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import timed
from studies.quality.quiet import quiet_thread
from studies.speed.hard_budget import NEWS20_CLASSES
from studies.speed.reuters import choose_classes

KS = [5, 10, 20, 50]
N_PARTS = 5
#: Seconds for a class of Reuters-120 and for three of News20, and the share of GridSearchCV's time.
WANTED, WANTED_SHARE = {"reuters120": 20.0, "news20": 60.0}, 1 / 3


def sieve(X: Any, y: np.ndarray) -> ScoreSieve:
    """Fitted with its default grid."""
    return ScoreSieve("f1", n_features_to_select=KS, cv=N_PARTS).fit(X, y)


def grid_search(X: Any, y: np.ndarray) -> float:
    """The best score of the same selections and final models."""
    by_loss = BudgetClassifier("squared_hinge", certificate=False)
    by_measure = MeasureSVC("f1", certificate=False)
    of_loss = {"select__C": list(DEFAULT_CS), "select__n_features_to_select": KS}
    scaled = [("scale", StandardScaler(with_mean=False)), ("select", by_loss)]
    own: list[tuple[Pipeline, dict[str, Any]]] = [
        (Pipeline([("select", by_loss)]), of_loss),
        (Pipeline(scaled), of_loss),
        (Pipeline([("select", by_measure)]), {"select__n_features_to_select": KS}),
    ]
    refitted = [
        (
            Pipeline([*model.steps, ("final", LinearSVC(dual=False))]),
            {"final__C": list(FINAL_CS)} | grid,
        )
        for model, grid in own
    ]
    searches = [
        GridSearchCV(model, grid, scoring="f1", cv=N_PARTS, refit=False).fit(X, y)
        for model, grid in own + refitted
    ]
    return max(search.best_score_ for search in searches)


def measure(args: argparse.Namespace) -> list[dict[str, Any]]:
    """One row for each class."""
    rows = []
    for name in WANTED:
        split = load(folder_of(args), name)
        labels = list(NEWS20_CLASSES)
        if name == "reuters120":
            labels = [label for label, _ in choose_classes(split.y, args.classes)]
        for number, label in enumerate(labels[:1] if args.quick else labels):
            y = split.labels(label)[0]
            with quiet_thread():
                seconds, model = timed(lambda split=split, y=y: sieve(split.X, y))
                row = {"set": name, "label": label, "seconds": seconds, "cv": model.best_score_}
                if name == "reuters120" and number < args.classes_of_grid:
                    row["grid"], row["grid_cv"] = timed(
                        lambda split=split, y=y: grid_search(split.X, y)
                    )
            rows.append(row)
            log(f"{name} {label}: {seconds:.1f} s")
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.sieve", __doc__)
    parser.add_argument("--classes", type=int, default=5, help="of Reuters-120")
    parser.add_argument("--classes-of-grid", type=int, default=1, help="that GridSearchCV sees")
    args = parser.parse_args(arguments)
    rows = measure(args)
    print_table(
        ["set", "class", "s", "GridSearchCV", "share", "F1 unseen", "GridSearchCV's"],
        [
            [
                *(row["set"], str(row["label"]), f"{row['seconds']:.1f}"),
                f"{row['grid']:.1f}" if "grid" in row else "",
                f"{row['seconds'] / row['grid']:.2f}" if "grid" in row else "",
                f"{row['cv']:.3f}",
                f"{row['grid_cv']:.3f}" if "grid" in row else "",
            ]
            for row in rows
        ],
    )
    slowest = max(row["seconds"] for row in rows if row["set"] == "reuters120")
    three = sum(row["seconds"] for row in rows if row["set"] == "news20")
    shares = [row["seconds"] / row["grid"] for row in rows if "grid" in row]
    for text, found, wanted in (
        ("The slowest class of Reuters-120, s", slowest, WANTED["reuters120"]),
        ("The classes of News20 together, s", three, WANTED["news20"]),
        ("Of the time of GridSearchCV", max(shares, default=np.nan), WANTED_SHARE),
    ):
        verdict = pass_or_fail(found <= wanted)
        print_note(f"{text}: {found:.2f}, wanted at most {wanted:.2f}: {verdict}.")
    finish(args, {"rows": rows})


if __name__ == "__main__":
    start(main)
