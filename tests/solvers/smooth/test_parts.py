"""The parts of the solver for general losses: norm pieces, working sets, rays, steps, cuts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scoresieve.solvers.loss_cuts import LossRisk, bundle_problem
from scoresieve.solvers.loss_interior_point import dense_columns, solve_interior
from scoresieve.solvers.working_set import WorkingSet

from scoresieve import Status, solve
from scoresieve.design import as_design
from scoresieve.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    Squared,
    SquaredHinge,
    get_loss,
)
from scoresieve.regularizers import BudgetNorm, NormPiece
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.smooth import restricted
from scoresieve.solvers.smooth.newton import NewtonSteps, conjugate_gradients

LOSSES = [SquaredHinge(), Logistic(), HuberHinge(0.5), Squared(), Huber(), Hinge()]
every_loss = pytest.mark.parametrize("loss", [*LOSSES, EpsilonInsensitive(0.3)], ids=repr)


def problem_of(loss, seed=0, n_samples=40, n_features=15, **arguments):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    y = X[:, 0] - X[:, 1] + rng.normal(size=n_samples)
    y = y if get_loss(loss).task == "regression" else np.sign(y)
    return make_problem(X, y, loss=loss, **{"budget": 3, "C": 0.7} | arguments)


class TestNormPiece:
    CASES = pytest.mark.parametrize(
        ("norm", "w"),
        [
            (BudgetNorm(2, 5), [3.0, 1.0, -0.7, 0.5, 0.0]),
            (BudgetNorm(1, 4), [3.0, 1.0, -0.7, 0.5]),
            (BudgetNorm(3, 5), [3.0, 0.0, -0.7, 0.0, 0.0]),
            (BudgetNorm(5, 5), [3.0, 0.0, -0.7, 0.1, 0.0]),
            (BudgetNorm(2, 5, always_features=[4]), [3.0, 1.0, -0.7, 0.5, 2.0]),
            (
                BudgetNorm(2, 6, always_features=[1], excluded_features=[0]),
                [0.0, 0.0, -0.7, 0.5, 2.0, 1.0],
            ),
            (
                BudgetNorm(2, 7, feature_groups=[0, 0, 1, 1, 2, 2, 3]),
                [3, 1, 0.4, 0.0, -0.3, 0.2, 0.1],
            ),
            (BudgetNorm(1, 5, feature_groups=[0, 0, 1, 1, 2]), [0.5, 1, 0.4, 0.2, 0.0]),
        ],
    )

    @CASES
    def test_derivatives_on_the_free_columns(self, norm, w):
        w = np.asarray(w, dtype=float)
        piece, h = NormPiece(norm, w), 1e-5
        assert_array_equal(piece.gradient[~piece.free], 0.0)
        for j in np.flatnonzero(piece.free):
            step = h * np.eye(w.size)[j]
            ahead, behind = (0.5 * norm.value_squared(w + s) for s in (step, -step))
            assert piece.gradient[j] == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)
            after, before = (NormPiece(norm, w + s).gradient for s in (step, -step))
            column = np.where(piece.free, (after - before) / (2 * h), 0.0)
            product = piece.hessian_times(np.eye(w.size)[j])
            assert_allclose(product, column, atol=1e-8)
            assert piece.diagonal[j] == pytest.approx(product[j])

    @CASES
    def test_the_kink_is_as_high_as_the_threshold(self, norm, w):
        """A column outside costs t |w_j| to first order."""
        w = np.asarray(w, dtype=float)
        piece, h = NormPiece(norm, w), 1e-8
        outside = np.setdiff1d(np.flatnonzero(~piece.free), norm.excluded)
        for j in outside:
            ahead = 0.5 * norm.value_squared(w + h * np.eye(w.size)[j])
            slope = (ahead - 0.5 * norm.value_squared(w)) / h
            assert slope == pytest.approx(piece.threshold, abs=1e-6)

    def test_only_units_that_cross_a_kink_are_set_to_zero(self):
        norm = BudgetNorm(1, 5, always_features=[4], feature_groups=[0, 0, 1, 2, 3])
        w = np.array([1.0, 1.0, 1.0, 1.0, 1.0])
        moved = np.array([-1.0, 3.0, -0.1, 0.5, -2.0])
        crossed = NormPiece(norm, w).without_crossings(w, moved)
        assert_array_equal(crossed, [-1.0, 3.0, 0.0, 0.5, -2.0])
        smooth = NormPiece(norm.with_budget(9), w).without_crossings(w, moved)
        assert_array_equal(smooth, moved)


class TestProblem:
    @every_loss
    @pytest.mark.parametrize("size", [0.3, 1.0])
    def test_best_multiple_against_a_search(self, loss, size):
        problem = problem_of(loss)
        rng = np.random.default_rng(1)
        slopes = problem.clipped(size * problem.slopes(rng.normal(size=40)))
        correlations = problem.design.correlate(problem.pull(slopes))
        strength = problem.norm.dual_squared(correlations)

        def dual(theta):
            inside = problem.clipped(theta * slopes)
            return problem.gain(inside) - 0.5 * theta**2 * strength

        theta, value = problem.best_multiple(slopes, strength)
        largest = min(loss.largest_multiple(problem.y, slopes), 100.0)
        best = -minimize_scalar(lambda t: -dual(t), bounds=(0, largest), method="bounded").fun
        assert value == pytest.approx(dual(theta), rel=1e-12)
        assert value >= dual(1.0)
        assert value <= best * (1 + 1e-6) + 1e-9
        assert value >= best - (0.05 if loss.name == "logistic" else 1e-5) * abs(best)

    @every_loss
    def test_a_cut_is_a_tangent(self, loss):
        problem = problem_of(loss, sample_weight=np.arange(40) % 3)
        rng = np.random.default_rng(2)
        for _ in range(20):
            here, there = 2.0 * rng.normal(size=(2, 40))
            cut = problem.cut(here)
            total = problem.weights @ loss.value(problem.y, here)
            assert cut.value(here) == pytest.approx(total, abs=1e-9)
            assert cut.value(there) <= problem.weights @ loss.value(problem.y, there) + 1e-9


class TestLossRisk:
    @every_loss
    def test_the_contract_of_measures(self, loss):
        problem = problem_of(loss, sample_weight=np.arange(40) % 3)
        risk = LossRisk(loss, problem.y, problem.weights)
        scores = np.random.default_rng(3).normal(size=40)
        cut = risk.most_violated(problem.y, scores)
        expected = problem.weights @ loss.value(problem.y, scores)
        assert risk.risk(problem.y, scores) == pytest.approx(expected)
        assert risk.cut_loss(problem.y, cut.delta) == pytest.approx(cut.loss)
        assert (risk.name, risk.unit(problem.y)) == (loss.name, problem.weights.sum())
        assert risk.score(problem.y, np.zeros(40)) == 0.0
        assert 0.0 <= risk.score(problem.y, scores) <= 1.0
        assert not risk.flips_examples

    def test_what_is_no_slope_is_refused(self):
        risk = LossRisk(EpsilonInsensitive(), np.zeros(3), np.array([1.0, 2.0, 0.0]))
        assert risk.cut_loss(np.ones(3), np.array([1.0, -2.0, 0.0])) == pytest.approx(-0.3)
        with pytest.raises(ValueError, match="not made of slopes of the epsilon_insensitive"):
            risk.cut_loss(np.ones(3), np.array([1.5, 0.0, 0.0]))
        with pytest.raises(ValueError, match="not made of slopes"):
            risk.cut_loss(np.ones(3), np.array([1.0, 0.0, 0.1]))

    def test_a_perfect_fit_has_score_one(self):
        risk = LossRisk(Squared(), np.zeros(3), np.ones(3))
        assert risk.score(np.ones(3), np.zeros(3)) == 1.0

    def test_the_hinge_is_the_measure_accuracy(self):
        plain, weighted = problem_of("hinge"), problem_of("hinge", sample_weight=np.arange(1, 41))
        for problem in (plain, weighted):
            measure = bundle_problem(problem).measure
            scores = np.random.default_rng(4).normal(size=40)
            expected = problem.weights @ np.maximum(0.0, 1.0 - problem.y * scores)
            assert measure.name == "accuracy"
            assert measure.risk(problem.y, scores) == pytest.approx(expected)


class TestWorkingSet:
    def test_columns_enter_once_and_those_always_in_are_first(self):
        problem = problem_of("squared", always_features=[7], intercept_scaling=2.0)
        working = WorkingSet(problem)
        assert_array_equal(working.columns, [7, 15])
        assert working.add(np.array([3, 7, 1])) == 2
        assert working.add(np.array([1, 3])) == 0
        assert_array_equal(working.columns, [7, 15, 1, 3])
        assert working.block.n_columns == working.lengths.size == 4
        w = np.array([1.0, -1.0, 0.5, 0.0])
        point = working.point(w)
        full = np.zeros(16)
        full[working.columns] = w
        assert_allclose(point.scores, problem.design.scores(full, np.arange(16)))
        expected = 0.5 * problem.norm.value_squared(full) + problem.risk(point.scores)
        assert point.value == pytest.approx(expected)

    def test_lengths_are_about_right(self):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(300, 60)) * 10.0 ** rng.normal(size=60)
        weights = rng.random(300)
        problem = make_problem(X, X[:, 0], loss="squared", budget=60, C=1.0, sample_weight=weights)
        working = WorkingSet(problem)
        working.add(np.arange(60))
        ratios = working.lengths / (weights @ X**2)
        assert np.all((ratios > 0.3) & (ratios < 2.5))
        assert ratios.mean() == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("n_columns", [0, 1, 64, 65, 130])
def test_dense_columns(form, n_columns):
    X = np.random.default_rng(6).normal(size=(7, 150))
    chosen = np.random.default_rng(7).permutation(150)[:n_columns]
    block = as_design(form(X)).columns(chosen)
    assert_allclose(dense_columns(block), X[:, chosen], rtol=0, atol=0)


def test_conjugate_gradients_solve_to_their_share():
    rng = np.random.default_rng(8)
    root = rng.normal(size=(30, 30))
    H, side = root @ root.T + np.eye(30), rng.normal(size=30)
    diagonal = np.diag(H)
    x = conjugate_gradients(lambda p: H @ p, side, diagonal)
    residual = side - H @ x
    assert residual @ (residual / diagonal) <= 0.3 * (side @ (side / diagonal))
    assert 0.5 * x @ H @ x - side @ x < 0
    assert_array_equal(conjugate_gradients(lambda p: H @ p, np.zeros(30), diagonal), np.zeros(30))


def test_a_step_never_makes_the_objective_rise():
    for loss in (SquaredHinge(), HuberHinge(0.01), Huber(0.01)):
        problem = problem_of(loss, C=50.0, n_features=60, feature_groups=np.arange(60) // 2)
        working = WorkingSet(problem)
        working.add(np.arange(60))
        steps, point = NewtonSteps(working), working.point(np.zeros(60))
        values = [point.value]
        for _ in range(30):
            correlations = working.block.correlate(problem.pull(problem.slopes(point.scores)))
            point = steps.step(point, correlations)
            values.append(point.value)
        assert np.all(np.diff(values) <= 0)
        assert values[-1] < 0.5 * values[0]


@pytest.mark.parametrize("loss", [x for x in LOSSES if x.is_smooth], ids=repr)
@pytest.mark.parametrize("shape", [(15, 60), (60, 15)])
def test_the_interior_point_method_alone(loss, shape):
    """Primal and dual values, recomputed here, meet; both ways to factorise."""
    problem = problem_of(loss, n_samples=shape[0], n_features=shape[1])
    X = dense_columns(problem.design.columns(np.arange(shape[1])))
    start = problem.slopes(np.zeros(shape[0]))
    found = solve_interior(problem, problem.norm, X, start, 1e-8)
    primal = 0.5 * problem.norm.value_squared(found.w) + problem.risk(X @ found.w)
    strength = problem.norm.dual_squared(X.T @ problem.pull(found.slopes))
    dual = problem.gain(found.slopes) - 0.5 * strength
    assert dual == pytest.approx(found.dual, rel=1e-9)
    assert 0.0 <= primal - dual <= 1e-8 * primal


class TestFallBack:
    def arguments(self):
        rng = np.random.default_rng(9)
        X = rng.normal(size=(50, 80))
        return {"X": X, "y": np.sign(X[:, 0] + 0.3), "loss": "squared_hinge", "budget": 4}

    def test_the_interior_point_method_takes_over_when_newton_steps_are_stuck(self, monkeypatch):
        monkeypatch.setattr(restricted, "FEW_PRODUCTS", 0)
        expected = solve(tol=1e-4, **self.arguments())
        monkeypatch.setattr(NewtonSteps, "step", lambda self, point, correlations: point)
        result = solve(tol=1e-4, **self.arguments())
        assert result.status is Status.CONVERGED
        assert result.primal == pytest.approx(expected.primal, rel=2e-4)

    def test_the_run_ends_when_nothing_helps(self, monkeypatch):
        monkeypatch.setattr(restricted, "DENSE_NUMBERS", 0)
        monkeypatch.setattr(NewtonSteps, "step", lambda self, point, correlations: point)
        result = solve(tol=1e-4, **self.arguments())
        assert result.status is Status.STALLED
        assert result.gap > 1e-4

    def test_a_factorisation_that_fails_leaves_it_to_newton_steps(self, monkeypatch):
        def fails(*arguments):
            raise np.linalg.LinAlgError("not positive definite")

        monkeypatch.setattr(restricted, "solve_interior", fails)
        assert solve(tol=1e-4, **self.arguments()).status is Status.CONVERGED
