"""``BagMeasureSVC``: embedding and MeasureSVC in one, key instances, contributions, errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score

from scoresieve import MeasureSVC
from scoresieve.mil import BagMeasureSVC, Bags, MILESEmbedding

SETTINGS = {"sigma": 1.5, "C": 5.0, "tol": 0.1}


@pytest.fixture(scope="module")
def fitted(bags, binary):
    return BagMeasureSVC(n_instances_to_select=2, **SETTINGS).fit(bags, binary)


@pytest.mark.parametrize("size", [{"budget": 2}, {"n_instances_to_select": 2}])
def test_it_is_a_measure_svc_on_the_embedding(bags, labels, size):
    model = BagMeasureSVC("f1", **size, **SETTINGS).fit(bags, labels)
    embedding = MILESEmbedding(1.5).fit(bags)
    names = {"n_instances_to_select": "n_features_to_select"}
    plain = MeasureSVC("f1", **{names.get(key, key): value for key, value in size.items()})
    plain.set_params(C=5.0, tol=0.1).fit(embedding.transform(bags), labels)
    test = bags[::3]
    expected = plain.decision_function(embedding.transform(test))
    assert_allclose(model.decision_function(test), expected, rtol=1e-9, atol=1e-9)
    assert_array_equal(model.predict(test), plain.predict(embedding.transform(test)))
    assert model.score(bags, labels) == pytest.approx(
        plain.score(embedding.transform(bags), labels)
    )
    assert model.n_instances_selected_ == plain.n_features_selected_
    assert_array_equal(model.coef_, plain.coef_[:, plain.support_])
    assert_array_equal(model.primal_, plain.primal_)
    assert_array_equal(model.l0_gap_, plain.l0_gap_)
    assert np.all(np.isfinite(model.l0_gap_) == ("n_instances_to_select" in size))
    assert not hasattr(model, "n_features_in_")


def test_by_default_there_are_at_most_40_instances(bags, binary):
    settings = SETTINGS | {"C": 100.0, "sigma": 0.5, "certificate": False}
    model = BagMeasureSVC(**settings).fit(bags, binary)
    few = BagMeasureSVC(n_instances_to_select=40, **settings).fit(bags, binary)
    assert model.budget_ == 40
    assert_array_equal(model.coef_, few.coef_)
    assert 0 < model.n_instances_selected_ <= 40
    relaxed = BagMeasureSVC(budget=40, **settings).fit(bags, binary)
    assert relaxed.n_instances_selected_ > 40


def test_a_certificate_may_be_left_out(bags, binary, fitted):
    quick = BagMeasureSVC(n_instances_to_select=2, certificate=False, **SETTINGS).fit(bags, binary)
    assert np.isfinite(fitted.l0_gap_).all()
    assert np.isnan(quick.l0_gap_).all()
    assert quick.n_instances_selected_ <= 2
    assert quick.key_instances_[0].label == "yes"


def test_it_finds_the_telling_instances(bags, binary, fitted):
    first = fitted.key_instances_[0]
    assert first.label == "yes"
    assert first.weight > 0
    assert_allclose(first.vector, [4.0, 4.0, 0.0], atol=0.5)
    assert fitted.score(bags, binary) == 1.0
    assert f1_score(binary, fitted.predict(bags), pos_label="yes") == 1.0


def test_key_instances_say_where_they_are(bags, labels):
    model = BagMeasureSVC(budget=2, **SETTINGS).fit(bags, labels)
    assert model.n_instances_selected_ > 0
    weights = {label: [] for label in model.classes_[-len(model.coef_) :]}
    for key in model.key_instances_:
        weights[key.label].append(key.weight)
    for row, of_class in zip(model.coef_, weights.values(), strict=True):
        sizes = np.abs(of_class)
        assert np.all(np.diff(sizes) <= 0)
        assert_array_equal(np.sort(of_class), np.sort(row[row != 0]))


def test_the_nearest_instance_gets_the_whole_term(fitted):
    """Number by number from the key instances; twins share."""
    rng = np.random.default_rng(1)
    bag = rng.normal(size=(4, 3))
    bag[2] = bag[0]
    expected = np.zeros(4)
    for key in fitted.key_instances_:
        near = np.exp(-np.sum((bag - key.vector) ** 2, axis=1) / (2 * 1.5**2))
        winners = np.isclose(near, near.max(), rtol=1e-12)
        expected[winners] += key.weight * near.max() / winners.sum()
    assert_allclose(fitted.instance_scores(bag), expected, atol=1e-12)


def test_prediction_touches_the_selected_instances_only(bags, fitted, monkeypatch):
    """It asks for similarities to them, and is the same when all others are gone."""
    expected = fitted.decision_function(bags)
    contributions = fitted.instance_scores(bags[0])
    asked = []
    similarities = MILESEmbedding.similarities

    def spy(self, bags, prototypes):
        asked.append(np.array(prototypes))
        return similarities(self, bags, prototypes)

    monkeypatch.setattr(MILESEmbedding, "similarities", spy)
    bare = pickle.loads(pickle.dumps(fitted))
    others = np.setdiff1d(np.arange(len(bare.embedding_.prototypes_)), bare.support_)
    bare.embedding_.prototypes_[others] = np.nan
    assert_array_equal(bare.decision_function(bags), expected)
    assert_array_equal(bare.instance_scores(bags[0]), contributions)
    keys = sorted(key.vector.tolist() for key in fitted.key_instances_)
    assert [sorted(prototypes.tolist()) for prototypes in asked] == [keys, keys]


def test_a_second_fit_leaves_nothing_of_the_first(bags, binary):
    model = BagMeasureSVC(n_instances_to_select=1, **SETTINGS).fit(bags, binary)
    assert np.isfinite(model.l0_gap_[0])
    model.set_params(n_instances_to_select=None, budget=1).fit(bags, binary)
    assert_array_equal(model.l0_gap_, [np.nan])
    fresh = BagMeasureSVC(budget=1, **SETTINGS).fit(bags, binary)
    assert set(vars(model)) == set(vars(fresh))
    assert_array_equal(model.coef_, fresh.coef_)


def test_sparse_weights_decide_the_same(bags, fitted):
    sparse = pickle.loads(pickle.dumps(fitted)).sparsify()
    assert sp.issparse(sparse.coef_)
    assert_allclose(sparse.decision_function(bags), fitted.decision_function(bags))
    assert_allclose(sparse.instance_scores(bags[0]), fitted.instance_scores(bags[0]))


def test_certificates_come_from_the_bags(bags, labels):
    model = BagMeasureSVC(budget=2, **SETTINGS).fit(bags, labels)
    certificates = model.certify(bags, labels)
    certificates = certificates if isinstance(certificates, list) else [certificates]
    assert_allclose([each.primal for each in certificates], model.primal_, rtol=1e-9)
    assert_allclose([each.dual for each in certificates], model.dual_, rtol=1e-9)
    assert np.all(model.gap_ <= 0.1)


def test_the_other_class_may_be_the_positive_one(bags, binary):
    model = BagMeasureSVC(n_instances_to_select=1, pos_label="no", **SETTINGS).fit(bags, binary)
    first = model.key_instances_[0]
    assert first.label == "yes"
    assert first.weight > 0
    assert model.score(bags, binary) == f1_score(binary, model.predict(bags), pos_label="no")


@pytest.mark.parametrize("measure", ["f1", "accuracy"])
def test_weights_count_bags(bags, binary, measure):
    """Twice is twice as often for fits with these prototypes, and 0 is not there at all."""
    weights = np.ones(48)
    weights[[3, 10, 22]] = 0
    weights[[0, 5]] = 2
    model = BagMeasureSVC(measure, budget=2, **SETTINGS).fit(bags, binary, weights)
    kept = np.flatnonzero(weights)
    embedding = MILESEmbedding(1.5).fit([bags[place] for place in kept])
    rows = np.repeat(np.arange(48), weights.astype(int))
    plain = MeasureSVC(measure, budget=2, C=5.0, tol=0.1)
    plain.fit(embedding.transform([bags[place] for place in rows]), binary[rows])
    expected = plain.decision_function(embedding.transform(bags))
    assert_allclose(model.decision_function(bags), expected, atol=0.1)
    assert model.score(bags, binary, weights) == pytest.approx(
        plain.score(embedding.transform([bags[place] for place in rows]), binary[rows]), abs=0.05
    )
    assert not {key.bag for key in model.key_instances_} & {3, 10, 22}
    for key in model.key_instances_:
        assert_array_equal(bags[key.bag][key.position], key.vector)
    without = BagMeasureSVC(measure, budget=2, **SETTINGS)
    without.fit([bags[place] for place in kept], binary[kept], weights[kept])
    assert_allclose(model.decision_function(bags), without.decision_function(bags), atol=1e-9)
    certificate = model.certify(bags, binary, weights)
    assert certificate.primal == pytest.approx(model.primal_[0])


def test_fewer_prototypes(bags, binary):
    model = BagMeasureSVC(budget=2, n_prototypes=30, prototypes="kmeans", **SETTINGS)
    model.fit(bags, binary)
    assert model.embedding_.prototypes_.shape[0] <= 30
    assert model.score(bags, binary) > 0.9
    for key in model.key_instances_:
        assert_array_equal(bags[key.bag][key.position], key.vector)


def test_a_model_without_instances_warns_and_decides_by_its_intercept(bags, binary):
    with pytest.warns(UserWarning, match="class 'yes': the model has no features") as caught:
        model = BagMeasureSVC(budget=2, sigma=1.5, C=1e-6, pos_label="yes").fit(bags, binary)
    assert [each.filename for each in caught] == [__file__]
    assert model.n_instances_selected_ == 0
    assert model.key_instances_ == []
    assert_allclose(model.decision_function(bags), model.intercept_[0])
    assert_array_equal(model.instance_scores(bags[0]), np.zeros(len(bags[0])))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_instances_to_select": 0}, "n_instances_to_select must be an integer of at least 1"),
        ({"n_instances_to_select": 3, "budget": 5}, "n_instances_to_select=3 differ; give one"),
        ({"C": 0}, "C must be a positive"),
        ({"sigma": -1}, "sigma must be a positive"),
        ({"metric": "l1"}, "metric must be one of"),
        ({"measure": "f3.14x"}, "f3.14x"),
    ],
)
def test_wrong_parameters_are_refused(bags, binary, parameters, message):
    with pytest.raises(ValueError, match=message):
        BagMeasureSVC(**parameters).fit(bags, binary)


def test_one_instance_bags_are_plain_examples(binary):
    """With one instance a bag, s is the Gaussian kernel between examples."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(48, 2)) + 3.0 * (binary == "yes")[:, np.newaxis]
    bags = Bags(X, np.arange(49))
    kernel = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=2) / (2 * 1.5**2))
    model = BagMeasureSVC(budget=3, **SETTINGS).fit(bags, binary)
    plain = MeasureSVC(budget=3, C=5.0, tol=0.1).fit(kernel, binary)
    assert_allclose(model.decision_function(bags), plain.decision_function(kernel), atol=1e-9)
