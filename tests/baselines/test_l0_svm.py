"""L0SVM: a toy whose scales are known in closed form, and rounds by another optimiser."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from scoresieve.baselines import L0SVM


def toy(t):
    """Rows ``y (1, t)``: each round has ``v`` in the direction of ``(z_1, t z_2)``."""
    y = np.tile([1.0, -1.0], 10)
    return y[:, np.newaxis] * np.array([1.0, t]), y


@pytest.mark.parametrize("t", [0.6, 0.9, 1.2])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("n_rounds", [1, 2, 3, 4])
def test_scales_of_the_toy_are_known(t, C, n_rounds):
    """``r <- t r^2`` for the ratio r of the scales, so that r is ``t^(2^rounds - 1)``."""
    X, y = toy(t)
    model = L0SVM(C=C, fit_intercept=False, max_rounds=n_rounds, tol=1e-10)
    with pytest.warns(ConvergenceWarning, match=f"at max_rounds={n_rounds} before convergence"):
        model.fit(X, y)
    (z,) = model.scales_
    assert z[1] / z[0] == pytest.approx(t ** (2**n_rounds - 1), rel=1e-5)


@pytest.mark.parametrize(("t", "survivor"), [(0.9, 0), (1.1, 1)])
def test_the_shorter_column_dies_and_the_longer_one_is_trained_alone(t, survivor):
    X, y = toy(t)
    model = L0SVM(C=1.0, fit_intercept=False).fit(X, y)
    expected = LinearSVC(dual="auto", fit_intercept=False, random_state=0)
    expected.fit(X[:, [survivor]], y)
    assert_array_equal(model.support_, [survivor])
    assert_array_equal(model.coef_[0, survivor], expected.coef_[0, 0])


def squared_hinge_sum(scores, y):
    return np.sum(np.maximum(0.0, 1.0 - y * scores) ** 2)


def direct_rounds(X, y, C, n_rounds):
    """``w = argmin 1/2 sum (w_j / z_j)^2 + C sum loss^2``, ``z = |w|``, by L-BFGS; every w."""
    z, found = np.ones(X.shape[1]), []

    def objective(v):
        slack = np.maximum(0.0, 1.0 - y * (X @ (z * v)))
        return 0.5 * v @ v + C * slack @ slack, v - 2 * C * z * (X.T @ (y * slack))

    for _ in range(n_rounds):
        options = {"maxiter": 10000, "ftol": 1e-15, "gtol": 1e-10}
        v = minimize(objective, np.zeros(z.size), jac=True, method="L-BFGS-B", options=options).x
        found.append(z * v)
        z = np.abs(found[-1])
    return found


@pytest.mark.parametrize("C", [0.5, 10.0])
def test_rounds_against_another_optimiser(data, C):
    X, y = data(0, n_samples=40, n_features=6, noise=1.0)
    rounds = direct_rounds(X, y, C, 4)
    for n_rounds, w in enumerate(rounds, start=1):
        model = L0SVM(C=C, fit_intercept=False, max_rounds=n_rounds, tol=1e-10, max_iter=100000)
        with pytest.warns(ConvergenceWarning, match="before convergence; raise it"):
            model.fit(X, y)
        assert_allclose(model.scales_[0], np.abs(w), rtol=1e-4, atol=1e-6)


def test_the_sum_of_logarithms_never_rises(data):
    """What the rounds minimise, at the scales they went through."""
    X, y = data(1, n_samples=40, n_features=6, noise=1.0)
    values = [
        np.sum(np.log(np.abs(w))) + 3.0 * squared_hinge_sum(X @ w, y)
        for w in direct_rounds(X, y, 3.0, 5)
    ]
    assert np.all(np.diff(values) < 0)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_few_features_that_separate_are_found(convert):
    """Three of forty columns separate with a wide margin; a large C comes close to a hard one."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 40))
    X = X[np.abs(X[:, :3].sum(axis=1)) > 1.5]
    y = np.where(X[:, :3].sum(axis=1) > 0, 1.0, -1.0)
    model = L0SVM(C=1000.0, max_iter=100000).fit(convert(X), y)
    assert_array_equal(model.support_, [0, 1, 2])
    assert model.score(convert(X), y) == 1.0


@pytest.mark.parametrize("k", [1, 2, 5, 39, 40, 99])
def test_exactly_k_features(data, k):
    X, y = data(3, n_samples=100, n_features=40)
    model = L0SVM(n_features_to_select=k).fit(X, y)
    assert model.n_features_selected_ == min(k, 40)
    fit = LinearSVC(dual="auto", random_state=0).fit(X[:, model.support_], y)
    assert_array_equal(model.coef_[0, model.support_], fit.coef_[0])
    (z,) = model.scales_
    others = np.delete(z, model.support_)
    assert others.size == 0 or z[model.support_].min() >= others.max()


def test_a_small_C_leaves_a_single_feature(data):
    X, y = data(4, n_samples=100, n_features=20)
    assert L0SVM(C=1e-4).fit(X, y).n_features_selected_ == 1


def test_columns_of_zeros():
    y = np.tile([1.0, -1.0], 10)
    with pytest.warns(UserWarning, match="the model has no features"):
        model = L0SVM(fit_intercept=False).fit(np.zeros((20, 3)), y)
    assert model.n_features_selected_ == 0
    assert_array_equal(model.decision_function(np.ones((2, 3))), [0.0, 0.0])
