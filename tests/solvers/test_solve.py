"""``solve``: limits, callbacks, statuses and what the result holds."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields, replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import Progress, Status, certify, solve
from scoresieve.solvers import engines as engines_module
from scoresieve.solvers import limits as limits_module
from scoresieve.solvers.bundle.rounds import run_bundle
from scoresieve.solvers.engines import engine_for
from scoresieve.solvers.limits import Limits, relative_gap
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.smooth.rounds import run_smooth
from scoresieve.solvers.solve import default_tol, solve_problem
from scoresieve.solvers.working import WarmStart
from tests.helpers import SOLVERS, both_solvers, solve_path

engines = pytest.mark.parametrize("fit", ["bundle", "two_layer", "smooth"], indirect=True)


@pytest.fixture
def fit(data, request):
    """``fit(...)`` solves a problem that takes a dozen rounds or more; arguments override."""
    name = getattr(request, "param", "bundle")
    if name == "smooth":
        X, y = data(0, n_samples=60, n_features=1000)
        usual = {"loss": "logistic", "budget": 1, "C": 5.0, "tol": 1e-9}
    else:
        X, y = data(0, n_samples=30, n_features=12)
        usual = {"measure": "f1", "budget": 3, "C": 2.0, "tol": 1e-3}

    def run(**changes):
        return SOLVERS.get(name, solve)(X, y, **usual | changes)

    run.tol, run.ends_within_a_round = usual["tol"], name == "smooth"
    return run


def numbers_of(point):
    """All that a dual point holds."""
    return [getattr(point, field.name) for field in fields(point)]


class Ticking:
    """A clock that goes on by one second whenever it is read."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        self.seconds += 1.0
        return self.seconds


@engines
@pytest.mark.parametrize("max_iter", [1, 2, 7])
def test_max_iter(fit, max_iter):
    result = fit(max_iter=max_iter)
    assert result.status is Status.MAX_ITER
    assert result.n_iter == len(result.history) == max_iter
    assert result.gap > fit.tol
    assert result.gap == pytest.approx(relative_gap(result.primal, result.dual))


