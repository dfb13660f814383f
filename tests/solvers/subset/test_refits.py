"""Refits: the l2 model on the columns of some units, by Newton's method or by cuts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import Status, solve
from scoresieve.regularizers import BudgetNorm
from scoresieve.risks import CutWeights
from scoresieve.solvers.limits import Deadline, Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.subset import refits
from scoresieve.solvers.subset.refits import (
    Refitter,
    columns_of_units,
    heavy_cuts,
    moved,
)

FINE = Limits(1e-5, 1000)
CLASSES = [{"loss": name} for name in ("hinge", "squared_hinge", "logistic", "huber_hinge")]
REAL = [{"loss": name} for name in ("squared", "huber", "epsilon_insensitive")]
#: With their prices given: what is refitted is the problem as it is.
MEASURES = [{"measure": name, "price": 0.5} for name in ("f1", "accuracy", "jaccard")]
MEASURES += [{"measure": name} for name in ("roc_auc", "balanced_accuracy")]
MEASURES += [{"measure": "prbep", "bound": "paper"}]
F1, HINGE, LOGISTIC = MEASURES[0], CLASSES[0], CLASSES[2]
every_kind = pytest.mark.parametrize(
    "kind", [*CLASSES, *REAL, *MEASURES], ids=lambda kind: "-".join(map(str, kind.values()))
)
three_kinds = pytest.mark.parametrize("kind", [F1, LOGISTIC, HINGE], ids=str)


def targets(y, kind):
    """Labels, or real targets for a loss that wants them."""
    return y + 0.3 * np.arange(y.size) / y.size if kind in REAL else y


def some_units(problem):
    return np.array([0, problem.norm.n_units - 1])


@every_kind
def test_a_refit_is_the_l2_model_on_its_columns(data, columns, kind):
    """With the objective of a fit of these columns alone, and w = X^T v."""
    X, y = data(4)
    problem = make_problem(X, targets(y, kind), **kind, budget=2, C=0.5, **columns)
    units = some_units(problem)
    fit = Refitter(problem, FINE).refit(units)
    chosen = columns_of_units(problem.norm, units)
    design = problem.design.columns(chosen).as_design()
    alone = replace(problem, design=design, norm=BudgetNorm(chosen.size, chosen.size), constant=0.0)
    expected = solve_problem(alone, FINE)
    assert_array_equal(fit.units, units)
    assert_array_equal(fit.columns, chosen)
    assert fit.gap <= 1e-5
    assert fit.primal == pytest.approx(expected.primal, rel=2e-5)
    scores = problem.design.scores(fit.w, fit.columns)
    value = 0.5 * fit.w @ fit.w + 0.5 * problem.risk.value(scores)
    assert value == pytest.approx(fit.primal, rel=1e-9)
    correlations = problem.design.correlate(fit.v)
    assert_allclose(fit.w, correlations[chosen], atol=0.03 * np.abs(fit.w).max())
    assert fit.curvatures.shape == y.shape
    assert np.all(fit.curvatures >= 0.0)


@every_kind
def test_a_refit_of_columns_of_x_is_solve_of_these(data, kind):
    X, y = data(5)
    y = targets(y, kind)
    problem = make_problem(X, y, **kind, budget=3, C=0.8)
    fit = Refitter(problem, FINE).refit(np.array([1, 2, 7]))
    expected = solve(X[:, [1, 2, 7]], y, **kind, budget=3, C=0.8, tol=1e-5)
    assert fit.primal == pytest.approx(expected.primal, rel=2e-5)
    found = fit.scattered(10)
    assert_array_equal(np.flatnonzero(found), [1, 2, 7])
    assert_allclose(found[[1, 2, 7]], expected.w, atol=0.03 * np.abs(expected.w).max())


@every_kind
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_formats_make_no_difference(data, kind, form):
    X, y = data(6)
    y, fits = targets(y, kind), []
    for each in (X, form(X)):
        problem = make_problem(each, y, **kind, budget=3, C=0.8, intercept_scaling=1.0)
        fits.append(Refitter(problem, FINE).refit(np.array([0, 4])))
    assert fits[1].primal == pytest.approx(fits[0].primal, rel=2e-5)


@every_kind
def test_another_refit_to_start_from_changes_nothing_but_the_way(data, kind):
    X, y = data(7)
    problem = make_problem(X, targets(y, kind), **kind, budget=3, C=0.8, intercept_scaling=1.0)
    refitter = Refitter(problem, FINE)
    cold = refitter.refit(np.array([0, 1, 5]))
    near = refitter.refit(np.array([1, 3, 5]))
    warm = refitter.refit(np.array([0, 1, 5]), near, beside=np.array([6, 7]))
    assert warm.primal == pytest.approx(cold.primal, rel=2e-5)
    again = refitter.refit(np.array([0, 1, 5]), cold)
    assert again.n_iter <= cold.n_iter
    assert again.primal == pytest.approx(cold.primal, rel=2e-5)
    assert refitter.n_refits == 4


@three_kinds
def test_a_refit_is_given_up_only_when_it_is_too_dear(data, kind):
    X, y = data(8)
    problem = make_problem(X, y, **kind, budget=2, C=2.0)
    refitter, units = Refitter(problem, FINE), np.array([3, 7])
    best = refitter.refit(units)
    for share in (0.3, 0.9, 0.99):
        given_up = refitter.refit(units, give_up_at=share * best.primal)
        assert given_up.gap > 1e-5
        assert given_up.primal > share * best.primal
        assert given_up.primal * (1 - given_up.gap) >= share * best.primal * (1 - 1e-9)
        assert given_up.n_iter <= best.n_iter
    patient = refitter.refit(units, give_up_at=1.001 * best.primal)
    assert patient.gap <= 1e-5
    assert patient.primal == pytest.approx(best.primal, rel=2e-5)


@pytest.mark.parametrize("kind", [LOGISTIC, *REAL[:2]], ids=str)
def test_where_newton_gets_stuck_another_engine_takes_over(data, monkeypatch, kind):
    X, y = data(9)
    problem = make_problem(X, targets(y, kind), **kind, budget=3, C=0.8, intercept_scaling=1.0)
    units = np.array([0, 2, 6])
    by_newton = Refitter(problem, FINE).refit(units)
    monkeypatch.setattr(refits, "newton_fit", lambda *_, **__: None)
    other = Refitter(problem, FINE).refit(units)
    assert other.primal == pytest.approx(by_newton.primal, rel=2e-5)
    assert_allclose(other.w, by_newton.w, atol=0.01)
    assert_allclose(other.curvatures, by_newton.curvatures, atol=0.01)
    assert other.status is by_newton.status is Status.CONVERGED


@pytest.mark.parametrize(
    ("kind", "value"), [(F1, 10.0), (HINGE, 30.0), (LOGISTIC, 30 * np.log(2))], ids=str
)
def test_without_columns_there_is_one_model(data, kind, value):
    X, y = data(5)
    refitter = Refitter(make_problem(X, y, **kind, budget=2, C=0.5), FINE)
    fit = refitter.refit(np.zeros(0, dtype=np.int64))
    assert fit.primal == pytest.approx(0.5 * value)
    assert refitter.is_empty(fit)
    assert (fit.gap, fit.status) == (0.0, Status.CONVERGED)
    assert_array_equal(fit.scattered(10), 0.0)
    # Who promises most tells the classes apart.
    assert np.all(fit.v * y > 0.0)
    again = refitter.refit(np.array([0]), fit)
    assert not refitter.is_empty(again)
    assert again.primal < fit.primal


def test_columns_that_are_always_in_make_no_unit(data):
    X, y = data(6)
    problem = make_problem(X, y, **LOGISTIC, budget=2, C=1.0, always_features=[3])
    refitter = Refitter(problem, FINE)
    fit = refitter.refit(np.zeros(0, dtype=np.int64))
    assert_array_equal(fit.columns, [3])
    assert fit.w[0] != 0.0
    assert refitter.is_empty(fit)


@pytest.mark.parametrize("kind", [F1, HINGE], ids=str)
def test_one_deadline_for_all_refits(data, kind):
    X, y = data(6, n_samples=60, n_features=30)
    problem = make_problem(X, y, **kind, budget=4, C=5.0)
    late = Refitter(problem, Limits(1e-6, 500, deadline=Deadline(0.0)))
    assert late.time_is_over
    assert not Refitter(problem, FINE).time_is_over
    assert Refitter(problem, Limits(1e-6, 500, max_time=1e-9)).time_is_over
    for units in ([0, 1], [2, 3, 4]):
        fit = late.refit(np.array(units))
        assert fit.status is Status.MAX_TIME
        assert fit.n_iter == 1


def test_another_risk_shares_columns_and_deadline(data):
    X, y = data(7)
    problem = make_problem(X, y, **LOGISTIC, budget=2, C=1.0)
    refitter = Refitter(problem, FINE)
    refitter.refit(np.array([0, 4]))
    other = refitter.with_risk(make_problem(X, -y, **LOGISTIC, budget=2, C=1.0).risk)
    assert other.fetched is refitter.fetched
    assert other.limits.deadline is refitter.limits.deadline
    assert other.n_refits == 0
    assert_allclose(other.refit(np.array([0, 4])).w, -refitter.refit(np.array([0, 4])).w, atol=1e-5)
    assert_allclose(other.fetched.column_norms(), np.linalg.norm(X, axis=0))


def test_scores_of_a_refit(data):
    X, y = data(7)
    problem = make_problem(X, y, **LOGISTIC, budget=2, C=1.0, intercept_scaling=2.0)
    refitter = Refitter(problem, FINE)
    fit = refitter.refit(np.array([0, 4]))
    assert_array_equal(fit.columns, [10, 0, 4])
    assert_allclose(refitter.scores(fit), X[:, [0, 4]] @ fit.w[1:] + 2.0 * fit.w[0])


def test_the_callback_of_the_limits_is_not_called(data):
    X, y = data(8)
    called = []
    limits = replace(FINE, callback=called.append)
    for kind in (F1, LOGISTIC):
        Refitter(make_problem(X, y, **kind, budget=2, C=1.0), limits).refit(np.array([0, 4]))
    assert not called


def test_heavy_cuts_hold_most_of_the_weight():
    alpha = np.array([0.02, 0.5, 0.03, 0.4, 0.05])
    cuts = np.arange(5, dtype=np.uint8)[:, None]
    kept = heavy_cuts(CutWeights(alpha, cuts))
    assert_array_equal(kept.alpha, [0.5, 0.4, 0.05])
    assert_array_equal(kept.cuts, [[1], [3], [4]])
    nothing = CutWeights(np.zeros(0), np.zeros((0, 1), dtype=np.uint8))
    assert heavy_cuts(nothing) is nothing


def test_weights_move_to_other_columns():
    w = np.array([1.0, 2.0, 3.0])
    assert_array_equal(moved(np.array([9, 2, 5]), w, np.array([5, 7, 9, 1])), [3.0, 0.0, 1.0, 0.0])
    assert_array_equal(moved(np.zeros(0, dtype=int), np.zeros(0), np.array([4])), [0.0])


@pytest.mark.parametrize(
    ("arguments", "units", "expected"),
    [
        ({}, [4, 1], [1, 4]),
        ({"has_constant": True}, [0, 5], [6, 0, 5]),
        ({"excluded_features": [0, 1]}, [0, 3], [2, 5]),
        ({"excluded_features": [2]}, [1, 2], [1, 3]),
        ({"always_features": [1, 4], "has_constant": True}, [1, 3], [1, 4, 6, 2, 5]),
        ({"always_features": [2], "feature_groups": [7, 3, 1, 7, 5, 3]}, [0], [2, 0, 3]),
        ({"feature_groups": [7, 3, 1, 7, 5, 3], "has_constant": True}, [3, 1], [6, 1, 4, 5]),
        ({"always_features": [0]}, [], [0]),
    ],
)
def test_columns_of_units(arguments, units, expected):
    norm = BudgetNorm(2, 6, **arguments)
    found = columns_of_units(norm, np.array(units, dtype=np.int64))
    assert_array_equal(found, expected)


def test_a_search_that_need_not_be_thorough_takes_no_problem_for_small():
    X, y = np.eye(6), np.array([1.0, -1.0] * 3)
    problem = make_problem(X, y, loss="squared_hinge", budget=2, C=1.0)
    assert Refitter(problem, FINE).is_small
    quick = Refitter(problem, replace(FINE, thorough=False))
    assert not quick.is_small
    assert not quick.with_risk(problem.risk).is_small
