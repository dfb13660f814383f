"""``InstanceContributionsDisplay``: which instances of a bag decide about it."""

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
)


class InstanceContributionsDisplay:
    """``f(B) = b + sum_j c_j``: bars of the contributions c_j of the instances of one bag.

    The instances with the largest ``|c_j|`` have a bar each, from the strongest for the class
    to the strongest against it. All others share one bar. A line above tells the decision.

    Parameters
    ----------
    contributions : ndarray of shape (n_instances,)
    intercept : float
        b.
    label : object, optional
        The class that positive contributions speak for.
    names : sequence of str, optional
        What each instance is called; "instance 0" and so on by default.

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
                "contributions must be a 1-D array with one number for each instance; got shape "
                f"{self.contributions.shape}."
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
            One of ``model.classes_``. With two classes the second one by default; with more, or
            several labels, that of the largest decision.
        names : sequence of str, optional
            What each instance is called.
        max_bars : int, default=10
            Instances with a bar of their own.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        contributions = model.instance_scores(bag)
        classes = list(model.classes_)
        if label is not None and label not in classes:
            raise ValueError(f"label={label!r} is not a class of the model; it has {classes}.")
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
        """Intercept and all contributions."""
        return self.intercept + float(self.contributions.sum())

    def bars(self, max_bars: int) -> list[tuple[str, float, str]]:
        """Name, length and colour of each bar, from the top.

        Parameters
        ----------
        max_bars : int
            Instances with a bar of their own; those that contribute nothing have none.
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
        """Draw the bars.

        ``max_bars`` and ``ax`` are as for :meth:`from_estimator`.
        """
        drawn = self.bars(max_bars)
        ax = new_axes(ax, height_of_bars(len(drawn)))
        names, lengths, colours = zip(*drawn, strict=True)
        places = np.arange(len(drawn))
        self.bars_ = ax.barh(places, lengths, color=colours, height=0.7)
        ax.bar_label(self.bars_, fmt="%+.2f", padding=3, fontsize=9)
        ax.set_yticks(places, [fitted_name(name) for name in names])
        ax.invert_yaxis()
        ax.axvline(0.0, color="black", linewidth=0.8)
        ax.margins(x=0.15)
        fewer_spines(ax, "top", "right", "left")
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("contribution to the decision")
        about = "" if self.label is None else f" for class {self.label}"
        ax.set_title(f"decision {self.decision:+.2f}{about}", loc="left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
