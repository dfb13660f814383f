"""Columns that say most one at a time, beside scikit-learn's F and by definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import f_classif

from scoresieve import ScoreSieve
from scoresieve.design import as_design
from scoresieve.estimators.sieve.correlated import correlations
from scoresieve.estimators.sieve.plans import make_selections, start_clock
from scoresieve.estimators.sieve.selections import paths


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 12))
    y = np.where(X[:, 4] + rng.normal(size=80) > 1.0, 1.0, -1.0)
    return (X + rng.normal(size=12)) * 10.0 ** rng.integers(-2, 3, size=12), y


def chosen(X, y, ks, **columns):
    selections = make_selections(ScoreSieve("f1", candidates=["correlation"]))
    [path] = paths(selections, X, y, ks, start_clock(None), intercept_scaling=1.0, **columns)
    return [each.columns for each in path]


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_the_order_of_the_analysis_of_variance(data, form):
    X, y = data
    order = np.argsort(-f_classif(X, y)[0])
    for k, columns in zip((1, 3, 7), chosen(form(X), y, (1, 3, 7)), strict=True):
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


def test_roles_of_columns(data):
    X, y = data
    first, second, third = np.argsort(-f_classif(X, y)[0])[:3]
    [columns] = chosen(X, y, (1,), excluded_features=[first])
    assert columns == [second]
    [columns] = chosen(X, y, (1,), always_features=[first])
    assert first in columns
    assert columns.size == 2
    groups = np.arange(X.shape[1])
    groups[third] = groups[first]
    [columns] = chosen(X, y, (1,), feature_groups=groups)
    assert set(columns) == {first, third}


def test_a_copy_of_what_is_always_in_says_nothing_new(data):
    X, y = data
    X = X / X.std(axis=0)
    first = int(np.argmax(f_classif(X, y)[0]))
    twice = np.column_stack([X, X[:, first]])
    [columns] = chosen(twice, y, (1,), always_features=[first])
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
