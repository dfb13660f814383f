"""From the labels in y to one problem with labels in {-1, +1} for each class, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve._checks import did_you_mean

#: The positive class is the larger label, whatever it is.
LARGER = object()
#: Pairs of names, negative and positive, in which upper case does not matter. Other texts do not
#: tell which class is the positive one.
TELLING_NAMES = (
    *(("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t")),
    *(("0", "1"), ("negative", "positive"), ("neg", "pos")),
)


@dataclass(frozen=True, eq=False)
class Targets:
    """``y_i^(c) = +1`` if example i is of class c, else -1: one problem for each class c.

    Conventions
    -----------
    * Two classes make one problem, whose positive class is ``classes[positive]``.
    * A decision above 0 always means ``classes[1]``, as everywhere in scikit-learn. So with
      ``positive = 0`` the decision is the negative of the problem's score: ``sign = -1``.

    Attributes
    ----------
    kind : {"binary", "multiclass", "multilabel"}
    classes : ndarray of shape (n_classes,)
        Sorted labels, or the column numbers of an indicator matrix.
    positive : int
        Number of the positive class; only for two classes.
    dtype : dtype
        Of y.
    """

    kind: Literal["binary", "multiclass", "multilabel"]
    classes: Array
    positive: int
    dtype: np.dtype

    @property
    def n_problems(self) -> int:
        """One for two classes, else one for each class."""
        return 1 if self.kind == "binary" else self.classes.size

    @property
    def sign(self) -> float:
        """Factor from decisions to scores of the positive class."""
        return -1.0 if self.kind == "binary" and self.positive == 0 else 1.0

    def name(self, problem: int) -> str:
        """The positive class of a problem, for messages."""
        label = self.classes[self.positive if self.kind == "binary" else problem]
        return repr(label.item() if isinstance(label, np.generic) else label)

    def problem_of(self, label: Any = None) -> int:
        """The problem whose positive class is ``label``; None for the one of two classes."""
        positives = self.classes[[self.positive]] if self.kind == "binary" else self.classes
        known = [plain_label(each) for each in positives]
        if label is None and len(known) == 1:
            return 0
        found = [place for place, each in enumerate(positives) if each == label]
        if label is None or not found:
            raise ValueError(
                f"label={label!r} is not a class with a score of its own; give one of "
                f"{known!r:.200}."
            )
        return found[0]

    def labels(self, y: Any) -> Iterator[FloatArray]:
        """The labels in {-1, +1} of each problem in turn."""
        for problem in range(self.n_problems):
            if self.kind == "multilabel":
                column = y[:, [problem]]
                positive = (column.toarray() if sp.issparse(column) else column).ravel() > 0
            else:
                label = self.classes[self.positive if self.kind == "binary" else problem]
                positive = np.asarray(y == label)
            yield np.where(positive, 1.0, -1.0)

    def checked(self, y: Any, rows: Any) -> Any:
        """Labels of other rows in the shape that the model was fitted with, one for each row."""
        if self.kind == "multilabel":
            y = y.tocsr() if sp.issparse(y) else np.asarray(y)
            if y.ndim != 2 or y.shape[1] != self.classes.size:
                raise ValueError(
                    f"y has shape {y.shape}; the model was fitted on an indicator matrix with "
                    f"{self.classes.size} columns."
                )
        else:
            y = column_or_1d(y, warn=True)
            self._check_known(y)
        check_consistent_length(rows, y)
        return y

    def _check_known(self, y: Array) -> None:
        """Refuse labels that are not classes; of several classes, only if none is one.

        Rows of a class that was rare in training are negatives of all others.
        """
        classes = self.classes.tolist()
        given = list(dict.fromkeys(y.tolist()))
        unknown = [label for label in given if label not in classes]
        if unknown and (self.kind == "binary" or len(unknown) == len(given)):
            raise ValueError(
                f"y holds {unknown[0]!r}, a label that the model does not know"
                f"{did_you_mean(unknown[0], classes)}; it was fitted on "
                f"{', '.join(map(repr, classes))}. Pass labels of the same kind."
            )

    def titles(self) -> list[tuple[str, Any]]:
        """The title of each problem, "class 'rare'", and its label as plain data."""
        labels = self.classes[[self.positive]] if self.kind == "binary" else self.classes
        return [(f"class {self.name(n)}", plain_label(label)) for n, label in enumerate(labels)]

    def n_positives(self, y: Any) -> IntArray:
        """Number of positives of each problem."""
        return np.array([np.count_nonzero(each > 0) for each in self.labels(y)])

    def predict(self, decision: FloatArray) -> Array:
        """The labels predicted by decisions of shape (n_samples,) or (n_samples, n_classes)."""
        if self.kind == "multiclass":
            return self.classes[np.argmax(decision, axis=1)]
        if self.kind == "multilabel":
            return (decision > 0).astype(self.dtype)
        # A score of exactly 0 is no alarm: it speaks for the negative class, whichever that is.
        second = decision > 0 if self.sign > 0 else decision >= 0
        return self.classes[second.astype(np.intp)]


def plain_label(label: Any) -> Any:
    """A label as plain data: numbers and truth values of Python, else text."""
    label = label.item() if isinstance(label, np.generic) else label
    return label if isinstance(label, bool | int | float | str) else str(label)


def read_targets(y: Any, pos_label: Any = None) -> tuple[Targets, Any]:
    """The classes in y, and y as a vector or an indicator matrix.

    Parameters
    ----------
    y : ndarray or sparse matrix
        As ``validate_data(..., multi_output=True)`` returns it.
    pos_label : object, optional
        The positive one of two classes. By default the larger number, or the affirmative name
        (``TELLING_NAMES``); other texts need it. ``LARGER`` for models that treat both classes
        alike.
    """
    if not sp.issparse(y) and y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    found = type_of_target(y, input_name="y")
    if found == "multilabel-indicator":
        _refuse_pos_label(pos_label, "an indicator matrix")
        targets = Targets("multilabel", np.arange(y.shape[1]), 0, y.dtype)
        _check_each_label(targets, y)
        return targets, y
    if found not in ("binary", "multiclass"):
        raise ValueError(
            f"y is of type {found!r}; give one label per row, or an indicator matrix of 0 and 1 "
            "with one column per label."
        )
    classes = np.unique(y)
    if classes.size == 1:
        raise ValueError(f"y has one class only ({classes[0]!r}); give rows of two or more.")
    if classes.size > 2:
        _refuse_pos_label(pos_label, f"{classes.size} classes")
        return Targets("multiclass", classes, 0, y.dtype), y
    return Targets("binary", classes, _place_of(pos_label, classes), y.dtype), y


def same_labels(first: Any, second: Any) -> bool:
    """Whether two targets are equal in every entry."""
    if sp.issparse(first) or sp.issparse(second):
        both = sp.issparse(first) and sp.issparse(second) and first.shape == second.shape
        return bool(both and (first != second).nnz == 0)
    return np.array_equal(first, second)


def _place_of(pos_label: Any, classes: Array) -> int:
    if pos_label is LARGER or (pos_label is None and not isinstance(classes[1], str)):
        return 1
    if pos_label is None:
        return _affirmative(classes)
    places = [place for place, label in enumerate(classes) if label == pos_label]
    if not places or np.ndim(pos_label):
        labels = classes.tolist()
        raise ValueError(
            f"pos_label={pos_label!r} is not a label of y{did_you_mean(pos_label, labels)}; use "
            f"{labels[0]!r} or {labels[1]!r}."
        )
    return places[0]


def _affirmative(classes: Array) -> int:
    """The place of "yes" beside "no"; ValueError for names that do not tell."""
    names = [str(label).lower() for label in classes]
    for negative, positive in TELLING_NAMES:
        if {*names} == {negative, positive}:
            return names.index(positive)
    first, second = (str(label) for label in classes)
    raise ValueError(
        f"pos_label is missing: the labels {first!r} and {second!r} do not tell which class is "
        f"positive, and the score depends on it; type pos_label={first!r} or pos_label={second!r}."
    )


def _refuse_pos_label(pos_label: Any, what: str) -> None:
    if pos_label is not None and pos_label is not LARGER:
        raise ValueError(
            f"pos_label={pos_label!r} needs two classes; y has {what}, fitted one-vs-rest. Leave "
            "pos_label=None."
        )


def _check_each_label(targets: Targets, y: Any) -> None:
    """Every column of an indicator matrix needs positives and negatives."""
    for problem, labels in enumerate(targets.labels(y)):
        if np.all(labels == labels[0]):
            lacks = "0" if labels[0] > 0 else "1"
            raise ValueError(
                f"column {problem} of y has one class only: it holds no {lacks}; drop the column, "
                "or add such rows."
            )
