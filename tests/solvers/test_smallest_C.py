"""A fit without features says so, and says which C would give some."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scoresieve import Status, solve
from scoresieve.losses import Huber, HuberHinge, Logistic, Squared, SquaredHinge
from scoresieve.solvers import limits as limits_module
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.path import solve_budgets
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import solve_problem
from studies.common.internals import solve_hard_budget

SMOOTH = [SquaredHinge(), Logistic(), HuberHinge(), HuberHinge(0.05), Squared(), Huber(0.5)]
both_kinds = pytest.mark.parametrize("kind", [{"measure": "f1"}, {"loss": "logistic"}], ids=str)


def targets(loss):
    """Normal columns of which three count; an offset and some outliers for regression."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    values = X[:, :3].sum(axis=1) + rng.normal(size=60)
    if loss.task == "classification":
        return X, np.where(values > 0.3, 1.0, -1.0)
    return X, values + 0.5 + 8.0 * (rng.random(60) < 0.05)


@pytest.mark.parametrize(
    "kind",
    [
        *({"measure": measure} for measure in ("f1", "accuracy", "roc_auc")),
        *({"loss": loss} for loss in ("hinge", "logistic", "squared")),
    ],
    ids=str,
)
@pytest.mark.parametrize("intercept", [0.0, 1.0])
def test_no_C_helps_where_X_is_zero(kind, intercept):
    y = np.repeat([1.0, -1.0], [4, 8])
    result = solve(np.zeros((12, 5)), y, budget=2, intercept_scaling=intercept, tol=0.05, **kind)
    assert result.status is Status.ZERO_MODEL
    assert result.smallest_C == np.inf
    assert result.support.size == 0
    assert not result.w.any()
    assert result.gap <= 0.05


@pytest.mark.parametrize(
    "kind", [{"measure": "f1", "bound": "paper"}, {"loss": "logistic"}], ids=str
)
def test_no_C_helps_where_labels_contradict(data, kind):
    """With another price than 1 weights would help: to say yes to all, or no."""
    X, y = data(0)
    result = solve(np.vstack([X, X]), np.append(y, -y), budget=3, C=1e-3, **kind)
    assert result.status is Status.ZERO_MODEL
    assert result.smallest_C == np.inf


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-8, 1e-40])
@pytest.mark.parametrize(
    "kind",
    [{"measure": "f1"}, {"measure": "prbep"}, {"measure": "roc_auc"}, {"loss": "hinge"}],
    ids=str,
)
def test_the_smallest_C_is_where_features_begin(data, kind, scale):
    """The scale of X moves it by 1/scale^2; the search must find it all the same."""
    X, y = data(1)
    arguments = {**kind, "budget": 3}
    result = solve(scale * X, y, C=1e-6 / scale**2, **arguments)
    assert result.status is Status.ZERO_MODEL
    assert 1e-6 / scale**2 < result.smallest_C < 10 / scale**2
    above = solve(scale * X, y, C=1.02 * result.smallest_C, **arguments)
    below = solve(scale * X, y, C=result.smallest_C / 1.2, **arguments)
    assert above.support.size > 0
    assert above.status is Status.CONVERGED
    assert above.smallest_C is None
    assert below.status is Status.ZERO_MODEL


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@pytest.mark.parametrize("intercept", [0.0, 1.0])
def test_the_smallest_C_of_smooth_losses(loss, intercept):
    X, y = targets(loss)
    arguments = {"loss": loss, "budget": 3, "intercept_scaling": intercept, "tol": 0.05}
    result = solve(X, y, C=1e-8, **arguments)
    assert result.status is Status.ZERO_MODEL
    assert result.support.size == 0
    assert 1e-8 < result.smallest_C < 10.0
    assert solve(X, y, C=result.smallest_C, **arguments).support.size > 0
    assert solve(X, y, C=result.smallest_C / 1.2, **arguments).support.size == 0


def test_columns_that_tell_nothing():
    X, y = np.ones((20, 3)), np.tile([1.0, -1.0], 10)
    result = solve(X, y, loss="logistic", budget=1)
    assert result.status is Status.ZERO_MODEL
    assert result.smallest_C == np.inf


@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_insensitive"])
def test_targets_of_zero(loss):
    """There is no risk to lower and no cut; nothing is divided by how many there are."""
    X, _ = targets(Squared())
    arguments = {"loss": loss, "budget": 2, "C": 1.0, "intercept_scaling": 1.0}
    problem = make_problem(X, np.zeros(60), **arguments)
    results = [
        solve(X, np.zeros(60), **arguments),
        solve_hard_budget(problem, Limits(0.05, 100)),
        *solve_budgets(problem, [1, 2], Limits(0.05, 100)),
    ]
    for result in results:
        assert (result.status, result.primal, result.gap) == (Status.ZERO_MODEL, 0.0, 0.0)
        assert result.smallest_C == np.inf


@both_kinds
def test_the_search_starts_from_far_below(data, kind):
    """A C of 1e-30 needs no hundred fits: the dual point rules most of the way out."""
    X, y = data(2)
    near = solve(X, y, budget=3, C=1e-5, **kind)
    far = solve(X, y, budget=3, C=1e-30, **kind)
    assert far.smallest_C == pytest.approx(near.smallest_C, rel=0.15)


def test_with_an_intercept_the_model_is_constant(data):
    X, y = data(3)
    arguments = {"measure": "accuracy", "price": 1.0, "budget": 3, "C": 1e-6}
    result = solve(X, y, **arguments, intercept_scaling=1e3)
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


@both_kinds
def test_the_time_limit_ends_the_search(data, monkeypatch, kind):
    """The clock jumps past max_time after the fit: no C was found in time."""
    X, y = data(5)
    arguments = {**kind, "budget": 3, "C": 1e-6}
    if "measure" in kind:
        arguments["price"] = 0.5  # with its price given there are no other fits
    assert solve(X, y, **arguments).smallest_C is not None
    times = []

    def slow_clock():
        times.append(0.0)
        return float(len(times))

    monkeypatch.setattr(limits_module, "perf_counter", slow_clock)
    rounds = solve(X, y, **arguments, max_time=1e6).n_iter
    times.clear()
    result = solve(X, y, **arguments, max_time=30.0)
    assert rounds == result.n_iter
    assert result.status is Status.ZERO_MODEL
    assert result.smallest_C is None


@both_kinds
def test_nobody_has_to_look_for_it(data, kind):
    X, y = data(5)
    problem = make_problem(X, y, **kind, budget=3, C=1e-6)
    limits = Limits(0.05, 100, find_smallest_C=False)
    for solve_one in (solve_problem, solve_hard_budget):
        result = solve_one(problem, limits)
        if solve_one is solve_hard_budget and problem.risk.is_smooth:
            # Tiny weights of the k best columns lower a smooth objective a little.
            assert result.support.size == 3
            continue
        assert result.status is Status.ZERO_MODEL
        assert result.smallest_C is None
        assert solve_one(problem, replace(limits, find_smallest_C=True)).smallest_C > 1e-6
    (result,) = solve_budgets(problem, [3], limits)
    assert result.smallest_C is None
