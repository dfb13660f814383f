"""The master with w and c as variables: as good as the other, and for columns of any sizes."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.bundle.graded import GradedKKT
from scoresieve.solvers.bundle.master import solve_master
from scoresieve.solvers.bundle.scaled import MasterProblem, MasterSolution
from scoresieve.solvers.conic import solve_master_conic
from scoresieve.solvers.interior.predictor_corrector import predictor_corrector


def random_master(seed, budget=3, C=1.0, n_cuts=10, n_columns=7, **sets):
    rng = np.random.default_rng(seed)
    cuts = rng.normal(size=(n_cuts, n_columns)) + rng.normal(size=n_columns)
    losses = rng.uniform(0.1, 10.0, size=n_cuts)
    return MasterProblem(cuts, losses, C, BudgetNorm(budget, n_columns, **sets))


def solve_graded(problem, tol=1e-9, scale=1.0):
    system = GradedKKT(problem, scale)
    n_cuts = problem.losses.size
    n_steps = predictor_corrector(
        system, system.start(np.full(n_cuts, 1 / n_cuts)), tol=tol, max_steps=100, stall_steps=15
    )
    return system, system.solution(n_steps)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(
    ("budget", "sets"),
    [
        (1, {}),
        (3, {}),
        (7, {}),
        (2, {"always_features": [1, 4]}),
        (2, {"excluded_features": [0, 5]}),
        (2, {"always_features": range(7)}),
        (2, {"feature_groups": [0, 0, 1, 2, 1, 3, 3]}),
        (2, {"feature_groups": [0, 0, 1, 2, 1, 3, 3], "always_features": [3]}),
    ],
)
def test_it_solves_what_the_conic_solver_solves(C, budget, sets):
    problem = random_master(3, budget, C, **sets)
    _, found = solve_graded(problem, scale=min(C, 1.0))
    conic = solve_master_conic(problem)
    assert found.relative_gap <= 1e-9
    assert found.primal == pytest.approx(conic.primal, rel=1e-7)
    assert found.dual == pytest.approx(conic.dual, rel=1e-7)
    assert np.all(found.alpha >= 0)
    assert found.alpha.sum() <= C
    assert not np.any(found.w[problem.norm.excluded])


@pytest.mark.parametrize("groups", [None, [0, 1, 1, 2, 2, 3, 3]], ids=["single", "groups"])
@pytest.mark.parametrize("seed", range(4))
def test_columns_ten_orders_apart_need_no_conic_solver(seed, groups, caplog):
    """Their squares, twenty orders apart, are lost in a matrix of products."""
    problem = random_master(seed, budget=2, C=0.5, feature_groups=groups)
    problem.cuts[:, [0, 3]] *= 1e10
    # Cuts that contradict each other there: the small columns have to decide.
    problem.cuts[:5, [0, 3]] *= -1.0
    with caplog.at_level(logging.INFO, logger="scoresieve"):
        found = solve_master(problem, tol=1e-5)
    assert caplog.records == []
    assert not found.fell_back
    assert found.relative_gap <= 1e-5
    assert problem.primal(found.w) == pytest.approx(found.primal, rel=1e-5)
    assert problem.dual(found.alpha) == pytest.approx(found.dual, rel=1e-5)


def test_entries_that_cancel_exactly_prove_the_optimum():
    """Two cuts that contradict each other on a column of 1e60: w = 0 is best, J = C (1 + 3) / 2."""
    cuts = np.array([[0.7e60, 0.0], [-0.7e60, 0.0]])
    problem = MasterProblem(cuts, np.array([1.0, 3.0]), 8.0, BudgetNorm(1, 2))
    found = solve_master(problem, tol=1e-6)
    assert not found.fell_back
    assert found.primal == pytest.approx(16.0, rel=1e-6)
    assert found.dual == pytest.approx(16.0, rel=1e-12)


@pytest.mark.parametrize("shares", [(1, 1), (2, 1), (3, 1), (3, 2), (4, 3)])
def test_small_whole_shares_cancel_exactly(shares):
    """Cuts of b and -a times 1e60 balance at alpha = (a, b) C / (a + b), and nowhere near it."""
    a, b = shares
    cuts = 0.7e60 * np.array([[b], [-a]])
    problem = MasterProblem(cuts, np.array([1.0, 3.0]), 8.0, BudgetNorm(1, 1))
    system = GradedKKT(problem, 8.0)
    point = system.start(np.array([1.001 * a, b]) / (1.001 * a + b))
    system.observe(point)
    before = system.solution(0)
    system.balance()
    after = system.solution(0)
    expected = 8.0 * (a + 3.0 * b) / (a + b)
    assert before.dual < 1e-100
    assert after.dual == pytest.approx(expected, rel=1e-12)
    assert after.alpha == pytest.approx(8.0 * np.array(shares) / (a + b), rel=1e-12)


def test_what_double_precision_cannot_settle_is_left_open():
    """Weights at which a and b of 1e60 cancel are no double numbers: none proves much."""
    a, b = np.sqrt(0.5), 1.0 / np.pi
    cuts = np.array([[1e60 * a], [-1e60 * b]])
    problem = MasterProblem(cuts, np.array([1.0, 3.0]), 8.0, BudgetNorm(1, 1))
    found = solve_master(problem, tol=1e-6)
    assert found.at_rounding
    assert not found.fell_back
    # alpha = C (b, a) / (a + b) would prove the best value, which a w of some 1e-60 has.
    assert found.primal == pytest.approx(8.0 * (b + 3.0 * a) / (a + b), rel=1e-6)
    assert found.dual <= found.primal


def test_a_huge_column_that_explains_all_leaves_a_tiny_objective():
    cuts = np.array([[2.0e40, 1.0], [1.0e40, -1.0]])
    problem = MasterProblem(cuts, np.array([1.0, 1.0]), 5.0, BudgetNorm(1, 2))
    found = solve_master(problem, tol=1e-6)
    assert not found.fell_back
    assert found.relative_gap <= 1e-6
    assert found.primal == pytest.approx(0.5e-80, rel=1e-6)


def test_the_scale_of_the_columns_moves_only_exponents():
    """Cuts times 2^e and C times 4^-e: the same bits."""
    problem = random_master(5, budget=2, C=0.5)
    problem.cuts[:, 0] *= 1e12
    other = MasterProblem(
        problem.cuts * 2.0**40, problem.losses, problem.C * 2.0**-80, problem.norm
    )
    first, second = solve_master(problem, tol=1e-5), solve_master(other, tol=1e-5)
    assert np.array_equal(first.w, second.w * 2.0**40)
    assert np.array_equal(first.alpha, second.alpha * 2.0**80)


def test_cuts_that_ask_for_nothing_leave_nothing_to_pay():
    """Tangents of a squared loss may lie below 0."""
    problem = random_master(6)
    problem.losses[:] = -1.0
    found = solve_master(problem, tol=1e-6)
    assert not found.fell_back
    assert found.primal == pytest.approx(0.0, abs=1e-9)
    assert found.dual == pytest.approx(0.0, abs=1e-9)


def test_a_step_takes_the_residual_away():
    """To first order a share t of the affine step leaves 1 - t of each cut's residual."""
    problem = random_master(7, budget=2, C=0.5)
    system = GradedKKT(problem, 1.0)
    point = system.start(np.full(10, 0.1))
    point.values[1, :10] += np.linspace(0.1, 0.5, 10)
    system.observe(point)
    affine = system.linearise()
    before, t = system._of_alpha, 1e-6
    system.observe(point.moved(affine, t))
    system.linearise()
    assert np.abs(before).max() > 0.01
    assert (system._of_alpha - before) / t == pytest.approx(-before, rel=1e-3, abs=1e-6)


def test_what_is_as_good_stays():
    first, second = (
        MasterSolution(np.array([w]), np.array([a]), 2.0, 1.0, 1) for w, a in ((1.0, 3.0), (2.0, 4))
    )
    assert first.with_better_of(second) is first
