"""FGM: the optimum of the smooth solver, honest bounds, and the groups as they are generated."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from scoresieve import solve
from scoresieve.baselines import FGM
from scoresieve.baselines._fgm_solver import (
    GroupProblem,
    SquaredHingeLoss,
    solve_fgm,
    solve_groups,
)
from scoresieve.design import as_design
from scoresieve.regularizers import BudgetNorm


def objective(X, y, w, C, budget, brute, always=()):
    """The problem itself, with the norm by bisection."""
    loss = np.sum(np.maximum(0.0, 1.0 - y * (X @ w)) ** 2)
    return 0.5 * brute.norm_squared(w, budget, always_features=always) + C * loss


@pytest.mark.parametrize("intercept", [0.0, 2.0])
@pytest.mark.parametrize(("budget", "C"), [(1, 1.0), (3, 0.05), (3, 2.0), (12, 1.0)])
def test_the_exact_optimum(data, brute, budget, C, intercept):
    X, y = data(0, n_samples=40, n_features=12)
    settings = {"fit_intercept": intercept > 0, "intercept_scaling": intercept or 1.0}
    model = FGM(budget=budget, C=C, stop="gap", tol=5e-5, **settings).fit(X, y)
    problem = {"loss": "squared_hinge", "budget": budget, "C": C}
    best = solve(X, y, tol=1e-7, intercept_scaling=intercept, **problem).primal
    columns, w, always = X, model.coef_[0], ()
    if intercept:
        columns, always = np.column_stack([X, np.full(y.size, intercept)]), (12,)
        w = np.append(w, model.intercept_ / intercept)
    assert_allclose(model.primal_[0], best, rtol=1e-4)
    assert_allclose(objective(columns, y, w, C, budget, brute, always), model.primal_[0])
    assert model.dual_[0] <= best * (1 + 1e-7)
    assert model.gap_[0] <= 5e-5
    assert_array_equal(model.stopped_by_, ["gap"])


@settings(derandomize=True, deadline=None, database=None, max_examples=8)
@given(seed=st.integers(0, 10**6), budget=st.integers(1, 10), C=st.sampled_from([0.01, 0.3, 3.0]))
def test_the_bounds_are_certified_whenever_it_stops(data, brute, seed, budget, C):
    X, y = data(seed, n_samples=25, n_features=10)
    norm = BudgetNorm(budget, 10)
    early = solve_fgm(as_design(X), y, norm, C, tol=0.5, stop="change", max_groups=2)
    late = solve_fgm(as_design(X), y, norm, C, tol=1e-3, stop="gap", max_groups=100)
    for result in (early, late):
        alpha = result.alpha
        assert np.all(alpha >= 0)
        dual = alpha.sum() - alpha @ alpha / (4 * C)
        dual -= 0.5 * brute.dual_norm_squared(X.T @ (alpha * y), budget)
        assert_allclose(result.dual, dual, rtol=1e-9)
        assert_allclose(result.primal, objective(X, y, result.w, C, budget, brute), rtol=1e-9)
    assert early.dual <= late.primal * (1 + 1e-9)
    assert late.dual <= early.primal * (1 + 1e-9)
    assert late.gap <= 1e-3


def test_groups_are_the_largest_correlations(data):
    X, y = data(2, n_samples=50, n_features=30)
    with pytest.warns(ConvergenceWarning, match="stopped by max_groups after 1 rounds"):
        first = FGM(budget=4, C=0.1, stop="gap", max_groups=1, fit_intercept=False).fit(X, y)
    assert_array_equal(first.support_, np.sort(np.argsort(-np.abs(X.T @ y))[:4]))
    alpha = np.maximum(0.0, 1.0 - y * first.decision_function(X))
    second = np.argsort(-np.abs(X.T @ (alpha * y)))[:4]
    with pytest.warns(ConvergenceWarning):
        two = FGM(budget=4, C=0.1, stop="gap", max_groups=2, fit_intercept=False).fit(X, y)
    assert set(two.support_) <= set(first.support_) | set(second)
    assert set(two.support_) - set(first.support_)


def test_rounds_improve_both_bounds(data):
    X, y = data(3, n_samples=60, n_features=40)
    model = FGM(budget=3, stop="gap", tol=0.005).fit(X, y)
    (history,) = model.history_
    assert len(history) == model.n_iter_[0] > 3
    assert np.all(np.diff([each.primal for each in history]) <= 0)
    assert np.all(np.diff([each.dual for each in history]) >= 0)
    assert sum(each.n_steps for each in history) == model.n_steps_[0]


def test_a_small_change_ends_the_rounds_and_proves_less(data):
    X, y = data(3, n_samples=60, n_features=40)
    model = FGM(budget=3, tol=0.01).fit(X, y)
    assert_array_equal(model.stopped_by_, ["change"])
    exact = FGM(budget=3, stop="gap", tol=0.001).fit(X, y)
    assert exact.primal_[0] <= model.primal_[0] * 1.001
    assert model.primal_[0] <= exact.primal_[0] * 1.1
    assert model.n_iter_[0] < exact.n_iter_[0]
    assert model.gap_[0] > 0.01


def test_the_subproblem_with_overlapping_groups(data, brute):
    X, y = data(4, n_samples=30, n_features=6)
    groups = [np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([3, 4])]
    problem = GroupProblem(as_design(X), SquaredHingeLoss(y, 0.8))
    assert all(problem.add(group) for group in groups)
    assert not problem.add(np.array([1, 2, 3]))
    assert not problem.add(np.array([], dtype=int))
    found = solve_groups(
        problem, np.zeros(8), step=1.0, tol=1e-7, max_steps=10**5, expired=lambda: False
    )
    parts = np.split(found.v, [3, 6])
    w = np.zeros(6)
    for group, part in zip(groups, parts, strict=True):
        w[group] += part
    value = 0.5 * sum(np.linalg.norm(part) for part in parts) ** 2
    value += 0.8 * np.sum(np.maximum(0.0, 1.0 - y * (X @ w)) ** 2)
    assert_allclose(found.primal, value)
    alpha = 1.6 * np.maximum(0.0, 1.0 - y * (X @ w))
    strengths = [np.linalg.norm(X[:, group].T @ (alpha * y)) for group in groups]
    # At the optimum the groups with weight are equally strong, and as strong as the norm is long.
    lengths = np.array([np.linalg.norm(part) for part in parts])
    assert_allclose(max(strengths), lengths.sum(), rtol=1e-3)
    assert_allclose(np.array(strengths)[lengths > 1e-3], max(strengths), rtol=1e-3)
    assert found.dual <= value <= found.dual * (1 + 1e-6)


def test_sparse_data_with_a_million_columns():
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=200) < 0.4, 1, -1)
    noise = sp.random_array((200, 10**6), density=2e-5, random_state=rng, format="csr")
    signal = sp.csr_array(
        (np.maximum(0.0, y), (np.arange(200), np.full(200, 777_777))), noise.shape
    )
    X = sp.csr_array(noise + signal)
    model = FGM(budget=5, stop="gap", tol=0.05).fit(X, y)
    assert 777_777 in model.support_
    assert model.gap_[0] <= 0.05
    dense = X[:, model.support_].toarray()
    again = FGM(budget=5, stop="gap", tol=0.05).fit(dense, y)
    assert again.dual_[0] <= model.primal_[0] * (1 + 1e-9)
    assert model.dual_[0] <= again.primal_[0] * (1 + 1e-9)


def test_a_tolerance_beyond_double_precision_ends(data):
    """Columns of such different sizes that the proximal steps are over before the gap is 0."""
    X, y = data(1, n_samples=60, n_features=12)
    with pytest.warns(ConvergenceWarning, match="stopped by precision"):
        model = FGM(budget=12, stop="gap", tol=1e-18).fit(X * np.geomspace(1.0, 100.0, 12), y)
    assert_array_equal(model.stopped_by_, ["precision"])
    assert 0 < model.gap_[0] < 1e-8


def test_columns_of_zeros_give_no_features():
    X, y = np.zeros((10, 3)), np.repeat([0, 1], 5)
    with pytest.warns(UserWarning, match="no features"):
        model = FGM(budget=2, fit_intercept=False).fit(X, y)
    assert model.support_.size == 0
    assert_allclose([model.primal_[0], model.dual_[0]], 10.0)
