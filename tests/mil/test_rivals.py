"""Rivals for bags: MILES is an l1-SVM on the embedding, the other sees mean instances."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.svm import LinearSVC

from scoresieve.baselines import L1SVM, MILES, MeanInstanceSVM
from scoresieve.mil import MILESEmbedding

RIVALS = [MILES(C=1.0, sigma=1.5, tol=1e-3, max_iter=100_000), MeanInstanceSVM(C=3.0)]


@pytest.fixture(params=RIVALS, ids=lambda rival: type(rival).__name__)
def rival(request):
    return clone(request.param)


def test_miles_is_an_l1_svm_on_the_embedding(bags, labels):
    settings = {"k_tol": 0.4, "tol": 1e-3, "max_iter": 100_000}
    model = MILES(n_instances_to_select=3, sigma="0.5*median", **settings).fit(bags, labels)
    embedding = MILESEmbedding("0.5*median").fit(bags)
    X = embedding.transform(bags)
    plain = L1SVM(n_features_to_select=3, **settings).fit(X, labels)
    assert_allclose(model.decision_function(bags), plain.decision_function(X), atol=1e-9)
    assert_array_equal(model.predict(bags), plain.predict(X))
    assert_array_equal(model.C_, plain.C_)
    assert model.n_instances_selected_ == plain.n_features_selected_ > 0


def test_the_mean_instance_is_all_that_the_other_sees(bags, labels):
    means = np.array([bag.mean(axis=0) for bag in bags])
    model = MeanInstanceSVM(C=2.0, tol=1e-8, max_iter=10_000).fit(bags, labels)
    svm = LinearSVC(C=2.0, tol=1e-8, random_state=0, max_iter=10_000)
    of_classes = labels[:, None] == model.classes_[-3 if model.classes_.size > 2 else -1 :]
    columns = labels.T if labels.ndim > 1 else of_classes.T
    expected = [svm.fit(means, column).decision_function(means) for column in columns]
    found = np.reshape(model.decision_function(bags), (48, -1))
    assert_allclose(found, np.transpose(expected), atol=1e-4)


def test_accuracy_is_the_score(rival, bags, labels):
    rival.fit(bags, labels)
    assert rival.score(bags, labels) == accuracy_score(labels, rival.predict(bags)) > 0.6
    assert not hasattr(rival, "certify")


def test_class_weights_move_the_decision(rival, bags, binary):
    rival.set_params(C=0.05)
    plain = clone(rival).fit(bags, binary).decision_function(bags)
    rival.set_params(class_weight={"yes": 20.0})
    heavy = rival.fit(bags, binary).decision_function(bags)
    assert heavy.mean() > plain.mean() + 0.1


def test_an_early_stop_is_told(bags, binary):
    with pytest.warns(ConvergenceWarning, match="liblinear stopped at max_iter=1"):
        MeanInstanceSVM(max_iter=1, loss="hinge").fit(bags, binary)
