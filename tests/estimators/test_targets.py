"""Labels of any kind: what they become, and what is refused with which words."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning

from scoresieve import BudgetClassifier, MeasureSVC
from scoresieve.estimators.targets import LARGER, read_targets, same_labels


@pytest.mark.parametrize(
    ("y", "pos_label", "message"),
    [
        ([1, 1, 1, 1], None, "one class only"),
        ([0.1, 0.2, 0.3, 0.4], None, "Unknown label type"),
        ([[0, 1], [1, 2], [2, 0], [0, 0]], None, "type 'multiclass-multioutput'"),
        ([[0, 1], [0, 1], [0, 0], [0, 0]], None, "column 0 of y has one class only: it holds no 1"),
        ([[0, 1], [1, 1], [0, 1], [0, 1]], None, "column 1 of y has one class only: it holds no 0"),
        ([0, 1, 2, 0], 1, "pos_label=1 needs two classes; y has 3 classes"),
        ([[0, 1], [1, 0], [1, 1], [0, 0]], 1, "pos_label=1 needs two classes; y has an indicator"),
    ],
)
def test_labels_that_are_refused(y, pos_label, message):
    with pytest.raises(ValueError, match=message):
        MeasureSVC(pos_label=pos_label).fit(np.arange(8.0).reshape(4, 2), y)


@pytest.mark.parametrize(
    ("y", "pos_label", "message"),
    [
        ([0, 1, 0, 1], "1", "pos_label='1' is not a label of y (did you mean 1?); use 0 or 1."),
        ("nyny", "Y", "pos_label='Y' is not a label of y (did you mean 'y'?); use 'n' or 'y'."),
        ("nyny", True, "pos_label=True is not a label of y; use 'n' or 'y'."),
        ("0101", 1, "pos_label=1 is not a label of y (did you mean '1'?); use '0' or '1'."),
    ],
)
def test_a_positive_label_that_y_does_not_have(y, pos_label, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MeasureSVC(pos_label=pos_label).fit(np.arange(8.0).reshape(4, 2), list(y))


@pytest.mark.parametrize(
    ("y", "other", "message"),
    [
        (
            [0, 1, 0, 1],
            ["0", "1", "0", "1"],
            "y holds '0', a label that the model does not know (did you mean 0?); it was fitted "
            "on 0, 1. Pass labels of the same kind.",
        ),
        (
            [0, 1, 0, 1],
            [-1, 1, -1, 1],
            "y holds -1, a label that the model does not know; it was fitted on 0, 1. Pass labels "
            "of the same kind.",
        ),
        (
            [1, 2, 3, 1],
            ["a", "b", "a", "b"],
            "y holds 'a', a label that the model does not know; it was fitted on 1, 2, 3. Pass "
            "labels of the same kind.",
        ),
    ],
)
@pytest.mark.parametrize("kind", [MeasureSVC, BudgetClassifier])
def test_labels_that_the_model_does_not_know(kind, y, other, message):
    X = np.array([[0.0, 1.0], [2.0, 0.5], [-1.0, 3.0], [2.5, 0.0]])
    model = kind(budget=2).fit(X, y)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.score(X, other)


def test_of_several_classes_some_may_be_new():
    X = np.array([[0.0, 1.0], [2.0, 0.5], [-1.0, 3.0], [2.5, 0.0]])
    model = MeasureSVC(budget=2).fit(X, [1, 2, 3, 2])
    assert 0.0 <= model.score(X, [1, 2, 9, 2]) <= 1.0


def test_shapes_of_y_after_the_fit(binary, indicators):
    X, y = binary
    model = MeasureSVC(budget=2, C=2.0).fit(X, y)
    with pytest.warns(DataConversionWarning):
        assert model.score(X, y[:, None]) == model.score(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X, y[:10])
    X, Y = indicators
    with pytest.raises(ValueError, match="indicator matrix with 4 columns"):
        MeasureSVC(budget=2, C=3.0).fit(X, Y).score(X, Y[:, :2])


def test_kinds_of_targets():
    targets, _ = read_targets(np.array([False, True]), None)
    assert (targets.kind, targets.n_problems, targets.name(0)) == ("binary", 1, "True")
    targets, y = read_targets(np.array(["b", "a", "c"]))
    assert [targets.name(c) for c in range(3)] == ["'a'", "'b'", "'c'"]
    assert_array_equal(list(targets.labels(y)), [[-1, 1, -1], [1, -1, -1], [-1, -1, 1]])


def test_equal_labels():
    Y = np.array([[0, 1], [1, 0]])
    assert same_labels(Y, Y.copy())
    assert same_labels(sp.csr_matrix(Y), sp.csr_matrix(Y))
    assert not same_labels(sp.csr_matrix(Y), sp.csr_matrix(1 - Y))
    assert not same_labels(sp.csr_matrix(Y), Y)
    assert not same_labels(Y[0], Y)


@pytest.mark.parametrize(("y", "positive"), [(["b", "a", "b", "b"], "a"), (["b", "a", "a"], "b")])
def test_the_rarer_of_two_texts_is_positive_and_that_is_said(y, positive):
    with pytest.warns(
        UserWarning, match=f"'{positive}', the label of 1 of {len(y)} rows"
    ) as caught:
        targets, _ = read_targets(np.array(y))
    assert targets.classes[targets.positive] == positive
    assert len(caught) == 1


@pytest.mark.parametrize("y", [["b", "a", "b"], [0, 1, 0], [True, False, False]])
def test_nothing_is_said_where_the_positive_class_is_known(y, recwarn):
    labels = np.array(y)
    given = labels[0] if labels.dtype.kind == "U" else None
    targets, _ = read_targets(labels, given)
    assert targets.positive == 1
    assert read_targets(labels, LARGER)[0].positive == 1
    assert not recwarn.list
