"""SVMRFE: scikit-learn's RFE with one feature a round, a hand loop for the other schedules."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from scoresieve.baselines import SVMRFE, svm_rfe


def linear_svc(**parameters):
    return LinearSVC(dual="auto", random_state=0, **parameters)


@pytest.mark.parametrize("step", [1, 3, 7])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_a_number_a_round_is_scikit_learns_rfe(data, step, loss):
    X, y = data(0, n_samples=60, n_features=20)
    parameters = {"C": 0.3, "loss": loss, "max_iter": 100000}
    model = SVMRFE(n_features_to_select=4, step=step, **parameters).fit(X, y)
    rfe = RFE(linear_svc(**parameters), n_features_to_select=4, step=step).fit(X, y)
    assert_array_equal(model.ranking_, rfe.ranking_)
    assert_array_equal(model.get_support(), rfe.get_support())
    assert_array_equal(model.coef_[0, model.support_], rfe.estimator_.coef_[0])
    assert_array_equal(model.predict(X), rfe.predict(X))
    assert model.n_iter_ == [np.ceil(16 / step) + 1]


@pytest.mark.parametrize(
    ("step", "sizes"),
    [
        ("halving", [32, 16, 8, 5]),
        (0.5, [28, 14, 7, 5]),
        (0.25, [42, 32, 24, 18, 14, 11, 9, 7, 6, 5]),
    ],
)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_schedules_against_a_hand_loop(data, step, sizes, convert):
    X, y = data(1, n_samples=50, n_features=55)
    model = SVMRFE(n_features_to_select=5, step=step).fit(convert(X), y)
    left, ranking = list(range(55)), np.ones(55, dtype=int)
    for rank, size in zip(range(len(sizes) + 1, 1, -1), sizes, strict=True):
        weights = np.abs(linear_svc().fit(convert(X[:, left]), y).coef_[0])
        order = sorted(range(len(left)), key=lambda place: -weights[place])
        ranking[[left[place] for place in order[size:]]] = rank
        left = sorted(left[place] for place in order[:size])
    final = linear_svc().fit(convert(X[:, left]), y)
    assert_array_equal(model.support_, left)
    assert_array_equal(model.ranking_, ranking)
    assert_array_equal(model.coef_[0, left], final.coef_[0])
    assert_array_equal(model.intercept_, final.intercept_)
    assert model.n_iter_ == [len(sizes) + 1]


def test_halving_of_a_million_columns_takes_twenty_rounds():
    """Guyon et al.: first the next power of 2, then half of them."""
    sizes = [1355191]
    while sizes[-1] > 1:
        sizes.append(svm_rfe.n_after_round(sizes[-1], "halving"))
    assert sizes[1:] == [2**power for power in range(20, -1, -1)]
    assert svm_rfe.n_after_round(64, "halving") == 32
    assert svm_rfe.n_after_round(3, 0.1) == 2


def test_rankings_of_several_classes(three_classes):
    X, y = three_classes
    model = SVMRFE(n_features_to_select=2).fit(X, y)
    assert len(model.rankings_) == 3
    for support, ranking in zip(model.supports_, model.rankings_, strict=True):
        assert_array_equal(support, np.flatnonzero(ranking == 1))
    assert_array_equal(model.ranking_, np.min(model.rankings_, axis=0))
    assert_array_equal(model.support_, np.flatnonzero(model.ranking_ == 1))


@pytest.mark.parametrize(("k", "n_kept"), [(None, 5), (10, 10), (99, 10)])
def test_how_many_are_kept(data, k, n_kept):
    X, y = data(2, n_features=10)
    assert SVMRFE(n_features_to_select=k).fit(X, y).n_features_selected_ == n_kept


def test_of_equal_weights_the_first_stay():
    assert_array_equal(svm_rfe.largest_weights(np.array([1.0, -2.0, 2.0, 1.0, 2.0]), 2), [1, 2])
    assert_array_equal(svm_rfe.largest_weights(np.zeros(5), 3), [0, 1, 2])
