"""What a swap brings: exact where J is quadratic, by models of every set of columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.subset.refits import Refitter
from scoresieve.solvers.subset.splice import SwapModel

LIMITS = Limits(1e-6, 500)
C = 0.7
COLUMNS = {
    "plain": {},
    "intercept": {"intercept_scaling": 2.0},
    "always": {"always_features": [1, 4]},
    "excluded": {"excluded_features": [0, 5]},
    "all": {"intercept_scaling": 0.5, "always_features": [6], "excluded_features": [2]},
}
sets = pytest.mark.parametrize("sets", COLUMNS.values(), ids=COLUMNS)
FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_array}
GROUPS = [0, 0, 1, 2, 2, 2, 3, 1, 4]


def mixed(seed=0, n_samples=40, n_columns=9):
    """Columns that have much in common, and targets that some of them tell."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_columns)) @ rng.normal(size=(n_columns, n_columns))
    y = X[:, 0] - 2.0 * X[:, 3] + X[:, 7] + 3.0 * rng.normal(size=n_samples)
    return X, y, rng.uniform(0.2, 3.0, size=n_samples)


class Ridge:
    """The least J on any units, by linear algebra, and the model of swaps there."""

    def __init__(self, units, *, form=np.asarray, seed=0, weighted=False, **arguments):
        X, y, weights = mixed(seed)
        self.weights = weights if weighted else np.ones(y.size)
        problem = make_problem(
            form(X), y, loss="squared", budget=3, C=C,
            sample_weight=self.weights if weighted else None, **arguments,
        )  # fmt: skip
        constant = arguments.get("intercept_scaling", 0.0)
        self.X = np.column_stack([X, np.full(y.size, constant)]) if constant else X
        self.y, self.norm = y, problem.norm
        self.refitter = Refitter(problem, LIMITS)
        self.units = np.array(units, dtype=np.int64)
        self.fit = self.refitter.refit(self.units)
        self.model = SwapModel(self.refitter, self.fit)
        self.outside = np.setdiff1d(np.arange(self.norm.n_units), self.units)

    def objective(self, w):
        return 0.5 * w @ w + 0.5 * C * self.weights @ (self.y - self.X @ w) ** 2

    def least(self, units):
        """``min J`` on the columns of the units and those always in."""
        roles = self.norm.unit_of
        part = self.X[:, np.isin(roles, units) | (roles == -1)]
        weighted = C * self.weights[:, None] * part
        w = np.linalg.solve(weighted.T @ part + np.eye(part.shape[1]), weighted.T @ self.y)
        return 0.5 * w @ w + 0.5 * C * self.weights @ (self.y - part @ w) ** 2

    @property
    def here(self):
        return self.least(self.units)


weightings = pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@sets
@weightings
@forms
def test_worths_are_what_j_rises_by(sets, weighted, form):
    ridge = Ridge([0, 2, 4], form=form, weighted=weighted, **sets)
    assert ridge.fit.primal == pytest.approx(ridge.here, rel=1e-9)
    rises = [ridge.least(np.delete(ridge.units, place)) - ridge.here for place in range(3)]
    assert_allclose(0.5 * ridge.model.worths**2, rises, rtol=1e-6)
    assert min(rises) > 0.0


@sets
@weightings
@forms
def test_gains_of_pairs_are_what_j_falls_by(sets, weighted, form):
    ridge = Ridge([0, 2, 4], form=form, weighted=weighted, **sets)
    gains = ridge.model._pair_gains(ridge.outside)
    assert gains.shape == (3, ridge.outside.size)
    expected = [
        [ridge.here - ridge.least([*np.delete(ridge.units, place), newcomer])
         for newcomer in ridge.outside]
        for place in range(3)
    ]  # fmt: skip
    assert_allclose(gains, expected, rtol=1e-6, atol=1e-9 * ridge.here)
    assert np.any(gains > 0.0)


