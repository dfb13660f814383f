"""``save``, ``load`` and pickles: the same bits afterwards, and no file that is not a model."""

from __future__ import annotations

import copy
import dataclasses
import functools
import io
import json
import os
import pickle
import re
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import scoresieve
from scoresieve import MeasureSVC, load
from scoresieve.estimators.persistence import file as _model_file
from scoresieve.estimators.persistence import saving as _persistence
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

DOCS = Path(__file__).resolve().parents[2] / "docs" / "persistence.md"
#: What belongs to a session and not to a model.
NOT_SAVED = {"_n_callbacks", "_skl_callbacks"}
HYPOTHESIS = {"derandomize": True, "deadline": None, "database": None}


def jaccard_index(tp, fp, fn, tn):
    return tp / (tp + fp + fn)


def make_X(n_samples=60, n_features=12):
    return np.random.default_rng(5).normal(size=(n_samples, n_features))


def two_labels(labels):
    X = make_X()
    return X, np.asarray(labels)[(X[:, 0] + X[:, 1] > 0.4).astype(int)]


def classes_of_three(dtype=np.int64):
    X = make_X()
    return X, np.array([3, 5, 8], dtype=dtype)[np.argmax(X[:, [1, 4, 7]], axis=1)]


def indicator_matrix(make=np.asarray):
    X = make_X()
    return X, make((X[:, :3] > 0.2).astype(np.int8))


NAMES = np.array(["no", "yes"])
CASES = {
    "plain": (MeasureSVC(budget=3), *two_labels(NAMES)),
    "objects": (MeasureSVC(budget=3), *two_labels(NAMES.astype(object))),
    "bools": (MeasureSVC("roc_auc", budget=2, pos_label=True), *two_labels([False, True])),
    "floats": (MeasureSVC("prec@9", budget=3), *two_labels(np.array([0.0, 2.0], dtype="f4"))),
    "big-endian": (MeasureSVC(budget=3), *two_labels(np.array([1, 2], dtype=">i2"))),
    "dates": (MeasureSVC(budget=3), *two_labels(np.array([1, 2], dtype="M8[D]"))),
    "first class": (MeasureSVC("prbep", budget=3, pos_label="no"), *two_labels(NAMES)),
    "hard": (MeasureSVC("accuracy", n_features_to_select=3), *two_labels(NAMES)),
    "classes": (MeasureSVC("f2", budget=2), *classes_of_three()),
    "labels": (MeasureSVC("rec@p", budget=2), *indicator_matrix()),
    "sparse labels": (MeasureSVC(budget=2, warm_start=True), *indicator_matrix(sp.csr_array)),
    "matrix of labels": (MeasureSVC(budget=2, warm_start=True), *indicator_matrix(sp.csr_matrix)),
    "warm": (MeasureSVC("average_precision", budget=3, warm_start=True), *two_labels(NAMES)),
    "warm objects": (MeasureSVC(budget=3, warm_start=True), *two_labels(NAMES.astype(object))),
    "columns": (
        MeasureSVC(
            "accuracy",
            budget=2,
            always_features=np.array([3]),
            excluded_features=[5],
            feature_groups=[[0, 2], (1, 4), {6, 7}],
            fit_intercept=False,
            multi_class_support="intersection",
        ),
        *classes_of_three(np.uint8),
    ),
    "no features": (MeasureSVC(C=1e-6, tol=0.5), *two_labels(NAMES)),
    "early": (MeasureSVC(budget=3, max_iter=1, tol=1e-6), *two_labels(NAMES)),
    "measure": (MeasureSVC(PrecisionUnderRecallFloor(0.7), budget=3), *two_labels(NAMES)),
}


@pytest.fixture(scope="module")
def fitted():
    """``fitted(name)`` gives a fresh fitted model, X and y."""
    models = {}

    def get(name):
        model, X, y = CASES[name]
        if name not in models:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                models[name] = clone(model).fit(X, y)
        # Parts of a model are never modified in place, so that this is a copy without any codec.
        fresh = clone(model)
        fresh.__dict__.update(models[name].__dict__)
        return fresh, X, y

    return get


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.scoresieve"


def reloaded(model, path):
    model.save(path)
    return load(path)


def attributes(model):
    return {name: value for name, value in vars(model).items() if name not in NOT_SAVED}


