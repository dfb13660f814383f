"""``budget_path``: labels of any kind, names, and arrays that agree with the results."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score

from scoresieve import MeasureSVC, Status
from scoresieve.estimators.path import budget_path
from scoresieve.losses import Huber
from tests.helpers import solve_path


class Frame:
    """As much of a data frame as is needed: values and named columns."""

    def __init__(self, values, columns):
        self.values, self.columns = values, columns

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


@pytest.fixture(scope="module")
def signs(binary):
    X, y = binary
    return X, np.where(y == "yes", 1.0, -1.0)


def test_arrays_are_those_of_the_solver(binary, signs, certified):
    X, y = binary
    budgets = [8, 2, 4, 2]
    path = budget_path(X, y, budgets, C=0.5, intercept_scaling=2.0)
    arguments = {"measure": "f1", "C": 0.5, "intercept_scaling": 2.0}
    expected = solve_path(*signs, budgets, **arguments)
    assert_array_equal(path.budgets, budgets)
    assert path.coefs.format == "csr"
    assert_array_equal(path.coefs.toarray(), [result.w for result in expected])
    assert_array_equal(path.intercepts, [result.intercept for result in expected])
    assert_array_equal(path.n_features_selected, np.count_nonzero(path.coefs.toarray(), axis=1))
    for name in ("primal", "dual", "gap", "n_iter"):
        assert_array_equal(getattr(path, name), [getattr(result, name) for result in expected])
    assert path.status == (Status.CONVERGED,) * 4
    assert path.pos_label == "yes"
    for budget, result in zip(budgets, path.results, strict=True):
        assert certified(*signs, result, budget=budget, **arguments).gap <= 0.05
    with pytest.raises(FrozenInstanceError):
        path.gap = 0.0


def test_scores_are_high_for_the_positive_class(binary):
    X, y = binary
    path = budget_path(X, y, [3, 6], C=1.0)
    scores = path.decision_function(X)
    assert scores.shape == (80, 2)
    assert_allclose(scores, X @ path.coefs.toarray().T + path.intercepts)
    assert_allclose(path.decision_function(sp.csr_array(X)), scores)
    for column in scores.T:
        assert f1_score(y == "yes", column > 0) > 0.85
    with pytest.raises(ValueError, match="X has 19 columns; the path was fitted on 20"):
        path.decision_function(X[:, 1:])


def test_pos_label_chooses_the_positive_class(binary, signs):
    X, y = binary
    path = budget_path(X, y, [3], C=0.5, pos_label="no")
    (expected,) = solve_path(X, -signs[1], [3], measure="f1", C=0.5, intercept_scaling=1.0)
    assert_array_equal(path.coefs.toarray()[0], expected.w)
    assert path.pos_label == "no"
    with pytest.raises(ValueError, match="pos_label='maybe' is not a label of y"):
        budget_path(X, y, [3], pos_label="maybe")


@pytest.mark.parametrize("labels", [(False, True), (-1, 1), (0, 1), (7, 12), ("f", "t")])
def test_any_two_labels(binary, labels):
    X, y = binary
    expected = budget_path(X, y, [2, 5], C=0.5)
    path = budget_path(X, np.array(labels)[(y == "yes").astype(int)], [2, 5], C=0.5)
    assert_array_equal(path.coefs.toarray(), expected.coefs.toarray())
    assert path.pos_label == labels[1]


def test_no_intercept(binary):
    X, y = binary
    path = budget_path(X, y, [2, 5], C=0.5, fit_intercept=False)
    assert_array_equal(path.intercepts, [0.0, 0.0])


def test_columns_by_name_number_and_group(binary):
    X, y = binary
    names = [f"x{j}" for j in range(20)]
    groups = [["x0", "x1"], ["x2", "x3"]]
    by_name = budget_path(
        Frame(X, names),
        y,
        [1, 3],
        C=0.5,
        always_features=["x9"],
        excluded_features=["x7", "x8"],
        feature_groups=groups,
    )
    by_number = budget_path(
        X,
        y,
        [1, 3],
        C=0.5,
        always_features=[9],
        excluded_features=[7, 8],
        feature_groups=[[0, 1], [2, 3]],
    )
    coefs = by_name.coefs.toarray()
    assert_array_equal(coefs, by_number.coefs.toarray())
    assert not np.any(coefs[:, [7, 8]])
    assert np.all(coefs[:, 9])
    with pytest.raises(ValueError, match="always_features holds names, but X has none"):
        budget_path(X, y, [1], always_features=["x9"])


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic", Huber(epsilon=0.5)])
def test_arrays_of_a_loss_are_those_of_the_solver(binary, signs, certified, loss):
    """With the C and the tolerance of BudgetClassifier and BudgetRegressor."""
    X, y = binary
    budgets, offset = [2, 8, 4], 0.0
    if isinstance(loss, Huber):
        y = signs[0] @ np.arange(20.0) + 100.0
        offset = np.median(y)
    path = budget_path(X, y, budgets, loss=loss, intercept_scaling=2.0)
    data = (X, y - offset) if isinstance(loss, Huber) else signs
    arguments = {"loss": loss, "C": 1.0, "intercept_scaling": 2.0}
    expected = solve_path(*data, budgets, tol=0.01, **arguments)
    assert_array_equal(path.coefs.toarray(), [result.w for result in expected])
    assert_array_equal(path.intercepts, [offset + result.intercept for result in expected])
    for name in ("primal", "dual", "gap", "n_iter"):
        assert_array_equal(getattr(path, name), [getattr(result, name) for result in expected])
    assert path.pos_label == (None if isinstance(loss, Huber) else "yes")
    for budget, result in zip(budgets, path.results, strict=True):
        assert certified(*data, result, budget=budget, **arguments).gap <= 0.01


def test_a_regression_is_around_its_centre(signs):
    X, y = signs[0], signs[0] @ np.arange(20.0)
    weights = np.random.default_rng(0).integers(1, 4, size=80)
    path = budget_path(X, y, [3, 20], loss="squared", sample_weight=weights)
    shifted = budget_path(X, y + 1e4, [3, 20], loss="squared", sample_weight=weights)
    assert_allclose(shifted.decision_function(X), path.decision_function(X) + 1e4, atol=1e-4)
    around = y - np.average(y, weights=weights)
    centred = budget_path(X, around, [3, 20], loss="squared", sample_weight=weights)
    assert_allclose(path.primal, centred.primal, rtol=1e-6)
    through_zero = budget_path(X, y, [3, 20], loss="squared", fit_intercept=False)
    assert_array_equal(through_zero.intercepts, [0.0, 0.0])
    with pytest.raises(ValueError, match="pos_label='yes' needs two classes, but loss='squared'"):
        budget_path(X, y, [3], loss="squared", pos_label="yes")


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic", "huber_hinge"])
def test_pos_label_chooses_the_positive_class_of_a_loss(binary, signs, loss):
    X, y = binary
    path = budget_path(X, y, [3], loss=loss, pos_label="no", intercept_scaling=1.0)
    (expected,) = solve_path(X, -signs[1], [3], loss=loss, C=1.0, intercept_scaling=1.0)
    assert_array_equal(path.coefs.toarray()[0], expected.w)
    assert path.pos_label == "no"
    assert np.mean((path.decision_function(X)[:, 0] > 0) == (y == "no")) > 0.8
    with pytest.raises(ValueError, match="pos_label='maybe' is not a label of y"):
        budget_path(X, y, [3], loss=loss, pos_label="maybe")


@pytest.mark.parametrize("loss", ["logistic", "epsilon_insensitive"])
def test_columns_of_a_loss_by_name(binary, signs, loss):
    X, y = binary if loss == "logistic" else (signs[0], signs[0].sum(axis=1))
    names = [f"x{j}" for j in range(20)]
    by_name = budget_path(
        Frame(X, names),
        y,
        [1, 3],
        loss=loss,
        always_features=["x9"],
        excluded_features=["x7", "x8"],
        feature_groups=[["x0", "x1"], ["x2", "x3"]],
    )
    columns = {"always_features": [9], "excluded_features": [7, 8]}
    by_number = budget_path(X, y, [1, 3], loss=loss, feature_groups=[[0, 1], [2, 3]], **columns)
    coefs = by_name.coefs.toarray()
    assert_array_equal(coefs, by_number.coefs.toarray())
    assert not np.any(coefs[:, [7, 8]])
    assert np.all(coefs[:, 9])
    with pytest.raises(ValueError, match="always_features holds names, but X has none"):
        budget_path(X, y, [1], loss=loss, always_features=["x9"])


def test_a_measure_or_a_loss(binary):
    X, y = binary
    with pytest.raises(ValueError, match="a measure or a loss, one of them; got measure='f1'"):
        budget_path(X, y, [2], measure="f1", loss="hinge")
    with pytest.raises(ValueError, match="unknown loss 'quadratic'"):
        budget_path(X, y, [2], loss="quadratic")


def test_sparse_input_and_no_features(binary):
    X, y = binary
    path = budget_path(sp.csc_matrix(X), y, [2, 5], C=0.5)
    assert np.all(path.gap <= 0.05)
    empty = budget_path(X, y, [2, 5], C=1e-7)
    assert empty.status == (Status.ZERO_MODEL,) * 2
    assert empty.coefs.nnz == 0
    assert_allclose(empty.decision_function(X), np.broadcast_to(empty.intercepts, (80, 2)))


def test_early_stops_are_told_once(binary):
    X, y = binary
    with pytest.warns(ConvergenceWarning, match="2 of 2 fits stopped before tol=1e-09") as caught:
        path = budget_path(X, y, [2, 5], pos_label="yes", tol=1e-9, max_iter=2)
    assert len(caught) == 1
    assert "budget 5: gap" in str(caught[0].message)
    assert path.status == (Status.MAX_ITER,) * 2
    assert_array_equal(path.n_iter, [2, 2])


def test_bad_input(binary, three_classes):
    X, y = binary
    with pytest.raises(ValueError, match="y has 3 classes; a path is for two"):
        budget_path(*three_classes, [2])
    with pytest.raises(ValueError, match="y has one class only"):
        budget_path(X, np.full(80, "yes"), [2])
    with pytest.raises(ValueError, match="budgets is empty"):
        budget_path(X, y, [])
    with pytest.raises(ValueError, match=r"budgets\[0\] must be an integer of at least 1; got 0"):
        budget_path(X, y, [0, 3])
    with pytest.raises(ValueError, match="intercept_scaling must be a positive finite number"):
        budget_path(X, y, [2], intercept_scaling=0.0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        budget_path(X, y[:-1], [2])
    with pytest.raises(ValueError, match="NaN"):
        budget_path(np.where(X > 2, np.nan, X), y, [2])


def test_budgets_above_the_columns_are_lowered(binary):
    X, y = binary
    with pytest.warns(UserWarning, match="budget=100 is more than the 20 columns"):
        path = budget_path(X, y, (b for b in (2, 100)), C=0.5)
    assert_array_equal(path.budgets, [2, 100])
    assert np.all(path.gap <= 0.05)


def test_errors_name_the_arguments_of_the_path(binary):
    X, y = binary
    with pytest.raises(ValueError, match="column 1 is in always_features and in excluded_features"):
        budget_path(X, y, [2], always_features=[1], excluded_features=[1, 2])
    with pytest.raises(ValueError, match="excluded_features holds all 20 columns"):
        budget_path(X, y, [2], excluded_features=range(20))


def test_the_bound_and_the_price_are_those_of_every_budget(binary):
    X, y = binary
    for form, price in (({"bound": "paper"}, 1.0), ({"price": 0.3}, 0.3)):
        path = budget_path(X, y, [2, 5], measure="f1", C=2.0, **form)
        assert [result.price for result in path.results] == [price, price]
        for budget, result in zip([2, 5], path.results, strict=True):
            model = MeasureSVC("f1", budget=budget, C=2.0, **form).fit(X, y)
            assert max(model.dual_[0], result.dual) <= min(model.primal_[0], result.primal)
    found = budget_path(X, y, [2, 5], measure="f1", C=2.0)
    largest = MeasureSVC("f1", budget=5, C=2.0).fit(X, y)
    assert found.results[1].price == largest.price_[0]
