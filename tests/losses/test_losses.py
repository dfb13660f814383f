"""Losses: numerical derivatives, conjugates by search, Fenchel and Young, and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import expit, huber
from sklearn.metrics import hinge_loss, log_loss, mean_squared_error

from scoresieve.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    Squared,
    SquaredHinge,
    get_loss,
    known_losses,
)
from tests.helpers import LOSSES

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
smooth_losses = pytest.mark.parametrize("loss", [x for x in LOSSES if x.is_smooth], ids=repr)
quick = settings(derandomize=True, deadline=None, database=None, max_examples=60)
numbers = st.floats(-20, 20, allow_nan=False)


def targets(loss, y):
    """Labels for classification, the numbers themselves for regression."""
    y = np.atleast_1d(np.asarray(y, dtype=float))
    return np.where(y > 0, 1.0, -1.0) if loss.task == "classification" else y


def kinks(loss, y):
    """Scores at which the derivative, or for smooth losses the curvature, jumps."""
    if loss.task == "classification":
        places = {"hinge": [1.0], "squared_hinge": [1.0], "logistic": []}.get(loss.name)
        margins = [1.0, 1.0 - loss.delta] if places is None else places
        return [y * m for m in margins]
    epsilon = getattr(loss, "epsilon", None)
    return [] if epsilon is None else [y - epsilon, y + epsilon]


def away_from_kinks(loss, y, scores, distance):
    keep = np.ones(scores.size, dtype=bool)
    for kink in kinks(loss, y):
        keep &= np.abs(scores - kink) > distance
    return keep


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    return rng.normal(size=400), 3.0 * rng.normal(size=400)


@every_loss
def test_derivative_is_that_of_the_value(loss, sample):
    y, scores = targets(loss, sample[0]), sample[1]
    keep, h = away_from_kinks(loss, y, scores, 1e-3), 1e-5
    assert keep.sum() > 300
    numerical = (loss.value(y, scores + h) - loss.value(y, scores - h)) / (2 * h)
    assert_allclose(loss.derivative(y, scores)[keep], numerical[keep], atol=1e-8, rtol=1e-8)


@every_loss
def test_curvature_is_the_derivative_of_the_derivative(loss, sample):
    y, scores = targets(loss, sample[0]), sample[1]
    keep, h = away_from_kinks(loss, y, scores, 1e-3), 1e-5
    numerical = (loss.derivative(y, scores + h) - loss.derivative(y, scores - h)) / (2 * h)
    curvature = loss.curvature(y, scores)
    assert_allclose(curvature[keep], numerical[keep], atol=1e-8, rtol=1e-8)
    assert np.all((curvature >= 0) & (curvature <= loss.curvature_bound))


@smooth_losses
def test_curvature_bound_is_reached(loss):
    y, scores = targets(loss, np.ones(100_001)), np.linspace(-3, 3, 100_001)
    assert loss.curvature(y, scores).max() == pytest.approx(loss.curvature_bound, rel=1e-6)


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive()], ids=repr)
def test_losses_that_are_not_smooth_say_so(loss):
    assert not loss.is_smooth
    assert loss.curvature_bound == np.inf


@every_loss
@quick
@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=20))
def test_fenchel_and_young(loss, triples):
    y, scores, slopes = np.array(triples).T
    y = targets(loss, y)
    slopes = np.clip(slopes, *loss.slope_range(y))
    slack = loss.value(y, scores) + loss.conjugate(y, slopes) - slopes * scores
    assert np.all(slack >= -1e-10 * (1 + np.abs(slopes * scores)))
    at_scores = loss.derivative(y, scores)
    slack = loss.value(y, scores) + loss.conjugate(y, at_scores) - at_scores * scores
    assert_allclose(slack, 0.0, atol=1e-10 * (1 + np.max(np.abs(at_scores * scores))))


@every_loss
@pytest.mark.parametrize("share", [-0.9, -0.5, -0.1, 0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("label", [1.3, -0.4])
def test_conjugate_is_the_supremum(loss, share, label):
    """``sup_s u s - l(y, s)`` by a bounded search; at most 8 stands in for an infinite slope."""
    y = targets(loss, label)
    low, high = loss.slope_range(y)
    slope = share * (min(high[0], 8.0) if share > 0 else min(-low[0], 8.0))
    if not low[0] <= slope <= high[0]:
        assert loss.conjugate(y, np.array([slope]))[0] == np.inf
        return
    found = minimize_scalar(
        lambda s: loss.value(y, np.array([s]))[0] - slope * s,
        bounds=(-30, 30),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert loss.conjugate(y, np.array([slope]))[0] == pytest.approx(-found.fun, abs=1e-7)


@every_loss
def test_conjugate_is_infinite_outside_the_range_of_slopes(loss):
    y = targets(loss, [2.0, -2.0])
    for bound, sign in zip(loss.slope_range(y), (-1.0, 1.0), strict=True):
        outside = np.where(np.isfinite(bound), bound + sign * 1e-6, 0.0)
        expected = np.where(np.isfinite(bound), np.inf, loss.conjugate(y, np.zeros(2)))
        assert_array_equal(loss.conjugate(y, outside), expected)
        inside = np.where(np.isfinite(bound), bound, 0.0)
        assert np.all(np.isfinite(loss.conjugate(y, inside)))


@smooth_losses
def test_conjugate_derivative_is_a_score_with_that_slope(loss, sample):
    y, scores = targets(loss, sample[0]), sample[1]
    slopes = loss.derivative(y, scores)
    low, high = loss.slope_range(y)
    inside = (slopes > low) & (slopes < high)
    assert inside.sum() > 10
    again = loss.conjugate_derivative(y, slopes)
    assert_allclose(loss.derivative(y, again)[inside], slopes[inside], atol=1e-12)
    assert_allclose(again[inside], scores[inside], atol=1e-8)


@every_loss
def test_conjugate_derivatives_are_those_of_the_conjugate(loss):
    y = targets(loss, [1.5, -0.5])
    low, high = loss.slope_range(y)
    for share in (0.2, 0.7):
        slopes = (1 - share) * np.maximum(low, -3.0) + share * np.minimum(high, 3.0)
        h = 1e-6
        before, here, after = (loss.conjugate(y, slopes + k * h) for k in (-1, 0, 1))
        assert np.all(np.isfinite([before, here, after]))
        numerical = (after - before) / (2 * h)
        assert_allclose(loss.conjugate_derivative(y, slopes), numerical, atol=1e-7)
        slopes_around = (loss.conjugate_derivative(y, slopes + k * h) for k in (-1, 1))
        bent = np.subtract(*reversed(list(slopes_around))) / (2 * h)
        assert_allclose(loss.conjugate_curvature(y, slopes), bent, rtol=1e-6, atol=1e-9)


@every_loss
def test_largest_multiple_reaches_the_range(loss, sample):
    y = targets(loss, sample[0])
    slopes = 0.25 * loss.derivative(y, sample[1])
    multiple = loss.largest_multiple(y, slopes)
    low, high = loss.slope_range(y)
    if np.isinf(multiple):
        assert np.all(np.isinf(np.where(slopes > 0, high, low)[slopes != 0]))
        return
    stretched = multiple * slopes
    assert np.all((stretched >= low - 1e-12) & (stretched <= high + 1e-12))
    assert np.any((stretched < low + 1e-12) | (stretched > high - 1e-12) & (slopes != 0))
    assert loss.largest_multiple(y, np.zeros_like(y)) == np.inf


@every_loss
@pytest.mark.parametrize("size", [1e3, 1e8, 1e100])
def test_scores_of_any_size(loss, size):
    y = targets(loss, [1.0, -1.0, 1.0, -1.0])
    scores = np.array([size, size, -size, -size])
    for method in (loss.value, loss.derivative, loss.curvature):
        assert np.all(np.isfinite(method(y, scores)))
    low, high = loss.slope_range(y)
    slopes = loss.derivative(y, scores)
    assert np.all((slopes >= low) & (slopes <= high))
    assert np.all(loss.conjugate(y, slopes) < np.inf)


def test_logistic_keeps_its_digits_in_the_tails():
    one = np.ones(1)
    assert Logistic().value(one, 700 * one)[0] == pytest.approx(np.exp(-700.0), rel=1e-12)
    assert Logistic().value(one, -1000 * one)[0] == 1000.0
    assert Logistic().derivative(one, 700 * one)[0] == pytest.approx(-np.exp(-700.0), rel=1e-12)
    assert Logistic().curvature(one, 700 * one)[0] == pytest.approx(np.exp(-700.0), rel=1e-12)
    assert_array_equal(Logistic().conjugate(one, np.zeros(1)), [0.0])
    assert_array_equal(Logistic().conjugate(one, -one), [0.0])


#: Losses as others have them: of a margin, or of a residual.
PEERS = [
    (Hinge(), lambda m: np.maximum(0.0, 1.0 - m)),
    (SquaredHinge(), lambda m: np.maximum(0.0, 1.0 - m) ** 2),
    (Logistic(), lambda m: np.log(1.0 + np.exp(-m))),
    # A quarter of scikit-learn's modified Huber loss.
    (
        HuberHinge(delta=2.0),
        lambda m: np.where(m >= -1, np.maximum(0.0, 1.0 - m) ** 2, -4.0 * m) / 4,
    ),
    (Squared(), lambda r: 0.5 * r**2),
    (Huber(0.7), lambda r: huber(0.7, r)),
    (Huber(1e6), lambda r: 0.5 * r**2),
    (EpsilonInsensitive(0.25), lambda r: np.maximum(0.0, np.abs(r) - 0.25)),
]


@pytest.mark.parametrize(("loss", "peer"), PEERS)
def test_values_are_those_of_others(sample, loss, peer):
    y, scores = targets(loss, sample[0]), sample[1]
    residuals = y * scores if loss.task == "classification" else y - scores
    assert_allclose(loss.value(y, scores), peer(residuals), atol=1e-12)


def test_means_are_those_of_scikit_learn(sample):
    y, scores = np.sign(sample[0]), sample[1]
    assert Hinge().value(y, scores).mean() == pytest.approx(hinge_loss(y, scores))
    assert Logistic().value(y, scores).mean() == pytest.approx(log_loss(y, expit(scores)))
    expected = 0.5 * mean_squared_error(y, scores)
    assert Squared().value(y, scores).mean() == pytest.approx(expected)


@pytest.mark.parametrize("delta", [1.0, 1e-3, 1e-9])
def test_huber_hinge_tends_to_the_hinge(sample, delta):
    y, scores = np.sign(sample[0]), sample[1]
    difference = Hinge().value(y, scores) - HuberHinge(delta).value(y, scores)
    assert np.all((difference >= -1e-15) & (difference <= 0.5 * delta + 1e-15))


class TestRegistry:
    def test_every_name_gives_its_loss(self):
        assert set(known_losses()) == {loss.name for loss in LOSSES}
        for name in known_losses():
            assert get_loss(name).name == name
        for loss in LOSSES:
            assert get_loss(loss) is loss

    def test_names_by_task(self):
        of_margins = ["hinge", "squared_hinge", "logistic", "huber_hinge"]
        assert known_losses("classification") == of_margins
        assert known_losses("regression") == ["squared", "epsilon_insensitive", "huber"]

    def test_settings(self):
        assert get_loss("huber", epsilon=0.5) == Huber(0.5) != Huber()
        assert hash(get_loss("huber_hinge", delta=2)) == hash(HuberHinge(2.0))

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (
                lambda: get_loss("hinges"),
                ValueError,
                r"unknown loss 'hinges' .did you mean 'hinge'\?.; known are hinge, .*",
            ),
            (lambda: get_loss("hinges"), ValueError, "squared, epsilon_insensitive, huber for reg"),
            (lambda: get_loss(3), TypeError, "loss must be a name or a Loss, got int"),
            (lambda: get_loss("hinge", delta=1), ValueError, "hinge has no setting 'delta'; it"),
            (lambda: get_loss("huber", delta=1), ValueError, "its settings are epsilon"),
            (lambda: get_loss(Huber(), epsilon=1), ValueError, "cannot change Huber"),
            (lambda: Huber(0), ValueError, "epsilon must be a positive number.*got 0"),
            (lambda: Huber(np.nan), ValueError, "epsilon must be a positive number.*got nan"),
            (lambda: HuberHinge(-1), ValueError, "delta must be a positive number.*got -1"),
            (lambda: HuberHinge(1e-200), ValueError, "delta must be a positive number"),
            (lambda: HuberHinge("1"), ValueError, "delta must be a positive number.*got '1'"),
            (lambda: HuberHinge(True), ValueError, "delta must be a positive number.*got True"),
            (lambda: EpsilonInsensitive(-0.1), ValueError, "epsilon must be 0 or a positive"),
        ],
    )
    def test_refusals(self, call, error, message):
        with pytest.raises(error, match=message):
            call()


def test_logistic_conjugate_keeps_its_digits_at_slopes_near_zero():
    """``-a log(-a) + (1 + a) log(1 + a) = -a log(-a) + a + O(a^2)``, at scores of ``-log(-a)``."""
    y, slopes = np.ones(3), np.array([-1e-20, -1e-40, -1e-200])
    expected = slopes * (1.0 - np.log(-slopes))
    assert_allclose(Logistic().conjugate(y, slopes), expected, rtol=1e-12)
    assert_allclose(Logistic().conjugate_derivative(y, slopes), -np.log(-slopes), rtol=1e-12)
