"""Tables and figures of the document experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from studies.common.figures import Line, Panels
from studies.common.tables import Table, number
from studies.paper.compare import p_value
from studies.paper.runner import Results

MEASURES = {"f1": "F1", "rec@2p": "Rec@2p", "prbep": "PRBEP"}
TITLES = {"news20": "News20", "reuters120": "Reuters-120", "sector12": "Sector-12"}
LARGEST_OF_PAPER = 6
TWO_LAYERS = "FSMulti F1, two layers"


@dataclass(frozen=True, eq=False)
class Found:
    """Scores of one data set, one row for each class.

    Attributes
    ----------
    labels : list of int
    budgets : list of int
    measure, accuracy : dict of ndarray of shape (n_classes, n_budgets)
        Test scores of FSMulti trained for the measure and for accuracy, by measure.
    n_measure, n_accuracy : dict of ndarray, and ndarray of shape (n_classes, n_budgets)
        Numbers of features.
    exponents : ndarray of int of shape (n_exponents,)
        Of SVM^perf's C.
    perf : dict of ndarray of shape (n_classes, n_exponents)
    n_perf : float
        Mean number of its features.
    rivals : dict of list of list of (n_features, F1)
        For each class the points of SVM-RFE, the l1-SVM and the paper's own algorithm.
    """

    labels: list[int]
    budgets: list[int]
    measure: dict[str, np.ndarray]
    accuracy: dict[str, np.ndarray]
    n_measure: dict[str, np.ndarray]
    n_accuracy: np.ndarray
    exponents: np.ndarray
    perf: dict[str, np.ndarray]
    n_perf: float
    rivals: dict[str, list[list[tuple[float, float]]]]

    def best_perf(self, measure: str, *, paper: bool) -> tuple[int, np.ndarray]:
        """The exponent with the best macro score, and the scores of the classes there."""
        allowed = self.exponents <= LARGEST_OF_PAPER if paper else self.exponents > -np.inf
        means = np.where(allowed, self.perf[measure].mean(axis=0), -np.inf)
        best = int(np.argmax(means))
        return int(self.exponents[best]), self.perf[measure][:, best]


def collect(results: Results, data: str) -> Found | None:
    """The results of one data set, class by class; None if there are none."""
    paths = results.select("fs", data=data, measure="accuracy")
    if not paths:
        return None
    labels = [settings["label"] for settings, _ in paths]
    ours = {name: results.values("fs", data=data, measure=name) for name in MEASURES}
    perfs = {name: perf_rows(results, data, name, labels) for name in MEASURES}
    rivals: dict[str, list[list[tuple[float, float]]]] = {}
    for rows in results.values("two", data=data):
        points = [(row["n_features"], row["scores"]["f1"]) for row in rows]
        rivals.setdefault(TWO_LAYERS, []).append(points)
    for found in results.values("rivals", data=data):
        for method, rows in found.items():
            points = [(row["n_features"], row["scores"]["f1"]) for row in rows]
            rivals.setdefault(method, []).append(points)
    return Found(
        labels=labels,
        budgets=paths[0][0]["budgets"],
        measure={name: _scores(rows, name) for name, rows in ours.items()},
        accuracy={name: _scores([rows for _, rows in paths], name) for name in MEASURES},
        n_measure={name: _field(rows, "n_features") for name, rows in ours.items()},
        n_accuracy=_field([rows for _, rows in paths], "n_features"),
        exponents=np.array([row["exponent"] for row in perfs["f1"][0]]),
        perf={name: _scores(rows, name) for name, rows in perfs.items()},
        n_perf=float(np.mean([row["n_features"] for rows in perfs["f1"] for row in rows[-1:]])),
        rivals=rivals,
    )


def perf_rows(
    results: Results, data: str, measure: str, labels: list[int]
) -> list[list[dict[str, Any]]]:
    """SVM^perf's rows of each class, over both ranges of C."""
    return [
        [
            row
            for rows in results.values("perf", data=data, measure=measure, label=label)
            for row in rows
        ]
        for label in labels
    ]


def _scores(paths: list[list[dict[str, Any]]], measure: str) -> np.ndarray:
    return np.array([[row["scores"][measure] for row in rows] for rows in paths])


def _field(paths: list[list[dict[str, Any]]], name: str) -> np.ndarray:
    return np.array([[row[name] for row in rows] for rows in paths], dtype=float)


def against(rival: np.ndarray, ours: np.ndarray) -> str:
    """``score (won/lost)*``: the rival's macro score and how it stands against ours."""
    star = "*" if p_value(rival, ours) < 0.05 else ""
    return f"{rival.mean():.2f} ({np.sum(rival > ours)}/{np.sum(rival < ours)}){star}"


