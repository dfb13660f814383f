"""L1SVM: LinearSVC at its C, a problem with a known answer, and the search for C."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC, l1_min_c

from scoresieve.baselines import L1SVM, l1_svm


def linear_svc(C, **parameters):
    return LinearSVC(penalty="l1", dual=False, C=C, random_state=0, **parameters)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_one_column_of_signs_has_a_known_weight(C):
    """``min |w| + C n (1 - w)_+^2`` has the solution ``w = 1 - 1 / (2 C n)``."""
    y = np.tile([1.0, -1.0], 10)
    model = L1SVM(C=C, fit_intercept=False, tol=1e-8).fit(y[:, np.newaxis], y)
    assert model.coef_[0, 0] == pytest.approx(1 - 1 / (2 * C * 20), rel=1e-6)
    assert model.C_ == [C]
    assert_array_equal(model.path_, [[[C, 1]]])


@pytest.mark.parametrize("convert", [np.asarray, sp.csc_matrix])
@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_it_is_linear_svc_at_the_C_that_was_found(data, k, convert):
    X, y = data(0, n_samples=80, n_features=30)
    model = L1SVM(n_features_to_select=k, k_tol=0).fit(convert(X), y)
    expected = linear_svc(model.C_[0]).fit(X, y)
    assert model.n_features_selected_ == k
    assert_array_equal(model.coef_, expected.coef_)
    assert_array_equal(model.intercept_, expected.intercept_)


@settings(derandomize=True, deadline=None, database=None, max_examples=25)
@given(
    seed=st.integers(0, 1000),
    scaling=st.sampled_from([0.0, 1.0, 5.0]),
    share=st.sampled_from([0.1, 0.5, 0.8]),
)
def test_smallest_C_is_that_of_scikit_learn(seed, scaling, share):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 4))
    y = np.where(np.arange(20) < 20 * share, 1.0, -1.0)
    found = l1_svm.smallest_C(X, y, scaling, None)
    expected = l1_min_c(X, y, fit_intercept=scaling > 0, intercept_scaling=scaling or 1.0)
    assert found == pytest.approx(expected)


def test_smallest_C_with_class_weights(data):
    X, y = data(1, n_samples=40)
    weights = {-1: 0.3, 1: 4.0}
    C = l1_svm.smallest_C(X, y, 0.0, weights)
    fits = [
        linear_svc(factor * C, class_weight=weights, fit_intercept=False, tol=1e-10).fit(X, y)
        for factor in (0.999, 1.001)
    ]
    assert [np.count_nonzero(fit.coef_) for fit in fits] == [0, 1]


def test_the_path_of_the_search(data):
    """First C grows by factors of 4 from the smallest one, then it lies between two others."""
    X, y = data(2, n_samples=100, n_features=60)
    model = L1SVM(n_features_to_select=20, k_tol=0, fit_intercept=False).fit(X, y)
    (path,) = model.path_
    Cs, numbers = path.T
    assert_array_equal(
        numbers, [np.count_nonzero(linear_svc(C, fit_intercept=False).fit(X, y).coef_) for C in Cs]
    )
    first = int(np.argmax(numbers >= 20))
    assert Cs[: first + 1] == pytest.approx(
        l1_min_c(X, y, fit_intercept=False) * 4.0 ** np.arange(1, first + 2)
    )
    assert np.all((Cs[first + 1 :] < Cs[first]) & (Cs[first + 1 :] > Cs[first] / 4))
    assert numbers[-1] == 20
    assert Cs[-1] == model.C_[0]


def test_the_tolerance_ends_the_search_earlier(data):
    X, y = data(3, n_samples=100, n_features=80)
    exact = L1SVM(n_features_to_select=37, k_tol=0).fit(X, y)
    about = L1SVM(n_features_to_select=37, k_tol=0.2).fit(X, y)
    assert exact.n_features_selected_ == 37
    assert abs(about.n_features_selected_ - 37) <= 7
    assert len(about.path_[0]) < len(exact.path_[0])


def test_a_number_that_no_C_gives():
    """Orthogonal columns with the same correlation enter together: 0, then 2 features."""
    y = np.tile([1.0, 1.0, -1.0, -1.0], 5)
    X = np.column_stack([np.tile([1.0, 0.0, -1.0, 0.0], 5), np.tile([0.0, 1.0, 0.0, -1.0], 5)])
    model = L1SVM(n_features_to_select=1, fit_intercept=False)
    with pytest.warns(ConvergenceWarning, match="tried gives 1 features; C=.* gives 2. Raise"):
        model.fit(X, y)
    assert model.n_features_selected_ == 2


def test_more_features_than_there_are():
    """Column 1 is zero, so that at most one feature has a weight, however large C is."""
    y = np.tile([1.0, -1.0], 10)
    X = np.column_stack([y, np.zeros(20)])
    with pytest.warns(ConvergenceWarning, match="gives 2 features; C=.* gives 1"):
        model = L1SVM(n_features_to_select=5).fit(X, y)
    assert_array_equal(model.support_, [0])
    (path,) = model.path_
    assert path[-1, 0] >= l1_svm.LARGEST_RATIO * path[0, 0] / l1_svm.GROWTH
