"""Dots: ``FeaturePathDisplay``, ``SupportsDisplay``, features of several models side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array, FloatArray
from scoresieve._checks import check_count
from scoresieve.estimators.summary.mixin import check_feature_names, column_names
from scoresieve.plotting.canvas import (
    AGAINST,
    FOR,
    INCHES_WIDE,
    fewer_spines,
    fitted_name,
    height_of_bars,
    new_axes,
    problem_of,
)

#: Inches of a row of dots, less than those of a bar.
ROW_SHARE, INCHES_PER_COLUMN = 0.8, 0.75


class DotsDisplay:
    """A dot for the weight of each feature in each of several models.

    Parameters
    ----------
    weights : ndarray of shape (n_models, n_selected)
        Of the features that some model has; 0 where a model lacks one.
    names : sequence of str
        Names of the features.
    models : sequence of str
        Names of the models.
    """

    x_label = "model"

    def __init__(self, weights: Any, names: Sequence[str], models: Sequence[str]) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.weights.shape != (len(models), len(names)) or not self.weights.size:
            raise ValueError(
                f"weights has shape {self.weights.shape}, but there are {len(models)} models and "
                f"{len(names)} features; give a row for each model, a column for each feature."
            )
        self.names, self.models = [str(name) for name in names], [str(each) for each in models]

    @classmethod
    def _of_rows(cls, coefs: Any, names: Array, models: Sequence[Any]) -> Any:
        """With the columns that some row has a weight for."""
        rows = sp.csr_array(coefs)
        used = np.unique(rows.indices[rows.data != 0.0])
        if not used.size:
            raise ValueError("the models have no features, so there is nothing to draw; raise C.")
        return cls(rows[:, used].toarray(), names[used], [str(model) for model in models])

    def _order(self) -> Any:
        """Features by how many models have them, then by their weight."""
        shares = relative(self.weights)
        return np.lexsort((-shares.max(axis=0), -np.count_nonzero(self.weights, axis=0)))

    def plot(self, *, max_features: int = 40, ax: Any = None) -> Any:
        """Draw.

        Parameters
        ----------
        max_features : int, default=40
            Features shown: those of most models first, then those with the largest weights.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        shown = self._order()[: check_count(max_features, "max_features")]
        width = max(INCHES_WIDE, 3.0 + INCHES_PER_COLUMN * len(self.models))
        ax = new_axes(ax, height_of_bars(ROW_SHARE * shown.size) + 0.5, width=width)
        names = [self.names[place] for place in shown]
        self.dots_ = dot_matrix(
            ax, self.weights[:, shown].T, names, self.models, x_label=self.x_label
        )
        n = len(self.names)
        rest = f", {shown.size} of {n} features" if n > shown.size else ""
        ax.set_title(f"area: weight relative to the largest of its column{rest}", fontsize=10)
        handles, texts = ax.get_legend_handles_labels()
        ax.legend(handles, texts, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class FeaturePathDisplay(DotsDisplay):
    """Which features stay as their number grows: a column for each number, a row for each feature.

    Rows are in the order in which features enter, the first on top.
    """

    x_label = "number of features"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        feature_names: Any = None,
        label: Any = None,
        max_features: int = 40,
        ax: Any = None,
    ) -> FeaturePathDisplay:
        """Draw the models of a fitted sieve with fewer features, up to its own.

        Parameters
        ----------
        model : ScoreSieve
            Fitted with several values of ``n_features_to_select``.
        feature_names : array-like of shape (n_features,), optional
        label : object, optional
            One of ``model.classes_``; needed with more than two.
        max_features, ax
            As for :meth:`plot`.
        """
        kept = [one.choice for one in getattr(model, "models_", ()) if one.choice is not None]
        if not any(choice.smaller for choice in kept):
            raise TypeError(
                f"{type(model).__name__} keeps no models with fewer features; fit a ScoreSieve "
                "with several n_features_to_select, or give a budget_path to from_path."
            )
        number, _ = problem_of(model, label)
        smaller, names = kept[number].smaller, column_names(model, feature_names)
        sizes = kept[number].table["param_n_features_to_select"]
        coefs = np.array([one.scattered(names.size) for one in smaller])
        models = [sizes[one.choice.row] for one in smaller]
        return cls._of_rows(coefs, names, models).plot(max_features=max_features, ax=ax)

    @classmethod
    def from_path(
        cls, path: Any, *, feature_names: Any = None, max_features: int = 40, ax: Any = None
    ) -> FeaturePathDisplay:
        """Draw the models of a :class:`~scoresieve.BudgetPath`, by ascending budgets."""
        names = check_feature_names(feature_names, path.coefs.shape[1])
        order = np.argsort(path.budgets, kind="stable")
        display = cls._of_rows(path.coefs[order], names, path.budgets[order])
        display.x_label = "budget"
        return display.plot(max_features=max_features, ax=ax)

    def _order(self) -> Any:
        first = np.argmax(self.weights != 0.0, axis=0)
        return np.lexsort((-relative(self.weights).max(axis=0), first))


class SupportsDisplay(DotsDisplay):
    """The features of several classes: a column for each class, those that most share on top."""

    x_label = "class"

    @classmethod
    def from_estimator(
        cls, model: Any, *, feature_names: Any = None, max_features: int = 40, ax: Any = None
    ) -> SupportsDisplay:
        """Draw the features of each class of a fitted model.

        Parameters
        ----------
        model : estimator
            Any of this package with ``supports_``.
        feature_names : array-like of shape (n_features,), optional
        max_features, ax
            As for :meth:`plot`.
        """
        if not hasattr(model, "supports_"):
            raise TypeError(f"{type(model).__name__} has no supports_; draw a model of classes.")
        parts = model.summary(feature_names).parts
        names = {each.column: each.name for part in parts for each in part.weights}
        place = {column: at for at, column in enumerate(sorted(names))}
        coefs = np.zeros((len(parts), len(place)))
        for row, part in zip(coefs, parts, strict=True):
            row[[place[each.column] for each in part.weights]] = [w.weight for w in part.weights]
        used = np.array([names[column] for column in place], dtype=object)
        display = cls._of_rows(coefs, used, [part.label for part in parts])
        return display.plot(max_features=max_features, ax=ax)


def dot_matrix(
    ax: Any, weights: FloatArray, rows: list[str], columns: list[str], *, x_label: str
) -> Any:
    """Dots of the weights, by area: blue and round for, orange and square against.

    A weight of 0 has no dot. Each column of ``weights`` has its own scale.
    """
    shares, drawn = relative(weights.T).T, []
    for is_seen, colour, marker, text in (
        (weights > 0, FOR, "o", "for"),
        (weights < 0, AGAINST, "s", "against"),
    ):
        y, x = np.nonzero(is_seen)
        area = 12.0 + 88.0 * shares[y, x]
        drawn.append(ax.scatter(x, y, s=area, c=colour, marker=marker, linewidths=0, label=text))
    ax.set_yticks(np.arange(len(rows)), [fitted_name(name) for name in rows], fontsize=9)
    ax.set_xticks(np.arange(len(columns)), [fitted_name(name) for name in columns])
    ax.set_xlim(-0.6, len(columns) - 0.4)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(length=0)
    ax.set_xlabel(x_label)
    fewer_spines(ax, "top", "right", "left", "bottom")
    return drawn


def relative(weights: FloatArray) -> FloatArray:
    """The size of each weight by the largest of its model."""
    largest = np.abs(weights).max(axis=1, keepdims=True)
    return np.abs(weights) / np.where(largest > 0.0, largest, 1.0)
