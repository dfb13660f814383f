"""Direct searches: what enters, that the measure only rises, and the roles of columns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.measures import get_measure
from scoresieve.solvers.direct import screening
from scoresieve.solvers.direct.search import direct_path
from scoresieve.solvers.limits import Deadline
from scoresieve.solvers.problem import make_problem

KS = (1, 2, 3, 5, 8)


def words(seed=0, n=300, m=60, n_true=6):
    """Rows of words; a row is positive if it has enough of the first ones, with some noise."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, m)) < 0.15) * rng.uniform(0.5, 1.5, (n, m))
    noise = 0.3 * rng.normal(size=n)
    return X, np.where(X[:, :n_true].sum(axis=1) + noise > 1.6, 1.0, -1.0)


def path(X, y, measure="f1", ks=KS, **columns):
    problem = make_problem(X, y, budget=1, loss="logistic", intercept_scaling=1.0, **columns)
    return direct_path(problem, get_measure(measure), ks)


def units(model):
    return set(np.flatnonzero(model.w[:-1]))


def value(measure, X, y, w):
    return get_measure(measure).score(y, X @ w[:-1] + w[-1])


@pytest.mark.parametrize("measure", ["f1", "f2", "accuracy", "balanced_accuracy", "mcc", "gmean"])
def test_the_measure_rises_with_k_and_is_that_of_the_model(measure):
    X, y = words()
    found = path(X, y, measure)
    values = [model.value for model in found]
    assert np.all(np.diff(values) >= 0.0)
    assert values[-1] > values[0]
    for k, model in zip(KS, found, strict=True):
        assert len(units(model)) <= k
        score = value(measure, X, y, model.w)
        score = (1.0 + score) / 2.0 if measure == "mcc" else score
        assert score == pytest.approx(model.value)


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
    assert model.value == pytest.approx(best)


def test_each_model_holds_the_units_of_the_one_before():
    found = path(*words(2))
    for before, after in pairwise(found):
        assert units(before) <= units(after)


def test_no_line_search_of_one_weight_improves_the_model():
    X, y = words(3)
    model = path(X, y, ks=[5])[0]
    scores, f1 = X @ model.w[:-1] + model.w[-1], get_measure("f1")
    columns = [*X[:, sorted(units(model))].T, np.ones(y.size)]
    for column in columns:
        here = column != 0
        places = np.unique(-scores[here] / column[here])
        for step in 0.5 * (places[1:] + places[:-1]):
            assert f1.score(y, scores + step * column) <= model.value + 1e-9


def test_sparse_dense_and_columns_in_other_units_give_the_same():
    X, y = words(4)
    dense = path(X, y)
    for other in (sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X)):
        for one, two in zip(dense, path(other, y), strict=True):
            assert_allclose(one.w, two.w, rtol=1e-9)
    scales = 10.0 ** np.random.default_rng(0).integers(-60, 60, X.shape[1])
    for one, two in zip(dense, path(X * scales, y), strict=True):
        assert_allclose(one.w[:-1], two.w[:-1] * scales, rtol=1e-6)


def test_columns_of_both_signs():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 30))
    y = np.where(X[:, 3] - X[:, 7] + 0.3 * rng.normal(size=400) > 1.2, 1.0, -1.0)
    [model] = path(X, y, ks=[2])
    assert units(model) == {3, 7}
    assert model.w[3] > 0 > model.w[7]


def test_weights_are_repetitions():
    X, y = words(6, n=150)
    weights = np.random.default_rng(6).integers(1, 4, y.size)
    often = np.repeat(np.arange(y.size), weights)
    for one, two in zip(path(X, y, sample_weight=weights), path(X[often], y[often]), strict=True):
        assert one.value == pytest.approx(two.value)
        assert_array_equal(one.w != 0, two.w != 0)


def test_excluded_columns_stay_out_and_others_are_always_in():
    X, y = words(7)
    free = path(X, y, ks=[3])[0]
    excluded = sorted(units(free))[:2]
    without = path(X, y, ks=[3], excluded_features=excluded)[0]
    assert not units(without) & set(excluded)
    always = path(X, y, ks=[3], always_features=excluded)[0]
    assert len(units(always) - set(excluded)) == 3
    assert always.value >= free.value - 0.05


def test_groups_enter_together():
    X, y = words(8, n=1000)
    groups = np.arange(60) // 3  # the first six columns are two groups
    found = path(X, y, ks=[1, 2], feature_groups=groups)
    assert units(found[0]) in ({0, 1, 2}, {3, 4, 5})
    assert units(found[1]) == set(range(6))
    assert found[1].value > found[0].value


def test_it_ends_where_nothing_raises_the_measure():
    X = np.eye(6)[:, :2]
    y = np.where(np.arange(6) < 1, 1.0, -1.0)
    found = path(X, y, ks=[1, 2])
    assert [len(units(model)) for model in found] == [1, 1]
    assert found[1].value == 1.0


def test_alarms_for_all_are_no_place_to_stay():
    """F2 of 69 positives in 400 is 0.51 with alarms for all: more than any one word reaches."""
    rng = np.random.default_rng(0)
    X = (rng.random((400, 200)) < 0.1) * rng.random((400, 200))
    y = np.where(X[:, :5].sum(axis=1) + 0.2 * rng.normal(size=400) > 0.55, 1.0, -1.0)
    [model] = path(X, y, "f2", ks=[5])
    assert model.value > 0.85


def test_a_class_without_a_trace_gives_no_units():
    y = np.where(np.arange(20) < 5, 1.0, -1.0)
    [model] = path(np.zeros((20, 3)), y, "accuracy", ks=[2])
    assert not units(model)
    assert model.value == 0.75


def test_after_the_deadline_nothing_enters():
    X, y = words(9)
    problem = make_problem(X, y, budget=1, loss="logistic", intercept_scaling=1.0)
    found = direct_path(problem, get_measure("f1"), [1, 2], Deadline(0.0))
    assert [len(units(model)) for model in found] == [0, 0]


def test_long_columns_are_searched_a_few_at_a_time(monkeypatch):
    X, y = words(10)
    whole = path(X, y, ks=[4])[0]
    monkeypatch.setattr(screening, "MOST_ENTRIES", 1)
    few = path(X, y, ks=[4])[0]
    assert len(units(few)) == 4
    assert few.value >= 0.8 * whole.value
