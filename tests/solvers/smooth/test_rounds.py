"""Losses: known optima, certified gaps, monotone bounds, and the same bits every time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC, LinearSVR

from scoresieve import Status, solve
from scoresieve.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    Squared,
    SquaredHinge,
)
from scoresieve.solvers.limits import Limits, Tracker
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.smooth import restricted
from scoresieve.solvers.smooth.rounds import run_smooth
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.working import WarmStart

SMOOTH = [SquaredHinge(), Logistic(), HuberHinge(), HuberHinge(0.05), Squared(), Huber(0.5)]
ROUGH = [Hinge(), EpsilonInsensitive(0.2)]
smooth_losses = pytest.mark.parametrize("loss", SMOOTH, ids=repr)
every_loss = pytest.mark.parametrize("loss", SMOOTH + ROUGH, ids=repr)


def make(loss, seed=0, n_samples=60, n_features=30, noise=1.0):
    """Normal columns of which three count; an offset and some outliers for regression."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    values = X[:, :3].sum(axis=1) + noise * rng.normal(size=n_samples)
    if loss.task == "classification":
        return X, np.where(values > 0.3, 1.0, -1.0)
    return X, values + 0.5 + 8.0 * (rng.random(n_samples) < 0.05)


@pytest.fixture(params=["interior", "newton"])
def method(request, monkeypatch):
    """Small problems by the interior-point method, or by Newton steps alone."""
    if request.param == "newton":
        monkeypatch.setattr(restricted, "FEW_PRODUCTS", 0)
        monkeypatch.setattr(restricted, "DENSE_NUMBERS", 0)
    return request.param


class TestPeers:
    """A budget of all columns is the plain l2 problem of scikit-learn."""

    @pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
    @pytest.mark.parametrize("n_features", [12, 90])
    def test_squared_hinge(self, C, n_features, method):
        X, y = make(SquaredHinge(), n_features=n_features)
        svm = LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-12, max_iter=100_000)
        w = svm.fit(X, y).coef_[0]
        expected = 0.5 * w @ w + C * np.sum(np.maximum(0.0, 1.0 - y * (X @ w)) ** 2)
        result = solve(X, y, loss="squared_hinge", budget=n_features, C=C, tol=1e-6)
        self.check(result, expected)

    def test_squared_hinge_with_an_intercept(self, method):
        X, y = make(SquaredHinge())
        svm = LinearSVC(C=2.0, intercept_scaling=3.0, dual=False, tol=1e-12, max_iter=100_000)
        svm.fit(X, y)
        w, b = svm.coef_[0], svm.intercept_[0]
        losses = np.maximum(0.0, 1.0 - y * (X @ w + b)) ** 2
        expected = 0.5 * (w @ w + (b / 3.0) ** 2) + 2.0 * losses.sum()
        result = solve(
            X, y, loss="squared_hinge", budget=30, C=2.0, intercept_scaling=3.0, tol=1e-6
        )
        self.check(result, expected)
        assert result.intercept == pytest.approx(b, abs=1e-3)

    @pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
    def test_logistic(self, C, method):
        X, y = make(Logistic())
        model = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, solver="newton-cholesky")
        w = model.fit(X, y).coef_[0]
        expected = 0.5 * w @ w + C * np.sum(np.log1p(np.exp(-y * (X @ w))))
        self.check(solve(X, y, loss="logistic", budget=30, C=C, tol=1e-6), expected)

    @pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
    def test_squared(self, C, method):
        X, y = make(Squared())
        w = Ridge(alpha=1.0 / C, fit_intercept=False).fit(X, y).coef_
        expected = 0.5 * w @ w + 0.5 * C * np.sum((y - X @ w) ** 2)
        result = solve(X, y, loss="squared", budget=30, C=C, tol=1e-8)
        self.check(result, expected)
        assert_allclose(result.w, w, atol=1e-3 * np.abs(w).max())

    @pytest.mark.parametrize("C", [0.01, 1.0])
    def test_hinge(self, C):
        X, y = make(Hinge())
        svm = LinearSVC(
            loss="hinge", C=C, fit_intercept=False, tol=1e-10, max_iter=1_000_000, random_state=0
        )
        w = svm.fit(X, y).coef_[0]
        expected = 0.5 * w @ w + C * np.sum(np.maximum(0.0, 1.0 - y * (X @ w)))
        self.check(solve(X, y, loss="hinge", budget=30, C=C, tol=1e-5), expected)

    @pytest.mark.parametrize("epsilon", [0.0, 0.3])
    def test_epsilon_insensitive(self, epsilon):
        X, y = make(Squared())
        loss = EpsilonInsensitive(epsilon)
        svr = LinearSVR(
            C=0.5,
            epsilon=epsilon,
            fit_intercept=False,
            tol=1e-10,
            max_iter=1_000_000,
            random_state=0,
        )
        w = svr.fit(X, y).coef_
        losses = np.maximum(0.0, np.abs(y - X @ w) - epsilon)
        expected = 0.5 * w @ w + 0.5 * losses.sum()
        self.check(solve(X, y, loss=loss, budget=30, C=0.5, tol=1e-5), expected)

    @staticmethod
    def check(result, expected):
        assert result.status is Status.CONVERGED
        assert result.primal == pytest.approx(expected, rel=1e-4)
        assert result.dual <= expected * (1 + 1e-8)
        assert result.gap <= 1e-5


