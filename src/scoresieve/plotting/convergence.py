"""``ConvergenceDisplay``: primal, dual and gap of the rounds of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scoresieve.plotting.canvas import (
    AGAINST,
    FOR,
    OTHERS,
    fewer_spines,
    legend_below,
    new_figure,
    problem_of,
)
from scoresieve.solvers.limits import Progress


class ConvergenceDisplay:
    """``D <= min J <= J(w)`` round by round, and ``(J - D) / J`` below.

    Parameters
    ----------
    history : sequence of Progress
        ``history_`` of one problem.
    title : str, default=""
    """

    def __init__(self, history: Sequence[Progress], title: str = "") -> None:
        if not history:
            raise ValueError(
                "history has no rounds: the model was solved without any, or saved without its "
                "history; fit it, or save with_certificate=True."
            )
        self.title = title
        self.rounds = np.array([row.iteration for row in history])
        self.primal = np.array([row.primal for row in history])
        self.dual = np.array([row.dual for row in history])
        self.gap = np.array([row.gap for row in history])

    @classmethod
    def from_estimator(
        cls, model: Any, *, label: Any = None, ax: Any = None, gap_ax: Any = None
    ) -> ConvergenceDisplay:
        """Draw the rounds of a fit; with ``n_features_to_select`` those of the relaxed problem.

        Parameters
        ----------
        model : MeasureSVC, BudgetClassifier, BudgetRegressor or BagMeasureSVC
            Fitted, with its certificate.
        label : object, optional
            One of ``model.classes_``; needed with more than two.
        ax, gap_ax : matplotlib Axes, optional
            Where to draw the bounds, and the gap; by default on a new figure, one below the other.
            With ``ax`` alone, the bounds alone.
        """
        if not hasattr(model, "history_"):
            raise TypeError(
                f"{type(model).__name__} has no history_; rounds are those of MeasureSVC, "
                "BudgetClassifier and BudgetRegressor."
            )
        number, title = problem_of(model, label)
        is_one = np.isscalar(model.gap_)
        history = model.history_ if is_one else model.history_[number]
        fitted = getattr(model, "model_", model)
        if fitted.n_features_to_select is not None:
            title = f"{title}, relaxed problem"
        return cls(history or [], title).plot(ax=ax, gap_ax=gap_ax)

    def plot(self, *, ax: Any = None, gap_ax: Any = None) -> ConvergenceDisplay:
        """Draw; arguments as for :meth:`from_estimator`."""
        if ax is None:
            ax, gap_ax = new_figure(2, 5.6)
        marker = "o" if self.rounds.size < 25 else ""
        lines: dict[str, Any] = {"marker": marker, "markersize": 3.5}
        ax.plot(self.rounds, self.primal, color=AGAINST, **lines, label="objective of the model")
        ax.plot(
            self.rounds,
            self.dual,
            color=FOR,
            linestyle="--",
            **lines,
            label="certified lower bound",
        )
        ax.fill_between(self.rounds, self.dual, self.primal, color=OTHERS, alpha=0.2, linewidth=0)
        ax.set_ylabel("training objective")
        # The first bounds say nothing; what happens later is to be seen.
        lowest = np.quantile(self.dual, 0.1) if self.dual.size > 10 else self.dual.min()
        highest = np.quantile(self.primal, 0.9) if self.primal.size > 10 else self.primal.max()
        room = 0.08 * max(highest - lowest, 1e-12)
        ax.set_ylim(lowest - room, highest + room)
        n = f"{self.rounds[-1]} round{'s' if self.rounds[-1] != 1 else ''}"
        about = f"{self.title}: " if self.title else ""
        ax.set_title(f"{about}gap {100 * self.gap[-1]:.2g} % after {n}", loc="left", fontsize=11)
        if gap_ax is not None:
            self._plot_gap(gap_ax)
        last = ax if gap_ax is None else gap_ax
        last.set_xlabel("round")
        last.xaxis.get_major_locator().set_params(integer=True)
        fewer_spines(ax)
        legend_below(last, of=ax)
        self.ax_, self.gap_ax_, self.figure_ = ax, gap_ax, ax.figure
        return self

    def _plot_gap(self, ax: Any) -> None:
        shown = self.gap > 0.0
        ax.plot(self.rounds[shown], 100.0 * self.gap[shown], color="black")
        ax.set_yscale("log", subs=[2, 3, 5])
        ax.yaxis.set_minor_formatter(lambda value, _: f"{value:g} %")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
        ax.set_ylabel("relative gap")
        ax.grid(alpha=0.3, which="both")
        fewer_spines(ax)
