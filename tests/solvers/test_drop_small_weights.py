"""Dropping weights: the objective hardly rises; exact zeros, whole units at a time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scoresieve.solvers.engines import MAX_PRIMAL_RISE, drop_small_weights
from scoresieve.solvers.limits import Limits, Tracker
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.working import WorkingColumns
from tests.helpers import both_solvers

F1, LOGISTIC = {"measure": "f1"}, {"loss": "logistic"}
both_kinds = pytest.mark.parametrize("kind", [F1, LOGISTIC], ids=str)


def setting(X, y, kind=F1, C=1.0, budget=3, **sets):
    return make_problem(X, y, **kind, budget=budget, C=C, **sets)


def objective(problem, X, w):
    return 0.5 * problem.norm.value_squared(w) + problem.C * problem.risk.value(X @ w)


def drop(problem, w, *, primal, dual, tol=0.05):
    """Of weights of all columns; the working columns have an order of their own."""
    working = WorkingColumns(problem)
    working.add(np.arange(w.size))
    tracker = Tracker(Limits(tol, 1), problem.risk.no_dual_point())
    tracker.primal, tracker.dual = primal, dual
    kept, value = drop_small_weights(working, w[working.columns], tracker)
    return working.scattered(kept), value


@pytest.mark.parametrize("tol", [1e-6, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("gap", [0.0, 1e-4, 0.04, 0.6])
@pytest.mark.parametrize("seed", range(4))
@both_kinds
def test_the_objective_rises_by_little(data, kind, seed, gap, tol):
    X, y = data(seed)
    problem = setting(X, y, kind)
    w = np.append([0.6, 0.5, 0.7], 10.0 ** -np.arange(1.0, 8.0)) * np.resize([1, -1], 10)
    primal = objective(problem, X, w)
    dual = (1 - gap) * primal
    kept, value = drop(problem, w, primal=primal, dual=dual, tol=tol)
    assert value == pytest.approx(objective(problem, X, kept), rel=1e-12)
    assert value <= primal + MAX_PRIMAL_RISE * (primal - dual) + 1e-12 * primal
    if gap <= tol:
        assert (value - dual) / value <= tol + 1e-12
    dropped = kept == 0.0
    assert_array_equal(kept[~dropped], w[~dropped])
    assert np.abs(w[dropped]).max(initial=0.0) <= np.abs(w[~dropped]).min(initial=np.inf)


@both_kinds
def test_weights_that_do_not_matter_are_exact_zeros(data, kind):
    X, y = data(5)
    problem = setting(X, y, kind)
    w = np.append([0.6, 0.5, 0.7], np.full(7, 1e-9))
    primal = objective(problem, X, w)
    kept, value = drop(problem, w, primal=primal, dual=0.96 * primal)
    assert np.count_nonzero(kept) == 3
    assert value == pytest.approx(primal, rel=1e-6)


@both_kinds
def test_without_a_gap_nothing_may_get_worse(data, kind):
    X, y = data(6)
    problem = setting(X, y, kind)
    w = 0.3 * np.random.default_rng(0).normal(size=10)
    primal = objective(problem, X, w)
    _, value = drop(problem, w, primal=primal, dual=primal)
    assert value <= primal * (1 + 1e-12)


def test_groups_are_dropped_whole_and_always_columns_stay(data):
    X, y = data(7)
    problem = setting(
        X,
        y,
        feature_groups=[0, 0, 1, 1, 2, 2, 3, 3, 4, 5],
        always_features=[8],
        excluded_features=[9],
    )
    w = np.array([0.6, 0.5, 0.7, 1e-9, 1e-9, 1e-8, 1e-7, 1e-7, 1e-12, 0.0])
    primal = objective(problem, X, w)
    kept, _ = drop(problem, w, primal=primal, dual=0.96 * primal)
    assert_array_equal(kept != 0, [1, 1, 1, 1, 0, 0, 0, 0, 1, 0])


@both_kinds
def test_a_zero_vector_stays_zero(data, kind):
    X, y = data(8)
    problem = setting(X, y, kind)
    kept, value = drop(problem, np.zeros(10), primal=10.0, dual=9.9)
    assert_array_equal(kept, np.zeros(10))
    assert value == pytest.approx(objective(problem, X, np.zeros(10)))


@both_solvers
@pytest.mark.parametrize("kind", [F1, LOGISTIC, {"loss": "hinge"}], ids=str)
def test_the_support_is_sorted_and_smaller_than_the_working_set(data, kind, solver):
    X, y = data(9, n_samples=30, n_features=40)
    result = solver(X, y, budget=3, C=1.0, tol=0.02, **kind)
    assert_array_equal(result.support, np.flatnonzero(result.w))
    assert np.all(np.diff(result.support) > 0)
    assert result.support.size <= result.history[-1].n_working
    before = result.history[-1].primal
    assert result.primal <= before + MAX_PRIMAL_RISE * (before - result.history[-1].dual) * (
        1 + 1e-9
    )