@sets
def test_promises_are_what_j_falls_by_along_one_column(sets):
    """What it has in common with those inside is left out: these keep their weights."""
    for units in ([0, 2, 4], [1], []):
        ridge = Ridge(units, **sets)
        w = ridge.fit.scattered(ridge.X.shape[1])
        assert_array_equal(ridge.model.promises[ridge.units], 0.0)
        for unit in ridge.outside:
            column = np.flatnonzero(ridge.norm.unit_of == unit)[0]
            x = ridge.X[:, column]
            step = C * x @ (ridge.y - ridge.X @ w) / (1.0 + C * x @ x)
            moved = w.copy()
            moved[column] = step
            fall = ridge.objective(w) - ridge.objective(moved)
            assert 0.5 * ridge.model.promises[unit] ** 2 == pytest.approx(fall, rel=1e-5)


def test_worths_of_groups_are_what_j_rises_by():
    ridge = Ridge([0, 2, 4], feature_groups=GROUPS, intercept_scaling=1.0)
    assert ridge.fit.columns.size == 1 + 2 + 3 + 1
    rises = [ridge.least(np.delete(ridge.units, place)) - ridge.here for place in range(3)]
    assert_allclose(0.5 * ridge.model.worths**2, rises, rtol=1e-6)


def test_promises_of_groups_add_up_the_squares_of_their_columns():
    ridge, alone = Ridge([], feature_groups=GROUPS), Ridge([])
    expected = np.sqrt(np.bincount(GROUPS, weights=alone.model.promises**2))
    assert_allclose(ridge.model.promises, expected)


def test_pairs_of_groups_are_ranked_by_promises_and_worths():
    ridge = Ridge([0, 2, 4], feature_groups=GROUPS)
    pairs = ridge.model.pairs(3, 6)
    assert len(pairs) == 6
    assert [pair.gain for pair in pairs] == sorted((pair.gain for pair in pairs), reverse=True)
    for pair in pairs:
        ((leaver,), (newcomer,)) = (
            np.setdiff1d(ridge.units, pair.units), np.setdiff1d(pair.units, ridge.units),
        )  # fmt: skip
        worth = ridge.model.worths[ridge.units.tolist().index(leaver)]
        expected = 0.5 * (ridge.model.promises[newcomer] ** 2 - worth**2)
        assert pair.gain == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_pairs_come_first(seed):
    ridge = Ridge([0, 2, 4], seed=seed, intercept_scaling=1.0)
    falls = {
        tuple(sorted([*np.delete(ridge.units, place).tolist(), int(newcomer)])): ridge.here
        - ridge.least([*np.delete(ridge.units, place), newcomer])
        for place, newcomer in itertools.product(range(3), ridge.outside)
    }
    best = sorted(falls.values(), reverse=True)[:5]
    pairs = ridge.model.pairs(3, 5)
    assert_allclose([pair.gain for pair in pairs], best, rtol=1e-6)
    for pair in pairs:
        assert falls[tuple(pair.units.tolist())] == pytest.approx(pair.gain, rel=1e-6)
    assert len(ridge.model.pairs(3, 1000)) == len(falls)


