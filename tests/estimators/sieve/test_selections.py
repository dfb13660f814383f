"""Searches that go through fewer columns on their way to k."""

import numpy as np
import pytest

from scoresieve.estimators.sieve import selections
from scoresieve.estimators.sieve.plans import start_clock
from scoresieve.estimators.sieve.rungs import entered_at, rungs
from scoresieve.estimators.sieve.selections import DIRECT, ONE_AT_A_TIME, Selection, paths
from scoresieve.losses import get_loss
from scoresieve.measures import get_measure

N_TRUE = 6
CONSTANT = {"intercept_scaling": 1.0}
#: Every way that knows of fewer columns when it has found k.
GROWING = [
    Selection(get_loss("squared_hinge"), 3.0),
    Selection(get_loss("squared_hinge"), 3.0, is_scaled=True),
    *(Selection(get_loss("logistic"), 1.0, way) for way in ONE_AT_A_TIME),
    Selection(get_measure("f1"), None, DIRECT),
]


@pytest.fixture(scope="module")
def data():
    """Few columns that matter among many: with 40 of them most are chosen by chance."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 1500))
    score = X[:, :N_TRUE] @ np.linspace(1.0, 2.0, N_TRUE) + 0.5 * rng.normal(size=400)
    return X, np.where(score > np.quantile(score, 0.85), 1.0, -1.0)


def found_by(chosen, X, y, ks, limits=None, **columns):
    return list(paths(chosen, X, y, ks, limits or start_clock(None), **CONSTANT, **columns))


def searched(X, y, ks, limits=None, **options):
    kind = options.pop("kind", get_loss("squared_hinge"))
    chosen = [Selection(kind, C, **options) for C in (0.3, 3.0)]
    return [[each.columns for each in path] for path in found_by(chosen, X, y, ks, limits)]


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


@pytest.mark.parametrize("selection", GROWING, ids=lambda each: each.name)
def test_columns_came_in_at_the_rungs_that_are_found_when_these_are_asked_for(data, selection):
    X, y = data[0][:, :60], data[1]
    every = rungs([20])
    [path] = found_by([selection], X, y, every)
    [[alone]] = found_by([selection], X, y, [20])
    supports = {k: each.columns for k, each in zip(every, path, strict=True)}
    assert alone.columns.tolist() == supports[20].tolist()
    assert alone.entered.tolist() == entered_at(20, supports).tolist()
    assert len(set(alone.entered)) > 2


def test_the_columns_that_matter_came_in_first(data):
    X, y = data
    for [found] in found_by(GROWING[:1], X, y, [40]):
        early = found.columns[found.entered <= 10]
        assert set(range(N_TRUE)) <= set(early)


@pytest.mark.parametrize("selection", GROWING, ids=lambda each: each.name)
def test_columns_of_a_group_come_in_together_and_those_that_are_always_in_first(data, selection):
    X, y = data[0][:, :60], data[1]
    groups, always = np.repeat(np.arange(20), 3), [57, 58, 59]
    roles = {"feature_groups": groups, "always_features": always}
    [[found]] = found_by([selection], X, y, [8], **roles)
    assert found.entered.shape == found.columns.shape
    entered = dict(zip(found.columns.tolist(), found.entered.tolist(), strict=True))
    assert {entered.get(column) for column in always} == {2}
    for unit in set(groups[found.columns]):
        assert len({entered[column] for column in entered if groups[column] == unit}) == 1


def test_of_the_bound_it_is_only_known_what_was_asked_for(data):
    X, y = data[0][:, :40], data[1]
    bound = Selection(get_measure("f1"), 10.0)
    [[alone]] = found_by([bound], X, y, [8])
    assert set(alone.entered) == {8}
    [[few, many]] = found_by([bound], X, y, [3, 8])
    assert many.entered[np.isin(many.columns, few.columns)].tolist() == [3] * 3
