"""``solve``: limits, callbacks, statuses and what the result holds."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import Progress, Status, solve
from scoresieve.solvers import problem as problem_module
from scoresieve.solvers.limits import relative_gap

SOLVERS = ["bundle", "two_layer"]
both = pytest.mark.parametrize("solver", SOLVERS)


@pytest.fixture
def fit(data):
    """``fit(...)`` solves one problem that takes dozens of rounds; arguments override."""
    X, y = data(0, n_samples=30, n_features=12)

    def run(**changes):
        arguments = {"measure": "f1", "budget": 3, "C": 2.0, "tol": 1e-3} | changes
        return solve(X, y, **arguments)

    return run


class Ticking:
    """A clock that goes on by one second whenever it is read."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        self.seconds += 1.0
        return self.seconds


@both
@pytest.mark.parametrize("max_iter", [1, 2, 7])
def test_max_iter(fit, solver, max_iter):
    result = fit(solver=solver, max_iter=max_iter)
    assert result.status is Status.MAX_ITER
    assert result.n_iter == len(result.history) == max_iter
    assert result.gap > 1e-3
    assert result.gap == pytest.approx(relative_gap(result.primal, result.dual))


@both
def test_max_time_is_honoured_within_one_round(fit, solver, monkeypatch):
    monkeypatch.setattr(problem_module, "perf_counter", Ticking())
    free = fit(solver=solver, tol=1e-2)
    times = [row.time for row in free.history]
    limit = times[len(times) // 2]
    monkeypatch.setattr(problem_module, "perf_counter", Ticking())
    result = fit(solver=solver, tol=1e-2, max_time=limit)
    assert result.status is Status.MAX_TIME
    assert result.history[-1].time >= limit
    assert all(row.time < limit for row in result.history[:-1])
    assert [row.time for row in result.history] == times[: result.n_iter]


@both
def test_a_callback_that_returns_true_stops(fit, solver):
    rows = []

    def stop_at_five(row):
        rows.append(row)
        return row.iteration == 5

    result = fit(solver=solver, callback=stop_at_five)
    assert result.status is Status.CALLBACK
    assert result.n_iter == 5
    assert rows == result.history
    assert all(isinstance(row, Progress) for row in rows)


@both
def test_a_callback_that_returns_anything_else_does_not_stop(fit, solver):
    """A list's append returns None, a sum a number: only True is the word."""
    assert fit(solver=solver, callback=lambda row: 1).status is Status.CONVERGED
    assert fit(solver=solver, callback=lambda row: None).status is Status.CONVERGED


@both
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError, StopIteration])
def test_exceptions_in_the_callback_come_through_and_leave_nothing(fit, solver, error):
    before = fit(solver=solver)

    def interrupt(row):
        if row.iteration == 4:
            raise error("stop")

    with pytest.raises(error, match="stop"):
        fit(solver=solver, callback=interrupt)
    after = fit(solver=solver)
    assert_array_equal(before.w, after.w)
    assert_array_equal(before.dual_point.alpha, after.dual_point.alpha)
    assert [replace(row, time=0.0) for row in before.history] == [
        replace(row, time=0.0) for row in after.history
    ]


@both
def test_convergence_counts_before_the_callback(fit, solver):
    """A callback that stops in the last round does not turn success into a stop."""
    n_iter = fit(solver=solver).n_iter
    result = fit(solver=solver, callback=lambda row: row.iteration == n_iter)
    assert result.gap <= 1e-3
    assert result.status is Status.CONVERGED


@both
def test_the_status_never_denies_a_gap_within_the_tolerance(fit, solver):
    """Whatever round a run is cut off in, the gap that is reported decides."""
    for max_iter in range(1, 40, 3):
        result = fit(solver=solver, max_iter=max_iter, tol=0.3)
        assert result.status.reached_tolerance == (result.gap <= 0.3)


def test_statuses_are_sentences():
    for status in Status:
        assert status.value[0].isupper()
        assert status.value.endswith(".")
    reached = {status for status in Status if status.reached_tolerance}
    assert reached == {Status.CONVERGED, Status.ZERO_MODEL, Status.EMPTY_CHOICE}
    assert "max_iter" in Status.MAX_ITER.value
    assert "max_time" in Status.MAX_TIME.value
    assert "callback" in Status.CALLBACK.value
    assert "smallest_C" in Status.ZERO_MODEL.value


@both
def test_a_tolerance_below_rounding_stalls(data, certified, solver):
    X, y = data(1, n_samples=12, n_features=4)
    problem = {"measure": "f1", "budget": 2, "C": 1.0}
    result = solve(X, y, tol=1e-15, solver=solver, **problem)
    assert result.status in (Status.STALLED, Status.CONVERGED)
    assert certified(X, y, result, **problem).gap <= 1e-6


def test_the_result_explains_itself(fit):
    result = fit(intercept_scaling=1.0)
    assert result.w.shape == (12,)
    assert isinstance(result.intercept, float)
    assert result.dual_point.alpha.shape[0] == result.dual_point.cuts.shape[0]
    assert result.dual_point.cuts.shape[1] == 4
    assert np.all(result.dual_point.alpha > 0)
    assert result.dual_point.alpha.sum() <= 2.0 * (1 + 1e-9)
    assert {"setup", "master", "line search", "pass"} <= set(result.timings)
    assert all(seconds >= 0 for seconds in result.timings.values())
    assert result.history[3].gap == pytest.approx(
        relative_gap(result.history[3].primal, result.history[3].dual)
    )
    with pytest.raises(FrozenInstanceError):
        result.primal = 0.0
    assert_array_equal(pickle.loads(pickle.dumps(result)).w, result.w)


def test_the_intercept_is_the_weight_times_the_value(data, brute):
    """A constant column by hand gives the same scores as ``intercept``."""
    X, y = data(2)
    with_column = solve(
        np.column_stack([X, np.full(30, 4.0)]),
        y,
        measure="f1",
        budget=3,
        tol=1e-6,
        always_features=[10],
    )
    result = solve(X, y, measure="f1", budget=3, tol=1e-6, intercept_scaling=4.0)
    assert result.primal == pytest.approx(with_column.primal, rel=2e-6)
    assert_allclose(result.intercept, 4.0 * with_column.w[10], atol=2e-3)


def test_inputs_are_left_alone(data):
    X, y = data(3)
    X.setflags(write=False)
    y.setflags(write=False)
    copy = X.copy()
    solve(X, y, measure="f1", budget=3)
    assert_array_equal(X, copy)


def test_relative_gap_of_a_zero_primal():
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(4.0, 3.0) == 0.25
