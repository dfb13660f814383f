"""Rivals for bags: MILES is an l1-SVM on the embedding, the other sees mean instances."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import LinearSVC

from scoresieve.baselines import L1SVM, MILES, MeanInstanceSVM
from scoresieve.mil import MILESEmbedding
from scoresieve.mil.bags import as_bags

RIVALS = [MILES(C=1.0, sigma=1.5, tol=1e-3, max_iter=100_000), MeanInstanceSVM(C=3.0)]


@pytest.fixture(scope="module")
def bags():
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(rng.integers(1, 6), 3)) for _ in range(60)]
    for place, bag in enumerate(bags):
        bag[-1] += 4.0 * np.eye(3)[place % 3]
    return bags


@pytest.fixture(params=["binary", "classes", "indicators"])
def labels(request):
    kinds = np.arange(60) % 3
    if request.param == "binary":
        return kinds == 0
    return kinds + 5 if request.param == "classes" else np.eye(3, dtype=int)[kinds][:, :2]


@pytest.fixture(params=RIVALS, ids=lambda rival: type(rival).__name__)
def rival(request):
    return clone(request.param)


def test_miles_is_an_l1_svm_on_the_embedding(bags, labels):
    model = MILES(n_instances_to_select=3, k_tol=0.4, sigma="0.5*median").fit(bags, labels)
    embedding = MILESEmbedding("0.5*median").fit(bags)
    X = embedding.transform(bags)
    plain = L1SVM(n_features_to_select=3, k_tol=0.4).fit(X, labels)
    assert_allclose(model.decision_function(bags), plain.decision_function(X), atol=1e-9)
    assert_array_equal(model.predict(bags), plain.predict(X))
    assert_array_equal(model.C_, plain.C_)
    assert model.n_instances_selected_ == plain.n_features_selected_ > 0
    for key in model.key_instances_:
        assert_array_equal(bags[key.bag][key.position], key.vector)
    scores = model.instance_scores(bags[7])
    expected = np.ravel(model.decision_function(bags[7:8]))
    assert_allclose(np.ravel(scores.sum(axis=0) + model.intercept_), expected, atol=1e-9)


def test_the_mean_instance_is_all_that_the_other_sees(bags, labels):
    means = np.array([bag.mean(axis=0) for bag in bags])
    model = MeanInstanceSVM(C=2.0, tol=1e-8, max_iter=10_000).fit(bags, labels)
    columns = [labels] if labels.ndim == 1 and labels.dtype == bool else []
    columns = columns or (list(labels.T) if labels.ndim == 2 else [labels == k for k in (5, 6, 7)])
    expected = [
        LinearSVC(C=2.0, tol=1e-8, random_state=0, max_iter=10_000)
        .fit(means, column)
        .decision_function(means)
        for column in columns
    ]
    found = np.reshape(model.decision_function(bags), (60, -1))
    assert_allclose(found, np.transpose(expected), atol=1e-4)


def test_accuracy_is_the_score(rival, bags, labels):
    rival.fit(bags, labels)
    assert rival.score(bags, labels) == accuracy_score(labels, rival.predict(bags)) > 0.6
    assert not hasattr(rival, "certify")


@pytest.mark.parametrize("convert", [sp.csr_array, np.float32])
def test_other_formats_give_the_same_model(rival, bags, labels, convert):
    expected = clone(rival).fit(bags, labels).decision_function(bags)
    listed = [convert(bag) for bag in bags]
    found = rival.fit(listed, labels).decision_function(listed)
    assert_allclose(found, expected, rtol=1e-2, atol=1e-2)


def test_the_tools_of_scikit_learn(rival, bags):
    y = np.arange(60) % 3 == 0
    stacked = as_bags(bags)
    assert_array_equal(
        cross_val_score(rival, stacked, y, cv=3), cross_val_score(rival, bags, y, cv=3)
    )
    search = GridSearchCV(rival, {"C": [0.3, 3.0]}, cv=2).fit(stacked, y)
    means = [
        cross_val_score(clone(rival).set_params(C=C), bags, y, cv=2).mean() for C in (0.3, 3.0)
    ]
    assert search.best_params_["C"] == (0.3, 3.0)[int(np.argmax(means))]
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(copy.decision_function(bags), search.decision_function(bags))


def test_class_weights_move_the_decision(rival, bags):
    y = (np.arange(60) % 3 == 0).astype(int)
    rival.set_params(C=0.05)
    plain = clone(rival).fit(bags, y).decision_function(bags)
    heavy = rival.set_params(class_weight={1: 20.0}).fit(bags, y).decision_function(bags)
    assert heavy.mean() > plain.mean() + 0.1


def test_wrong_data_is_refused(rival, bags):
    y = np.arange(60) % 2
    with pytest.raises(ValueError, match="y has 59 labels, but there are 60 bags"):
        rival.fit(bags, y[1:])
    with pytest.raises(ValueError, match="bag 0 is empty"):
        rival.fit([np.empty((0, 3)), *bags[1:]], y)
    with pytest.raises(NotFittedError):
        rival.predict(bags)
    rival.fit(bags, y)
    with pytest.raises(ValueError, match=r"2 (columns|features)"):
        rival.predict([bag[:, :2] for bag in bags])
    with pytest.raises(ValueError, match="one 2-D array"):
        rival.predict(bags[0])


def test_an_early_stop_is_told(bags):
    with pytest.warns(ConvergenceWarning, match="liblinear stopped at max_iter=1"):
        MeanInstanceSVM(max_iter=1, loss="hinge").fit(bags, np.arange(60) % 2)
