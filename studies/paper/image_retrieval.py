"""Image retrieval: test F1 of five classes against the number of embedded instances.

MILES embeds each image by its similarity to all 10,800 training instances; the methods select among
these. FSMulti for F1 and for accuracy at C = 10 n, SVM-RFE, the l1-SVM, and l1-bmrm-F1. FSMulti is
the paper's two-layer algorithm with at most 10 groups: solved to a small gap on such dense columns,
the problem has hundreds of features even for B = 2, where the paper shows fewer than 100.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.common.bags import IMAGE_CLASSES
from studies.common.figures import Line, Panels
from studies.common.tables import Table, number
from studies.paper.claims import Claim, count, judged
from studies.paper.compare import ahead
from studies.paper.context import Context, Unit
from studies.paper.data import load
from studies.paper.methods import l1_bundle, l1_svm, svm_rfe, two_layers
from studies.paper.report import Section
from studies.paper.runner import Results

DATASETS = ("image",)
BUDGETS, QUICK_BUDGETS = [2, 5, 10, 50, 100], [2, 10, 40]
C_PAPER = 10.0
TOL, MAX_ITER, LIBLINEAR_MAX_ITER, BUNDLE_MAX_ITER = 0.1, 600, 100, 120
L1_EXPONENTS = [-6, -5, -4, -3, -2, -1, 0, 2]
BUNDLE_CS = [0.5, 2.0, 8.0]
OURS, OTHERS = "FSMulti F1", ("FSMulti accuracy", "SVM-RFE", "l1-SVM", "l1-bmrm-F1")
METHODS = {
    "FSMulti F1": two_layers,
    "FSMulti accuracy": two_layers,
    "SVM-RFE": svm_rfe,
    "l1-SVM": l1_svm,
    "l1-bmrm-F1": l1_bundle,
}
COSTS = {
    "FSMulti F1": 45.0,
    "FSMulti accuracy": 45.0,
    "SVM-RFE": 15.0,
    "l1-SVM": 15.0,
    "l1-bmrm-F1": 40.0,
}
#: Below so many features the paper sees the largest gains.
FEW = 100


def curve(context: Context, *, label: int, method: str, **settings: Any) -> list[dict[str, Any]]:
    """One method for one class."""
    return METHODS[method](load(context, "image"), label, scored=["f1"], **settings)


TASKS = {"curve": curve}


def plan(context: Context, available: list[str]) -> list[Unit]:
    """One unit for each class and method."""
    if not available:
        return []
    quick = context.quick
    path = {"c": C_PAPER, "max_iter": 60 if quick else MAX_ITER}
    path["budgets"] = QUICK_BUDGETS if quick else BUDGETS
    settings = {
        "FSMulti F1": path | {"measure": "f1"},
        "FSMulti accuracy": path | {"measure": "accuracy"},
        "SVM-RFE": {"n_levels": 5 if quick else 9, "max_iter": LIBLINEAR_MAX_ITER},
        "l1-SVM": {
            "exponents": L1_EXPONENTS[::3] if quick else L1_EXPONENTS,
            "max_iter": LIBLINEAR_MAX_ITER,
        },
        "l1-bmrm-F1": {
            "Cs": BUNDLE_CS[:2] if quick else BUNDLE_CS,
            "tol": TOL,
            "max_iter": BUNDLE_MAX_ITER,
        },
    }
    return [
        Unit("curve", {"label": label, "method": method} | settings[method], COSTS[method])
        for label in range(2 if quick else len(IMAGE_CLASSES))
        for method in METHODS
    ]


def present(context: Context, results: Results, available: list[str]) -> Section:
    """The five panels, a table of their points, and the claims."""
    section = Section("Image retrieval (five classes)")
    classes: dict[str, dict[str, Line]] = {}
    gaps: dict[str, list[float]] = {}
    for settings, rows in results.select("curve"):
        method = settings["method"]
        kept = [row for row in rows if row["n_features"] > 0]
        line = (method, [r["n_features"] for r in kept], [r["scores"]["f1"] for r in kept])
        classes.setdefault(IMAGE_CLASSES[settings["label"]], {})[method] = line
        gaps.setdefault(method, []).extend(row["gap"] for row in rows if "gap" in row)
    if not classes:
        return section
    panels = Panels(len(classes), 3)
    for panel, (name, lines) in enumerate(classes.items()):
        texts = (name, "number of features", "test F1 (%)")
        panels.lines(panel, list(lines.values()), *texts, xscale="log")
    section.figures = [("image_retrieval", "Test F1 over the number of instances", panels)]
    section.tables = [summary_table(classes), point_table(classes)]
    section.claims = [
        l1_claim(classes),
        rfe_l1_claim(classes),
        four_of_five_claim(classes),
        bundle_claim(classes, gaps),
    ]
    for method, values in gaps.items():
        if not values:
            continue
        late = sum(gap > TOL for gap in values)
        section.notes.append(
            f"{method}: {late} of {len(values)} fits ended at a limit of rounds or groups with a "
            f"certified gap above {TOL:g}; the largest is {max(values):.2f}."
        )
    return section


def mean_ahead(lines: dict[str, Line], ours: str, rival: str, most: float = np.inf) -> float | None:
    """Mean points ahead at our numbers of features below some; None if there are none."""
    differences = ahead(lines, ours, rival, most)
    return float(differences.mean()) if differences.size else None


def summary_table(classes: dict[str, dict[str, Line]]) -> Table:
    """Mean points by which FSMulti for F1 is ahead, for each class and rival."""
    rows = [
        [
            name,
            *(number(mean_ahead(lines, OURS, rival), 1) for rival in OTHERS),
            number(mean_ahead(lines, OURS, "l1-SVM", FEW), 1),
        ]
        for name, lines in classes.items()
    ]
    head = ("class", *(f"ahead of {rival}" for rival in OTHERS), f"of l1-SVM, < {FEW} features")
    caption = (
        "Mean points of test F1 by which FSMulti for F1 is ahead, at equal numbers of features"
    )
    return Table("image_retrieval_ahead", caption, head, rows)


def point_table(classes: dict[str, dict[str, Line]]) -> Table:
    """Every point of the figure."""
    rows = [
        [name, method, x, number(y)]
        for name, lines in classes.items()
        for method, xs, ys in lines.values()
        for x, y in sorted(zip(xs, ys, strict=True))
    ]
    head = ("class", "method", "features", "test F1")
    return Table("image_retrieval", "Test F1 (%) and features", head, rows, n_left=2)


def _judge(
    classes: dict[str, dict[str, Line]], pairs: list[tuple[str, str]], most: float = np.inf
) -> tuple[list[bool], str]:
    """Whether each first method is ahead of the second, by class, and the numbers as text."""
    conditions, texts = [], []
    for ours, rival in pairs:
        found = {name: mean_ahead(lines, ours, rival, most) for name, lines in classes.items()}
        conditions += [value > 0 for value in found.values() if value is not None]
        listed = ", ".join(
            f"{name} {value:+.1f}" for name, value in found.items() if value is not None
        )
        texts.append(f"{ours} less {rival}: {listed}")
    return conditions, "; ".join(texts)


def l1_claim(classes: dict[str, dict[str, Line]]) -> Claim:
    """Are both FSMulti ahead of the l1-SVM with few features?"""
    pairs = [(OURS, "l1-SVM"), ("FSMulti accuracy", "l1-SVM")]
    conditions, ours = _judge(classes, pairs, FEW)
    return judged(
        f"FSMulti for F1 and for accuracy are better than the l1-SVM below {FEW} features",
        "no number in the text",
        ours,
        conditions,
        f"ahead in {count(conditions, 'comparisons')}; table image_retrieval_ahead",
    )


def rfe_l1_claim(classes: dict[str, dict[str, Line]]) -> Claim:
    """Is SVM-RFE ahead of the l1-SVM on three of five classes?"""
    conditions, ours = _judge(classes, [("SVM-RFE", "l1-SVM")])
    enough = [sum(conditions) >= 0.6 * len(conditions)] if conditions else []
    return judged(
        "SVM-RFE outperforms the l1-SVM on three of five classes",
        "3 of 5",
        ours,
        enough,
        f"ahead on {count(conditions, 'classes')}; table image_retrieval",
    )


def four_of_five_claim(classes: dict[str, dict[str, Line]]) -> Claim:
    """Is FSMulti for F1 ahead of FSMulti for accuracy and of SVM-RFE on four of five classes?"""
    accuracy, first = _judge(classes, [(OURS, "FSMulti accuracy")])
    rfe, second = _judge(classes, [(OURS, "SVM-RFE")])
    conditions = [sum(each) >= 0.8 * len(each) for each in (accuracy, rfe) if each]
    return judged(
        "FSMulti for F1 is better than FSMulti for accuracy and SVM-RFE on four of five classes",
        "4 of 5",
        f"{first}; {second}",
        conditions,
        f"ahead of FSMulti for accuracy on {count(accuracy, 'classes')}, of SVM-RFE on "
        f"{count(rfe, 'classes')}; table image_retrieval_ahead",
    )


def bundle_claim(classes: dict[str, dict[str, Line]], gaps: dict[str, list[float]]) -> Claim:
    """Is l1-bmrm-F1 unstable, that is, does it end without convergence?"""
    late = [gap > TOL for gap in gaps.get("l1-bmrm-F1", [])]
    return judged(
        "l1-bmrm-F1 does not converge to a relative gap of 0.1 at its limit of iterations",
        "1,000 iterations",
        f"{count(late, 'fits')} are above the gap after {BUNDLE_MAX_ITER} rounds",
        late,
        f"our limit is {BUNDLE_MAX_ITER} rounds, not 1,000; table image_retrieval",
    )
