"""Training time of all methods, over the number of features they select.

News20.binary with C = 1.0 n and Image (desert) with C = 10 n, as in the paper. The two-layer
algorithm itself is run here, with a limit of seconds; beside it the bundle method of this package
on the same problem and to the same certified gap. One process, one thread, nothing else beside it.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from scoresieve import MeasureSVC
from scoresieve.baselines import FGM, L1SVM, SVMRFE, FSMulti, L1BundleSVM
from scoresieve.measures import C_from_paper
from studies.common.figures import Line, Panels
from studies.common.limits import MARK_MEANS, fit_noting_limit, limit_note, marked
from studies.common.tables import Table, number
from studies.common.timing import timed
from studies.paper.claims import Claim, count, judged
from studies.paper.context import Context, Unit
from studies.paper.data import load
from studies.paper.methods import C_FGM, C_RFE
from studies.paper.report import Section
from studies.paper.runner import Results, found_sets

DATASETS = ("news20_binary", "image")
JOBS = 1
TITLES = {"news20_binary": "News20.binary", "image": "Image (desert)"}
LABELS = {"news20_binary": 1, "image": 0}
C_PAPER = {"news20_binary": 1.0, "image": 10.0}
MAX_SECONDS, QUICK_SECONDS = 20.0, 1.0
TOL = 0.1
#: What counts as much faster.
MUCH = 2.0
TWO_LAYERS, BUNDLE = "FSMulti F1, two layers", "FSMulti F1, bundle"
#: The values that each method is run for: budgets, numbers of features, or C.
GRIDS = {
    TWO_LAYERS: [2, 50, 250],
    BUNDLE: [2, 50, 250],
    "FGM": [2, 50, 250],
    "SVM-RFE": [2, 128, 1024],
    "l1-SVM": [2.0**-6, 2.0**-3, 1.0],
    "l1-bmrm-F1": [0.02, 0.2, 2.0],
}
COSTS = {TWO_LAYERS: 25, BUNDLE: 15, "FGM": 10, "SVM-RFE": 15, "l1-SVM": 10, "l1-bmrm-F1": 20}

#: (settings, result) of each fit, and those of each data set.
Found = list[tuple[dict[str, Any], dict[str, Any]]]
Sets = dict[str, Found]


def estimator(method: str, value: float, C: float, seconds: float) -> Any:
    """The method with one value of its grid."""
    limits = {"tol": TOL, "max_time": seconds}
    makers: dict[str, Callable[[], Any]] = {
        TWO_LAYERS: lambda: FSMulti("f1", budget=value, C=C, **limits),
        BUNDLE: lambda: MeasureSVC(
            "f1", bound="paper", budget=value, C=C, fit_intercept=False, **limits
        ),
        "FGM": lambda: FGM(budget=value, C=C_FGM, max_groups=10, max_time=seconds),
        "SVM-RFE": lambda: SVMRFE(n_features_to_select=value, C=C_RFE, max_time=seconds),
        "l1-SVM": lambda: L1SVM(C=value, max_time=seconds),
        "l1-bmrm-F1": lambda: L1BundleSVM("f1", C=value, **limits),
    }
    return makers[method]()


def measure(
    context: Context, *, data: str, label: int, method: str, value: float, c: float, seconds: float
) -> dict[str, Any]:
    """Seconds of one fit, and what it reached."""
    split = load(context, data)
    y, _ = split.labels(label)
    model = estimator(method, value, C_from_paper(c, y, "f1"), seconds)
    spent, limit = timed(lambda: fit_noting_limit(model, split.X, y))
    return {
        "seconds": spent,
        "n_features": int(model.n_features_selected_),
        "gap": float(model.gap_[0]) if hasattr(model, "gap_") else None,
        "limit": limit,
        "cores": os.cpu_count(),
        "processor": platform.machine(),
    }


TASKS = {"measure": measure}


def plan(context: Context, available: list[str]) -> list[Unit]:
    """One unit for each data set, method and value."""
    seconds = QUICK_SECONDS if context.quick else MAX_SECONDS
    return [
        Unit(
            "measure",
            {
                "data": data,
                "label": LABELS[data],
                "method": method,
                "value": value,
                "c": C_PAPER[data],
                "seconds": seconds,
            },
            cost=min(seconds, COSTS[method]),
        )
        for data in available
        for method, grid in GRIDS.items()
        for value in (grid[1:2] if context.quick else grid)
    ]


def present(context: Context, results: Results, available: list[str]) -> Section:
    """The paper's two panels, a table, and the claims."""
    section = Section("Training time (News20.binary, Image)")
    sets = found_sets(available, lambda data: results.select("measure", data=data))
    if not sets:
        return section
    panels = Panels(len(sets))
    for panel, (data, found) in enumerate(sets.items()):
        texts = (TITLES[data], "number of features", "seconds")
        panels.lines(panel, list(lines_of(found)), *texts, xscale="log", yscale="log")
    caption = "Training time over the number of features; fits stop at the limit of seconds"
    section.figures = [("training_time", caption, panels)]
    section.tables = [time_table(sets)]
    section.claims = [
        slower_claim(sets, "l1-SVM", slower=True),
        slower_claim(sets, "SVM-RFE", slower=False),
        slower_claim(sets, "l1-bmrm-F1", slower=False),
        bundle_claim(sets),
        solver_claim(sets),
    ]
    section.notes += [
        limit_note(fits_by_method(sets)),
        f"Limit {QUICK_SECONDS if context.quick else MAX_SECONDS:g} s a fit; liblinear itself has "
        "no such limit. Seconds depend on the machine and on what else it does, ratios less so.",
        "The paper's FSMulti was MATLAB with Mosek; here both layers are Python with Clarabel.",
    ]
    return section


