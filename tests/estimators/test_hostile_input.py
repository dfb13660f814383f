"""What users bring by mistake: a clear error, or a correct fit, and never a hang."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.exceptions import NotFittedError

from scoresieve import MeasureSVC, budget_path

FORMS = [np.asarray, sp.csr_matrix, sp.csc_array]


@pytest.fixture(scope="module")
def fitted(binary):
    return MeasureSVC(budget=3).fit(*binary)


def with_entry(X, value):
    X = X.copy()
    X[3, 5] = value
    return X


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "X contains NaN"),
        (np.inf, "X contains infinity"),
        (-np.inf, "X contains infinity"),
        (1e200, "X is too large .*1e\\+200.*MaxAbsScaler"),
    ],
)
def test_entries_of_X(binary, fitted, form, value, message):
    X, y = binary
    with pytest.raises(ValueError, match=message):
        MeasureSVC().fit(form(with_entry(X, value)), y)
    if not np.isfinite(value):
        with pytest.raises(ValueError, match=message):
            fitted.predict(form(with_entry(X, value)))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((0, 5)), "0 sample"),
        (np.zeros((80, 0)), "0 feature"),
        (np.zeros(80), "Expected 2D array, got 1D array"),
        (np.zeros((80, 2, 2)), "dim 3"),
        (np.full((80, 2), "word"), "could not convert string to float"),
        (np.zeros((79, 2)), "inconsistent numbers of samples"),
        (1j * np.ones((80, 2)), "Complex data not supported"),
    ],
)
def test_shapes_and_types_of_X(binary, X, message):
    with pytest.raises(ValueError, match=message):
        MeasureSVC().fit(X, binary[1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (np.zeros(80), "y has one class only"),
        (np.linspace(0, 1, 80), "continuous"),
        (np.r_[np.nan, np.ones(79)], "contains NaN"),
        (["yes"] * 80, "y has one class only"),
        ([["a"], ["b", "c"]] * 40, "sequence|inhomogeneous"),
    ],
)
def test_labels(binary, y, message):
    with pytest.raises(ValueError, match=message):
        MeasureSVC().fit(binary[0], y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"measure": "f_one"}, "f_one.*known"),
        ({"measure": "prec@81"}, "81"),
        ({"measure": "rec@0"}, "k must be a positive integer.*got 0"),
        ({"C": np.nan}, "C must be"),
        ({"always_features": [20]}, "always_features"),
        ({"excluded_features": range(20)}, "excluded_features holds all 20 columns"),
        ({"feature_groups": [0, 1]}, "feature_groups"),
    ],
)
def test_parameters(binary, parameters, message):
    with pytest.raises(ValueError, match=message):
        MeasureSVC(**parameters).fit(*binary)


def test_a_failed_fit_leaves_the_fitted_model_as_it_was(binary):
    X, y = binary
    model = MeasureSVC(budget=3).fit(X, y)
    coef, classes = model.coef_.copy(), model.classes_
    with pytest.raises(ValueError, match="C must be"):
        model.set_params(C=-1.0).fit(X, y)
    assert_array_equal(model.coef_, coef)
    assert_array_equal(model.classes_, classes)
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("method", ["predict", "decision_function", "transform"])
def test_before_the_fit_and_with_other_columns(binary, fitted, method):
    X, _ = binary
    with pytest.raises(NotFittedError):
        getattr(MeasureSVC(), method)(X)
    with pytest.raises(ValueError, match=r"19 features.*20"):
        getattr(fitted, method)(X[:, :19])


@pytest.mark.parametrize("form", FORMS)
def test_constant_duplicate_and_empty_columns(binary, form):
    X, y = binary
    extended = form(np.column_stack([X[:, :7], np.ones(80), X[:, 0], np.zeros(80)]))
    model = MeasureSVC(n_features_to_select=3, C=10.0, price=0.5).fit(extended, y)
    assert model.n_features_selected_ <= 3
    assert 9 not in model.support_
    assert model.certify(extended, y).gap == pytest.approx(model.gap_[0], abs=1e-9)


def test_nothing_to_learn_from(binary):
    """Columns that are all constant tell nothing: an empty model, and a warning that says why."""
    with pytest.warns(UserWarning, match="Raising C does not help"):
        assert MeasureSVC().fit(np.zeros((80, 4)), binary[1]).n_features_selected_ == 0
    # Columns of ones are intercepts, which at the paper's price are worth nothing here.
    with pytest.warns(UserWarning, match="Raising C does not help"):
        model = MeasureSVC(bound="paper").fit(np.ones((80, 4)), binary[1])
    assert model.n_features_selected_ == 0
    with pytest.warns(UserWarning, match="No features were selected"):
        assert model.transform(np.ones((80, 4))).shape == (80, 0)


def test_a_read_only_memory_map(binary, fitted, tmp_path):
    X, y = binary
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = MeasureSVC(budget=3).fit(mapped, y)
    assert_array_equal(model.coef_, fitted.coef_)
    assert_array_equal(model.predict(mapped), model.predict(X))


def test_svmlight_files_with_their_long_indices(binary):
    """``load_svmlight_file`` gives int64 indices, which ``LinearSVC`` refuses."""
    X, y = binary
    file = io.BytesIO()
    dump_svmlight_file(X, (y == "yes").astype(int), file)
    file.seek(0)
    loaded, labels = load_svmlight_file(file)
    loaded.indices, loaded.indptr = loaded.indices.astype(np.int64), loaded.indptr.astype(np.int64)
    model = MeasureSVC(budget=3, C=10.0).fit(loaded, labels)
    assert loaded.indices.dtype == np.int64
    assert model.predict(loaded).dtype == labels.dtype
    assert model.transform(loaded).shape[1] == model.n_features_selected_
    assert budget_path(loaded, labels, [2, 4]).coefs.shape == (2, 20)


def test_input_is_never_changed(binary):
    X, y = binary
    for form in FORMS:
        data = form(X[:, :7].copy())
        before = data.copy()
        MeasureSVC(n_features_to_select=3, price=0.5, tol=0.1).fit(data, y).predict(data)
        assert abs(data - before).max() == 0.0


def test_one_row_of_a_class_and_two_rows_in_all():
    X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([0, 1])
    model = MeasureSVC(C=10.0).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert model.score(X, y) == 1.0


def test_no_warning_on_a_good_fit(binary):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MeasureSVC(budget=3, C=10.0, pos_label="yes").fit(*binary)
