"""Models of every shape, files that are no models, and what it means to be the same."""

from __future__ import annotations

import dataclasses
import io
import json
import warnings
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone

from scoresieve import MeasureSVC, load
from scoresieve.measures import PrecisionUnderRecallFloor
from tests.helpers import with_checksum

#: What belongs to a session and not to a model.
NOT_SAVED = {"_n_callbacks", "_skl_callbacks"}
NAMES = np.array(["no", "yes"])


def make_X(n_samples=60, n_features=12):
    return np.random.default_rng(5).normal(size=(n_samples, n_features))


def two_labels(labels=NAMES):
    X = make_X()
    return X, np.asarray(labels)[(X[:, 0] + X[:, 1] > 0.4).astype(int)]


def classes_of_three(dtype=np.int64):
    X = make_X()
    return X, np.array([3, 5, 8], dtype=dtype)[np.argmax(X[:, [1, 4, 7]], axis=1)]


def indicator_matrix(make=np.asarray):
    X = make_X()
    return X, make((X[:, :3] > 0.2).astype(np.int8))


CASES = {
    "plain": (MeasureSVC(budget=3), *two_labels()),
    "objects": (MeasureSVC(budget=3), *two_labels(NAMES.astype(object))),
    "bools": (MeasureSVC("roc_auc", budget=2, pos_label=True), *two_labels([False, True])),
    "floats": (MeasureSVC("prec@9", budget=3), *two_labels(np.array([0.0, 2.0], dtype="f4"))),
    "big-endian": (MeasureSVC(budget=3), *two_labels(np.array([1, 2], dtype=">i2"))),
    "dates": (MeasureSVC(budget=3), *two_labels(np.array([1, 2], dtype="M8[D]"))),
    "first class": (MeasureSVC("prbep", budget=3, pos_label="no"), *two_labels()),
    "hard": (MeasureSVC("accuracy", n_features_to_select=3), *two_labels()),
    "classes": (MeasureSVC("f2", budget=2), *classes_of_three()),
    "labels": (MeasureSVC("rec@p", budget=2), *indicator_matrix()),
    "sparse labels": (MeasureSVC(budget=2, warm_start=True), *indicator_matrix(sp.csr_array)),
    "matrix of labels": (MeasureSVC(budget=2, warm_start=True), *indicator_matrix(sp.csr_matrix)),
    "warm": (MeasureSVC("average_precision", budget=3, warm_start=True), *two_labels()),
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
    "no features": (MeasureSVC(C=1e-6, tol=0.5), *two_labels()),
    "early": (MeasureSVC(budget=3, max_iter=1, tol=1e-6), *two_labels()),
    "measure": (MeasureSVC(PrecisionUnderRecallFloor(0.7), budget=3), *two_labels()),
}


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
            if expected.ndim > 1:
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
    elif isinstance(expected, BaseEstimator):
        assert_same(attributes(found), attributes(expected), name)
    elif dataclasses.is_dataclass(expected):
        assert_same(vars(found), vars(expected), name)
    elif isinstance(expected, np.generic):
        assert_same(np.asarray(found), np.asarray(expected), name)
    elif isinstance(expected, float):
        # JSON has one NaN only.
        is_nan = np.isnan(found) and np.isnan(expected)
        assert is_nan or np.float64(found).tobytes() == np.float64(expected).tobytes(), name
    else:
        assert found == expected, name


def assert_same_answers(found, model, X, y, *, certified=True):
    """Decisions, labels, scores and selected columns of dense and of sparse X; the certificate."""
    for data in (X, sp.csr_array(X)):
        assert_same(found.decision_function(data), model.decision_function(data))
        assert_same(found.predict(data), model.predict(data))
        assert found.score(data, y) == model.score(data, y)
    if model.support_.size:
        assert_same(found.transform(X), model.transform(X))
        assert_same(found.get_feature_names_out(), model.get_feature_names_out())
    if certified:
        assert found.certify(X, y) == model.certify(X, y)


@pytest.fixture(scope="session")
def data():
    """Functions that make X and labels."""
    return SimpleNamespace(
        X=make_X, two=two_labels, three=classes_of_three, indicators=indicator_matrix
    )


@pytest.fixture(scope="session")
def same():
    """``same(found, expected)`` if all is, down to the bits."""
    return assert_same


@pytest.fixture(scope="session")
def same_answers():
    """``same_answers(found, model, X, y)``; ``certified=False`` without the certificate."""
    return assert_same_answers


@pytest.fixture(params=CASES)
def case(request):
    """The name of each case in turn."""
    return request.param


@pytest.fixture(params=[name for name in CASES if name != "measure"])
def named_case(request):
    """The name of each case whose measure is a name."""
    return request.param


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def reloaded():
    """``reloaded(model, path)`` saves and loads it, by default with its certificate."""

    def through_a_file(model, path, **options):
        model.save(path, **({"with_certificate": True} | options))
        return load(path)

    return through_a_file


# Files that are no models, made from one that is.


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path, members, compression=zipfile.ZIP_STORED, *, checksum=True):
    """A zip of the members; the checksum in ``model.json`` is made right unless it shall not be."""
    if checksum and isinstance(members, dict):
        members = with_checksum(members)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(path, "w", compression) as archive:
            for name, content in members.items() if isinstance(members, dict) else members:
                archive.writestr(name, content)


def npy(value):
    stream = io.BytesIO()
    np.save(stream, value)
    return stream.getvalue()


def put(members, place, value):
    """The members with another value at a place of ``model.json``; ``...`` takes it away."""
    described = json.loads(members["model.json"])
    *way, last = place.split(".")
    tree = described
    for key in way:
        tree = tree[int(key) if isinstance(tree, list) else key]
    if value is ...:
        del tree[last]
    else:
        tree[int(last) if isinstance(tree, list) else last] = value
    return members | {"model.json": json.dumps(described).encode()}


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


@pytest.fixture(scope="session")
def files():
    """Taking files apart and putting them together."""
    return SimpleNamespace(
        members_of=members_of,
        write=write_members,
        npy=npy,
        put=put,
        refused=refused,
        outcome=outcome,
    )


@pytest.fixture(scope="session")
def good_members(tmp_path_factory):
    """The members of a file with everything in it."""
    path = tmp_path_factory.mktemp("good") / "model"
    X, Y = indicator_matrix(sp.csr_array)
    weights = np.ones(len(X))
    model = MeasureSVC("accuracy", n_features_to_select=2, warm_start=True, pos_label=None)
    model.set_params(
        feature_groups=np.minimum(np.arange(12), 10), always_features=np.array([1])
    ).fit(X, Y, weights)
    model.feature_names_in_ = np.array([f"x{j}" for j in range(12)], dtype=object)
    model.save(path, with_certificate=True)
    return members_of(path)


@pytest.fixture
def good(good_members, path):
    """The path of such a file, and its members."""
    write_members(path, good_members)
    load(path)
    return path, dict(good_members)
