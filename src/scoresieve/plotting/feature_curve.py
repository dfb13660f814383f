"""``FeatureCurveDisplay``: the score against the number of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scoresieve.estimators.sieve.curve import FeatureCurve, feature_curve
from scoresieve.plotting.canvas import LINES, fewer_spines, legend_below, new_axes, problem_of

#: Ratio of the largest to the smallest number of features from which on the axis is logarithmic.
WIDE = 8


class FeatureCurveDisplay:
    """Score of the best setting against the number of features, and the one-standard-error choice.

    A line and its standard errors, a band of one standard error below the best, and a ring around
    the smallest number of features inside of it, which is chosen.

    Parameters
    ----------
    curve : FeatureCurve
    measure : str, default="score"
        What the scores are called.
    rivals : dict of str to (sizes, scores), optional
        Curves of other methods, by name.
    nouns : (str, str), default=("features", "rows")
        What is selected, and what it is scored on.

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
                "cv_results must be a dict, the table of one class; got "
                f"{type(cv_results).__name__}. With several classes, choose one: cv_results_[0]."
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
        """Draw what a fitted sieve has chosen from.

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
        sieve = getattr(model, "model_", model)
        curve = feature_curve(sieve._tables[number], int(sieve._rows[number]))
        display = cls(curve, model.measure_.name, rivals=rivals, nouns=model._nouns)
        return display.plot(ax=ax)

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
            label="best setting, ± one standard error",
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
        ax.set_ylabel(f"{self.measure} on unseen {self.nouns[1]}")
        ax.grid(alpha=0.3)
        fewer_spines(ax)
        legend_below(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _axis(self, ax: Any) -> None:
        """Ticks at the numbers that were tried, as far as they leave room for each other."""
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


def _pair(name: str, pair: Any) -> tuple[Any, Any]:
    sizes, scores = (np.asarray(each, dtype=np.float64) for each in pair)
    if sizes.shape != scores.shape or sizes.ndim != 1 or not sizes.size:
        raise ValueError(
            f"rivals[{name!r}] must be two lists of one length, numbers of features and scores; "
            f"got shapes {sizes.shape} and {scores.shape}."
        )
    return sizes, scores