def fits_by_method(sets: Sets) -> dict[str, list[dict[str, Any]]]:
    """The results of each method on all data sets."""
    every = [fit for found in sets.values() for fit in found]
    return {method: [r for s, r in every if s["method"] == method] for method in GRIDS}


def lines_of(found: Found) -> Iterator[Line]:
    """Seconds over features of each method, sorted by features."""
    for method in GRIDS:
        fits = [r for s, r in found if s["method"] == method and r["n_features"] > 0]
        fits.sort(key=lambda fit: (fit["n_features"], fit["seconds"]))
        yield Line(
            method, *([fit[key] for fit in fits] for key in ("n_features", "seconds", "limit"))
        )


def time_table(sets: Sets) -> Table:
    """One row for each fit."""
    rows = [
        [
            TITLES[data],
            settings["method"],
            f"{settings['value']:g}",
            result["n_features"],
            number(result["seconds"]),
            number(result["gap"], 3),
            result["limit"],
        ]
        for data, found in sets.items()
        for settings, result in found
    ]
    head = ("data", "method", "B, k or C", "features", "seconds", "gap", "ended at")
    return Table("training_time", "Seconds of one fit", head, rows, n_left=2)


def medians(found: Found) -> dict[str, float]:
    """The median seconds of each method, over its fits that selected something."""
    times = {
        method: [r["seconds"] for s, r in found if s["method"] == method and r["n_features"] > 0]
        for method in GRIDS
    }
    return {method: float(np.median(values)) for method, values in times.items() if values}


def slower_claim(sets: Sets, rival: str, *, slower: bool) -> Claim:
    """Is the two-layer algorithm slower, or at least twice as fast, in the median?"""
    conditions, texts = [], []
    for data, found in sets.items():
        times = medians(found)
        if TWO_LAYERS not in times or rival not in times:
            continue
        ours, theirs = times[TWO_LAYERS], times[rival]
        conditions.append(ours > theirs if slower else MUCH * ours <= theirs)
        ends = {m: [r["limit"] for s, r in found if s["method"] == m] for m in times}
        texts.append(
            f"{TITLES[data]} {marked(f'{ours:.1f} s', ends[TWO_LAYERS])} against "
            f"{marked(f'{theirs:.1f} s', ends[rival])}"
        )
    word = "slower than" if slower else "much faster than"
    return judged(
        f"the two-layer algorithm is {word} {rival}",
        "no number in the text",
        f"median over the grid ({MARK_MEANS}): {'; '.join(texts) or 'no model with features'}",
        conditions,
        f"{'slower' if slower else f'at least {MUCH:g} times faster'} on "
        f"{count(conditions, 'sets')}; table training_time",
    )


def bundle_claim(sets: Sets) -> Claim:
    """Does l1-bmrm-F1 fail to converge on Image?"""
    text = "Image: l1-bmrm-F1 does not reach a relative gap of 0.1"
    late = [r["gap"] > TOL for s, r in sets.get("image", []) if s["method"] == "l1-bmrm-F1"]
    if not late:
        return judged(text, "1,000 iterations", "no Image", [], "Image is missing")
    return judged(
        text,
        "1,000 iterations",
        f"{count(late, 'C')} without convergence within the limit of seconds",
        late,
        "our limit is in seconds; table training_time",
    )


def solver_claim(sets: Sets) -> Claim:
    """Does the bundle method reach the gap where the two-layer algorithm does not, or is later?"""
    conditions, texts = [], []
    for data, found in sets.items():
        fits = {(s["method"], s["value"]): r for s, r in found}
        for value in GRIDS[BUNDLE]:
            ours, other = fits.get((BUNDLE, value)), fits.get((TWO_LAYERS, value))
            if ours is None or other is None:
                continue
            sooner = other["gap"] > TOL or other["seconds"] > ours["seconds"]
            conditions.append(ours["gap"] <= TOL and sooner)
            texts.append(
                f"{TITLES[data]}, B = {value}: gap {ours['gap']:.2f} after {ours['seconds']:.1f} s "
                f"against {other['gap']:.2f} after {other['seconds']:.1f} s"
            )
    return judged(
        "(ours) the bundle method reaches the gap of 0.1, the two-layer algorithm not or later",
        "not in the paper",
        "; ".join(texts),
        conditions,
        f"so in {count(conditions, 'fits')}; the two layers end after 10 groups; table "
        "training_time",
    )
