"""The master problem: the structured method, Clarabel's dual form and a conic form in w agree."""

from __future__ import annotations

import logging
import re
from dataclasses import replace

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.linalg import LinAlgError

from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.master import solve as master_module
from scoresieve.solvers.master.conic import solve_master_conic
from scoresieve.solvers.master.problem import MasterProblem, ScaledMaster
from scoresieve.solvers.master.solve import solve_master

CHECKED = settings(derandomize=True, deadline=None, database=None, max_examples=60)


def random_master(seed, n_cuts=12, n_columns=9, budget=3, C=1.0, **sets):
    """Cuts with an offset, so that w = 0 is seldom optimal, and losses in (0, 10)."""
    rng = np.random.default_rng(seed)
    cuts = rng.normal(size=(n_cuts, n_columns)) + rng.normal(size=n_columns)
    losses = rng.uniform(0.1, 10.0, size=n_cuts)
    return MasterProblem(cuts, losses, C, BudgetNorm(budget, n_columns, **sets))


def solve_structured(problem, tol=1e-6, **options):
    """The structured method's own solution: it needed no other solver's help."""
    solution = solve_master(problem, tol=tol, **options)
    assert not solution.fell_back
    return solution


def assert_sound(problem, solution, rel=1e-10):
    """The values belong to the points, the points are feasible, and weak duality holds."""
    assert solution.w.shape == problem.cuts.shape[1:]
    assert solution.alpha.shape == problem.losses.shape
    assert np.all(solution.alpha >= 0)
    assert solution.alpha.sum() <= problem.C * (1 + 1e-12)
    assert np.all(solution.w[problem.norm.excluded] == 0)
    size = abs(solution.primal)
    assert problem.primal(solution.w) <= solution.primal + rel * size
    assert problem.dual(solution.alpha) == pytest.approx(solution.dual, rel=rel, abs=rel * size)
    assert solution.dual <= problem.primal(solution.w) + rel * size


def assert_agree(problem, tol=1e-8):
    """Both methods solve the problem, and each one's optimum is within the other's bounds."""
    ours, conic = solve_structured(problem, tol=tol), solve_master_conic(problem)
    assert_sound(problem, ours)
    assert_sound(problem, conic)
    assert ours.relative_gap <= tol
    assert ours.primal == pytest.approx(conic.primal, rel=1e-6)
    assert ours.dual == pytest.approx(conic.dual, rel=1e-6)
    assert ours.primal >= conic.dual * (1 - 1e-9)
    assert ours.dual <= conic.primal * (1 + 1e-9)


@st.composite
def masters(draw):
    n_columns = draw(st.integers(1, 8))
    grouped = draw(st.booleans())
    groups = np.array([draw(st.integers(0, 3)) if grouped else j for j in range(n_columns)])
    kinds = [draw(st.sampled_from([0, 0, 0, 1, 2])) for _ in range(n_columns)]
    status = np.array([kinds[group] for group in groups % n_columns])
    problem = random_master(
        draw(st.integers(0, 10**6)),
        n_cuts=draw(st.integers(1, 15)),
        n_columns=n_columns,
        C=draw(st.sampled_from([0.01, 0.1, 1.0, 10.0, 100.0])),
    )
    # A column more, so that those at hand may all be excluded.
    norm = BudgetNorm(
        draw(st.integers(1, n_columns + 1)),
        n_columns + 1,
        always_features=np.flatnonzero(status == 1),
        excluded_features=np.flatnonzero(status == 2),
        feature_groups=np.append(groups % n_columns, n_columns) if grouped else None,
    )
    problem = replace(problem, norm=norm.restrict(np.arange(n_columns)))
    zero_loss = draw(st.integers(0, problem.losses.size - 1))
    if draw(st.booleans()) and problem.losses.size > 1:
        problem.losses[zero_loss] = 0.0
    if draw(st.booleans()):
        problem.cuts[-1] = problem.cuts[0]
    return problem


@CHECKED
@given(masters())
def test_both_methods_agree(problem):
    assert_agree(problem)


