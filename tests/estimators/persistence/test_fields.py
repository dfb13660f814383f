"""The table of fields: nothing is left out, and nothing in a file is taken on trust."""

from __future__ import annotations

import io
import json
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scoresieve import MeasureSVC, load


def test_every_attribute_is_listed(fitted, case):
    """An attribute that ``fit`` sets and no file holds would be lost without a word."""
    model, _, _ = fitted(case)
    listed = {*model.get_params(), *model._fields, *model._derived(), "_n_callbacks"}
    assert set(vars(model)) - listed == set()
    assert set(model._derived()).isdisjoint(model._fields)


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


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("fitted", None, r"fitted\..*: surplus"),
        ("fitted.intercept_", ..., r"intercept_\.npy: surplus"),
        ("fitted.intercept_", 0.0, r"intercept_\.npy: surplus"),
        ("fitted.status_", ..., r"status_ is missing"),
        ("fitted.n_features_in_", 11, "must be"),
        ("fitted.n_features_in_", 12.0, "n_features_in_ must be int"),
        ("fitted.n_features_in_", 0, "n_features_in_ must be a number from 1"),
        ("fitted.n_features_in_", 10**40, "n_features_in_ must be a number from 1"),
        ("fitted.feature_names_in_.items.0", 1, "objects that are no text"),
        ("fitted.feature_names_in_.shape", [3, 4], "feature_names_in_ has the shape"),
        ("fitted._targets.kind", "ordinal", "kind must be one of"),
        ("fitted._targets.kind", "binary", "3 labels, which are not binary"),
        ("fitted._targets.positive", 1, "positive is 1"),
        ("fitted._targets.positive", -1, "positive is -1"),
        ("fitted._targets.dtype", "os", "dtype is 'os'"),
        ("fitted._targets.dtype", "V8", "dtype is 'V8'"),
        ("fitted._targets.extra", 1, "_targets has surplus entries"),
        ("fitted._arguments.measure", {"measure": "f0"}, "beta must be"),
        ("fitted._arguments.measure", {"measure": 1}, "measure must be str"),
        ("fitted._arguments.measure", {"loss": "hinge"}, "measure.measure is missing"),
        ("fitted._arguments.measure", "f1", "measure must be an object"),
        ("fitted._arguments.measure", None, "a measure or a loss, one of them"),
        ("fitted._arguments.loss", {"loss": "hinge"}, "a measure or a loss, one of them"),
        ("fitted._arguments.measure", {"measure": "roc_auc"}, "cuts has the dtype uint8"),
        ("fitted._arguments.bound", "loose", "bound must be one of"),
        ("fitted._arguments.bound", None, "bound must be str"),
        ("fitted._arguments.bound", ..., "bound is missing"),
        ("fitted._arguments.budget", 0, "budget must be a number"),
        ("fitted._arguments.C", -1.0, "C must be a number"),
        ("fitted._arguments.C", {"$": "float", "value": "inf"}, "C must be a number"),
        ("fitted._arguments.intercept_scaling", {"$": "float", "value": "nan"}, "must be a number"),
        ("fitted.coef_.flavour", "csc_matrix", "flavour must be one of"),
        ("fitted.coef_.shape", [3, 13], r"shape must be \[3, 12\]"),
        ("fitted.coef_.zero", 1.0, "zero must be a number"),
        ("fitted.coef_.extra", 1.0, "surplus entries: extra"),
        ("fitted.status_.0", "GREAT", r"status_\.0 must be one of \['CONVERGED'"),
        ("fitted.status_.0", [], r"status_\.0 must be str"),
        ("fitted.status_", ["CONVERGED"], "status_ has 1 items; it must be 3"),
        ("fitted._warm_y.flavour", "dense", "flavour must be one of"),
        ("fitted._warm_y.shape", [61, 3], r"shape must be \[60, 3\]"),
    ],
)
def test_wrong_descriptions(good, files, place, value, message):
    path, members = good
    files.write(path, files.put(members, place, value))
    files.refused(path, message)


