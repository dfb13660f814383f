"""``OperatingPointDisplay``: precision against recall, where the model works, and its price."""

from __future__ import annotations

from typing import Any

from scoresieve.estimators.operating_point import OperatingPoint, operating_points
from scoresieve.plotting.canvas import (
    AGAINST,
    FOR,
    OTHERS,
    fewer_spines,
    legend_below,
    new_axes,
    problem_of,
)


class OperatingPointDisplay:
    """The precision-recall curve, the point of the model's threshold, and the line of its price.

    Along the line a false alarm more is worth as many hits as the price says: every point above it
    is better than the model at this price. For F1 and its own price it is the line of equal F1.

    Parameters
    ----------
    point : OperatingPoint
    title : str, default=""
    """

    def __init__(self, point: OperatingPoint, title: str = "") -> None:
        self.point, self.title = point, title

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, label: Any = None, ax: Any = None
    ) -> OperatingPointDisplay:
        """Draw what a fitted classifier does with these rows.

        Parameters
        ----------
        model : estimator
            A classifier of this package.
        X, y
            Rows, best those that the model has not seen, and their labels.
        label : object, optional
            One of ``model.classes_``; needed with more than two.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        number, title = problem_of(model, label)
        point = operating_points(model, X, y)[number]
        if point is None:
            raise ValueError(
                f"y has no row of {title}, or no other row, so that precision and recall mean "
                "nothing; give rows of both."
            )
        return cls(point, title).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> OperatingPointDisplay:
        """Draw; ``ax`` as for :meth:`from_estimator`."""
        ax, point = new_axes(ax, 5.0), self.point
        # Precision jumps between thresholds; steps promise no more than what was seen.
        self.curve_ = ax.step(
            point.recalls, point.precisions, where="post", color=FOR, label="all thresholds"
        )[0]
        share = point.n_positives / point.n_samples
        ax.axhline(share, color=OTHERS, linestyle=":", label=f"alarms at random: {share:.2g}")
        recalls, precisions = point.price_line()
        if recalls.size:
            text = f"worth the same, if a false alarm costs {point.price:.2g} of a miss"
            ax.plot(recalls, precisions, color=AGAINST, linestyle="--", label=text)
        ax.plot(
            *(point.recall, point.precision),
            marker="o",
            markersize=9,
            color="black",
            linestyle="none",
            label=f"the model: recall {point.recall:.2f}, precision {point.precision:.2f}",
        )
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.05))
        ax.set_xlabel(f"recall of {point.n_positives} positives")
        ax.set_ylabel("precision of the alarms")
        ax.set_title(self.title, loc="left", fontsize=11)
        ax.grid(alpha=0.3)
        fewer_spines(ax)
        legend_below(ax, 1)
        self.ax_, self.figure_ = ax, ax.figure
        return self