@pytest.mark.parametrize(
    "sets",
    [
        {},
        {"always_features": [0, 8]},
        {"excluded_features": [2]},
        {"feature_groups": [0, 0, 1, 1, 2, 2, 3, 3, 4]},
        {
            "feature_groups": [0, 0, 1, 1, 2, 2, 3, 3, 4],
            "always_features": [8],
            "excluded_features": [0, 1],
        },
    ],
    ids=["plain", "always", "excluded", "groups", "all"],
)
@pytest.mark.parametrize("budget", [1, 3, 9])
def test_optimum_equals_a_conic_programme_in_w(brute, budget, sets):
    problem = random_master(budget, budget=budget, C=0.3, **sets)
    expected, _ = brute.optimum(problem.cuts, problem.losses, problem.C, budget, **sets)
    solution = solve_master(problem, tol=1e-9)
    assert solution.primal == pytest.approx(expected, rel=1e-7)
    assert solution.dual == pytest.approx(expected, rel=1e-7)
    assert problem.primal(solution.w) == pytest.approx(
        brute.objective(problem.cuts, problem.losses, solution.w, problem.C, budget, **sets),
        rel=1e-10,
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_extreme_C_and_scales_of_the_cuts(seed, C, scale):
    problem = random_master(seed, n_cuts=20, n_columns=30, budget=5, C=C)
    assert_agree(MasterProblem(scale * problem.cuts, problem.losses, C, problem.norm))


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e5])
def test_scales_of_the_losses(scale):
    problem = random_master(1, n_cuts=20, n_columns=30, budget=5)
    assert_agree(MasterProblem(problem.cuts, scale * problem.losses, 1.0, problem.norm))


@pytest.mark.parametrize(("n_columns", "budget"), [(4, 4), (4, 9), (1, 1)])
def test_a_budget_for_every_column_is_a_quadratic_programme(brute, n_columns, budget):
    problem = random_master(3, n_columns=n_columns, budget=budget)
    quadratic = np.zeros((n_columns + 1, n_columns + 1))
    quadratic[:n_columns, :n_columns] = np.eye(n_columns)
    rows = np.hstack([-problem.cuts, -np.ones((12, 1))])
    rows = np.vstack([rows, -np.eye(n_columns + 1)[-1:]])
    sides = np.append(-problem.losses, 0.0)
    cone = clarabel.NonnegativeConeT(13)
    linear = np.append(np.zeros(n_columns), problem.C)
    _, expected = brute.clarabel_solve(quadratic, linear, [(rows, sides, cone)])
    assert_agree(problem)
    assert solve_master(problem, tol=1e-9).primal == pytest.approx(expected, rel=1e-7)


def test_one_cut_has_a_closed_form():
    """max_t q t - t^2/2 ||a||_(B)^2 with t <= C."""
    problem = random_master(5, n_cuts=1, C=100.0)
    loss, largest = problem.losses[0], np.sum(np.sort(problem.cuts[0] ** 2)[-3:])
    assert loss / largest < 100
    assert solve_master(problem, tol=1e-9).dual == pytest.approx(0.5 * loss**2 / largest, rel=1e-8)
    capped = MasterProblem(problem.cuts, problem.losses, 0.01, problem.norm)
    expected = 0.01 * loss - 0.5 * 0.01**2 * largest
    assert solve_master(capped, tol=1e-9).primal == pytest.approx(expected, rel=1e-8)
    assert_agree(problem)
    assert_agree(capped)


def test_duplicate_cuts_change_nothing():
    problem = random_master(6)
    doubled = MasterProblem(
        np.vstack([problem.cuts] * 3), np.tile(problem.losses, 3), 1.0, problem.norm
    )
    assert_agree(doubled)
    assert solve_master(doubled, tol=1e-9).primal == pytest.approx(
        solve_master(problem, tol=1e-9).primal, rel=1e-7
    )


@pytest.mark.parametrize(
    "sets",
    [{}, {"always_features": [0]}, {"feature_groups": [0, 0, 1, 1, 2, 2]}],
    ids=["plain", "always", "groups"],
)
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("repeats", [1, 2])
def test_many_more_cuts_than_columns(repeats, C, sets):
    """Here the Newton system is solved on the side of the columns; also with duplicate cuts."""
    problem = random_master(11, n_cuts=200, n_columns=6, budget=2, C=C, **sets)
    cuts, losses = np.vstack([problem.cuts] * repeats), np.tile(problem.losses, repeats)
    assert_agree(MasterProblem(cuts, losses, C, problem.norm))


