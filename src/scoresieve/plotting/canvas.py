"""Shared by all plots: axes, colours for colour-blind readers, and names that fit."""

from __future__ import annotations

import textwrap
from typing import Any

from scoresieve.estimators.summary.mixin import class_titles

#: For and against a class, and everything else.
FOR, AGAINST, OTHERS = "#0072b2", "#d55e00", "#8c8c8c"
#: Lines of several methods; markers and dashes also differ, for grey prints.
LINES = [("#0072b2", "o", "-"), ("#d55e00", "s", "--"), ("#009e73", "^", "-.")]
LINES += [("#cc79a7", "D", ":"), ("#56b4e9", "v", "--"), ("#000000", "x", ":")]
INCHES_WIDE, INCHES_PER_BAR, INCHES_BESIDE = 6.4, 0.32, 1.5
LONG_LABEL = 40
#: Letters on a line of a name beside an axis.
LINE_OF_NAME = 34


def new_axes(ax: Any, height: float = 4.2, *, width: float = INCHES_WIDE) -> Any:
    """The axes of the user, or those of a new figure."""
    return ax if ax is not None else new_figure(1, height, width=width)[0]


def new_figure(n_rows: int, height: float, *, width: float = INCHES_WIDE) -> list[Any]:
    """Axes of a new figure, one below the other, with one x axis."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install 'scoresieve[plot]'."
        ) from error
    _, axes = plt.subplots(
        n_rows, 1, figsize=(width, height), layout="constrained", sharex=True, squeeze=False
    )
    return list(axes[:, 0])


def height_of_bars(n_bars: int) -> float:
    """Inches of a figure with this many bars."""
    return INCHES_PER_BAR * n_bars + INCHES_BESIDE


def fewer_spines(ax: Any, *sides: str) -> None:
    """Remove the frame at these sides; by default at the top and on the right."""
    for side in sides or ("top", "right"):
        ax.spines[side].set_visible(False)


def fitted_name(name: str) -> str:
    """A name on one or two lines of an axis; longer ones lose their middle."""
    name = " ".join(str(name).split())
    if len(name) > 2 * LINE_OF_NAME - 2:
        name = f"{name[: LINE_OF_NAME - 2]}…{name[-LINE_OF_NAME + 2 :]}"
    lines = textwrap.wrap(name, LINE_OF_NAME)
    if len(lines) > 2:  # the words leave gaps
        lines = [name[:LINE_OF_NAME], name[LINE_OF_NAME:]]
    return "\n".join(lines).replace("$", r"\$")  # a dollar would begin a formula


def legend_below(ax: Any, n_columns: int = 2, *, of: Any = None) -> None:
    """A legend below the axes, clear of the data; ``of`` other axes, if they are given."""
    handles, labels = (ax if of is None else of).get_legend_handles_labels()
    # Lines with error bars come last by default, but are the main ones.
    order = sorted(range(len(labels)), key=lambda place: not hasattr(handles[place], "has_yerr"))
    handles, labels = [handles[place] for place in order], [labels[place] for place in order]
    if max(map(len, labels)) > LONG_LABEL:  # two columns would take the width of the data
        n_columns = 1
    ax.legend(
        *(handles, labels),
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        ncols=n_columns,
        frameon=False,
        fontsize=9,
    )


def problem_of(model: Any, label: Any) -> tuple[int, Any]:
    """Number and title of one class of a fitted model."""
    about = class_titles(model)
    if label is None and len(about) == 1:
        return 0, about[0][0]
    labels = [each for _, each in about]
    if label not in labels:
        raise ValueError(f"label={label!r} is not a class with a model; choose one of {labels}.")
    return labels.index(label), about[labels.index(label)][0]
