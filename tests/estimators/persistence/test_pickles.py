"""Pickles, joblib, copies and skops: the same bits, as plain data."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

DOCS = Path(__file__).resolve().parents[3] / "docs" / "persistence.md"


def test_pickle_joblib_deepcopy_and_clone(fitted, path, case, same, same_answers):
    model, X, y = fitted(case)
    copies = [pickle.loads(pickle.dumps(model, 5))]
    if case != "big-endian":  # which joblib and older protocols make native
        copies += [pickle.loads(pickle.dumps(model, protocol)) for protocol in (0, 2, 4)]
        joblib.dump(model, path)
        copies.append(joblib.load(path))
    for found in (*copies, copy.deepcopy(model), copy.copy(model)):
        same(found, model)
    same_answers(copies[-1], model, X, y)
    same(clone(copies[0]), clone(model))
    unfitted = clone(model)
    same(pickle.loads(pickle.dumps(unfitted)), unfitted)


def test_a_deep_copy_shares_nothing(fitted):
    model, _, _ = fitted("plain")
    found = copy.deepcopy(model)
    found.coef_[:], found._dual_points[0].alpha[:], found.classes_[:] = 7.0, 7.0, "x"
    assert not np.any(model.coef_ == 7.0)
    assert not np.any(model._dual_points[0].alpha == 7.0)
    assert_array_equal(model.classes_, ["no", "yes"])


def trusted_types():
    """The list in the documentation, which is the only one."""
    text = DOCS.read_text(encoding="utf-8")
    return re.search(r"<!-- trusted types -->\n```text\n(.*?)```", text, re.DOTALL)[1].split()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_skops_needs_the_documented_types(fitted, named_case, same_answers):
    sio = pytest.importorskip("skops.io")
    model, X, y = fitted(named_case)
    data = sio.dumps(model)
    assert sio.get_untrusted_types(data=data) == trusted_types()
    found = sio.loads(data, trusted=trusted_types())
    same_answers(found, model, X, y)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_skops_with_a_measure_object(fitted, same_answers):
    sio = pytest.importorskip("skops.io")
    model, X, y = fitted("measure")
    data = sio.dumps(model)
    measure = type(model.measure)
    own = [*trusted_types(), f"{measure.__module__}.{measure.__qualname__}"]
    assert sio.get_untrusted_types(data=data) == sorted(own)
    same_answers(sio.loads(data, trusted=own), model, X, y)
