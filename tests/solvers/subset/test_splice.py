"""Splicing: exchanges that pay, within the budget, until none does or the time is over."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from scoresieve.solvers.limits import Deadline, Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.subset import refits
from scoresieve.solvers.subset import splice as module
from scoresieve.solvers.subset.refits import Refitter
from scoresieve.solvers.subset.splice import (
    exchange_many,
    most_promising,
    splice,
    start_at_constant,
)

LIMITS = Limits(0.01, 500)
F1, HINGE, LOGISTIC = {"measure": "f1", "price": 0.5}, {"loss": "hinge"}, {"loss": "logistic"}
kinds = pytest.mark.parametrize("kind", [F1, LOGISTIC, HINGE], ids=str)


def mixed(seed, n_samples=60, n_columns=12):
    """Columns that have much in common, some of which tell the classes apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 4)) @ rng.normal(size=(4, n_columns))
    X += 0.5 * rng.normal(size=X.shape)
    signal = X[:, 0] - X[:, 5] + X[:, 9] + 0.5 * rng.normal(size=n_samples)
    return X, np.where(signal > np.quantile(signal, 0.7), 1.0, -1.0)


def refitter_of(X, y, kind, limits=LIMITS, **arguments):
    return Refitter(make_problem(X, y, **{**kind, "budget": 3, "C": 0.5, **arguments}), limits)


def best_of_all(refitter, k):
    n_units = refitter.norm.n_units
    every = itertools.combinations(range(n_units), k)
    return min(refitter.refit(np.array(units)).primal for units in every)


@kinds
@pytest.mark.parametrize("seed", range(2))
def test_no_exchange_raises_the_objective(kind, seed):
    """Whatever the start is; and there are never more than k units."""
    refitter = refitter_of(*mixed(seed), kind, intercept_scaling=1.0)
    reached = []
    for units in ([], [1, 2], [3, 7, 8]):
        start = refitter.refit(np.array(units, dtype=np.int64))
        found = splice(refitter, start, 3)
        assert found.primal <= start.primal
        assert found.units.size <= 3
        assert np.unique(found.units).size == found.units.size
        again = refitter.refit(found.units)
        assert found.primal == pytest.approx(again.primal, rel=0.02)
        reached.append(found.primal)
    assert max(reached) < 0.9 * start_at_constant(refitter).primal


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared"])
def test_what_it_finds_is_the_best_of_all_or_near_it(loss):
    for seed in range(3):
        refitter = refitter_of(*mixed(seed), {"loss": loss}, Limits(1e-3, 500))
        start = most_promising(refitter, start_at_constant(refitter), 2)
        found, best = splice(refitter, start, 2), best_of_all(refitter, 2)
        assert best * (1 - 1e-5) <= found.primal <= 1.01 * best


def test_at_its_end_no_pair_pays():
    """For squares the gains of pairs are exact, so that all pairs can be judged."""
    for seed in range(4):
        X, y = mixed(seed)
        signal = X @ np.linspace(-1.0, 1.0, 12) + y
        refitter = refitter_of(X, signal, {"loss": "squared"}, Limits(1e-3, 500), budget=4)
        found = splice(refitter, start_at_constant(refitter), 4)
        assert found.units.size == 4
        outside = np.setdiff1d(np.arange(12), found.units)
        for place, newcomer in itertools.product(range(4), outside):
            units = np.sort([*np.delete(found.units, place), newcomer])
            after = refitter.refit(units).primal
            assert after >= (1.0 - module.LEAST_GAIN - 1e-6) * found.primal


@pytest.mark.parametrize(
    "columns",
    [
        {"always_features": [2, 7]},
        {"excluded_features": [0, 5, 9]},
        {"feature_groups": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]},
        {
            "always_features": [10, 11],
            "excluded_features": [4],
            "feature_groups": [0, 0, 0, 1, 5, 1, 2, 2, 3, 3, 4, 4],
            "intercept_scaling": 2.0,
        },
    ],
    ids=["always", "excluded", "groups", "all"],
)
@kinds
def test_roles_of_columns(kind, columns):
    refitter = refitter_of(*mixed(3), kind, **columns)
    start = most_promising(refitter, start_at_constant(refitter), 2)
    found = splice(refitter, start, 2)
    always = columns.get("always_features", [])
    assert np.isin(always, found.columns).all()
    assert not np.isin(columns.get("excluded_features", []), found.columns).any()
    assert found.units.size <= 2
    groups = np.array(columns.get("feature_groups", range(12)))
    used = np.setdiff1d(found.columns, [*always, 12])
    # Whole groups, at most two of them.
    assert np.unique(groups[used]).size == found.units.size
    assert_array_equal(np.flatnonzero(np.isin(groups, groups[used])), used)
    assert found.primal <= start.primal < start_at_constant(refitter).primal


@kinds
def test_formats_lead_to_the_same_units(kind):
    X, y = mixed(4)
    found = []
    for form in (np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array):
        refitter = refitter_of(form(X), y, kind, intercept_scaling=1.0)
        found.append(splice(refitter, start_at_constant(refitter), 3))
    for other in found[1:]:
        assert_array_equal(other.units, found[0].units)
        assert other.primal == pytest.approx(found[0].primal, rel=1e-6)


