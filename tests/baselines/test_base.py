"""What holds for every rival: inputs, classes, selection, scores and warnings."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, f1_score

from scoresieve import get_measure
from scoresieve.baselines import (
    FGM,
    L1SVM,
    NMMKL,
    SVMRFE,
    FSMulti,
    SquaredL1SVM,
    SVMPerf,
    _liblinear,
)

#: Those whose objective is the one of this package.
CERTIFIED = (FGM, FSMulti, NMMKL, SquaredL1SVM, SVMPerf)


def long_indices(X):
    """CSR with int64 indices, as ``load_svmlight_file`` returns it."""
    X = sp.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


FORMATS = [sp.csr_matrix, sp.csc_array, long_indices]


def test_every_format_gives_the_model_of_the_dense_one(rival, three_classes):
    """In single precision almost the same model."""
    X, y = three_classes
    expected = clone(rival).fit(X, y == 5)
    for convert in (*FORMATS, np.asfortranarray):
        found = rival.fit(convert(X), y == 5)
        assert_array_equal(found.support_, expected.support_)
        assert_allclose(found.coef_, expected.coef_, rtol=1e-3, atol=1e-3)
        assert_allclose(found.decision_function(convert(X)), X @ found.coef_[0] + found.intercept_)
    found = rival.fit(X.astype(np.float32), y == 5)
    assert_allclose(found.coef_, expected.coef_, rtol=1e-2, atol=1e-2)


def test_several_classes_are_problems_of_their_own(rival, three_classes):
    X, y = three_classes
    model = clone(rival).fit(X, y)
    assert model.coef_.shape == (3, 12)
    for number, label in enumerate(model.classes_):
        alone = clone(rival).fit(X, y == label)
        assert_array_equal(model.coef_[number], alone.coef_[0])
        assert model.intercept_[number] == alone.intercept_[0]
        assert_array_equal(model.supports_[number], np.flatnonzero(alone.coef_[0]))
    assert_array_equal(model.support_, np.flatnonzero(np.any(model.coef_ != 0, axis=0)))
    assert model.n_features_selected_ == model.support_.size
    assert_array_equal(
        model.predict(X), model.classes_[np.argmax(X @ model.coef_.T + model.intercept_, axis=1)]
    )


def test_an_indicator_matrix_has_a_problem_for_each_column(rival, three_classes):
    X, y = three_classes
    indicators = np.column_stack([y == 3, y != 5]).astype(int)
    model = clone(rival).fit(X, indicators)
    assert_array_equal(model.coef_[1], clone(rival).fit(X, y != 5).coef_[0])
    assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


@pytest.mark.slow
@pytest.mark.parametrize("model", [SVMPerf(C=3.0), SVMRFE(n_features_to_select=3)])
def test_processes_do_not_change_the_bits(three_classes, model):
    X, y = three_classes
    expected = clone(model).fit(X, y)
    assert_array_equal(model.set_params(n_jobs=2).fit(X, y).coef_, expected.coef_)


def test_transform_returns_the_selected_columns(rival, three_classes):
    X, y = three_classes
    model = rival.fit(sp.csr_matrix(X), y)
    assert_array_equal(model.transform(sp.csr_matrix(X)).toarray(), X[:, model.support_])
    names = model.get_feature_names_out()
    assert names.tolist() == [f"x{j}" for j in model.support_]


def test_a_pickle_decides_as_before(rival, three_classes):
    X, y = three_classes
    model = rival.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_score_is_the_measure_or_the_accuracy(rival, three_classes):
    X, y = three_classes
    model = rival.fit(X, y == 5)
    measure = getattr(model, "measure", "accuracy")
    expected = {"f1": f1_score, "accuracy": accuracy_score}[measure](y == 5, model.predict(X))
    assert model.score(X, y == 5) == pytest.approx(expected)
    labels = np.where(y == 5, 1.0, -1.0)
    assert expected == pytest.approx(get_measure(measure).score(labels, model.decision_function(X)))


def test_only_our_objective_can_be_certified(rival, three_classes):
    X, y = three_classes
    model = rival.fit(X, y)
    if not isinstance(model, CERTIFIED):
        assert not hasattr(model, "certify")
        return
    for number, certificate in enumerate(model.certify(X, y)):
        assert certificate.primal == pytest.approx(model.primal_[number], rel=1e-9)
        assert certificate.dual == pytest.approx(model.dual_[number], rel=1e-9)
        assert certificate.gap == pytest.approx(model.gap_[number], abs=1e-9)
        # FGM ends, as it did for its authors, when the objective no longer changes.
        assert certificate.gap <= (0.1 if isinstance(model, FGM) else model.tol)


def test_huge_values_are_refused(rival, three_classes):
    """liblinear would not return from them."""
    X, y = three_classes
    with pytest.raises(ValueError, match="X is too large"):
        rival.fit(X * 1e300, y)


def test_the_warning_stands_at_the_call_of_fit(three_classes):
    X, y = three_classes
    with pytest.warns(ConvergenceWarning, match="class True: the certified gap is") as caught:
        SVMPerf(max_iter=2, tol=1e-6).fit(X, y == 5)
    assert [each.filename for each in caught] == [__file__]


@pytest.mark.parametrize("model", [SVMPerf(C=1e-9), L1SVM(C=1e-9)])
def test_an_empty_model_is_told(three_classes, model):
    X, y = three_classes
    with pytest.warns(UserWarning, match="class True: the model has no features; raise C"):
        model.fit(X, y == 5)
    assert model.n_features_selected_ == 0


def test_the_positive_class_can_be_chosen(three_classes):
    X, y = three_classes
    names = np.where(y == 5, "a", "b")
    model = SVMPerf("f1", C=3.0, pos_label="a").fit(X, names)
    other = SVMPerf("f1", C=3.0).fit(X, y == 5)
    assert_array_equal(model.coef_, -other.coef_)
    assert model.score(X, names) == other.score(X, y == 5)


def test_the_threshold_of_a_top_k_measure_lets_k_rows_in(three_classes):
    X, y = three_classes
    model = SVMPerf("prec@7").fit(X, y == 5)
    assert np.count_nonzero(model.predict(X)) == 7
    ranking = SVMPerf("roc_auc").fit(X, y == 5)
    assert np.count_nonzero(ranking.predict(X)) == np.count_nonzero(y == 5)


@pytest.mark.parametrize("make", [L1SVM, SVMRFE])
def test_class_weights_are_those_of_repeated_rows(three_classes, make):
    X, y = three_classes
    y = np.where(y == 5, "rare", "common")
    rows = np.repeat(np.arange(y.size), np.where(y == "rare", 3, 1))
    model = make(C=0.5, tol=1e-8, max_iter=100000)
    expected = clone(model).fit(X[rows], y[rows])
    found = model.set_params(class_weight={"rare": 3}).fit(X, y)
    assert_allclose(found.coef_, expected.coef_, rtol=1e-4, atol=1e-6)


def test_balanced_weights_are_for_each_problem(three_classes):
    X, y = three_classes
    model = L1SVM(C=0.05, class_weight="balanced").fit(X, y)
    for number, label in enumerate(model.classes_):
        positive = y == label
        weights = {True: y.size / (2 * positive.sum()), False: y.size / (2 * (~positive).sum())}
        expected = L1SVM(C=0.05, class_weight=weights).fit(X, positive)
        assert_allclose(model.coef_[number], expected.coef_[0], atol=1e-10)
    heavy = L1SVM(C=0.05, class_weight={5: 7.0}).fit(X, y)
    assert_array_equal(
        heavy.coef_[1], L1SVM(C=0.05, class_weight={True: 7.0}).fit(X, y == 5).coef_[0]
    )


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("heavy", "class_weight must be None, 'balanced' or a dict"),
        ({4: 2.0}, r"class_weight has a weight for 4, which is not a class of y; use \[3, 5, 8\]"),
        ({3: -1.0}, "class_weight must be a positive finite number; got -1.0"),
    ],
)
def test_wrong_class_weights_are_refused(three_classes, class_weight, message):
    with pytest.raises(ValueError, match=message):
        L1SVM(class_weight=class_weight).fit(*three_classes)


def test_more_values_than_liblinear_can_count_are_refused(three_classes, monkeypatch):
    X, y = three_classes
    X = sp.csr_matrix(X)
    monkeypatch.setattr(_liblinear, "LARGEST_INDEX", X.nnz - 1)
    with pytest.raises(ValueError, match=f"{X.nnz} stored values; liblinear takes at most"):
        SVMRFE().fit(X, y)


def test_what_liblinear_reads_is_not_copied(three_classes):
    X = sp.csr_matrix(three_classes[0])
    found = _liblinear.for_liblinear(long_indices(X))
    assert found.indices.dtype == found.indptr.dtype == np.int32
    assert np.shares_memory(_liblinear.for_liblinear(X).data, X.data)
    assert np.shares_memory(_liblinear.for_liblinear(X).indices, X.indices)
