"""Every public estimator through a file and back: the same bits, the same bytes, a fit again."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import is_dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import scoresieve
from scoresieve import MeasureSVC, baselines, mil
from scoresieve.estimators.persistence.registry import CLASSES, PersistenceMixin
from tests.estimators.persistence.files import reloaded
from tests.estimators.persistence.models import (
    BAG_TARGETS,
    BAGS,
    ON_BAGS,
    ON_ROWS,
    PRICED,
    TARGETS,
    TELLING,
    X,
    assert_same,
    assert_same_answers,
    case_name,
    fitted,
    name_of,
    without_proofs,
)

DOCS = Path(__file__).resolve().parents[3] / "docs" / "persistence.md"


def test_no_estimator_is_forgotten():
    public = {
        (package.__name__.partition(".")[2] or "estimators", name)
        for package in (scoresieve, mil, baselines)
        for name in package.__all__
        if isinstance(value := getattr(package, name), type) and issubclass(value, PersistenceMixin)
    }
    assert {key for key, cls in CLASSES.items() if is_dataclass(cls)} == public
    assert sorted(map(name_of, ON_ROWS + ON_BAGS)) == sorted(name for _, name in public)


def test_every_attribute_is_saved_or_computed(case):
    """An attribute that ``fit`` sets and no file holds would be lost without a word."""
    model, _, _ = fitted(case)
    saved, computed = set(model._saved), set(model._computed)
    assert set(vars(model)) - {*model.get_params(), *saved, *computed, "_n_callbacks"} == set()
    assert saved.isdisjoint(computed)
    assert {*model._required(), *(computed if "models_" in saved else ())} <= set(vars(model))


def test_the_same_with_the_certificate(case, path):
    model, data, y = fitted(case)
    found = reloaded(model, path)
    assert_same(found, model)
    assert_same_answers(found, model, data, y)
    first = path.read_bytes()
    found.save(path, with_certificate=True)
    assert path.read_bytes() == first
    assert_same(type(model).load(path), model)


def test_the_same_without_the_certificate(case, path, tmp_path):
    model, data, y = fitted(case)
    found = reloaded(model, path, with_certificate=False)
    if not isinstance(data, list):  # of bags the columns have other numbers
        assert_same(vars(found), without_proofs(model))
    assert_same_answers(found, model, data, y, certified=False)
    if hasattr(model, "certify"):
        with pytest.raises(ValueError, match=r"saved without its certificate; use\s*save\(path, w"):
            found.certify(data, y)
    first = path.read_bytes()
    for with_certificate in (False, True):  # it has none to save
        found.save(path, with_certificate=with_certificate)
        assert path.read_bytes() == first
    assert_same(pickle.loads(pickle.dumps(found, 5)), found)
    if hasattr(model, "report"):
        for number, each in enumerate((model, found)):
            each.report(tmp_path / f"{number}.html", data, y)
        assert (tmp_path / "0.html").read_bytes() == (tmp_path / "1.html").read_bytes()


@pytest.fixture(params=[*ON_ROWS, *ON_BAGS], ids=name_of)
def each(request):
    """A fitted model of each class in turn, with X and y."""
    return fitted(case_name(request.param))


@pytest.mark.filterwarnings("ignore")
def test_a_loaded_model_can_be_fitted_again(each, path):
    model, data, y = each
    found = reloaded(model, path, with_certificate=False).fit(data, y)
    assert_same_answers(found, model, data, y)


@pytest.mark.filterwarnings("ignore")
def test_a_fit_that_fails_at_its_end_leaves_all_as_it_was(each, monkeypatch):
    def fail(self):
        raise KeyboardInterrupt

    model, data, y = each
    monkeypatch.setattr(type(model), "_refresh", fail)
    for one in (model, clone(model)) if model._computed else ():
        before = dict(vars(one))
        with pytest.raises(KeyboardInterrupt):
            one.fit(data[:-1], y[:-1])
        assert vars(one).keys() == before.keys()
        assert all(value is before[name] for name, value in vars(one).items())


def test_pickle_joblib_deepcopy_and_clone(case, path):
    model, data, y = fitted(case)
    copies = [pickle.loads(pickle.dumps(model, 5)), copy.deepcopy(model), copy.copy(model)]
    if case != "big-endian":  # which joblib and older protocols make native
        copies += [pickle.loads(pickle.dumps(model, protocol)) for protocol in (0, 4)]
        joblib.dump(model, path)
        copies.append(joblib.load(path))
    for found in copies:
        assert_same(found, model)
    assert_same_answers(copies[0], model, data, y)
    unfitted = clone(copies[0])
    assert_same(pickle.loads(pickle.dumps(unfitted)), unfitted)


def test_a_deep_copy_shares_nothing():
    model, _, _ = fitted("plain")
    found = copy.deepcopy(model)
    for array in (found.coef_, found.classes_, found.models_[0].proof.dual_point.alpha):
        array[:] = array[0]
    assert_same(reduced(model), reduced(fitted("plain")[0]))


def reduced(model):
    return [model.coef_, model.classes_, model.models_[0].proof.dual_point.alpha]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_skops_trusts_the_estimators_alone(case):
    sio = pytest.importorskip("skops.io")
    model, features, y = fitted(case)
    data = sio.dumps(model)
    inside = [part for part in vars(model).values() if isinstance(part, PersistenceMixin)]
    objects = [getattr(model, name, "") for name in ("measure", "loss")]
    own = {type(part) for part in (model, *inside, *objects) if not isinstance(part, str)}
    expected = sorted(f"{cls.__module__}.{cls.__qualname__}" for cls in own)
    assert sio.get_untrusted_types(data=data) == expected
    if case == "plain":
        text = DOCS.read_text(encoding="utf-8")
        listed = re.search(r"<!-- trusted types -->\n```text\n(.*?)```", text, re.DOTALL)[1]
        assert expected == listed.split()
    found = sio.loads(data, trusted=expected)
    assert_same_answers(found, model, features, y)


SPARSE_BAGS = [mil.BagMeasureSVC(budget=2, metric="cosine"), baselines.MILES(sigma=1.0)]


@pytest.mark.parametrize("estimator", SPARSE_BAGS, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore")
def test_bags_of_sparse_instances(estimator, dtype, path):
    bags, y = [sp.csr_array(np.maximum(bag, 0.0).astype(dtype)) for bag in BAGS], TELLING
    for bag in bags:
        bag.indices, bag.data = bag.indices[::-1].copy(), bag.data[::-1].copy()
        bag.indptr = bag.indptr[-1] - bag.indptr[::-1]
        bag.has_sorted_indices = False
    model = clone(estimator).fit(bags, y)
    for with_certificate in (False, True):
        found = reloaded(model, path, with_certificate=with_certificate)
        assert_same_answers(found, model, bags, y, certified=with_certificate)


@pytest.mark.filterwarnings("ignore")
def test_bags_of_which_none_is_selected(path):
    model = mil.BagMeasureSVC(C=1e-9, tol=0.5).fit(BAGS, BAG_TARGETS["two classes"])
    assert model.n_instances_selected_ == 0
    found = reloaded(model, path, with_certificate=False)
    assert_same(found.decision_function(BAGS), model.decision_function(BAGS))
    assert found.key_instances_ == []


def test_a_file_of_bags_grows_with_the_selected_instances(path):
    sizes = []
    for copies in (1, 20):
        rng = np.random.default_rng(0)
        bags = [np.vstack([bag, rng.normal(size=(5 * copies, 3))]) for bag in BAGS]
        model = mil.BagMeasureSVC(n_instances_to_select=1, sigma=1.0)
        model.fit(bags, BAG_TARGETS["two classes"]).save(path)
        sizes.append(path.stat().st_size)
        assert path.stat().st_size < 20_000
    assert abs(sizes[1] - sizes[0]) < 2_000


@pytest.mark.parametrize(
    "estimator",
    [one for one in ON_ROWS + ON_BAGS if hasattr(one, "sparsify")],
    ids=name_of,
)
def test_sparse_weights_stay_sparse(estimator, path):
    model, data, y = fitted(case_name(estimator, "three classes"))
    dense = model.coef_
    model.sparsify()
    assert_same(pickle.loads(pickle.dumps(model)), model)
    for with_certificate in (True, False):
        found = reloaded(model, path, with_certificate=with_certificate)
        assert_same(found.coef_, model.coef_)
        assert_same_answers(found, model, data, y, certified=with_certificate)
        assert_same(found.densify().coef_, dense)


@pytest.mark.parametrize(
    "weights",
    [{"a": 1.0, "b": 5.0}, {"measure": 2.0}, {1: 2.0, "1": np.arange(3)}, {"a b": {}}, {}],
)
def test_dicts_as_parameters(path, weights):
    model, _, _ = fitted(case_name(baselines.L1SVM()))
    assert_same(reloaded(model.set_params(class_weight=weights), path).class_weight, weights)


def test_names_of_columns_and_output(path):
    frame = pd.DataFrame(X, columns=[f"größe {j}" for j in range(12)])
    estimators = [MeasureSVC(budget=2, always_features=["größe 3"]), ON_ROWS[1], ON_ROWS[12]]
    for estimator in estimators:
        model = clone(estimator).fit(frame, TARGETS["two classes"]).set_output(transform="pandas")
        found = reloaded(model, path, with_certificate=False)
        assert_same(found.feature_names_in_, model.feature_names_in_)
        assert_same(found.get_params(), model.get_params())
        pd.testing.assert_frame_equal(found.transform(frame), model.transform(frame))
    model = mil.MILESEmbedding().fit(BAGS).set_output(transform="pandas")
    pd.testing.assert_frame_equal(reloaded(model, path).transform(BAGS), model.transform(BAGS))


@pytest.mark.parametrize("name", PRICED)
def test_prices_come_back(name, path):
    """A certificate is of one price for each problem: that of the file is that of the fit."""
    model, _, _ = fitted(f"price {name}")
    assert model.price_.shape == (3,)
    assert np.all(model.price_ > 0)
    if name in ("given", "paper", "top"):
        assert np.all(model.price_ == (0.4 if name == "given" else 1.0))
    for with_certificate in (False, True):
        found = reloaded(model, path, with_certificate=with_certificate)
        assert_same(found.price_, model.price_)
