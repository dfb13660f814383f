"""Tables and figures of the document experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from studies.common.figures import Line, Panels
from studies.common.limits import MARK_MEANS, marked
from studies.common.tables import Table, number
from studies.paper.class_fits import ClassFits
from studies.paper.runner import Results

MEASURES = {"f1": "F1", "rec@2p": "Rec@2p", "prbep": "PRBEP"}
TITLES = {"news20": "News20", "reuters120": "Reuters-120", "sector12": "Sector-12"}
LARGEST_OF_PAPER = 6
TWO_LAYERS = "FSMulti F1, two layers"


@dataclass(frozen=True, eq=False)
class Found:
    """What was found on one data set.

    Attributes
    ----------
    labels : list of int
        The classes.
    budgets : list of int
    exponents : ndarray of int of shape (n_exponents,)
        Of SVM^perf's C.
    measure, accuracy : dict of ClassFits
        FSMulti trained for the measure and for accuracy, by the measure of the scores; a column for
        each budget.
    perf : dict of ClassFits
        SVM^perf, a column for each exponent.
    rivals : dict of ClassFits
        F1 of SVM-RFE, the l1-SVM and the paper's own algorithm.
    """

    labels: list[int]
    budgets: list[int]
    exponents: np.ndarray
    measure: dict[str, ClassFits]
    accuracy: dict[str, ClassFits]
    perf: dict[str, ClassFits]
    rivals: dict[str, ClassFits]

    def best_perf(self, measure: str, *, paper: bool) -> tuple[int, ClassFits]:
        """The exponent with the best macro score, and the fits there."""
        allowed = self.exponents <= LARGEST_OF_PAPER if paper else self.exponents > -np.inf
        means = np.where(allowed, self.perf[measure].scores.mean(axis=0), -np.inf)
        best = int(np.argmax(means))
        return int(self.exponents[best]), self.perf[measure].at(best)


def collect(results: Results, data: str) -> Found | None:
    """The results of one data set, class by class; None if there are none."""
    paths = results.select("fs", data=data, measure="accuracy")
    if not paths:
        return None
    labels = [settings["label"] for settings, _ in paths]
    ours = {name: results.values("fs", data=data, measure=name) for name in MEASURES}
    perfs = {
        name: [both_ranges(results, data, name, label) for label in labels] for name in MEASURES
    }
    rivals = {TWO_LAYERS: results.values("two", data=data)}
    for found in results.values("rivals", data=data):
        for method, rows in found.items():
            rivals.setdefault(method, []).append(rows)
    return Found(
        labels=labels,
        budgets=paths[0][0]["budgets"],
        exponents=np.array([row["exponent"] for row in perfs["f1"][0]]),
        measure={name: ClassFits.of(rows, name) for name, rows in ours.items()},
        accuracy={name: ClassFits.of([rows for _, rows in paths], name) for name in MEASURES},
        perf={name: ClassFits.of(rows, name) for name, rows in perfs.items()},
        rivals={method: ClassFits.of(rows, "f1") for method, rows in rivals.items()},
    )


def both_ranges(results: Results, data: str, measure: str, label: int) -> list[dict]:
    """SVM^perf's rows of one class, over both ranges of C."""
    parts = results.values("perf", data=data, measure=measure, label=label)
    return [row for rows in parts for row in rows]


def main_table(sets: dict[str, Found]) -> Table:
    """The paper's table: macro scores at the largest budget."""
    rows = []
    for data, found in sets.items():
        title = f"{TITLES[data]}, {len(found.labels)} classes"
        ours = {name: found.measure[name].at(-1) for name in MEASURES}
        counts = "/".join(f"{fits.n_features.mean():.0f}" for fits in ours.values())
        macro = [fits.macro() for fits in ours.values()]
        rows.append([title, f"FSMulti measure, B = {found.budgets[-1]}", *macro, counts])
        cells = [found.accuracy[name].at(-1).against(ours[name]) for name in MEASURES]
        mean = number(found.accuracy["f1"].at(-1).n_features.mean(), 0)
        rows.append([title, f"FSMulti accuracy, B = {found.budgets[-1]}", *cells, mean])
        mean = number(found.perf["f1"].at(-1).n_features.mean(), 0)
        for paper, text in ((True, "C in 2^-6..2^6"), (False, "C well tuned")):
            best = {name: found.best_perf(name, paper=paper)[1] for name in MEASURES}
            cells = [fits.against(ours[name]) for name, fits in best.items()]
            rows.append([title, f"SVMPerf, {text}", *cells, mean])
    head = ("data", "method", *MEASURES.values(), "features")
    caption = f"Macro averages on the test part (%); {MARK_MEANS}"
    return Table("documents", caption, head, rows, n_left=2)


