"""SquaredL1SVM: the budget norm with B = 1, all labellings, and the path of the l1 norm itself."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from scoresieve import MeasureSVC, solve
from scoresieve.baselines import SquaredL1SVM


@pytest.mark.parametrize("C", [0.02, 0.5, 10.0])
def test_hinge_with_a_budget_of_1(data, C):
    X, y = data(0, n_samples=40, n_features=15)
    model = SquaredL1SVM(C=C, tol=1e-5, fit_intercept=False).fit(X, y)
    best = solve(X, y, loss="hinge", budget=1, C=C, tol=1e-6).primal
    assert_allclose(model.primal_[0], best, rtol=1e-4)
    assert model.dual_[0] <= best * (1 + 1e-7)
    w = model.coef_[0]
    hinge = np.sum(np.maximum(0.0, 1.0 - y * (X @ w)))
    assert_allclose(model.primal_[0], 0.5 * np.abs(w).sum() ** 2 + C * hinge)


@pytest.mark.parametrize("measure", ["f1", "prbep", "prec@2"])
def test_other_measures_against_all_labellings(data, brute, measure):
    X, y = data(1, n_samples=9, n_features=6)
    model = SquaredL1SVM(measure, C=2.0, tol=1e-5, fit_intercept=False).fit(X, y)
    cuts, losses, _ = brute.enumerated(X, y, measure)
    assert_allclose(model.primal_[0], brute.optimum(cuts, losses, 2.0, 1)[0], rtol=1e-4)


def test_it_is_on_the_path_of_the_l1_norm(data):
    """With ``C' = C / ||w||_1`` the same w minimises ``||w||_1 + C' sum hinge``."""
    X, y = data(2, n_samples=40, n_features=15)
    w = SquaredL1SVM(C=0.5, tol=1e-6, fit_intercept=False).fit(X, y).coef_[0]
    ratio = 0.5 / np.abs(w).sum()
    signed = y[:, None] * X
    rows = np.hstack([-signed, signed, -np.eye(40)])
    costs = np.concatenate([np.ones(30), np.full(40, ratio)])
    best = linprog(costs, A_ub=rows, b_ub=-np.ones(40)).fun
    value = np.abs(w).sum() + ratio * np.sum(np.maximum(0.0, 1.0 - signed @ w))
    assert_allclose(value, best, rtol=1e-4)


def test_it_is_measure_svc_with_budget_1(data):
    X, y = data(3, n_samples=60, n_features=20)
    model = SquaredL1SVM("f1", C=3.0, tol=1e-4).fit(X, y)
    ours = MeasureSVC("f1", bound="paper", budget=1, C=3.0, tol=1e-4).fit(X, y)
    assert_allclose(model.primal_, ours.primal_, rtol=1e-4)
    assert 1 < model.n_features_selected_ < 20


def test_the_scale_of_the_paper(data):
    X, y = data(5)
    model = SquaredL1SVM("f1", C=0.5, C_scale="paper").fit(X, y)
    assert_allclose(model.C_, 0.5 * np.sum(y > 0) / 25)
