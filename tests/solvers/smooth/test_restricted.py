"""The restricted problem: which method solves it, and what takes over when one cannot."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from scoresieve import Status, solve
from scoresieve.design import as_design
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.smooth import restricted
from scoresieve.solvers.smooth.newton import NewtonSteps
from scoresieve.solvers.smooth.restricted import RestrictedSolver, dense_columns
from scoresieve.solvers.working import WorkingColumns


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("n_columns", [0, 1, 64, 65, 130])
def test_dense_columns(form, n_columns):
    X = np.random.default_rng(6).normal(size=(7, 150))
    chosen = np.random.default_rng(7).permutation(150)[:n_columns]
    block = as_design(form(X)).columns(chosen)
    assert_allclose(dense_columns(block), X[:, chosen], rtol=0, atol=0)


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
        def fails(system, start, **settings):
            raise np.linalg.LinAlgError("not positive definite")

        monkeypatch.setattr(restricted, "predictor_corrector", fails)
        assert solve(tol=1e-4, **self.arguments()).status is Status.CONVERGED


class TestSolver:
    """One solver serves a working set that grows, and tells what it reached."""

    @pytest.fixture
    def working(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(40, 30))
        y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1.0, -1.0)
        problem = make_problem(X, y, loss="logistic", budget=3, C=2.0, intercept_scaling=1.0)
        return WorkingColumns(problem)

    def bounds(self, working, found):
        """The values of both points on the working columns, computed again."""
        problem = working.problem
        primal = problem.objective(found.point.w, working.block.scores(found.point.w), working.norm)
        v = problem.risk.vector(found.slopes, problem.C)
        gain = problem.C * problem.risk.gain(found.slopes)
        return primal, gain - 0.5 * working.norm.dual_squared(working.block.correlate(v))

    @pytest.mark.parametrize("is_dense", [True, False], ids=["interior", "newton"])
    def test_a_growing_set(self, working, is_dense, monkeypatch):
        if not is_dense:
            monkeypatch.setattr(restricted, "DENSE_NUMBERS", 0)
        solver, point = RestrictedSolver(working, working.problem.risk), None
        last = np.inf
        for columns in ([], [0, 5, 7], np.arange(30)):
            working.add(np.asarray(columns, dtype=int))
            point = working.point(np.zeros(working.size)) if point is None else point
            found = solver.solve(point.padded(working.size), 1e-6, lambda: False)
            assert found.solved
            assert not found.stalled
            primal, dual = self.bounds(working, found)
            assert (found.point.value, found.dual) == pytest.approx((primal, dual), rel=1e-9)
            assert primal - dual <= 1e-6 * primal
            assert primal < last
            point, last = found.point, primal

    def test_when_the_time_is_over_the_bounds_are_still_true(self, working):
        working.add(np.arange(30))
        solver = RestrictedSolver(working, working.problem.risk)
        found = solver.solve(working.point(np.zeros(31)), 1e-12, lambda: True)
        assert not found.solved
        primal, dual = self.bounds(working, found)
        assert (found.point.value, found.dual) == pytest.approx((primal, dual), rel=1e-9)
