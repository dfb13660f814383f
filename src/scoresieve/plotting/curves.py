"""Curves: ``ConvergenceDisplay``, ``FeatureCurveDisplay`` and ``OperatingPointDisplay``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scoresieve.estimators.operating_point import OperatingPoint, operating_points
from scoresieve.estimators.sieve.results import FeatureCurve, feature_curve
from scoresieve.plotting.canvas import (
    AGAINST,
    FOR,
    LINES,
    OTHERS,
    fewer_spines,
    legend_below,
    new_axes,
    new_figure,
    problem_of,
)
from scoresieve.solvers.limits import Progress

#: Ratio of the largest to the smallest number of features from which on the axis is logarithmic.
WIDE = 8


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
                "history has no rounds: the fit needed none, or the model was saved without them; "
                "fit again, or save with_certificate=True."
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
        """Draw the rounds of a fit; with ``n_features_to_select``, those of the relaxed problem.

        Parameters
        ----------
        model : MeasureSVC, BudgetClassifier, BudgetRegressor or BagMeasureSVC
            Fitted.
        label : object, optional
            One of ``model.classes_``; needed with more than two.
        ax, gap_ax : matplotlib Axes, optional
            Where to draw the bounds and the gap; by default on a new figure. With ``ax`` alone, the
            gap is left out.
        """
        proofs = [each.certificate for each in getattr(model, "models_", ())]
        if not any(proofs):
            raise TypeError(
                f"{type(model).__name__} has no history_; draw a MeasureSVC, BudgetClassifier or "
                "BudgetRegressor."
            )
        number, title = problem_of(model, label)
        proof = proofs[number]
        if not np.isnan(proof.refit_gap):  # there is one with a hard budget only
            title = f"{title}, relaxed problem"
        return cls(proof.history or [], title).plot(ax=ax, gap_ax=gap_ax)

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
        # The first bounds are far off and would hide the later ones.
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


class FeatureCurveDisplay:
    """Score of the best setting against the number of features, and the one-standard-error choice.

    The band reaches one standard error below the best score; the ring marks the smallest number of
    features inside the band, which is chosen.

    Parameters
    ----------
    curve : FeatureCurve
    measure : str, default="score"
        Name of the scores.
    rivals : dict of str to (sizes, scores), optional
        Curves of other methods, by name.
    nouns : (str, str), default=("features", "rows")
        What is selected, and what is scored.

    Examples
    --------
    >>> table = {
    ...     "param_n_features_to_select": [1, 2, 4],
    ...     "mean_test_score": [0.5, 0.7, 0.71],
    ...     "std_test_score": [0.02, 0.02, 0.02],
    ... }
    >>> display = FeatureCurveDisplay(feature_curve(table), "f1")
    >>> int(display.curve.sizes[display.curve.chosen])
    2
    """

    def __init__(
        self,
        curve: FeatureCurve,
        measure: str = "score",
        *,
        rivals: Mapping[str, Any] | None = None,
        nouns: tuple[str, str] = ("features", "rows"),
    ) -> None:
        self.curve, self.measure, self.nouns = curve, measure, nouns
        self.rivals = {name: _pair(name, pair) for name, pair in (rivals or {}).items()}

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        *,
        measure: str = "score",
        rivals: Mapping[str, Any] | None = None,
        ax: Any = None,
    ) -> FeatureCurveDisplay:
        """Draw the table of a sieve, or of a grid search over ``n_features_to_select``.

        Parameters
        ----------
        cv_results : dict
            ``cv_results_``, of one class.
        measure, rivals
            As for the class.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        if not isinstance(cv_results, Mapping):
            raise TypeError(
                f"cv_results is a {type(cv_results).__name__}; pass the dict of one class. With "
                "several classes, choose one: cv_results_[0]."
            )
        return cls(feature_curve(cv_results), measure, rivals=rivals).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        label: Any = None,
        rivals: Mapping[str, Any] | None = None,
        ax: Any = None,
    ) -> FeatureCurveDisplay:
        """Draw the scores of a fitted sieve.

        Parameters
        ----------
        model : ScoreSieve or BagScoreSieve
        label : object, optional
            One of ``model.classes_``; needed with more than two.
        rivals, ax
            As for :meth:`from_cv_results`.
        """
        if not hasattr(model, "cv_results_"):
            raise TypeError(
                f"{type(model).__name__} has no cv_results_; fit a ScoreSieve, or give the scores "
                "to from_cv_results."
            )
        number, _ = problem_of(model, label)
        choice = model.models_[number].choice
        nouns = model.summary(max_features=1).parts[number].nouns
        curve = feature_curve(choice.table, choice.row)
        return cls(curve, model.measure_.name, rivals=rivals, nouns=nouns).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> FeatureCurveDisplay:
        """Draw; ``ax`` as for :meth:`from_cv_results`."""
        ax, curve = new_axes(ax), self.curve
        colour, marker, style = LINES[0]
        self.line_ = ax.errorbar(
            *(curve.sizes, curve.scores, curve.errors),
            color=colour,
            marker=marker,
            linestyle=style,
            capsize=3,
            elinewidth=1,
            label="best setting ± one standard error",
        )
        others = zip(self.rivals.items(), LINES[1:] * (1 + len(self.rivals) // 5), strict=False)
        for (name, (sizes, scores)), (colour_, marker_, style_) in others:
            ax.plot(sizes, scores, color=colour_, marker=marker_, linestyle=style_, label=name)
        ax.axhspan(
            *(curve.floor, curve.scores[curve.best]),
            color=LINES[0][0],
            alpha=0.12,
            linewidth=0,
            label="within one standard error of the best",
        )
        chosen = curve.sizes[curve.chosen], curve.scores[curve.chosen]
        n = f"{chosen[0]} {self.nouns[0][:-1] if chosen[0] == 1 else self.nouns[0]}"
        ax.plot(
            *chosen,
            marker="o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor="black",
            markeredgewidth=1.5,
            linestyle="none",
            label=f"chosen: {n}",
        )
        self._axis(ax)
        ax.set_ylabel(f"{self.measure} on held-out {self.nouns[1]}")
        ax.grid(alpha=0.3)
        fewer_spines(ax)
        legend_below(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _axis(self, ax: Any) -> None:
        """Ticks at the numbers that were tried, where there is room."""
        sizes = self.curve.sizes
        is_wide = sizes[-1] >= WIDE * sizes[0]
        if is_wide:
            ax.set_xscale("log")
        places = np.log(sizes) if is_wide else sizes.astype(float)
        room, kept = (places[-1] - places[0]) / 16, [0]
        for number in range(1, sizes.size):
            if places[number] - places[kept[-1]] >= room:
                kept.append(number)
        ax.set_xticks(sizes[kept], [str(size) for size in sizes[kept]])
        ax.minorticks_off()
        ax.set_xlabel(f"number of {self.nouns[0]}")


class OperatingPointDisplay:
    """The precision-recall curve, the model's threshold on it, and the line of its price.

    All points of the line are worth the same as the model if a false alarm costs ``price_`` missed
    positives; points above it are better. For F1 at its own price it is the line of equal F1.

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
        """Draw the operating point of a fitted classifier on these rows.

        Parameters
        ----------
        model : estimator
            A classifier of this package.
        X, y
            Rows, preferably held-out ones, and their labels.
        label : object, optional
            One of ``model.classes_``; needed with more than two.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        number, title = problem_of(model, label)
        point = operating_points(model, X, y)[number]
        if point is None:
            raise ValueError(
                f"y has no row of {title}, or no other row, so precision and recall are undefined; "
                "give rows of both."
            )
        return cls(point, title).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> OperatingPointDisplay:
        """Draw; ``ax`` as for :meth:`from_estimator`."""
        ax, point = new_axes(ax, 5.0), self.point
        # Precision jumps between thresholds, so steps and not lines.
        self.curve_ = ax.step(
            point.recalls, point.precisions, where="post", color=FOR, label="all thresholds"
        )[0]
        share = point.n_positives / point.n_samples
        ax.axhline(share, color=OTHERS, linestyle=":", label=f"random predictions: {share:.2g}")
        recalls, precisions = point.price_line()
        if recalls.size:
            text = f"worth the same if a false alarm costs {point.price:.2g} missed positives"
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
        ax.set_ylabel("precision")
        ax.set_title(self.title, loc="left", fontsize=11)
        ax.grid(alpha=0.3)
        fewer_spines(ax)
        legend_below(ax, 1)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _pair(name: str, pair: Any) -> tuple[Any, Any]:
    sizes, scores = (np.asarray(each, dtype=np.float64) for each in pair)
    if sizes.shape != scores.shape or sizes.ndim != 1 or not sizes.size:
        raise ValueError(
            f"rivals[{name!r}] has shapes {sizes.shape} and {scores.shape}; give two lists of one "
            "length, numbers of features and scores."
        )
    return sizes, scores
