"""``save`` and ``load``: what a file holds, what it cannot hold, and warm starts from one."""

from __future__ import annotations

import functools
import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from scoresieve import BudgetClassifier, BudgetRegressor, MeasureSVC, load
from scoresieve.estimators.persistence.registry import CLASSES, load_with_input, save_with_input
from scoresieve.losses import EpsilonInsensitive, Huber, HuberHinge, Squared
from scoresieve.measures import (
    PRBEP,
    ROCAUC,
    Accuracy,
    Contingency,
    FBeta,
    PrecisionAtK,
    PrecisionUnderRecallFloor,
    RecallAtK,
)
from tests.estimators.persistence.files import reloaded
from tests.estimators.persistence.models import (
    NAMES,
    X,
    assert_same,
    assert_same_answers,
    fitted,
)

HYPOTHESIS = {"derandomize": True, "deadline": None, "database": None}


class OwnLoss(Squared):
    """A loss that the registry knows by the name of another."""


def jaccard_index(tp, fp, fn, tn):
    return tp / (tp + fp + fn)


def test_the_certificate_grows_with_the_rows_and_the_file_does_not(path):
    sizes = {}
    for n_samples in (1000, 4000):
        rows = np.random.default_rng(5).normal(size=(n_samples, 12))
        model = MeasureSVC("roc_auc", budget=2, warm_start=True, tol=0.5)
        model.fit(rows, rows[:, 0] + rows[:, 1] > 1.0)
        for with_certificate in (False, True):
            model.save(path, with_certificate=with_certificate)
            sizes[n_samples, with_certificate] = path.stat().st_size
    assert sizes[4000, True] > sizes[1000, True] + 24_000
    # Only the number of rounds, each a row of the history, is another.
    assert abs(sizes[4000, False] - sizes[1000, False]) < 2_000


@pytest.mark.parametrize(
    "model",
    [MeasureSVC(budget=2, warm_start=True, tol=0.5), BudgetRegressor(budget=2, tol=0.5)],
    ids=["MeasureSVC", "BudgetRegressor"],
)
def test_two_weights_of_many_rows_are_less_than_20_kB(path, model):
    # Even a bit for each row would be more.
    rows = np.random.default_rng(0).normal(size=(200_000, 2))
    model = clone(model).fit(rows, (rows.sum(axis=1) > 1.0).astype(np.int8))
    assert np.count_nonzero(model.coef_) == 2
    model.save(path)
    assert path.stat().st_size < 20_000
    assert_array_equal(load(path).predict(rows[:1000]), model.predict(rows[:1000]))


def test_a_wide_model_is_a_small_file(path):
    wide = sp.random_array((60, 200_000), density=1e-3, random_state=0, format="csr")
    sums = np.asarray(wide[:, :1000].sum(axis=1)).ravel()
    model = MeasureSVC(n_features_to_select=3, tol=0.5).fit(wide, sums > np.median(sums))
    assert_same(reloaded(model, path), model)
    assert path.stat().st_size < 20_000 < model.coef_.nbytes
    assert len(pickle.dumps(model)) < 20_000


def go_on(models, y, weights=None):
    """Fit both more exactly: the steps and the bits are the same."""
    for one in models:
        one.set_params(tol=1e-3).fit(X, y, weights)
    first, second = models
    assert_same(second.coef_, first.coef_)
    assert_same(second.intercept_, first.intercept_)
    assert_array_equal(second.n_iter_, first.n_iter_)


@pytest.mark.parametrize("name", ["warm", "warm objects", "sparse labels", "matrix of labels"])
def test_a_warm_start_goes_on(path, name):
    model, _, y = fitted(name)
    cold = clone(model).set_params(tol=1e-3).fit(X, y)
    go_on((model, reloaded(model, path)), y)
    assert model.n_iter_.sum() < cold.n_iter_.sum()


def test_a_warm_start_without_the_certificate(path):
    """The weights are there, the cuts are not."""
    model, _, y = fitted("warm")
    found = reloaded(model, path, with_certificate=False)
    assert found.warm_start
    found.set_params(tol=1e-3).fit(X, y)
    assert found.gap_ <= 1e-3
    assert found.certify(X, y).gap <= 1e-3


@pytest.mark.parametrize("measure", ["accuracy", "f1"])
def test_a_warm_start_with_weights_goes_on(path, measure):
    """Whole weights of ``f1`` repeat rows: there are more rows then, and bits of cuts."""
    _, _, y = fitted("plain")
    weights = np.arange(60) % 3.0 if measure == "f1" else np.linspace(0.5, 2.0, 60)
    model = MeasureSVC(measure, budget=3, warm_start=True).fit(X, y, weights)
    found = reloaded(model, path)
    assert_same(found, model)
    assert found.certify(X, y, weights) == model.certify(X, y, weights)
    go_on((model, found), y, weights)
    assert found.certify(X, y, weights) == model.certify(X, y, weights)


@functools.cache
def small_model():
    return MeasureSVC(budget=1).fit(X[:, :2], NAMES[(X[:, :2].sum(axis=1) > 0.4).astype(int)])


def scalars():
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(),
        st.text(),
        hnp.scalar_dtypes()
        .filter(lambda dtype: dtype.kind in "biufUS" and 0 < dtype.itemsize <= 8)
        .flatmap(hnp.from_dtype),
    )