def test_a_clearer_copy_pays_although_it_promises_less_than_the_other_is_worth():
    """What both have in common goes to the one that is in; only the gain of the pair sees that."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    X = np.column_stack([x + 0.3 * rng.normal(size=60), x])
    refitter = Refitter(make_problem(X, 3.0 * x, loss="squared", budget=1, C=C), LIMITS)
    model = SwapModel(refitter, refitter.refit(np.array([0])))
    assert model.promises[1] < 0.5 * model.worths[0]
    assert model.exchange(1, 1)[1] == 0
    (pair,) = model.pairs(1, 5)
    assert_array_equal(pair.units, [1])
    fall = refitter.refit(np.array([0])).primal - refitter.refit(np.array([1])).primal
    assert pair.gain == pytest.approx(fall, rel=1e-6)
    assert fall > 0.0


class TestExchange:
    def made(self, units, promises, worths):
        """A model with these numbers."""
        model = object.__new__(SwapModel)
        ridge = Ridge(units)
        model.__dict__ = dict(ridge.model.__dict__)
        model.promises, model.worths = np.array(promises), np.array(worths)
        return model

    def test_those_that_promise_most_come_for_those_that_are_worth_least(self):
        model = self.made([1, 4, 6], [5.0, 0, 7.0, 1.0, 0, 6.0, 0, 0, 0], [2.0, 9.0, 5.5])
        for wanted, expected, n_swaps in (
            (1, [2, 4, 6], 1),
            (2, [2, 4, 5], 2),
            # The third would come for one that is worth more.
            (3, [2, 4, 5], 2),
        ):
            units, found = model.exchange(3, wanted)
            assert_array_equal(units, expected)
            assert found == n_swaps

    def test_nothing_that_promises_more_is_no_exchange(self):
        model = self.made([1, 4, 6], [1.0, 0, 1.5, 1.0, 0, 0, 0, 0, 0], [2.0, 9.0, 5.5])
        units, n_swaps = model.exchange(3, 2)
        assert_array_equal(units, [1, 4, 6])
        assert n_swaps == 0

    def test_free_places_are_filled_first(self):
        model = self.made([1, 4], [5.0, 0, 7.0, 1.0, 0, 6.0, 0, 0, 0], [4.0, 9.0])
        units, n_swaps = model.exchange(3, 1)
        assert_array_equal(units, [2, 4, 5])
        assert n_swaps == 1
        model = self.made([1, 4], [0.5, 0, 0.7, 0.1, 0, 0.6, 0, 0, 0], [4.0, 9.0])
        assert_array_equal(model.exchange(4, 1)[0], [1, 2, 4, 5])

    def test_fewer_promise_anything_than_there_are_places(self):
        model = self.made([1, 4], [0.5, 0, 0, 0, 0, 0, 0, 0, 0], [4.0, 9.0])
        units, n_swaps = model.exchange(7, 3)
        assert_array_equal(units, [0, 1, 4])
        assert n_swaps == 1
        model = self.made([1, 4], np.zeros(9), [4.0, 9.0])
        assert model.exchange(7, 3)[1] == 0

    def test_ties_go_to_the_lower_number(self):
        model = self.made([1, 4, 6], [3.0, 0, 3.0, 3.0, 0, 0, 0, 0, 0], [1.0, 1.0, 1.0])
        assert_array_equal(model.exchange(3, 1)[0], [0, 4, 6])
        assert_array_equal(model.exchange(3, 2)[0], [0, 2, 6])


def test_candidates_are_the_most_promising_outside():
    X = np.random.default_rng(0).normal(size=(50, 80))
    refitter = Refitter(make_problem(X, X[:, 0], loss="squared", budget=3, C=C), LIMITS)
    model = SwapModel(refitter, refitter.refit(np.array([5, 7])))
    found = model.candidates(3)
    assert found.size == 26
    left_out = np.setdiff1d(np.arange(80), found)
    assert model.promises[found].min() >= model.promises[left_out].max()
    assert not np.isin([5, 7], found).any()


@pytest.mark.parametrize("units", [[], [0, 1, 2, 3, 4, 5, 6, 7, 8]], ids=["none", "all"])
def test_no_pairs_where_nobody_can_leave_or_enter(units):
    assert Ridge(units).model.pairs(9, 5) == []


@pytest.mark.parametrize("kind", [{"loss": "hinge"}, {"measure": "f1", "price": 0.4}], ids=str)
def test_kinks_have_a_model_as_if_rows_with_a_say_were_quadratic(data, kind):
    X, y = data(0)
    refitter = Refitter(make_problem(X, y, **kind, budget=3, C=0.5), LIMITS)
    fit = refitter.refit(np.array([0, 5, 9]))
    model = SwapModel(refitter, fit)
    part = X[:, fit.columns]
    inverse = np.linalg.inv(np.eye(3) + part.T @ (np.abs(fit.v)[:, None] * part))
    assert_allclose(model.worths, np.abs(fit.w) / np.sqrt(np.diag(inverse)))
    # The best column for the worst is the swap that it proposes first.
    worst, best = fit.columns[np.argmin(model.worths)], np.argmax(model.promises)
    assert (worst, best) == (5, 2)
    assert_array_equal(model.pairs(3, 1)[0].units, [0, 2, 9])
