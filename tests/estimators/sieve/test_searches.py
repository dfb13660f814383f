"""Searches under the limit of k columns: sizes on the way to k, and columns of one scale."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import as_design
from scoresieve.design.scaled import equal_factors
from scoresieve.estimators.sieve import candidates, searches
from scoresieve.estimators.sieve.candidates import (
    MEAN_SQUARES,
    SelectionProblem,
    constant_for,
    entered_at,
    halving_sizes,
)
from scoresieve.estimators.sieve.coordinate_ascent import CoordinateAscent
from scoresieve.estimators.sieve.filters import STATISTICS, Filter
from scoresieve.estimators.sieve.plan import start_clock
from scoresieve.estimators.sieve.searches import Bound, LossSearch
from scoresieve.losses import get_loss
from scoresieve.measures import get_measure
from scoresieve.solvers.subset.refits import Refitter
from tests.helpers import selected_by

SQUARED_HINGE = get_loss("squared_hinge")
N_TRUE = 6
#: Every candidate that knows of fewer columns when it has found k.
GROWING = [
    LossSearch(SQUARED_HINGE, 3.0),
    LossSearch(SQUARED_HINGE, 3.0, is_scaled=True),
    *(Filter(statistic, 1.0) for statistic in STATISTICS),
    CoordinateAscent(get_measure("f1")),
]


@pytest.fixture(scope="module")
def data():
    """Few columns that matter among many: with 40 of them most are chosen by chance."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 1500))
    score = X[:, :N_TRUE] @ np.linspace(1.0, 2.0, N_TRUE) + 0.5 * rng.normal(size=400)
    return X, np.where(score > np.quantile(score, 0.85), 1.0, -1.0)


def searched(X, y, sizes, limits=None, **options):
    chosen = [LossSearch(SQUARED_HINGE, C, **options) for C in (0.3, 3.0)]
    return columns_of(selected_by(chosen, X, y, sizes, limits=limits))


def columns_of(paths):
    return [[each.columns for each in path] for path in paths]


@pytest.mark.parametrize("is_scaled", [False, True])
def test_one_number_and_a_list_with_its_halves_find_the_same(data, is_scaled):
    X, y = data
    alone = searched(X, y, [40], is_scaled=is_scaled)
    among = searched(X, y, halving_sizes([40]), is_scaled=is_scaled)
    for one, several in zip(alone, among, strict=True):
        np.testing.assert_array_equal(one[0], several[-1])


def test_what_few_columns_find_stays_when_there_are_more(data):
    X, y = data
    for few, many in searched(X, y, [N_TRUE, 40]):
        assert set(few) == set(range(N_TRUE))
        assert set(few) <= set(many)
        assert many.size == 40
    for (many,) in searched(X, y, [40]):
        assert set(range(N_TRUE)) <= set(many)


@pytest.fixture
def asked(monkeypatch):
    """The numbers that are searched for, in their order."""
    numbers = []

    def noted(real):
        def noting(given, *rest, **options):
            numbers.append(getattr(given, "problem", given).norm.budget)
            return real(given, *rest, **options)

        return noting

    for name in ("splice", "solve_problem"):
        monkeypatch.setattr(searches, name, noted(getattr(searches, name)))
    return numbers


def test_after_the_deadline_only_what_was_asked_for_is_searched(data, asked):
    X, y = data
    found = searched(X, y, [10, 30], limits=start_clock(1e-9))
    assert asked == [10, 30, 10, 30]
    assert all(path[1].size for path in found)


def test_a_loss_goes_through_all_halves_and_the_bound_of_a_measure_does_not(data, asked):
    X, y = data[0][:, :40], data[1]
    searched(X, y, [8])
    assert asked == 2 * halving_sizes([8])
    asked.clear()
    selected_by([Bound(get_measure("f1"), 3.0)], X, y, [8])
    assert asked == [8]


@pytest.mark.parametrize("candidate", GROWING, ids=lambda each: each.name)
def test_columns_came_in_at_the_sizes_that_are_found_when_these_are_asked_for(data, candidate):
    X, y = data[0][:, :60], data[1]
    every = halving_sizes([20])
    [path] = selected_by([candidate], X, y, every)
    [[alone]] = selected_by([candidate], X, y, [20])
    supports = {k: each.columns for k, each in zip(every, path, strict=True)}
    assert alone.columns.tolist() == supports[20].tolist()
    assert alone.entered.tolist() == entered_at(20, supports).tolist()
    assert len(set(alone.entered)) > 2


def test_the_columns_that_matter_came_in_first(data):
    X, y = data
    for [found] in selected_by(GROWING[:1], X, y, [40]):
        early = found.columns[found.entered <= 10]
        assert set(range(N_TRUE)) <= set(early)


