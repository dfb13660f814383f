"""What a direct search raises for each measure, and at which price it screens."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.measures import BalancedAccuracy, FBeta, get_measure
from scoresieve.solvers.direct.target import Target, table_measure

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
