"""X is looked at once, at the door: neither scikit-learn nor a problem of a fit does it again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.utils.validation

from scoresieve import BudgetClassifier, BudgetRegressor, MeasureSVC, _checks
from scoresieve._checks import check_X
from scoresieve.design import DenseDesign, SparseDesign, _base, as_design, write_blocks
from scoresieve.estimators import data
from scoresieve.solvers.problem import make_problem

N_SAMPLES, N_COLUMNS = 90, 12


@pytest.fixture
def scans(monkeypatch):
    """How often something looks at all numbers, or all indices, of an X of this size."""
    found = Counter()

    def counted(owner, name, size_of):
        original = getattr(owner, name)

        def count(given, *args, **kwargs):
            found[name] += size_of(given) >= N_SAMPLES * N_COLUMNS / 2
            return original(given, *args, **kwargs)

        monkeypatch.setattr(owner, name, count)

    for design in (DenseDesign, SparseDesign):
        counted(design, "sum_of_squares", lambda X: X.n_samples * X.n_columns)
    for module in (_checks, data, _base):
        counted(module, "check_structure", lambda X: X.shape[0] * X.shape[1])
    counted(sklearn.utils.validation, "_assert_all_finite", np.size)
    return found


def planted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, N_COLUMNS))
    return X, X[:, 0] + X[:, 1]


FORMS = {"dense": np.array, "csr": sp.csr_array, "csc": sp.csc_matrix}
MODELS = {
    "relaxed": MeasureSVC(budget=3),
    "k features": MeasureSVC(n_features_to_select=3),
    "loss": BudgetClassifier("logistic", n_features_to_select=3),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_looks_at_X_once(name, form, scans):
    """For three classes."""
    X, signal = planted()
    MODELS[name].fit(FORMS[form](X), np.digitize(signal, [-1.0, 1.0]))
    structures = {"check_structure": 1} if form != "dense" else {}
    assert scans == Counter({"sum_of_squares": 1, **structures})


def test_a_regression_and_weights_that_repeat_rows(scans):
    X, signal = planted()
    BudgetRegressor(budget=3).fit(X, signal)
    MeasureSVC("f1", budget=3).fit(X, signal > 1.0, sample_weight=np.arange(N_SAMPLES) % 3)
    assert scans == Counter({"sum_of_squares": 2})


def test_row_blocks_are_read_once(tmp_path, scans):
    X, signal = planted()
    blocks = write_blocks(X, tmp_path / "X")
    MeasureSVC(n_features_to_select=3).fit(blocks, np.digitize(signal, [-1.0, 1.0]))
    assert scans == Counter({"sum_of_squares": 1})


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_a_checked_design_are_checked(form, scans):
    X, signal = planted()
    y, design = signal > 1.0, as_design(FORMS[form](X))
    scans.clear()
    for constant in (0.0, 1.0, 2.0):
        make_problem(design, y, measure="f1", budget=3, intercept_scaling=constant)
    rows = np.arange(N_SAMPLES) % 4 > 0
    make_problem(design.rows(np.flatnonzero(rows)), y[rows], measure="f1", budget=3)
    assert scans == Counter({"sum_of_squares": 1})


def test_rows_that_come_often_are_looked_at_where_they_could_be_too_large():
    """The bound of their squares is that of X, as often as one of them comes."""
    X = np.array([[1e75], [1.0]])
    design = as_design(X)
    check_X(design)
    assert design.rows(np.array([1, 1, 0])).checked_squares == 2 * design.checked_squares
    check_X(design.rows(np.full(10**6, 1)))
    with pytest.raises(ValueError, match="X is too large"):
        check_X(design.rows(np.zeros(10**5, dtype=int)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, r"Input X contains NaN\.\nMeasureSVC does not accept missing values"),
        (np.inf, "Input X contains infinity or a value too large"),
        (1e200, r"X is too large \(an intercept column included\)"),
    ],
)
def test_what_is_refused_is_said_as_before(form, value, message):
    X, signal = planted()
    X[3, 3] = value
    with pytest.raises(ValueError, match=message):
        MeasureSVC().fit(FORMS[form](X), signal > 1.0)
