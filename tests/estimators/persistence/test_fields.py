"""Nothing in a file is taken on trust, and neither is a model that somebody changed."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from dataclasses import replace
from functools import reduce
from operator import getitem

import numpy as np
import pytest

from scoresieve import MeasureSVC, load
from scoresieve._record import Record
from scoresieve.estimators.persistence.file import read_model
from scoresieve.estimators.persistence.registry import model_of
from tests.estimators.persistence.files import members_of, put, refused, write
from tests.estimators.persistence.models import ON_BAGS, ON_ROWS, case_name, fitted, name_of


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.full(3, np.nan)}, "weights holds NaN"),
        ({"weights": np.ones(4)}, r"weights has the shape \(4,\); it must be \(3,\)"),
        ({"weights": np.ones(3, dtype=np.float32)}, "weights has the dtype float32"),
        ({"columns": np.array([1, 2, 99])}, "columns must be distinct sorted"),
        ({"intercept": np.zeros(1)}, "intercept must be float"),
        ({"threshold": float("nan")}, "threshold must be a number"),
        ({"certificate": None}, "certificate must be an object, not None"),
    ],
)
def test_models_that_were_tampered_with_are_not_saved(path, change, message):
    model, _, _ = fitted(case_name(ON_ROWS[3]))
    model.models_ = (replace(model.models_[0], **change),)
    with pytest.raises(ValueError, match=rf"models_\.0\.{message}"):
        model.save(path)
    model.models_ = ()
    with pytest.raises(ValueError, match="models_ has 0 items; it must be 1"):
        model.save(path)
    assert not path.exists()


def leaves(tree, way=()):
    """The places of all values of a tree that are no dicts and lists, but for parameters."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(value, dict | list) and value:
            yield from leaves(value, (*way, key)) if key != "parameters" else ()
        else:
            yield (*way, key)


#: Missing, of another type, or an array with other axes or dtype.
OTHERS = (..., {"x": 0}, [[0]], lambda array: array[np.newaxis], lambda array: array.astype("c8"))


@pytest.mark.parametrize("estimator", [*ON_ROWS, *ON_BAGS], ids=name_of)
def test_every_entry_is_missed_and_has_its_type_shape_and_dtype(estimator, path):
    fitted(case_name(estimator))[0].save(path, with_certificate=True)
    for *way, last in leaves(read_model(path)["fitted"]):
        for other in OTHERS:
            tree = read_model(path)
            at = reduce(getitem, way, tree["fitted"])
            is_number = getattr(at[last], "dtype", np.dtype("O")).kind in "biuf"
            if (callable(other) and not is_number) or (other is ... and isinstance(at, list)):
                continue
            at[last] = other(at[last]) if callable(other) else other
            if other is ...:
                del at[last]
            with pytest.raises(ValueError, match=r"^model\.") as caught:
                model_of(Record(tree, "model"))
            place = ["model", "fitted", *map(str, way), str(last)]
            said = str(caught.value).split()[0].split(".")[: len(place)]
            # Of the points of a grid, and of a shape, the message names the list.
            n_left_out = 2 if "params" in way else 1 if "shape" in way else 0
            assert said == place[: len(said)]
            assert len(said) >= len(place) - n_left_out


