"""``summary()`` and ``report()`` of every estimator, in one place."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve._checks import check_count
from scoresieve.estimators.summary.parts import MAX_FEATURES, Fact, Part, Summary, Weight

#: A leaf, which builds on the estimators: they must not import it, and ask for it by this name when
#: somebody wants a report.
REPORT = "scoresieve.report"


class SummaryMixin:
    """What a fitted model says of itself.

    Conventions
    -----------
    A class has ``_facts(problem)``, the sentences about one of its problems, and ``_problems()``,
    the titles and labels of all of them. ``_weights_of(problem)`` gives selected columns with their
    weights, by default those of ``supports_``.
    """

    #: What is selected, and what it is selected on.
    _nouns = ("features", "rows")
    n_features_in_: int

    def summary(
        self, feature_names: ArrayLike | None = None, *, max_features: int = MAX_FEATURES
    ) -> Summary:
        """What was selected, how it scores where, and what is proved, in words.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), optional
            Names of the columns; by default those of the data frame that the model was fitted on,
            or their numbers.
        max_features : int, default=50
            How many features of each class the text and the table list.

        Returns
        -------
        Summary
            ``print`` it, let a notebook show it, or take ``as_dict()``.
        """
        check_is_fitted(self, "coef_")
        check_count(max_features, "max_features")
        names = self._column_names(feature_names)
        parts = tuple(
            self._part(problem, *about, names) for problem, about in enumerate(self._problems())
        )
        return Summary(f"{type(self).__name__}{self._trained_for()}", parts, max_features)

    def report(
        self,
        path: str | os.PathLike,
        X_test: Any = None,
        y_test: Any = None,
        *,
        feature_names: ArrayLike | None = None,
        title: str | None = None,
    ) -> None:
        """Write one HTML page about the fitted model; see :func:`scoresieve.report.write_report`.

        Parameters
        ----------
        path : path
            Of the page. It replaces an older one only when it is complete.
        X_test, y_test : optional
            Rows that the model has not seen, for the confusion matrix and precision-recall curve.
        feature_names : array-like of shape (n_features,), optional
            As for :meth:`summary`.
        title : str, optional
            Heading of the page.
        """
        write_report = importlib.import_module(REPORT).write_report
        write_report(self, path, X_test, y_test, feature_names=feature_names, title=title)

    def _trained_for(self) -> str:
        """What was optimised, for the title."""
        for name in ("measure_", "loss_"):
            if hasattr(self, name):
                kind = getattr(self, name)
                return f" for {kind.name}" if name == "measure_" else f", loss {kind.name}"
        return ""

    def _problems(self) -> Sequence[tuple[str, Any]]:
        """Title and label of each problem."""
        targets: Any = self._targets  # type: ignore[attr-defined]
        labels = (
            targets.classes[[targets.positive]] if targets.kind == "binary" else targets.classes
        )
        return [(f"class {targets.name(n)}", plain(label)) for n, label in enumerate(labels)]

    def _facts(self, problem: int) -> list[Fact]:
        """What is known of the model of a problem; each kind of estimator has its own."""
        raise NotImplementedError(f"{type(self).__name__} must say what its summary is made of.")

    def _weights_of(self, problem: int) -> tuple[IntArray, FloatArray]:
        """Selected columns and their weights, for the positive class."""
        model: Any = self
        columns: IntArray = model.supports_[problem]
        # The columns of one row: all others may be millions.
        weights = model.coef_[[problem]][:, columns]
        weights = weights.toarray() if sp.issparse(weights) else weights
        return columns, model._targets.sign * weights[0]

    def _column_names(self, feature_names: ArrayLike | None) -> Array:
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", None)
        return check_feature_names(feature_names, self.n_features_in_)

    def _n_columns(self) -> int | None:
        """How many columns there were to select from."""
        return self.n_features_in_

    def _part(self, problem: int, title: str, label: Any, names: Array) -> Part:
        columns, weights = self._weights_of(problem)
        return Part(
            title,
            label,
            named_weights(names[columns], weights),
            self._n_columns(),
            self._nouns[0],
            tuple(self._facts(problem)),
        )


def check_feature_names(feature_names: ArrayLike | None, n_features: int) -> Array:
    """One name for each column, by default its number."""
    if feature_names is None:
        return np.arange(n_features)
    names = np.asarray(feature_names)
    if names.shape != (n_features,):
        raise ValueError(
            f"feature_names has shape {names.shape}, but the model was fitted on {n_features} "
            "columns; give one name for each."
        )
    return names


def named_weights(names: Any, weights: FloatArray) -> tuple[Weight, ...]:
    """Names with weights, the largest first."""
    order = np.argsort(-np.abs(weights), kind="stable")
    return tuple(Weight(str(names[place]), float(weights[place])) for place in order)


def plain(label: Any) -> Any:
    """A label as plain data: numbers and truth values of Python, else text."""
    label = label.item() if isinstance(label, np.generic) else label
    return label if isinstance(label, bool | int | float | str) else str(label)
