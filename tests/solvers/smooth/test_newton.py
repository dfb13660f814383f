"""Newton steps: conjugate gradients, estimated lengths, and an objective that never rises."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scoresieve.design import as_design
from scoresieve.losses import Huber, HuberHinge, SquaredHinge, get_loss
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.smooth.newton import NewtonSteps, conjugate_gradients, squared_lengths
from scoresieve.solvers.working import WorkingColumns


def problem_of(loss, n_samples=40, n_features=15, **arguments):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, n_features))
    y = X[:, 0] - X[:, 1] + rng.normal(size=n_samples)
    y = y if get_loss(loss).task == "regression" else np.sign(y)
    return make_problem(X, y, loss=loss, **{"budget": 3, "C": 0.7} | arguments)


def test_lengths_are_about_right():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 60)) * 10.0 ** rng.normal(size=60)
    weights = rng.random(300)
    lengths = squared_lengths(as_design(X).columns(np.arange(60)), weights)
    ratios = lengths / (weights @ X**2)
    assert np.all((ratios > 0.3) & (ratios < 2.5))
    assert ratios.mean() == pytest.approx(1.0, abs=0.15)
    assert squared_lengths(as_design(X).columns(np.zeros(0, dtype=int)), weights).size == 0


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
        working, risk = WorkingColumns(problem), problem.risk
        working.add(np.arange(60))
        steps, point = NewtonSteps(working, risk), working.point(np.zeros(60))
        values = [point.value]
        for _ in range(30):
            v = risk.vector(risk.slopes(point.scores), problem.C)
            correlations = working.block.correlate(v)
            point = steps.step(point, correlations)
            values.append(point.value)
        assert np.all(np.diff(values) <= 0)
        assert values[-1] < 0.5 * values[0]
