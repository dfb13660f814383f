"""The Newton system: factorisations against a dense solve, directions against the conditions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.linalg import LinAlgError

from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.interior import Iterate
from scoresieve.solvers.master.kkt import (
    DirectFactor,
    MasterKKT,
    MixedFactor,
    _cholesky,
    choose_factor,
)
from scoresieve.solvers.master.problem import Evaluation, MasterProblem, ScaledMaster

GROUPS = {"feature_groups": [0, 0, 1, 1, 2, 2, 3]}
SETS = {"plain": {}, "always": {"always_features": [0, 3]}, "groups": GROUPS}


def scaled_master(seed, n_cuts=20, sets=None, n_columns=7, budget=2, alpha_scale=0.7):
    rng = np.random.default_rng(seed)
    cuts = rng.normal(size=(n_cuts, n_columns)) + rng.normal(size=n_columns)
    norm = BudgetNorm(budget, n_columns, **(sets or {}))
    problem = MasterProblem(cuts, rng.uniform(0.1, 3.0, size=n_cuts), 2.0, norm)
    return ScaledMaster.of(problem, alpha_scale)


def interior_state(data, seed, spread=1.0):
    """A point inside every bound; alpha and its multipliers over ``spread`` orders of magnitude."""
    rng = np.random.default_rng(seed)
    alpha = 10 ** rng.uniform(-spread, 0.0, size=data.n_cuts)
    alpha *= 0.9 * data.cap / alpha.sum()
    d = rng.uniform(0.1, 0.9, size=data.n_units)
    x = np.concatenate([alpha, [data.cap - alpha.sum()], d, 1.0 - d])
    z = rng.uniform(0.1, 1.0, size=x.size)
    z[: data.n_cuts] = 10 ** rng.uniform(-spread, 0.0, size=data.n_cuts)
    return Evaluation(data, Iterate(np.array([x, z]), rng.uniform(size=1)))


def dense_matrix(data, state, theta, D):
    """M by its definition, with the sums over the columns of a unit written out."""
    unit_of = np.arange(data.n_units) if data.unit_of is None else data.unit_of
    matrix = np.diag(D) + data.fixed @ data.fixed.T
    c = data.A.T @ state.alpha
    for unit in range(data.n_units):
        block, c_unit = data.A[:, unit_of == unit], c[unit_of == unit]
        coupled = block @ c_unit
        matrix += state.d[unit] * block @ block.T + theta[unit] * np.outer(coupled, coupled)
    return matrix


@pytest.mark.parametrize("factor_class", [DirectFactor, MixedFactor])
@pytest.mark.parametrize("n_cuts", [1, 5, 20, 60])
@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
def test_factors_solve_as_a_dense_solver_does(factor_class, n_cuts, sets):
    data = scaled_master(n_cuts, n_cuts, sets)
    factor, rng = factor_class(data), np.random.default_rng(0)
    for seed in range(3):
        state = interior_state(data, seed, spread=4.0)
        theta = rng.uniform(0.1, 2.0, size=data.n_units)
        D = state.point.values[1][:n_cuts] / state.alpha
        factor.factorise(state, theta, D)
        sides = rng.normal(size=(3, n_cuts))
        expected = np.linalg.solve(dense_matrix(data, state, theta, D), sides.T).T
        size = np.abs(expected).max()
        assert factor.solve(sides) == pytest.approx(expected, rel=1e-7, abs=1e-9 * size)
        assert factor.solve(sides[1]) == pytest.approx(expected[1], rel=1e-7, abs=1e-9 * size)


@pytest.mark.parametrize("factor_class", [DirectFactor, MixedFactor])
def test_factors_with_a_budget_for_all_columns(factor_class):
    data, n_cuts = scaled_master(1, n_cuts=60, budget=7), 60
    assert data.n_units == 0
    assert data.fixed.shape == (60, 7)
    factor, rng = factor_class(data), np.random.default_rng(1)
    state = interior_state(data, 1, spread=4.0)
    D = state.point.values[1][:n_cuts] / state.alpha
    factor.factorise(state, np.empty(0), D)
    sides = rng.normal(size=(3, n_cuts))
    expected = np.linalg.solve(dense_matrix(data, state, np.empty(0), D), sides.T).T
    size = np.abs(expected).max()
    assert factor.solve(sides) == pytest.approx(expected, rel=1e-7, abs=1e-9 * size)


def test_a_budget_for_more_columns_than_cuts_keeps_only_their_gram_matrix():
    data = scaled_master(2, n_cuts=200, n_columns=200, budget=200)
    assert data.fixed.shape == (200, 0)
    assert type(choose_factor(data)) is DirectFactor


def test_the_mixed_factor_keeps_tiny_diagonal_entries():
    """Fourteen orders of magnitude in D: the residual stays small, relative to each row's terms."""
    data = scaled_master(3, n_cuts=40)
    state, rng = interior_state(data, 3), np.random.default_rng(3)
    D = 10 ** np.concatenate([rng.uniform(-10, -8, size=5), rng.uniform(1, 4, size=35)])
    theta, side = np.full(data.n_units, 0.5), rng.normal(size=40)
    factor = MixedFactor(data)
    factor.factorise(state, theta, D)
    solved = factor.solve(side)
    matrix = dense_matrix(data, state, theta, D)
    terms = np.abs(matrix) @ np.abs(solved) + np.abs(side)
    assert np.all(np.abs(matrix @ solved - side) <= 1e-12 * terms)


