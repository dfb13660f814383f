"""The comparison that the paper misses: every selector, then the same model and threshold.

The paper compares each method with its own decision at 0. A method that is trained for F1 has a
threshold for F1, the others have none, so that gains may come from the threshold and not from the
features. Here each selector only chooses exactly k columns. On these the same SVM with an intercept
is trained for all, and the threshold with the best F1 on out-of-fold training scores is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from studies.common.limits import MARK_MEANS, limit_note
from studies.common.tables import Table
from studies.paper.claims import Claim, count, judged
from studies.paper.class_fits import ClassFits
from studies.paper.compare import p_value
from studies.paper.context import Context, Unit
from studies.paper.curves import draw_curves
from studies.paper.data import load
from studies.paper.documents import classes_of
from studies.paper.documents_show import TITLES
from studies.paper.report import Section
from studies.paper.runner import Results, found_sets
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
        for k, (columns, limit) in zip(ks, select(split.X, y, ks), strict=True):
            score = tuned_f1(split.X, y, split.X_test, y_test, columns, seed)
            row = {"method": method, "k": k, "n_features": int(columns.size), "limit": limit}
            rows.append(row | {"scores": {"f1": score}})
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


@dataclass(frozen=True, eq=False)
class Found:
    """What was found on one data set: fits by selector, a column for each of ``ks``."""

    ks: list[int]
    fits: dict[str, ClassFits]


def collect(results: Results, data: str) -> Found | None:
    """The fits of one data set, class by class; None if there are none."""
    classes = results.select("select_and_tune", data=data)
    if not classes:
        return None
    fits = {
        method: ClassFits.of(
            [[row for row in rows if row["method"] == method] for _, rows in classes], "f1"
        )
        for method in SELECTORS
    }
    return Found(classes[0][0]["ks"], fits)


def present(context: Context, results: Results, available: list[str]) -> Section:
    """A table of macro F1, a figure, and one claim for each data set."""
    section = Section("What the paper misses: the same threshold tuning for every selector")
    sets = found_sets(available, lambda data: collect(results, data))
    if not sets:
        return section
    section.tables = [macro_table(sets)]
    curves = {
        data: {method: fits.line(method, found.ks) for method, fits in found.fits.items()}
        for data, found in sets.items()
    }
    panels = draw_curves(curves, TITLES, "macro test F1 (%)", 3)
    caption = "Macro test F1 with the same model and threshold tuning for every selector"
    section.figures = [("tuned_thresholds", caption, panels)]
    section.claims = [claim(data, found) for data, found in sets.items()]
    every = [row for rows in results.values("select_and_tune") for row in rows]
    section.notes += [
        limit_note({m: [row for row in every if row["method"] == m] for m in SELECTORS}),
        "The final model is LinearSVC (squared hinge, C = 1, balanced, with an intercept) on the k "
        "columns; the threshold has the best F1 on scores of 5 stratified folds of the training "
        "part. In brackets: classes won and lost against FSMulti for F1; a star marks a paired "
        "t-test over classes with p < 0.05.",
    ]
    return section


def macro_table(sets: dict[str, Found]) -> Table:
    """One row for each data set and selector, one column for each k."""
    rows, ks = [], []
    for data, found in sets.items():
        ks, ours = found.ks, found.fits[OURS]
        title = f"{TITLES[data]}, {ours.scores.shape[0]} classes"
        for method, fits in found.fits.items():
            at = [(fits.at(i), ours.at(i)) for i in range(len(ks))]
            cells = [each.macro() if method == OURS else each.against(own) for each, own in at]
            rows.append([title, method, *cells])
    head = ("data", "selector", *(f"k = {k}" for k in ks))
    caption = "Macro test F1 (%) at exactly k features, one model and threshold rule for all"
    return Table("tuned_thresholds", f"{caption}; {MARK_MEANS}", head, rows, n_left=2)


def claim(data: str, found: Found) -> Claim:
    """Is FSMulti for F1 the best selector when all have the same threshold tuning?"""
    best, texts = [], []
    for i, k in enumerate(found.ks):
        scores = {method: fits.at(i).scores for method, fits in found.fits.items()}
        ours = scores.pop(OURS)
        strongest = max(scores, key=lambda method: scores[method].mean())
        rival = scores[strongest]
        best.append(bool(ours.mean() >= rival.mean()))
        star = "*" if p_value(ours, rival) < 0.05 else ""
        texts.append(f"k = {k}: {ours.mean():.1f}, best rival {strongest} {rival.mean():.1f}{star}")
    return judged(
        f"{TITLES[data]}: optimising F1 selects better features for F1 (implied by the paper, not "
        "tested)",
        "not in the paper",
        "; ".join(texts),
        best,
        f"best at {count(best, 'numbers of features')} (* p < 0.05 for the difference to "
        "the best rival); table tuned_thresholds",
    )
