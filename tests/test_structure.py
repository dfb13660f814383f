"""Broken sparse matrices and columns without numbers are refused before a product reads them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from scoresieve import (
    BudgetClassifier,
    BudgetRegressor,
    MeasureSVC,
    ScoreSieve,
    budget_path,
    solve,
)
from scoresieve._checks import check_frame, check_structure
from scoresieve.baselines import L1SVM

FORMS = [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array]


def broken(form, change):
    X = form(np.random.default_rng(0).normal(size=(6, 6)))
    change(X)
    return X


def _set(name, at, value):
    def change(X):
        getattr(X, name)[at] = value

    return change


def _cut(name, length):
    def change(X):
        setattr(X, name, getattr(X, name)[:length])

    return change


def _as_floats(X):
    X.indices = X.indices.astype(float)


BREAKS = {
    "an index beyond the last column": (_set("indices", 3, 6), "indices hold 6"),
    "a negative index": (_set("indices", 3, -2), "indices hold -2"),
    "a start behind the end": (_set("indptr", 3, 10**6), "does not ascend"),
    "lines out of order": (_set("indptr", 2, 1), "does not ascend"),
    "a first line that starts late": (_set("indptr", 0, 3), "does not ascend from 0"),
    "an end behind the entries": (_set("indptr", 6, 40), "ends at 40, of 36"),
    "too few lines": (_cut("indptr", 5), "has 5 entries, not 7"),
    "too few entries": (_cut("data", 30), "of 36 indices and 30 entries"),
    "too few indices": (_cut("indices", 30), "of 30 indices and 36 entries"),
    "indices that are no integers": (_as_floats, "not integers"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", BREAKS)
def test_broken_matrices(form, name):
    change, message = BREAKS[name]
    with pytest.raises(ValueError, match=f"X is a broken CS[RC] matrix .*{message}"):
        check_structure(broken(form, change))


@pytest.mark.parametrize("form", [*FORMS, sp.coo_array])
def test_sound_matrices(form):
    X = form(np.diag(np.arange(4.0)))
    before = X.copy()
    check_structure(X)
    check_structure(form((3, 0)))
    check_structure(form((0, 3)))
    assert (before != X).nnz == 0
    longer = sp.csr_array(np.eye(3))
    longer.data = np.append(longer.data, 7.0)  # scipy allows room behind the entries
    longer.indices = np.append(longer.indices, 99)
    check_structure(longer)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["a", "b"], "'bad'"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "'bad' .datetime"),
        (pd.to_timedelta([1, 2], unit="s"), "'bad' .timedelta"),
        (pd.Categorical(["a", "b"]), "'bad' .category"),
        (np.array([1.0, 2.0], dtype=object), "'bad' .object.*astype.float"),
    ],
)
def test_columns_of_frames_are_named(column, words):
    with pytest.raises(ValueError, match=f"these columns do not: {words}"):
        check_frame(pd.DataFrame({"good": [1, 2], "bad": column}))


def test_other_frames_and_arrays():
    check_frame(pd.DataFrame({"a": [1, 2], "b": [True, False], "c": pd.array([1, 2], "Int64")}))
    check_frame(np.zeros((2, 2)))
    check_frame([[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"'bad' .string"):
        check_frame(pl.DataFrame({"good": [1, 2], "bad": ["a", "b"]}))
    many = pd.DataFrame({f"c{at}": ["x"] for at in range(5)})
    with pytest.raises(ValueError, match=r"'c2' .* and 2 more"):
        check_frame(many)


FITS = {
    "MeasureSVC": lambda X, y: MeasureSVC().fit(X, y),
    "BudgetClassifier": lambda X, y: BudgetClassifier(n_features_to_select=2).fit(X, y),
    "BudgetRegressor": lambda X, y: BudgetRegressor().fit(X, y),
    "ScoreSieve": lambda X, y: ScoreSieve(n_features_to_select=2, cv=2).fit(X, y),
    "L1SVM": lambda X, y: L1SVM().fit(X, y),
    "budget_path": lambda X, y: budget_path(X, y, [1]),
    "solve": lambda X, y: solve(X, y, budget=1, measure="f1", C=1.0),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize("name", BREAKS)
def test_fits_refuse_broken_matrices(fit, name):
    change, message = BREAKS[name]
    with pytest.raises(ValueError, match=message):
        fit(broken(sp.csr_matrix, change), np.array([0, 1, 0, 1, 0, 1]))


def test_predictions_refuse_broken_matrices():
    X, y = np.random.default_rng(0).normal(size=(6, 6)), np.array([0, 1, 0, 1, 0, 1])
    model = BudgetClassifier().fit(X, y)
    for change, message in BREAKS.values():
        for method in (model.predict, model.decision_function, model.transform):
            with pytest.raises(ValueError, match=message):
                method(broken(sp.csr_matrix, change))


def test_fits_refuse_columns_without_numbers():
    X, y = np.random.default_rng(0).normal(size=(6, 3)), np.array([0, 1, 0, 1, 0, 1])
    frame = pd.DataFrame(X, columns=list("abc")).assign(day=pd.date_range("2020", periods=6))
    with pytest.raises(ValueError, match=r"'day' .datetime"):
        MeasureSVC().fit(frame, y)
    with pytest.raises(ValueError, match=r"datetime64.*Turn dates into numbers"):
        MeasureSVC().fit((1e6 * X).astype("datetime64[s]"), y)
