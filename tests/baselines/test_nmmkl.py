"""NMMKL: the same optimum as MeasureSVC and LinearSVC, its certificate, and its limits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from scoresieve import MeasureSVC, get_measure
from scoresieve.baselines import NMMKL, nmmkl
from scoresieve.baselines.nmmkl import as_labellings, solve_hinge_conic
from scoresieve.regularizers import BudgetNorm
from scoresieve.risks import MeasureRisk


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("budget", "C"), [(1, 0.3), (3, 0.01), (3, 1.0), (10, 30.0), (30, 1.0)])
def test_it_agrees_with_measure_svc(data, budget, C, intercept):
    X, y = data(0, n_samples=60, n_features=30)
    settings = {"budget": budget, "C": C, "fit_intercept": intercept}
    model = NMMKL(**settings).fit(X, y)
    ours = MeasureSVC("accuracy", tol=5e-5, **settings).fit(X, y)
    assert_allclose(model.primal_, ours.primal_, rtol=1e-4)
    assert model.gap_[0] <= 1e-4
    assert ours.gap_[0] <= 1e-4
    check = model.certify(X, y)
    assert_allclose([check.primal, check.dual], [model.primal_[0], model.dual_[0]], rtol=1e-8)


def test_the_weights_of_the_kernels(data, brute):
    X, y = data(2, n_samples=60, n_features=20)
    model = NMMKL(budget=4, fit_intercept=False).fit(X, y)
    (d,) = model.kernel_weights_
    assert d.shape == (20,)
    assert np.all((d >= 0) & (d <= 1))
    assert_allclose(d.sum(), 4.0, atol=1e-6)
    w, used = model.coef_[0], model.support_
    assert used.size > 4
    assert_allclose(np.sum(w[used] ** 2 / d[used]), brute.norm_squared(w, 4), rtol=1e-3)
    assert set(np.argsort(-d)[:4]) <= set(used)


def test_too_many_features_are_refused():
    X = sp.csr_array(np.eye(2, 1001))
    with pytest.raises(ValueError, match=r"X has 1001 features; NMMKL takes at most 1000, because"):
        NMMKL().fit(X, [0, 1])


def test_a_conic_solver_that_fails_is_reported(data, monkeypatch, caplog):
    def fails(*arguments):
        raise LinAlgError("the conic solver ended with the status Unsolved")

    monkeypatch.setattr(nmmkl, "run_clarabel", fails)
    X, y = data(5)
    with pytest.warns(ConvergenceWarning, match="Stopped because"):
        model = NMMKL(budget=3).fit(X, y)
    assert "Unsolved" in caplog.text
    assert_allclose(model.primal_, y.size)
    assert 0 < model.dual_[0] < model.primal_[0]


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8])
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
def test_any_scale_of_separable_data(data, scale, C):
    X, y = data(6, n_samples=40, n_features=15, noise=0.0)
    X = scale * (X + 0.5 * y[:, None] * (np.arange(15) < 3))
    found = solve_hinge_conic(X, y, BudgetNorm(3, 15), C)
    assert found.primal - found.dual <= 1e-5 * found.primal
    assert np.all((found.alpha >= 0) & (found.alpha <= C))


def test_groups_have_no_cones(data):
    X, y = data(7, n_features=4)
    with pytest.raises(ValueError, match="no groups"):
        solve_hinge_conic(X, y, BudgetNorm(1, 4, feature_groups=[0, 0, 1, 1]), 1.0)


@settings(derandomize=True, deadline=None, database=None, max_examples=50)
@given(arrays(float, st.integers(1, 20), elements=st.floats(0, 3)))
def test_multipliers_as_labellings(alpha):
    point = as_labellings(alpha)
    y = np.where(np.arange(alpha.size) % 2, 1.0, -1.0)
    risk = MeasureRisk(get_measure("accuracy"), y)
    assert_allclose(risk.dual_vector(point, alpha.max()), alpha * y, atol=1e-12)
    assert np.all(point.alpha > 0)
    assert_allclose(point.alpha.sum(), alpha.max(), atol=1e-12)
    n_errors = np.array([np.count_nonzero(risk.unpack(cut)) for cut in point.cuts])
    assert_allclose(n_errors @ point.alpha, alpha.sum(), atol=1e-12)
    assert_array_equal(n_errors, np.sort(n_errors))
