"""L1BundleSVM: one linear programme with every labelling, the l1 hinge problem, honest gaps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from scoresieve import Status, get_measure
from scoresieve.baselines import L1BundleSVM, l1_bundle
from scoresieve.baselines.l1_bundle import solve_l1_master
from scoresieve.risks import MeasureRisk


def l1_optimum(cuts, losses, C):
    """``min ||w||_1 + C xi`` with ``xi >= q_k - <a_k, w>``, by scipy with all cuts and columns."""
    n_cuts, m = cuts.shape
    rows = np.hstack([-cuts, cuts, -np.ones((n_cuts, 1))])
    return linprog(np.append(np.ones(2 * m), C), A_ub=rows, b_ub=-losses).fun


def hinge_optimum(X, y, C):
    """``min ||w||_1 + C sum_i xi_i``, ``xi_i >= 1 - y_i <w, x_i>``."""
    signed = y[:, None] * X
    rows = np.hstack([-signed, signed, -np.eye(y.size)])
    costs = np.concatenate([np.ones(2 * X.shape[1]), np.full(y.size, C)])
    return linprog(costs, A_ub=rows, b_ub=-np.ones(y.size)).fun


@pytest.mark.parametrize("C", [3.0, 30.0])
@pytest.mark.parametrize("name", ["f1", "accuracy", "prec@2", "prbep", "rec@2p", "roc_auc"])
def test_every_labelling_in_one_linear_programme(data, brute, name, C):
    X, y = data(0, n_samples=7 if name == "roc_auc" else 8, n_features=5)
    deltas, losses = brute.every_cut(name, y)
    model = L1BundleSVM(name, C=C, tol=1e-6, fit_intercept=False).fit(X, y)
    best = l1_optimum(deltas @ X, losses, C)
    assert_allclose(model.primal_[0], best, rtol=1e-6)
    assert_allclose(model.dual_[0], best, rtol=1e-5)
    value = np.abs(model.coef_).sum() + C * max(0.0, np.max(losses - deltas @ X @ model.coef_[0]))
    assert_allclose(model.primal_[0], value)
    assert_array_equal(model.support_, np.flatnonzero(model.coef_[0]))


def test_the_intercept_is_inside_the_norm(data, brute):
    X, y = data(1, n_samples=8, n_features=4)
    deltas, losses = brute.every_cut("f1", y)
    model = L1BundleSVM("f1", C=10.0, tol=1e-6, intercept_scaling=3.0).fit(X, y)
    cuts = deltas @ np.column_stack([X, np.full(8, 3.0)])
    assert_allclose(model.primal_[0], l1_optimum(cuts, losses, 10.0), rtol=1e-6)
    w = np.append(model.coef_[0], model.intercept_ / 3.0)
    assert_allclose(model.primal_[0], np.abs(w).sum() + 10 * max(0.0, np.max(losses - cuts @ w)))


@pytest.mark.parametrize(("n_features", "C"), [(6, 0.3), (6, 5.0), (400, 0.3)])
def test_accuracy_is_the_l1_hinge_problem(data, n_features, C):
    X, y = data(2, n_samples=30, n_features=n_features)
    model = L1BundleSVM("accuracy", C=C, tol=1e-5, fit_intercept=False).fit(X, y)
    assert_allclose(model.primal_[0], hinge_optimum(X, y, C), rtol=2e-5)
    assert model.status_[0] is Status.CONVERGED
    assert max(each.n_working for each in model.history_[0]) <= min(n_features, 200)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:class .*the model has no features:UserWarning")
@settings(derandomize=True, deadline=None, database=None, max_examples=15)
@given(seed=st.integers(0, 10**6), rounds=st.integers(1, 6), C=st.sampled_from([0.05, 1.0, 30.0]))
def test_bounds_hold_whenever_it_stops(data, brute, seed, rounds, C):
    X, y = data(seed, n_samples=8, n_features=150)
    model = L1BundleSVM("f1", C=C, tol=1e-9, max_iter=rounds, fit_intercept=False)
    model.fit(X, y)
    deltas, losses = brute.every_cut("f1", y)
    best = l1_optimum(deltas @ X, losses, C)
    assert model.dual_[0] <= best * (1 + 1e-6) + 1e-9
    assert model.primal_[0] >= best * (1 - 1e-6)
    point = model.models_[0].proof.dual_point
    assert np.all(point.alpha >= 0)
    assert point.alpha.sum() <= C * (1 + 1e-9)
    risk = MeasureRisk(get_measure("f1"), y)
    assert np.max(np.abs(X.T @ risk.dual_vector(point, C))) <= 1 + 1e-9
    gain = 0.0
    for k, weight in enumerate(point.alpha):
        (same,) = np.flatnonzero(np.all(deltas == risk.unpack(point.cuts[k]), axis=1))
        gain += weight * losses[same]
    assert_allclose(model.dual_[0], gain, atol=1e-12)


def test_a_linear_programme_that_fails_ends_the_rounds(data, monkeypatch, caplog):
    def fails(*arguments, **limits):
        raise LinAlgError("no pivot")

    monkeypatch.setattr(l1_bundle, "solve_l1_master", fails)
    X, y = data(4)
    with pytest.warns(ConvergenceWarning, match="Stopped because"):
        model = L1BundleSVM(C=5.0).fit(X, y)
    assert model.status_[0] is Status.STALLED
    assert "no pivot" in caplog.text


def test_a_small_C_gives_the_empty_model_and_its_proof(data):
    X, y = data(5)
    with pytest.warns(UserWarning, match="no features"):
        model = L1BundleSVM("f1", C=1e-3, tol=1e-6).fit(X, y)
    assert model.status_[0] is Status.ZERO_MODEL
    assert_allclose(model.primal_, 1e-3 * np.sum(y > 0))
    assert model.n_features_selected_ == 0


def test_sparse_columns_enter_when_they_are_needed():
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=300) < 0.3, 1, -1)
    X = sp.random_array((300, 10**6), density=1e-5, random_state=rng, format="csc").tolil()
    X[y > 0, 999_999] = 1.0
    X[:, 5] = 0.1
    model = L1BundleSVM("f1", C=0.5, tol=0.05, max_time=30).fit(X.tocsr(), y)
    assert 999_999 in model.support_
    assert model.gap_[0] <= 0.05
    assert model.history_[0][-1].n_working < 1000


def test_the_master_is_dual_feasible_and_sparse():
    rng = np.random.default_rng(1)
    cuts, losses = rng.normal(size=(12, 40)), rng.uniform(1, 5, size=12)
    w, alpha = solve_l1_master(cuts, losses, 2.0)
    assert_allclose(
        np.abs(w).sum() + 2.0 * max(0.0, np.max(losses - cuts @ w)),
        losses @ alpha,
    )
    assert np.max(np.abs(alpha @ cuts)) <= 1 + 1e-7
    assert np.all(alpha >= 0)
    assert alpha.sum() <= 2.0 * (1 + 1e-12)
    assert np.count_nonzero(w) <= 12
    assert solve_l1_master(cuts, losses, 2.0, max_time=0.0) is None