def range_table(sets: dict[str, Found]) -> Table:
    """SVM^perf's macro score over its C."""
    exponents = sorted({int(e) for found in sets.values() for e in found.exponents})
    rows = []
    for data, found in sets.items():
        for name, text in MEASURES.items():
            macros = [found.perf[name].at(i).macro() for i in range(found.exponents.size)]
            by_exponent = dict(zip(found.exponents.tolist(), macros, strict=True))
            rows.append([TITLES[data], text, *(by_exponent.get(e) for e in exponents)])
    head = ("data", "measure", *(f"2^{exponent}" for exponent in exponents))
    caption = "SVM^perf: macro test score (%) over its -c; the paper's range ends at 2^6"
    return Table("documents_svmperf_range", f"{caption}; {MARK_MEANS}", head, rows, n_left=2)


def feature_table(sets: dict[str, Found]) -> Table:
    """Mean F1 and mean number of features of every method and setting."""
    rows = [
        [TITLES[data], line.label, number(x, 1), number(y), limit]
        for data, found in sets.items()
        for line in feature_lines(found)
        for x, y, limit in line.points()
    ]
    head = ("data", "method", "mean features", "mean F1", "ended at a limit")
    caption = "Mean test F1 and mean number of features over the classes"
    return Table("documents_features", caption, head, rows, n_left=2)


def feature_lines(found: Found) -> list[Line]:
    """Mean F1 over the mean number of features, for every method."""
    fits = {"FSMulti F1": found.measure["f1"], "FSMulti accuracy": found.accuracy["f1"]}
    return [each.line(method) for method, each in (fits | found.rivals).items()]


def draw_improvement(found: Found) -> Panels:
    """FSMulti for the measure less each rival, over B."""
    panels = Panels(3, 3)
    rivals: dict[str, Callable[[str], ClassFits]] = {
        "FSMulti for accuracy": lambda name: found.accuracy[name],
        "SVMPerf, C in 2^-6..2^6": lambda name: found.best_perf(name, paper=True)[1],
        "SVMPerf, C well tuned": lambda name: found.best_perf(name, paper=False)[1],
    }
    for panel, (title, rival) in enumerate(rivals.items()):
        lines = [
            improvement_line(text, found.budgets, found.measure[name], rival(name))
            for name, text in MEASURES.items()
        ]
        panels.lines(panel, lines, f"against {title}", "B", "points ahead")
        panels.axes[panel].axhline(0.0, color="0.4", lw=1.0)
    return panels


def improvement_line(label: str, budgets: list[int], ours: ClassFits, rival: ClassFits) -> Line:
    """Mean differences over B, marked where a fit of either ended at a limit."""
    shape = ours.scores.shape
    scores, limits = (
        np.broadcast_to(values.reshape(shape[0], -1), shape)
        for values in (rival.scores, rival.limits)
    )
    differences = (ours.scores - scores).mean(axis=0).tolist()
    marks = [marked("", [*a, *b]) or None for a, b in zip(ours.limits.T, limits.T, strict=True)]
    return Line(label, budgets, differences, marks)


def draw_features(sets: dict[str, Found]) -> Panels:
    """One panel for each data set; SVM^perf as a level."""
    panels = Panels(len(sets), 3)
    for panel, (data, found) in enumerate(sets.items()):
        lines = [above_one(line) for line in feature_lines(found)]
        title = f"{TITLES[data]} ({len(found.labels)} classes)"
        panels.lines(
            panel, lines, title, "mean number of features", "mean test F1 (%)", xscale="log"
        )
        level = found.best_perf("f1", paper=False)[1].scores.mean()
        panels.level(panel, level, "SVMPerf, all features, C well tuned")
    return panels


def above_one(line: Line) -> Line:
    """The points that a logarithmic axis can show."""
    kept = [point for point in line.points() if point[0] >= 1.0]
    x, y, limits = (list(part) for part in zip(*kept, strict=True)) if kept else ([], [], [])
    return Line(line.label, x, y, limits)
