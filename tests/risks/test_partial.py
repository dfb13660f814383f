"""The risk of some rows, for scores of all: the risk of a problem that has no other rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.measures import get_measure
from scoresieve.risks import MeasureRisk, PartialRisk
from scoresieve.solvers.bundle.rounds import run_bundle
from scoresieve.solvers.limits import Limits, Tracker
from scoresieve.solvers.problem import make_problem

N = 21  # no multiple of eight
RNG = np.random.default_rng(0)
Y = np.where(np.arange(N) % 3 == 0, 1.0, -1.0)
ROWS = np.array([0, 1, 2, 5, 6, 7, 9, 13, 14, 15, 18, 20])
OUT = np.setdiff1d(np.arange(N), ROWS)
WEIGHTS = RNG.uniform(0.2, 3.0, size=N)

CASES = {
    "f1": (get_measure("f1"), None),
    "mcc": (get_measure("mcc"), None),
    "accuracy": (get_measure("accuracy"), None),
    "accuracy, weighted": (get_measure("accuracy"), WEIGHTS),
    "balanced_accuracy, weighted": (get_measure("balanced_accuracy"), WEIGHTS),
    "rec@2p": (get_measure("rec@2p"), None),
    "prbep": (get_measure("prbep"), None),
    "precision@recall>=0.6": (get_measure("precision@recall>=0.6"), None),
    "roc_auc": (get_measure("roc_auc"), None),
}


@pytest.fixture(params=CASES)
def risks(request):
    """The risk of some rows, and that of a problem without the others."""
    measure, weights = CASES[request.param]
    form = {"price": 0.4, "is_tight": True}
    alone = MeasureRisk(measure, Y[ROWS], None if weights is None else weights[ROWS], **form)
    return PartialRisk(MeasureRisk(measure, Y, weights, **form), ROWS), alone


def some_scores(count=12):
    rng = np.random.default_rng(1)
    yield np.zeros(N)
    yield 20.0 * Y
    for size in rng.choice([0.1, 1.0, 5.0], size=count):
        yield size * rng.normal(size=N)


def test_values_and_cuts_are_those_of_the_rows(risks):
    partial, alone = risks
    for scores in some_scores():
        assert partial.value(scores) == alone.value(scores[ROWS])
        cut, expected = partial.cut(scores), alone.cut(scores[ROWS])
        assert cut.loss == expected.loss
        assert_array_equal(cut.delta[ROWS], expected.delta)
        assert not np.any(cut.delta[OUT])
        assert partial.cut_loss(cut.delta) == pytest.approx(cut.loss, abs=1e-12)


def test_cuts_are_below_the_risk_everywhere(risks):
    partial, _ = risks
    for here in some_scores():
        cut = partial.cut(here)
        assert cut.value(here) == pytest.approx(partial.value(here), abs=1e-9)
        for there in some_scores():
            assert cut.value(there) <= partial.value(there) + 1e-9


def test_rows_that_are_left_out_have_no_say(risks):
    partial, _ = risks
    for scores in some_scores():
        other = scores.copy()
        other[OUT] = 100.0 * np.random.default_rng(2).normal(size=OUT.size)
        assert partial.value(other) == partial.value(scores)
        assert_array_equal(partial.cut(other).delta, partial.cut(scores).delta)


def test_cuts_are_packed_without_loss(risks):
    partial, alone = risks
    cuts = [partial.cut(scores) for scores in some_scores()]
    packed = np.array([partial.pack(cut.delta) for cut in cuts])
    assert (partial.flip_values is None) == (alone.flip_values is None)
    for cut, kept in zip(cuts, packed, strict=True):
        assert_array_equal(partial.unpack(kept), cut.delta)
    alpha = np.random.default_rng(3).random(len(cuts))
    dense = sum(weight * cut.delta for weight, cut in zip(alpha, cuts, strict=True))
    assert_allclose(partial.combine(alpha, packed), dense, atol=1e-12)
    point = partial.dual_point(alpha, packed, alpha.sum())
    assert_allclose(partial.dual_vector(point, alpha.sum()), dense, atol=1e-12)
    assert not np.any(partial.dual_vector(partial.no_dual_point(), 1.0))


def test_the_contrast_is_that_of_the_rows(risks):
    partial, alone = risks
    assert_allclose(partial.contrast()[ROWS], alone.contrast())
    assert not np.any(partial.contrast()[OUT])


def test_nothing_is_certified_of_some_rows(risks):
    partial, _ = risks
    with pytest.raises(ValueError, match="some of the rows is not certified; fit all of them"):
        partial.checked_dual(partial.no_dual_point(), 1.0)


@pytest.mark.parametrize("measure", ["f1", "prbep", "accuracy"])
def test_a_fit_of_some_rows_is_the_fit_without_the_others(data, measure):
    X, y = data(0, n_samples=60, n_features=12)
    rows = np.flatnonzero(np.arange(60) % 3 != 1)
    arguments = {"measure": measure, "price": 0.6, "budget": 3, "C": 0.8, "intercept_scaling": 1.0}
    whole = make_problem(X, y, **arguments)
    alone = make_problem(X[rows], y[rows], **arguments)
    bounds = []
    for problem, risk in ((whole, PartialRisk(whole.risk, rows)), (alone, alone.risk)):
        problem = replace(problem, risk=risk)
        tracker = Tracker(Limits(1e-4, 500), risk.no_dual_point())
        run_bundle(problem, tracker, None)
        assert tracker.gap <= 1e-4
        bounds.append((tracker.dual, tracker.primal))
    (low, high), (other_low, other_high) = bounds
    assert max(low, other_low) <= min(high, other_high) * (1 + 1e-9)
