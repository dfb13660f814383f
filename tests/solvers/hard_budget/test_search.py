"""Hard budgets: at most k units, certified, and near the best of all supports on tiny problems."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import Status
from scoresieve.solvers.hard_budget import search
from scoresieve.solvers.hard_budget.search import choose_units, solve_hard_budget
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.splicing import splice as splicing
from scoresieve.solvers.splicing.refits import Refitter
from scoresieve.solvers.working import WarmStart

F1, LOGISTIC, HINGE = {"measure": "f1"}, {"loss": "logistic"}, {"loss": "hinge"}
kinds = pytest.mark.parametrize("kind", [F1, LOGISTIC, HINGE], ids=str)


def solve_hard(X, y, *, tol=0.02, max_iter=500, max_time=None, solver=None, **arguments):
    problem = make_problem(X, y, **arguments)
    return solve_hard_budget(problem, Limits(tol, max_iter, max_time), solver=solver)


def units_used(w, always_features=(), feature_groups=None):
    """The columns or groups with a non-zero weight, besides those always in."""
    groups = np.arange(w.size) if feature_groups is None else np.asarray(feature_groups)
    free = np.setdiff1d(np.flatnonzero(w), list(always_features))
    return np.unique(groups[free])


@pytest.mark.parametrize("budget", [1, 3])
@pytest.mark.parametrize("C", [0.3, 5.0])
@kinds
def test_at_most_k_units_and_a_certificate(data, certified, columns, budget, C, kind):
    X, y = data(0, n_samples=40)
    arguments = {**kind, "budget": budget, "C": C, **columns}
    result = solve_hard(X, y, **arguments)
    names = ("always_features", "feature_groups")
    sets = {name: columns[name] for name in names if name in columns}
    assert units_used(result.w, **sets).size <= budget
    assert not np.any(result.w[columns.get("excluded_features", [])])
    assert_array_equal(result.support, np.flatnonzero(result.w))
    assert result.l0_gap == result.gap == pytest.approx(1 - result.dual / result.primal)
    check = certified(X, y, result, **arguments)
    assert_allclose(
        [check.primal, check.dual, check.gap], [result.primal, result.dual, result.gap], rtol=1e-9
    )


def every_support(m, k, sets):
    """The columns of every choice of k units, with those always in."""
    groups = sets["feature_groups"]
    groups = np.arange(m) if groups is None else np.asarray(groups)
    free = np.setdiff1d(np.arange(m), [*sets["always_features"], *sets["excluded_features"]])
    for chosen in itertools.combinations(np.unique(groups[free]), k):
        inside = free[np.isin(groups[free], chosen)]
        yield np.concatenate([inside, sets["always_features"]]).astype(int)


def best_of_all_supports(brute, X, y, k, C, measure, columns, price):
    """The l0 optimum: the least conic optimum over all sets of k units, each with the l2 norm."""
    A, losses, sets = brute.enumerated(X, y, measure, price=price, **columns)
    return min(
        brute.optimum(A[:, kept], losses, C, kept.size)[0]
        for kept in every_support(A.shape[1], k, sets)
    )


def best_ridge_of_all_supports(brute, X, y, k, C, columns):
    """The same for squared losses, where each support has a closed form."""
    _, _, sets = brute.enumerated(X, np.where(np.arange(y.size) < 2, 1.0, -1.0), "f1", **columns)
    if "intercept_scaling" in columns:
        X = np.column_stack([X, np.full(y.size, columns["intercept_scaling"])])
    values = []
    for kept in every_support(X.shape[1], k, sets):
        part = X[:, kept]
        w = np.linalg.solve(part.T @ part + np.eye(kept.size) / C, part.T @ y)
        values.append(0.5 * w @ w + 0.5 * C * np.sum((y - part @ w) ** 2))
    return min(values)


some_columns = pytest.mark.parametrize(
    "columns",
    [
        {},
        {"intercept_scaling": 2.0},
        {"always_features": [1]},
        {"excluded_features": [0]},
        {"feature_groups": [0, 0, 1, 2, 2]},
        {"intercept_scaling": 1.0, "always_features": [3], "feature_groups": [0, 0, 1, 2, 3]},
    ],
    ids=["plain", "intercept", "always", "excluded", "groups", "all"],
)


@pytest.mark.parametrize("measure", ["f1", "prbep", "accuracy", "hinge"])
@some_columns
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("price", [0.2, "auto", "paper"])
def test_between_the_bounds_of_all_supports(data, brute, measure, columns, seed, price):
    """J_k >= the best of all supports >= D, and J_k is within a few percent of it."""
    X, y = data(seed, n_samples=8, n_features=5)
    kind = HINGE if measure == "hinge" else {"measure": measure, "price": price}
    if price == "paper" and measure != "hinge":
        kind = {"measure": measure, "bound": "paper"}
    elif price == 0.2 and not brute.takes_price(measure, "intercept_scaling" in columns):
        kind["price"] = 1.0
    result = solve_hard(X, y, budget=2, C=0.7, tol=1e-3, **kind, **columns)
    # The sum of the hinge losses is the risk of the accuracy.
    enumerated = "accuracy" if measure == "hinge" else measure
    price = None if "bound" in kind or kind is HINGE else result.price
    best = best_of_all_supports(brute, X, y, 2, 0.7, enumerated, columns, price)
    assert result.dual <= best * (1 + 1e-7)
    assert result.primal >= best * (1 - 1e-7)
    assert result.primal <= best * 1.15


@some_columns
@pytest.mark.parametrize("seed", range(4))
def test_between_the_bounds_of_all_ridge_regressions(data, brute, columns, seed):
    X, y = data(seed, n_samples=8, n_features=5)
    y = X[:, 0] - X[:, 2] + 0.5 * y
    result = solve_hard(X, y, loss="squared", budget=2, C=0.7, tol=1e-3, **columns)
    best = best_ridge_of_all_supports(brute, X, y, 2, 0.7, columns)
    assert result.dual <= best * (1 + 1e-7)
    assert result.primal >= best * (1 - 1e-7)
    assert result.primal <= best * 1.15


@settings(derandomize=True, deadline=None, database=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    budget=st.integers(1, 8),
    C=st.sampled_from([0.1, 1.0, 10.0]),
    kind=st.sampled_from([F1, LOGISTIC, HINGE]),
)
def test_never_more_than_k(seed, budget, C, kind):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(20, 8)).astype(float)
    y = np.where(rng.random(20) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    result = solve_hard(X, y, budget=budget, C=C, tol=0.1, **kind)
    assert result.support.size <= budget
    assert result.dual <= result.primal * (1 + 1e-9)


@kinds
def test_swaps_never_worsen_and_sometimes_help(data, monkeypatch, kind):
    problems = [data(seed, n_samples=60, n_features=30, noise=1.5) for seed in range(6)]
    arguments = {**kind, "budget": 4, "C": 0.5}
    with_swaps = np.array([solve_hard(X, y, **arguments).primal for X, y in problems])
    # The squared hinge that a start comes from is spliced all the same.
    monkeypatch.setattr(search, "splice", lambda refitter, best, k: best)
    without = np.array([solve_hard(X, y, **arguments).primal for X, y in problems])
    assert np.all(with_swaps <= without)
    assert np.any(with_swaps < (1 - splicing.LEAST_GAIN) * without)


@kinds
def test_swaps_find_the_better_column(kind):
    """From a start that keeps a column of noise, one swap gets to the column that decides."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = np.where(X[:, 2] > 0.5, 1.0, -1.0)
    problem = make_problem(X, y, **kind, budget=1, C=5.0)
    refitter = Refitter(problem, Limits(0.01, 200))
    start = refitter.refit(np.array([4]))
    best = splicing.splice(refitter, start, 1)
    assert start.units.tolist() == [4]
    assert best.units.tolist() == [2]
    assert best.primal < start.primal


