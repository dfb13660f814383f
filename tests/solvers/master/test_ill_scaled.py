"""Masters whose columns are many orders apart: solved by the same steps on equilibrated columns."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.master.conic import solve_master_conic
from scoresieve.solvers.master.problem import MasterProblem, MasterSolution
from scoresieve.solvers.master.solve import solve_master


def random_master(seed, budget=3, C=1.0, n_cuts=10, n_columns=7, **sets):
    rng = np.random.default_rng(seed)
    cuts = rng.normal(size=(n_cuts, n_columns)) + rng.normal(size=n_columns)
    losses = rng.uniform(0.1, 10.0, size=n_cuts)
    return MasterProblem(cuts, losses, C, BudgetNorm(budget, n_columns, **sets))


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


def test_what_double_precision_cannot_settle_is_left_open():
    """Weights of cuts that balance on both columns of 1e60 are no double numbers: none proves much.

    The weights of columns are found all the same, as those of columns of 1e6.
    """
    cuts = np.random.default_rng(0).normal(size=(3, 2))
    cuts = np.vstack([cuts, [-0.4, -0.3, -0.3] @ cuts])
    losses = np.array([1.0, 3.0, 2.0, 1.5])
    small, found = (
        solve_master(MasterProblem(cuts * size, losses, 8.0, BudgetNorm(2, 2)), tol=1e-6)
        for size in (1e6, 1e60)
    )
    assert small.relative_gap <= 1e-6
    assert found.at_rounding
    assert not found.fell_back
    assert found.primal == pytest.approx(small.primal, rel=2e-6)
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


def test_what_is_as_good_stays():
    first, second = (
        MasterSolution(np.array([w]), np.array([a]), 2.0, 1.0, 1) for w, a in ((1.0, 3.0), (2.0, 4))
    )
    assert first.with_better_of(second) is first


def contradicting(seed, size, C=2.0, **sets):
    """Cuts that contradict each other on the first two columns, of this size; five are plain."""
    rng = np.random.default_rng(seed)
    cuts = rng.normal(size=(9, 7))
    cuts[:5, :2] = np.abs(cuts[:5, :2])
    cuts[5:, :2] = -np.abs(cuts[5:, :2])
    cuts[:, :2] *= size
    return MasterProblem(cuts, rng.uniform(1.0, 3.0, size=9), C, BudgetNorm(2, 7, **sets))


@pytest.mark.parametrize("groups", [None, [0, 1, 1, 2, 2, 3, 3]], ids=["single", "groups"])
@pytest.mark.parametrize("seed", range(2))
def test_weights_are_those_of_columns_on_which_doubles_can_balance(seed, groups):
    """The weight of a column of 1e6 costs a millionth of the objective, that of 1e40 nothing."""
    small = solve_master(contradicting(seed, 1e6, feature_groups=groups), tol=1e-7)
    conic = solve_master_conic(contradicting(seed, 1e3, feature_groups=groups))
    assert small.relative_gap <= 1e-7
    assert small.primal == pytest.approx(conic.primal, rel=2e-3)
    problem = contradicting(seed, 1e40, feature_groups=groups)
    found = solve_master(problem, tol=1e-5)
    assert found.at_rounding or found.relative_gap <= 1e-5
    assert problem.primal(found.w) == pytest.approx(small.primal, rel=2e-5)
    assert found.primal == pytest.approx(problem.primal(found.w), rel=1e-5)
    assert np.all(found.alpha >= 0.0)
    assert found.alpha.sum() <= problem.C * (1 + 1e-9)
    assert found.dual <= small.primal * (1 + 1e-6)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_weights_are_found_with_columns_of_three_sizes(seed):
    """Columns of 1e40 and, in some cuts, 1e12: steps that balance on the first spoil the second."""

    def of_size(size):
        problem = contradicting(seed, size)
        problem.cuts[:4, 2] = 1e12
        return problem

    small = solve_master(of_size(1e12), tol=1e-7)
    assert small.relative_gap <= 1e-7
    found = solve_master(of_size(1e40), tol=1e-5)
    assert found.at_rounding
    assert found.primal == pytest.approx(small.primal, rel=1e-5)
