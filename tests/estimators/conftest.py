"""Labelled data for the estimators."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.estimators import budget_model


@pytest.fixture(scope="session")
def binary():
    """X of 80 x 20 of which columns 0, 1 and 2 decide, and labels "no" and "yes" (a third)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 20))
    values = X[:, :3].sum(axis=1) + 0.3 * rng.normal(size=80)
    return X, np.where(values > np.quantile(values, 0.67), "yes", "no")


@pytest.fixture(scope="session")
def three_classes():
    """X of 90 x 12 and labels 3, 5, 8, where class c is the largest of three columns."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 12))
    return X, np.array([3, 5, 8])[np.argmax(X[:, [1, 4, 7]] + 0.2 * rng.normal(size=(90, 3)), 1)]


@pytest.fixture(scope="session")
def indicators():
    """X of 70 x 10 and an indicator matrix with four columns."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(70, 10))
    return X, (X[:, :4] + 0.3 * rng.normal(size=(70, 4)) > 0.4).astype(int)


@pytest.fixture
def starts(monkeypatch):
    """What each problem that is solved from now on starts from."""
    seen = []
    solve_problem = budget_model.solve_problem

    def recorded(problem, limits, *, warm=None, **options):
        seen.append(warm)
        return solve_problem(problem, limits, warm=warm, **options)

    monkeypatch.setattr(budget_model, "solve_problem", recorded)
    return seen