def assert_same(found, expected, name="model"):
    """Equal types, dtypes, memory layouts and bits, all the way down."""
    assert type(found) is type(expected), name
    if isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), name
        if expected.dtype == object:
            assert_same(found.ravel().tolist(), expected.ravel().tolist(), name)
        else:
            assert found.tobytes("A") == expected.tobytes("A"), name
            assert found.flags.c_contiguous == expected.flags.c_contiguous, name
    elif sp.issparse(expected):
        assert found.shape == expected.shape
        for part in ("data", "indices", "indptr"):
            assert_array_equal(getattr(found, part), getattr(expected, part))
        assert found.dtype == expected.dtype
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), name
        for key in expected:
            assert_same(found[key], expected[key], f"{name}.{key}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), name
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{name}.{i}")
    elif isinstance(expected, MeasureSVC):
        assert_same(attributes(found), attributes(expected), name)
    elif dataclasses.is_dataclass(expected):
        assert_same(vars(found), vars(expected), name)
    elif isinstance(expected, float):
        assert np.float64(found).tobytes() == np.float64(expected).tobytes(), name
    else:
        assert found == expected, name


def assert_same_answers(found, model, X, y):
    for data in (X, sp.csr_array(X)):
        assert_same(found.decision_function(data), model.decision_function(data))
        assert_same(found.predict(data), model.predict(data))
        assert found.score(data, y) == model.score(data, y)
    if model.support_.size:
        assert_same(found.transform(X), model.transform(X))
        assert_same(found.get_feature_names_out(), model.get_feature_names_out())
    assert found.certify(X, y) == model.certify(X, y)


@pytest.mark.parametrize("name", CASES)
def test_everything_is_as_before(fitted, path, name):
    model, X, y = fitted(name)
    found = reloaded(model, path)
    assert_same(found, model)
    assert_same_answers(found, model, X, y)
    first = path.read_bytes()
    found.save(path)
    assert path.read_bytes() == first
    assert_same(MeasureSVC.load(path), model)


@pytest.mark.parametrize("name", CASES)
def test_every_attribute_is_listed(fitted, name):
    """An attribute that ``fit`` sets and no file holds would be lost without a word."""
    model, _, _ = fitted(name)
    listed = {*model.get_params(), *_persistence.LINEAR_FIELDS, *_persistence.LINEAR_DERIVED}
    assert set(attributes(model)) - listed == set()


@pytest.mark.parametrize("name", CASES)
def test_pickle_joblib_deepcopy_and_clone(fitted, path, name):
    model, X, y = fitted(name)
    copies = [pickle.loads(pickle.dumps(model, 5))]
    if name != "big-endian":  # which joblib and older protocols make native
        copies += [pickle.loads(pickle.dumps(model, protocol)) for protocol in (0, 2, 4)]
        joblib.dump(model, path)
        copies.append(joblib.load(path))
    for found in (*copies, copy.deepcopy(model), copy.copy(model)):
        assert_same(found, model)
    assert_same_answers(copies[-1], model, X, y)
    assert_same(clone(copies[0]), clone(model))
    unfitted = clone(model)
    assert_same(pickle.loads(pickle.dumps(unfitted)), unfitted)


def test_a_deep_copy_shares_nothing(fitted):
    model, _, _ = fitted("plain")
    found = copy.deepcopy(model)
    found.coef_[:], found._dual_points[0].alpha[:], found.classes_[:] = 7.0, 7.0, "x"
    assert not np.any(model.coef_ == 7.0)
    assert not np.any(model._dual_points[0].alpha == 7.0)
    assert_array_equal(model.classes_, ["no", "yes"])


@pytest.mark.parametrize("name", ["warm", "warm objects", "sparse labels", "matrix of labels"])
def test_a_warm_start_goes_on(fitted, path, name):
    model, X, y = fitted(name)
    found = reloaded(model, path)
    cold = clone(model).set_params(tol=1e-3).fit(X, y)
    for one in (model, found):
        one.set_params(tol=1e-3).fit(X, y)
    assert_same(found.coef_, model.coef_)
    assert_same(found.intercept_, model.intercept_)
    assert_array_equal(found.n_iter_, model.n_iter_)
    assert model.n_iter_.sum() < cold.n_iter_.sum()


def test_a_warm_start_with_weights_goes_on(path):
    X, y = two_labels(NAMES)
    weights = np.linspace(0.5, 2.0, y.size)
    model = MeasureSVC("accuracy", budget=3, warm_start=True).fit(X, y, weights)
    found = reloaded(model, path)
    assert_same(found._warm_weights, weights)
    for one in (model, found):
        one.set_params(tol=1e-3).fit(X, y, weights)
    assert_same(found.coef_, model.coef_)
    assert_array_equal(found.n_iter_, model.n_iter_)
    assert found.certify(X, y, weights) == model.certify(X, y, weights)


@pytest.mark.parametrize("name", ["plain", "classes", "first class"])
def test_sparse_weights_stay_sparse(fitted, path, name):
    model, X, y = fitted(name)
    dense = model.coef_
    model.sparsify()
    found = reloaded(model, path)
    assert_same(found.coef_, model.coef_)
    assert_same_answers(found, model, X, y)
    assert_array_equal(found.densify().coef_, dense)


@pytest.mark.parametrize("zeros", [[0.0], [-0.0], [0.0, -0.0, -0.0], [0.0, 0.0, -0.0]])
def test_the_sign_of_zeros(fitted, path, zeros):
    """With pos_label=classes_[0] the weights are negated, and most of them are -0.0."""
    model, _, _ = fitted("first class")
    model.coef_ = np.where(np.arange(12) < 3, model.coef_, np.resize(zeros, 12))
    found = reloaded(model, path)
    assert_same(found.coef_, model.coef_)
    assert_array_equal(np.signbit(found.coef_), np.signbit(model.coef_))


def test_names_and_output_of_data_frames(path):
    pd = pytest.importorskip("pandas")
    X, y = two_labels(NAMES)
    X = pd.DataFrame(X, columns=[f"größe {j}" for j in range(12)])
    model = MeasureSVC(budget=2, always_features=["größe 3"]).fit(X, y)
    model.set_output(transform="pandas")
    found = reloaded(model, path)
    assert_same(found.feature_names_in_, model.feature_names_in_)
    pd.testing.assert_frame_equal(found.transform(X), model.transform(X))
    assert_same(found.get_params(), model.get_params())


@functools.cache
def small_model():
    X, y = two_labels(NAMES)
    return MeasureSVC(budget=1).fit(X[:, :2], y)


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
    sets = st.frozensets(st.one_of(st.integers(), st.text(max_size=3)), max_size=4)
    return st.one_of(items, sets, sets.map(set), st.builds(range, st.integers(-9, 9), st.just(30)))


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


def test_models_that_cannot_be_saved(fitted, path):
    model, X, y = fitted("plain")
    path.write_text("old")
    own = MeasureSVC(Contingency(jaccard_index), budget=2).fit(X, y)
    with pytest.raises(ValueError, match=r"function.*[Pp]ickle"):
        own.save(path)
    assert_same_answers(pickle.loads(pickle.dumps(own)), own, X, y)
    weighted = Accuracy().weighted(np.ones(3))
    for measure in (Contingency(jaccard_index, name="f1"), weighted):
        with pytest.raises(ValueError, match="no name that gives it back"):
            model.set_params(measure=measure).save(path)
    model.set_params(measure="f1")
    for value in (object(), np.ma.array([1]), np.array([1.0], dtype="g"), {"a b": 1}, 1j):
        with pytest.raises(TypeError, match=r"parameters\.pos_label .*cannot be saved"):
            model.set_params(pos_label=value).save(path)
    with pytest.raises(NotFittedError):
        MeasureSVC().save(path)
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == [path.name]


def test_classes_of_users_are_not_saved(fitted, path):
    class Mine(MeasureSVC):
        pass

    _, X, y = fitted("plain")
    with pytest.raises(TypeError, match="Mine is a class of your own"):
        Mine(budget=2).fit(X, y).save(path)


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("coef_", np.full((1, 12), np.nan), "coef_.data holds NaN"),
        ("coef_", np.ones((1, 11)), "coef_.shape"),
        ("coef_", np.ones((1, 12), dtype=np.float32), "coef_ must be an object"),
        ("intercept_", np.zeros(2), "intercept_ has the shape"),
        ("_biases", [0.0], "_biases must be ndarray"),
    ],
)
def test_models_that_were_tampered_with_are_not_saved(fitted, path, attribute, value, message):
    model, _, _ = fitted("plain")
    setattr(model, attribute, value)
    with pytest.raises(ValueError, match=message):
        model.save(path)
    assert not path.exists()


