"""The budget norm against its definition: brute force, duality and known special cases."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.regularizers import BudgetNorm

CHECKED = settings(derandomize=True, deadline=None, database=None, max_examples=100)

SELECTABLE, ALWAYS, EXCLUDED = 0, 1, 2


@st.composite
def norms(draw, max_features=10):
    """A norm with or without groups, always and excluded columns, and a constant one."""
    n = draw(st.integers(1, max_features))
    grouped = draw(st.booleans())
    groups = np.array([draw(st.integers(0, 4)) if grouped else j for j in range(n)])
    kinds = st.sampled_from([SELECTABLE, SELECTABLE, SELECTABLE, ALWAYS, EXCLUDED])
    kind_of = {group: draw(kinds) for group in sorted(set(groups.tolist()))}
    status = np.array([kind_of[group] for group in groups.tolist()])
    if np.all(status == EXCLUDED):
        # Such a norm is refused as a whole, but is what a restriction may leave.
        groups, status = np.append(groups, 5), np.append(status, SELECTABLE)
    norm = BudgetNorm(
        draw(st.integers(1, n + 1)),
        status.size,
        always_features=np.flatnonzero(status == ALWAYS),
        excluded_features=np.flatnonzero(status == EXCLUDED),
        feature_groups=groups if grouped else None,
        has_constant=draw(st.booleans()),
    )
    return norm if status.size == n else norm.restrict(np.arange(n))


def vectors(size):
    """Many ties and zeros from small integers, anything from floats."""
    ties = st.integers(-3, 3).map(float)
    anything = st.floats(-10, 10, allow_subnormal=False).map(lambda x: x if abs(x) > 1e-9 else 0.0)
    one_kind = st.one_of(st.just(ties), st.just(anything))
    return one_kind.flatmap(lambda kind: st.lists(kind, min_size=size, max_size=size)).map(np.array)


@st.composite
def norm_and_vectors(draw, count=1):
    norm = draw(norms())
    return norm, *(draw(vectors(norm.n_columns)) for _ in range(count))


def without_excluded(norm, w):
    w = w.copy()
    w[norm.excluded] = 0.0
    return w


def columns_of_units(norm):
    return [np.flatnonzero(norm.unit_of == unit) for unit in range(norm.n_units)]


def plain_dual_squared(norm, c):
    """The definition with loops: sort the unit sums, add up the first B."""
    sums = sorted((sum(c[j] ** 2 for j in unit) for unit in columns_of_units(norm)), reverse=True)
    return sum(sums[: norm.budget]) + sum(c[j] ** 2 for j in norm.always)


@CHECKED
@given(norm_and_vectors())
def test_value_lies_between_a_feasible_d_and_a_dual_point(case):
    """min_d sum w^2/d <= value at best_d, and 2<w,c> - ||c||_(B)^2 <= value at c = w/d."""
    norm, w = case
    w = without_excluded(norm, w)
    d = norm.best_d(w)
    per_unit = [d[unit] for unit in columns_of_units(norm)]
    assert all(np.all(x == x[0]) for x in per_unit)
    assert np.all((d >= 0) & (d <= 1))
    assert sum(x[0] for x in per_unit) <= norm.budget * (1 + 1e-12)
    assert np.all(d[norm.always] == 1)
    assert np.all(d[norm.excluded] == 0)
    assert np.all(w[d == 0] == 0)
    used = d > 0
    c = np.zeros_like(w)
    c[used] = w[used] / d[used]
    upper = float(w @ c)
    lower = 2 * upper - plain_dual_squared(norm, c)
    value = norm.value_squared(w)
    assert_allclose(value, upper, rtol=1e-12, atol=1e-300)
    assert_allclose(value, lower, rtol=1e-11, atol=1e-300)


@CHECKED
@given(norm_and_vectors())
def test_dual_is_the_sum_of_the_largest_squares(case):
    norm, c = case
    assert_allclose(norm.dual_squared(c), plain_dual_squared(norm, c), rtol=1e-12, atol=1e-300)


@CHECKED
@given(norm_and_vectors(count=2))
def test_cauchy_schwarz(case):
    norm, w, c = case
    w = without_excluded(norm, w)
    bound = np.sqrt(norm.value_squared(w) * norm.dual_squared(c))
    assert abs(w @ c) <= bound * (1 + 1e-12) + 1e-300


@CHECKED
@given(norm_and_vectors())
def test_cauchy_schwarz_is_tight_on_the_top_columns(case):
    """w = c on the top columns and the always ones, 0 elsewhere, attains the dual norm."""
    norm, c = case
    kept = np.concatenate([norm.top_columns(c), norm.always])
    w = np.zeros_like(c)
    w[kept] = c[kept]
    assert_allclose(w @ c, norm.dual_squared(c), rtol=1e-12, atol=1e-300)
    assert_allclose(norm.value_squared(w), norm.dual_squared(c), rtol=1e-12, atol=1e-300)


@CHECKED
@given(norm_and_vectors())
def test_top_columns_are_a_stable_sort(case):
    norm, c = case
    units = columns_of_units(norm)
    sums = norm.unit_sums(c * c)
    ranked = sorted(range(norm.n_units), key=lambda unit: (-sums[unit], unit))
    chosen = [unit for unit in ranked[: norm.budget] if sums[unit] > 0]
    expected = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *(units[u] for u in chosen)]))
    top = norm.top_columns(c)
    assert top.dtype == np.int64
    assert_array_equal(top, expected)


@CHECKED
@given(norm_and_vectors())
def test_unit_sums_add_the_columns_of_each_unit(case):
    norm, x = case
    expected = [sum(x[j] for j in unit) for unit in columns_of_units(norm)]
    assert_allclose(norm.unit_sums(x), expected, rtol=1e-12, atol=1e-12)


@CHECKED
@given(norm_and_vectors(), st.sampled_from([1e-3, 0.1, 1.0, 7.0, 1e3]))
def test_prox_satisfies_the_optimality_condition(case, step):
    """g = (v - w)/step is a subgradient of 1/2||.||_B^2 iff <g,w> = ||w||_B^2 = ||g||_(B)^2."""
    norm, v = case
    w = norm.prox(v, step)
    assert np.all(w[norm.excluded] == 0)
    g = without_excluded(norm, (v - w) / step)
    scale = max(1e-300, norm.value_squared(w))
    assert_allclose(g @ w, norm.value_squared(w), rtol=1e-9, atol=1e-9 * scale)
    assert_allclose(plain_dual_squared(norm, g), norm.value_squared(w), rtol=1e-8, atol=1e-300)


@CHECKED
@given(norm_and_vectors(), st.data())
def test_restriction_agrees_on_vectors_supported_there(case, data):
    norm, x = case
    some = st.lists(st.integers(0, x.size - 1), min_size=1, unique=True)
    columns = np.array(data.draw(some))
    small, supported = norm.restrict(columns), np.zeros_like(x)
    supported[columns] = x[columns]
    part = x[columns]
    assert small.budget == norm.budget
    assert small.n_columns == columns.size
    assert_allclose(small.value_squared(part), norm.value_squared(supported), rtol=1e-12)
    assert_allclose(small.dual_squared(part), norm.dual_squared(supported), rtol=1e-12)
    assert_allclose(small.best_d(part), norm.best_d(supported)[columns], rtol=1e-12)
    assert_allclose(small.prox(part, 0.5), norm.prox(supported, 0.5)[columns], atol=1e-12)
    assert_array_equal(np.sort(columns[small.always]), np.intersect1d(columns, norm.always))
    assert_array_equal(np.sort(columns[small.excluded]), np.intersect1d(columns, norm.excluded))
    together = norm.unit_of[columns][:, None] == norm.unit_of[columns]
    assert_array_equal(small.unit_of[:, None] == small.unit_of, together)


@CHECKED
@given(st.integers(1, 12).flatmap(vectors), st.integers(0, 3))
def test_budget_one_is_l1_and_a_large_budget_is_l2(w, extra):
    m = w.size
    assert_allclose(BudgetNorm(1, m).value_squared(w), np.abs(w).sum() ** 2, rtol=1e-12)
    assert_allclose(BudgetNorm(1, m).dual_squared(w), np.abs(w).max() ** 2, rtol=1e-12)
    large = BudgetNorm(m + extra, m)
    assert_allclose(large.value_squared(w), w @ w, rtol=1e-12)
    assert_allclose(large.dual_squared(w), w @ w, rtol=1e-12)
    assert_allclose(large.prox(w, 3.0), w / 4.0, rtol=1e-12)


def test_sparse_vectors_have_their_l2_norm():
    w = np.zeros(1000)
    w[[3, 500, 999]] = [1e-8, 2.0, -5.0]
    norm = BudgetNorm(3, 1000)
    assert norm.value_squared(w) == w @ w
    assert_array_equal(norm.best_d(w), (w != 0).astype(float))


@pytest.mark.parametrize("scale", [1e-150, 1e-5, 1.0, 1e5, 1e150])
def test_scales(scale):
    rng = np.random.default_rng(3)
    w = rng.standard_normal(200)
    norm = BudgetNorm(17, 200)
    assert_allclose(norm.value_squared(scale * w), scale**2 * norm.value_squared(w), rtol=1e-12)
    assert_allclose(norm.best_d(scale * w), norm.best_d(w), rtol=1e-12)
    assert_allclose(norm.prox(scale * w, 0.3), scale * norm.prox(w, 0.3), rtol=1e-9)


@pytest.mark.parametrize("budget", [1, 7, 333, 9_999])
def test_long_ties(budget):
    """Rounding of long sums of equal numbers must not move the value: m equal ones give m^2/B."""
    m = 10_000
    for entry in (1.0, 0.1, 1 / 3):
        norm, w = BudgetNorm(budget, m), np.full(m, entry)
        assert_allclose(norm.value_squared(w), entry**2 * m**2 / budget, rtol=1e-11)
        assert_allclose(norm.best_d(w), budget / m, rtol=1e-11)
        assert_array_equal(norm.top_columns(w), np.arange(budget))


def test_prox_with_numbers_that_differ_by_hundreds_of_digits():
    norm = BudgetNorm(1, 3)
    assert_allclose(norm.prox([1.0, 1e-250, 0.0], 0.5), [1 / 1.5, 0.0, 0.0], atol=1e-15)
    assert_array_equal(norm.prox(np.zeros(3), 0.5), np.zeros(3))


def test_excluded_columns_make_the_norm_infinite():
    norm = BudgetNorm(1, 3, excluded_features=[1])
    assert norm.value_squared([1.0, 0.0, 2.0]) == pytest.approx(9.0)
    assert norm.value_squared([1.0, 1e-30, 2.0]) == np.inf
    assert norm.dual_squared([1.0, 100.0, 2.0]) == 4.0


def test_the_constant_column_is_the_last_and_always_in():
    norm = BudgetNorm(1, 3, excluded_features=[0], feature_groups=[0, 1, 1], has_constant=True)
    assert_array_equal(norm.unit_of, [-2, 0, 0, -1])
    assert norm.n_columns == 4
    x = np.array([0.0, 3.0, 4.0, 2.0])
    assert norm.value_squared(x) == norm.dual_squared(x) == pytest.approx(29.0)
    with pytest.raises(ValueError, match="always_features holds 3"):
        BudgetNorm(1, 3, always_features=[3], has_constant=True)


def test_numbering_of_units():
    norm = BudgetNorm(
        2,
        8,
        always_features=[7],
        excluded_features=[4, 2],
        feature_groups=[50, -3, 9, 50, 9, 1, -3, 8],
    )
    assert_array_equal(norm.unit_of, [0, 1, -2, 0, -2, 2, 1, -1])
    assert norm.unit_of.dtype == np.int64
    assert (norm.n_units, norm.has_groups, norm.budget, norm.n_columns) == (3, True, 2, 8)
    assert_array_equal(norm.always, [7])
    assert_array_equal(norm.excluded, [2, 4])
    cut = norm.restrict([1, 3, 7])
    assert_array_equal(cut.unit_of, [0, 1, -1])
    assert not cut.has_groups
    assert BudgetNorm(2, 3, feature_groups=[5, 4, 6]).has_groups is False


def test_restricting_to_outside_columns_leaves_no_units():
    norm = BudgetNorm(2, 4, always_features=[0], excluded_features=[3]).restrict([0, 3])
    assert norm.n_units == 0
    assert norm.value_squared([2.0, 0.0]) == 4.0
    assert norm.dual_squared([2.0, 9.0]) == 4.0
    assert norm.top_columns([2.0, 9.0]).size == 0
    assert_array_equal(norm.best_d([2.0, 0.0]), [1.0, 0.0])
    assert_array_equal(norm.prox([2.0, 9.0], 1.0), [1.0, 0.0])


def test_with_budget_keeps_the_units():
    norm = BudgetNorm(1, 3, feature_groups=[0, 0, 1])
    assert norm.with_budget(2).value_squared([1.0, 2.0, 3.0]) == pytest.approx(14.0)
    assert norm.budget == 1
    with pytest.raises(ValueError, match="budget must be an integer of at least 1; got 0"):
        norm.with_budget(0)


def test_instances_are_immutable_and_can_be_copied():
    norm = BudgetNorm(2, 4, always_features=[3])
    with pytest.raises(FrozenInstanceError):
        norm.budget = 3
    with pytest.raises(ValueError, match="read-only"):
        norm.unit_of[0] = 5
    for twin in (pickle.loads(pickle.dumps(norm)), copy.deepcopy(norm)):
        assert twin.value_squared([1.0, 2.0, 3.0, 4.0]) == norm.value_squared([1.0, 2.0, 3.0, 4.0])
    assert repr(norm) == "BudgetNorm(budget=2, n_columns=4)"


def test_inputs_are_left_alone():
    x = np.array([3.0, -1.0, 2.0, 0.0])
    before = x.copy()
    x.setflags(write=False)
    norm = BudgetNorm(2, 4)
    for call in (norm.value_squared, norm.best_d, norm.dual_squared, norm.top_columns):
        call(x)
    norm.prox(x, 1.0)
    assert_array_equal(x, before)


def test_memory_of_the_pass_over_all_columns():
    """The calls made with m in the millions need at most three vectors of length m."""
    m = 400_000
    c = np.random.default_rng(0).standard_normal(m)
    norm = BudgetNorm(50, m, always_features=[m - 1])
    for call in (norm.dual_squared, norm.top_columns, norm.value_squared):
        tracemalloc.start()
        call(c)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 3.1 * c.nbytes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 0}, "budget must be an integer of at least 1; got 0"),
        ({"n_features": 0}, "n_features must be an integer of at least 1; got 0"),
        ({"always_features": [4]}, "always_features holds 4, but the columns.*0 to 3"),
        ({"excluded_features": [-1]}, "excluded_features holds -1, but the columns.*0 to 3"),
        ({"always_features": [1], "excluded_features": [1]}, "column 1 is in always_features and"),
        ({"excluded_features": [0, 1, 2, 3]}, "excluded_features holds all 4 columns"),
        ({"feature_groups": [0, 1]}, r"feature_groups must be 4 integers.*shape \(2,\)"),
        ({"feature_groups": [0, 0, 1, 1], "always_features": [2]}, "of column 2 is partly in alw"),
        (
            {"feature_groups": [0, 0, 1, 1], "always_features": [2], "excluded_features": [3]},
            "the group of column 3 is partly in always_features or excluded_features",
        ),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        BudgetNorm(**{"budget": 2, "n_features": 4, **arguments})


@pytest.mark.parametrize("step", [0.0, -1.0, np.inf, np.nan])
def test_bad_steps(step):
    with pytest.raises(ValueError, match="step must be positive and finite"):
        BudgetNorm(2, 4).prox(np.ones(4), step)


def test_vectors_of_the_wrong_length():
    norm = BudgetNorm(2, 4)
    for call in (norm.value_squared, norm.best_d, norm.dual_squared, norm.top_columns):
        with pytest.raises(ValueError, match=r"shape \(5,\); this norm is of vectors of shape"):
            call(np.ones(5))


@pytest.mark.parametrize("always", [[0], [3], None])
def test_sums_of_neighbouring_columns_are_a_view(always):
    """Nothing is copied where the columns that the budget chooses from stand side by side."""
    x = np.arange(1.0, 5.0)
    sums = BudgetNorm(2, 4, always_features=always).unit_sums(x)
    assert_array_equal(sums, np.delete(x, always) if always else x)
    assert np.shares_memory(sums, x)
