"""What all models of bags have in common, the rivals among them."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from scoresieve.baselines import MILES, MeanInstanceSVM
from scoresieve.mil import BagMeasureSVC, BagScoreSieve
from scoresieve.mil.bags import as_bags

SIEVE = {"candidates": ["squared_hinge"], "Cs": [1.0], "cv": 3, "n_instances_to_select": 2}
MODELS = [
    BagMeasureSVC(n_instances_to_select=2, sigma=1.5, C=5.0, tol=0.1),
    BagScoreSieve(sigmas=[1.5], **SIEVE),
    MILES(C=1.0, sigma=1.5, tol=1e-3, max_iter=100_000),
    MeanInstanceSVM(C=3.0),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@pytest.fixture(scope="module")
def fitted(bags, binary):
    """``fitted(model)`` is a copy of it, fitted on the two classes; once for each."""
    known = {}

    def get(model):
        if type(model) not in known:
            known[type(model)] = clone(model).fit(bags, binary)
        return known[type(model)]

    return get


@every_model
def test_contributions_of_instances_sum_to_the_decision(model, bags, labels):
    model = clone(model).fit(bags, labels)
    decisions = model.decision_function(bags)
    assert np.mean(model.predict(bags) == labels) > 0.6
    if isinstance(model, MeanInstanceSVM):
        return  # which knows no instances
    bias = model.intercept_ if decisions.ndim > 1 else model.intercept_[0]
    for bag, decision in zip(bags, decisions, strict=True):
        scores = model.instance_scores(bag)
        assert scores.shape == (len(bag), *decision.shape)
        assert_allclose(scores.sum(axis=0) + bias, decision, atol=1e-9)
    for key in model.key_instances_:
        assert_array_equal(bags[key.bag][key.position], key.vector)


@every_model
@pytest.mark.parametrize("convert", [sp.csr_array, np.float32])
def test_other_formats_give_the_same_model(model, bags, binary, fitted, convert):
    expected, listed = fitted(model), [convert(bag) for bag in bags]
    model = clone(model).fit(listed, binary)
    assert_allclose(model.decision_function(listed), expected.decision_function(bags), atol=1e-2)
    if isinstance(model, BagMeasureSVC):
        assert_allclose(
            model.instance_scores(listed[3]), expected.instance_scores(bags[3]), atol=1e-3
        )
        vector = model.key_instances_[0].vector
        assert vector.shape == ((1, 3) if convert is sp.csr_array else (3,))
        dense = vector.toarray()[0] if sp.issparse(vector) else vector
        assert_allclose(dense, expected.key_instances_[0].vector, rtol=1e-6)


@every_model
def test_bags_and_lists_and_arrays_are_the_same(model, bags, binary, fitted):
    stacked, expected = as_bags(bags), fitted(model).decision_function(bags)
    found = clone(model).fit(stacked, binary)
    assert_array_equal(found.decision_function(stacked), expected)
    cube = np.array([bag[:1] for bag in bags])
    of_cube = clone(model).fit(cube, binary).decision_function(cube)
    of_list = clone(model).fit(list(cube), binary).decision_function(list(cube))
    assert_array_equal(of_cube, of_list)
    assert fitted(model).predict([bags[0]]).shape == (1,)
    assert_allclose(fitted(model).decision_function([bags[0]]), expected[:1], atol=1e-9)


@every_model
def test_the_tools_of_scikit_learn(model, bags, binary):
    stacked = as_bags(bags)
    by_list = cross_val_score(model, bags, binary, cv=3)
    assert_array_equal(cross_val_score(model, stacked, binary, cv=3), by_list)
    assert np.all(by_list > 0.6)
    if isinstance(model, BagScoreSieve):
        return  # which chooses by itself
    search = GridSearchCV(model, {"C": [0.3, 3.0]}, cv=2).fit(stacked, binary)
    models = [clone(model).set_params(C=C) for C in (0.3, 3.0)]
    means = [cross_val_score(each, bags, binary, cv=2).mean() for each in models]
    assert search.best_params_ == {"C": models[int(np.argmax(means))].C}
    assert search.score(bags, binary) == search.best_estimator_.score(bags, binary)


@every_model
def test_clone_and_pickle(model, bags, fitted):
    model = fitted(model)
    assert clone(model).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.decision_function(bags), model.decision_function(bags))


@every_model
def test_wrong_data_is_refused(model, bags, binary, fitted):
    for X, y, message in (
        (bags, binary[1:], "y has 47 labels, but there are 48 bags"),
        (bags, ["a", "b"], "y has 2 labels, but there are 48 bags"),
        (bags, np.ones(48), "one class"),
        ([], [], "bags is empty"),
        ([*bags, np.empty((0, 3))], [*binary, "no"], "bag 48 is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model).fit(X, y)
    for X, message in (
        ([bag[:, :2] for bag in bags], r"2 (columns|features)"),
        ([bags[0], np.full((1, 3), np.nan)], "bag 1 has NaN or infinity in instance 0"),
        ([], "bags is empty"),
        (bags[0], r"one 2-D array .*\[array\] for a single bag"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted(model).predict(X)


@pytest.mark.parametrize("model", MODELS[:2])
def test_wrong_weights_are_refused(model, bags, binary):
    with pytest.raises(ValueError, match="sample_weight has 3 weights, but there are 48 bags"):
        clone(model).fit(bags, binary, [1, 1, 1])
    with pytest.raises(ValueError, match="sample_weight is zero for all bags"):
        clone(model).fit(bags, binary, np.zeros(48))


@every_model
def test_a_model_that_is_not_fitted_says_so(model, bags, binary):
    calls = {"predict": [bags], "decision_function": [bags], "certify": [bags, binary]}
    calls |= {"instance_scores": [bags[0]], "predict_proba": [bags], "summary": []}
    for name in filter(partial(hasattr, model), calls):
        with pytest.raises(NotFittedError):
            getattr(clone(model), name)(*calls[name])