def test_the_file_can_be_read_without_this_package(fitted, path):
    model, X, _ = fitted("plain")
    model.save(path)
    with np.load(path, allow_pickle=False) as file:
        described = json.loads(file["model.json"])
        columns, data = file["fitted.coef_.columns"], file["fitted.coef_.data"]
        decision = X[:, columns] @ data + file["fitted.intercept_"]
    np.testing.assert_allclose(decision, model.decision_function(X), rtol=1e-12)
    assert described["format"] == "scoresieve-model"
    assert described["format_version"] == 1
    assert described["class"] == "MeasureSVC"
    assert described["parameters"]["budget"] == 3
    assert described["versions"]["scoresieve"] == scoresieve.__version__
    assert described["versions"]["numpy"] == np.__version__
    assert set(described["versions"]) == {"scoresieve", "numpy", "scikit-learn"}


def test_equal_models_are_equal_files(fitted, path, monkeypatch):
    model, _, _ = fitted("columns")
    model.save(path)
    monkeypatch.setattr("time.time", lambda: 2e9)
    model.save(path.with_name("later"))
    assert path.read_bytes() == path.with_name("later").read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_wide_model_is_a_small_file(path):
    X = sp.random_array((60, 200_000), density=1e-3, random_state=0, format="csr")
    y = np.asarray(X[:, :1000].sum(axis=1) > np.median(X[:, :1000].sum(axis=1))).ravel()
    model = MeasureSVC(n_features_to_select=3, tol=0.5).fit(X, y)
    assert_same(reloaded(model, path), model)
    assert path.stat().st_size < 20_000 < model.coef_.nbytes
    assert len(pickle.dumps(model)) < 20_000


