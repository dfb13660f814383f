"""Labels of any kind: what they become, and what is refused with which words."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning

from scoresieve import BudgetClassifier, MeasureSVC
from scoresieve.estimators.targets import LARGER, TELLING_NAMES, read_targets, same_labels


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


@pytest.mark.parametrize("y", [["b", "a", "b", "b"], ["b", "a", "a"]])
def test_two_names_that_do_not_tell_are_refused(y):
    """Whichever is rarer: it may be the other one in the next fold."""
    message = (
        "pos_label is missing: the labels 'a' and 'b' do not tell which class is positive, and the "
        "score depends on it; type pos_label='a' or pos_label='b'."
    )
    for labels in (np.array(y), np.array(y, dtype=object)):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            read_targets(labels)
        assert read_targets(labels, "a")[0].positive == 0
        assert read_targets(labels, LARGER)[0].positive == 1


@pytest.mark.parametrize("negative", ["no", "N", "False", "f", "0", "NEGATIVE", "neg"])
def test_names_that_tell(negative, recwarn):
    pairs = dict(TELLING_NAMES)
    for positive in (pairs[negative.lower()], pairs[negative.lower()].upper()):
        for y in ([positive, negative, negative], [positive, positive, negative]):
            targets, _ = read_targets(np.array(y))
            assert targets.classes[targets.positive] == positive
    assert not recwarn.list


def test_the_positive_class_is_the_same_in_every_fold():
    """Near-balanced names: of half the folds one is the rarer, of half the other."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(61, 3))
    y = np.where(X[:, 0] > np.median(X[:, 0]), "No", "Yes")
    for fold in np.array_split(np.arange(61), 5):
        kept = np.setdiff1d(np.arange(61), fold)
        model = MeasureSVC(budget=1).fit(X[kept], y[kept])
        assert model.targets_.name(0) == "'Yes'"


@pytest.mark.parametrize("y", [[0, 1, 0], [True, False, False]])
def test_of_numbers_the_larger_is_positive(y, recwarn):
    assert read_targets(np.array(y))[0].positive == 1
    assert not recwarn.list
