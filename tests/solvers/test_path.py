"""``solve_path``: certified like fits alone, fewer rounds, and the same bits in any order."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from scoresieve import Status, solve
from scoresieve.solvers.bundle import rounds
from scoresieve.solvers.problem import make_problem
from tests.helpers import ALL_ROLES, solve_path

BUDGETS = [1, 2, 4]
F1, LOGISTIC, HINGE = {"measure": "f1"}, {"loss": "logistic"}, {"loss": "hinge"}
kinds = pytest.mark.parametrize("kind", [F1, LOGISTIC, HINGE], ids=str)


def assert_same_bits(first, second):
    assert_array_equal(first.w, second.w)
    assert type(first.dual_point) is type(second.dual_point)
    for field in fields(first.dual_point):
        numbers = (getattr(each.dual_point, field.name) for each in (first, second))
        assert_array_equal(*numbers)
    assert (first.intercept, first.primal, first.dual) == (
        second.intercept,
        second.primal,
        second.dual,
    )
    assert [replace(row, time=0.0) for row in first.history] == [
        replace(row, time=0.0) for row in second.history
    ]


@pytest.fixture(scope="module")
def wide(data):
    """100 x 200, the first five columns decide; with a small C a dozen rounds a fit."""
    return data(5, n_samples=100, n_features=200, n_informative=5, noise=0.3)


@pytest.mark.parametrize(
    "columns",
    [{"intercept_scaling": 2.0}, ALL_ROLES],
    ids=["intercept", "all"],
)
def test_every_budget_is_certified_for_every_measure(data, brute, certified, measure, columns):
    """At prices that are found with all kinds of columns at once, and that are given otherwise."""
    X, y = data(0)
    arguments = {"measure": measure, "C": 1.0, **columns}
    if len(columns) < 2 and brute.takes_price(measure, "intercept_scaling" in columns):
        arguments["price"] = 0.5
    path = solve_path(X, y, BUDGETS, tol=1e-3, **arguments)
    for budget, result in zip(BUDGETS, path, strict=True):
        check = certified(X, y, result, budget=budget, **arguments)
        assert result.status is Status.CONVERGED
        assert check.gap <= 1e-3
        assert check.primal == pytest.approx(result.primal, rel=1e-9)
        assert check.dual == pytest.approx(result.dual, rel=1e-9)
        assert_array_equal(result.support, np.flatnonzero(result.w))


@pytest.mark.parametrize(("seed", "C"), [(0, 0.03), (2, 0.01), (10, 0.1)])
def test_a_price_that_falls_on_the_way_is_certified(certified, seed, C):
    """What was computed of the cuts at the price of a larger budget does not serve at another."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 8))
    y = np.where(0.6 * X.sum(axis=1) + 1.5 * rng.normal(size=200) > 2.5, 1.0, -1.0)
    arguments = {"measure": "accuracy", "C": C, "intercept_scaling": 1.0}
    budgets = [8, 4, 2, 1]
    path = solve_path(X, y, budgets, **arguments)
    assert path[0].price == 1.0 > min(result.price for result in path)
    for budget, result in zip(budgets, path, strict=True):
        check = certified(X, y, result, budget=budget, **arguments)
        assert check.primal == pytest.approx(result.primal, rel=1e-9)
        assert check.dual == pytest.approx(result.dual, rel=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared", "epsilon_insensitive"])
def test_every_budget_is_certified_for_losses_and_column_sets(data, certified, loss, columns):
    X, y = data(0)
    arguments = {"loss": loss, "C": 1.0, **columns}
    path = solve_path(X, y, BUDGETS, tol=1e-3, **arguments)
    for budget, result in zip(BUDGETS, path, strict=True):
        check = certified(X, y, result, budget=budget, **arguments)
        alone = solve(X, y, budget=budget, tol=1e-3, **arguments)
        assert result.status is Status.CONVERGED
        assert check.gap <= 1e-3
        assert check.primal == pytest.approx(result.primal, rel=1e-9)
        assert check.dual == pytest.approx(result.dual, rel=1e-9)
        assert max(result.dual, alone.dual) <= min(result.primal, alone.primal) * (1 + 1e-9)


def test_optima_equal_the_enumeration_of_all_labellings(data, brute, columns):
    """n = 6, from a budget that covers all columns down to one."""
    X, y = data(11, n_samples=6, noise=2.0)
    n_units = make_problem(X, y, measure="f1", budget=1, C=2.0, **columns).norm.n_units
    budgets = [n_units, 2, 1]
    path = solve_path(X, y, budgets, measure="f1", C=2.0, tol=1e-5, **columns)
    for budget, result in zip(budgets, path, strict=True):
        cuts, losses, sets = brute.enumerated(X, y, "f1", price=result.price, **columns)
        expected, _ = brute.optimum(cuts, losses, 2.0, budget, **sets)
        assert result.dual <= expected * (1 + 1e-7)
        assert result.primal >= expected * (1 - 1e-7)
        assert result.gap <= 1e-5


@pytest.mark.parametrize(
    "kind", [F1, {"measure": "rec@2p"}, {"measure": "roc_auc"}, LOGISTIC, HINGE], ids=str
)
def test_agrees_with_fits_alone_in_fewer_rounds(wide, certified, kind):
    X, y = wide
    budgets = [2, 5, 10, 20, 40, 80]
    arguments = {**kind, "C": 0.02, "intercept_scaling": 1.0}
    path = solve_path(X, y, budgets, tol=0.02, **arguments)
    alone = [solve(X, y, budget=budget, tol=0.02, **arguments) for budget in budgets]
    for budget, result, cold in zip(budgets, path, alone, strict=True):
        assert certified(X, y, result, budget=budget, **arguments).gap <= 0.02
        assert max(result.dual, cold.dual) <= min(result.primal, cold.primal) * (1 + 1e-9)
    assert sum(each.n_iter for each in path) < 0.9 * sum(each.n_iter for each in alone)


@kinds
def test_the_largest_budget_is_fitted_as_by_solve(wide, kind):
    X, y = wide
    arguments = {**kind, "C": 0.02, "intercept_scaling": 1.0}
    path = solve_path(X, y, [3, 30], **arguments)
    assert_same_bits(path[1], solve(X, y, budget=30, **arguments))


@kinds
def test_bounds_follow_the_budget(wide, kind):
    """The optimum never rises with the budget, so no lower bound passes a smaller one's primal."""
    X, y = wide
    path = solve_path(X, y, range(1, 30, 4), C=0.02, **kind)
    for smaller, larger in itertools.pairwise(path):
        assert larger.dual <= smaller.primal


@pytest.fixture(scope="module")
def sorted_path(data):
    """``sorted_path(kind)`` gives X, y, and the models of four budgets in their order."""
    X, y = data(3, n_samples=60, n_features=40)
    known = {}

    def get(kind):
        if str(kind) not in known:
            path = solve_path(X, y, [1, 3, 8, 20], C=0.1, **kind)
            known[str(kind)] = dict(zip([1, 3, 8, 20], path, strict=True))
        return X, y, known[str(kind)]

    return get


@settings(derandomize=True, deadline=None, database=None, max_examples=10)
@given(order=st.permutations([1, 3, 3, 8, 20]), kind=st.sampled_from([F1, LOGISTIC, HINGE]))
def test_order_and_repeats_do_not_matter(sorted_path, order, kind):
    X, y, by_budget = sorted_path(kind)
    path = solve_path(X, y, order, C=0.1, **kind)
    assert len(path) == 5
    for budget, result in zip(order, path, strict=True):
        assert_same_bits(result, by_budget[budget])
    first, second = (path[place] for place in range(5) if order[place] == 3)
    assert first is second


def test_a_start_within_the_tolerance_needs_one_round_or_seldom_two(data, certified):
    """The larger budget's model and dual point already prove the gap for the smaller one.

    Not all cuts are handed over, and the master is solved to a third of the tolerance, so that one
    round is the rule and not a promise.
    """
    arguments = {"measure": "f1", "price": 1.0, "C": 0.02, "intercept_scaling": 1.0}
    rounds = []
    for seed, budget in itertools.product(range(6), [80, 40, 20, 10]):
        X, y = data(seed, n_samples=100, n_features=200, n_informative=5, noise=0.3)
        smaller, larger = solve_path(X, y, [budget - 1, budget], **arguments)
        assert smaller.status is Status.CONVERGED
        if certified(X, y, larger, budget=budget - 1, **arguments).gap <= 0.05:
            rounds.append(smaller.n_iter)
    assert len(rounds) >= 12
    assert max(rounds) <= 2
    assert np.mean(np.array(rounds) == 1) >= 0.9


@kinds
def test_sparse_equals_dense(wide, kind):
    X, y = wide
    X = np.where(np.abs(X) > 1.0, X, 0.0)
    dense = solve_path(X, y, [2, 10, 40], C=0.02, **kind)
    for form in (sp.csr_array, sp.csc_matrix):
        for one, other in zip(
            dense, solve_path(form(X), y, [2, 10, 40], C=0.02, **kind), strict=True
        ):
            assert other.gap <= 0.05
            assert max(one.dual, other.dual) <= min(one.primal, other.primal) * (1 + 1e-9)


def test_columns_left_out_come_back(wide, certified, monkeypatch):
    """Take over fewer units than a budget needs: passes bring what is missing."""
    X, y = wide
    monkeypatch.setattr(rounds, "UNITS_PER_BUDGET", 1)
    monkeypatch.setattr(rounds, "MORE_UNITS", 0)
    arguments = {"measure": "f1", "price": 1.0, "C": 0.02, "intercept_scaling": 1.0}
    path = solve_path(X, y, [5, 80], tol=1e-3, **arguments)
    assert path[0].history[0].n_working <= 6
    assert path[0].history[-1].n_working > 6
    assert certified(X, y, path[0], budget=5, **arguments).gap <= 1e-3


@kinds
def test_time_is_for_the_whole_path_and_every_budget_gets_a_round(wide, certified, kind):
    X, y = wide
    arguments = {**kind, "C": 0.02}
    path = solve_path(X, y, [2, 10, 40], tol=1e-6, max_time=1e-9, **arguments)
    for budget, result in zip([2, 10, 40], path, strict=True):
        assert result.status is Status.MAX_TIME
        assert result.n_iter == 1
        check = certified(X, y, result, budget=budget, **arguments)
        assert check.gap == pytest.approx(result.gap, rel=1e-9)


@kinds
def test_rounds_are_for_each_budget(wide, kind):
    X, y = wide
    most = 2 if kind == LOGISTIC else 3
    path = solve_path(X, y, [2, 10, 40], C=0.02, tol=1e-13, max_iter=most, **kind)
    assert [result.n_iter for result in path] == [most] * 3
    assert {result.status for result in path} == {Status.MAX_ITER}


@kinds
def test_a_callback_sees_every_round_and_ends_the_path(wide, kind):
    X, y = wide
    arguments = {**kind, "C": 0.02, "tol": 1e-5 if kind == LOGISTIC else 0.01}
    rows = []
    path = solve_path(X, y, [2, 10, 40], callback=rows.append, **arguments)
    assert rows == [row for result in reversed(path) for row in result.history]
    assert [row.iteration for row in rows].count(1) == 3
    n_first = path[2].n_iter
    seen = []

    def stop_in_the_second(row):
        seen.append(row)
        return len(seen) == n_first + 1

    stopped = solve_path(X, y, [2, 10, 40], callback=stop_in_the_second, **arguments)
    assert len(seen) == n_first + 1
    assert [result.n_iter for result in stopped] == [1, 1, n_first]
    assert [result.status for result in stopped[:2]] == [Status.CALLBACK] * 2
    assert stopped[2].status is Status.CONVERGED


@kinds
def test_budgets_above_the_columns_are_lowered_with_one_warning(data, kind):
    X, y = data(1)
    with pytest.warns(UserWarning, match=r"budget=500 is more than the 10 columns") as caught:
        path = solve_path(X, y, [2, 50, 500, 10], **kind)
    assert len(caught) == 1
    assert path[1] is path[2] is path[3]
    assert_same_bits(path[3], solve(X, y, budget=10, **kind))


@kinds
def test_no_features_at_a_small_C(data, certified, kind):
    X, y = data(1)
    path = solve_path(X, y, [1, 5], C=1e-6, tol=0.05, **kind)
    for budget, result in zip([1, 5], path, strict=True):
        assert result.status is Status.ZERO_MODEL
        assert result.support.size == 0
        assert certified(X, y, result, budget=budget, C=1e-6, **kind).gap <= 0.05
        assert result.smallest_C > 1e-6


@pytest.mark.parametrize(
    ("budgets", "message"),
    [
        ([], "budgets is empty"),
        ([3, 0], r"budgets\[1\] must be an integer of at least 1; got 0"),
        ([-2], r"budgets\[0\] must be an integer of at least 1; got -2"),
        ([2.0], r"budgets\[0\] must be an integer of at least 1; got 2.0"),
        ([True], r"budgets\[0\] must be an integer"),
        (5, "budgets must be a list of integers; got 5"),
        ("12", "budgets must be a list of integers; got '12'"),
    ],
)
def test_bad_budgets(data, budgets, message):
    X, y = data(1)
    with pytest.raises(ValueError, match=message):
        solve_path(X, y, budgets, measure="f1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"tol": 0.0}, "tol"), ({"max_iter": 0}, "max_iter"), ({"C": -1.0}, "C must be")],
)
def test_other_bad_arguments(data, changes, message):
    X, y = data(1)
    with pytest.raises(ValueError, match=message):
        solve_path(X, y, [2], **({"measure": "f1"} | changes))
    with pytest.raises(TypeError, match="callback"):
        solve_path(X, y, [2], measure="f1", callback=3)


def test_budgets_may_come_from_a_generator_or_an_array(data):
    X, y = data(1)
    expected = solve_path(X, y, [1, 4], measure="f1")
    for budgets in (np.array([1, 4]), (b for b in (1, 4)), range(1, 5, 3)):
        for one, other in zip(expected, solve_path(X, y, budgets, measure="f1"), strict=True):
            assert_same_bits(one, other)