@kinds
def test_the_same_bits_every_time(kind):
    results = []
    for _ in range(2):
        refitter = refitter_of(*mixed(5), kind)
        results.append(splice(refitter, start_at_constant(refitter), 3))
    assert_array_equal(results[0].w, results[1].w)
    assert_array_equal(results[0].units, results[1].units)


@kinds
def test_of_equal_columns_the_first_ones_are_taken(kind):
    """Each column three times."""
    X, y = mixed(6)
    X = X[:, :5]
    refitter = refitter_of(np.tile(X, 3), y, kind, C=2.0)
    found = most_promising(refitter, start_at_constant(refitter), 1)
    assert found.units[0] < 5
    alone = refitter_of(X, y, kind, C=2.0)
    assert_array_equal(found.units, most_promising(alone, start_at_constant(alone), 1).units)
    # The same column twice is a weight that costs half as much, so that more of them may pay.
    spliced = splice(refitter, start_at_constant(refitter), 3)
    assert spliced.primal <= splice(alone, start_at_constant(alone), 3).primal * 1.01


@kinds
def test_columns_of_zeros_do_not_enter(kind):
    X, y = mixed(7)
    X[:, 2:] = 0.0
    refitter = refitter_of(X, y, kind)
    found = splice(refitter, start_at_constant(refitter), 5)
    assert np.isin(found.units, [0, 1]).all()
    empty = refitter_of(np.zeros((60, 4)), y, kind)
    assert splice(empty, start_at_constant(empty), 2).units.size == 0


@kinds
def test_out_of_time_the_start_is_the_end(kind):
    X, y = mixed(8)
    late = refitter_of(X, y, kind, Limits(0.01, 500, deadline=Deadline(0.0)))
    start = late.refit(np.array([3, 4, 6]))
    assert splice(late, start, 3) is start
    assert late.n_refits == 1


@pytest.mark.parametrize("kind", [LOGISTIC, HINGE], ids=str)
def test_the_time_is_looked_at_before_every_refit(monkeypatch, kind):
    """No more of them are made than there is time for."""
    refitter = refitter_of(*mixed(9), kind)
    start = refitter.refit(np.array([3, 4, 6]))
    assert splice(refitter, start, 3) is not start
    needed = refitter.n_refits
    for n_refits in (1, needed // 2):
        short = refitter_of(*mixed(9), kind)
        monkeypatch.setattr(
            type(short), "time_is_over", property(lambda self, n=n_refits: self.n_refits >= n + 1)
        )
        first = short.refit(np.array([3, 4, 6]))
        found = splice(short, first, 3)
        assert short.n_refits <= n_refits + 1
        assert found.primal <= first.primal
        monkeypatch.undo()


def test_no_more_refits_than_the_limit(monkeypatch):
    monkeypatch.setattr(module, "MAX_REFITS", 4)
    refitter = refitter_of(*mixed(9), LOGISTIC)
    start = refitter.refit(np.array([3, 4, 6]))
    splice(refitter, start, 3)
    assert refitter.n_refits == 5
    few = refitter_of(*mixed(9), LOGISTIC)
    start = few.refit(np.array([3, 4, 6]))
    found, model = exchange_many(few, start, 3, few.n_refits + 1)
    assert few.n_refits == 2
    assert found.primal <= start.primal
    assert model is None


@pytest.mark.parametrize(("tol", "is_taken"), [(1e-3, True), (0.2, False)])
def test_a_swap_must_lower_the_objective_by_a_share_of_the_tolerance(monkeypatch, tol, is_taken):
    """Half a percent: more than a thousandth, and less than a hundredth. Not in small problems."""
    monkeypatch.setattr(refits, "FEW_NUMBERS", 0)
    orthogonal, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(200, 3)))
    x, noise, other = np.sqrt(200) * orthogonal.T
    X, y = np.column_stack([x + 0.07 * other, x]), x + noise
    refitter = refitter_of(X, y, {"loss": "squared"}, Limits(tol, 500), budget=1)
    start, better = (refitter.refit(np.array([unit])) for unit in (0, 1))
    assert 2e-3 < 1.0 - better.primal / start.primal < 8e-3
    assert splice(refitter, start, 1).units.tolist() == [1 if is_taken else 0]


def test_most_promising_fills_up_to_k():
    refitter = refitter_of(*mixed(10), LOGISTIC)
    start = refitter.refit(np.array([4, 8]))
    filled = most_promising(refitter, start, 5)
    assert filled.units.size == 5
    assert np.isin([4, 8], filled.units).all()
    assert filled.primal < start.primal
    assert most_promising(refitter, start, 2).primal == pytest.approx(start.primal, rel=1e-5)
    given_up = most_promising(refitter, start, 5, give_up_at=0.5 * filled.primal)
    assert given_up.gap > refitter.tol


def test_the_constant_model_is_that_of_the_columns_always_in():
    X, y = mixed(11)
    refitter = refitter_of(X, y, {"loss": "squared"}, intercept_scaling=1.0, always_features=[6])
    start = start_at_constant(refitter)
    part = np.column_stack([X[:, 6], np.ones(60)])
    w = np.linalg.solve(part.T @ part + 2.0 * np.eye(2), part.T @ y)
    assert start.scattered(13)[[6, 12]] == pytest.approx(w)
    assert start.units.size == 0
