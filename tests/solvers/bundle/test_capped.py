"""Weights of masters whose columns are too large for any bound: those of smaller columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.bundle.capped import with_smaller_columns
from scoresieve.solvers.bundle.master import solve_master
from scoresieve.solvers.bundle.scaled import MasterProblem, MasterSolution
from scoresieve.solvers.conic import solve_master_conic


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


def nothing_found(problem):
    n_cuts, n_columns = problem.cuts.shape
    w, alpha = np.zeros(n_columns), np.zeros(n_cuts)
    return MasterSolution(w, alpha, problem.primal(w), 0.0, 3, at_rounding=True)


def test_columns_shrink_by_powers_of_two_and_weights_go_back():
    problem = contradicting(0, 1e40)
    seen = []

    def solve(smaller):
        seen.append(smaller)
        w = np.zeros(7)
        w[0], w[3] = 1e-6, 0.5
        return MasterSolution(w, np.full(9, 0.1), 1.0, 0.5, 1)

    after = with_smaller_columns(problem, replace(nothing_found(problem), primal=np.inf), solve)
    (smaller,) = seen
    factors = np.abs(smaller.cuts / problem.cuts).max(axis=0)
    assert np.all(factors[2:] == 1.0)
    assert np.all(factors[:2] < 1e-20)
    assert np.all(np.frexp(factors)[0] == 0.5)
    # Their squares times C are 1e28 times the largest loss, but for the powers of two.
    sizes = np.abs(smaller.cuts[:, :2]).max(axis=0)
    share = problem.C * sizes**2 / problem.losses.max() / 1e28
    assert np.all((share > 1 / 16) & (share <= 4.0))
    assert np.array_equal(after.w, [1e-6 * factors[0], 0, 0, 0.5, 0, 0, 0])
    assert after.primal == problem.primal(after.w)
    assert np.array_equal(after.alpha, np.full(9, 0.1))
    assert after.dual == problem.dual(after.alpha)


def test_columns_grow_again_where_the_optimum_is_far_below():
    problem, expected = contradicting(0, 1e60), [1.0, 1e-20, 1e-40]
    largest = []

    def solve(smaller):
        largest.append(np.abs(smaller.cuts).max())
        value = expected[min(len(largest), 2)]
        return MasterSolution(np.zeros(7), np.zeros(9), value, 0.0, 1)

    with_smaller_columns(problem, nothing_found(problem), solve)
    assert len(largest) == 3
    assert 1e9 < largest[1] / largest[0] < 1e12
    assert 1e9 < largest[2] / largest[1] < 1e11


def test_nothing_is_solved_where_no_column_is_large():
    problem = contradicting(0, 1.0)
    before = nothing_found(problem)
    assert with_smaller_columns(problem, before, pytest.fail) is before


@pytest.mark.parametrize("is_found", [True, False])
def test_what_is_not_better_changes_nothing(is_found):
    problem = contradicting(0, 1e40)
    before = replace(nothing_found(problem), primal=1e-3, dual=1e-5)

    def solve(smaller):
        return replace(nothing_found(smaller), primal=1.0) if is_found else None

    assert with_smaller_columns(problem, before, solve) is before


def test_a_dual_point_that_proves_something_stays():
    problem = contradicting(0, 1e40)
    before = replace(nothing_found(problem), alpha=np.full(9, 0.01), dual=0.5)

    def solve(smaller):
        w = np.array([0.0, 0, 1e-3, 0, 0, 0, 0]) * np.sign(smaller.cuts[:, 2].sum())
        return MasterSolution(w, np.full(9, 0.1), 1.0, 0.5, 1)

    after = with_smaller_columns(problem, replace(before, primal=1e9), solve)
    assert after.primal < 1e9
    assert np.array_equal(after.alpha, before.alpha)
    assert after.dual == 0.5
