"""Parameter sensitivity on News20.binary: score and number of features over C and B.

The paper varies C in {0.1, 1, 10, 100} x n and B in {2, 5, 10, 50, 100, 150, 200, 250}, for
accuracy and for F1, and finds that the number of features is linear in B.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.common.figures import Line, Panels
from studies.common.limits import limit_note
from studies.common.tables import Table, number
from studies.paper.claims import Claim, count, judged
from studies.paper.context import Context, Unit
from studies.paper.data import load
from studies.paper.methods import fs_multi
from studies.paper.report import Section
from studies.paper.runner import Results

DATASETS = ("news20_binary",)
MEASURES = {"accuracy": "accuracy", "f1": "F1"}
BUDGETS, CS = [2, 5, 10, 50, 100, 150, 200, 250], [0.1, 1.0, 10.0, 100.0]
QUICK_BUDGETS, QUICK_CS = [2, 10, 30], [0.1, 10.0]
TOL, MAX_ITER, QUICK_MAX_ITER = 0.1, 150, 30
#: Seconds of one path by C, for the estimate.
COSTS = {
    "accuracy": {0.1: 2.0, 1.0: 3.0, 10.0: 8.0, 100.0: 100.0},
    "f1": {0.1: 17.0, 1.0: 100.0, 10.0: 180.0, 100.0: 180.0},
}
#: R^2 that counts as a linear trend, and how near two slopes are that count as the same.
LINEAR, SAME_SLOPE = 0.95, 0.2


def fit(context: Context, *, data: str, label: int, **settings: Any) -> list[dict[str, Any]]:
    """The path of budgets for one measure and C."""
    return fs_multi(load(context, data), label, **settings)


TASKS = {"fit": fit}


def plan(context: Context, available: list[str]) -> list[Unit]:
    """One unit for each measure and C."""
    if not available:
        return []
    cs, budgets = (QUICK_CS, QUICK_BUDGETS) if context.quick else (CS, BUDGETS)
    return [
        Unit(
            "fit",
            {
                "data": "news20_binary",
                "label": 1,
                "measure": measure,
                "c": c,
                "budgets": budgets,
                "scored": ["accuracy", "f1"],
                "tol": TOL,
                "max_iter": QUICK_MAX_ITER if context.quick else MAX_ITER,
            },
            cost=COSTS[measure][c] * (0.2 if context.quick else 1.0),
        )
        for measure in MEASURES
        for c in cs
    ]


def present(context: Context, results: Results, available: list[str]) -> Section:
    """Tables, the four panels of the paper's figure, and its claims."""
    section = Section("Parameter sensitivity (News20.binary)")
    curves = {
        (settings["measure"], settings["c"]): rows for settings, rows in results.select("fit")
    }
    if not curves:
        return section
    trends = {key: linear_trend(rows) for key, rows in curves.items()}
    section.tables = [score_table(curves), trend_table(trends)]
    section.figures = [
        ("sensitivity", "Test score and number of features over B, for each C", draw(curves))
    ]
    section.claims = [
        small_budget_claim(curves),
        large_C_claim(curves),
        linear_claim(trends),
        slope_claim(trends, curves),
        small_C_claim(trends),
    ]
    section.notes += [
        limit_note(fits_by_measure(curves)),
        "A group of the two-layer algorithm, which the paper ran, has at most B features: with as "
        "many groups for every B its number of features grows like B. That of the optimum need "
        "not.",
    ]
    return section


def fits_by_measure(curves: dict) -> dict[str, list[dict[str, Any]]]:
    """All rows of each measure that was trained for."""
    fits: dict[str, list[dict[str, Any]]] = {}
    for (measure, _), rows in curves.items():
        fits.setdefault(f"FSMulti {MEASURES[measure]}", []).extend(rows)
    return fits


def linear_trend(rows: list[dict[str, Any]]) -> dict[str, float]:
    """``n_features = intercept + slope * B`` by least squares, and its R^2."""
    x = np.array([row["budget"] for row in rows], dtype=float)
    y = np.array([row["n_features"] for row in rows], dtype=float)
    slope, intercept = np.polyfit(x, y, 1)
    residual = float(np.sum((y - intercept - slope * x) ** 2))
    total = float(np.sum((y - y.mean()) ** 2))
    r2 = 1.0 - residual / total if total > 0 else 1.0
    return {"slope": float(slope), "intercept": float(intercept), "r2": r2}


def score_table(curves: dict) -> Table:
    """One row for each measure, C and B."""
    rows = [
        [
            MEASURES[measure],
            f"{c:g}",
            row["budget"],
            number(row["scores"][measure]),
            row["n_features"],
            number(row["gap"], 3),
            row["rounds"],
            row["limit"],
        ]
        for (measure, c), path in curves.items()
        for row in path
    ]
    head = ("trained for", "C / n", "B", "test score", "features", "gap", "rounds", "ended at")
    return Table("sensitivity", "Test score of the measure trained for, over C and B", head, rows)


