"""Columns that rank best alone, beside scikit-learn's average precision."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.metrics import average_precision_score

from scoresieve import ScoreSieve
from scoresieve.design import as_design
from scoresieve.estimators.sieve import alone
from scoresieve.estimators.sieve.alone import average_precisions
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


def chosen(X, y, ks, **columns):
    selections = make_selections(ScoreSieve("f1", candidates=["alone"]))
    labels = np.where(y, 1.0, -1.0)
    [path] = paths(selections, X, labels, ks, start_clock(None), intercept_scaling=1.0, **columns)
    return [each.columns.tolist() for each in path]


@pytest.mark.parametrize("form", FORMS)
def test_the_highest_are_chosen(form):
    X, y = make_data(2)
    order = np.argsort(-by_sklearn(X, y))
    for k, columns in zip((1, 4, 6), chosen(form(X), y, (1, 4, 6)), strict=True):
        assert columns == sorted(order[:k])


def test_among_the_most_correlated_alone(monkeypatch):
    X, y = make_data(3)
    [correlated] = paths(
        make_selections(ScoreSieve("f1", candidates=["correlation"])),
        *(X, np.where(y, 1.0, -1.0), [4], start_clock(None)),
        intercept_scaling=1.0,
    )
    monkeypatch.setattr(alone, "N_RANKED", 4)
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
