"""The smooth surrogate of a risk with kinks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.subset.refits import Refitter
from scoresieve.solvers.subset.surrogate import Ramp, RampLoss, ramp_of, surrogate_near

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
    smooth = surrogate_near(refitter, fit)
    C, risk = refitter.problem.C, refitter.problem.risk
    v = smooth.vector(smooth.slopes(refitter.scores(fit)), C)
    for side in (risk.y > 0, risk.y < 0):
        assert_allclose(np.sum(v[side]), np.sum(fit.v[side]), rtol=1e-3)
    again = refitter.with_risk(smooth).refit(fit.units, None)
    agree = again.w @ fit.w / np.linalg.norm(again.w) / np.linalg.norm(fit.w)
    assert agree > 0.95


def test_rankings_have_none():
    refitter = small({"measure": "roc_auc"})
    assert surrogate_near(refitter, refitter.refit(np.array([0, 1]))) is None