def main_table(sets: dict[str, Found]) -> Table:
    """The paper's table: macro scores at the largest budget."""
    rows = []
    for data, found in sets.items():
        ours = {name: found.measure[name][:, -1] for name in MEASURES}
        counts = "/".join(f"{found.n_measure[name][:, -1].mean():.0f}" for name in MEASURES)
        title = f"{TITLES[data]}, {len(found.labels)} classes"
        macro = [number(ours[name].mean()) for name in MEASURES]
        rows.append([title, f"FSMulti measure, B = {found.budgets[-1]}", *macro, counts])
        cells = [against(found.accuracy[name][:, -1], ours[name]) for name in MEASURES]
        mean = number(found.n_accuracy[:, -1].mean(), 0)
        rows.append([title, f"FSMulti accuracy, B = {found.budgets[-1]}", *cells, mean])
        for paper, text in ((True, "C in 2^-6..2^6"), (False, "C well tuned")):
            best = {name: found.best_perf(name, paper=paper) for name in MEASURES}
            cells = [against(scores, ours[name]) for name, (_, scores) in best.items()]
            rows.append([title, f"SVMPerf, {text}", *cells, number(found.n_perf, 0)])
    head = ("data", "method", *MEASURES.values(), "features")
    return Table("documents", "Macro averages on the test part (%)", head, rows, n_left=2)


def range_table(sets: dict[str, Found]) -> Table:
    """SVM^perf's macro score over its C."""
    exponents = sorted({int(e) for found in sets.values() for e in found.exponents})
    rows = []
    for data, found in sets.items():
        for name in MEASURES:
            means = found.perf[name].mean(axis=0)
            by_exponent = dict(zip(found.exponents.tolist(), means.tolist(), strict=True))
            scores = [number(by_exponent.get(exponent)) for exponent in exponents]
            rows.append([TITLES[data], MEASURES[name], *scores])
    head = ("data", "measure", *(f"2^{exponent}" for exponent in exponents))
    caption = "SVM^perf: macro test score (%) over its -c; the paper's range ends at 2^6"
    return Table("documents_svmperf_range", caption, head, rows, n_left=2)


def feature_table(sets: dict[str, Found]) -> Table:
    """Mean F1 and mean number of features of every method and setting."""
    rows = []
    for data, found in sets.items():
        for label, xs, ys in feature_lines(found):
            rows += [
                [TITLES[data], label, number(x, 1), number(y)] for x, y in zip(xs, ys, strict=True)
            ]
    head = ("data", "method", "mean features", "mean F1")
    caption = "Mean test F1 and mean number of features over the classes"
    return Table("documents_features", caption, head, rows, n_left=2)


def feature_lines(found: Found) -> list[Line]:
    """(method, mean features, mean F1) over settings."""
    lines: list[Line] = [
        _means("FSMulti F1", found.n_measure["f1"], found.measure["f1"]),
        _means("FSMulti accuracy", found.n_accuracy, found.accuracy["f1"]),
    ]
    for method, classes in found.rivals.items():
        n_points = min(len(points) for points in classes)
        points = np.array([points[:n_points] for points in classes], dtype=float)
        lines.append(_means(method, points[:, :, 0], points[:, :, 1]))
    return lines


def _means(label: str, n_features: np.ndarray, scores: np.ndarray) -> Line:
    return label, n_features.mean(axis=0).tolist(), scores.mean(axis=0).tolist()


def draw_improvement(found: Found) -> Panels:
    """FSMulti for the measure less each rival, over B."""
    panels = Panels(3, 3)
    rivals = {
        "FSMulti for accuracy": lambda name: found.accuracy[name],
        "SVMPerf, C in 2^-6..2^6": lambda name: found.best_perf(name, paper=True)[1][:, None],
        "SVMPerf, C well tuned": lambda name: found.best_perf(name, paper=False)[1][:, None],
    }
    for panel, (title, rival) in enumerate(rivals.items()):
        lines = [
            (label, found.budgets, (found.measure[name] - rival(name)).mean(axis=0).tolist())
            for name, label in MEASURES.items()
        ]
        panels.lines(panel, lines, f"against {title}", "B", "points ahead")
        panels.axes[panel].axhline(0.0, color="0.4", lw=1.0)
    return panels


def draw_features(sets: dict[str, Found]) -> Panels:
    """One panel for each data set; SVM^perf as a level."""
    panels = Panels(len(sets), 3)
    for panel, (data, found) in enumerate(sets.items()):
        lines = feature_lines(found)
        lines = [(label, *_above_one(xs, ys)) for label, xs, ys in lines]
        title = f"{TITLES[data]} ({len(found.labels)} classes)"
        panels.lines(
            panel, lines, title, "mean number of features", "mean test F1 (%)", xscale="log"
        )
        level = found.best_perf("f1", paper=False)[1].mean()
        panels.level(panel, level, "SVMPerf, all features, C well tuned")
    return panels


def _above_one(xs: Any, ys: Any) -> tuple[list[float], list[float]]:
    """Points that a logarithmic axis can show."""
    kept = [(x, y) for x, y in zip(xs, ys, strict=True) if x >= 1.0]
    return [x for x, _ in kept], [y for _, y in kept]
