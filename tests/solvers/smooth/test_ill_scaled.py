"""Smooth losses with columns that are many orders apart."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve import solve
from scoresieve.losses import get_loss

SMOOTH = ("squared_hinge", "logistic", "huber_hinge", "squared", "huber")


def small_problem(loss, seed=0, n=12, m=7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    targets = X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=n)
    if get_loss(loss).task == "classification":
        targets = np.where(targets > 0, 1.0, -1.0)
    return X, targets


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("groups", [None, [0, 0, 1, 2, 1, 3, 3]], ids=["single", "groups"])
@pytest.mark.parametrize("seed", range(4))
def test_one_entry_of_1e12_leaves_the_certificate_whole(loss, groups, seed):
    """As an identifier or a time in a table has it: its square is lost beside the others."""
    X, y = small_problem(loss, seed, n=8)
    X[2, 0] *= 1e12
    result = solve(
        X, y, loss=loss, budget=2, C=1.0, tol=1e-3, intercept_scaling=1.0, feature_groups=groups
    )
    assert result.status.name == "CONVERGED"
    assert result.gap <= 1e-3


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_targets_of_1e_9_beside_columns_of_1e12(loss):
    X, y = small_problem(loss, 5, n=6)
    X[1, 0] *= 1e12
    result = solve(X, 1e-9 * y, loss=loss, budget=1, C=0.02, tol=1e-3, intercept_scaling=1.0)
    assert result.status.name in ("CONVERGED", "ZERO_MODEL")
    assert result.gap <= 1e-3


@pytest.mark.parametrize("loss", ["squared_hinge", "huber_hinge"])
@pytest.mark.parametrize("C", [0.02, 5e36])
def test_a_huge_column_that_explains_all_leaves_a_tiny_objective(loss, C):
    """The optimum is half the square of the least weight with margins of 1, some 1e-48."""
    column = np.array([5.0, 3.0, -4.0, -2.0]) * 1e24
    X = np.column_stack([column, [1.0, -1.0, 0.5, 2.0]])
    y = np.sign(column)
    result = solve(X, y, loss=loss, budget=1, C=C, tol=1e-3, intercept_scaling=1000.0)
    assert result.status.name == "CONVERGED"
    assert result.primal == pytest.approx(0.5 / np.abs(column).min() ** 2, rel=2e-3)
