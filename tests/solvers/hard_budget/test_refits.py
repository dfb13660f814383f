"""The starts of a hard budget, and refits that are given up."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import Status
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.hard_budget import search
from scoresieve.solvers.hard_budget.refits import Refitter, columns_of_units, largest
from scoresieve.solvers.hard_budget.search import solve_hard_budget
from scoresieve.solvers.limits import Deadline, Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import run_and_finish

LIMITS = Limits(0.05, 500)
#: With its price given: what is refitted is the problem as it is.
F1 = {"measure": "f1", "price": 0.5}
LOGISTIC, HINGE = {"loss": "logistic"}, {"loss": "hinge"}
kinds = pytest.mark.parametrize("kind", [F1, LOGISTIC, HINGE], ids=str)


def instances(seed, *, n_samples=120, n_kinds=8, n_positive=3):
    """Similarities to every sample: many columns say the same, as with embedded instances."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(n_kinds, size=n_samples)
    points = 3.0 * rng.normal(size=(n_kinds, 3))[kind] + rng.normal(size=(n_samples, 3))
    squares = np.sum((points[:, None] - points[None]) ** 2, axis=2)
    return np.exp(-squares / 4.0), np.where(kind < n_positive, 1.0, -1.0)


def opposites(n_samples=200):
    """Two columns that are noise each and the label in their sum."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n_samples) % 8 == 0, 1.0, -1.0)
    noise = 20.0 * rng.normal(size=n_samples)
    return np.column_stack([y + noise, y - noise]), y


class Counted(Refitter):
    """Refits whose statuses are kept."""

    def __init__(self, problem, limits):
        super().__init__(problem, limits)
        self.statuses = []

    def refit(self, *arguments, **settings):
        fit = super().refit(*arguments, **settings)
        self.statuses.append(fit.status)
        return fit


def relaxed_of(X, y, k, *, C=1.0, kind=F1):
    """Refits, and the relaxed weights with their dual side."""
    problem = make_problem(X, y, **kind, budget=k, C=C)
    result, ended = run_and_finish(problem, LIMITS)
    return Counted(problem, LIMITS), result.w, ended.dual_side()


def choose(X, y, k, kind=F1):
    problem = make_problem(X, y, **kind, budget=k, C=1.0)
    return solve_hard_budget(problem, LIMITS)


def test_neither_start_is_always_better():
    """Each wins clearly on some data, so that both are worth their time."""
    ratios = []
    for seed, k in product(range(4), (4, 6)):
        refitter, relaxed, near = relaxed_of(*instances(seed), k)
        plain = refitter.refit(largest(refitter.unit_norms(relaxed), k), relaxed, near)
        other = search._by_elimination(refitter, relaxed, near, k, give_up_at=np.inf)
        assert other.units.size <= k
        assert np.count_nonzero(other.w) <= k
        ratios.append(other.primal / plain.primal)
    assert min(ratios) < 0.97
    assert max(ratios) > 1.03


@pytest.mark.parametrize("kind", [F1, HINGE], ids=str)
def test_a_start_that_cannot_win_is_given_up(kind):
    refitter, relaxed, near = relaxed_of(*instances(0), 2, kind=kind)
    assert search._by_elimination(refitter, relaxed, near, 2, give_up_at=1e-3) is None
    assert refitter.statuses == [Status.CALLBACK]


@kinds
def test_giving_up_changes_nothing_but_the_time(monkeypatch, kind):
    given_up = []
    patient = Refitter.refit

    def impatient(self, *arguments, **settings):
        fit = patient(self, *arguments, **settings)
        given_up.append(fit.status is Status.CALLBACK)
        return fit

    monkeypatch.setattr(Refitter, "refit", impatient)
    quick = [choose(*instances(seed), 3, kind) for seed in range(3)]
    assert any(given_up)
    monkeypatch.setattr(
        Refitter,
        "refit",
        lambda self, *arguments, give_up_at=None, **settings: patient(self, *arguments, **settings),
    )
    for seed, one in enumerate(quick):
        assert_array_equal(choose(*instances(seed), 3, kind).w, one.w)


@pytest.mark.parametrize("k", [1, 2])
@kinds
def test_a_larger_model_shrinks_to_k(k, kind):
    C = 10.0 if kind == LOGISTIC else 1.0
    refitter, relaxed, near = relaxed_of(*instances(1), k, C=C, kind=kind)
    larger = refitter.refit(largest(refitter.unit_norms(relaxed), 6), relaxed, near)
    smaller = search._shrunk(refitter, larger, k)
    assert larger.units.size == 6
    assert smaller.units.size == np.count_nonzero(smaller.w) == k
    assert smaller.primal >= larger.primal * (1.0 - larger.gap)


def test_no_choice_of_one_when_only_two_together_tell_anything():
    X, y = opposites()
    alone = choose(X, y, 1)
    assert alone.status is Status.EMPTY_CHOICE
    assert alone.status.reached_tolerance
    assert alone.smallest_C is None
    assert alone.support.size == 0
    assert alone.gap > LIMITS.tol
    assert choose(X, y, 2).support.size == 2


@kinds
def test_no_time_ends_with_the_first_refit(kind):
    X, y = instances(2)
    problem = make_problem(X, y, **kind, budget=3, C=1.0)
    result = solve_hard_budget(problem, Limits(1e-3, 500, max_time=1e-9))
    assert result.status is Status.MAX_TIME
    assert result.support.size <= 3


@kinds
def test_a_refit_is_the_l2_model_on_its_columns(data, columns, kind):
    """With the weights, the objective and the v of a fit of these columns alone."""
    X, y = data(4)
    problem = make_problem(X, y, **kind, budget=2, C=0.5, **columns)
    _, ended = run_and_finish(problem, LIMITS)
    units = np.array([0, problem.norm.n_units - 1])
    fit = Refitter(problem, Limits(1e-5, 500)).refit(units, np.zeros(11), ended.dual_side())
    chosen = columns_of_units(problem.norm, units)
    alone = problem.on_columns(chosen)
    expected, _ = run_and_finish(alone, Limits(1e-5, 500))
    assert_array_equal(fit.units, units)
    assert np.all(np.isin(np.flatnonzero(fit.w), chosen))
    assert fit.gap <= 1e-5
    assert fit.primal == pytest.approx(expected.primal, rel=2e-5)
    scores = problem.design.scores(fit.w, np.arange(fit.w.size))
    assert alone.objective(fit.w[chosen], scores) == pytest.approx(fit.primal, rel=1e-9)
    # w = X^T v on the columns inside, up to the accuracy of the fit.
    correlations = problem.design.correlate(fit.dual.v)
    assert_allclose(fit.w[chosen], correlations[chosen], atol=0.03 * np.abs(fit.w).max())
    promise = Refitter(problem, LIMITS).promises(fit)
    assert_array_equal(promise[units], 0.0)
    outside = np.setdiff1d(np.arange(problem.norm.n_units), units)
    assert_allclose(promise[outside], problem.norm.units.norms(correlations)[outside])


def test_without_columns_there_is_one_model(data):
    X, y = data(5)
    for kind, value in ((F1, 10.0), (HINGE, 30.0), (LOGISTIC, 30 * np.log(2))):
        problem = make_problem(X, y, **kind, budget=2, C=0.5)
        _, ended = run_and_finish(problem, LIMITS)
        refitter = Refitter(problem, LIMITS)
        fit = refitter.refit(np.zeros(0, dtype=int), np.zeros(10), ended.dual_side())
        assert fit.primal == pytest.approx(0.5 * value)
        assert refitter.is_empty(fit)
        assert (fit.gap, fit.status) == (0.0, Status.CONVERGED)
        assert_array_equal(fit.dual.v, ended.dual_side().v)


def test_one_deadline_for_all_refits(data):
    X, y = data(6, n_samples=60, n_features=30)
    problem = make_problem(X, y, measure="f1", budget=4, C=5.0)
    _, ended = run_and_finish(problem, LIMITS)
    late = Refitter(problem, Limits(1e-6, 500, deadline=Deadline(0.0)))
    assert late.time_is_over
    assert not Refitter(problem, LIMITS).time_is_over
    for units in ([0, 1], [2, 3, 4]):
        fit = late.refit(np.array(units), np.zeros(30), ended.dual_side())
        assert fit.status is Status.MAX_TIME
        assert np.any(fit.w)


def test_the_largest_units_and_their_columns():
    assert_array_equal(largest(np.array([1.0, 3.0, 0.0, 3.0, 2.0]), 2), [1, 3])
    assert_array_equal(largest(np.array([1.0, 3.0, 3.0, 3.0]), 2), [1, 2])
    assert_array_equal(largest(np.array([0.0, 3.0, 0.0]), 2), [1])
    norm = BudgetNorm(
        2, 6, always_features=[2], feature_groups=[7, 3, 1, 7, 5, 3], has_constant=True
    )
    assert_array_equal(columns_of_units(norm, np.array([0])), [2, 6, 0, 3])
    assert_array_equal(columns_of_units(norm, np.array([1, 2])), [2, 6, 1, 4, 5])