FIRST, CUTS = "fitted.models_.0", "fitted.models_.0.certificate.dual_point.cuts"
WEIGHTS, COLUMNS = f"{FIRST}.weights", f"{FIRST}.columns"
INF, NAN = ({"$": "float", "value": value} for value in ("inf", "nan"))
NO_COLUMNS = "columns must be distinct sorted column numbers"
#: Places in the file of ``good``, and what must not stand there.
WRONG = [
    ("format", "other", "is not 'scoresieve-model'"),
    ("format", ..., "is not 'scoresieve-model'"),
    ("format_version", 0, "format version 0"),
    ("format_version", "1", "format version '1'"),
    ("format_version", True, "format version True"),
    ("versions", ..., "versions that wrote"),
    ("versions", {"scoresieve": 1}, "versions that wrote"),
    ("class", "os.system", "class must be one of"),
    ("class", "BudgetClassifierMixin", "class must be one of"),
    ("class", ["MeasureSVC"], "class must be str"),
    ("class", ..., "class is missing"),
    ("part", ..., "part is missing"),
    ("output", "excel", "output must be one of"),
    ("extra", 1, "surplus entries: extra"),
    ("parameters", [], r"parameters\..*: unused"),
    ("parameters.C", ..., r"parameters\.C is missing"),
    ("parameters.gamma", 1.0, "surplus entries: gamma"),
    ("parameters.measure", {"measure": "os.system"}, "unknown measure"),
    ("parameters.measure", {"measure": "f1", "x": 1}, "surplus entries: x"),
    ("parameters.measure", {"call": "f1"}, "measure.measure is missing"),
    ("parameters.measure", {"loss": "hinge"}, "measure.measure is missing"),
    ("parameters.measure", 1, "measure must be an object"),
    ("parameters.C", {"$": "call", "items": []}, "unknown kind: 'call'"),
    ("parameters.C", {"$": "array", "x": 1}, "unknown kind: 'array'"),
    ("parameters.C", {"$": ["array"]}, "unknown kind"),
    ("parameters.C", {"$": {}, "items": []}, "unknown kind"),
    ("parameters.C", {"$": "float", "value": "0x1"}, "unknown kind: 'float'"),
    ("parameters.C", {"$": "range", "items": [0, 1]}, "unknown kind: 'range'"),
    ("parameters.C", {"$": "range", "items": [0, 1, 0]}, "arg 3 must not be zero"),
    ("parameters.C", {"$": "set", "items": [[]]}, "not a valid set"),
    ("parameters.C", {"$": "dict", "items": [1]}, "not a valid dict"),
    ("parameters.C", {"$": "dict", "items": [[[], 1]]}, "not a valid dict"),
    ("parameters.C", {"$": "dict", "items": [[1, 2, 3]]}, "length 3; 2 is required"),
    ("parameters.C", {"$": "objects", "items": [1], "shape": [2]}, "shape"),
    ("parameters.C", {"$": "objects", "items": [], "shape": [0, 2**70]}, "shape"),
    ("parameters.C", {"$": "array"}, r"member parameters\.C\.npy is missing"),
    ("parameters.always_features", None, r"always_features\.npy: unused"),
    (WEIGHTS, ..., r"weights\.npy: unused"),
    ("fitted.n_features_in_", 11, "must be"),
    ("fitted.n_features_in_", 0, "n_features_in_ must be a number from 1"),
    ("fitted.n_features_in_", 10**40, "n_features_in_ must be a number from 1"),
    ("fitted.n_samples_fit_", 0, "n_samples_fit_ must be a number from 1"),
    ("fitted.feature_names_in_.items.0", 1, "objects that are not strings"),
    ("fitted.feature_names_in_.shape", [3, 4], "feature_names_in_ has the shape"),
    ("fitted.targets_.kind", "ordinal", "kind must be one of"),
    ("fitted.targets_.kind", "binary", "3 labels, which does not match binary"),
    ("fitted.targets_.positive", 1, "positive is 1"),
    ("fitted.targets_.positive", -1, "positive is -1"),
    ("fitted.targets_.dtype", "os", "dtype is 'os'"),
    ("fitted.targets_.dtype", "V8", "dtype is 'V8'"),
    ("fitted.targets_.classes", np.array([0, 2, 1]), "classes must be distinct and sorted"),
    ("fitted.targets_.classes", np.array([0, 1]), "must be 2|shape must be"),
    ("fitted.problem_.measure", {"measure": "f0"}, "beta must be"),
    ("fitted.problem_.measure", {"loss": "hinge"}, "measure.measure is missing"),
    ("fitted.problem_.measure", None, "either a measure or a loss"),
    ("fitted.problem_.loss", {"loss": "hinge"}, "either a measure or a loss"),
    ("fitted.problem_.measure", {"measure": "roc_auc"}, "cuts has the dtype uint8"),
    ("fitted.problem_.bound", "loose", "bound must be one of"),
    ("fitted.problem_.budget", 0, "budget must be a number"),
    ("fitted.problem_.C", -1.0, "C must be a number"),
    ("fitted.problem_.C", INF, "C must be a number"),
    ("fitted.problem_.intercept_scaling", NAN, "must be a number"),
    ("fitted.problem_.always_features", np.array([-1]), "always_features must be distinct"),
    ("fitted.problem_.feature_groups", np.zeros(11, dtype=int), "feature_groups has the shape"),
    (f"{FIRST}.extra", 1.0, r"models_\.0 has surplus entries: extra"),
    (f"{FIRST}.C", -1.0, r"models_\.0\.C must be a number"),
    (f"{FIRST}.intercept", INF, r"models_\.0\.intercept must be a number"),
    (f"{FIRST}.threshold", NAN, r"models_\.0\.threshold must be a number"),
    (f"{FIRST}.n_iter", -1, r"models_\.0\.n_iter must be a number"),
    (f"{FIRST}.choice", {}, "choice must be null: such a model has no table"),
    (f"{FIRST}.certificate.gap", NAN, "gap must not be NaN"),
    (f"{FIRST}.certificate.status", "GREAT", r"status must be one of \['CONVERGED'"),
    (WEIGHTS, lambda a: a * np.nan, "weights holds NaN"),
    (WEIGHTS, lambda a: a[1:], "weights has the shape"),
    (COLUMNS, lambda a: a[::-1].copy(), NO_COLUMNS),
    (COLUMNS, lambda a: a * 0, NO_COLUMNS),
    (COLUMNS, lambda a: a + 11, NO_COLUMNS),
    (COLUMNS, lambda a: a - 12, NO_COLUMNS),
    (f"{FIRST}.certificate.history", np.zeros((1, 2)), "history has the shape"),
    (f"{FIRST}.certificate.history", np.full((1, 7), np.nan), "counts that are not integers"),
    (f"{FIRST}.certificate.dual_point.alpha", np.array([1.0]), "cuts has the shape"),
    (f"{FIRST}.certificate.dual_point.alpha", lambda a: -a, "alpha must not be negative"),
    (CUTS, np.zeros((0, 8), dtype=np.uint8), "cuts has the shape"),
    (CUTS, lambda a: a[:, :-1], r"cuts has the shape \(\d+, 7\); it must be \(\d+, 8\)"),
    ("fitted._warm_weights", np.zeros(61), "_warm_weights has the shape"),
    ("fitted._warm_y.flavour", "csc_array", "flavour must be one of"),
    ("fitted._warm_y.shape", [61, 3], r"shape must be \[60, 3\]"),
    ("fitted._warm_y.extra", 1.0, "surplus entries: extra"),
    ("fitted._warm_y.data", lambda a: a[1:], "data has the shape"),
    ("fitted._warm_y.data", lambda a: a * np.nan, "data holds NaN or infinity"),
    ("fitted._warm_y.columns", lambda a: a * 0, "columns must ascend in each row"),
    ("fitted._warm_y.columns", lambda a: a - 3, "columns must ascend in each row, and be from 0"),
    ("fitted._warm_y.columns", lambda a: a + 3, "columns must ascend in each row, and be from 0"),
    ("fitted._warm_y.starts", lambda a: a[::-1].copy(), "starts must ascend"),
    ("fitted._warm_y.starts", lambda a: a + 1, "starts must ascend"),
    ("fitted._warm_y.starts", lambda a: a[1:], "as many rows"),
]