def test_the_same_problem_gives_the_same_bits():
    for n_cuts in (12, 200):
        problem = random_master(12, n_cuts=n_cuts, n_columns=20)
        first, second = solve_structured(problem), solve_structured(problem)
        np.testing.assert_array_equal(first.w, second.w)
        np.testing.assert_array_equal(first.alpha, second.alpha)
        assert (first.primal, first.dual, first.n_steps) == (
            second.primal,
            second.dual,
            second.n_steps,
        )


def test_columns_without_entries_get_no_weight():
    problem = random_master(7, n_columns=9)
    problem.cuts[:, 4:] = 0.0
    assert_agree(problem)
    assert np.all(solve_master(problem).w[4:] == 0.0)


def test_all_columns_always_in():
    assert_agree(random_master(8, n_columns=5, always_features=range(5)))


def test_a_warm_start_does_not_move_the_optimum():
    problem = random_master(9, n_cuts=30, n_columns=20, C=2.0)
    cold = solve_structured(problem, tol=1e-8)
    warm = solve_structured(problem, tol=1e-8, start=cold.alpha)
    assert warm.primal == pytest.approx(cold.primal, rel=2e-8)
    skewed = np.zeros(30)
    skewed[0] = 2.0
    assert solve_structured(problem, tol=1e-8, start=skewed).relative_gap <= 1e-8


def test_feasible_clips_and_shrinks():
    problem = random_master(1, n_cuts=3, C=2.0)
    assert problem.feasible(np.array([-1.0, 3.0, 1.0])) == pytest.approx([0.0, 1.5, 0.5])
    assert problem.feasible(np.array([0.5, 0.0, 1.0])) == pytest.approx([0.5, 0.0, 1.0])


def failing(system, start, **_):
    raise LinAlgError("not positive definite")


def inaccurate(system, start, **_):
    system.observe(start)
    return 7


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (failing, "not positive definite"),
        (inaccurate, r"relative gap \d\.\de[+-]\d\d after 7 steps"),
    ],
)
def test_the_conic_solver_takes_over_and_says_so(monkeypatch, caplog, broken, reason):
    problem = random_master(2)
    expected = solve_structured(problem, tol=1e-8)
    monkeypatch.setattr(master_module, "predictor_corrector", broken)
    with caplog.at_level(logging.WARNING, logger="scoresieve"):
        solution = solve_master(problem, tol=1e-8)
    assert solution.fell_back
    assert solution.primal == pytest.approx(expected.primal, rel=1e-6)
    assert_sound(problem, solution)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "12 cuts, 9 columns" in record.message
    assert re.search(reason, record.message)


def test_another_scale_of_alpha_is_tried_before_another_solver(monkeypatch):
    """A start in other units, which a failure of the first one leaves unharmed."""
    problem, calls = random_master(2, C=100.0), []

    def fails_once(system, start, **options):
        calls.append(system)
        if len(calls) == 1:
            raise LinAlgError("not positive definite")
        return working(system, start, **options)

    working = master_module.predictor_corrector
    monkeypatch.setattr(master_module, "predictor_corrector", fails_once)
    solution = solve_structured(problem, tol=1e-8)
    assert len(calls) == 2
    assert solution.relative_gap <= 1e-8


def test_the_better_of_two_inaccurate_solutions_is_kept(monkeypatch):
    """A tolerance that neither method reaches: the structured one's solution is the better."""
    problem = random_master(2, feature_groups=[0, 0, 1, 2, 3, 4, 5, 6, 7])
    best = solve_structured(problem, tol=1e-12)

    def less_far(system, start, **options):
        return working(system, start, **options | {"tol": 1e-12})

    working = master_module.predictor_corrector
    monkeypatch.setattr(master_module, "predictor_corrector", less_far)
    solution = solve_master(problem, tol=1e-17)
    assert solution.fell_back
    assert solution.relative_gap <= best.relative_gap
    assert solution.relative_gap <= solve_master_conic(problem).relative_gap


def test_a_start_counts_by_its_shares():
    """Its sum does not matter, and without one all cuts count alike."""
    for size in (1.0, 1e-3, 1e3):
        start = size * np.array([0.2, 0.3, 0.0])
        assert master_module._normalised(3, start) == pytest.approx([0.4, 0.6, 0.0])
    for none in (None, np.zeros(3)):
        assert master_module._normalised(3, none) == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize("C", [0.01, 1.0, 1e5])