class Broken(Exception):
    pass


def fail_at(call, error):
    count = 0

    def fail(*arguments, **options):
        nonlocal count
        count += 1
        if count == call:
            raise error
        return original(*arguments, **options)

    original = np.lib.format.write_array
    return fail


@pytest.mark.parametrize("old", [None, b"old"])
@pytest.mark.parametrize("error", [Broken(), OSError(28, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("place", ["numpy.lib.format.write_array", "os.fsync", "os.replace"])
def test_a_failed_save_changes_nothing(fitted, path, monkeypatch, old, error, place):
    model, _, _ = fitted("plain")
    if old is not None:
        path.write_bytes(old)
    monkeypatch.setattr(place, fail_at(5 if "write" in place else 1, error))
    with pytest.raises(type(error)):
        model.save(path)
    assert os.listdir(path.parent) == ([] if old is None else [path.name])
    assert old is None or path.read_bytes() == old


def test_where_files_go(fitted, path, monkeypatch):
    model, _, _ = fitted("plain")
    with pytest.raises(FileNotFoundError):
        model.save(path / "missing" / "model")
    folder = path.with_name("folder")
    folder.mkdir()
    with pytest.raises(OSError, match="folder"):
        model.save(folder)
    assert os.listdir(path.parent) == ["folder"]
    plain = folder / "plain"
    plain.write_text("made by open")
    monkeypatch.chdir(folder)
    model.save("relative.model")
    model.save(str(path))
    assert_same(load("relative.model"), model)
    if os.name == "posix":
        assert path.stat().st_mode == plain.stat().st_mode
        link = folder / "link"
        link.symlink_to(path)
        model.set_params(C=3.0).save(link)
        assert link.is_symlink()
        assert load(path).C == 3.0


def test_load_of_another_class(fitted, path, monkeypatch):
    class Other(MeasureSVC):
        pass

    _, X, y = fitted("plain")
    classes = {"MeasureSVC": MeasureSVC, "Other": Other}
    monkeypatch.setattr(_persistence, "loadable_classes", lambda: classes)
    Other(budget=2).fit(X, y).save(path)
    assert type(load(path)) is Other
    assert type(Other.load(path)) is Other
    with pytest.raises(ValueError, match=r"model\.scoresieve.*holds a Other, not a MeasureSVC"):
        MeasureSVC.load(path)


def test_files_that_are_not_there(path):
    with pytest.raises(FileNotFoundError):
        load(path)
    with pytest.raises(TypeError):
        load(None)


# From here on: files that are no models, made from one that is.


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path, members, compression=zipfile.ZIP_STORED):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(path, "w", compression) as archive:
            for name, content in members.items() if isinstance(members, dict) else members:
                archive.writestr(name, content)


def npy(value):
    stream = io.BytesIO()
    np.save(stream, value)
    return stream.getvalue()


def refused(path, message):
    with pytest.raises(ValueError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(f"cannot load {str(path)!r}: ")


def outcome(path):
    """The model and no message, or no model and the message."""
    try:
        return load(path), ""
    except ValueError as error:
        return None, str(error)


@pytest.fixture(scope="module")
def good_members(tmp_path_factory):
    """The members of a file with everything in it."""
    path = tmp_path_factory.mktemp("good") / "model"
    X, Y = indicator_matrix(sp.csr_array)
    weights = np.ones(len(X))
    model = MeasureSVC("accuracy", n_features_to_select=2, warm_start=True, pos_label=None)
    model.set_params(feature_groups=np.arange(12), always_features=np.array([1])).fit(X, Y, weights)
    model.feature_names_in_ = np.array([f"x{j}" for j in range(12)], dtype=object)
    model.save(path)
    return members_of(path)


@pytest.fixture
def good(good_members, path):
    """The path of such a file, and its members."""
    write_members(path, good_members)
    load(path)
    return path, dict(good_members)


def put(tree, place, value):
    *way, last = place.split(".")
    for key in way:
        tree = tree[int(key) if isinstance(tree, list) else key]
    if value is ...:
        del tree[last]
    else:
        tree[int(last) if isinstance(tree, list) else last] = value


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("format", "other", "format 'scoresieve-model'"),
        ("format", ..., "format 'scoresieve-model'"),
        ("format_version", 0, "format version 0"),
        ("format_version", "1", "format version '1'"),
        ("format_version", True, "format version True"),
        ("versions", ..., "by which versions"),
        ("versions", {"scoresieve": 1}, "by which versions"),
        ("class", "os.system", "class must be one of"),
        ("class", ["MeasureSVC"], "class must be str"),
        ("class", ..., "class is missing"),
        ("output", "excel", "output must be one of"),
        ("extra", 1, "surplus entries: extra"),
        ("parameters", [], r"parameters\..*: surplus"),
        ("parameters.C", ..., r"parameters\.C is missing"),
        ("parameters.gamma", 1.0, "surplus entries: gamma"),
        ("parameters.measure", {"measure": "os.system"}, "unknown measure"),
        ("parameters.measure", {"measure": "f1", "x": 1}, "surplus entries: x"),
        ("parameters.measure", {"call": "f1"}, "measure.measure is missing"),
        ("parameters.C", {"$": "call", "items": []}, "unknown kind: 'call'"),
        ("parameters.C", {"$": "array", "x": 1}, "unknown kind: 'array'"),
        ("parameters.C", {"$": ["array"]}, "unknown kind"),
        ("parameters.C", {"$": {}, "items": []}, "unknown kind"),
        ("parameters.C", {"$": "float", "value": "0x1"}, "unknown kind: 'float'"),
        ("parameters.C", {"$": "range", "items": [0, 1]}, "unknown kind: 'range'"),
        ("parameters.C", {"$": "range", "items": [0, 1, 0]}, "arg 3 must not be zero"),
        ("parameters.C", {"$": "set", "items": [[]]}, "cannot be in a set"),
        ("parameters.C", {"$": "objects", "items": [1], "shape": [2]}, "shape"),
        ("parameters.C", {"$": "objects", "items": [], "shape": [0, 2**70]}, "shape"),
        ("parameters.C", {"$": "array"}, r"member parameters\.C\.npy is missing"),
        ("parameters.always_features", None, r"always_features\.npy: surplus"),
        ("fitted", None, r"fitted\..*: surplus"),
        ("fitted.intercept_", ..., r"intercept_\.npy: surplus"),
        ("fitted.intercept_", 0.0, r"intercept_\.npy: surplus"),
        ("fitted.status_", ..., r"status_ is missing"),
        ("fitted.n_features_in_", 11, "must be"),
        ("fitted.n_features_in_", 12.0, "n_features_in_ must be int"),
        ("fitted.n_features_in_", 0, "n_features_in_ must be a number from 1"),
        ("fitted.n_features_in_", 10**40, "n_features_in_ must be a number from 1"),
        ("fitted.feature_names_in_.items.0", 1, "names that are no text"),
        ("fitted.feature_names_in_.shape", [3, 4], "feature_names_in_ has the shape"),
        ("fitted._targets.kind", "ordinal", "kind must be one of"),
        ("fitted._targets.kind", "binary", "3 labels, which are not binary"),
        ("fitted._targets.positive", 1, "positive is 1"),
        ("fitted._targets.positive", -1, "positive is -1"),
        ("fitted._targets.dtype", "os", "dtype is 'os'"),
        ("fitted._targets.dtype", "V8", "dtype is 'V8'"),
        ("fitted._targets.extra", 1, "_targets has surplus entries"),
        ("fitted._settings.measure", "f0", "beta must be"),
        ("fitted._settings.measure", {"measure": "f1"}, "measure must be str"),
        ("fitted._settings.measure", "roc_auc", "cuts has the dtype uint8"),
        ("fitted._settings.budget", 0, "budget must be a number"),
        ("fitted._settings.C", -1.0, "C must be a number"),
        ("fitted._settings.C", {"$": "float", "value": "inf"}, "C must be a number"),
        ("fitted._settings.intercept", {"$": "float", "value": "nan"}, "intercept must be a num"),
        ("fitted.coef_.flavour", "csc_matrix", "flavour must be one of"),
        ("fitted.coef_.shape", [3, 13], r"shape must be \[3, 12\]"),
        ("fitted.coef_.zero", 1.0, "zero must be a number"),
        ("fitted.coef_.extra", 1.0, "surplus entries: extra"),
        ("fitted.status_.0", "GREAT", "status_ must be 3 of"),
        ("fitted.status_.0", [], "status_ must be 3 of"),
        ("fitted.status_", ["CONVERGED"], "status_ must be 3 of"),
        ("fitted._warm_y.flavour", "dense", "flavour must be one of"),
        ("fitted._warm_y.shape", [61, 3], r"shape must be \[60, 3\]"),
    ],
)
def test_wrong_descriptions(good, place, value, message):
    path, members = good
    described = json.loads(members["model.json"])
    put(described, place, value)
    members["model.json"] = json.dumps(described).encode()
    write_members(path, members)
    refused(path, message)


def test_dates_are_not_a_dtype_of_weights_and_so_on(good):
    path, members = good
    for name in members.keys() - {"model.json", "fitted._warm_y.data.npy"}:
        for other in (np.array(["2020"], dtype="M8[Y]"), np.zeros((1, 1, 1, 1), dtype="f2")):
            if name.startswith("parameters."):
                continue
            write_members(path, members | {name: npy(other)})
            refused(path, name.removesuffix(".npy").replace(".", r"\."))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("coef_.data", np.array([np.nan] * 9), "coef_.data holds NaN"),
        ("coef_.starts", np.array([0, 3, 2, 9]), "starts must ascend"),
        ("coef_.starts", np.array([1, 3, 6, 9]), "starts must ascend"),
        ("coef_.starts", np.array([0, 3, 6, 99]), "starts must ascend"),
        ("coef_.starts", np.array([0, 9]), "as many rows"),
        ("intercept_", np.array([0.0, np.inf, 0.0]), "intercept_ holds NaN or infinity"),
        ("intercept_", np.zeros(4), r"intercept_ has the shape \(4,\)"),
        ("intercept_", np.zeros(3, dtype="f4"), "intercept_ has the dtype float32"),
        ("_biases", np.array([0.0, np.nan, 0.0]), "_biases holds NaN or infinity"),
        ("n_iter_", np.zeros(3), "n_iter_ has the dtype float64"),
        ("support_", np.array([3, 2]), "support_ must be distinct sorted column numbers"),
        ("support_", np.array([2, 2]), "support_ must be distinct sorted column numbers"),
        ("support_", np.array([11, 12]), "support_ must be distinct sorted column numbers"),
        ("support_", np.array([-1]), "support_ must be distinct sorted column numbers"),
        ("supports_.1", np.array([12]), r"supports_\.1 must be distinct"),
        ("_settings.always", np.array([-1]), "always must be distinct"),
        ("_settings.feature_groups", np.zeros(11, dtype=np.int64), "feature_groups has the shape"),
        ("_targets.classes", np.array([0, 2, 1]), "classes must be distinct and sorted"),
        ("_targets.classes", np.array([0, 1]), "must be 2|shape must be"),
        ("_targets.classes", np.zeros((3, 1)), "classes has the shape"),
        ("_dual_points.0.alpha", np.array([1.0]), "cuts has the shape"),
        ("_dual_points.0.cuts", np.zeros((0, 8), dtype=np.uint8), "cuts has the shape"),
        ("history_.0.bounds", np.zeros((1, 2)), "bounds has the shape"),
        ("_warm_weights", np.zeros(61), "_warm_weights has the shape"),
        ("_warm_y.data", np.array(["a"]), "data has the dtype"),
    ],
)
def test_wrong_arrays(good, name, value, message):
    path, members = good
    assert f"fitted.{name}.npy" in members
    write_members(path, members | {f"fitted.{name}.npy": npy(value)})
    refused(path, message)


