"""Searches that go through fewer columns on their way to k."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoresieve.estimators.sieve import selections
from scoresieve.estimators.sieve.plans import start_clock
from scoresieve.estimators.sieve.selections import Selection, paths, rungs
from scoresieve.losses import get_loss
from scoresieve.measures import get_measure

N_TRUE = 6


@pytest.fixture(scope="module")
def data():
    """Few columns that matter among many: with 40 of them most are chosen by chance."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 1500))
    score = X[:, :N_TRUE] @ np.linspace(1.0, 2.0, N_TRUE) + 0.5 * rng.normal(size=400)
    return X, np.where(score > np.quantile(score, 0.85), 1.0, -1.0)


def searched(X, y, ks, limits=None, **options):
    kind = options.pop("kind", get_loss("squared_hinge"))
    chosen = [Selection(kind, C, **options) for C in (0.3, 3.0)]
    found = paths(chosen, X, y, ks, limits or start_clock(None), intercept_scaling=1.0)
    return [[each.columns for each in path] for path in found]


@pytest.mark.parametrize(
    ("ks", "wanted"),
    [
        ([1], [1]),
        ([2], [2]),
        ([5], [2, 3, 5]),
        ([50], [2, 4, 7, 13, 25, 50]),
        ([5, 10, 50], [2, 3, 5, 10, 13, 25, 50]),
        ([9, 10], [2, 3, 5, 9, 10]),
    ],
)
def test_halves_down_to_the_number_before(ks, wanted):
    assert rungs(ks) == wanted


@given(st.sets(st.integers(1, 10_000), min_size=1, max_size=6))
def test_rungs_hold_every_number_and_never_more_than_double(numbers):
    ks = sorted(numbers)
    found = rungs(ks)
    assert found == sorted(set(found))
    assert set(ks) <= set(found)
    assert all(large <= 2 * small for small, large in pairwise(found))
    assert found[0] <= 2


@pytest.mark.parametrize("is_scaled", [False, True])
def test_one_number_and_a_list_with_its_rungs_find_the_same(data, is_scaled):
    X, y = data
    alone = searched(X, y, [40], is_scaled=is_scaled)
    among = searched(X, y, rungs([40]), is_scaled=is_scaled)
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
    numbers, real = [], selections.best_weights

    def noting(problem, *rest):
        numbers.append(problem.norm.budget)
        return real(problem, *rest)

    monkeypatch.setattr(selections, "best_weights", noting)
    return numbers


def test_after_the_deadline_only_what_was_asked_for_is_searched(data, asked):
    X, y = data
    found = searched(X, y, [10, 30], limits=start_clock(1e-9))
    assert asked == [10, 30, 10, 30]
    assert all(path[1].size for path in found)


def test_a_loss_goes_through_all_rungs_and_the_bound_of_a_measure_does_not(data, asked):
    X, y = data[0][:, :40], data[1]
    searched(X, y, [8])
    assert asked == 2 * rungs([8])
    asked.clear()
    searched(X, y, [8], kind=get_measure("f1"))
    assert asked == [8, 8]
