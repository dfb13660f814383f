"""The paper's QCQP: optimality conditions, and the primal over groups."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose

from scoresieve.baselines.fs_multi import solve_group_qcqp
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.master import conic
from scoresieve.solvers.master.conic import solve_master_conic
from scoresieve.solvers.master.problem import MasterProblem


def random_groups(seed, n_cuts=6, n_groups=4, n_columns=10, size=3):
    """Groups of columns that overlap, and losses in (0, 5)."""
    rng = np.random.default_rng(seed)
    cuts = rng.normal(size=(n_cuts, n_columns)) + 0.5
    chosen = [rng.choice(n_columns, size, replace=False) for _ in range(n_groups)]
    return cuts, chosen, rng.uniform(0.1, 5.0, size=n_cuts)


def group_primal(cuts, chosen, losses, C, parts):
    """``1/2 (sum_t ||w_t||)^2 + C max(0, max_k q_k - sum_t <a_kt, w_t>)``."""
    outputs = sum(cuts[:, group] @ w for group, w in zip(chosen, parts, strict=True))
    risk = max(0.0, float(np.max(losses - outputs)))
    return 0.5 * sum(np.linalg.norm(w) for w in parts) ** 2 + C * risk


@pytest.mark.parametrize("C", [0.05, 0.5, 5.0, 50.0])
@pytest.mark.parametrize("seed", range(4))
def test_dual_value_equals_the_primal_over_groups(seed, C):
    """The weights w_t attain the dual's value: both are then optimal. w_t = mu_t A_t^T alpha."""
    cuts, chosen, losses = random_groups(seed)
    solution = solve_group_qcqp([cuts[:, group] for group in chosen], losses, C)
    assert np.all(solution.alpha >= 0)
    assert solution.alpha.sum() <= C * (1 + 1e-12)
    assert np.all(solution.mu >= 0)
    assert solution.mu.sum() == pytest.approx(1.0)
    primal = group_primal(cuts, chosen, losses, C, solution.weights)
    assert primal == pytest.approx(solution.dual, rel=1e-6)
    assert solution.dual <= primal * (1 + 1e-12)
    for mu, group, w in zip(solution.mu, chosen, solution.weights, strict=True):
        product = mu * (cuts[:, group].T @ solution.alpha)
        assert_allclose(w, product, atol=1e-3 * np.sqrt(2 * primal))


@pytest.mark.parametrize("seed", range(4))
def test_only_the_strongest_groups_have_weight(seed):
    """Complementarity: mu_t > 0 only where ||A_t^T alpha|| is the largest of all groups."""
    cuts, chosen, losses = random_groups(seed, n_groups=6)
    solution = solve_group_qcqp([cuts[:, group] for group in chosen], losses, 2.0)
    squares = np.array([np.sum((cuts[:, g].T @ solution.alpha) ** 2) for g in chosen])
    slack = squares.max() - squares
    assert_allclose(solution.mu * slack, 0.0, atol=1e-6 * squares.max())
    expected = losses @ solution.alpha - 0.5 * squares.max()
    assert solution.dual == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_one_group_is_the_plain_quadratic_programme(brute, C):
    cuts, (group,), losses = random_groups(7, n_groups=1)
    solution = solve_group_qcqp([cuts[:, group]], losses, C)
    value, _ = brute.optimum(cuts[:, group], losses, C, budget=group.size)
    assert solution.mu == pytest.approx([1.0])
    assert solution.dual == pytest.approx(value, rel=1e-6)
    w = cuts[:, group].T @ solution.alpha
    assert brute.objective(cuts[:, group], losses, w, C, group.size) == pytest.approx(
        value, rel=1e-6
    )


def test_all_groups_of_one_size_give_the_budget_norm():
    """max over all groups of B columns is ||.||_(B)^2: the QCQP is then the master problem."""
    from itertools import combinations

    cuts, _, losses = random_groups(3, n_columns=5)
    chosen = [np.array(group) for group in combinations(range(5), 2)]
    solution = solve_group_qcqp([cuts[:, group] for group in chosen], losses, 1.5)
    master = solve_master_conic(MasterProblem(cuts, losses, 1.5, BudgetNorm(2, 5)))
    assert solution.dual == pytest.approx(master.dual, rel=1e-6)


def test_more_columns_than_cuts_in_a_group():
    """The triangular factor replaces the columns; the value may not notice."""
    cuts, _, losses = random_groups(4, n_cuts=3, n_columns=40)
    wide, narrow = cuts, np.linalg.cholesky(cuts @ cuts.T)
    by_columns = solve_group_qcqp([wide, wide[:, :2]], losses, 1.0)
    by_factor = solve_group_qcqp([narrow, wide[:, :2]], losses, 1.0)
    assert by_columns.dual == pytest.approx(by_factor.dual, rel=1e-7)


def test_an_unbounded_programme_is_an_error(monkeypatch):
    """Whatever status is not usable must not come back as a solution."""

    class Refused:
        def __init__(self, *_):
            pass

        def solve(self):
            return type("Answer", (), {"status": "PrimalInfeasible", "x": [], "z": []})()

    monkeypatch.setattr(conic.clarabel, "DefaultSolver", Refused)
    cuts, chosen, losses = random_groups(0)
    with pytest.raises(LinAlgError, match="status PrimalInfeasible"):
        solve_group_qcqp([cuts[:, group] for group in chosen], losses, 1.0)
    assert conic.clarabel is clarabel