def with_array(members, name, change):
    array = np.load(io.BytesIO(members[f"fitted.{name}.npy"]))
    return members | {f"fitted.{name}.npy": npy(change(array))}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("coef_.data", lambda a: np.where(a == a[0], np.nan, a), "data holds NaN or infinity"),
        ("coef_.data", lambda a: a[1:], "data has the shape"),
        ("coef_.columns", lambda a: a * 0, "columns must ascend in each row"),
        ("coef_.columns", lambda a: a - 12, "columns must ascend in each row, and be from 0"),
        ("coef_.columns", lambda a: a + 12, "columns must ascend in each row, and be from 0"),
        ("_dual_points.0.alpha", lambda a: -a, "alpha must not be negative"),
        ("_dual_points.1.cuts", lambda a: a[:, :-1], "cuts of different widths"),
        ("_warm_y.columns", lambda a: a + 3, "columns must ascend"),
    ],
)
def test_changed_arrays(good, name, change, message):
    path, members = good
    write_members(path, with_array(members, name, change))
    refused(path, message)


def test_labels_and_cuts_of_other_lengths(good):
    path, members = good
    for problem in range(3):
        members = with_array(members, f"_dual_points.{problem}.cuts", lambda a: a[:, :-1])
    write_members(path, members)
    refused(path, "_warm_y has 60 labels, for which the cuts have a wrong width")


