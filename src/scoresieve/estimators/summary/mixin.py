"""``summary()`` and ``report()`` of every estimator, in one place."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import Array
from scoresieve._checks import check_count
from scoresieve.estimators.model import ClassModel
from scoresieve.estimators.summary.parts import (
    MAX_FEATURES,
    Fact,
    Part,
    Summary,
    Weight,
    overview_of,
)
from scoresieve.estimators.targets import plain_label

#: A leaf, which builds on the estimators: they must not import it, and ask for it by this name when
#: somebody wants a report.
REPORT = "scoresieve.report"


class SummaryMixin:
    """A fitted model in words.

    Conventions
    -----------
    A class has ``_facts``, a function of :mod:`scoresieve.estimators.summary.facts`.
    """

    models_: tuple[ClassModel, ...]
    n_features_in_: int
    #: The places of a model's columns among the names of columns.
    _numbered: Callable[[ClassModel], Array]
    #: What is selected, and what it is selected on.
    _nouns = ("features", "rows")
    #: What is known of one of the models, in the words for columns and rows.
    _facts: Callable[[ClassModel, tuple[str, str]], list[Fact]]

    def summary(
        self,
        feature_names: ArrayLike | None = None,
        *,
        max_features: int = MAX_FEATURES,
        label: Any = None,
    ) -> Summary:
        """What was selected, how it scores where, and what is proved, in words.

        Of several classes the text is an overview; ``label`` asks for the details of one.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), optional
            Names of the columns; by default those of the data frame that the model was fitted on,
            or their numbers.
        max_features : int, default=50
            How many features of each class the text and the table list.
        label : object, optional
            One of several classes, for its features and facts alone.

        Returns
        -------
        Summary
            ``print`` it, let a notebook show it, or take ``as_dict()``.
        """
        check_is_fitted(self, "models_")
        check_count(max_features, "max_features")
        names = self._column_names(feature_names)
        titles = class_titles(self)
        parts = tuple(
            Part(
                *title,
                named_weights(names, self._numbered(model), model.weights, vetoes_in_words(model)),
                self._n_columns(),
                self._nouns,
                tuple(self._facts(model, self._nouns)),
            )
            for title, model in zip(titles, self.models_, strict=True)
        )
        title = f"{type(self).__name__}{trained_for(self)}"
        if label is not None:
            return Summary(title, (part_of_class(parts, label),), max_features)
        if len(parts) == 1:
            return Summary(title, parts, max_features)
        details = f"summary(label={parts[0].label!r}) shows the {self._nouns[0]} of one class"
        return Summary(title, parts, max_features, overview_of(parts, details))

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

    def _column_names(self, feature_names: ArrayLike | None) -> Array:
        """The names of what is selected from."""
        return column_names(self, feature_names)

    def _n_columns(self) -> int | None:
        """How many columns there were to select from; None if that is not known."""
        return self.n_features_in_


def part_of_class(parts: tuple[Part, ...], label: Any) -> Part:
    """The part of one class."""
    for part in parts:
        if part.label == plain_label(label):
            return part
    known = ", ".join(repr(part.label) for part in parts)
    raise ValueError(f"label={label!r} has no model; use one of {known}.")


def class_titles(estimator: Any) -> list[tuple[str, Any]]:
    """Title and label of each model of a fitted estimator."""
    targets = getattr(estimator, "targets_", None)
    return [("regression", None)] if targets is None else targets.titles()


def column_names(estimator: Any, feature_names: ArrayLike | None = None) -> Array:
    """The names given for the columns of X, or those of the data frame of the fit, or numbers."""
    if feature_names is None:
        feature_names = getattr(estimator, "feature_names_in_", None)
    return check_feature_names(feature_names, estimator.n_features_in_)


def trained_for(estimator: Any) -> str:
    """What was optimised, for the title."""
    measure, loss = (getattr(estimator, name, None) for name in ("measure_", "loss_"))
    if measure is not None:
        return f" for {measure.name}"
    return "" if loss is None else f", loss {loss.name}"


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


def named_weights(
    names: Array, columns: Any, weights: Any, notes: Mapping[int, str] | None = None
) -> tuple[Weight, ...]:
    """Columns with their names, weights and notes, the largest first; those with a note last."""
    notes = notes or {}
    order = sorted(range(len(weights)), key=lambda at: (at in notes, -abs(weights[at])))
    return tuple(
        Weight(str(names[columns[at]]), float(weights[at]), int(columns[at]), notes.get(at, ""))
        for at in order
    )


def vetoes_in_words(model: ClassModel) -> dict[int, str]:
    """By index of the selected column: how few of the rows with it are predicted positive."""
    return {
        at: f"a veto: {n_with} of {n_rows} rows with it are predicted positive, {n_without} "
        "would be without it"
        for at, n_rows, n_with, n_without in model.vetoes.tolist()
    }
