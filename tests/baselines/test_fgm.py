"""FGM: a conic programme for the same problem, LinearSVC, and the groups as they are generated."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from scoresieve.baselines import FGM
from scoresieve.baselines._fgm_solver import solve_fgm
from scoresieve.baselines._group_problem import GroupProblem, SquaredHingeLoss, solve_groups
from scoresieve.design import as_design
from scoresieve.regularizers import BudgetNorm


def objective(X, y, w, C, budget, brute, always=()):
    """The problem itself, with the norm by bisection."""
    loss = np.sum(np.maximum(0.0, 1.0 - y * (X @ w)) ** 2)
    return 0.5 * brute.norm_squared(w, budget, always_features=always) + C * loss


def conic_optimum(X, y, C, budget, brute, always=()):
    """``min 1/2 ||w_0||^2 + 1/2 sum s + C sum xi^2``, ``w_j^2 <= s_j d_j``, in (w, s, d, xi)."""
    n, m = X.shape
    size = 3 * m + n
    P, q = np.zeros((size, size)), np.zeros(size)
    P[3 * m :, 3 * m :] = 2.0 * C * np.eye(n)
    free = np.setdiff1d(np.arange(m), always)
    P[list(always), list(always)] = 1.0
    q[m + free] = 0.5
    rows, sides = np.zeros((2 * n + 2 * m + 1, size)), np.zeros(2 * n + 2 * m + 1)
    rows[:n, :m], rows[:n, 3 * m :], sides[:n] = -y[:, None] * X, -np.eye(n), -1.0
    rows[n : 2 * n, 3 * m :] = -np.eye(n)
    rows[2 * n : 2 * n + m, 2 * m : 3 * m], sides[2 * n : 2 * n + m] = np.eye(m), 1.0
    rows[2 * n + m : 2 * n + 2 * m, 2 * m : 3 * m] = -np.eye(m)
    rows[-1, 2 * m + free], sides[-1] = 1.0, budget
    blocks = [(rows, sides, clarabel.NonnegativeConeT(sides.size))]
    for j in free:
        cone = np.zeros((3, size))
        cone[0, [m + j, 2 * m + j]] = -1.0
        cone[1, [m + j, 2 * m + j]] = -1.0, 1.0
        cone[2, j] = -2.0
        blocks.append((cone, np.zeros(3), clarabel.SecondOrderConeT(3)))
    return brute.clarabel_solve(P, q, blocks)[1]


@pytest.mark.parametrize("intercept", [0.0, 2.0])
@pytest.mark.parametrize(("budget", "C"), [(1, 1.0), (3, 0.05), (3, 2.0), (12, 1.0)])
def test_the_exact_optimum(data, brute, budget, C, intercept):
    X, y = data(0, n_samples=40, n_features=12)
    model = FGM(
        budget=budget,
        C=C,
        fit_intercept=intercept > 0,
        intercept_scaling=intercept or 1.0,
        stop="gap",
        tol=5e-5,
    ).fit(X, y)
    columns, w, always = X, model.coef_[0], ()
    if intercept:
        columns, always = np.column_stack([X, np.full(y.size, intercept)]), (12,)
        w = np.append(w, model.intercept_ / intercept)
    best = conic_optimum(columns, y, C, budget, brute, always)
    assert_allclose(model.primal_[0], best, rtol=1e-4)
    assert_allclose(objective(columns, y, w, C, budget, brute, always), model.primal_[0])
    assert model.dual_[0] <= best * (1 + 1e-7)
    assert model.gap_[0] <= 5e-5
    assert_array_equal(model.stopped_by_, ["gap"])


def test_a_budget_of_all_features_is_linear_svc(data):
    X, y = data(1, n_samples=60, n_features=8)
    model = FGM(budget=8, C=0.7, stop="gap", tol=1e-6).fit(X, y)
    svc = LinearSVC(C=0.7, tol=1e-10, max_iter=100_000).fit(X, y)
    assert_allclose(model.coef_, svc.coef_, atol=2e-3)
    assert_allclose(model.intercept_, svc.intercept_, atol=2e-3)
    scores = svc.decision_function(X)
    best = 0.5 * (np.sum(svc.coef_**2) + svc.intercept_[0] ** 2)
    best += 0.7 * np.sum(np.maximum(0.0, 1.0 - y * scores) ** 2)
    assert_allclose(model.primal_[0], best, rtol=1e-5)
    assert len(model.history_[0]) == 1


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


def test_no_time_gives_a_bounded_model_and_a_warning(data):
    X, y = data(5, n_samples=60, n_features=40)
    with pytest.warns(ConvergenceWarning, match="stopped by max_time"):
        model = FGM(budget=3, stop="gap", tol=1e-6, max_time=1e-6).fit(X, y)
    assert 0 <= model.dual_[0] <= model.primal_[0]


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


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stop": "soon"}, "stop must be one of"),
        ({"max_groups": 0}, "max_groups must be an integer"),
        ({"tol": 0.0}, "tol must be a positive"),
        ({"budget": 0}, "budget must be an integer"),
        ({"C": -1.0}, "C must be a positive"),
        ({"max_time": -1.0}, "max_time must be a positive"),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be a positive"),
    ],
)
def test_wrong_parameters(data, wrong, message):
    X, y = data(0)
    with pytest.raises(ValueError, match=message):
        FGM(**wrong).fit(X, y)