def trend_table(trends: dict) -> Table:
    """One row for each measure and C."""
    rows = [
        [
            MEASURES[measure],
            f"{c:g}",
            number(trend["slope"]),
            number(trend["intercept"], 0),
            number(trend["r2"], 3),
        ]
        for (measure, c), trend in trends.items()
    ]
    head = ("trained for", "C / n", "slope", "intercept", "R^2")
    return Table("sensitivity_trend", "Number of features as a linear function of B", head, rows)


def draw(curves: dict) -> Panels:
    """Scores above, numbers of features below."""
    panels = Panels(4)
    for column, (measure, name) in enumerate(MEASURES.items()):
        scores, counts = [], []
        for (trained, c), rows in curves.items():
            if trained == measure:
                budgets = [row["budget"] for row in rows]
                label, limits = f"C = {c:g} n", [row["limit"] for row in rows]
                values = [row["scores"][measure] for row in rows]
                scores.append(Line(label, budgets, values, limits))
                counts.append(Line(label, budgets, [row["n_features"] for row in rows], limits))
        panels.lines(column, scores, f"trained for {name}", "B", f"test {name} (%)")
        panels.lines(2 + column, counts, f"trained for {name}", "B", "features")
    return panels


def spread(curves: dict, measure: str, position: int) -> float:
    """Largest less smallest test score over C, at one budget."""
    scores = [
        rows[position]["scores"][measure]
        for (trained, _), rows in curves.items()
        if trained == measure
    ]
    return max(scores) - min(scores)


def small_budget_claim(curves: dict) -> Claim:
    """Is the score more sensitive to C at the smallest budget than at the largest?"""
    spreads = {name: (spread(curves, name, 0), spread(curves, name, -1)) for name in MEASURES}
    conditions = [small > large for small, large in spreads.values()]
    ours = "; ".join(
        f"{MEASURES[name]}: spread over C {small:.1f} points at the smallest B, {large:.1f} at the "
        "largest"
        for name, (small, large) in spreads.items()
    )
    return judged(
        "very sensitive to C at small B, insensitive at large B",
        "no number in the text",
        ours,
        conditions,
        f"the spread falls for {count(conditions, 'measures')}; table sensitivity",
    )


def large_C_claim(curves: dict) -> Claim:
    """Which C has the best mean score over the budgets?"""
    best = {}
    for measure in MEASURES:
        means = {
            c: float(np.mean([row["scores"][measure] for row in rows]))
            for (trained, c), rows in curves.items()
            if trained == measure
        }
        best[measure] = max(means, key=means.get), means
    conditions = [c >= 10.0 for c, _ in best.values()]
    ours = "; ".join(
        f"{MEASURES[name]}: " + ", ".join(f"{mean:.1f} at {c:g} n" for c, mean in means.items())
        for name, (_, means) in best.items()
    )
    return judged(
        "a large C performs better",
        "no number in the text",
        f"mean over B, {ours}",
        conditions,
        f"the best C is at least 10 n for {count(conditions, 'measures')}; table sensitivity",
    )


def linear_claim(trends: dict) -> Claim:
    """Is the number of features linear in B?"""
    conditions = [trend["r2"] >= LINEAR for trend in trends.values()]
    values = [trend["r2"] for trend in trends.values()]
    return judged(
        "the number of features is always linear in B",
        "no number in the text",
        f"R^2 from {min(values):.3f} to {max(values):.3f}",
        conditions,
        f"R^2 is at least {LINEAR:g} in {count(conditions, 'settings')}; table sensitivity_trend",
    )


def slope_claim(trends: dict, curves: dict) -> Claim:
    """Is the slope the same for all C of at least 10 n?"""
    late = [row["limit"] is not None for (_, c), rows in curves.items() if c >= 10 for row in rows]
    conditions, texts = [], []
    for measure, name in MEASURES.items():
        slopes = [
            t["slope"] for (trained, c), t in trends.items() if trained == measure and c >= 10
        ]
        texts.append(f"{name}: {', '.join(f'{slope:.2f}' for slope in slopes)}")
        if len(slopes) > 1:
            conditions.append(max(slopes) - min(slopes) <= SAME_SLOPE * max(map(abs, slopes)))
    return judged(
        "the slope remains the same for C >= 10 n",
        "no number in the text",
        "slopes, " + "; ".join(texts),
        conditions,
        f"within {100 * SAME_SLOPE:g} % for {count(conditions, 'measures')}, but "
        f"{count(late, 'fits')} behind it ended at a limit; table sensitivity_trend",
    )


def small_C_claim(trends: dict) -> Claim:
    """Does the smallest C have a larger slope than C = 10 n?"""
    pairs = {
        name: (trends[measure, min(CS)]["slope"], trends[measure, 10.0]["slope"])
        for measure, name in MEASURES.items()
    }
    conditions = [small > large for small, large in pairs.values()]
    ours = "; ".join(f"{name}: {a:.2f} at 0.1 n, {b:.2f} at 10 n" for name, (a, b) in pairs.items())
    return judged(
        "a small C increases the slope",
        "no number in the text",
        ours,
        conditions,
        f"it does for {count(conditions, 'measures')}; table sensitivity_trend",
    )