@pytest.mark.parametrize(
    ("n_cuts", "n_columns", "sets", "expected"),
    [
        (179, 7, {}, DirectFactor),
        (180, 7, {}, MixedFactor),
        (191, 120, {}, DirectFactor),
        (192, 120, {}, MixedFactor),
        (191, 120, {"always_features": [0, 3]}, DirectFactor),
        (192, 120, {"always_features": [0, 3]}, MixedFactor),
        (192, 120, {"feature_groups": np.arange(120) // 2}, DirectFactor),
        (288, 120, {"feature_groups": np.arange(120) // 2}, MixedFactor),
        (300, 2, {}, MixedFactor),
    ],
)
def test_the_mixed_factor_is_for_many_cuts_on_few_columns(n_cuts, n_columns, sets, expected):
    """Units that are groups count as columns, and so do columns that a budget for all takes in."""
    data = scaled_master(0, n_cuts, sets, n_columns=n_columns)
    assert type(choose_factor(data)) is expected


def test_a_ridge_is_added_only_where_needed():
    regular = np.array([[4.0, 0.0], [2.0, 5.0]])
    factor = _cholesky(lambda: np.asfortranarray(regular))
    assert np.tril(factor) == pytest.approx(np.array([[2.0, 0.0], [1.0, 2.0]]))
    singular = np.ones((3, 3), order="F")
    factor = np.tril(_cholesky(singular.copy))
    assert factor @ factor.T == pytest.approx(singular, abs=1e-10)
    with pytest.raises(LinAlgError, match="not positive definite"):
        _cholesky(lambda: -np.eye(2, order="F"))


def observed(data, state):
    system = MasterKKT(data)
    system.observe(state.point)
    return system


def conditions(data, point):
    """Left sides of the optimality conditions, which a Newton step makes zero."""
    n_cuts, n_units = data.n_cuts, data.n_units
    x, z = point.values
    unit_of = np.arange(n_units) if data.unit_of is None else data.unit_of
    alpha, d = x[:n_cuts], x[n_cuts + 1 : n_cuts + 1 + n_units]
    u, v = z[n_cuts + 1 : n_cuts + 1 + n_units], z[n_cuts + 1 + n_units :]
    c = data.A.T @ alpha
    strengths = np.array([np.sum(c[unit_of == unit] ** 2) for unit in range(n_units)])
    outputs = data.A @ (d[unit_of] * c) + data.fixed @ (data.fixed.T @ alpha)
    return np.concatenate(
        [
            outputs - data.q + z[n_cuts] - z[:n_cuts],
            0.5 * strengths - point.free[0] + u - v,
            [d.sum() - data.budget, alpha.sum() + x[n_cuts] - data.cap],
            d + x[n_cuts + 1 + n_units :] - 1.0,
            x * z,
        ]
    )


@pytest.mark.parametrize("n_cuts", [5, 200])
@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
def test_the_affine_step_solves_the_linearised_conditions(n_cuts, sets):
    """A central difference along the step is exact for quadratic conditions, up to rounding."""
    data = scaled_master(1, n_cuts, sets)
    state = interior_state(data, 4)
    system = observed(data, state)
    step = system.linearise()
    assert system._affine_c == pytest.approx(data.A.T @ step.values[0][:n_cuts])
    ahead = conditions(data, state.point.moved(step, 1.0))
    behind = conditions(data, state.point.moved(step, -1.0))
    here = conditions(data, state.point)
    assert 0.5 * (ahead - behind) == pytest.approx(-here, abs=1e-8 * np.abs(ahead).max())


@pytest.mark.parametrize("weight", [1.0, 0.3])
@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
def test_the_corrected_step_takes_the_second_order_terms(weight, sets):
    """Linear part = -(conditions) + (target of products) - weight * second order of the affine."""
    n_cuts, target = 12, 0.02
    data = scaled_master(2, n_cuts, sets)
    state = interior_state(data, 5)
    system = observed(data, state)
    affine = system.linearise()
    step = system.corrected(target, affine, weight)
    here = conditions(data, state.point)

    def parts(direction):
        ahead = conditions(data, state.point.moved(direction, 1.0))
        behind = conditions(data, state.point.moved(direction, -1.0))
        return 0.5 * (ahead - behind), 0.5 * (ahead + behind) - here

    wanted = -here - weight * parts(affine)[1]
    wanted[-state.point.values.shape[1] :] += target
    size = np.abs(parts(affine)[1]).max()
    assert parts(step)[0] == pytest.approx(wanted, abs=1e-8 * size)


def test_a_system_may_be_used_at_one_point_after_another():
    """Nothing of an earlier point is left in the memory that the system keeps."""
    for n_cuts in (5, 200):
        data = scaled_master(6, n_cuts, {"always_features": [1]})
        first, second = interior_state(data, 1), interior_state(data, 2)
        used, fresh = observed(data, first), observed(data, second)
        used.corrected(0.1, used.linearise(), 1.0)
        used.observe(second.point)
        steps = [system.corrected(0.1, system.linearise(), 1.0) for system in (used, fresh)]
        np.testing.assert_array_equal(steps[0].values, steps[1].values)


def primal_values(data, state):
    """Of w = d * c, with d scaled into D, as it is; and stretched until no cut is left, if any."""
    unit_of = np.arange(data.n_units) if data.unit_of is None else data.unit_of
    alpha, d = state.alpha, state.d[unit_of]
    c, fixed = data.A.T @ alpha, data.fixed.T @ alpha
    norm_squared = fixed @ fixed + np.sum(d * c**2) * max(1.0, state.d.sum() / data.budget)
    outputs = data.A @ (d * c) + data.fixed @ fixed
    plain = 0.5 * norm_squared + data.cap * max(0.0, np.max(data.q - outputs))
    stretch = np.max(data.q / outputs) if outputs.min() > 0.0 else np.inf
    return plain, 0.5 * stretch**2 * norm_squared if 1.0 < stretch < 10.0 else np.inf


@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
def test_the_bounds_of_a_point_are_its_values(sets):
    """Which of the two primal values is the better one varies with the size of the cuts."""
    better = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        cuts = 10 ** rng.uniform(-0.5, 0.8) * (0.5 * rng.normal(size=(4, 7)) + 1.0)
        norm = BudgetNorm(1, 7, **sets)
        norm = norm.with_budget(norm.n_units - 2)
        problem = MasterProblem(cuts, rng.uniform(0.5, 1.0, size=4), 2.0, norm)
        data = ScaledMaster.of(problem, 0.7)
        values = interior_state(data, seed).point.values
        values[0, :4] *= 0.1
        values[0, 4] = data.cap - values[0, :4].sum()
        state = Evaluation(data, Iterate(values, np.zeros(1)))
        primal, dual = observed(data, state).bounds
        found = primal_values(data, state)
        better.append(int(np.argmin(found)))
        assert primal == pytest.approx(min(found), rel=1e-9)
        squares = norm.dual_squared(problem.cuts.T @ state.alpha) * 0.7 / data.loss_scale
        assert dual == pytest.approx(data.q @ state.alpha - 0.5 * squares, rel=1e-9)
    assert 10 <= sum(better) <= 90


def test_the_best_values_of_several_points_are_kept():
    data = scaled_master(4, n_cuts=6)
    states = [interior_state(data, seed) for seed in range(6)]
    alone = [observed(data, state).bounds for state in states]
    system = MasterKKT(data)
    for state in states:
        system.observe(state.point)
    primals, duals = zip(*alone, strict=True)
    assert len(set(primals)) == 6
    assert system.bounds == (min(primals), max(duals))