@pytest.mark.parametrize(
    "sets",
    [{}, {"always_features": [0, 4]}, {"always_features": range(9)}],
    ids=["plain", "always", "all always"],
)
def test_the_first_point_is_inside_every_bound(sets, C):
    problem = random_master(4, C=C, **sets)
    data, direction = ScaledMaster.of(problem, 0.3), np.arange(1.0, 13.0) / 78.0
    point = master_module._starting_point(data, direction)
    x, z = point.values
    assert np.all(x > 0.0)
    assert np.all(z > 0.0)
    alpha, d = x[:12], x[data.units]
    assert alpha == pytest.approx(0.9 * min(1.0, data.cap) * direction)
    assert x[12] == pytest.approx(data.cap - alpha.sum())
    assert d == pytest.approx(np.full(data.n_units, 3 / max(1, data.n_units)))
    assert x[data.complements] == pytest.approx(1.0 - d)
    c = data.A.T @ alpha
    outputs = data.A @ (d * c) + data.fixed @ (data.fixed.T @ alpha)
    # The risk's level, and multipliers that solve the conditions where that keeps them positive.
    assert z[12] == pytest.approx(max(0.1, np.max(data.q - outputs)) / max(1.0, x[12] / 100.0))
    assert z[:12] == pytest.approx(np.maximum(0.1, outputs - data.q + z[12]))
    assert point.free == pytest.approx([0.5 * np.mean(c * c) if c.size else 0.0])


def test_a_gram_matrix_that_is_at_hand_is_used():
    problem = random_master(4, always_features=[0, 4])
    part = problem.cuts[:, [0, 4]]
    assert problem.fixed_gram() == pytest.approx(part @ part.T)
    given = part @ part.T
    assert replace(problem, gram=given).fixed_gram() is given
    assert_agree(replace(problem, gram=given))


@pytest.mark.parametrize(
    ("budget", "free", "fixed"),
    [(2, [1, 3, 5], [0]), (3, [], [0, 1, 3, 5]), (9, [], [0, 1, 3, 5])],
)
def test_excluded_columns_are_neither_free_nor_fixed(budget, free, fixed):
    problem = random_master(
        3, n_columns=6, budget=budget, always_features=[0], excluded_features=[2, 4]
    )
    assert problem.free_columns.tolist() == free
    assert problem.fixed_columns.tolist() == fixed
    part = problem.cuts[:, fixed]
    assert problem.fixed_gram() == pytest.approx(part @ part.T)


@pytest.mark.parametrize("n_cuts", [3, 12])
def test_excluded_columns_of_a_quadratic_programme_need_no_other_method(monkeypatch, n_cuts):
    """With fewer cuts than columns their Gram matrix serves, with more the columns themselves."""
    monkeypatch.setattr(master_module, "_equilibrated", pytest.fail)
    assert_agree(random_master(3, n_cuts=n_cuts, n_columns=6, budget=6, excluded_features=[2, 4]))


@pytest.mark.parametrize(("primal", "dual"), [(0.5, 1.0), (1.0, 1.5), (0.9, 1.1)])
def test_values_that_the_points_are_not_worth_are_computed_anew(primal, dual):
    """A primal value that is too low, or a dual one that is too high, proves nothing."""
    problem = random_master(2)
    right = solve_structured(problem, tol=1e-8)
    wrong = replace(right, primal=primal * right.primal, dual=dual * right.dual)
    found = master_module._confirmed(problem, wrong, 1e-6)
    assert found.primal == problem.primal(right.w)
    assert found.dual == problem.dual(right.alpha)


def test_values_within_the_tolerance_stay():
    problem = random_master(2)
    right = solve_structured(problem, tol=1e-8)
    near = replace(right, primal=right.primal * (1 - 1e-7), dual=right.dual * (1 + 1e-7))
    assert master_module._confirmed(problem, near, 1e-6) is near


@pytest.mark.parametrize("exponent", [-60, 60])
def test_other_units_of_the_columns_move_only_exponents(monkeypatch, exponent):
    """Cuts times 2^e and C times 4^-e: the same bits, from a start of the same size."""
    monkeypatch.setattr(master_module, "_equilibrated", pytest.fail)
    problem = random_master(5, C=0.5)
    size = 2.0**exponent
    other = replace(problem, cuts=problem.cuts * size, C=problem.C / size**2)
    first, second = solve_structured(problem), solve_structured(other)
    np.testing.assert_array_equal(first.w, second.w * size)
    np.testing.assert_array_equal(first.alpha, second.alpha * size**2)
    assert second.relative_gap <= 1e-6
