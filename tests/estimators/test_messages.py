"""Columns of unlike sizes: who is told, and what."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from scoresieve import MeasureSVC
from scoresieve.estimators.data import column_sizes, has_like_entries, warn_of_scales

FORMS = [np.asarray, sp.csr_array, sp.csc_array]


def table(*sizes, n_samples=40, seed=0):
    """Columns with entries of about these sizes, of both signs."""
    X = np.random.default_rng(seed).uniform(0.5, 1.5, size=(n_samples, len(sizes)))
    return X * sizes * np.where(np.arange(n_samples) % 2, 1.0, -1.0)[:, None]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("positive", [False, True])
def test_columns_that_are_far_apart_are_named_with_the_remedy(form, positive):
    X = table(1.0, 5.0, 1e4)
    X = form(np.abs(X) if positive else X)
    with pytest.warns(UserWarning, match=r"'age' \(.*against 'income' \(.*StandardScaler") as told:
        warn_of_scales(X, names=["age", "visits", "income"])
    assert len(told) == 1
    # It is a thousand times as small as the last one, too.
    assert "visits" in str(told[0].message)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("positive", [False, True])
def test_nobody_is_told_below_a_thousand_times(form, positive):
    X = table(1.0, 5.0, 500.0)
    quiet(form(np.abs(X) if positive else X))


@pytest.mark.parametrize("form", FORMS)
def test_excluded_columns_and_zeros_do_not_count(form):
    X = np.abs(table(1.0, 1e5, 2.0))
    X[::2, 0] = 0.0
    quiet(form(X), excluded=[1])


def test_stored_zeros_are_no_entries():
    X = sp.csr_array(np.abs(table(1.0, 2.0)))
    X.data[::3] = 0.0
    assert not has_like_entries(X)
    assert np.all(column_sizes(X) > 0.4)
    quiet(X)


def test_a_few_odd_entries_are_passed_over():
    X = np.abs(table(1.0, 2.0, n_samples=400))
    X[:, 1] = 0.0
    X[0, 1] = 1e6
    for form in FORMS:
        quiet(form(X))


def test_entries_that_are_alike_are_seen_at_a_glance():
    X = sp.csr_array(np.abs(table(1.0, 20.0)))
    assert has_like_entries(X)
    X.data[0] = 1e5
    assert not has_like_entries(X)
    assert not has_like_entries(-X)
    assert not has_like_entries(X.toarray())
    assert not has_like_entries(sp.csr_array((3, 2)))


def test_a_fit_tells_it():
    X = np.abs(table(1.0, 1e5, n_samples=60))
    y = np.arange(60) % 3 == 0
    with pytest.warns(UserWarning, match="columns of X differ in scale by a factor of "):
        MeasureSVC("f1", budget=1, tol=0.1).fit(X, y)


def quiet(X, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_scales(X, **arguments)
