"""Columns one at a time, beside scikit-learn's average precision and chi2."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.feature_selection import chi2
from sklearn.metrics import average_precision_score

from scoresieve import ScoreSieve
from scoresieve.design import as_design
from scoresieve.estimators.sieve import filters
from scoresieve.estimators.sieve.filters import average_precisions, chi2_statistics
from scoresieve.estimators.sieve.plans import make_selections, start_clock
from scoresieve.estimators.sieve.selections import paths

FORMS = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array]


def make_data(seed=0, n_samples=70):
    """Rounded numbers, so that many are tied, half of them 0 and some columns mostly negative."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_samples) < 0.3
    X = np.round(rng.normal(size=(n_samples, 9)) + np.outer(y, rng.normal(size=9)), 1)
    return X * (rng.random((n_samples, 9)) < 0.5), y


def by_sklearn(X, y, weights=None):
    def score(column):
        return average_precision_score(y, column, sample_weight=weights)

    return np.array([max(score(column), score(-column)) for column in X.T])


@pytest.mark.parametrize("form", FORMS)
def test_average_precisions_are_those_of_scikit_learn(form):
    X, y = make_data()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, size=y.size)
    entries = as_design(form(X)).columns(np.arange(9)).entries()
    assert_allclose(average_precisions(entries, y, np.ones(y.size)), by_sklearn(X, y))
    assert_allclose(average_precisions(entries, y, weights), by_sklearn(X, y, weights))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
def test_chi2_is_that_of_scikit_learn(form, unit):
    """Of columns of unit deviation that begin at 0, each row as often as it counts."""
    X, y = make_data(6)
    X[:, 2] = np.abs(X[:, 2])
    weights = np.random.default_rng(2).integers(1, 4, size=y.size)
    repeated = np.repeat(np.arange(y.size), weights)
    twin = X[repeated] / X[repeated].std(axis=0)
    entries = as_design(form(unit * X)).columns(np.arange(9)).entries()
    expected, _ = chi2(twin - np.minimum(twin.min(axis=0), 0.0), y[repeated])
    assert_allclose(chi2_statistics(entries, y, weights.astype(float)), expected)


def test_chi2_of_columns_that_say_nothing_is_zero():
    X = np.column_stack([np.zeros(8), np.full(8, 3.0), np.tile([0.0, 1.0], 4)])
    entries = as_design(sp.csr_array(X)).columns(np.arange(3)).entries()
    assert_allclose(chi2_statistics(entries, np.arange(8) < 4, np.ones(8)), 0.0)


def chosen(X, y, ks, way="alone", **columns):
    selections = make_selections(ScoreSieve("f1", candidates=[way]))
    labels = np.where(y, 1.0, -1.0)
    [path] = paths(selections, X, labels, ks, start_clock(None), intercept_scaling=1.0, **columns)
    return [each.columns.tolist() for each in path]


@pytest.mark.parametrize("form", FORMS)
def test_the_highest_are_chosen(form):
    X, y = make_data(2)
    order = np.argsort(-by_sklearn(X, y))
    for k, columns in zip((1, 4, 6), chosen(form(X), y, (1, 4, 6)), strict=True):
        assert columns == sorted(order[:k])


def test_the_highest_chi2_is_chosen():
    X, y = make_data(7)
    unit = X / X.std(axis=0)
    order = np.argsort(-chi2(unit - np.minimum(unit.min(axis=0), 0.0), y)[0])
    assert chosen(sp.csr_array(X), y, (3,), way="chi2") == [sorted(order[:3])]


def test_among_the_most_correlated_alone(monkeypatch):
    X, y = make_data(3)
    [correlated] = paths(
        make_selections(ScoreSieve("f1", candidates=["correlation"])),
        *(X, np.where(y, 1.0, -1.0), [4], start_clock(None)),
        intercept_scaling=1.0,
    )
    monkeypatch.setattr(filters, "N_RANKED", 4)
    few = correlated[0].columns
    order = few[np.argsort(-by_sklearn(X, y)[few])]
    assert chosen(X, y, (2,)) == [sorted(order[:2])]


def test_roles_of_columns():
    X, y = make_data(4)
    best = int(np.argmax(by_sklearn(X, y)))
    assert best not in chosen(X, y, (3,), excluded_features=[best])[0]
    others = [column for column in range(9) if column != best]
    [found] = chosen(X, y, (1,), always_features=others[:2])
    assert set(others[:2]) < set(found)
    groups = np.arange(9) // 3
    assert chosen(X, y, (1,), feature_groups=groups)[0] in [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_as_many_as_are_wanted_where_none_ranks_better_than_chance():
    X = np.zeros((20, 5))
    X[:, :4] = np.random.default_rng(5).normal(size=(20, 4))
    assert chosen(X, np.arange(20) < 10, (4,)) == [[0, 1, 2, 3]]
