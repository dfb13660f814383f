"""A fit without features says so, and says which C would give some."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve import Status, solve
from scoresieve.solvers.hard_budget.search import solve_hard_budget
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.path import solve_path
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import solve_problem


@pytest.mark.parametrize("solver", ["bundle", "two_layer"])
@pytest.mark.parametrize("intercept", [0.0, 1.0])
@pytest.mark.parametrize("measure", ["f1", "accuracy", "roc_auc"])
def test_no_C_helps_where_X_is_zero(measure, intercept, solver):
    y = np.repeat([1.0, -1.0], [4, 8])
    result = solve(
        np.zeros((12, 5)), y, measure=measure, budget=2, intercept_scaling=intercept, solver=solver
    )
    assert result.status is Status.ZERO_MODEL
    assert result.smallest_C == np.inf
    assert result.support.size == 0
    assert not result.w.any()
    assert result.gap <= 0.05


def test_no_C_helps_where_labels_contradict(data):
    X, y = data(0)
    result = solve(np.vstack([X, X]), np.append(y, -y), measure="f1", budget=3, C=1e-3)
    assert result.status is Status.ZERO_MODEL
    assert result.smallest_C == np.inf


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-8, 1e-40])
@pytest.mark.parametrize("measure", ["f1", "prbep", "roc_auc"])
def test_the_smallest_C_is_where_features_begin(data, measure, scale):
    """The scale of X moves it by 1/scale^2; the search must find it all the same."""
    X, y = data(1)
    arguments = {"measure": measure, "budget": 3}
    result = solve(scale * X, y, C=1e-6 / scale**2, **arguments)
    assert result.status is Status.ZERO_MODEL
    assert 1e-6 / scale**2 < result.smallest_C < 10 / scale**2
    above = solve(scale * X, y, C=1.02 * result.smallest_C, **arguments)
    below = solve(scale * X, y, C=result.smallest_C / 1.2, **arguments)
    assert above.support.size > 0
    assert above.status is Status.CONVERGED
    assert above.smallest_C is None
    assert below.status is Status.ZERO_MODEL


def test_the_search_starts_from_far_below(data):
    """A C of 1e-30 needs no hundred fits: the dual point rules most of the way out."""
    X, y = data(2)
    near = solve(X, y, measure="f1", budget=3, C=1e-5)
    far = solve(X, y, measure="f1", budget=3, C=1e-30)
    assert far.smallest_C == pytest.approx(near.smallest_C, rel=0.15)


def test_with_an_intercept_the_model_is_constant(data):
    X, y = data(3)
    result = solve(X, y, measure="accuracy", budget=3, C=1e-6, intercept_scaling=1e3)
    assert result.status is Status.ZERO_MODEL
    assert result.support.size == 0
    assert result.intercept < 0
    assert result.primal < 0.8e-6 * y.size
    assert 1e-6 < result.smallest_C < np.inf


def test_always_columns_are_no_features_to_wait_for(data):
    """They have weights even at a tiny C, so that the support is not empty."""
    X, y = data(4)
    result = solve(X, y, measure="f1", budget=3, C=1e-2, always_features=[0], tol=1e-3)
    assert 0 in result.support
    assert result.smallest_C is None


def test_the_time_limit_ends_the_search(data, monkeypatch):
    """The clock jumps past max_time after the fit: no C was found in time."""
    from scoresieve.solvers import problem

    X, y = data(5)
    arguments = {"measure": "f1", "budget": 3, "C": 1e-6}
    assert solve(X, y, **arguments).smallest_C is not None
    times = []

    def slow_clock():
        times.append(0.0)
        return float(len(times))

    monkeypatch.setattr(problem, "perf_counter", slow_clock)
    rounds = solve(X, y, **arguments, max_time=1e6).n_iter
    times.clear()
    result = solve(X, y, **arguments, max_time=30.0)
    assert rounds == result.n_iter
    assert result.status is Status.ZERO_MODEL
    assert result.smallest_C is None


def test_nobody_has_to_look_for_it(data):
    X, y = data(5)
    problem = make_problem(X, y, measure="f1", budget=3, C=1e-6)
    for solve_one in (solve_problem, solve_hard_budget):
        result = solve_one(problem, Limits(0.05, 100, find_smallest_C=False))
        assert result.status is Status.ZERO_MODEL
        assert result.smallest_C is None
    (result,) = solve_path(X, y, [3], measure="f1", C=1e-6, find_smallest_C=False)
    assert result.smallest_C is None
