"""The sizes that a search goes through, and when columns came in."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoresieve.estimators.sieve.candidates import entered_at, halving_sizes


@pytest.mark.parametrize(
    ("ks", "wanted"),
    [
        ([1], [1]),
        ([2], [2]),
        ([5], [2, 3, 5]),
        ([50], [2, 4, 7, 13, 25, 50]),
        ([5, 10, 50], [2, 3, 5, 10, 13, 25, 50]),
        ([9, 10], [2, 3, 5, 9, 10]),
    ],
)
def test_halves_down_to_the_number_before(ks, wanted):
    assert halving_sizes(ks) == wanted


@given(st.sets(st.integers(1, 10_000), min_size=1, max_size=6))
def test_halves_hold_every_number_and_never_more_than_double(numbers):
    ks = sorted(numbers)
    found = halving_sizes(ks)
    assert found == sorted(set(found))
    assert set(ks) <= set(found)
    assert all(large <= 2 * small for small, large in pairwise(found))
    assert found[0] <= 2


def test_a_column_came_in_when_it_last_had_not_been_there():
    supports = {
        2: np.array([4, 9]),
        4: np.array([2, 4, 5, 7]),  # 9 went
        8: np.array([0, 1, 2, 3, 4, 5, 9, 11]),  # 7 went, and 9 is back
        16: np.arange(16),
    }
    assert entered_at(8, supports).tolist() == [8, 8, 4, 8, 2, 4, 8, 8]
    assert entered_at(4, supports).tolist() == [4, 2, 4, 4]
    assert entered_at(2, supports).tolist() == [2, 2]
    assert entered_at(16, supports)[[4, 2, 9, 7, 15]].tolist() == [2, 4, 8, 16, 16]


@given(st.lists(st.sets(st.integers(0, 12)), min_size=1, max_size=5))
def test_from_then_on_all_have_it_and_the_one_before_has_not(found):
    supports = {2 * at + 1: np.array(sorted(each)) for at, each in enumerate(found)}
    for k, columns in supports.items():
        for column, entered in zip(columns, entered_at(k, supports), strict=True):
            has = {number: column in supports[number] for number in supports if number <= k}
            assert all(has[number] for number in has if number >= entered)
            assert not has.get(entered - 2, False)
