"""Line searches against the measure at every point between two crossings."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import SparseDesign, as_design
from scoresieve.measures import get_measure
from scoresieve.solvers.direct import line_search
from scoresieve.solvers.direct.line_search import LEAST_GAIN, best_steps
from scoresieve.solvers.direct.target import Target

MEASURES = ["f1", "f2", "accuracy", "balanced_accuracy", "mcc", "gmean", "jaccard"]


def make_lines(seed, n=30, m=6, *, integers=False, weighted=False):
    """Some columns with zeros, of both signs, scores with both signs, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.5)
    scores = rng.normal(size=n)
    if integers:  # many crossings at one place
        X, scores = np.round(2.0 * X), np.round(2.0 * scores) - 0.5
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weights = rng.uniform(0.5, 3.0, n) if weighted else np.ones(n)
    return X, scores, y, weights


def values_on_line(target, column, scores):
    """The measure at a point of every interval between crossings, and these points."""
    here = column != 0
    places = np.unique(-scores[here] / column[here])
    ends = np.concatenate([[places[0] - 1.0], places, [places[-1] + 1.0]])
    points = 0.5 * (ends[1:] + ends[:-1])
    tables = [target.alarms(scores + t * column) for t in points]
    return points, np.array([target.value(each.a, each.b) for each in tables])


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_best_step_is_the_best_of_all_intervals(measure, weighted, integers):
    n_better = 0
    for seed in range(8):
        X, scores, y, weights = make_lines(seed, integers=integers, weighted=weighted)
        target = Target.of_rows(get_measure(measure), y, weights)
        alarms = target.alarms(scores)
        found = best_steps(as_design(X).columns(np.arange(6)).entries(), alarms, target)
        now = target.value(alarms.a, alarms.b)
        for column, value, step in zip(X.T, *found, strict=True):
            _, values = values_on_line(target, column, scores)
            if values.max() <= now + LEAST_GAIN:
                assert step == 0.0
                assert value == -np.inf
                continue
            n_better += 1
            moved = target.alarms(scores + step * column)
            assert value == pytest.approx(values.max(), abs=1e-12)
            assert target.value(moved.a, moved.b) == pytest.approx(value, abs=1e-12)
    assert n_better > 10


def test_long_lines_are_searched_near_where_the_scores_are(monkeypatch):
    monkeypatch.setattr(line_search, "MOST_CROSSINGS", 4)
    n_found = 0
    for seed in range(15):
        X, scores, y, weights = make_lines(seed, n=40)
        target = Target.of_rows(get_measure("f1"), y, weights)
        alarms = target.alarms(scores)
        now = target.value(alarms.a, alarms.b)
        found = best_steps(as_design(X).columns(np.arange(6)).entries(), alarms, target)
        for column, value, step in zip(X.T, *found, strict=True):
            here = column != 0
            assert here.sum() > 8
            places = np.sort(-scores[here] / column[here])
            near = [*places[places <= 0][-4:], *places[places > 0][:4]]
            points, values = values_on_line(target, column, scores)
            best = values[(points > near[0]) & (points < near[-1])].max()
            if best <= now + LEAST_GAIN:
                assert step == 0.0
                continue
            n_found += 1
            moved = target.alarms(scores + step * column)
            assert value == pytest.approx(best, abs=1e-12)
            assert target.value(moved.a, moved.b) == pytest.approx(value, abs=1e-12)
    assert n_found > 10


def test_of_equal_steps_the_shortest_is_made():
    # Rows 0 and 1 are positives that cross at 1 and at -3: either alone is worth the same, both
    # cannot be had.
    scores = np.array([-1.0, -3.0, -5.0])
    column = np.array([[1.0], [-1.0], [0.0]])
    target = Target.of_rows(get_measure("f1"), np.array([1.0, 1.0, -1.0]), np.ones(3))
    found = best_steps(
        as_design(column).columns(np.array([0])).entries(), target.alarms(scores), target
    )
    assert found.values[0] == pytest.approx(2.0 / 3.0)
    assert 1.0 < found.steps[0] <= 2.0


def test_a_step_does_not_go_to_the_end_of_the_world():
    # Nothing crosses after 2, and before the unit of the column, which is 1/4, is over.
    scores, column = np.array([-8.0, -9.0]), np.array([[4.0], [0.0]])
    target = Target.of_rows(get_measure("f1"), np.array([1.0, -1.0]), np.ones(2))
    entries = as_design(column).columns(np.array([0])).entries()
    found = best_steps(entries, target.alarms(scores), target)
    assert_allclose(found.steps, [0.5 * (2.0 + 4.25)])
    # In other units of measurement it is the same step.
    tiny = as_design(1e-200 * column).columns(np.array([0])).entries()
    assert_allclose(best_steps(tiny, target.alarms(scores), target).steps, 1e200 * found.steps)


def test_entries_next_to_nothing_do_not_overflow():
    scores, column = np.array([-8.0, -9.0, 1.0]), np.array([[4e-310], [1e-310], [0.0]])
    target = Target.of_rows(get_measure("f1"), np.array([1.0, -1.0, 1.0]), np.ones(3))
    entries = as_design(column).columns(np.array([0])).entries()
    found = best_steps(entries, target.alarms(scores), target)
    assert np.all(np.isfinite(found.steps))


def test_columns_without_entries_have_no_step():
    X = sp.csc_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    target = Target.of_rows(get_measure("f1"), np.array([1.0, -1.0]), np.ones(2))
    entries = SparseDesign(X).columns(np.arange(3)).entries()
    found = best_steps(entries, target.alarms(np.array([-1.0, -1.0])), target)
    assert_array_equal(found.steps != 0.0, [False, True, False])
    nothing = SparseDesign(X).columns(np.zeros(0, dtype=np.int64)).entries()
    assert best_steps(nothing, target.alarms(np.array([-1.0, -1.0])), target).steps.size == 0