def test_dates_are_not_a_dtype_of_weights_and_so_on(good, files):
    path, members = good
    for name in members.keys() - {"model.json", "fitted._warm_y.data.npy"}:
        for other in (np.array(["2020"], dtype="M8[Y]"), np.zeros((1, 1, 1, 1), dtype="f2")):
            if name.startswith("parameters."):
                continue
            files.write(path, members | {name: files.npy(other)})
            files.refused(path, name.removesuffix(".npy").replace(".", r"\."))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("coef_.data", np.array([np.nan] * 10), "coef_.data holds NaN"),
        ("coef_.starts", np.array([0, 3, 2, 11]), "starts must ascend"),
        ("coef_.starts", np.array([1, 3, 6, 11]), "starts must ascend"),
        ("coef_.starts", np.array([0, 3, 6, 99]), "starts must ascend"),
        ("coef_.starts", np.array([0, 11]), "as many rows"),
        ("intercept_", np.array([0.0, np.inf, 0.0]), "intercept_ holds NaN or infinity"),
        ("intercept_", np.zeros(4), r"intercept_ has the shape \(4,\)"),
        ("intercept_", np.zeros(3, dtype="f4"), "intercept_ has the dtype float32"),
        ("_biases", np.array([0.0, np.nan, 0.0]), "_biases holds NaN or infinity"),
        ("price_", np.array([1.0, np.nan, 1.0]), "price_ holds NaN or infinity"),
        ("price_", np.ones(2), r"price_ has the shape \(2,\)"),
        ("n_iter_", np.zeros(3), "n_iter_ has the dtype float64"),
        ("support_", np.array([3, 2]), "support_ must be distinct sorted column numbers"),
        ("support_", np.array([2, 2]), "support_ must be distinct sorted column numbers"),
        ("support_", np.array([11, 12]), "support_ must be distinct sorted column numbers"),
        ("support_", np.array([-1]), "support_ must be distinct sorted column numbers"),
        ("supports_.1", np.array([12]), r"supports_\.1 must be distinct"),
        ("_arguments.always_features", np.array([-1]), "always_features must be distinct"),
        ("_arguments.feature_groups", np.zeros(11, dtype=np.int64), "feature_groups has the shape"),
        ("_targets.classes", np.array([0, 2, 1]), "classes must be distinct and sorted"),
        ("_targets.classes", np.array([0, 1]), "must be 2|shape must be"),
        ("_targets.classes", np.zeros((3, 1)), "classes has the shape"),
        ("_dual_points.0.alpha", np.array([1.0]), "cuts has the shape"),
        ("_dual_points.0.cuts", np.zeros((0, 8), dtype=np.uint8), "cuts has the shape"),
        ("history_.0", np.zeros((1, 2)), r"history_\.0 has the shape"),
        ("history_.0", np.full((1, 7), np.nan), "counts that are no numbers"),
        ("_warm_weights", np.zeros(61), "_warm_weights has the shape"),
        ("_warm_y.data", np.array(["a"]), "data has the dtype"),
    ],
)
def test_wrong_arrays(good, name, value, message, files, fitted):
    path, members = good
    assert f"fitted.{name}.npy" in members
    files.write(path, members | {f"fitted.{name}.npy": files.npy(value)})
    files.refused(path, message)


def with_array(files, members, name, change):
    array = np.load(io.BytesIO(members[f"fitted.{name}.npy"]))
    return members | {f"fitted.{name}.npy": files.npy(change(array))}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("coef_.data", lambda a: np.where(a == a[0], np.nan, a), "data holds NaN or infinity"),
        ("coef_.data", lambda a: a[1:], "data has the shape"),
        ("coef_.columns", lambda a: a * 0, "columns must ascend in each row"),
        ("coef_.columns", lambda a: a - 12, "columns must ascend in each row, and be from 0"),
        ("coef_.columns", lambda a: a + 12, "columns must ascend in each row, and be from 0"),
        ("_dual_points.0.alpha", lambda a: -a, "alpha must not be negative"),
        ("_dual_points.1.cuts", lambda a: a[:, :-1], "cuts has the shape"),
        ("_warm_y.columns", lambda a: a + 3, "columns must ascend"),
    ],
)
def test_changed_arrays(good, name, change, message, files):
    path, members = good
    files.write(path, with_array(files, members, name, change))
    files.refused(path, message)


def test_labels_and_cuts_of_other_lengths(good, files):
    path, members = good
    for problem in range(3):
        members = with_array(files, members, f"_dual_points.{problem}.cuts", lambda a: a[:, :-1])
    files.write(path, members)
    files.refused(path, r"_dual_points\.0\.cuts has the shape \(\d+, 7\); it must be \(\d+, 8\)")


def test_weights_without_labels(good, files):
    path, members = good
    described = json.loads(members["model.json"])
    described["fitted"]["_warm_y"] = None
    members = {name: part for name, part in members.items() if "_warm_y" not in name}
    files.write(path, members | {"model.json": json.dumps(described).encode()})
    files.refused(path, "_warm_weights needs the labels")


def test_dense_weights_that_memory_cannot_take(fitted, path, files, same):
    model, X, _ = fitted("plain")
    model.save(path, with_certificate=True)
    members = files.members_of(path)
    text = members["model.json"].decode().replace("12", str(2**40))
    files.write(path, members | {"model.json": text})
    tracemalloc.start()
    files.refused(path, f"{2**43} bytes, more than max_bytes={2**30}")
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
    model.save(path, with_certificate=True)
    for read in (load, MeasureSVC.load):
        same(read(path, max_bytes=12 * 8), model)
        with pytest.raises(ValueError, match="Raise max_bytes, or save after sparsify"):
            read(path, max_bytes=12 * 8 - 1)
    model.sparsify().save(path)
    assert_array_equal(load(path, max_bytes=1).predict(X), model.predict(X))
