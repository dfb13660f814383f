"""The best number of false alarms for every number of true positives, row by row of the table."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.measures import get_measure
from scoresieve.measures.contingency import OrderedClasses, stable_order
from scoresieve.measures.fractional import count_intervals, interval_of_ratio, largest_gain

NAMES = ["f1", "f3", "f0.5", "f0.1", "jaccard", "precision@recall>=0.3", "precision@recall>=1"]


@pytest.mark.parametrize("name", [*NAMES, "prec@1"])
@pytest.mark.parametrize("sizes", [(1, 1), (1, 30), (12, 1), (5, 9), (30, 25), (60, 200)])
@pytest.mark.parametrize("scale", [0.0, 0.1, 0.5, 2.0, 20.0])
def test_every_row_is_maximal(name, sizes, scale):
    n_positive, n_negative = sizes
    measure = get_measure(name)
    rng = np.random.default_rng(n_positive)
    y = np.repeat([1.0, -1.0], sizes)
    scores = scale * (rng.normal(size=y.size) - 0.5)
    alarms = np.concatenate(([0.0], np.cumsum(np.sort(scores[n_positive:])[::-1])))
    rows = np.arange(n_positive + 1)
    if name.startswith("precision"):
        # Below the floor the loss is constant, and the rows are not this function's business.
        rows = rows[measure.least_true_positive(n_positive) :]
    elif name.startswith("prec@"):
        rows = rows[1:]
    counts = np.arange(n_negative + 1)
    values = n_positive * measure.table_loss(rows[:, None], counts, n_positive, n_negative) + alarms
    classes = measure._ordered(y, scores)
    found = measure._best_alarms(classes)[rows]
    assert found.max() <= classes.negatives.size
    np.testing.assert_allclose(
        values[np.arange(rows.size), found], values.max(axis=1), rtol=1e-12, atol=1e-9
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_positive", [1, 2, 7, 50])
def test_no_alarm_that_pays_is_left_out(name, n_positive):
    measure = get_measure(name)
    least = measure.least_true_positive(n_positive) if name.startswith("precision") else 0
    rows = np.arange(least, n_positive + 1)
    none, one = (n_positive * measure.table_loss(rows, b, n_positive, 9) for b in (0, 1))
    assert largest_gain(*measure._gain(n_positive), n_positive, 0) >= np.max(one - none) - 1e-12


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shift", [-1.0, -0.3, -0.02, 0.0])
@pytest.mark.parametrize("spread", [0.0, 0.05, 0.6])
def test_negatives_that_are_left_out_by_their_rank_never_pay(name, shift, spread):
    measure, rng = get_measure(name), np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], [20, 2000])
    # Many negatives with one score, as rows of text without any of the words have.
    scores = shift + spread * np.where(rng.random(y.size) < 0.3, rng.normal(size=y.size), 0.0)
    least = measure.least_true_positive(20) if name.startswith("precision") else 0
    some, every = measure._ordered(y, scores), OrderedClasses(y, scores)
    found, wanted = measure._best_alarms(some), measure._best_alarms(every)
    np.testing.assert_array_equal(found[least:], wanted[least:])
    np.testing.assert_array_equal(some.negatives, every.negatives[: some.negatives.size])


def test_negatives_that_cannot_pay_are_not_sorted():
    n_positive, n_negative = 20, 2000
    y = np.repeat([1.0, -1.0], [n_positive, n_negative])
    scores = np.append(np.ones(n_positive), np.linspace(-0.5, 0.0, n_negative))
    b, a = np.arange(n_negative)[:, None], np.arange(n_positive + 1)
    losses = [n_positive * get_measure("f1").table_loss(a, b + more, 20, 2000) for more in (0, 1)]
    n_paying = np.count_nonzero((losses[1] - losses[0]).max(axis=1) > -scores[:19:-1])
    found = get_measure("f1")._ordered(y, scores).negatives.size
    assert 100 < n_paying <= found <= 1.1 * n_paying
    assert get_measure("prec@20")._ordered(y, scores).negatives.size == n_negative


def test_scores_in_an_order_that_misleads_the_part_that_is_looked_at():
    measure, y = get_measure("f1"), np.repeat([1.0, -1.0], [20, 3200])
    scores = np.full(y.size, -0.01)
    scores[:20], scores[20::16] = 1.0, -0.2  # every 16th negative is low, all others are high
    for shown in (scores, np.where(scores == -0.2, -0.01, np.where(scores < 0, -0.2, 1.0))):
        some, every = measure._ordered(y, shown), OrderedClasses(y, shown)
        np.testing.assert_array_equal(measure._best_alarms(some), measure._best_alarms(every))


def test_interval_holds_exactly_the_paying_counts():
    rng = np.random.default_rng(1)
    prices, n_alarms = (
        rng.uniform(0.001, 1.0, size=300),
        rng.integers(0, 40, size=300).astype(float),
    )
    a = np.arange(61)
    lower, upper = interval_of_ratio(prices, n_alarms, gain=35.0)
    total = a + n_alarms[:, None]
    pays = 35.0 * a > prices[:, None] * total * (total + 1)
    np.testing.assert_array_equal((a > lower[:, None]) & (a < upper[:, None]), pays)
    np.testing.assert_array_equal(count_intervals(lower, upper, 60), pays.sum(axis=0))
    assert 0 < pays.sum() < pays.size


def test_count_intervals_at_whole_ends():
    lower, upper = np.array([0.0, 1.0, 2.0, np.inf, 2.2]), np.array([3.0, np.inf, 3.0, np.inf, 2.8])
    # Open intervals: {1, 2}, {2, 3, 4}, none between 2 and 3, none, none.
    np.testing.assert_array_equal(count_intervals(lower, upper, 4), [0, 1, 2, 1, 1])


def test_stable_order_with_and_without_ties():
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=500), rng.integers(0, 9, size=500) * 1.0, np.zeros(40)):
        np.testing.assert_array_equal(stable_order(values), np.argsort(values, kind="stable"))


def test_flip_follows_a_stable_sort():
    rng = np.random.default_rng(4)
    y = rng.permutation(np.repeat([1.0, -1.0], [20, 30]))
    scores = rng.integers(-2, 3, size=50) * 1.0
    positives, negatives = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    lowest = positives[np.argsort(scores[positives], kind="stable")]
    highest = negatives[np.argsort(-scores[negatives], kind="stable")]
    classes = OrderedClasses(y, scores)
    for n_missed in range(21):
        for n_alarms in range(31):
            expected = np.zeros(50)
            expected[lowest[:n_missed]] = 1.0
            expected[highest[:n_alarms]] = -1.0
            np.testing.assert_array_equal(classes.flip(n_missed, n_alarms), expected)


def test_all_negatives_are_looked_at_unless_a_bound_is_given():
    y, scores = np.array([1.0, -1.0, -1.0, -1.0]), np.array([0.5, -9.0, 2.0, -1.0])
    assert OrderedClasses(y, scores).negatives.tolist() == [2.0, -1.0, -9.0]
    assert OrderedClasses(y, scores, -5.0).negatives.tolist() == [2.0, -1.0]
    assert OrderedClasses(y, scores, 7.0).negatives.tolist() == [2.0]  # the largest stays
