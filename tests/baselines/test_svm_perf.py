"""SVMPerf: the stored optima of SVM^perf, LinearSVC for accuracy, and the scales of C."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import solve
from scoresieve.baselines import SVMPerf

MEASURES = ("f1", "prbep", "rec@2p", "prec@p/2")
GAP = 0.01


def check(reference, data, measure, C, *, scale="linear_svc", unit=1.0):
    """At the gap g, ``dual <= primal_ref (1 + 1e-6)`` and ``primal <= primal_ref (1 + g)``."""
    X, y = reference.load(data)
    (entry,) = (
        e for e in reference.entries("svmperf", data) if (e["measure"], e["C"]) == (measure, C)
    )
    model = SVMPerf(
        measure, C=C / unit, C_scale=scale, fit_intercept=False, tol=GAP / (1 + GAP)
    ).fit(X, y)
    assert_allclose(model.C_, [C])
    assert model.dual_[0] <= entry["primal"] * (1 + 1e-6)
    assert model.primal_[0] <= entry["primal"] * (1 + GAP)
    assert 0.5 * np.sum(model.coef_**2) <= model.primal_[0]


@pytest.mark.parametrize("C", [0.3, 3.0])
@pytest.mark.parametrize("measure", MEASURES)
def test_stored_objectives_on_tiny(reference, measure, C):
    check(reference, "tiny", measure, C)


@pytest.mark.parametrize("C", [0.3, 3.0])
@pytest.mark.parametrize("measure", MEASURES)
def test_stored_objectives_on_dexter(reference, measure, C):
    check(reference, "dexter", measure, C)


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "C"), [("f1", 3.0), ("prbep", 0.3)])
def test_stored_objectives_on_dorothea(reference, measure, C):
    """More columns than elsewhere; the other optima are those of the tests of references."""
    check(reference, "dorothea", measure, C)


@pytest.mark.parametrize(("scale", "unit"), [("svmperf", 100 * 72 / 600**2), ("paper", 72 / 25)])
def test_scales_of_other_programs(reference, scale, unit):
    """72 of 600 rows are positive: the C of SVM^perf and of the paper for our C = 0.3."""
    check(reference, "tiny", "f1", 0.3, scale=scale, unit=unit)


def test_each_class_has_its_own_C_in_the_scale_of_svmperf(three_classes):
    X, y = three_classes
    model = SVMPerf(C=2.0, C_scale="svmperf", tol=0.1).fit(X, y)
    counts = np.array([np.sum(y == label) for label in model.classes_])
    assert_allclose(model.C_, 100 * counts * 2.0 / y.size**2)
    for certificate in model.certify(X, y):
        assert certificate.gap <= 0.1


def test_no_feature_is_selected_out(reference):
    X, y = reference.load("tiny")
    model = SVMPerf("f1", C=0.3, fit_intercept=False).fit(X, y)
    occurring = np.flatnonzero(np.diff(X.tocsc().indptr))
    same = {"measure": "f1", "bound": "paper", "C": 0.3, "budget": X.shape[1]}
    relaxed = solve(X, y, tol=0.01, **same)
    assert np.isin(model.support_, occurring).all()
    assert model.n_features_selected_ > 0.95 * occurring.size
    assert model.n_features_selected_ > relaxed.support.size
    assert max(model.dual_[0], relaxed.dual) <= min(model.primal_[0], relaxed.primal)


def test_every_measure_is_certified(data, measure):
    X, y = data(1, n_samples=24)
    model = SVMPerf(measure, C=0.5).fit(X, y)
    assert model.certify(X, y).gap <= 0.01


def test_identical_inputs_give_identical_bits(data):
    X, y = data(2)
    assert_array_equal(SVMPerf().fit(X, y).coef_, SVMPerf().fit(X.copy(), y).coef_)
