"""The smooth loss that stands in for a risk with kinks, and the rows that are merged for it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import as_design
from scoresieve.losses import get_loss
from scoresieve.risks import LossRisk
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.splicing.merged import merge_equal_rows
from scoresieve.solvers.splicing.newton import newton_fit
from scoresieve.solvers.splicing.ramps import Ramp, RampLoss
from scoresieve.solvers.splicing.refits import Refitter
from scoresieve.solvers.splicing.stand_in import ramp_of, stand_in

LOSS = RampLoss(
    Ramp.of_steps(np.array([1.0, 0.2, 0.2, -0.5]), 0.5), Ramp.of_steps(np.array([0.3, 0.3]), 0.4)
)


def labels_and_scores(n_samples=400):
    rng = np.random.default_rng(0)
    return np.where(rng.random(n_samples) < 0.5, 1.0, -1.0), 2.0 * rng.normal(size=n_samples)


def test_a_ramp_is_a_mean_of_rounded_hinges():
    y, scores = labels_and_scores()
    steps, positive = np.array([1.0, 0.2, 0.2, -0.5]), y > 0
    left = np.clip(steps[:, None] + 0.25 - scores[positive], 0.0, None)
    rounded = np.where(left < 0.5, left**2, left - 0.25)
    assert_allclose(LOSS.value(y, scores)[positive], rounded.mean(axis=0), atol=1e-12)


def test_slopes_and_curvatures_are_those_of_the_values():
    y, scores = labels_and_scores()
    h = 1e-6
    rise = (LOSS.value(y, scores + h) - LOSS.value(y, scores - h)) / (2 * h)
    assert_allclose(LOSS.derivative(y, scores), rise, atol=1e-6)
    bend = (LOSS.derivative(y, scores + h) - LOSS.derivative(y, scores - h)) / (2 * h)
    assert_allclose(LOSS.curvature(y, scores), bend, atol=1e-6)
    assert np.max(LOSS.curvature(y, scores)) <= LOSS.curvature_bound


def test_the_conjugate_is_one():
    """Fenchel and Young: equality at the slope of the scores, an inequality elsewhere."""
    y, scores = labels_and_scores()
    slopes = LOSS.derivative(y, scores)
    low, high = LOSS.slope_range(y)
    assert np.all((slopes >= low) & (slopes <= high))
    both = LOSS.value(y, scores) + LOSS.conjugate(y, slopes)
    assert_allclose(both, slopes * scores, atol=1e-12)
    others = low + np.random.default_rng(1).random(y.size)
    assert np.all(LOSS.value(y, scores) + LOSS.conjugate(y, others) >= others * scores - 1e-12)
    assert np.all(np.isinf(LOSS.conjugate(y, high + 0.1)))
    assert_allclose(LOSS.derivative(y, LOSS.conjugate_derivative(y, others)), others, atol=1e-9)
    assert np.all(LOSS.conjugate_curvature(y, others) > 0.0)


def test_a_ramp_has_the_same_sum_of_shares():
    """Also where most rows have one margin."""
    rng = np.random.default_rng(2)
    margins = np.append(rng.normal(size=50), np.full(500, 0.7))
    shares = np.where(margins < 0.7, np.clip(0.9 - margins, 0.0, 1.0), 0.02)
    weights = rng.uniform(0.5, 2.0, margins.size)
    ramp = ramp_of(margins, shares, weights)
    assert_allclose(-weights @ ramp.slope(margins), weights @ shares, rtol=1e-3)


def small(kind, **arguments):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 6))
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=60) > 0.8, 1.0, -1.0)
    return Refitter(make_problem(X, y, budget=2, C=1.0, **kind, **arguments), Limits(1e-3, 500))


@pytest.mark.parametrize(
    "kind", [{"loss": "hinge"}, {"measure": "f1", "price": 0.5}, {"measure": "prbep"}], ids=str
)
def test_near_the_fit_it_falls_as_the_risk_does(kind):
    refitter = small(kind, intercept_scaling=1.0)
    fit = refitter.refit(np.array([0, 1]))
    smooth = stand_in(refitter, fit)
    C, risk = refitter.problem.C, refitter.problem.risk
    v = smooth.vector(smooth.slopes(refitter.scores(fit)), C)
    for side in (risk.y > 0, risk.y < 0):
        assert_allclose(np.sum(v[side]), np.sum(fit.v[side]), rtol=1e-3)
    again = refitter.with_risk(smooth).refit(fit.units, None)
    agree = again.w @ fit.w / np.linalg.norm(again.w) / np.linalg.norm(fit.w)
    assert agree > 0.95


def test_rankings_have_none():
    refitter = small({"measure": "roc_auc"})
    assert stand_in(refitter, refitter.refit(np.array([0, 1]))) is None


def sparse_block():
    """Most rows have nothing but the constant."""
    rng = np.random.default_rng(4)
    X = sp.random_array((200, 5), density=0.03, rng=rng, format="csc")
    y = np.where(rng.random(200) < 0.3, 1.0, -1.0)
    return as_design(X, constant=1.0).columns(np.array([5, 0, 1, 2, 3, 4])), y, rng


@pytest.mark.parametrize("is_weighted", [False, True])
def test_merged_rows_give_the_same_model(is_weighted):
    block, y, rng = sparse_block()
    risk = LossRisk(get_loss("squared_hinge"), y, rng.random(200) if is_weighted else None)
    few = merge_equal_rows(block, risk)
    assert few.risk.y.size < 60
    assert_array_equal(few.risk.y[few.places], y)
    w = rng.normal(size=6)
    assert_allclose(few.block.scores(w)[few.places], block.scores(w), atol=1e-12)
    assert few.risk.value(few.block.scores(w)) == pytest.approx(risk.value(block.scores(w)))
    fits = [
        newton_fit(part, its, 2.0, np.zeros(6), tol=1e-10)
        for part, its in ((block, risk), (few.block, few.risk))
    ]
    assert_allclose(fits[1].w, fits[0].w, atol=1e-5)


def test_nothing_is_merged_where_rows_differ():
    block, y, _ = sparse_block()
    targets = LossRisk(get_loss("squared"), y)
    assert merge_equal_rows(block, targets).block is block
    full = as_design(sp.csc_array(np.arange(1.0, 201.0)[:, None])).columns(np.array([0]))
    assert merge_equal_rows(full, LossRisk(get_loss("logistic"), y)).block is full