def test_weights_without_labels(good):
    path, members = good
    described = json.loads(members["model.json"])
    described["fitted"]["_warm_y"] = None
    members = {name: part for name, part in members.items() if "_warm_y" not in name}
    write_members(path, members | {"model.json": json.dumps(described).encode()})
    refused(path, "_warm_weights needs the labels")


def test_missing_and_surplus_members(good):
    path, members = good
    for name in members:
        write_members(path, {key: part for key, part in members.items() if key != name})
        refused(path, f"{re.escape(name)} is missing")
    write_members(path, members | {"other.npy": npy(np.zeros(3))})
    refused(path, "other.npy: surplus")


@pytest.mark.parametrize(
    "name", ["a/b.npy", "/etc/passwd", "../x.npy", "a\\b.npy", "x.pkl", "y.json", "x", "é.npy", "."]
)
def test_names_of_members(good, name):
    path, members = good
    write_members(path, members | {name: npy(np.zeros(3))})
    refused(path, "member of the name")


def test_members_that_are_there_twice(good):
    path, members = good
    for name in ("model.json", "fitted.intercept_.npy"):
        write_members(path, [*members.items(), (name, members[name])])
        refused(path, f"{re.escape(name)} is there twice")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_compressed_members_and_bombs(good, compression):
    path, members = good
    write_members(path, members, compression)
    refused(path, "is compressed")
    bomb = npy(np.zeros(10**6))
    write_members(path, members | {"fitted.intercept_.npy": bomb}, compression)
    assert path.stat().st_size < 10**5
    tracemalloc.start()
    refused(path, "is compressed")
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def header(descr="'<f8'", fortran="False", shape="(3,)", more="", version=(1, 0)):
    text = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, {more}}}\n"
    return b"\x93NUMPY" + bytes(version) + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (header(shape="(1000000000000,)"), "should have 8000000000000 bytes"),
        (header(shape="(2,)"), "should have 16 bytes"),
        (header(shape="(999999999999999999, 0)"), "should have 0 bytes"),
        (header(shape="(-3,)"), "does not begin as an array"),
        (header(shape="(3.0,)"), "does not begin as an array"),
        (header(shape="[3]"), "does not begin as an array"),
        (header(descr="'|O'"), "dtype '|O'"),
        (header(descr="'<U0'"), "dtype '<U0'"),
        (header(descr="'<f16'"), "dtype '<f16'"),
        (header(descr="'|V8'"), "dtype '|V8'"),
        (header(descr="[('a', '<f8')]"), "does not begin as an array"),
        (header(descr="__import__('os')"), "does not begin as an array"),
        (header(fortran="1"), "does not begin as an array"),
        (header(more="'x': 1, "), "does not begin as an array"),
        (header(version=(2, 0)), "does not begin as an array"),
        (header()[:20], "does not begin as an array"),
        (b"", "does not begin as an array"),
        (b"\x80\x04K\x01.", "does not begin as an array"),
        (b"\x93NUMPY\x01\x00\xff\xff" + header()[10:], "does not begin as an array"),
    ],
)
def test_heads_of_arrays(good, start, message):
    path, members = good
    write_members(path, members | {"fitted.intercept_.npy": start + bytes(24)})
    tracemalloc.start()
    refused(path, re.escape(message))
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_bytes_that_are_no_values(good):
    path, members = good
    text = npy(np.array(["a", "b"])).replace(b"a\0\0\0", b"\xff\xff\xff\x7f")
    flags = npy(np.array([True, False]))[:-2] + b"\2\0"
    for value, message in ((text, "what is no text"), (flags, "booleans")):
        write_members(path, members | {"parameters.always_features.npy": value})
        refused(path, message)


