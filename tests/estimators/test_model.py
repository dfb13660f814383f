"""What thresholds give on held-out rows, and which is taken for a goal, by trying all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoresieve.estimators.model import ThresholdTable

DETERMINISTIC = settings(derandomize=True, deadline=None, database=None, max_examples=60)


@st.composite
def tables(draw):
    """Counts that rise from 0, with steps of each class, of both and of none."""
    steps = st.lists(st.integers(0, 3), min_size=2, max_size=8)
    hits, alarms = draw(steps), draw(steps)
    n = min(len(hits), len(alarms))
    a, b = (np.cumsum([0, *each[: n - 1], 1]).astype(float) for each in (hits, alarms))
    return ThresholdTable(np.linspace(2.0, -2.0, n + 1), a, b)


def rows_of(table):
    """Of each threshold its place, recall, precision or None, and alarm rate, in Python."""
    P, N = table.n_hits[-1], table.n_false_alarms[-1]
    for place, (a, b) in enumerate(zip(table.n_hits, table.n_false_alarms, strict=True)):
        yield place, a / P, a / (a + b) if a + b else None, (a + b) / (P + N)


@DETERMINISTIC
@given(table=tables(), share=st.sampled_from([0.05, 0.25, 0.5, 0.75, 0.9, 1.0]))
def test_the_best_threshold_for_a_share(table, share):
    rows = list(rows_of(table))
    expected = next(place for place, recall, _, _ in rows if recall >= share)
    assert table.place_for({"recall": share}) == expected
    precise = [place for place, _, precision, _ in rows if precision and precision >= share]
    few = [place for place, _, precision, rate in rows if rate <= share and precision is not None]
    for name, found in {"precision": precise, "alarm_rate": few}.items():
        if found:
            assert table.place_for({name: share}) == found[-1]
            continue
        with pytest.raises(ValueError, match=rf"^{name}={share:g} is not reached on the held-out"):
            table.place_for({name: share})


@DETERMINISTIC
@given(table=tables(), prices=st.tuples(*[st.sampled_from([0.1, 1.0, 3.0])] * 2))
def test_the_threshold_with_the_lowest_cost(table, prices):
    miss, alarm = prices
    counts = zip(table.n_hits, table.n_false_alarms, strict=True)
    costs = [miss * (table.n_hits[-1] - a) + alarm * b for a, b in counts]
    place = table.place_for({"cost_of_miss": miss, "cost_of_alarm": alarm})
    assert place == min(range(len(costs)), key=lambda each: (costs[each], each))


def test_rates_are_those_of_the_counts():
    table = ThresholdTable(*np.array([[3.0, 1.0, -1.0], [0.0, 2.0, 4.0], [0.0, 1.0, 6.0]]))
    assert list(rows_of(table)) == [
        (place, recall, precision or None, rate)
        for place, recall, precision, rate in zip(
            itertools.count(), table.recalls, table.precisions, table.alarm_rates
        )
    ]
    assert [table.place(t) for t in (4.0, 3.0, 2.0, 1.0, -1.0, -9.0)] == [0, 0, 1, 1, 2, 2]


def test_what_cannot_be_reached_is_answered_with_the_limit():
    table = ThresholdTable(*np.array([[3.0, 1.0, -1.0], [0.0, 2.0, 4.0], [0.0, 1.0, 6.0]]))
    with pytest.raises(ValueError, match=r"^precision=0.9 is .* highest is 0.666; ask for at most"):
        table.place_for({"precision": 0.9})
    with pytest.raises(ValueError, match=r"^alarm_rate=0.1 .* lowest is 0.3; ask for at least"):
        table.place_for({"alarm_rate": 0.1})