def parameter_values():
    arrays = hnp.arrays(
        st.sampled_from(["?", "i1", ">i4", "i8", "u2", "f2", "<f8", "U3", "M8[s]"]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    )
    names = st.lists(st.text(max_size=3), max_size=4).map(lambda t: np.array(t, dtype=object))
    items = st.recursive(
        st.one_of(scalars(), arrays, names),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple)
        ),
        max_leaves=8,
    )
    dicts = st.dictionaries(st.one_of(st.integers(), st.text()), items, max_size=3)
    sets = st.frozensets(st.one_of(st.integers(), st.text(max_size=3)), max_size=4)
    ranges = st.builds(range, st.integers(-9, 9), st.just(30))
    return st.one_of(items, dicts, sets, sets.map(set), ranges)


@settings(max_examples=100, **HYPOTHESIS)
@given(value=parameter_values(), C=scalars())
def test_parameters_of_every_plain_type(tmp_path_factory, value, C):
    model = small_model().set_params(always_features=value, pos_label=C)
    path = tmp_path_factory.getbasetemp() / "parameters.scoresieve"
    assert_same(reloaded(model, path).get_params(), model.get_params())


@settings(max_examples=60, **HYPOTHESIS)
@given(
    measure=st.one_of(
        st.builds(FBeta, st.floats(1e-6, 1e6)),
        st.builds(PrecisionUnderRecallFloor, st.floats(1e-300, 1.0)),
        st.builds(PrecisionAtK, st.integers(1, 10**20)),
        st.builds(RecallAtK, st.sampled_from(["p", "2p", "p/3", "0.125p", 7])),
        st.sampled_from([Accuracy(), PRBEP(), ROCAUC(), "F1", " prec@ 5", "hamming"]),
    )
)
def test_measures(tmp_path_factory, measure):
    model = small_model().set_params(measure=measure)
    found = reloaded(model, tmp_path_factory.getbasetemp() / "measure.scoresieve")
    assert type(found.measure) is type(measure)
    assert found.measure == measure


@pytest.mark.parametrize(
    ("estimator", "loss"),
    [
        (BudgetRegressor, "squared"),
        (BudgetRegressor, Squared()),
        (BudgetRegressor, Huber(epsilon=0.5)),
        (BudgetRegressor, EpsilonInsensitive(epsilon=0.0)),
        (BudgetClassifier, HuberHinge(delta=0.25)),
        (BudgetClassifier, "logistic"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("with_certificate", [False, True])
def test_losses(path, estimator, loss, with_certificate):
    model = estimator(loss, budget=3, tol=0.5).fit(X, (X[:, 0] > 0).astype(int))
    found = reloaded(model, path, with_certificate=with_certificate)
    assert_same(found.loss, model.loss)
    assert_same(found.loss_, model.loss_)
    assert_same(found.problem_, model.problem_)
    assert_same(found.predict(X), model.predict(X))


def test_models_that_cannot_be_saved(path):
    model, _, y = fitted("plain")
    path.write_text("old")
    own = MeasureSVC(Contingency(jaccard_index), budget=2).fit(X, y)
    with pytest.raises(ValueError, match=r"function.*[Pp]ickle"):
        own.save(path)
    assert_same_answers(pickle.loads(pickle.dumps(own)), own, X, y)
    weighted = Accuracy().weighted(np.ones(3))
    for measure in (Contingency(jaccard_index, name="f1"), weighted):
        with pytest.raises(ValueError, match="no name that gives it back"):
            model.set_params(measure=measure).save(path)
    with pytest.raises(ValueError, match=r"Contingency.* has no name that gives it back"):
        own.set_params(measure="f1").save(path)  # what it was fitted for stays
    with pytest.raises(ValueError, match=r"loss=.* has no name that gives it back"):
        BudgetRegressor(OwnLoss(), budget=2).fit(X, X[:, 0]).save(path)
    model.set_params(measure="f1")
    for value in (object(), np.ma.array([1]), np.array([1.0], dtype="g"), {"a b": object()}, 1j):
        with pytest.raises(TypeError, match=r"parameters\.pos_label.* cannot be saved"):
            model.set_params(pos_label=value).save(path)
    with pytest.raises(NotFittedError):
        MeasureSVC().save(path)
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == [path.name]


def test_classes_of_users_are_not_saved_and_load_says_which_class_it_found(path, monkeypatch):
    class Other(MeasureSVC):
        pass

    _, _, y = fitted("plain")
    model = Other(budget=2).fit(X, y)
    with pytest.raises(TypeError, match="Other is not a class of scoresieve"):
        model.save(path)
    monkeypatch.setattr(Other, "__module__", MeasureSVC.__module__)
    monkeypatch.setitem(CLASSES, ("estimators", "Other"), Other)
    model.save(path)
    assert type(load(path)) is type(Other.load(path)) is Other
    with pytest.raises(ValueError, match=r"model\.scoresieve.*holds a Other, not a MeasureSVC"):
        MeasureSVC.load(path)


def test_plain_data_beside_a_model(path):
    model, _, _ = fitted("plain")
    save_with_input(path, model, {"columns": ["a", "b"], "scales": np.arange(2.0)})
    loaded, nothing = load_with_input(path)
    assert_same(loaded.coef_, model.coef_)
    assert nothing is None
    with pytest.raises(ValueError, match=r"cannot load '.*': input\.version is missing"):
        load(path)

    def read(loaded, record):
        assert_same(loaded.coef_, model.coef_)
        return record.take("columns", list), record.array("scales", np.float64, (2,))

    columns, scales = load_with_input(path, read_input=read)[1]
    assert columns == ["a", "b"]
    assert scales.tolist() == [0.0, 1.0]
    save_with_input(path, model, {"columns": 3})
    with pytest.raises(ValueError, match=r"cannot load '.*': input\.columns must be list"):
        load_with_input(path, read_input=lambda model, record: record.take("columns", list))
