"""The saddle point with w and c as variables: for columns of any sizes, as good as the other."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve import solve
from scoresieve.losses import get_loss
from scoresieve.regularizers import BudgetNorm
from scoresieve.risks import LossRisk
from scoresieve.solvers.interior.predictor_corrector import predictor_corrector
from scoresieve.solvers.smooth.graded import GradedSaddle

SMOOTH = ("squared_hinge", "logistic", "huber_hinge", "squared", "huber")


def small_problem(loss, seed=0, n=12, m=7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    targets = X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=n)
    if get_loss(loss).task == "classification":
        targets = np.where(targets > 0, 1.0, -1.0)
    return X, targets


def run(system, tol=1e-9):
    empty = system.C * system.risk.value(np.zeros(system.risk.y.size))
    slopes = system.risk.slopes(np.zeros(system.risk.y.size))
    w = np.zeros(system.X.shape[1])
    start = system.start(w, slopes, system.root * empty * system.root)
    predictor_corrector(system, start, tol=tol, max_steps=80, stall_steps=15)
    return system.solution()


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize(
    ("budget", "sets"),
    [
        (2, {}),
        (7, {}),
        (2, {"always_features": [1, 4]}),
        (2, {"feature_groups": [0, 0, 1, 2, 1, 3, 3]}),
    ],
    ids=["two", "all", "always", "groups"],
)
def test_it_finds_the_optimum_of_the_whole_solver(loss, budget, sets):
    X, y = small_problem(loss)
    weights = np.ones(len(y))
    weights[3], weights[5] = 0.0, 2.0
    expected = solve(X, y, loss=loss, budget=budget, C=3.0, tol=1e-8, sample_weight=weights, **sets)
    risk = LossRisk(get_loss(loss), y, weights)
    norm = BudgetNorm(budget, X.shape[1], **sets)
    w, slopes, dual = run(GradedSaddle(risk, 3.0, norm, X))
    primal = 0.5 * norm.value_squared(w) + 3.0 * risk.value(X @ w)
    proved = 3.0 * risk.gain(slopes) - 0.5 * norm.dual_squared(X.T @ risk.vector(slopes, 3.0))
    assert primal == pytest.approx(expected.primal, rel=1e-7)
    assert proved == pytest.approx(dual, rel=1e-9)
    assert primal - dual <= 2e-9 * primal
    assert w == pytest.approx(expected.w, abs=1e-3)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("groups", [None, [0, 0, 1, 2, 1, 3, 3]], ids=["single", "groups"])
@pytest.mark.parametrize("seed", range(4))
def test_one_entry_of_1e12_leaves_the_certificate_whole(loss, groups, seed):
    """As an identifier or a time in a table has it: its square is lost beside the others."""
    X, y = small_problem(loss, seed, n=8)
    X[2, 0] *= 1e12
    result = solve(
        X, y, loss=loss, budget=2, C=1.0, tol=1e-3, intercept_scaling=1.0, feature_groups=groups
    )
    assert result.status.name == "CONVERGED"
    assert result.gap <= 1e-3


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_targets_of_1e_9_beside_columns_of_1e12(loss):
    X, y = small_problem(loss, 5, n=6)
    X[1, 0] *= 1e12
    result = solve(X, 1e-9 * y, loss=loss, budget=1, C=0.02, tol=1e-3, intercept_scaling=1.0)
    assert result.status.name in ("CONVERGED", "ZERO_MODEL")
    assert result.gap <= 1e-3


@pytest.mark.parametrize("loss", ["squared_hinge", "huber_hinge"])
@pytest.mark.parametrize("C", [0.02, 5e36])
def test_a_huge_column_that_explains_all_leaves_a_tiny_objective(loss, C):
    """The optimum is half the square of the least weight with margins of 1, some 1e-48."""
    column = np.array([5.0, 3.0, -4.0, -2.0]) * 1e24
    X = np.column_stack([column, [1.0, -1.0, 0.5, 2.0]])
    y = np.sign(column)
    result = solve(X, y, loss=loss, budget=1, C=C, tol=1e-3, intercept_scaling=1000.0)
    assert result.status.name == "CONVERGED"
    assert result.primal == pytest.approx(0.5 / np.abs(column).min() ** 2, rel=2e-3)


def test_the_scale_of_the_columns_moves_only_exponents():
    """X times 2^e and C times 4^-e: the same bits."""
    X, y = small_problem("squared_hinge", 1, n=8)
    X[2, 0] *= 1e12
    norm, risk = BudgetNorm(2, X.shape[1]), LossRisk(get_loss("squared_hinge"), y)
    w, slopes, dual = run(GradedSaddle(risk, 0.3, norm, X), tol=1e-4)
    other = run(GradedSaddle(risk, 0.3 * 2.0**-80, norm, X * 2.0**40), tol=1e-4)
    assert np.array_equal(w, other[0] * 2.0**40)
    assert np.array_equal(slopes, other[1])
    assert dual == other[2] * 2.0**80


@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_a_step_takes_the_residual_away(loss):
    """To first order a share t of the affine step leaves 1 - t of the residual of v."""
    X, y = small_problem(loss, seed=3)
    risk = LossRisk(get_loss(loss), y, np.linspace(0.5, 2.0, y.size))
    system = GradedSaddle(risk, 3.0, BudgetNorm(2, X.shape[1], always_features=[1]), X)
    w = np.linspace(-0.3, 0.4, X.shape[1])
    point = system.start(w, risk.slopes(X @ w), 1.0)
    # The start has no residual of c = w / d.
    part = 2 / 6
    c = point.free[-X.shape[1] :]
    assert c * np.where(np.arange(X.shape[1]) == 1, 1.0, part) == pytest.approx(w / system.root)
    system.observe(point)
    affine = system.linearise()
    before, t = system._of_v, 1e-6
    v, z = point.free[: y.size], point.values[1, : system.n_box]
    low, high = np.split(z, [system.has_low.size])
    expected = system.gradient(v) + system.X @ (w / system.root)
    expected[system.has_low] -= low
    expected[system.has_high] += high
    assert before == pytest.approx(expected)
    system.observe(point.moved(affine, t))
    system.linearise()
    assert (system._of_v - before) / t == pytest.approx(-before, rel=1e-3, abs=1e-4)
