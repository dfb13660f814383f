"""``certify_loss``: the bounds written out again, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scoresieve import certify, solve
from scoresieve.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    Squared,
    SquaredHinge,
)
from scoresieve.risks import Slopes

#: Losses and conjugates at (y, s) and (y, u), written out one example at a time.
FORMULAS = {
    Hinge(): (lambda y, s: max(0, 1 - y * s), lambda y, u: y * u),
    SquaredHinge(): (lambda y, s: max(0, 1 - y * s) ** 2, lambda y, u: y * u + u * u / 4),
    Logistic(): (
        lambda y, s: np.log(1 + np.exp(-y * s)),
        lambda y, u: -y * u * np.log(-y * u) + (1 + y * u) * np.log(1 + y * u),
    ),
    HuberHinge(0.5): (
        lambda y, s: max(0, 1 - y * s) ** 2 if y * s > 0.5 else 0.75 - y * s,
        lambda y, u: y * u + u * u / 4,
    ),
    Squared(): (lambda y, s: (y - s) ** 2 / 2, lambda y, u: u * u / 2 + u * y),
    EpsilonInsensitive(0.3): (
        lambda y, s: max(0, abs(y - s) - 0.3),
        lambda y, u: 0.3 * abs(u) + u * y,
    ),
    Huber(0.5): (
        lambda y, s: (y - s) ** 2 / 2 if abs(y - s) <= 0.5 else 0.5 * abs(y - s) - 0.125,
        lambda y, u: u * u / 2 + u * y,
    ),
}
every_loss = pytest.mark.parametrize("loss", FORMULAS, ids=repr)


def make(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 10))
    y = X[:, 0] + X[:, 1] + rng.normal(size=30)
    return X, (y if loss.task == "regression" else np.sign(y)), rng.random(30)


@every_loss
def test_bounds_are_recomputed_from_the_data(loss, columns, brute):
    X, y, weights = make(loss)
    arguments = {"loss": loss, "budget": 2, "C": 1.5, "sample_weight": weights, **columns}
    result = solve(X, y, tol=0.05, **arguments)
    check = certify(X, y, result.w, result.dual_point, intercept=result.intercept, **arguments)
    sets = {
        "always": list(columns.get("always", [])),
        "excluded": columns.get("excluded", []),
        "groups": columns.get("feature_groups"),
    }
    w, value = result.w, columns.get("intercept", 0.0)
    if value:
        sets["always"].append(10)
        X, w = np.column_stack([X, np.full(30, value)]), np.append(w, result.intercept / value)
        groups = sets["groups"]
        sets["groups"] = None if groups is None else [*groups, max(groups) + 1]
    function, conjugate = FORMULAS[loss]
    losses = [function(a, b) for a, b in zip(y, X @ w, strict=True)]
    primal = 0.5 * brute.norm_squared(w, 2, **sets) + 1.5 * weights @ losses
    u = result.dual_point.slopes
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.nan_to_num([-conjugate(a, b) for a, b in zip(y, u, strict=True)], nan=0.0)
    correlations = X.T @ (-1.5 * weights * u)
    dual = 1.5 * weights @ gains - 0.5 * brute.dual_norm_squared(correlations, 2, **sets)
    assert check.primal == pytest.approx(primal, rel=1e-9)
    assert check.dual == pytest.approx(dual, rel=1e-9)
    assert check.gap == pytest.approx((primal - dual) / primal, rel=1e-6)
    assert (result.primal, result.dual) == pytest.approx((check.primal, check.dual), rel=1e-9)
    assert check.gap <= 0.05


@every_loss
def test_any_slopes_and_weights_bound_the_optimum(loss):
    X, y, _ = make(loss)
    optimum = solve(X, y, loss=loss, budget=3, C=1.0, tol=1e-4)
    rng = np.random.default_rng(1)
    low, high = loss.slope_range(y)
    for _ in range(20):
        slopes = np.clip(rng.normal(size=30), low, high)
        point = Slopes(rng.random() * slopes)
        check = certify(X, y, rng.normal(size=10), point, loss=loss, budget=3, C=1.0)
        assert check.dual <= optimum.primal
        assert check.primal >= optimum.dual


class TestRefusals:
    @pytest.fixture
    def good(self):
        X, y, _ = make(Logistic())
        return X, y, solve(X, y, loss="logistic", budget=3, C=1.0)

    def certify(self, good, slopes=None, w=None, **changes):
        X, y, result = good
        point = result.dual_point if slopes is None else Slopes(slopes)
        arguments = {"loss": "logistic", "budget": 3, "C": 1.0} | changes
        return certify(X, y, result.w if w is None else w, point, **arguments)

    def test_the_good_one_passes(self, good):
        assert self.certify(good).gap <= 0.01

    def test_rounding_is_forgiven(self, good):
        y = good[1]
        assert self.certify(good, slopes=-y * (1 + 1e-12)).dual > -np.inf
        with pytest.raises(ValueError, match=r"slopes\[0\] is .* between"):
            self.certify(good, slopes=-y * 1.001)

    @pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
    def test_slopes_that_are_no_numbers(self, good, wrong):
        slopes = good[2].dual_point.slopes.copy()
        slopes[4] = wrong
        with pytest.raises(ValueError, match=r"dual_point.slopes\[4\]"):
            self.certify(good, slopes=slopes)
        X, y, _ = make(Squared())
        with pytest.raises(ValueError, match=r"dual_point.slopes\[4\]"):
            self.certify((X, y, good[2]), slopes=slopes, loss="squared")

    def test_slopes_of_another_sign_or_length(self, good):
        with pytest.raises(ValueError, match="slopes of the logistic loss there lie between"):
            self.certify(good, slopes=-good[2].dual_point.slopes)
        with pytest.raises(ValueError, match=r"shape \(29,\); there are 30 rows"):
            self.certify(good, slopes=good[2].dual_point.slopes[:-1])

    def test_weights_of_another_length(self, good):
        with pytest.raises(ValueError, match=r"w has shape \(9,\); X has 10 columns"):
            self.certify(good, w=good[2].w[:9])

    def test_weight_on_an_excluded_column_is_infinitely_bad(self, good):
        assert self.certify(good, w=np.ones(10), excluded_features=[3]).primal == np.inf

    def test_a_dual_point_of_another_result_still_bounds(self, good):
        X, y, result = good
        other = replace(result, dual_point=Slopes(np.zeros(30)))
        check = certify(X, y, other.w, other.dual_point, loss="logistic", budget=3, C=1.0)
        assert (check.dual, check.gap) == (0.0, 1.0)
