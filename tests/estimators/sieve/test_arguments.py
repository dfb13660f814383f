"""Lists to choose from: what is taken, and what is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.estimators.sieve.arguments import check_Cs, check_names, default_sizes, read_sizes


@pytest.mark.parametrize(
    ("n_units", "sizes"),
    [
        (1, [1]),
        (2, [2]),
        (4, [2, 4]),
        (50, [2, 5, 10, 20, 50]),
        (200, [2, 5, 10, 20, 50, 100, 200]),
        (10**6, [2, 5, 10, 20, 50, 100, 200]),
    ],
)
def test_default_sizes(n_units, sizes):
    assert default_sizes(n_units) == read_sizes(None, "k", n_units) == sizes


@pytest.mark.parametrize(
    ("given", "sizes"),
    [(3, [3]), (np.int64(30), [20]), ([5, 2, 5], [2, 5]), (range(19, 25), [19, 20])],
)
def test_sizes_are_sorted_distinct_and_at_most_what_there_is(given, sizes):
    assert read_sizes(given, "k", 20) == sizes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0, "k must be an integer of at least 1; got 0"),
        (True, "k must be an integer of at least 1; got True"),
        (2.0, "k must be an integer of at least 1; got 2.0"),
        ([2, 0], r"k\[1\] must be an integer of at least 1; got 0"),
        ([], "k is empty; give at least one value"),
        ("5", "k must be a list; got '5'. Put a single value in a list"),
    ],
)
def test_wrong_sizes(given, message):
    with pytest.raises(ValueError, match=message):
        read_sizes(given, "k", 20)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (1.5, "Cs must be a list; got 1.5"),
        ([], "Cs is empty"),
        ([1.0, -1.0], r"Cs\[1\] must be a positive finite number; got -1.0"),
        (["a"], r"Cs\[0\] must be a positive finite number; got 'a'"),
        ([1e200], "C must be at most"),
    ],
)
def test_wrong_values_of_C(given, message):
    assert check_Cs([3, 1.0, 3.0]) == [1.0, 3.0]
    with pytest.raises(ValueError, match=message):
        check_Cs(given)


def test_names():
    assert check_names(("b", "a", "b"), "candidates") == ["a", "b"]
    with pytest.raises(ValueError, match=r"candidates\[0\] must be a name; got 3"):
        check_names([3], "candidates")
    with pytest.raises(ValueError, match="candidates must be a list; got 'measure'"):
        check_names("measure", "candidates")
