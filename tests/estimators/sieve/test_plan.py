"""What is compared, in which order, and lists to choose from."""

from __future__ import annotations

import re

import numpy as np
import pytest

from scoresieve import ScoreSieve
from scoresieve.estimators.sieve.plan import (
    DataFacts,
    check_Cs,
    check_grid,
    check_name,
    make_candidates,
    read_sizes,
)

FILTERS = [f"{name} (logistic, C=1)" for name in ("average_precision", "chi2", "correlation")]
LOSSES = ["squared_hinge, C=0.3", "squared_hinge, C=3"]
SCALED = ["scaled_squared_hinge, C=0.3", "scaled_squared_hinge, C=3"]


def names(facts, **parameters):
    return [each.name for each in make_candidates(ScoreSieve("f1", **parameters), facts)]


def test_the_order_of_preference():
    few = names(DataFacts())
    assert few == [*FILTERS, "bound, C=3", *LOSSES, *SCALED, "coordinate_ascent"]
    many = names(DataFacts(has_few_rows=False))
    assert many == ["bound, C=3", *LOSSES, *SCALED, *FILTERS, "coordinate_ascent"]


def test_a_search_is_not_made_twice():
    facts = DataFacts(has_one_scale=True)
    assert names(facts) == [*FILTERS, "bound, C=3", *LOSSES, "coordinate_ascent"]
    assert names(facts, candidates=["scaled_squared_hinge"]) == SCALED
    both = names(facts, candidates=["scaled_logistic", "squared_hinge"], Cs=[1.0])
    assert both == ["squared_hinge, C=1", "scaled_logistic, C=1"]


def test_a_factor_is_of_every_C_that_was_not_given_and_whose_columns_keep_their_scale():
    facts = DataFacts(factor=0.5, has_few_rows=False)
    wanted = ["bound", "squared_hinge", "scaled_squared_hinge", "chi2"]
    found = make_candidates(ScoreSieve("f1", candidates=wanted), facts)
    assert [each.C for each in found] == [1.5, 0.15, 1.5, 0.3, 3.0, 0.5]
    found = make_candidates(ScoreSieve("f1", candidates=wanted, Cs=[2.0]), facts)
    assert [each.C for each in found] == [1.5, 2.0, 2.0, 0.5]


@pytest.mark.parametrize(
    ("name", "hint"), [("chi", " (did you mean 'chi2'?)"), ("alone", ""), ("measure", "")]
)
def test_a_misspelt_candidate_is_told_all_names(name, hint):
    told = (
        f"candidates holds {name!r}, which is not a candidate{hint}; choose from bound, hinge, "
        "huber_hinge, logistic, squared_hinge, scaled_hinge, scaled_huber_hinge, scaled_logistic, "
        "scaled_squared_hinge, average_precision, chi2, correlation, coordinate_ascent."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        names(DataFacts(), candidates=["chi2", name])


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
    assert read_sizes(None, "k", n_units) == sizes
    assert read_sizes("auto", "k", n_units) == sizes


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
        ("5", "^k must be a number, a list of numbers or 'auto'; got '5'.$"),
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
    assert check_grid(("b", "a", "b"), "candidates", check_name) == ["a", "b"]
    with pytest.raises(ValueError, match=r"candidates\[0\] must be a name; got 3"):
        check_grid([3], "candidates", check_name)
    with pytest.raises(ValueError, match="candidates must be a list; got 'bound'"):
        check_grid("bound", "candidates", check_name)
