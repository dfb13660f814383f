"""FSMulti: the two-layer solver with the authors' settings, and the optimum of the bundle."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from scoresieve import Status, get_measure, solve
from scoresieve.baselines import FSMulti


def test_it_is_the_two_layer_solver(data):
    """eps_2 is a tenth of eps_1 there, too; with groups enough the results are the same."""
    X, y = data(0, n_samples=30, n_features=20)
    model = FSMulti("f1", budget=4, C=0.3, max_groups=100).fit(X, y)
    problem = {"measure": "f1", "bound": "paper", "budget": 4, "C": 0.3}
    expected = solve(X, y, tol=0.1, solver="two_layer", **problem)
    assert_array_equal(model.coef_[0], expected.w)
    assert model.primal_[0] == expected.primal
    assert model.dual_[0] == expected.dual
    assert model.n_iter_ == [expected.n_iter]
    assert model.status_ == [Status.CONVERGED]


@pytest.mark.parametrize("measure", ["f1", "accuracy", "rec@2p", "roc_auc"])
@pytest.mark.parametrize("intercept", [False, True])
def test_it_has_the_optimum_of_the_bundle(data, measure, intercept):
    X, y = data(1, n_samples=24, n_features=15)
    problem = {"measure": measure, "budget": 3, "C": 0.3}
    model = FSMulti(fit_intercept=intercept, tol=0.02, inner_tol=0.002, max_groups=100, **problem)
    model.fit(X, y)
    bundle = solve(X, y, tol=0.02, bound="paper", intercept_scaling=float(intercept), **problem)
    assert max(model.dual_[0], bundle.dual) <= min(model.primal_[0], bundle.primal) * (1 + 1e-9)
    assert model.certify(X, y).gap <= 0.02


@pytest.mark.parametrize(
    ("measure", "budget", "c"), [("f1", 50, 0.03), ("accuracy", 10, 0.1), ("prbep", 10, 0.3)]
)
def test_the_authors_program_on_tiny(reference, measure, budget, c):
    """With the settings of the stored runs, and C in the paper's scale."""
    X, y = reference.load("tiny")
    model = FSMulti(measure, budget=budget, C=c, C_scale="paper", tol=0.03, inner_tol=0.003)
    model.set_params(max_groups=30).fit(X, y)
    (entry,) = (
        e
        for e in reference.entries("authors", "tiny")
        if (e["measure"], e["budget"]) == (measure, budget) and e["C"] == pytest.approx(model.C_[0])
    )
    assert model.gap_[0] <= 0.03
    assert model.dual_[0] <= entry["upper"] * (1 + 1e-6)
    assert model.primal_[0] >= entry["lower"] * (1 - 1e-6)
    assert model.primal_[0] <= entry["upper"] / (1 - 0.03)


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


def test_a_coarse_inner_layer_takes_fewer_steps(data):
    X, y = data(4, n_samples=30, n_features=20)
    problem = {"budget": 20, "C": 0.5, "tol": 0.3}
    coarse = FSMulti(inner_tol=0.29, **problem).fit(X, y)
    fine = FSMulti(inner_tol=1e-4, **problem).fit(X, y)
    assert coarse.n_iter_[0] < fine.n_iter_[0]
    assert fine.gap_[0] < 1e-3 < coarse.gap_[0]


@pytest.mark.parametrize(("n_features", "n_kept"), [(60, 50), (20, 20)])
def test_the_budget_is_fifty_by_default(data, n_features, n_kept):
    X, y = data(5, n_features=n_features)
    model = FSMulti(C=0.05).fit(X, y)
    assert model._arguments["budget"] == n_kept
    assert model.gap_[0] <= 0.1
    assert model.certify(X, y).gap == pytest.approx(model.gap_[0], abs=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": 0}, "budget must be an integer of at least 1"),
        ({"C": -1}, "C must be a positive"),
        ({"inner_tol": 0}, "inner_tol must be a positive"),
        ({"max_groups": 0}, "max_groups must be an integer of at least 1"),
        ({"C_scale": "authors"}, "C_scale must be one of"),
    ],
)
def test_wrong_parameters_are_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        FSMulti(**parameters).fit(*data(6))
