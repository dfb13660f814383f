"""Equilibration of columns by powers of two, and dual vectors that balance on large columns."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.solvers.ill_scaled import Equilibration, near_balance, shares_of_rows
from scoresieve.solvers.master.problem import combined


def test_factors_are_powers_of_two_that_bring_large_columns_to_one_size():
    X = np.array([[3e20, 1.0, -2e40], [1e5, -0.5, 1e3]])
    factors = Equilibration(X, 2.0).factors(10.0)
    assert np.all(np.frexp(factors)[0] == 0.5)
    assert factors[1] == 1.0
    # A weight that gives outputs of 2 costs 1e-5 of the objective, but for the powers of two.
    sizes = np.abs(X).max(axis=0) * factors
    assert np.all((sizes[[0, 2]] > 0.5 * 2.0 * 1e2) & (sizes[[0, 2]] <= 2.0 * 1e2 * 2.0))


def test_factors_follow_the_objective_and_end():
    X = np.array([[1e12, 1.0], [2e12, 3.0]])
    scaling = Equilibration(X, 1.0)
    first = scaling.factors(1.0)
    # A smaller objective leaves room for larger columns, up to those of X.
    assert np.array_equal(scaling.factors(2.0**-20), first * [2.0**10, 1.0])
    assert np.array_equal(scaling.factors(1e-30), [1.0, 1.0])
    assert scaling.factors(1e-30) is None
    # The same objective again: weights may cost less, as long as double numbers have digits.
    scaling, seen = Equilibration(X, 1.0), []
    while (factors := scaling.factors(1.0)) is not None:
        seen.append(factors[0])
    assert 4 <= len(seen) <= 16
    assert np.all(np.diff(seen) > 0.0)


def test_no_factor_where_no_column_is_large():
    scaling = Equilibration(np.array([[1.0, 0.0], [-2.0, 0.0]]), 1.0)
    assert np.array_equal(scaling.factors(1.0), [1.0, 1.0])
    assert scaling.factors(1.0) is None
    assert Equilibration(np.zeros((3, 0)), 1.0).factors(1.0).size == 0


def test_an_entry_on_which_nothing_depends_makes_no_large_column():
    X = np.array([[1e12, 1.0], [0.5, 1.0], [-0.7, 1.0]])
    scaling = Equilibration(X, 1.0)
    assert scaling.factors(1.0)[0] < 1e-6
    scaling.follow(np.array([1e-12, 0.6, -0.4]))
    assert np.array_equal(scaling.factors(1.0), [1.0, 1.0])


@pytest.mark.parametrize("exponent", [-300, -7, 9, 200])
def test_the_scale_of_all_moves_only_exponents(exponent):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 4)) * 10.0 ** np.array([0.0, 9.0, 20.0, 3.0])
    ours, other = Equilibration(X, 1.0), Equilibration(X * 2.0**exponent, 1.0)
    a = rng.uniform(size=5)
    for objective in (3.0, 1e-3):
        ours.follow(a)
        other.follow(a)
        assert np.array_equal(ours.factors(objective), other.factors(objective / 4.0**exponent))
    for one, same in zip(
        near_balance(a, X, 0.0, np.inf),
        near_balance(a, X * 2.0**exponent, 0.0, np.inf),
        strict=True,
    ):
        assert np.array_equal(one, same)


def test_rows_of_huge_entries_get_small_shares():
    X = np.array([[1.0, -2.0], [3.0, 0.0], [1e9, 1.0], [0.0, 0.0], [1e300, 1.0]])
    assert shares_of_rows(X) == pytest.approx([1.0, 1.0, 3e-9, 1.0, 1e-60])
    assert np.array_equal(shares_of_rows(np.zeros((2, 3))), [1.0, 1.0])


@pytest.mark.parametrize("shares", [(1, 1), (2, 1), (3, 1), (3, 2), (4, 3)])
def test_small_whole_shares_cancel_exactly(shares):
    """Rows of b and -a times 1e60 balance at (a, b), and nowhere near it."""
    a, b = shares
    X = 0.7e60 * np.array([[b], [-a]])
    near = list(near_balance(np.array([1.001 * a, b]), X, 0.0, np.inf))
    left = [abs(combined(each, X)[0]) for each in near]
    assert left[0] > 1e56
    assert min(left) == 0.0
    best = near[int(np.argmin(left))]
    assert best / best.sum() == pytest.approx(np.array(shares) / (a + b), rel=1e-3)


def test_least_squares_balance_as_far_as_doubles_go():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(6, 2)), np.abs(rng.normal(size=(2, 2)))]) * [1e12, 1e50]
    start = rng.uniform(0.5, 1.0, size=8)
    # Near weights that balance.
    start[6:] = np.linalg.solve(X[6:].T / [[1e12], [1e50]], -(start[:6] @ X[:6]) / [1e12, 1e50])
    X[6:] *= np.sign(start[6:])[:, None]
    start = np.abs(start) * (1.0 + 1e-3 * rng.normal(size=8))
    *_, last = near_balance(start, X, 0.0, np.inf)
    terms = np.abs(last) @ np.abs(X)
    assert np.all(np.abs(combined(last, X)) <= 1e-14 * terms)
    assert last == pytest.approx(start, rel=0.05)


def test_bounds_hold():
    rng = np.random.default_rng(2)
    X, a = 1e20 * rng.normal(size=(6, 2)), rng.uniform(-1.0, 0.0, size=6)
    for each in near_balance(a, X, -1.0, 0.0):
        assert np.all((each >= -1.0) & (each <= 0.0))


@pytest.mark.parametrize(
    "a", [np.zeros(3), np.array([1.0, np.inf, 1.0]), np.array([1.0, np.nan, 1])]
)
def test_nothing_to_balance(a):
    assert len(list(near_balance(a, np.ones((3, 1)), 0.0, np.inf))) == 1
    assert len(list(near_balance(np.ones(3), np.ones((3, 0)), 0.0, np.inf))) == 1
