"""The piece of the budget norm that is smooth near a point: derivatives, kinks, crossings."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.regularizers import BudgetNorm, NormPiece

cases = pytest.mark.parametrize(
    ("norm", "w"),
    [
        (BudgetNorm(2, 5), [3.0, 1.0, -0.7, 0.5, 0.0]),
        (BudgetNorm(1, 4), [3.0, 1.0, -0.7, 0.5]),
        (BudgetNorm(3, 5), [3.0, 0.0, -0.7, 0.0, 0.0]),
        (BudgetNorm(5, 5), [3.0, 0.0, -0.7, 0.1, 0.0]),
        (BudgetNorm(2, 5, always_features=[4]), [3.0, 1.0, -0.7, 0.5, 2.0]),
        (
            BudgetNorm(2, 6, always_features=[1], excluded_features=[0]),
            [0.0, 0.0, -0.7, 0.5, 2.0, 1.0],
        ),
        (
            BudgetNorm(2, 7, feature_groups=[0, 0, 1, 1, 2, 2, 3]),
            [3, 1, 0.4, 0.0, -0.3, 0.2, 0.1],
        ),
        (BudgetNorm(1, 5, feature_groups=[0, 0, 1, 1, 2]), [0.5, 1, 0.4, 0.2, 0.0]),
    ],
)


@cases
def test_derivatives_on_the_free_columns(norm, w):
    w = np.asarray(w, dtype=float)
    piece, h = NormPiece(norm, w), 1e-5
    assert_array_equal(piece.gradient[~piece.free], 0.0)
    for j in np.flatnonzero(piece.free):
        step = h * np.eye(w.size)[j]
        ahead, behind = (0.5 * norm.value_squared(w + s) for s in (step, -step))
        assert piece.gradient[j] == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)
        after, before = (NormPiece(norm, w + s).gradient for s in (step, -step))
        column = np.where(piece.free, (after - before) / (2 * h), 0.0)
        product = piece.hessian_times(np.eye(w.size)[j])
        assert_allclose(product, column, atol=1e-8)
        assert piece.diagonal[j] == pytest.approx(product[j])


@cases
def test_the_kink_is_as_high_as_the_threshold(norm, w):
    """A column outside costs t |w_j| to first order."""
    w = np.asarray(w, dtype=float)
    piece, h = NormPiece(norm, w), 1e-8
    outside = np.setdiff1d(np.flatnonzero(~piece.free), norm.excluded)
    for j in outside:
        ahead = 0.5 * norm.value_squared(w + h * np.eye(w.size)[j])
        slope = (ahead - 0.5 * norm.value_squared(w)) / h
        assert slope == pytest.approx(piece.threshold, abs=1e-6)


@pytest.mark.parametrize(
    ("n_units", "sets"),
    [
        (5, {}),
        (3, {"always_features": [0], "excluded_features": [4]}),
        (2, {"feature_groups": [0, 0, 1, 1, 1]}),
    ],
    ids=["single", "roles", "groups"],
)
def test_units_without_weight_are_free_where_the_budget_covers_all(n_units, sets):
    """The norm is the plain one there, also at as many units as the budget: without a kink."""
    w = np.array([3.0, -0.7, 0.0, 0.0, 0.0])
    for budget in (n_units, n_units + 1):
        norm = BudgetNorm(budget, 5, **sets)
        piece, may_change = NormPiece(norm, w), np.ones(5)
        may_change[norm.excluded] = 0.0
        assert norm.n_units == n_units
        assert_array_equal(piece.free, may_change > 0.0)
        assert_array_equal(piece.gradient, w)
        assert_array_equal(piece.diagonal, may_change)
        assert_array_equal(piece.hessian_times(np.ones(5)), may_change)
        assert piece.threshold == 0.0
    # With one unit less in the budget those without weight wait outside.
    fewer = NormPiece(BudgetNorm(n_units - 1, 5, **sets), w)
    assert not np.any(fewer.free[3:])


def test_only_units_that_cross_a_kink_are_set_to_zero():
    norm = BudgetNorm(1, 5, always_features=[4], feature_groups=[0, 0, 1, 2, 3])
    w = np.array([1.0, 1.0, 1.0, 1.0, 1.0])
    moved = np.array([-1.0, 3.0, -0.1, 0.5, -2.0])
    crossed = NormPiece(norm, w).without_crossings(w, moved)
    assert_array_equal(crossed, [-1.0, 3.0, 0.0, 0.5, -2.0])
    smooth = NormPiece(norm.with_budget(9), w).without_crossings(w, moved)
    assert_array_equal(smooth, moved)


def test_a_low_kink_is_one_and_excluded_columns_stay_at_zero():
    """A threshold below 1 counts like any other."""
    norm = BudgetNorm(1, 4, excluded_features=[3])
    w = np.array([0.3, 0.2, -0.1, 0.0])
    piece = NormPiece(norm, w)
    assert 0.0 < piece.threshold < 1.0
    moved = np.array([0.4, -0.2, -0.3, 5.0])
    assert_array_equal(piece.without_crossings(w, moved), [0.4, 0.0, -0.3, 0.0])
