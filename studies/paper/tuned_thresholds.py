"""The comparison that the paper misses: every selector, then the same model and threshold.

The paper compares each method with its own decision at 0. A method that is trained for F1 has a
threshold for F1, the others have none, so that gains may come from the threshold and not from the
features. Here each selector only chooses exactly k columns. On these the same SVM with an intercept
is trained for all, and the threshold with the best F1 on out-of-fold training scores is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.common.figures import Panels
from studies.common.tables import Table
from studies.paper.claims import Claim, count, judged
from studies.paper.compare import p_value
from studies.paper.context import Context, Unit
from studies.paper.data import load
from studies.paper.documents import classes_of
from studies.paper.documents_show import TITLES
from studies.paper.report import Section
from studies.paper.runner import Results
from studies.paper.selectors import SELECTORS, tuned_f1

DATASETS = ("news20", "reuters120", "sector12")
KS, QUICK_KS = [10, 50, 200], [5]
OURS = "FSMulti F1"
SEED = 0
COSTS = {"news20": 30.0, "reuters120": 12.0, "sector12": 15.0}


def select_and_tune(
    context: Context, *, data: str, label: int, ks: list[int], seed: int
) -> list[dict[str, Any]]:
    """Test F1 of each selector at each k, for one class."""
    split = load(context, data)
    y, y_test = split.labels(label)
    rows = []
    for method, select in SELECTORS.items():
        for k, columns in zip(ks, select(split.X, y, ks), strict=True):
            score = tuned_f1(split.X, y, split.X_test, y_test, columns, seed)
            row = {"method": method, "k": k, "n_features": int(columns.size), "f1": score}
            rows.append(row)
    return rows


TASKS = {"select_and_tune": select_and_tune}


def plan(context: Context, available: list[str]) -> list[Unit]:
    """One unit for each data set and class."""
    ks = QUICK_KS if context.quick else KS
    return [
        Unit("select_and_tune", {"data": data, "label": label, "ks": ks, "seed": SEED}, COSTS[data])
        for data in available
        for label in classes_of(context, data)
    ]


def present(context: Context, results: Results, available: list[str]) -> Section:
    """A table of macro F1, a figure, and one claim for each data set."""
    section = Section("What the paper misses: the same threshold tuning for every selector")
    sets = {data: collect(results, data) for data in available}
    sets = {data: found for data, found in sets.items() if found}
    if not sets:
        return section
    section.tables = [macro_table(sets)]
    panels = Panels(len(sets), 3)
    for panel, (data, found) in enumerate(sets.items()):
        lines = [
            (method, list(scores), [float(np.mean(values)) for values in scores.values()])
            for method, scores in found.items()
        ]
        texts = (TITLES[data], "number of features", "macro test F1 (%)")
        panels.lines(panel, lines, *texts, xscale="log")
    caption = "Macro test F1 with the same model and threshold tuning for every selector"
    section.figures = [("tuned_thresholds", caption, panels)]
    section.claims = [claim(data, found) for data, found in sets.items()]
    section.notes.append(
        "The final model is LinearSVC (squared hinge, C = 1, balanced, with an intercept) on the k "
        "columns; the threshold has the best F1 on scores of 5 stratified folds of the training "
        "part. In brackets: classes won and lost against FSMulti for F1; a star marks a paired "
        "t-test over classes with p < 0.05."
    )
    return section


def collect(results: Results, data: str) -> dict[str, dict[int, np.ndarray]]:
    """F1 of each class by method and k."""
    found: dict[str, dict[int, list[float]]] = {}
    for rows in results.values("select_and_tune", data=data):
        for row in rows:
            found.setdefault(row["method"], {}).setdefault(row["k"], []).append(row["f1"])
    return {
        method: {k: np.array(values) for k, values in scores.items()}
        for method, scores in found.items()
    }


def macro_table(sets: dict[str, dict[str, dict[int, np.ndarray]]]) -> Table:
    """One row for each data set and selector, one column for each k."""
    rows, ks = [], []
    for data, found in sets.items():
        ks = list(found[OURS])
        n_classes = found[OURS][ks[0]].size
        for method, scores in found.items():
            cells = []
            for k in ks:
                text = f"{scores[k].mean():.2f}"
                if method != OURS:
                    won, lost = (
                        np.sum(scores[k] > found[OURS][k]),
                        np.sum(scores[k] < found[OURS][k]),
                    )
                    star = "*" if p_value(scores[k], found[OURS][k]) < 0.05 else ""
                    text += f" ({won}/{lost}){star}"
                cells.append(text)
            rows.append([f"{TITLES[data]}, {n_classes} classes", method, *cells])
    head = ("data", "selector", *(f"k = {k}" for k in ks))
    caption = "Macro test F1 (%) at exactly k features, one model and threshold rule for all"
    return Table("tuned_thresholds", caption, head, rows, n_left=2)


def claim(data: str, found: dict[str, dict[int, np.ndarray]]) -> Claim:
    """Is FSMulti for F1 the best selector when all have the same threshold tuning?"""
    ours, best, texts = found[OURS], [], []
    for k, scores in ours.items():
        rivals = {method: each[k].mean() for method, each in found.items() if method != OURS}
        strongest = max(rivals, key=rivals.get)
        best.append(bool(scores.mean() >= rivals[strongest]))
        mark = "*" if p_value(scores, found[strongest][k]) < 0.05 else ""
        texts.append(
            f"k = {k}: {scores.mean():.1f}, best rival {strongest} {rivals[strongest]:.1f}{mark}"
        )
    return judged(
        f"{TITLES[data]}: optimising F1 selects better features for F1 (implied by the paper, not "
        "tested)",
        "not in the paper",
        "; ".join(texts),
        best,
        f"best at {count(best, 'numbers of features')} (* p < 0.05 for the difference to "
        "the best rival); table tuned_thresholds",
    )