@pytest.mark.parametrize(("place", "value", "message"), WRONG)
def test_wrong_entries(good, place, value, message):
    path, members = good
    write(path, put(members, place, value))
    refused(path, message)


SIEVE, TABLE, FOLDS = ON_ROWS[1], f"{FIRST}.choice.table", f"{FIRST}.choice.folds"
LEVELS = f"{FIRST}.choice.thresholds"
REGRESSOR, FGM, L1SVM = (ON_ROWS[at] for at in (3, 4, 8))
BAGS, _, EMBEDDING, MILES, _ = ON_BAGS
#: The same of other classes.
WRONG_OF = [
    (SIEVE, f"{TABLE}.params.0", {"budget": 1}, "each with .'C', 'final_model', 'selection'.*"),
    (SIEVE, f"{TABLE}.params.0.final_model", 1.0, "must name selection and final_model"),
    (SIEVE, f"{TABLE}.params.0.selection", None, "must name selection and final_model"),
    (SIEVE, f"{TABLE}.params.0.C", [1.0], "neither numbers nor strings"),
    (SIEVE, f"{TABLE}.params.17", ..., r"has the shape \(18,\); it must be \(17,\)"),
    (SIEVE, f"{TABLE}.params.0.n_rounds", 2, "each with"),
    (SIEVE, f"{TABLE}.params.0.n_features_to_select", "2", "one number of columns"),
    (SIEVE, f"{TABLE}.mean_test_score", np.zeros(3), "mean_test_score has the shape"),
    (SIEVE, f"{TABLE}.rank_test_score", np.array(["a"] * 18), "score has the dtype"),
    (SIEVE, f"{FIRST}.choice.row", 18, "row must be a number from 0 to 17"),
    (SIEVE, f"{FIRST}.choice.row", -1, "row must be a number from 0 to 17"),
    (SIEVE, f"{FIRST}.choice.smaller.0.choice.row", 99, "row must be a number from 0 to 17"),
    (SIEVE, f"{FIRST}.choice.smaller.0.choice.table", {}, "surplus entries: table"),
    (SIEVE, f"{FIRST}.choice.smaller.0.weights", np.zeros(9), r"smaller\.0\.weights has the shape"),
    (SIEVE, f"{FIRST}.choice.smaller.0.columns", np.array([12]), NO_COLUMNS),
    (SIEVE, f"{FOLDS}.n_folds", 0, "n_folds must be a number from 1"),
    (SIEVE, f"{FOLDS}.n_folds", 1, "of numbers from 1 to 1"),
    (SIEVE, f"{FOLDS}.rows", np.array([0, -1]), "rows holds a number that is not a row"),
    (SIEVE, f"{FOLDS}.rows", np.array([0, 18]), "rows holds a number that is not a row"),
    (SIEVE, f"{FOLDS}.rows", np.array([0]), r"counts\.shape must be \[1, 12\]"),
    (SIEVE, f"{LEVELS}.thresholds", lambda a: a[::-1].copy(), "thresholds must be descending"),
    (SIEVE, f"{LEVELS}.thresholds", lambda a: a * np.nan, "thresholds holds NaN"),
    (SIEVE, f"{LEVELS}.n_hits", lambda a: a[1:], "n_hits has the shape"),
    (SIEVE, f"{LEVELS}.n_hits", lambda a: a + 1.0, "n_hits must rise from 0"),
    (SIEVE, f"{LEVELS}.n_hits", lambda a: a * 0.0, "n_hits must rise from 0"),
    (SIEVE, f"{LEVELS}.n_false_alarms", lambda a: -a, "n_false_alarms must rise from 0"),
    (SIEVE, f"{FIRST}.goal", {"accuracy": 0.9}, "goal must have the entries of one of"),
    (SIEVE, f"{FIRST}.goal", {"cost_of_miss": 1.0}, "goal must have the entries of one of"),
    (SIEVE, f"{FIRST}.goal", {"recall": 0.9, "precision": 0.9}, "goal must have the entries"),
    (SIEVE, f"{FIRST}.goal", {"recall": INF}, "goal.recall must be a number from 0"),
    (SIEVE, f"{FIRST}.goal", {"recall": "0.9"}, "goal.recall must be float"),
    (SIEVE, f"{FIRST}.certificate", {}, "must be null: such a model has no certificate"),
    (ON_ROWS[2], "fitted.problem_.loss.loss", "hinge", "surplus entries: delta"),
    (ON_ROWS[2], "fitted.measure_", {"measure": "f1"}, "surplus entries: measure_"),
    (REGRESSOR, "parameters.loss", {"loss": "os.system"}, "unknown loss"),
    (REGRESSOR, "parameters.loss", {"loss": "huber"}, "loss.epsilon is missing"),
    (REGRESSOR, "parameters.loss", {"loss": "huber", "epsilon": "1"}, "epsilon must be float"),
    (REGRESSOR, "parameters.loss", {"loss": "huber", "epsilon": -1.0}, "a positive number"),
    (REGRESSOR, "parameters.loss", {"loss": "squared", "name_or_loss": 1.0}, "surplus entries"),
    (REGRESSOR, "fitted.offset_", INF, "offset_ must be a number"),
    (REGRESSOR, f"{FIRST}.certificate.dual_point.slopes", np.full(60, np.nan), "slopes holds NaN"),
    (FGM, "output", "excel", "output must be one of"),
    (L1SVM, "fitted.path_.0", np.zeros((2, 3)), r"path_\.0 has the shape"),
    (BAGS, "output", "pandas", "output must be NoneType"),
    (BAGS, "fitted.embedding_.part", "estimators", "part is 'estimators': no part of that name"),
    (BAGS, "fitted.embedding_.class", "BagMeasureSVC", r"must be one of \['MILESEmbedding'\]"),
    (BAGS, "fitted.embedding_.fitted.n_columns_in_", 4, "prototypes_ has the shape"),
    (BAGS, "fitted.embedding_.fitted.prototypes_", np.full((60, 3), np.inf), "NaN or infinity"),
    (BAGS, "fitted.origins_", np.zeros((1, 2), dtype=int), "origins_ has the shape"),
    (BAGS, "fitted.origins_", lambda a: -a - 1, "origins_ must be indices of bags"),
    (BAGS, f"{FIRST}.columns", lambda a: a + 60, NO_COLUMNS),
    (EMBEDDING, "fitted.prototype_indices_", np.arange(20)[::-1], "must be distinct sorted"),
]