@kinds
def test_never_above_a_start(data, kind):
    X, y = data(8, n_samples=60, n_features=12, noise=1.5)
    problem = make_problem(X, y, **kind, budget=3, C=0.5)
    limits = Limits(0.02, 500)
    for units in ([0, 1, 2], [9, 10, 11], [4]):
        start = Refitter(problem, limits).refit(np.array(units))
        best = choose_units(problem, limits, [np.array(units)])
        assert best.primal <= start.primal * (1 + 1e-12)


@kinds
def test_a_budget_of_all_columns_is_the_relaxed_problem(data, kind):
    X, y = data(3)
    arguments = {**kind, "budget": 10, "C": 2.0}
    hard = solve_hard(X, y, tol=1e-4, **arguments)
    relaxed = solve_problem(make_problem(X, y, **arguments), Limits(1e-4, 500))
    assert hard.primal == pytest.approx(relaxed.primal, rel=2e-4)
    assert hard.l0_gap <= 1e-4
    assert hard.status is Status.CONVERGED


def test_both_solvers(data):
    X, y = data(4)
    arguments = {"measure": "f1", "budget": 2, "C": 2.0, "intercept_scaling": 1.0, "tol": 1e-3}
    bundle = solve_hard(X, y, **arguments)
    two_layer = solve_hard(X, y, solver="two_layer", **arguments)
    assert_array_equal(bundle.support, two_layer.support)
    assert bundle.primal == pytest.approx(two_layer.primal, rel=0.01)


