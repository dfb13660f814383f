"""``solve_loss``: known optima, certified gaps, conic twins, and the same bits every time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scoresieve.solvers.loss_api import solve_loss_problem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC, LinearSVR

from scoresieve import Status, certify
from scoresieve.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    Squared,
    SquaredHinge,
)
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.smooth import restricted
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


def certified(X, y, result, **arguments):
    return certify(X, y, result.w, result.dual_point, intercept=result.intercept, **arguments)


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
def test_any_C_and_any_scale_of_columns(loss, C, scale):
    """Columns whose sizes differ by orders of magnitude are no obstacle."""
    X, y = make(loss, n_samples=50, n_features=120)
    X = X * 10.0 ** (scale * np.random.default_rng(2).normal(size=120))
    arguments = {"loss": loss, "budget": 5, "C": C, "intercept": 1.0}
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
    arguments = {"loss": loss, "budget": 4, "C": 2.0, "intercept": 1.0}
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
    """A coarse solution has as many features as one to the last digits."""
    X, y = make(loss, n_samples=300, n_features=200, noise=0.1)
    arguments = {"loss": loss, "budget": 3, "C": 1.0, "intercept": 1.0}
    result = solve(X, y, tol=0.01, **arguments)
    assert_array_equal(np.sort(np.argsort(-np.abs(result.w))[:3]), [0, 1, 2])
    exact = solve(X, y, tol=1e-7, **arguments)
    assert 0.9 * exact.support.size <= result.support.size <= 1.05 * exact.support.size
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


class TestZeroModel:
    @smooth_losses
    @pytest.mark.parametrize("intercept", [0.0, 1.0])
    def test_smallest_C(self, loss, intercept):
        X, y = make(loss)
        arguments = {"loss": loss, "budget": 3, "intercept": intercept, "tol": 0.05}
        result = solve(X, y, C=1e-8, **arguments)
        assert result.status is Status.ZERO_MODEL
        assert result.support.size == 0
        assert 1e-8 < result.smallest_C < 10.0
        assert solve(X, y, C=result.smallest_C, **arguments).support.size > 0
        assert solve(X, y, C=result.smallest_C / 1.2, **arguments).support.size == 0

    def test_columns_that_tell_nothing(self):
        X, y = np.ones((20, 3)), np.tile([1.0, -1.0], 10)
        result = solve(X, y, loss="logistic", budget=1)
        assert result.status is Status.ZERO_MODEL
        assert result.smallest_C == np.inf

    def test_targets_of_zero(self):
        X, _ = make(Squared())
        result = solve(X, np.zeros(60), loss="squared", budget=1)
        assert (result.status, result.primal, result.gap) == (Status.ZERO_MODEL, 0.0, 0.0)


class TestWarmStart:
    def test_the_optimum_is_the_same_and_the_rounds_are_fewer(self):
        X, y = make(SquaredHinge(), n_samples=100, n_features=800)
        limits = Limits(1e-4, 100)
        problem = make_problem(X, y, loss="squared_hinge", budget=10, C=1.0)
        cold = solve_loss_problem(problem, limits)
        warm = solve_loss_problem(
            problem, limits, warm=WarmStart(cold.support, cold.w[cold.support])
        )
        assert warm.primal == pytest.approx(cold.primal, rel=2e-4)
        assert warm.n_iter < cold.n_iter

    def test_a_bad_start_is_not_used(self):
        X, y = make(Squared())
        problem = make_problem(X, y, loss="squared", budget=3, C=1.0, intercept_scaling=1.0)
        start = WarmStart(np.array([5, 30]), np.array([1e6, -1e6]))
        warm = solve_loss_problem(problem, Limits(1e-5, 100), intercept_scaling=1.0, warm=start)
        cold = solve_loss_problem(problem, Limits(1e-5, 100), intercept_scaling=1.0)
        assert warm.primal == pytest.approx(cold.primal, rel=2e-5)


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"loss": "nope"}, "unknown loss 'nope'"),
            ({"C": -1.0}, "C must be a positive"),
            ({"budget": 0}, "budget must be an integer of at least 1"),
            ({"tol": 0.0}, "tol must be a positive"),
            ({"intercept": -1.0}, "intercept must be 0 or a positive"),
            ({"always": [30]}, "always holds 30"),
            ({"sample_weight": np.ones(3)}, "sample_weight has 3 weights, but y has 60"),
            ({"sample_weight": -np.ones(60)}, r"sample_weight\[0\] is -1"),
            ({"sample_weight": np.zeros(60)}, "sample_weight is zero for all rows"),
            ({"y": np.full(60, np.nan)}, "y contains NaN or infinity"),
            ({"y": np.full(60, 1e100)}, "y is too large"),
            ({"y": np.ones((60, 2))}, "y must be 1-D"),
            ({"y": np.ones(59)}, "y has 59 targets and X has 60 rows"),
            ({"y": np.array(["a"] * 60)}, "y must hold real numbers"),
            ({"y": np.array(["a"] * 60, dtype=object)}, "y must hold real numbers"),
            ({"X": np.full((60, 30), np.inf)}, "X contains infinity"),
        ],
    )
    def test_regression(self, changes, message):
        X, y = make(Squared())
        arguments = {"X": X, "y": y, "loss": "squared", "budget": 3} | changes
        with pytest.raises(ValueError, match=message):
            solve(arguments.pop("X"), arguments.pop("y"), **arguments)

    def test_classification(self):
        X, y = make(Logistic())
        with pytest.raises(ValueError, match="y must hold -1/\\+1 or 0/1"):
            solve(X, make(Squared())[1], loss="logistic", budget=3)
        with pytest.raises(ValueError, match="y has one class only"):
            solve(X, np.ones(60), loss="logistic", budget=3)
        with pytest.raises(ValueError, match="sample_weight is zero for all positives"):
            solve(X, y, loss="logistic", budget=3, sample_weight=(y < 0).astype(float))

    def test_labels_of_zero_and_one(self):
        X, y = make(Logistic())
        first = solve(X, y, loss="logistic", budget=3)
        second = solve(X, y > 0, loss="logistic", budget=3)
        assert_array_equal(first.w, second.w)

    def test_a_budget_of_more_than_all_columns_warns(self):
        X, y = make(Squared())
        with pytest.warns(UserWarning, match="budget=31 is more than the 30 columns"):
            solve(X, y, loss="squared", budget=31)

    @smooth_losses
    @pytest.mark.parametrize("factor", [1e-30, 1e30])
    def test_odd_scales_of_X_end_with_a_certificate(self, loss, factor):
        X, y = make(loss)
        result = solve(X * factor, y, loss=loss, budget=3, C=1.0, max_iter=3)
        check = certified(X * factor, y, result, loss=loss, budget=3, C=1.0)
        assert np.all(np.isfinite(result.w))
        assert 0.0 <= check.dual <= check.primal * (1 + 1e-9)
