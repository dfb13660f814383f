"""Intercepts: free where scikit-learn's are, up to a part in some thousands."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from scoresieve import BudgetClassifier, BudgetRegressor, budget_path

N, M = 300, 4


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(N, M)) + 3.0


@pytest.fixture(scope="module")
def rare(X):
    """One row in ten is positive: an intercept far from 0."""
    scores = X @ np.array([1.0, -1.0, 0.5, 0.0]) + np.random.default_rng(1).normal(size=N)
    return (scores > np.quantile(scores, 0.9)).astype(int)


def test_a_logistic_intercept_is_that_of_logistic_regression(X, rare):
    ours = BudgetClassifier("logistic", budget=M, C=0.05, tol=1e-7).fit(X, rare)
    theirs = LogisticRegression(C=0.05, tol=1e-10).fit(X, rare)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=0.02)
    held = BudgetClassifier("logistic", budget=M, C=0.05, tol=1e-7, intercept_scaling=1.0)
    assert abs(held.fit(X, rare).intercept_[0]) < 0.8 * abs(theirs.intercept_[0])


def test_the_intercept_of_a_hinge_is_that_of_linear_svc(X, rare):
    ours = BudgetClassifier(budget=M, C=0.05, tol=1e-8).fit(X, rare)
    theirs = LinearSVC(C=0.05, tol=1e-10, max_iter=100_000).fit(X, rare)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-3)


def test_an_intercept_of_squares_is_that_of_ridge(X):
    y = X @ np.array([1.0, 2.0, 0.0, 0.0]) + 50.0
    ours = BudgetRegressor(budget=M, C=0.01, tol=1e-9).fit(X, y)
    theirs = Ridge(alpha=100.0).fit(X, y)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-3)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=5e-3)


def test_a_path_has_the_intercepts_of_the_estimators(X, rare):
    path = budget_path(X, rare, [2], loss="logistic", C=0.5, tol=1e-6)
    model = BudgetClassifier("logistic", budget=2, C=0.5, tol=1e-6).fit(X, rare)
    assert path.results[0].intercept == pytest.approx(model.intercept_[0], rel=1e-4)
