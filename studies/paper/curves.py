"""Scores over the number of features, as lines and as a table of their points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from studies.common.figures import Line, Panels
from studies.common.tables import Table, number

#: Lines by method, for each panel of a figure.
Curves = dict[str, dict[str, Line]]


def line_of(method: str, rows: Sequence[Mapping[str, Any]], measure: str) -> Line:
    """A method's test score over its number of features, without models that have none."""
    kept = [row for row in rows if row["n_features"] > 0]
    return Line(
        method,
        [row["n_features"] for row in kept],
        [row["scores"][measure] for row in kept],
        [row["limit"] for row in kept],
    )


def draw_curves(curves: Curves, titles: Mapping[str, str], score: str, n_columns: int) -> Panels:
    """One panel for each entry, over a logarithmic axis.

    Parameters
    ----------
    curves : mapping of str to lines
    titles : mapping of str to str
        Of the panels.
    score : str
        What the lines show.
    n_columns : int
        Panels in a row.
    """
    panels = Panels(len(curves), n_columns)
    for panel, (name, lines) in enumerate(curves.items()):
        texts = (titles[name], "number of features", score)
        panels.lines(panel, list(lines.values()), *texts, xscale="log")
    return panels


def point_table(
    name: str, caption: str, head: Sequence[str], curves: Curves, titles: Mapping[str, str]
) -> Table:
    """Every point of the figure, and the limit that ended its fit.

    Parameters
    ----------
    name, caption : str
        Of the table.
    head : sequence of str
        What the entries of ``curves`` are, and what their lines show.
    curves, titles
        As for :func:`draw_curves`.
    """
    rows = [
        [titles[title], line.label, x, number(y), limit]
        for title, lines in curves.items()
        for line in lines.values()
        for x, y, limit in sorted(line.points(), key=lambda point: point[:2])
    ]
    first, score = head
    return Table(name, caption, (first, "method", "features", score, "ended at"), rows, n_left=2)