@engines
def test_max_time_is_honoured_within_one_round(fit, monkeypatch):
    # With its price given a measure has no other fits.
    given = {} if fit.ends_within_a_round else {"price": 0.5}
    monkeypatch.setattr(limits_module, "perf_counter", Ticking())
    free = fit(tol=10 * fit.tol, max_time=1e9, **given)
    times = [row.time for row in free.history]
    limit = times[len(times) // 2]
    monkeypatch.setattr(limits_module, "perf_counter", Ticking())
    result = fit(tol=10 * fit.tol, max_time=limit, **given)
    assert result.status is Status.MAX_TIME
    assert result.history[-1].time >= limit
    assert all(row.time < limit for row in result.history[:-1])
    n_whole = result.n_iter - fit.ends_within_a_round
    assert [row.time for row in result.history[:n_whole]] == times[:n_whole]
    assert result.history[-1].time <= times[result.n_iter - 1]


@engines
def test_a_callback_that_returns_true_stops(fit):
    rows = []

    def stop_at_five(row):
        rows.append(row)
        return row.iteration == 5

    result = fit(callback=stop_at_five)
    assert result.status is Status.CALLBACK
    assert result.n_iter == 5
    assert rows == result.history
    assert all(isinstance(row, Progress) for row in rows)


class TestNothingRunsAfterTheWordToStop:
    """Neither at another price, nor for the smallest C, nor from the relaxed solution."""

    @pytest.fixture
    def runs(self, monkeypatch):
        """One entry for each run of an engine."""
        found = []

        def counted(problem, tracker, warm):
            found.append(problem.risk)
            return run_bundle(problem, tracker, warm)

        monkeypatch.setattr(engines_module, "run_bundle", counted)
        return found

    @pytest.fixture
    def noise(self):
        """300 rows of which 5 % are positive, whatever the columns say."""
        rng = np.random.default_rng(1)
        return rng.normal(size=(300, 20)), np.where(rng.random(300) < 0.05, 1.0, -1.0)

    @pytest.mark.parametrize("word", [True, np.True_], ids=repr)
    @pytest.mark.parametrize("kind", [{"budget": 5}, {"n_features_to_select": 5}], ids=str)
    def test_prices_and_searches(self, noise, runs, word, kind):
        told = []

        def stop(row):
            told.append(len(runs))
            return word

        arguments = {"measure": "prec@5", "C": 0.1, "intercept_scaling": 100.0, **kind}
        result = solve(*noise, callback=stop, **arguments)
        assert told == [len(runs)]
        assert result.status is Status.CALLBACK
        assert result.n_iter == 1
        assert "budget" not in kind or len(runs) == 1

    def test_the_smallest_C(self, data, runs):
        arguments = {"measure": "accuracy", "price": 1.0, "budget": 3, "C": 1e-6}
        usual = solve(*data(3), **arguments)
        assert usual.smallest_C > 1e-6
        assert len(runs) > 1
        runs.clear()
        result = solve(*data(3), callback=lambda row: row.iteration == usual.n_iter, **arguments)
        assert result.status is usual.status is Status.ZERO_MODEL
        assert result.smallest_C is None
        assert len(runs) == 1

    def test_weights_at_a_price_that_fell_before_the_stop(self, certified, runs):
        """The search has features at a price at which the relaxed problem starts and ends empty."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 5))
        y = np.where(X[:, 0] + 2 * rng.normal(size=60) > 2, 1.0, -1.0)
        arguments = {"measure": "accuracy", "budget": 2, "C": 0.01, "intercept_scaling": 1.0}
        told = []

        def stop_at_the_second_price(row):
            told.append((runs[-1].price, len(runs)))
            return told[-1][0] < told[0][0]

        nothing = WarmStart(np.zeros(0, dtype=np.int64), np.zeros(0))
        result = solve_problem(
            make_problem(X, y, **arguments),
            Limits(0.3, 500, callback=stop_at_the_second_price),
            hard=True,
            warm=nothing,
        )
        assert told[-1] == (result.price, len(runs))
        assert result.price < told[0][0]
        assert result.support.size == 2
        check = certified(X, y, result, **arguments)
        assert check.primal == pytest.approx(result.primal, rel=1e-12)
        assert check.dual == pytest.approx(result.dual, rel=1e-9)
        assert result.refit_gap == result.gap


@engines
def test_a_callback_that_returns_anything_else_does_not_stop(fit):
    """A list's append returns None, a sum a number: only True is the word."""
    assert fit(callback=lambda row: 1).status is Status.CONVERGED
    assert fit(callback=lambda row: None).status is Status.CONVERGED


@engines
def test_exceptions_in_the_callback_come_through_and_leave_nothing(fit):
    before = fit()

    def interrupt(error, row):
        if row.iteration == 4:
            raise error("stop")

    for error in (KeyboardInterrupt, ZeroDivisionError, StopIteration):
        with pytest.raises(error, match="stop"):
            fit(callback=partial(interrupt, error))
    after = fit()
    assert_array_equal(before.w, after.w)
    pairs = zip(numbers_of(before.dual_point), numbers_of(after.dual_point), strict=True)
    for one, other in pairs:
        assert_array_equal(one, other)
    assert [replace(row, time=0.0) for row in before.history] == [
        replace(row, time=0.0) for row in after.history
    ]


@engines
def test_convergence_counts_before_the_callback(fit):
    """A callback that stops in the last round does not turn success into a stop."""
    n_iter = fit().n_iter
    result = fit(callback=lambda row: row.iteration == n_iter)
    assert result.gap <= fit.tol
    assert result.status is Status.CONVERGED


@engines
def test_the_status_never_denies_a_gap_within_the_tolerance(fit):
    """Whatever round a run is cut off in, the gap that is reported decides."""
    for max_iter in range(1, 40, 3):
        result = fit(max_iter=max_iter, tol=0.3)
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


@both_solvers
def test_a_tolerance_below_rounding_stalls(data, certified, solver):
    X, y = data(1, n_samples=12, n_features=4)
    problem = {"measure": "f1", "price": 1.0, "budget": 2, "C": 1.0}
    result = solver(X, y, tol=1e-15, **problem)
    assert result.status is (Status.CONVERGED if result.gap <= 1e-15 else Status.STALLED)
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
    """A constant column by hand gives the same scores as ``intercept_scaling``."""
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


class TestKinds:
    """A measure or a loss, and the engine that suits it."""

    def test_one_of_both(self, data):
        X, y = data(4)
        for kind in ({}, {"measure": "f1", "loss": "hinge"}):
            with pytest.raises(ValueError, match="pass a measure or a loss, one of them"):
                solve(X, y, budget=3, **kind)

    @pytest.mark.parametrize(
        ("kind", "engine"),
        [
            ({"measure": "f1"}, run_bundle),
            ({"loss": "hinge"}, run_bundle),
            ({"loss": "epsilon_insensitive"}, run_bundle),
            ({"loss": "logistic"}, run_smooth),
            ({"loss": "squared"}, run_smooth),
        ],
        ids=lambda value: getattr(value, "__name__", str(value)),
    )
    def test_the_engine(self, data, kind, engine):
        X, y = data(4)
        assert engine_for(make_problem(X, y, budget=3, C=1.0, **kind)) is engine

    def test_the_tolerance(self, data):
        """0.05 for a measure and 0.01 for a loss, unless it is given."""
        X, y = data(4)
        for kind, tol in (({"measure": "f1"}, 0.05), ({"loss": "hinge"}, 0.01)):
            problem = make_problem(X, y, budget=3, C=1.0, **kind)
            assert default_tol(None, problem) == tol
            assert default_tol(0.3, problem) == 0.3
            usual, given = solve(X, y, budget=3, **kind), solve(X, y, budget=3, tol=tol, **kind)
            assert_array_equal(usual.w, given.w)

    def test_there_is_no_l0_gap_without_a_hard_budget(self, fit):
        assert np.isnan(fit(max_iter=2).l0_gap)

    @pytest.mark.parametrize("name", ["always", "intercept", "groups", "Measure"])
    def test_arguments_that_there_are_not(self, data, name):
        """Each of these functions says so; none ignores what it does not know."""
        X, y = data(4)
        result = solve(X, y, measure="f1", budget=3)
        with pytest.raises(TypeError, match=name):
            solve(X, y, measure="f1", budget=3, **{name: [1]})
        with pytest.raises(TypeError, match=name):
            solve_path(X, y, [3], measure="f1", **{name: [1]})
        if name != "intercept":
            with pytest.raises(TypeError, match=name):
                certify(X, y, result.w, result.dual_point, measure="f1", budget=3, **{name: [1]})
        with pytest.raises(TypeError, match="budget"):
            certify(X, y, result.w, result.dual_point, measure="f1")
        with pytest.raises(TypeError, match="budget"):
            solve_path(X, y, [3], measure="f1", budget=3)
