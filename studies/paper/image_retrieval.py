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
from studies.common.figures import Line
from studies.common.limits import limit_note
from studies.common.tables import Table, number
from studies.paper.claims import Claim, count, judged
from studies.paper.compare import ahead
from studies.paper.context import Context, Unit
from studies.paper.curves import Curves, draw_curves, line_of, point_table
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
    classes: Curves = {}
    fits: dict[str, list[dict[str, Any]]] = {}
    for settings, rows in results.select("curve"):
        name, method = IMAGE_CLASSES[settings["label"]], settings["method"]
        classes.setdefault(name, {})[method] = line_of(method, rows, "f1")
        fits.setdefault(method, []).extend(rows)
    if not classes:
        return section
    titles = {name: name for name in classes}
    panels = draw_curves(classes, titles, "test F1 (%)", 3)
    section.figures = [("image_retrieval", "Test F1 over the number of instances", panels)]
    caption, head = "Test F1 (%) and features", ("class", "test F1")
    points = point_table("image_retrieval", caption, head, classes, titles)
    section.tables = [summary_table(classes), points]
    section.claims = [
        l1_claim(classes),
        rfe_l1_claim(classes),
        four_of_five_claim(classes),
        bundle_claim(fits["l1-bmrm-F1"]),
    ]
    section.notes.append(limit_note(fits))
    return section


def mean_ahead(lines: dict[str, Line], ours: str, rival: str, most: float = np.inf) -> float | None:
    """Mean points ahead at our numbers of features below some; None if there are none."""
    differences = ahead(lines, ours, rival, most)
    return float(differences.mean()) if differences.size else None


def summary_table(classes: Curves) -> Table:
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


def _judge(
    classes: Curves, pairs: list[tuple[str, str]], most: float = np.inf
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


def l1_claim(classes: Curves) -> Claim:
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


def rfe_l1_claim(classes: Curves) -> Claim:
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


def four_of_five_claim(classes: Curves) -> Claim:
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


def bundle_claim(fits: list[dict[str, Any]]) -> Claim:
    """Is l1-bmrm-F1 unstable, that is, does it end without convergence?"""
    late = [row["gap"] > TOL for row in fits]
    return judged(
        "l1-bmrm-F1 does not converge to a relative gap of 0.1 at its limit of iterations",
        "1,000 iterations",
        f"{count(late, 'fits')} are above the gap after {BUNDLE_MAX_ITER} rounds",
        late,
        f"our limit is {BUNDLE_MAX_ITER} rounds, not 1,000; table image_retrieval",
    )
