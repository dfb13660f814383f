"""Models of the chosen columns, beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from scoresieve.design import as_design
from scoresieve.estimators.sieve.candidates import SelectedColumns, SelectionProblem
from scoresieve.estimators.sieve.plan import FinalModel, fit_finals, start_clock


def noisy():
    rng = np.random.default_rng(15)
    X = rng.normal(size=(240, 12))
    signal = X[:, 3] - X[:, 7] + 2.0 * rng.normal(size=240)
    return X, signal > np.quantile(signal, 0.75)


def problem_of(X, y):
    return SelectionProblem(as_design(X), y, None, start_clock(None))


def test_final_models_are_those_of_scikit_learn():
    X, y = noisy()
    labels = np.where(y, 1.0, -1.0)
    chosen = SelectedColumns(np.array([3, 7]), np.zeros(2), 0.0)
    finals = [FinalModel(), FinalModel(1.0), FinalModel(30.0)]
    own, *found = fit_finals(finals, problem_of(X, labels), chosen)
    assert own == (chosen.weights, chosen.intercept)
    for (w, intercept), C in zip(found, (1.0, 30.0), strict=True):
        # The constant column of 10 leaves a hundredth of the penalty on the intercept.
        theirs = LinearSVC(C=C, tol=1e-8, dual=False, intercept_scaling=10.0)
        theirs.fit(X[:, [3, 7]], y)
        assert w == pytest.approx(theirs.coef_[0], rel=1e-3)
        assert intercept == pytest.approx(theirs.intercept_[0], rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("entered", [None, np.array([5, 5]), np.array([2, 10])])
def test_graded_final_models_are_those_of_columns_that_are_made_smaller(entered):
    X, y = noisy()
    columns, labels = X[:, [3, 7]], np.where(y, 1.0, -1.0)
    chosen = SelectedColumns(np.array([3, 7]), np.zeros(2), 0.0, entered=entered)
    finals = [FinalModel(1.0), FinalModel(0.1, is_graded=True), FinalModel(1.0, is_graded=True)]
    even, *graded = fit_finals(finals, problem_of(X, labels), chosen)
    factors = np.ones(2) if entered is None else entered[0] / entered
    for (w, intercept), C in zip(graded, (0.1, 1.0), strict=True):
        theirs = LinearSVC(C=C, tol=1e-8, dual=False, intercept_scaling=10.0)
        theirs.fit(columns * factors, y)
        assert w == pytest.approx(factors * theirs.coef_[0], rel=1e-3)
        assert intercept == pytest.approx(theirs.intercept_[0], rel=1e-3, abs=1e-3)
    # Each kind starts from its own models, to which the C of the other does not matter.
    assert (graded[1][0] == pytest.approx(even[0], rel=1e-4)) == bool(np.all(factors == 1.0))
