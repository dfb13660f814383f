"""The paper's algorithm: certified gaps, the bundle's optimum, and its own limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scoresieve import Status, solve
from scoresieve.baselines import fs_multi
from scoresieve.solvers.limits import Limits, Tracker
from scoresieve.solvers.problem import make_problem
from studies.common.internals import solve_two_layer


def test_optimum_equals_the_enumeration_of_all_labellings(data, brute, measure, columns):
    X, y = data(21, n_samples=6, noise=2.0)
    result = solve_two_layer(X, y, measure=measure, budget=2, C=2.0, tol=1e-5, **columns)
    cuts, losses, sets = brute.enumerated(X, y, measure, price=result.price, **columns)
    expected, _ = brute.optimum(cuts, losses, 2.0, 2, **sets)
    # The conic solver of the enumeration is not more accurate than that in its oldest version.
    assert result.dual <= expected * (1 + 1e-6)
    assert result.primal >= expected * (1 - 1e-6)
    assert result.gap <= 1e-5


@pytest.mark.parametrize("measure", ["f1", "prbep", "roc_auc"])
def test_agrees_with_the_bundle(data, columns, measure):
    """Two intervals around one optimum overlap, and both are narrow."""
    X, y = data(1, n_samples=25)
    arguments = {"measure": measure, "budget": 3, "C": 0.5, "tol": 1e-3, **columns}
    bundle, layers = solve(X, y, **arguments), solve_two_layer(X, y, **arguments)
    assert bundle.status is layers.status is Status.CONVERGED
    assert max(bundle.dual, layers.dual) <= min(bundle.primal, layers.primal) * (1 + 1e-9)
    assert bundle.primal == pytest.approx(layers.primal, rel=1e-3)


@pytest.mark.parametrize("C", [0.1, 10.0, 1e4, 1e8])
def test_large_C_keeps_its_accuracy(data, certified, C):
    """The weights come from multipliers: their risk is small even if C is large."""
    X, y = data(2, n_samples=25, noise=0.1)
    problem = {"measure": "accuracy", "budget": 3, "C": C}
    result = solve_two_layer(X, y, tol=1e-3, **problem)
    assert result.status is Status.CONVERGED
    assert certified(X, y, result, **problem).gap <= 1e-3


def test_bounds_never_get_worse(data):
    X, y = data(3, n_samples=40, n_features=30)
    result = solve_two_layer(X, y, measure="f1", budget=4, C=1.0, tol=0.01)
    assert np.all(np.diff([row.primal for row in result.history]) <= 0)
    assert np.all(np.diff([row.dual for row in result.history]) >= 0)
    assert all(row.dual >= 0 for row in result.history)
    assert result.dual >= result.history[-1].dual


def test_identical_inputs_give_identical_bits(data):
    X, y = data(4)
    arguments = {"measure": "f1", "budget": 3, "C": 1.0, "tol": 1e-3}
    first, second = (solve_two_layer(a, b, **arguments) for a, b in ((X, y), (X.copy(), y.copy())))
    assert_array_equal(first.w, second.w)
    assert_array_equal(first.dual_point.alpha, second.dual_point.alpha)
    assert [replace(row, time=0.0) for row in first.history] == [
        replace(row, time=0.0) for row in second.history
    ]


def test_cuts_are_dropped_without_harm(data, certified, monkeypatch):
    """With a short patience the cuts of the pool shrink; weights and cuts must stay aligned."""
    monkeypatch.setattr(fs_multi, "PATIENCE", 2)
    X, y = data(5, n_samples=40, n_features=20)
    problem = {"measure": "f1", "budget": 4, "C": 1.0}
    result = solve_two_layer(X, y, tol=1e-3, max_iter=2000, **problem)
    n_cuts = [row.n_cuts for row in result.history]
    assert min(np.diff(n_cuts)) < 0
    assert result.status is Status.CONVERGED
    assert certified(X, y, result, **problem).gap <= 1e-3
    expected = solve(X, y, tol=1e-3, **problem)
    assert max(result.dual, expected.dual) <= min(result.primal, expected.primal)


def test_a_stop_at_max_iter_still_certifies_a_bound(data, certified):
    X, y = data(6)
    problem = {"measure": "f1", "budget": 3, "C": 1.0}
    result = solve_two_layer(X, y, tol=1e-4, max_iter=60, **problem)
    assert result.status is Status.MAX_ITER
    assert result.n_iter == 60
    assert 0 < result.dual < result.primal
    assert certified(X, y, result, **problem).dual == pytest.approx(result.dual)


def run(X, y, *, tol, C=0.3, budget=5, **settings):
    """The state after a run with the settings of the two layers, its tracker and its status."""
    problem = make_problem(X, y, measure="f1", budget=budget, C=C)
    tracker = Tracker(Limits(tol, 1000), problem.risk.no_dual_point())
    state = fs_multi.run_two_layer(problem, tracker, **settings)
    return state, tracker, state.status


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared", "epsilon_insensitive"])
def test_agrees_with_the_usual_engine_on_losses(data, certified, loss):
    """Cuts of losses for regression may be worth less than nothing."""
    X, y = data(1, n_samples=25)
    y = X[:, 0] + 0.1 * y if loss in ("squared", "epsilon_insensitive") else y
    problem = {"loss": loss, "budget": 3, "C": 0.5}
    usual, layers = solve(X, y, **problem), solve_two_layer(X, y, **problem)
    assert usual.status is layers.status is Status.CONVERGED
    assert max(usual.dual, layers.dual) <= min(usual.primal, layers.primal) * (1 + 1e-9)
    assert certified(X, y, layers, **problem).gap <= 0.01


def test_max_groups_ends_the_outer_layer(data):
    X, y = data(8, n_samples=40, n_features=60)
    for max_groups in (1, 2, 5):
        state, tracker, status = run(X, y, tol=1e-4, max_groups=max_groups)
        assert status is Status.MAX_ITER
        assert state.n_groups_made == max_groups
        assert state.working.size <= 5 * max_groups
        assert tracker.gap > 1e-4
    state, tracker, status = run(X, y, tol=0.2, max_groups=1000)
    assert status is Status.CONVERGED
    assert 1 < state.n_groups_made < 1000


def test_inner_tol_is_the_gap_of_the_inner_layer(data):
    """With one group of all columns the outer gap is the inner one."""
    X, y = data(9, n_samples=30, n_features=20)
    found = [run(X, y, tol=0.5, budget=20, inner_tol=inner) for inner in (0.4, 0.01, 1e-4)]
    for (_, tracker, status), inner in zip(found, (0.4, 0.01, 1e-4), strict=True):
        assert status is Status.CONVERGED
        assert tracker.gap <= inner * (1 + 1e-6)
    n_steps = [len(tracker.history) for _, tracker, _ in found]
    assert n_steps[0] < n_steps[1] < n_steps[2]
    default, tenth = run(X, y, tol=0.1)[0], run(X, y, tol=0.1, inner_tol=0.01)[0]
    assert_array_equal(default.best.w, tenth.best.w)


def test_no_column_to_choose_from(certified):
    """X is zero: there is no group, and the empty model is optimal at once."""
    y = np.array([1.0, -1.0, -1.0])
    result = solve_two_layer(np.zeros((3, 4)), y, measure="f1", budget=2)
    assert result.status is Status.ZERO_MODEL
    assert result.gap == pytest.approx(0.0, abs=1e-12)


def test_a_conic_solver_that_fails_ends_the_run(data, certified, monkeypatch, caplog):
    X, y = data(7)
    working, calls = fs_multi.solve_group_qcqp, []

    def breaks_later(groups, losses, C):
        calls.append(C)
        if len(calls) > 8:
            raise np.linalg.LinAlgError("the conic solver ended with the status DualInfeasible")
        return working(groups, losses, C)

    monkeypatch.setattr(fs_multi, "solve_group_qcqp", breaks_later)
    result = solve_two_layer(X, y, measure="f1", budget=3, tol=1e-6)
    assert result.status is Status.STALLED
    assert "DualInfeasible" in caplog.text
    assert result.n_iter == 8
    check = certified(X, y, result, measure="f1", budget=3, C=1.0)
    assert check.primal == pytest.approx(result.primal)
