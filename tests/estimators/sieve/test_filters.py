"""Univariate filters, beside scikit-learn's average precision, chi2 and F."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.feature_selection import chi2, f_classif
from sklearn.metrics import average_precision_score

from scoresieve import ScoreSieve
from scoresieve.design import as_design
from scoresieve.estimators.sieve import filters
from scoresieve.estimators.sieve.filters import (
    Filter,
    average_precisions,
    chi2_statistics,
    correlations,
)
from tests.helpers import selected_by

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


def chosen(X, y, sizes, statistic="average_precision", **roles):
    labels = np.where(y > 0, 1.0, -1.0)
    [path] = selected_by([Filter(statistic, 1.0)], X, labels, sizes, roles=roles)
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
    assert chosen(sp.csr_array(X), y, (3,), "chi2") == [sorted(order[:3])]


def test_among_the_most_correlated_alone(monkeypatch):
    X, y = make_data(3)
    [few] = chosen(X, y, (4,), "correlation")
    monkeypatch.setattr(filters, "N_RANKED", 4)
    order = np.array(few)[np.argsort(-by_sklearn(X, y)[few])]
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


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 12))
    y = np.where(X[:, 4] + rng.normal(size=80) > 1.0, 1.0, -1.0)
    return (X + rng.normal(size=12)) * 10.0 ** rng.integers(-2, 3, size=12), y


@pytest.mark.parametrize("form", FORMS)
def test_the_order_of_the_analysis_of_variance(data, form):
    X, y = data
    order = np.argsort(-f_classif(X, y)[0])
    for k, columns in zip((1, 3, 7), chosen(form(X), y, (1, 3, 7), "correlation"), strict=True):
        assert set(columns) == set(order[:k])


def test_whole_weights_count_rows_in_what_columns_say(data):
    X, y = data
    weights = np.random.default_rng(0).integers(1, 4, size=y.size)
    repeated = np.repeat(np.arange(y.size), weights)
    residuals = y - np.average(y, weights=weights)
    found = correlations_of(X, weights * residuals, weights.astype(float))
    of_rows = correlations_of(X[repeated], residuals[repeated], np.ones(repeated.size))
    # How far a column spreads is that of its rows, however often they count.
    spread = X.std(axis=0) * np.sqrt(y.size)
    of_repeated = X[repeated].std(axis=0) * np.sqrt(repeated.size)
    np.testing.assert_allclose(found * spread, of_rows * of_repeated, rtol=1e-9)


def correlations_of(X, v, weights):
    return correlations(as_design(X), v, weights)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_units_of_columns_do_not_matter_and_constants_say_nothing(data, scale):
    X, y = data
    wanted = correlations_of(X, y, np.ones(y.size))
    odd = np.column_stack([scale * X, np.full(y.size, 7.3 * scale), np.zeros(y.size)])
    found = correlations_of(odd, y, np.ones(y.size))
    np.testing.assert_allclose(found[:-2], wanted, rtol=1e-6)
    assert np.all(found[-2:] == 0.0)


def test_roles_of_columns_in_correlations(data):
    X, y = data
    first, second, third = np.argsort(-f_classif(X, y)[0])[:3]
    [columns] = chosen(X, y, (1,), "correlation", excluded_features=[first])
    assert columns == [second]
    [columns] = chosen(X, y, (1,), "correlation", always_features=[first])
    assert first in columns
    assert len(columns) == 2
    groups = np.arange(X.shape[1])
    groups[third] = groups[first]
    [columns] = chosen(X, y, (1,), "correlation", feature_groups=groups)
    assert set(columns) == {first, third}


def test_a_copy_of_what_is_always_in_says_nothing_new(data):
    X, y = data
    X = X / X.std(axis=0)
    first = int(np.argmax(f_classif(X, y)[0]))
    twice = np.column_stack([X, X[:, first]])
    [columns] = chosen(twice, y, (1,), "correlation", always_features=[first])
    assert X.shape[1] not in columns


@pytest.mark.slow
def test_the_sieve_takes_it_where_rows_are_few_and_columns_many():
    """Columns that each say a little: what is found one at a time is better on other rows."""
    without = ["squared_hinge"]
    gains = []
    for seed in (0, 2, 3):
        X, y = columns_that_each_say_a_little(seed)
        models = [
            ScoreSieve("f1", n_features_to_select=10, candidates=names, Cs=[1.0])
            for names in (["correlation", *without], without)
        ]
        ours, others = (model.fit(X[:250], y[:250]).score(X[250:], y[250:]) for model in models)
        assert models[0].best_params_["selection"] == "correlation (logistic, C=1)"
        gains.append(ours - others)
    assert np.mean(gains) > 0.05


def columns_that_each_say_a_little(seed):
    rng = np.random.default_rng(seed)
    y = rng.random(1250) < 0.12
    share, lift = rng.beta(0.6, 6.0, size=800), np.ones(800)
    lift[:80] = rng.uniform(1.2, 4.0, size=80)
    of_positives = np.minimum(share * lift, 0.95)
    return (rng.random((y.size, 800)) < np.where(y[:, None], of_positives, share)) * 1.0, y
