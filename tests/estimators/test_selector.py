"""``MeasureSVC`` as a selector: transform, names, and DataFrames of sparse input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone

from scoresieve import MeasureSVC


@pytest.fixture(scope="module")
def model(binary):
    X, y = binary
    return MeasureSVC(budget=3, C=2.0).fit(X, y)


def test_transform_and_back(binary, model):
    X, _ = binary
    selected = model.transform(X)
    assert_array_equal(selected, X[:, model.support_])
    assert_array_equal(np.flatnonzero(model.get_support()), model.support_)
    assert_array_equal(model.get_support(indices=True), model.support_)
    back = model.inverse_transform(selected)
    assert_array_equal(back[:, model.support_], selected)
    assert not np.any(np.delete(back, model.support_, axis=1))
    assert_array_equal(model.get_feature_names_out(), [f"x{j}" for j in model.support_])


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array])
def test_sparse_input_keeps_its_flavour(binary, model, make):
    X, _ = binary
    selected = model.transform(make(X))
    assert isinstance(selected, make)
    assert_array_equal(selected.toarray(), X[:, model.support_])


def test_nothing_selected_is_said_once_more_by_transform(binary):
    X, y = binary
    with pytest.warns(UserWarning, match="no features"):
        empty = MeasureSVC(C=1e-6).fit(X, y)
    for version in (X, sp.csr_matrix(X)):
        with pytest.warns(UserWarning, match="No features were selected"):
            assert empty.transform(version).shape == (80, 0)


def test_a_fit_transform_of_sparse_input(binary):
    X, y = binary
    selected = MeasureSVC(n_features_to_select=2, C=2.0).fit_transform(sp.csr_matrix(X), y)
    assert sp.issparse(selected)
    assert selected.shape == (80, 2)


def test_what_was_asked_for_is_remembered_by_clones(model):
    """Without a DataFrame library the choice can be made and copied, and taken back."""
    asked = clone(model).set_output(transform="pandas")
    assert clone(asked)._transform_output == "pandas"
    assert asked.set_output(transform=None)._transform_output == "pandas"
    assert asked.set_output(transform="default")._transform_output == "default"
    assert not hasattr(clone(model), "_transform_output")


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_data_frames_out(binary, library, make):
    frames = pytest.importorskip(library)
    X, y = binary
    asked = clone(MeasureSVC(budget=3, C=2.0).set_output(transform=library))
    frame = asked.fit_transform(make(X), y)
    assert isinstance(frame, frames.DataFrame)
    assert list(frame.columns) == list(asked.get_feature_names_out())
    assert_array_equal(frame.to_numpy(), X[:, asked.support_])
    default = MeasureSVC(budget=3, C=2.0).fit(X, y)
    with config_context(transform_output=library):
        assert isinstance(default.transform(make(X)), frames.DataFrame)
        assert not isinstance(
            clone(default).set_output(transform="default").fit_transform(make(X), y),
            frames.DataFrame,
        )


def test_data_frames_in(binary):
    pandas = pytest.importorskip("pandas")
    X, y = binary
    frame = pandas.DataFrame(X, columns=[f"word {j}" for j in range(20)])
    model = MeasureSVC(n_features_to_select=2, C=2.0, always_features=["word 9"]).fit(frame, y)
    assert 9 in model.support_
    assert "word 9" in model.get_feature_names_out()
    assert_array_equal(model.predict(frame), MeasureSVC.predict(model, frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