@smooth_losses
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_any_C_and_any_scale_of_columns(loss, C, scale, certified):
    """Columns whose sizes differ by orders of magnitude are no obstacle."""
    X, y = make(loss, n_samples=50, n_features=120)
    X = X * 10.0 ** (scale * np.random.default_rng(2).normal(size=120))
    arguments = {"loss": loss, "budget": 5, "C": C, "intercept_scaling": 1.0}
    result = solve(X, y, tol=1e-4, **arguments)
    assert result.status is Status.CONVERGED
    assert certified(X, y, result, **arguments).gap <= 1e-4


@smooth_losses
def test_bounds_never_get_worse(loss):
    X, y = make(loss, n_samples=80, n_features=400)
    result = solve(X, y, loss=loss, budget=3, C=1.0, tol=1e-6)
    primal = np.array([row.primal for row in result.history])
    dual = np.array([row.dual for row in result.history])
    assert primal.size == result.n_iter > 2
    assert np.all(np.diff(primal) <= 0)
    assert np.all(np.diff(dual) >= 0)
    assert np.all(dual <= primal[-1])
    assert result.dual == dual[-1]
    assert 0 < result.history[-1].n_working < 400


@every_loss
def test_identical_inputs_give_identical_bits(loss):
    X, y = make(loss, n_features=200)
    arguments = {"loss": loss, "budget": 4, "C": 2.0, "intercept_scaling": 1.0}
    first, second = solve(X, y, **arguments), solve(X.copy(), y.copy(), **arguments)
    assert_array_equal(first.w, second.w)
    assert (first.intercept, first.primal, first.dual) == (
        second.intercept,
        second.primal,
        second.dual,
    )
    assert_array_equal(first.dual_point.slopes, second.dual_point.slopes)
    times = [replace(row, time=0.0) for row in first.history]
    assert times == [replace(row, time=0.0) for row in second.history]


@every_loss
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, np.asfortranarray])
def test_the_form_of_X_does_not_matter(loss, form):
    X, y = make(loss, n_features=50)
    X = np.where(np.abs(X) > 1.0, X, 0.0)
    dense = solve(X, y, loss=loss, budget=4, tol=1e-4)
    other = solve(form(X), y, loss=loss, budget=4, tol=1e-4)
    assert other.primal == pytest.approx(dense.primal, rel=2e-4)
    assert other.gap <= 1e-4


@every_loss
def test_a_weight_is_a_repetition(loss, method):
    X, y = make(loss, n_samples=40)
    weights = np.random.default_rng(3).integers(0, 3, size=40)
    repeated = solve(
        np.repeat(X, weights, axis=0), np.repeat(y, weights), loss=loss, budget=4, tol=1e-5
    )
    weighted = solve(X, y, loss=loss, budget=4, tol=1e-5, sample_weight=weights)
    assert weighted.primal == pytest.approx(repeated.primal, rel=2e-5)


@smooth_losses
def test_planted_features_are_found_and_no_dust_is_left(loss, method):
    """A coarse solution has no more features than one to the last digits, and hardly fewer."""
    X, y = make(loss, n_samples=300, n_features=200, noise=0.1)
    arguments = {"loss": loss, "budget": 3, "C": 1.0, "intercept_scaling": 1.0}
    result = solve(X, y, tol=0.01, **arguments)
    assert_array_equal(np.sort(np.argsort(-np.abs(result.w))[:3]), [0, 1, 2])
    finer, exact = (solve(X, y, tol=tol, **arguments) for tol in (1e-3, 1e-7))
    assert 0.75 * exact.support.size <= result.support.size <= 1.05 * exact.support.size
    assert 0.9 * exact.support.size <= finer.support.size <= 1.05 * exact.support.size
    assert_array_equal(result.support, np.flatnonzero(result.w))


