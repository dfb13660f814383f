"""``to_linear_svc``: the same decisions and labels from scikit-learn's own class."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from scoresieve import MeasureSVC

MEASURES = ["f1", "prec@10", "rec@p", "prbep", "roc_auc", "accuracy"]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("pos_label", ["yes", "no"])
def test_two_classes(binary, measure, pos_label):
    X, y = binary
    model = MeasureSVC(measure, budget=4, C=2.0, tol=0.2, pos_label=pos_label).fit(X, y)
    exported = model.to_linear_svc()
    assert type(exported) is LinearSVC
    for data in (X, sp.csr_matrix(X), X.astype(np.float32)):
        assert_array_equal(exported.decision_function(data), model.decision_function(data))
        assert_array_equal(exported.predict(data), model.predict(data))
    assert exported.coef_.shape == (1, 20)
    assert_array_equal(exported.classes_, ["no", "yes"])
    assert exported.n_features_in_ == 20
    assert exported.C == 2.0
    assert not hasattr(exported, "feature_names_in_")


def test_several_classes(three_classes):
    X, y = three_classes
    model = MeasureSVC("f1", price=0.5, budget=2, C=3.0).fit(X, y)
    exported = model.to_linear_svc()
    assert type(exported) is LinearSVC
    assert_array_equal(exported.decision_function(X), model.decision_function(X))
    assert_array_equal(exported.predict(X), model.predict(X))
    assert_array_equal(exported.classes_, [3, 5, 8])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_indicator_matrices(indicators, make):
    X, Y = indicators
    model = MeasureSVC("prec@20", budget=2, C=3.0).fit(X, make(Y))
    exported = model.to_linear_svc()
    assert type(exported) is OneVsRestClassifier
    assert_allclose(exported.decision_function(X), model.decision_function(X), rtol=1e-12)
    assert_array_equal(exported.predict(X), model.predict(X))
    assert exported.multilabel_
    assert exported.n_classes_ == 4
    assert exported.n_features_in_ == 10
    assert_array_equal(exported.classes_, model.classes_)
    assert [type(part) for part in exported.estimators_] == [LinearSVC] * 4
    for label, part in enumerate(exported.estimators_):
        assert_array_equal(part.predict(X), model.predict(X)[:, label])


def test_it_is_as_good_as_fitted(indicators, three_classes):
    """It has the public attributes that a fit sets, and can be fitted anew."""
    for X, y in (indicators, three_classes):
        exported = MeasureSVC("f1", price=0.5, budget=2, C=3.0).fit(X, y).to_linear_svc()
        fitted = clone(exported).fit(X, y)
        assert set(vars(exported)) == set(vars(fitted))
        for name in ("classes_", "n_features_in_"):
            assert_array_equal(getattr(exported, name), getattr(fitted, name))
        assert_array_equal(pickle.loads(pickle.dumps(exported)).predict(X), exported.predict(X))


def test_weights_are_a_dense_copy(binary):
    X, y = binary
    model = MeasureSVC(price=0.5, budget=4).fit(X, y)
    expected = model.predict(X)
    exported = model.sparsify().to_linear_svc()
    assert_array_equal(exported.coef_, model.coef_.toarray())
    assert_array_equal(exported.predict(X), expected)
    dense = model.densify().to_linear_svc()
    dense.coef_[:], dense.intercept_[:], dense.classes_[:] = 0.0, 5.0, "x"
    assert_array_equal(model.predict(X), expected)


def test_names_of_features(binary):
    pd = pytest.importorskip("pandas")
    X, y = binary
    X = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)])
    model = MeasureSVC(price=0.5, budget=4).fit(X, y)
    exported = model.to_linear_svc()
    assert_array_equal(exported.feature_names_in_, X.columns)
    assert_array_equal(exported.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        exported.predict(X.rename(columns={"x0": "other"}))


def test_the_documented_difference_at_zero(binary):
    X, y = binary
    for pos_label, own in (("yes", "no"), ("no", "yes")):
        model = MeasureSVC(budget=2, fit_intercept=False, pos_label=pos_label).fit(X, y)
        zeros = np.zeros((1, 20))
        assert model.predict(zeros) == [own]
        assert model.to_linear_svc().predict(zeros) == ["no"]


def test_an_unfitted_model():
    with pytest.raises(NotFittedError):
        MeasureSVC().to_linear_svc()


def onnx_outputs(linear, X):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    converted = skl2onnx.to_onnx(linear, X[:1])
    session = runtime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {session.get_inputs()[0].name: X})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", [str, object, int, bool])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_onnx_of_two_classes(binary, labels, pos_label):
    X, y = binary
    X = X.astype(np.float32)
    y = y.astype(labels) if labels in (str, object) else (y == "yes").astype(labels)
    model = MeasureSVC("prec@30", budget=4, pos_label=np.unique(y)[pos_label]).fit(X, y)
    found, decision, *_ = onnx_outputs(model.to_linear_svc(), X)
    assert_allclose(np.ravel(decision), model.decision_function(X), atol=1e-5)
    assert_array_equal(found, model.predict(X))


@pytest.mark.filterwarnings("ignore")
def test_onnx_of_several_classes(three_classes):
    X, y = three_classes
    X = X.astype(np.float32)
    model = MeasureSVC("f1", price=0.5, budget=2, C=3.0).fit(X, y).sparsify()
    assert_array_equal(onnx_outputs(model.to_linear_svc(), X)[0], model.predict(X))


@pytest.mark.filterwarnings("ignore")
def test_onnx_of_indicator_matrices_label_by_label(indicators):
    X, Y = indicators
    X = X.astype(np.float32)
    model = MeasureSVC("roc_auc", budget=2, C=3.0).fit(X, Y)
    for label, part in enumerate(model.to_linear_svc().estimators_):
        assert_array_equal(onnx_outputs(part, X)[0], model.predict(X)[:, label])
