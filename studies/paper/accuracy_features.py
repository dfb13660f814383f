"""Accuracy against the number of features: FSMulti for accuracy, FGM, SVM-RFE and the l1-SVM.

News20.binary and rows of URL, with the paper's budgets and C: 1.0 n and 0.1 n for FSMulti, 5 for
FGM and SVM-RFE, several C for the l1-SVM. The two-layer algorithm, which ends after 10 groups, has
the small numbers of features that the paper shows; solved to the gap, the problem has more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.common.limits import limit_note
from studies.paper.claims import Claim, count, judged
from studies.paper.compare import ahead
from studies.paper.context import Context, Unit
from studies.paper.curves import Curves, draw_curves, line_of, point_table
from studies.paper.data import load
from studies.paper.methods import fgm, fs_multi, l1_svm, svm_rfe, two_layers
from studies.paper.report import Section
from studies.paper.runner import Results

DATASETS = ("news20_binary", "url")
TITLES = {"news20_binary": "News20.binary", "url": "URL (subset)"}
BUDGETS = {
    "news20_binary": [2, 5, 10, 50, 100, 150, 200, 250],
    "url": [2, 5, 10, 20, 30, 40, 50, 60],
}
C_PAPER = {"news20_binary": 1.0, "url": 0.1}
QUICK_BUDGETS = [2, 10, 40]
L1_EXPONENTS = {"news20_binary": list(range(-10, 3)), "url": list(range(-9, 4))}
OURS, TWO_LAYERS = "FSMulti accuracy", "FSMulti accuracy, two layers"
SETTINGS = {
    OURS: {"tol": 0.1, "max_iter": 300, "measure": "accuracy"},
    TWO_LAYERS: {"max_iter": 1000, "measure": "accuracy"},
    "FGM": {},
    "SVM-RFE": {"n_levels": 10},
    "l1-SVM": {"max_iter": 200},
}
METHODS = {
    OURS: fs_multi,
    TWO_LAYERS: two_layers,
    "FGM": fgm,
    "SVM-RFE": svm_rfe,
    "l1-SVM": l1_svm,
}
#: The largest budget of the two-layer algorithm, which is for few features here.
LARGEST = 50
COSTS = {OURS: 5.0, TWO_LAYERS: 20.0, "FGM": 40.0, "SVM-RFE": 15.0, "l1-SVM": 25.0}
#: Numbers of features that count as few, and points within which methods are comparable.
FEW, NEAR = 20, 2.0


def curve(context: Context, *, data: str, method: str, **settings: Any) -> list[dict[str, Any]]:
    """One method on one data set, over its budgets, levels or C."""
    return METHODS[method](load(context, data), 1, scored=["accuracy"], **settings)


TASKS = {"curve": curve}


def plan(context: Context, available: list[str]) -> list[Unit]:
    """One unit for each data set and method."""
    units = []
    for data in available:
        budgets = QUICK_BUDGETS if context.quick else BUDGETS[data]
        exponents = L1_EXPONENTS[data][::4] if context.quick else L1_EXPONENTS[data]
        own = {
            OURS: {"budgets": budgets, "c": C_PAPER[data]},
            TWO_LAYERS: {
                "budgets": [budget for budget in budgets if budget <= LARGEST],
                "c": C_PAPER[data],
            },
            "FGM": {"budgets": budgets},
            "l1-SVM": {"exponents": exponents},
        }
        units += [
            Unit(
                "curve",
                {"data": data, "method": method} | settings | own.get(method, {}),
                COSTS[method],
            )
            for method, settings in SETTINGS.items()
        ]
    return units


def present(context: Context, results: Results, available: list[str]) -> Section:
    """The paper's two panels, a table of their points, and the claims."""
    section = Section("Accuracy against the number of features (News20.binary, URL subset)")
    sets: Curves = {}
    fits: dict[str, list[dict[str, Any]]] = {}
    for settings, rows in results.select("curve"):
        method = settings["method"]
        sets.setdefault(settings["data"], {})[method] = line_of(method, rows, "accuracy")
        fits.setdefault(method, []).extend(rows)
    if not sets:
        return section
    panels = draw_curves(sets, TITLES, "test accuracy (%)", 2)
    section.figures = [("accuracy_features", "Test accuracy over the number of features", panels)]
    caption, head = "Test accuracy (%) and features", ("data", "test accuracy")
    section.tables = [point_table("accuracy_features", caption, head, sets, TITLES)]
    section.claims = [comparable_claim(sets), few_claim(sets), l1_claim(sets)]
    section.notes += [
        limit_note(fits),
        "At a number of features of FSMulti the rival is interpolated over the logarithm of its "
        "own numbers; the URL set has 6,664 rows in all, the paper's 40,000.",
    ]
    return section


def span(differences: np.ndarray) -> str:
    """Smallest, largest and mean difference as text."""
    if differences.size == 0:
        return "no numbers of features in common"
    return f"{differences.min():+.1f} to {differences.max():+.1f}, mean {differences.mean():+.1f}"


def comparable_claim(sets: Curves) -> Claim:
    """Are mean differences small?"""
    conditions, texts = [], []
    for data, lines in sets.items():
        for rival in ("FGM", "SVM-RFE", "l1-SVM"):
            differences = ahead(lines, OURS, rival)
            texts.append(f"{TITLES[data]} against {rival} {span(differences)}")
            if differences.size:
                conditions.append(bool(abs(differences.mean()) <= NEAR))
    return judged(
        "the accuracy is comparable among the methods",
        "no number in the text",
        "; ".join(texts),
        conditions,
        f"means within {NEAR:g} points in {count(conditions, 'comparisons')}; table "
        "accuracy_features",
    )


def few_claim(sets: Curves) -> Claim:
    """Are FSMulti and FGM ahead of SVM-RFE with few features?"""
    conditions, texts = [], []
    for data, lines in sets.items():
        for method in (TWO_LAYERS, "FGM"):
            differences = ahead(lines, method, "SVM-RFE", FEW + 1)
            texts.append(f"{TITLES[data]}, {method} {span(differences)}")
            if differences.size:
                conditions.append(bool(differences.mean() > 0))
    return judged(
        "FSMulti and FGM are better than SVM-RFE with fewer than 20 features",
        "no number in the text",
        "; ".join(texts),
        conditions,
        f"better in the mean in {count(conditions, 'comparisons')} at up to {FEW} features, with "
        "FSMulti's two-layer algorithm; table accuracy_features",
    )


def l1_claim(sets: Curves) -> Claim:
    """Is FSMulti ahead of the l1-SVM on News20.binary over most numbers of features?"""
    lines = sets.get("news20_binary")
    differences = np.zeros(0) if lines is None else ahead(lines, OURS, "l1-SVM")
    share = float(np.mean(differences > 0)) if differences.size else 0.0
    return judged(
        "FSMulti is better than the l1-SVM on News20.binary in most of the range",
        "no number in the text",
        span(differences),
        [share > 0.5] if differences.size else [],
        f"ahead at {count(differences > 0, 'numbers of features')}; table accuracy_features",
    )
