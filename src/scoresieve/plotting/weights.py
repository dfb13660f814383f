"""``WeightsDisplay``: the weights of the selected features as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scoresieve._checks import check_count
from scoresieve.plotting.canvas import (
    AGAINST,
    FOR,
    fewer_spines,
    fitted_name,
    height_of_bars,
    new_axes,
    problem_of,
)


class WeightsDisplay:
    """Bars of the largest weights, for and against the class.

    Parameters
    ----------
    names : sequence of str
    weights : array-like of shape (n_selected,)
    title : str, default=""
    """

    def __init__(self, names: Sequence[str], weights: Any, title: str = "") -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.weights.ndim != 1 or len(names) != self.weights.size or not len(names):
            raise ValueError(
                f"names and weights must be of one length of at least 1; got {len(names)} names "
                f"and weights of shape {self.weights.shape}."
            )
        self.names, self.title = [str(name) for name in names], title

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        feature_names: Any = None,
        label: Any = None,
        max_bars: int = 30,
        ax: Any = None,
    ) -> WeightsDisplay:
        """Draw the weights of a fitted model.

        Parameters
        ----------
        model : estimator
            Any of this package.
        feature_names : array-like of shape (n_features,), optional
            As for ``model.summary``.
        label : object, optional
            One of ``model.classes_``; needed with more than two.
        max_bars : int, default=30
            Features with a bar.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        number, _ = problem_of(model, label)
        part = model.summary(feature_names).parts[number]
        if not part.weights:
            raise ValueError(f"{part.title}: the model has no features, so no weights to draw.")
        names, weights = zip(*part.weights, strict=True)
        return cls(names, weights, part.title).plot(max_bars=max_bars, ax=ax)

    def plot(self, *, max_bars: int = 30, ax: Any = None) -> WeightsDisplay:
        """Draw; arguments as for :meth:`from_estimator`."""
        order = np.argsort(-np.abs(self.weights), kind="stable")
        shown = order[: check_count(max_bars, "max_bars")]
        ax = new_axes(ax, height_of_bars(shown.size))
        places, lengths = np.arange(shown.size), self.weights[shown]
        colours = np.where(lengths >= 0.0, FOR, AGAINST)
        self.bars_ = ax.barh(places, lengths, color=colours, height=0.7)
        for bar, length in zip(self.bars_, lengths, strict=True):
            bar.set_hatch("" if length >= 0.0 else "///")
            bar.set_edgecolor("white")
            bar.set_linewidth(0.0)
        ax.bar_label(self.bars_, [f"{length:+.3g}" for length in lengths], padding=3, fontsize=9)
        ax.set_yticks(places, [fitted_name(self.names[place]) for place in shown])
        ax.axvline(0.0, color="black", linewidth=0.8)
        ax.margins(x=0.16)
        fewer_spines(ax, "top", "right", "left")
        ax.tick_params(axis="y", length=0)
        n_left, about = order.size - shown.size, self.title or "weights"
        rest = f", the largest {shown.size} of {order.size}" if n_left else ""
        ax.set_ylim(shown.size - 0.4, -0.6)
        ax.set_xlabel("weight; hatched: against the class")
        ax.set_title(f"{about}{rest}", loc="left", fontsize=11)
        self.ax_, self.figure_ = ax, ax.figure
        return self
