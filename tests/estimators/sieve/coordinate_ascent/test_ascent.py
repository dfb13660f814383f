"""Coordinate ascent: what enters, that the measure only rises, and the roles of columns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.estimators.sieve import coordinate_ascent as screening
from scoresieve.estimators.sieve.coordinate_ascent import CoordinateAscent
from scoresieve.estimators.sieve.plan import start_clock
from scoresieve.measures import get_measure
from tests.helpers import selected_by

KS = (1, 2, 3, 5, 8)


def words(seed=0, n=300, m=60, n_true=6):
    """Rows of words; a row is positive if it has enough of the first ones, with some noise."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, m)) < 0.15) * rng.uniform(0.5, 1.5, (n, m))
    noise = 0.3 * rng.normal(size=n)
    return X, np.where(X[:, :n_true].sum(axis=1) + noise > 1.6, 1.0, -1.0)


def path(X, y, measure="f1", ks=KS, *, weights=None, limits=None, **roles):
    ascent = CoordinateAscent(get_measure(measure))
    [found] = selected_by([ascent], X, y, ks, weights=weights, limits=limits, roles=roles)
    return found


def units(model):
    return set(model.columns[model.weights != 0.0])


def scores_of(model, X):
    return X[:, model.columns] @ model.weights + model.intercept


def value(model, X, y, measure="f1"):
    return get_measure(measure).score(y, scores_of(model, X))


@pytest.mark.parametrize("measure", ["f1", "f2", "accuracy", "balanced_accuracy", "mcc", "gmean"])
def test_the_measure_rises_with_k(measure):
    X, y = words()
    found = path(X, y, measure)
    values = [value(model, X, y, measure) for model in found]
    assert np.all(np.diff(values) >= -1e-12)
    assert values[-1] > values[0]
    for k, model in zip(KS, found, strict=True):
        assert len(units(model)) <= k


def test_what_enters_are_the_columns_that_matter():
    X, y = words(n=2000)
    assert units(path(X, y, ks=[6])[0]) == set(range(6))


def test_the_first_unit_and_its_weight_are_the_best_of_all():
    X, y = words(1)
    [model] = path(X, y, ks=[1])
    best = 0.0
    for column in X.T:
        for sign in (1.0, -1.0):
            scores = sign * column
            f1 = get_measure("f1")
            best = max(best, f1.score(y, scores - f1.threshold(y, scores)))
    assert value(model, X, y) == pytest.approx(best)


def test_each_model_holds_the_units_of_the_one_before():
    found = path(*words(2))
    for before, after in pairwise(found):
        assert units(before) <= units(after)


def test_no_line_search_of_one_weight_improves_the_model():
    X, y = words(3)
    model = path(X, y, ks=[5])[0]
    scores, f1 = scores_of(model, X), get_measure("f1")
    columns = [*X[:, sorted(units(model))].T, np.ones(y.size)]
    for column in columns:
        here = column != 0
        places = np.unique(-scores[here] / column[here])
        for step in 0.5 * (places[1:] + places[:-1]):
            assert f1.score(y, scores + step * column) <= f1.score(y, scores) + 1e-9


def test_sparse_dense_and_columns_in_other_units_give_the_same():
    X, y = words(4)
    dense = path(X, y)
    scales = 10.0 ** np.random.default_rng(0).integers(-60, 60, X.shape[1])
    for other, factors, rtol in (
        *((form(X), np.ones(60), 1e-9) for form in (sp.csr_array, sp.csc_array, np.asfortranarray)),
        (X * scales, scales, 1e-6),
    ):
        for one, two in zip(dense, path(other, y), strict=True):
            assert_array_equal(one.columns, two.columns)
            assert_allclose(one.weights, two.weights * factors[one.columns], rtol=rtol)


def test_columns_of_both_signs():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 30))
    y = np.where(X[:, 3] - X[:, 7] + 0.3 * rng.normal(size=400) > 1.2, 1.0, -1.0)
    [model] = path(X, y, ks=[2])
    assert units(model) == {3, 7}
    assert model.weights[0] > 0 > model.weights[1]


def test_weights_are_repetitions():
    X, y = words(6, n=150)
    weights = np.random.default_rng(6).integers(1, 4, y.size)
    often = np.repeat(np.arange(y.size), weights)
    weighted = path(X, y, weights=weights.astype(float))
    for one, two in zip(weighted, path(X[often], y[often]), strict=True):
        assert value(one, X[often], y[often]) == pytest.approx(value(two, X[often], y[often]))
        assert_array_equal(one.columns, two.columns)


def test_excluded_columns_stay_out_and_others_are_always_in():
    X, y = words(7)
    free = path(X, y, ks=[3])[0]
    excluded = sorted(units(free))[:2]
    without = path(X, y, ks=[3], excluded_features=excluded)[0]
    assert not units(without) & set(excluded)
    always = path(X, y, ks=[3], always_features=excluded)[0]
    assert len(units(always) - set(excluded)) == 3
    assert value(always, X, y) >= value(free, X, y) - 0.05


def test_groups_enter_together():
    X, y = words(8, n=1000)
    groups = np.arange(60) // 3  # the first six columns are two groups
    found = path(X, y, ks=[1, 2], feature_groups=groups)
    assert units(found[0]) in ({0, 1, 2}, {3, 4, 5})
    assert units(found[1]) == set(range(6))
    assert value(found[1], X, y) > value(found[0], X, y)


def test_it_ends_where_nothing_raises_the_measure():
    X = np.eye(6)[:, :2]
    y = np.where(np.arange(6) < 1, 1.0, -1.0)
    found = path(X, y, ks=[1, 2])
    assert [len(units(model)) for model in found] == [1, 1]
    assert value(found[1], X, y) == 1.0


def test_alarms_for_all_are_no_place_to_stay():
    """F2 of 69 positives in 400 is 0.51 with alarms for all: more than any one word reaches."""
    rng = np.random.default_rng(0)
    X = (rng.random((400, 200)) < 0.1) * rng.random((400, 200))
    y = np.where(X[:, :5].sum(axis=1) + 0.2 * rng.normal(size=400) > 0.55, 1.0, -1.0)
    [model] = path(X, y, "f2", ks=[5])
    assert value(model, X, y, "f2") > 0.85


def test_a_class_without_a_trace_gives_no_units():
    y = np.where(np.arange(20) < 5, 1.0, -1.0)
    X = np.zeros((20, 3))
    [model] = path(X, y, "accuracy", ks=[2])
    assert not units(model)
    assert value(model, X, y, "accuracy") == 0.75


def test_after_the_deadline_nothing_enters():
    found = path(*words(9), ks=[1, 2], limits=start_clock(1e-9))
    assert [len(units(model)) for model in found] == [0, 0]


def test_long_columns_are_searched_a_few_at_a_time(monkeypatch):
    X, y = words(10)
    whole = path(X, y, ks=[4])[0]
    monkeypatch.setattr(screening, "MOST_ENTRIES", 1)
    few = path(X, y, ks=[4])[0]
    assert len(units(few)) == 4
    assert value(few, X, y) >= 0.8 * value(whole, X, y)
