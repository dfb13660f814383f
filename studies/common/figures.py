"""Figures: PNG and SVG, one colour and marker for each method everywhere, the same bytes each time.

Conventions
-----------
Colours come from the label of a line, so that a method looks the same in all figures; other labels
take the next colours of a list that is fit for colour-blind readers. Points whose fit ended at a
limit are hollow.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from studies.common.storing import write_atomically

HOLLOW = "hollow: ended at a limit"
#: Okabe and Ito's colours, and markers that tell lines apart without colour.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C564B")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
#: Which of them a method has.
STYLES = {
    "FSMulti measure": 0,
    "FSMulti F1": 0,
    "FSMulti F1, bundle": 0,
    "FSMulti F1, two layers": 7,
    "FSMulti accuracy, two layers": 7,
    "FSMulti accuracy": 1,
    "SVM-RFE": 2,
    "l1-SVM": 3,
    "FGM": 4,
    "SVMPerf": 5,
    "l1-bmrm-F1": 6,
    "chi2": 6,
    "L0-SVM": 7,
}
SETTINGS = {
    "font.size": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "scoresieve",
    "svg.fonttype": "path",
    "figure.constrained_layout.use": True,
}
PANEL = (4.6, 3.5)  # inches
#: What files would say of the day and the program is left out.
METADATA = {"png": {"Software": None}, "svg": {"Date": None}}


class Line(NamedTuple):
    """Points of one method.

    Attributes
    ----------
    label : str
    x, y : sequence of float
    limits : sequence of str or None
        What ended the fits behind each point, None where it was no limit; none at all by default.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    limits: Sequence[str | None] = ()

    def points(self) -> Iterator[tuple[float, float, str | None]]:
        """(x, y, limit) of each point."""
        limits = self.limits or [None] * len(self.x)
        return zip(self.x, self.y, limits, strict=True)


class Panels:
    """A grid of panels with one legend for all below it.

    Parameters
    ----------
    n_panels : int
    n_columns : int
    """

    def __init__(self, n_panels: int, n_columns: int = 2) -> None:
        n_columns = min(n_panels, n_columns)
        n_rows = -(-n_panels // n_columns)
        with mpl.rc_context(SETTINGS):
            self.figure = Figure(figsize=(PANEL[0] * n_columns, PANEL[1] * n_rows + 0.5))
            axes = self.figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        for unused in axes[n_panels:]:
            unused.set_axis_off()
        self.axes = list(axes[:n_panels])
        self._legend_columns = 2 * n_columns
        self._legend: dict[str, Any] = {}
        self._any_hollow = False

    def lines(
        self, panel: int, lines: Sequence[Line], title: str, x: str, y: str, **scale: Any
    ) -> None:
        """Draw lines with markers in one panel.

        Parameters
        ----------
        panel : int
        lines : sequence of Line
        title, x, y : str
            Texts of the panel and its axes.
        **scale
            Passed to ``Axes.set``: ``xscale="log"``, ``ylim=(0, 1)``.
        """
        axes = self.axes[panel]
        free = (style for style in range(len(COLOURS)))
        for line in lines:
            style = STYLES[line.label] if line.label in STYLES else next(free)
            look = {"color": COLOURS[style], "marker": MARKERS[style], "ms": 5}
            (drawn,) = axes.plot(line.x, line.y, label=line.label, lw=1.5, **look)
            self._legend.setdefault(line.label, drawn)
            at_limit = [(x, y) for x, y, limit in line.points() if limit is not None]
            if at_limit:
                axes.plot(*zip(*at_limit, strict=True), ls="none", mfc="white", **look)
                self._any_hollow = True
        axes.set(title=title, xlabel=x, ylabel=y, **scale)
        for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            if scale.get(f"{name}scale") == "log":
                axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=20))
                axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
                axis.set_minor_formatter(NullFormatter())
                axis.set_tick_params(labelsize=8)

    def level(self, panel: int, value: float, text: str) -> None:
        """A dashed line at one height, with its name below it.

        Parameters
        ----------
        panel : int
        value : float
        text : str
        """
        axes = self.axes[panel]
        axes.axhline(value, color="0.3", lw=1.0, ls="--")
        position = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
        axes.annotate(
            text, (0.02, value), xytext=(0, -3), va="top", fontsize=8, bbox=box, **position
        )

    def legend(self) -> dict[str, Any]:
        """What is drawn by label, in the order of appearance."""
        if not self._any_hollow:
            return self._legend
        return self._legend | {HOLLOW: Line2D([], [], ls="none", marker="o", mfc="w", color="0.3")}

    def write(self, folder: Path, name: str, endings: Sequence[str] = tuple(METADATA)) -> None:
        """``name.png`` and ``name.svg``, without anything that changes from run to run.

        Parameters
        ----------
        folder : Path
        name : str
            Without an ending.
        endings : sequence of str
            Both by default.
        """
        with mpl.rc_context(SETTINGS):
            legend = self.legend()
            if legend:
                self.figure.legend(
                    legend.values(),
                    legend.keys(),
                    loc="outside lower center",
                    ncols=min(self._legend_columns, len(legend)),
                    frameon=False,
                )
            for ending in endings:
                buffer = io.BytesIO()
                settings = {"format": ending, "metadata": METADATA[ending]}
                self.figure.savefig(buffer, dpi=150, **settings)
                content = buffer.getvalue()
                write_atomically(
                    folder / f"{name}.{ending}", lambda file, content=content: file.write(content)
                )


def short(value: float) -> str:
    """``5000`` as ``5k``, so that the ticks of a long axis do not touch."""
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"