@kinds
def test_a_tiny_C_gives_the_zero_model_and_the_smallest_useful_C(data, kind):
    X, y = data(5)
    arguments = {**kind, "budget": 3, "tol": 0.05}
    result = solve_hard(X, y, C=1e-6, **arguments)
    if kind == LOGISTIC:
        # Tiny weights of the k best columns lower a smooth objective a little.
        assert result.support.size == 3
        return
    assert result.status is Status.ZERO_MODEL
    assert result.support.size == 0
    assert not np.any(result.w)
    assert 1e-6 < result.smallest_C < np.inf
    assert solve_hard(X, y, C=1.2 * result.smallest_C, **arguments).support.size > 0


def test_columns_that_are_all_zero():
    """Nothing to select and nothing to refit on: the zero model, and no C that helps."""
    y = np.array([1.0, 1.0, -1.0, -1.0])
    result = solve_hard(np.zeros((4, 3)), y, measure="f1", budget=2, C=1.0)
    assert result.status is Status.ZERO_MODEL
    assert result.primal == 2.0
    assert 1.96 <= result.dual <= 2.0
    assert result.smallest_C == np.inf


@kinds
def test_limits(data, certified, kind):
    X, y = data(6, n_samples=60, n_features=30, n_informative=6, noise=1.5)
    problem = {**kind, "budget": 4, "C": 5.0}
    short = solve_hard(X, y, max_iter=2, tol=1e-9, **problem)
    assert short.status is Status.MAX_ITER
    assert short.n_iter == len(short.history) == 2
    assert short.support.size <= 4
    late = solve_hard(X, y, max_time=1e-9, tol=1e-9, **problem)
    assert late.status is Status.MAX_TIME
    assert late.n_iter == 1
    # The first round of the smooth engine sees no feature.
    assert (0 if kind == LOGISTIC else 1) <= late.support.size <= 4
    assert certified(X, y, late, **problem).gap == pytest.approx(late.gap, rel=1e-9)


@pytest.mark.parametrize("kind", [F1, HINGE], ids=str)
def test_a_warm_start_needs_fewer_rounds(data, kind):
    X, y = data(7, n_samples=60, n_features=30)
    problem = make_problem(X, y, **kind, budget=4, C=0.5)
    limits = Limits(0.01, 500)
    cold = solve_problem(problem, limits)
    warm = WarmStart(cold.support, cold.w[cold.support], cold.dual_point)
    again = solve_problem(problem, limits, warm=warm)
    assert again.n_iter < cold.n_iter
    assert again.gap <= 0.01
    hard = solve_hard_budget(problem, limits, warm=warm)
    assert hard.n_iter < solve_hard_budget(problem, limits).n_iter
    # The paper's algorithm starts anew.
    coarse = Limits(0.2, 500)
    anew, usual = (
        solve_problem(problem, coarse, solver="two_layer", warm=each) for each in (warm, None)
    )
    assert_array_equal(anew.w, usual.w)
