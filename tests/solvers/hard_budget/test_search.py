"""The starts of a hard budget, and refits that are given up."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scoresieve.solvers.refits import Refitter, largest

from scoresieve import Status
from scoresieve.solvers import unit_choice
from scoresieve.solvers.hard_budget import refit_of, solve_hard_budget
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import solve_problem

LIMITS = Limits(0.05, 500)


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


def search(X, y, k, *, C=1.0):
    """A problem, its relaxed weights and dual point, and refits that are counted."""
    problem = make_problem(X, y, measure="f1", budget=k, C=C)
    relaxed = solve_problem(problem, LIMITS)
    statuses = []

    def counted(*arguments):
        fit = refit_of(problem)(*arguments)
        statuses.append(fit.status)
        return fit

    refitter = Refitter(problem.design, problem.norm, counted, LIMITS)
    return refitter, relaxed.w, relaxed.dual_point, statuses


def choose(X, y, k):
    problem = make_problem(X, y, measure="f1", budget=k, C=1.0)
    return solve_hard_budget(problem, LIMITS)


def test_neither_start_is_always_better():
    """Each wins clearly on some data, so that both are worth their time."""
    ratios = []
    for seed, k in product(range(4), (4, 6)):
        refitter, relaxed, point, _ = search(*instances(seed), k)
        plain = refitter.refit(largest(refitter.unit_norms(relaxed), k), relaxed, point)
        other = unit_choice._by_elimination(refitter, relaxed, point, k, give_up_at=np.inf)
        assert other.units.size <= k
        assert np.count_nonzero(other.w) <= k
        ratios.append(other.primal / plain.primal)
    assert min(ratios) < 0.97
    assert max(ratios) > 1.03


def test_a_start_that_cannot_win_is_given_up():
    refitter, relaxed, point, statuses = search(*instances(0), 2)
    assert unit_choice._by_elimination(refitter, relaxed, point, 2, give_up_at=1e-3) is None
    assert statuses == [Status.CALLBACK]


def test_giving_up_changes_nothing_but_the_time(monkeypatch):
    given_up = []
    patient = Refitter.refit

    def impatient(self, *arguments, **settings):
        fit = patient(self, *arguments, **settings)
        given_up.append(fit.status is Status.CALLBACK)
        return fit

    monkeypatch.setattr(Refitter, "refit", impatient)
    quick = [choose(*instances(seed), 3) for seed in range(3)]
    assert any(given_up)
    monkeypatch.setattr(
        Refitter,
        "refit",
        lambda self, *arguments, give_up_at=None, **settings: patient(self, *arguments, **settings),
    )
    for seed, one in enumerate(quick):
        assert_array_equal(choose(*instances(seed), 3).w, one.w)


@pytest.mark.parametrize("k", [1, 2])
def test_a_larger_model_shrinks_to_k(k):
    refitter, relaxed, point, _ = search(*instances(1), k)
    larger = refitter.refit(largest(refitter.unit_norms(relaxed), 6), relaxed, point)
    smaller = unit_choice._shrunk(refitter, larger, k)
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


def test_no_time_ends_with_the_first_refit():
    X, y = instances(2)
    problem = make_problem(X, y, measure="f1", budget=3, C=1.0)
    result = solve_hard_budget(problem, Limits(1e-3, 500, max_time=1e-9))
    assert result.status is Status.MAX_TIME
    assert result.support.size <= 3