@pytest.mark.parametrize(("estimator", "place", "value", "message"), WRONG_OF)
def test_wrong_entries_of_other_classes(path, estimator, place, value, message):
    fitted(case_name(estimator))[0].save(path, with_certificate=True)
    write(path, put(members_of(path), place, value))
    refused(path, message)


def test_nulls_where_other_models_have_them(path, good_members):
    fitted(case_name(SIEVE))[0].save(path)
    cases = [
        (members_of(path), f"{FIRST}.choice", None, "choice must be an object, not None"),
        (good_members, f"{FIRST}.certificate", None, "certificate must be an object, not None"),
        (good_members, "fitted.problem_", None, "problem_ must be an object, not None"),
        (good_members, "fitted.models_.2", ..., "models_ has 2 items; it must be 3"),
        (good_members, "fitted._warm_y", None, "_warm_weights needs the labels"),
    ]
    for members, place, value, message in cases:
        kept = {name: part for name, part in members.items() if not name.startswith(place)}
        write(path, put(kept, place, value))
        refused(path, message)


def test_parts_of_the_package_are_imported_and_nothing_else_is(good):
    """``cli`` and ``demo`` are parts of the package that define no models."""
    path, members = good
    parts = ["os", "..", "__main__", "cli", "demo", "scoresieve", "numpy.testing", "antigravity"]
    paths = []
    for number, part in enumerate(parts):
        paths.append(str(path.with_name(f"{number}")))
        write(paths[-1], put(members, "part", part))
    rival = str(path.with_name("rival"))
    fitted(case_name(FGM))[0].save(rival)
    code = f"""
import sys, scoresieve
scoresieve.load({str(path)!r})
known = set(sys.modules)
for path in {paths}:
    try:
        scoresieve.load(path)
    except ValueError as error:
        print(error)
new = set(sys.modules) - known
assert {{name.partition(".")[0] for name in new}} <= {{"scoresieve"}}, new
assert "scoresieve.baselines" not in sys.modules
print(type(scoresieve.load({rival!r})).__module__)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *lines, last = ran.stdout.splitlines()
    for part, line in zip(parts, lines, strict=True):
        assert f"model.part is {part!r}: no part of that name defines such models." in line
    assert last == "scoresieve.baselines.fgm"


@pytest.mark.parametrize("is_sparse", [False, True])
def test_weights_that_memory_cannot_take(path, is_sparse):
    """Dense ones are refused before there is memory for them; sparse ones take next to none."""
    model, X, _ = fitted("plain")
    expected = model.predict(X)
    if is_sparse:
        model.sparsify()
    model.save(path, with_certificate=True)
    members = members_of(path)
    write(path, put(members, "fitted.n_features_in_", 2**40))
    tracemalloc.start()
    if is_sparse:
        assert load(path).coef_.shape == (1, 2**40)
    else:
        refused(path, f"{2**43} bytes, more than max_bytes={2**30}")
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
    write(path, members)
    for read in (load, MeasureSVC.load):
        np.testing.assert_array_equal(read(path, max_bytes=12 * 8).predict(X), expected)
        if is_sparse:
            np.testing.assert_array_equal(read(path, max_bytes=1).predict(X), expected)
            continue
        with pytest.raises(ValueError, match="Raise max_bytes, or save after sparsify"):
            read(path, max_bytes=12 * 8 - 1)
