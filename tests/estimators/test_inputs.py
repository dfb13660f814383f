"""Columns by number, mask and name, groups, budgets, and what is refused with which words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scoresieve.estimators._inputs import resolve_budget, resolve_columns, resolve_groups
from sklearn.exceptions import DataConversionWarning

from scoresieve import MeasureSVC
from scoresieve.estimators.targets import read_targets, same_labels

NAMES = np.array(["age", "height", "weight", "pulse"], dtype=object)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (None, []),
        ([], []),
        ([3, 1], [1, 3]),
        (np.array([2]), [2]),
        ([True, False, False, True], [0, 3]),
        (["pulse", "age"], [0, 3]),
        (NAMES[1:3], [1, 2]),
        ({"weight"}, [2]),
        (range(2), [0, 1]),
    ],
)
def test_columns_by_number_mask_and_name(columns, expected):
    assert_array_equal(resolve_columns(columns, 4, NAMES, "always_features"), expected)


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        (["age", "shoe size"], NAMES, "always_features holds 'shoe size'"),
        (["age", 2], NAMES, "always_features holds 2"),
        (["age"], None, "always_features holds names, but X has none"),
        ("age", NAMES, "always_features must be a list.*'age'"),
        (3, NAMES, "always_features must be a list.*got 3"),
        ([4], NAMES, "always_features holds 4.*0 to 3"),
        ([-1], NAMES, "always_features holds -1"),
        ([0.5], NAMES, "always_features must be a list"),
        ([True, False], NAMES, "always_features must be a list"),
    ],
)
def test_columns_that_are_refused(columns, names, message):
    with pytest.raises(ValueError, match=message):
        resolve_columns(columns, 4, names, "always_features")


def test_groups():
    assert resolve_groups(None, 4, NAMES) is None
    assert_array_equal(resolve_groups([0, 0, 5, 5], 4, None), [0, 0, 5, 5])
    by_name = resolve_groups([["age", "pulse"], ["height"]], 4, NAMES)
    assert_array_equal(by_name, resolve_groups([[0, 3], [1]], 4, None))
    assert by_name[0] == by_name[3]
    assert np.unique(by_name).size == 3
    with pytest.raises(ValueError, match=r"feature_groups\[1\] holds 'nose'"):
        resolve_groups([["age"], ["nose"]], 4, NAMES)
    with pytest.raises(ValueError, match=r"feature_groups must be 4 integers"):
        resolve_groups([0, 1], 4, NAMES)


@pytest.mark.parametrize(
    ("budget", "k", "n_units", "expected"),
    [
        (None, None, 200, 50),
        (None, None, 7, 7),
        (None, 3, 7, 3),
        (None, 9, 7, 7),
        (4, None, 7, 4),
        (3, 3, 7, 3),
        (None, None, 0, 1),
        (5, None, 0, 5),
    ],
)
def test_budgets(budget, k, n_units, expected):
    assert resolve_budget(budget, k, n_units) == expected


def test_a_budget_above_the_columns_warns_at_the_users_line(binary):
    X, y = binary
    with pytest.warns(UserWarning, match="budget=30 is more than the 20") as caught:
        model = MeasureSVC(budget=30).fit(X, y)
    assert caught[0].filename == __file__
    assert model.budget_ == 20


def test_names_on_a_fit(binary):
    """Feature names reach the model by any frame that scikit-learn reads names from."""
    pandas = pytest.importorskip("pandas")
    X, y = binary
    frame = pandas.DataFrame(X, columns=[f"f{j}" for j in range(20)])
    by_name = MeasureSVC(
        budget=2,
        always_features=["f5"],
        excluded_features=["f0", "f1"],
        feature_groups=[["f2", "f3"]],
    ).fit(frame, y)
    by_number = MeasureSVC(
        budget=2, always_features=[5], excluded_features=[0, 1], feature_groups=[[2, 3]]
    ).fit(X, y)
    assert_allclose(by_name.coef_, by_number.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="excluded_features holds 'f99'"):
        MeasureSVC(excluded_features=["f99"]).fit(frame, y)


def test_always_excluded_and_groups(binary):
    X, y = binary
    X = X.copy()
    X[:, 19] = 0.0
    model = MeasureSVC(
        n_features_to_select=1,
        C=2.0,
        always_features=[10, 19],
        excluded_features=np.arange(20) == 0,
        feature_groups=[[1, 2], [3, 4]],
    ).fit(X, y)
    assert_array_equal(model.support_, [1, 2, 10, 19])
    assert model.coef_[0, 19] == 0.0
    assert model.coef_[0, 0] == 0.0
    with pytest.raises(ValueError, match="column 3 is in always_features and in excluded_features"):
        MeasureSVC(always_features=[3], excluded_features=[3]).fit(X, y)
    with pytest.raises(ValueError, match="excluded_features holds all 20"):
        MeasureSVC(excluded_features=range(20)).fit(X, y)
    everything = MeasureSVC(n_features_to_select=2, always_features=range(20)).fit(X, y)
    assert everything.n_features_selected_ == 20


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"measure": "f-one"}, "unknown measure 'f-one'"),
        ({"measure": "prec@200"}, "k=200 asks for"),
        ({"budget": 0}, "budget must be an integer"),
        ({"budget": 2.5}, "budget must be an integer"),
        ({"n_features_to_select": 0}, "n_features_to_select must be an integer"),
        ({"n_features_to_select": 0.5}, "n_features_to_select must be an integer"),
        ({"budget": 3, "n_features_to_select": 4}, "budget=3 and n_features_to_select=4"),
        ({"C": 0.0}, "C must be a positive"),
        ({"C": "1"}, "C must be a positive"),
        ({"intercept_scaling": -1.0}, "intercept_scaling must be a positive"),
        ({"pos_label": "maybe"}, "pos_label='maybe' is not a label"),
        ({"multi_class_support": "per_class"}, "multi_class_support must be one of.*supports_"),
        ({"solver": "simplex"}, "solver must be one of.*'simplex'"),
        ({"solver": ["bundle"]}, "solver must be one of"),
        ({"tol": 0.0}, "tol must be a positive"),
        ({"max_iter": 0}, "max_iter must be an integer"),
        ({"max_time": -1.0}, "max_time must be a positive"),
    ],
)
def test_parameters_that_are_refused(binary, parameters, message):
    X, y = binary
    with pytest.raises(ValueError, match=message):
        MeasureSVC(**parameters).fit(X, y)


def test_a_measure_of_the_wrong_type(binary):
    with pytest.raises(TypeError, match="measure must be a name"):
        MeasureSVC(measure=3).fit(*binary)


@pytest.mark.parametrize(
    ("y", "pos_label", "message"),
    [
        ([1, 1, 1, 1], None, "one class only"),
        ([0.1, 0.2, 0.3, 0.4], None, "Unknown label type"),
        ([[0, 1], [1, 2], [2, 0], [0, 0]], None, "kind 'multiclass-multioutput'"),
        ([[0, 1], [0, 1], [0, 0], [0, 0]], None, "column 0 of y has one class only: it holds no 1"),
        ([[0, 1], [1, 1], [0, 1], [0, 1]], None, "column 1 of y has one class only: it holds no 0"),
        ([0, 1, 2, 0], 1, "pos_label=1 needs two classes; y has 3 classes"),
        ([[0, 1], [1, 0], [1, 1], [0, 0]], 1, "pos_label=1 needs two classes; y has an indicator"),
    ],
)
def test_labels_that_are_refused(y, pos_label, message):
    with pytest.raises(ValueError, match=message):
        MeasureSVC(pos_label=pos_label).fit(np.arange(8.0).reshape(4, 2), y)


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
