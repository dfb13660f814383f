"""What is raised for each measure; and steps against the measure between all crossings."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import SparseDesign, as_design
from scoresieve.estimators.sieve.coordinate_ascent import exact_steps
from scoresieve.estimators.sieve.coordinate_ascent.exact_steps import (
    LEAST_GAIN,
    Target,
    best_steps,
    table_measure,
)
from scoresieve.measures import BalancedAccuracy, FBeta, get_measure

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
    monkeypatch.setattr(exact_steps, "MOST_CROSSINGS", 4)
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


Y = np.where(np.arange(50) < 10, 1.0, -1.0)


@pytest.mark.parametrize("name", ["f1", "f0.5", "accuracy", "mcc", "gmean", "jaccard"])
def test_measures_of_alarms_are_raised_themselves(name):
    assert table_measure(get_measure(name), Y) == get_measure(name)


@pytest.mark.parametrize(("name", "k"), [("prbep", 10), ("prec@5", 5), ("rec@2p", 20)])
def test_at_k_alarms_the_stand_in_orders_tables_as_the_measure_does(name, k):
    measure = get_measure(name)
    target = Target.of_rows(measure, Y, np.ones(50))
    values = [target.value(a, k - a) for a in range(min(k, 10) + 1)]
    assert np.all(np.diff(values) > 0.0)
    # It is (1 + k / P) a / (k + k): linear in the hits, and 1 only if all are hits and found.
    assert values == pytest.approx([(1 + k / 10) * a / (2 * k) for a in range(min(k, 10) + 1)])


def test_stand_ins_of_the_others():
    assert table_measure(get_measure("roc_auc"), Y) == BalancedAccuracy()
    for name in ("average_precision", "precision@recall>=0.8", "recall@precision>=0.9"):
        assert table_measure(get_measure(name), Y) == FBeta()


def test_the_price_is_that_of_the_table_or_of_half_of_both():
    target = Target.of_rows(FBeta(), Y, np.ones(50))
    # F1 has the price F / (2 - F).
    assert target.rate(0, 0) == pytest.approx(1 / 3, rel=0.02)
    F = target.value(9, 2)
    assert target.rate(9, 2) == pytest.approx(F / (2 - F), rel=0.02)
    assert Target.of_rows(get_measure("accuracy"), Y, np.ones(50)).rate(0, 0) == pytest.approx(1.0)


def test_rows_count_as_often_as_their_weight():
    weights = np.arange(1.0, 51.0)
    target = Target.of_rows(FBeta(), Y, weights)
    alarms = target.alarms(np.where(np.arange(50) % 2, 1.0, -1.0))
    assert alarms.a == 2 + 4 + 6 + 8 + 10
    assert alarms.b == sum(range(12, 51, 2))


def test_alarms_for_more_than_half_of_the_others_are_worth_nothing():
    target = Target.of_rows(FBeta(2.0), Y, np.ones(50))
    assert target.most_alarms == 30.0
    assert target.value(10, 20) > 0.0
    assert target.value(10, 21) == -np.inf
    # Who asks for the 30 highest scores wants as many.
    assert Target.of_rows(get_measure("rec@3p"), Y, np.ones(50)).most_alarms == 40.0
