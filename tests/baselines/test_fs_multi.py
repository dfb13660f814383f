"""FSMulti: the two-layer solver with the authors' settings, and the optimum of the bundle."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from scoresieve import Status, get_measure
from scoresieve.baselines import FSMulti
from studies.common.internals import solve_two_layer


def test_it_is_the_two_layer_solver(data):
    """eps_2 is a tenth of eps_1 there, too; with groups enough the results are the same."""
    X, y = data(0, n_samples=30, n_features=20)
    model = FSMulti("f1", budget=4, C=0.3, max_groups=100).fit(X, y)
    problem = {"measure": "f1", "bound": "paper", "budget": 4, "C": 0.3}
    expected = solve_two_layer(X, y, tol=0.1, **problem)
    assert_array_equal(model.coef_[0], expected.w)
    assert model.primal_[0] == expected.primal
    assert model.dual_[0] == expected.dual
    assert model.n_iter_ == [expected.n_iter]
    assert model.status_ == [Status.CONVERGED]


def test_one_group_is_the_B_most_violated_columns(data):
    X, y = data(2, n_samples=50, n_features=30)
    model = FSMulti("f1", budget=6, C=1.0, max_groups=1)
    with pytest.warns(ConvergenceWarning, match=r"after max_groups=1 groups or max_iter=1000"):
        model.fit(X, y)
    cut = get_measure("f1").most_violated(y, np.zeros(y.size))
    top = np.argsort(-np.abs(X.T @ cut.delta))[:6]
    assert np.isin(model.support_, top).all()
    assert model.status_ == [Status.MAX_ITER]
    assert 0.1 < model.gap_[0] == pytest.approx(model.certify(X, y).gap)


def test_more_groups_come_closer(data):
    X, y = data(3, n_samples=40, n_features=60)
    primal, gaps = [], []
    for max_groups in (1, 3, 9):
        model = FSMulti("f1", budget=5, C=0.3, tol=1e-4, max_groups=max_groups)
        with pytest.warns(ConvergenceWarning, match=f"max_groups={max_groups} "):
            model.fit(X, y)
        primal.append(model.primal_[0])
        gaps.append(model.gap_[0])
    assert primal[0] > primal[1] > primal[2]
    assert gaps[0] > gaps[2]


@pytest.mark.parametrize(("n_features", "n_kept"), [(60, 50), (20, 20)])
def test_the_budget_is_fifty_by_default(data, n_features, n_kept):
    X, y = data(5, n_features=n_features)
    model = FSMulti(C=0.05).fit(X, y)
    assert model.problem_["budget"] == n_kept
    assert model.gap_[0] <= 0.1
    assert model.certify(X, y).gap == pytest.approx(model.gap_[0], abs=1e-9)
