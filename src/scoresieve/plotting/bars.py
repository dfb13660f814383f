"""Bars: ``WeightsDisplay`` of a model, ``InstanceContributionsDisplay`` of a bag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_count
from scoresieve.plotting.canvas import (
    AGAINST,
    FOR,
    OTHERS,
    fewer_spines,
    fitted_name,
    height_of_bars,
    new_axes,
    problem_of,
)


def draw_bars(
    ax: Any, names: Sequence[str], lengths: Any, colours: Any, form: str
) -> tuple[Any, Any]:
    """Axes with a bar for each name, its length written beside it; and the bars."""
    ax, places = new_axes(ax, height_of_bars(len(names))), np.arange(len(names))
    bars = ax.barh(places, lengths, color=colours, height=0.7)
    ax.bar_label(bars, [format(length, form) for length in lengths], padding=3, fontsize=9)
    ax.set_yticks(places, [fitted_name(name) for name in names])
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.margins(x=0.16)
    fewer_spines(ax, "top", "right", "left")
    ax.tick_params(axis="y", length=0)
    return ax, bars


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
                f"there are {len(names)} names for weights of shape {self.weights.shape}; give one "
                "name for each weight, and at least one."
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
            raise ValueError(f"{part.title}: the model has no features, so no weights; raise C.")
        names = [each.name for each in part.weights]
        weights = [each.weight for each in part.weights]
        return cls(names, weights, part.title).plot(max_bars=max_bars, ax=ax)

    def plot(self, *, max_bars: int = 30, ax: Any = None) -> WeightsDisplay:
        """Draw; arguments as for :meth:`from_estimator`."""
        order = np.argsort(-np.abs(self.weights), kind="stable")
        shown = order[: check_count(max_bars, "max_bars")]
        lengths = self.weights[shown]
        colours = np.where(lengths >= 0.0, FOR, AGAINST)
        names = [self.names[place] for place in shown]
        ax, self.bars_ = draw_bars(ax, names, lengths, colours, "+.3g")
        for bar, length in zip(self.bars_, lengths, strict=True):
            bar.set_hatch("" if length >= 0.0 else "///")
            bar.set_edgecolor("white")
            bar.set_linewidth(0.0)
        n_left, about = order.size - shown.size, self.title or "weights"
        rest = f", the largest {shown.size} of {order.size}" if n_left else ""
        ax.set_ylim(shown.size - 0.4, -0.6)
        ax.set_xlabel("weight; hatched: against the class")
        ax.set_title(f"{about}{rest}", loc="left", fontsize=11)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class InstanceContributionsDisplay:
    """``f(B) = b + sum_j c_j``: bars of the contributions c_j of the instances of one bag.

    The instances with the largest ``|c_j|`` have a bar each, from the strongest for the class
    to the strongest against it. All others share one bar. The title shows the decision.

    Parameters
    ----------
    contributions : ndarray of shape (n_instances,)
    intercept : float
        b.
    label : object, optional
        The class that positive contributions are for.
    names : sequence of str, optional
        Names of the instances; by default "instance 0" and so on.

    Examples
    --------
    >>> import numpy as np
    >>> display = InstanceContributionsDisplay(np.array([0.1, 2.0, -0.7]), intercept=-1.0)
    >>> round(display.decision, 6)
    0.4
    """

    def __init__(
        self,
        contributions: FloatArray,
        intercept: float = 0.0,
        *,
        label: Any = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.contributions = np.asarray(contributions, dtype=np.float64)
        if self.contributions.ndim != 1 or self.contributions.size == 0:
            raise ValueError(
                f"contributions has shape {self.contributions.shape}; give a 1-D array with one "
                "number for each instance."
            )
        self.intercept = float(intercept)
        self.label = label
        if names is None:
            names = [f"instance {place}" for place in range(self.contributions.size)]
        self.names = [str(name) for name in names]
        if len(self.names) != self.contributions.size:
            raise ValueError(
                f"names has {len(self.names)} entries, but the bag has {self.contributions.size} "
                "instances; give one name for each instance."
            )

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        bag: Any,
        *,
        label: Any = None,
        names: Sequence[str] | None = None,
        max_bars: int = 10,
        ax: Any = None,
    ) -> InstanceContributionsDisplay:
        """Draw the contributions of the instances of one bag.

        Parameters
        ----------
        model : BagMeasureSVC, BagScoreSieve or MILES
            Fitted.
        bag : array-like or CSR array of shape (n_instances, n_columns)
        label : object, optional
            One of ``model.classes_``. Default: the second of two classes, or the one with the
            largest decision of several.
        names : sequence of str, optional
            Names of the instances.
        max_bars : int, default=10
            Instances with a bar of their own.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        contributions = model.instance_scores(bag)
        classes = list(model.classes_)
        if label is not None and label not in classes:
            raise ValueError(
                f"label={label!r} is not a class of the model; choose one of {classes}."
            )
        if contributions.ndim == 1:
            sign = -1.0 if label is not None and label == classes[0] else 1.0
            contributions, intercept = sign * contributions, sign * float(model.intercept_[0])
            label = classes[0] if sign < 0 else classes[1]
        else:
            decisions = contributions.sum(axis=0) + model.intercept_
            problem = int(np.argmax(decisions)) if label is None else classes.index(label)
            contributions, intercept = contributions[:, problem], float(model.intercept_[problem])
            label = classes[problem]
        display = cls(contributions, intercept, label=label, names=names)
        return display.plot(max_bars=max_bars, ax=ax)

    @property
    def decision(self) -> float:
        """The intercept plus all contributions."""
        return self.intercept + float(self.contributions.sum())

    def bars(self, max_bars: int) -> list[tuple[str, float, str]]:
        """Name, length and colour of each bar from the top; at most ``max_bars`` are of instances.

        Instances that contribute nothing have no bar of their own.
        """
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        n_chosen = min(check_count(max_bars, "max_bars"), np.count_nonzero(self.contributions))
        chosen, others = order[:n_chosen], order[n_chosen:]
        chosen = chosen[np.argsort(-self.contributions[chosen], kind="stable")]
        drawn = [
            (self.names[place], value, FOR if value >= 0 else AGAINST)
            for place, value in zip(chosen, self.contributions[chosen], strict=True)
        ]
        if others.size:
            total = float(self.contributions[others].sum())
            name = "1 other instance" if others.size == 1 else f"{others.size} other instances"
            drawn.append((name, total, OTHERS))
        return [*drawn, ("intercept", self.intercept, OTHERS)]

    def plot(self, *, max_bars: int = 10, ax: Any = None) -> InstanceContributionsDisplay:
        """Draw; arguments as for :meth:`from_estimator`."""
        names, lengths, colours = zip(*self.bars(max_bars), strict=True)
        ax, self.bars_ = draw_bars(ax, names, lengths, colours, "+.2f")
        ax.invert_yaxis()
        ax.set_xlabel("contribution to the decision")
        about = "" if self.label is None else f" for class {self.label}"
        ax.set_title(f"decision {self.decision:+.2f}{about}", loc="left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
