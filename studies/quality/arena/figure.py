"""The critical-difference plot: mean ranks on a line, bars over what does not differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.common.figures import COLOURS, Panels
from studies.common.progress import log

#: Between names, in units of the axis.
LINE, BAR = 0.055, 0.022


def groups_of(ranks: np.ndarray, difference: float) -> list[tuple[int, int]]:
    """First and last position of the longest runs of sorted ranks within the difference."""
    found: list[tuple[int, int]] = []
    for first in range(ranks.size):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="right")) - 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def draw(names: list[str], ranks: np.ndarray, difference: float, title: str, path: Path) -> None:
    """Write the plot.

    Parameters
    ----------
    names : list of str
    ranks : ndarray of shape (n_methods,)
    difference : float
        Two methods further apart than this differ.
    title : str
    path : Path
        A PNG file.
    """
    order = np.argsort(ranks, kind="stable")
    names, ranks = [names[i] for i in order], ranks[order]
    groups = groups_of(ranks, difference)
    panels = Panels(1)
    axes, n_left = panels.axes[0], -(-ranks.size // 2)
    low, high = np.floor(ranks[0]), np.ceil(ranks[-1])
    span = high - low
    depth = BAR * len(groups) + 0.06 + LINE * n_left
    panels.figure.set_size_inches(8.5, 1.4 + 5.0 * depth)
    axes.set(xlim=(low - 0.55 * span, high + 0.55 * span), ylim=(-depth - 0.02, 0.16), title=title)
    axes.set_axis_off()
    axes.plot([low, high], [0, 0], color="black", lw=1.2)
    for tick in np.arange(low, high + 1):
        axes.plot([tick, tick], [0, 0.015], color="black", lw=1.2)
        axes.text(tick, 0.025, f"{tick:g}", ha="center", fontsize=9)
    axes.plot([low, low + difference], [0.1, 0.1], color=COLOURS[1], lw=2.5)
    axes.text(low + difference, 0.1, f"  critical difference {difference:.2f}", va="center")
    for number, (first, last) in enumerate(groups):
        height = -0.02 - BAR * number
        axes.plot([ranks[first], ranks[last]], [height] * 2, color=COLOURS[0], lw=3)
    top = -BAR * len(groups) - 0.06
    for i, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        is_left = i < n_left
        height = top - LINE * (i if is_left else ranks.size - 1 - i)
        end = low - 0.03 * span if is_left else high + 0.03 * span
        axes.plot([rank, rank, end], [0, height, height], color="0.45", lw=0.8)
        words = f"{name}  {rank:.2f} " if is_left else f" {rank:.2f}  {name}"
        axes.text(end, height, words, ha="right" if is_left else "left", va="center", fontsize=9)
    panels.write(path.parent, path.stem, endings=("png",))
    log(f"wrote {path}")