def test_a_million_sparse_columns_stay_sparse():
    rng = np.random.default_rng(0)
    n_samples, n_features = 200, 1_000_000
    X = sp.random(n_samples, n_features, density=5e-5, format="lil", random_state=rng)
    y = np.where(rng.random(n_samples) < 0.5, 1.0, -1.0)
    X[:, 7] = np.where(rng.random(n_samples) < 0.9, y, 0.0)[:, None]
    result = solve(X.tocsr(), y, loss="squared_hinge", budget=5, C=1.0)
    assert result.status is Status.CONVERGED
    assert np.argmax(np.abs(result.w)) == 7
    assert result.history[-1].n_working < 1000


class TestLimits:
    X, y = make(SquaredHinge(), n_features=500)

    def test_max_iter(self):
        result = solve(self.X, self.y, loss="logistic", budget=3, tol=1e-9, max_iter=2)
        assert result.status is Status.MAX_ITER
        assert result.n_iter == 2
        assert result.gap > 1e-9

    def test_max_time(self):
        result = solve(self.X, self.y, loss="logistic", budget=3, tol=1e-9, max_time=1e-6)
        assert result.status is Status.MAX_TIME
        assert result.n_iter == 1

    def test_callback(self):
        rows = []

        def stop(row):
            rows.append(row)
            return len(rows) == 2

        result = solve(self.X, self.y, loss="huber_hinge", budget=3, tol=1e-9, callback=stop)
        assert result.status is Status.CALLBACK
        assert rows == result.history
        assert len(rows) == 2

    def test_what_double_precision_cannot_reach(self):
        result = solve(self.X, self.y, loss="squared_hinge", budget=3, tol=1e-30)
        assert result.status is Status.STALLED
        assert abs(result.gap) < 1e-8


class TestWarmStart:
    def test_the_optimum_is_the_same_and_the_rounds_are_fewer(self):
        X, y = make(SquaredHinge(), n_samples=100, n_features=800)
        limits = Limits(1e-4, 100)
        problem = make_problem(X, y, loss="squared_hinge", budget=10, C=1.0)
        cold = solve_problem(problem, limits)
        warm = solve_problem(problem, limits, warm=WarmStart(cold.support, cold.w[cold.support]))
        assert warm.primal == pytest.approx(cold.primal, rel=2e-4)
        assert warm.n_iter < cold.n_iter

    def test_a_bad_start_is_not_used(self):
        X, y = make(Squared())
        problem = make_problem(X, y, loss="squared", budget=3, C=1.0, intercept_scaling=1.0)
        start = WarmStart(np.array([5, 30]), np.array([1e6, -1e6]))
        warm = solve_problem(problem, Limits(1e-5, 100), warm=start)
        cold = solve_problem(problem, Limits(1e-5, 100))
        assert warm.primal == pytest.approx(cold.primal, rel=2e-5)


@smooth_losses
@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_odd_scales_of_X_end_with_a_certificate(loss, factor, certified):
    X, y = make(loss)
    result = solve(X * factor, y, loss=loss, budget=3, C=1.0, max_iter=3)
    check = certified(X * factor, y, result, loss=loss, budget=3, C=1.0)
    assert np.all(np.isfinite(result.w))
    assert 0.0 <= check.dual <= check.primal * (1 + 1e-9)


@smooth_losses
def test_what_is_handed_over(loss):
    """The columns with a weight; and the dual side is that of the best point itself."""
    X, y = make(loss, n_features=80)
    problem = make_problem(X, y, loss=loss, budget=4, C=1.0, intercept_scaling=1.0)
    ended = run_smooth(problem, Tracker(Limits(1e-4, 100), problem.risk.no_dual_point()))
    assert ended.status is Status.CONVERGED
    w = ended.working.scattered(ended.best.w)
    warm = ended.hand_over(problem.with_budget(2), w)
    assert_array_equal(warm.columns, np.flatnonzero(w))
    assert_array_equal(warm.w, w[warm.columns])
    point, v = ended.dual_side()
    assert_array_equal(point.slopes, problem.risk.slopes(ended.best.scores))
    assert_array_equal(v, problem.risk.vector(point.slopes, 1.0))
    tracker = Tracker(Limits(1e-4, 100), problem.risk.no_dual_point())
    run_smooth(problem, tracker, warm)
    assert tracker.history[0].gap <= 1e-2


def test_rounds_that_hardly_close_the_gap_end():
    """Two columns of 1e12 and 1e46 and a C of 1e57: steps lead on for ever, a little each."""
    X = np.array([[-2.0, -3.9e46, 0.86], [5.2e11, -1.15e46, -0.29]])
    result = solve(X, [1, -1], loss="logistic", budget=1, C=2.4e57, tol=1e-3)
    assert result.status.name == "STALLED"
    assert result.n_iter < 400
    assert 0.0 < result.dual <= result.primal
