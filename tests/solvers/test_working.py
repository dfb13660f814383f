"""Working columns: each once, those always in first, and the way back to all columns."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.working import Point, WorkingColumns

kinds = pytest.mark.parametrize("kind", [{"measure": "f1"}, {"loss": "logistic"}], ids=str)


def make(kind, **arguments):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 15))
    y = np.sign(X[:, 0] - X[:, 1] + rng.normal(size=40))
    return make_problem(X, y, **{"budget": 3, "C": 0.7} | kind | arguments)


@kinds
def test_columns_enter_once_and_those_always_in_are_first(kind):
    problem = make(kind, always_features=[7], intercept_scaling=2.0)
    working = WorkingColumns(problem)
    assert_array_equal(working.columns, [7, 15])
    assert working.add(np.array([3, 7, 1])).n_columns == 2
    assert working.add(np.array([1, 3])) is None
    assert_array_equal(working.columns, [7, 15, 1, 3])
    assert working.block.n_columns == working.size == 4
    w = np.array([1.0, -1.0, 0.5, 0.0])
    full = np.zeros(16)
    full[working.columns] = w
    assert_array_equal(working.scattered(w), full)
    for point in (working.point(w), working.point_with_cut(w)):
        assert_allclose(point.scores, problem.design.scores(full, np.arange(16)))
        expected = 0.5 * problem.norm.value_squared(full)
        expected += problem.C * problem.risk.value(point.scores)
        assert point.value == pytest.approx(expected)
    assert point.cut.value(point.scores) == pytest.approx(problem.risk.value(point.scores))


@kinds
def test_places_and_weights_of_some_columns(kind):
    working = WorkingColumns(make(kind, always_features=[7]))
    working.add(np.array([9, 2]))
    working.add(np.array([0]))
    assert_array_equal(working.columns, [7, 2, 9, 0])
    assert_array_equal(working.places(np.array([9, 7, 0])), [2, 0, 3])
    assert_array_equal(working.gathered(np.array([9, 7]), np.array([1.0, 2.0])), [2, 0, 1, 0])
    assert working.n_selected(np.array([5.0, 0.0, 1.0, 0.0])) == 1


@kinds
def test_fewer_columns_and_another_budget(kind):
    problem = make(kind, always_features=[7], feature_groups=[[0, 1], [2, 3]])
    working = WorkingColumns(problem)
    working.add(np.arange(6))
    scores = working.block.scores(np.array([1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0]))
    working.keep(np.array([0, 2, 4]))
    assert_array_equal(working.columns, [7, 1, 3])
    assert_allclose(working.block.scores(np.array([1.0, 2.0, 3.0])), scores)
    assert working.norm.n_columns == 3
    working.turn_to(problem.with_budget(1))
    assert working.norm.budget == 1
    assert working.problem.norm.budget == 1
    working.add(np.array([2]))
    assert working.n_selected(np.array([0.0, 1.0, 1.0, 1.0])) == 2


def test_a_point_is_padded_with_zeros():
    point = Point(np.array([1.0, 2.0]), np.zeros(5), 3.0)
    assert_array_equal(point.padded(4).w, [1.0, 2.0, 0.0, 0.0])
    assert point.padded(2).value == 3.0