@pytest.mark.parametrize("candidate", GROWING, ids=lambda each: each.name)
def test_columns_of_a_group_come_in_together_and_those_that_are_always_in_first(data, candidate):
    X, y = data[0][:, :60], data[1]
    groups, always = np.repeat(np.arange(20), 3), [57, 58, 59]
    roles = {"feature_groups": groups, "always_features": always}
    [[found]] = selected_by([candidate], X, y, [8], roles=roles)
    assert found.entered.shape == found.columns.shape
    entered = dict(zip(found.columns.tolist(), found.entered.tolist(), strict=True))
    assert {entered.get(column) for column in always} == {2}
    for unit in set(groups[found.columns]):
        assert len({entered[column] for column in entered if groups[column] == unit}) == 1


def test_of_the_bound_it_is_only_known_what_was_asked_for(data):
    X, y = data[0][:, :40], data[1]
    bound = Bound(get_measure("f1"), 10.0)
    [[alone]] = selected_by([bound], X, y, [8])
    assert set(alone.entered) == {8}
    [[few, many]] = selected_by([bound], X, y, [3, 8])
    assert many.entered[np.isin(many.columns, few.columns)].tolist() == [3] * 3


def test_supports_along_k_and_C():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30)) @ (np.eye(30) + 0.3 * rng.normal(size=(30, 30)))
    y = np.where(X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=120) > 1.0, 1.0, -1.0)
    ks, losses = [2, 4, 8], [LossSearch(SQUARED_HINGE, C) for C in (0.01, 0.1, 1.0)]
    together = selected_by([*losses, Bound(get_measure("f1"), 3.0)], X, y, ks)
    [alone] = selected_by(losses[:1], X, y, ks)
    for one, other in zip(together[0], alone, strict=True):
        assert one.columns.tolist() == other.columns.tolist()
    for path in together:
        assert [each.columns.size for each in path] == ks
    # Never above a start: the support of the C before, with the weights of this C.
    for loss, before, path in zip(losses[1:], together, together[1:], strict=False):
        for k, start, found in zip(ks, before, path, strict=True):
            rows = SelectionProblem(as_design(X), y, None, start_clock(None))
            problem = rows.minimising(loss.loss, loss.C).with_budget(k)
            value, begun = (
                Refitter(problem, rows.limits).refit(each.columns).primal for each in (found, start)
            )
            assert value <= begun * (1.0 + 1e-9)


def mixed_scales(seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((90, 15)) < 0.4, rng.normal(size=(90, 15)), 0.0)
    y = np.where(X[:, 2] - X[:, 9] + 0.5 * rng.normal(size=90) > 0.5, 1.0, -1.0)
    return X, y, 2.0 ** rng.integers(-6, 7, size=15)


def found(X, y, C, ks=(2, 5), **options):
    [path] = selected_by([LossSearch(SQUARED_HINGE, C, **options)], X, y, ks)
    return path


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_a_scaled_search_is_one_of_scaled_columns(form, shift, monkeypatch):
    X, y, units = mixed_scales()
    X = (X + shift) * units
    factors = equal_factors(as_design(X), MEAN_SQUARES)
    constant = constant_for((X * factors).mean(axis=0))
    assert (constant > 10.0) == (shift > 1.0)
    monkeypatch.setattr(candidates, "CONSTANT", constant)
    by_hand = found(X * factors, y, 0.3)
    monkeypatch.undo()
    for scaled, twin in zip(found(form(X), y, 0.3, is_scaled=True), by_hand, strict=True):
        assert_array_equal(scaled.columns, twin.columns)
        assert_allclose(scaled.weights, factors[twin.columns] * twin.weights)
        assert scaled.intercept == pytest.approx(twin.intercept)


def test_the_units_of_columns_do_not_matter_to_a_scaled_search():
    X, y, units = mixed_scales(1)
    X = X / X.std(axis=0) * 3.0
    # One unit is that of the largest column, so that the mean square stays within its bounds.
    for scaled, twin in zip(
        found(X * units / units.max(), y, 3.0, is_scaled=True),
        found(X, y, 3.0, is_scaled=True),
        strict=True,
    ):
        assert_array_equal(scaled.columns, twin.columns)


def test_where_columns_begin_does_not_matter_to_a_scaled_search():
    """Means that are a hundred deviations from 0 change no choice of columns.

    Both columns that matter want a positive weight, so that their means do not cancel.
    """
    X, _, _ = mixed_scales(3)
    y = np.where(X[:, 2] + X[:, 9] > 0.5, 1.0, -1.0)
    for each in (X, X + 100.0 * X.std(axis=0)):
        [path] = found(each, y, 0.3, ks=(2,), is_scaled=True)
        assert path.columns.tolist() == [2, 9]


def test_columns_that_were_fetched_before_are_those_of_x():
    """A search of X itself, then of scaled columns, shares what was fetched."""
    X, y, units = mixed_scales(2)
    both = [LossSearch(SQUARED_HINGE, 1.0), LossSearch(SQUARED_HINGE, 0.3, is_scaled=True)]
    _, second = selected_by(both, sp.csr_array(X * units), y, (2, 5))
    for one, other in zip(second, found(X * units, y, 0.3, is_scaled=True), strict=True):
        assert_array_equal(one.columns, other.columns)
        assert_allclose(one.weights, other.weights)