def test_objects_in_arrays_are_never_unpickled(good, monkeypatch):
    path, members = good
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    for module in ("pickle.loads", "pickle.load", "numpy.lib.format.read_array"):
        monkeypatch.setattr(module, lambda *_, **__: pytest.fail("unpickled"))
    for name in members.keys() - {"model.json"}:
        write_members(path, members | {name: stream.getvalue()})
        refused(path, "dtype '|O'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting"),
        (b"[]", "does not say that it is of the format"),
        (b"\xff\xfe\xfa", "codec|Expecting|Unexpected"),
        (b'{"a": 1, "a": 2}', "a key twice"),
        (b'{"a": NaN}', "number NaN"),
        (b'{"a": 1e999}', "number 1e999"),
        (b'{"a": -Infinity}', "number -Infinity"),
        (b'{"a": ' + b"9" * 5000 + b"}", "digits"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json(good, text, message):
    path, members = good
    write_members(path, members | {"model.json": text})
    refused(path, message)


def test_deep_nesting_of_values(good):
    path, members = good
    text = members["model.json"].replace(b'"C": 1.0', b'"C": ' + b"[" * 900 + b"]" * 900)
    write_members(path, members | {"model.json": text})
    found, message = outcome(path)
    assert "nested too deeply" in message if found is None else found.C != 1.0


def test_a_newer_format_says_who_wrote_it(good):
    path, members = good
    described = json.loads(members["model.json"])
    described |= {"format_version": 2, "surprise": {"$": "new"}}
    described["versions"]["scoresieve"] = "7.1"
    write_members(path, members | {"model.json": json.dumps(described)})
    refused(path, r"format version 2 and was written by scoresieve 7\.1; this is scoresieve .*Upgr")


def test_truncated_and_damaged_files(good):
    path, _ = good
    whole = path.read_bytes()
    for length in (0, 1, 21, 22, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        refused(path, "truncated")
    for junk in (whole + b"\0", whole + b"PK", b"\0" * 4000, whole + whole[:50]):
        path.write_bytes(junk)
        refused(path, "truncated")
    path.write_bytes(b"#!/bin/sh\n" + whole)
    refused(path, "does not begin with its first member|damaged")
    write_members(path, {})
    refused(path, "model.json is missing")


def test_forged_sizes(good):
    """A central directory that promises more than the file has."""
    path, _ = good
    whole = bytearray(path.read_bytes())
    at = whole.index(b"PK\x01\x02")
    whole[at + 20 : at + 28] = (2**31).to_bytes(4, "little") * 2
    path.write_bytes(whole)
    tracemalloc.start()
    refused(path, "larger than the file")
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_encrypted_members(good):
    path, _ = good
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(whole)
    refused(path, "encrypted")


@pytest.fixture(scope="module")
def small_file(tmp_path_factory):
    model, X, y = CASES["warm objects"]
    path = tmp_path_factory.mktemp("small") / "model"
    model = clone(model).fit(X, y)
    model.save(path)
    return path, path.read_bytes(), model


@settings(max_examples=150, **HYPOTHESIS)
@given(data=st.data())
def test_any_changed_byte_is_refused_or_makes_no_difference(small_file, data):
    path, whole, model = small_file
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    found, message = outcome(path)
    if found is None:
        assert message.startswith("cannot load ")
    else:
        assert_same(found, model)


@settings(max_examples=120, **HYPOTHESIS)
@given(data=st.data())
def test_any_changed_byte_in_a_member_is_a_value_error_or_a_model(small_file, data):
    """The checksums are right here, as in a file that somebody made on purpose."""
    path, whole, _ = small_file
    path.write_bytes(whole)
    members = members_of(path)
    name = data.draw(st.sampled_from(sorted(members)))
    content = bytearray(members[name])
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    write_members(path, members | {name: bytes(content)})
    found, message = outcome(path)
    if found is None:
        assert message.startswith("cannot load ")
    else:
        assert found.decision_function(make_X()).shape == (60,)


def test_dense_weights_that_memory_cannot_take(fitted, path):
    model, X, _ = fitted("plain")
    model.save(path)
    members = members_of(path)
    text = members["model.json"].decode().replace("12", str(2**40))
    write_members(path, members | {"model.json": text})
    tracemalloc.start()
    refused(path, f"{2**43} bytes, more than max_bytes={2**30}")
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
    model.save(path)
    for read in (load, MeasureSVC.load):
        assert_same(read(path, max_bytes=12 * 8), model)
        with pytest.raises(ValueError, match="Raise max_bytes, or save after sparsify"):
            read(path, max_bytes=12 * 8 - 1)
    model.sparsify().save(path)
    assert_array_equal(load(path, max_bytes=1).predict(X), model.predict(X))


def test_the_writer_and_the_reader_agree_on_the_version():
    assert _model_file.FORMAT_VERSION == 1
    assert "Format version 1" in DOCS.read_text(encoding="utf-8")


def trusted_types():
    """The list in the documentation, which is the only one."""
    text = DOCS.read_text(encoding="utf-8")
    return re.search(r"<!-- trusted types -->\n```text\n(.*?)```", text, re.DOTALL)[1].split()


@pytest.mark.parametrize("name", [name for name in CASES if name != "measure"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_skops_needs_the_documented_types(fitted, name):
    sio = pytest.importorskip("skops.io")
    model, X, y = fitted(name)
    data = sio.dumps(model)
    assert sio.get_untrusted_types(data=data) == trusted_types()
    found = sio.loads(data, trusted=trusted_types())
    assert_same_answers(found, model, X, y)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_skops_with_a_measure_object(fitted):
    sio = pytest.importorskip("skops.io")
    model, X, y = fitted("measure")
    data = sio.dumps(model)
    measure = type(model.measure)
    own = [*trusted_types(), f"{measure.__module__}.{measure.__qualname__}"]
    assert sio.get_untrusted_types(data=data) == sorted(own)
    assert_same_answers(sio.loads(data, trusted=own), model, X, y)
