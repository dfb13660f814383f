"""What is compared, and in which order; and columns brought to one scale."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import ScoreSieve
from scoresieve.design import as_design
from scoresieve.design.scaled import equal_factors
from scoresieve.estimators.sieve.choice import Judge, Panel
from scoresieve.estimators.sieve.plans import DataFacts, make_selections, start_clock
from scoresieve.estimators.sieve.selections import MEAN_SQUARES, Selection, constant_for, paths
from scoresieve.losses import get_loss
from scoresieve.measures import get_measure

NAMES = [*(f"{way} (logistic, C=1)" for way in ("alone", "chi2", "correlation")), "f1, C=3"]
LOSSES = ["squared_hinge, C=0.3", "squared_hinge, C=3"]
SCALED = ["scaled_squared_hinge, C=0.3", "scaled_squared_hinge, C=3"]


def names(facts, **parameters):
    return [each.name for each in make_selections(ScoreSieve("f1", **parameters), facts)]


def test_the_order_of_preference():
    *alone, bound = NAMES
    few = names(DataFacts())
    assert few == [*alone, bound, *LOSSES, *SCALED, "direct (f1)"]
    many = names(DataFacts(has_few_rows=False))
    assert many == [bound, *LOSSES, *SCALED, *alone, "direct (f1)"]


def test_a_search_is_not_made_twice():
    facts = DataFacts(has_one_scale=True)
    assert names(facts) == [*NAMES, *LOSSES, "direct (f1)"]
    assert names(facts, candidates=["scaled_squared_hinge"]) == SCALED
    both = names(facts, candidates=["scaled_logistic", "squared_hinge"], Cs=[1.0])
    assert both == ["squared_hinge, C=1", "scaled_logistic, C=1"]


def test_a_wrong_name_is_told():
    with pytest.raises(ValueError, match="candidates holds 'scaled_nothing', but"):
        names(DataFacts(), candidates=["scaled_nothing"])


def make_data(seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((90, 15)) < 0.4, rng.normal(size=(90, 15)), 0.0)
    y = np.where(X[:, 2] - X[:, 9] + 0.5 * rng.normal(size=90) > 0.5, 1.0, -1.0)
    return X, y, 2.0 ** rng.integers(-6, 7, size=15)


def found(X, y, C, ks=(2, 5), constant=1.0, **options):
    selection = Selection(get_loss("squared_hinge"), C, **options)
    [path] = paths([selection], X, y, ks, start_clock(None), intercept_scaling=constant)
    return path


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_a_scaled_search_is_one_of_scaled_columns(form, shift):
    X, y, units = make_data()
    X = (X + shift) * units
    factors = equal_factors(as_design(X), MEAN_SQUARES)
    constant = constant_for((X * factors).mean(axis=0))
    assert (constant > 10.0) == (shift > 1.0)
    by_hand = found(X * factors, y, 0.3, constant=constant)
    for scaled, twin in zip(found(form(X), y, 0.3, is_scaled=True), by_hand, strict=True):
        assert_array_equal(scaled.columns, twin.columns)
        assert_allclose(scaled.w, factors[twin.columns] * twin.w)
        assert scaled.intercept == pytest.approx(twin.intercept)


def test_the_units_of_columns_do_not_matter_to_a_scaled_search():
    X, y, units = make_data(1)
    X = X / X.std(axis=0) * 3.0
    # One unit is that of the largest column, so that the mean square stays within its bounds.
    for scaled, twin in zip(
        found(X * units / units.max(), y, 3.0, is_scaled=True),
        found(X, y, 3.0, is_scaled=True),
        strict=True,
    ):
        assert_array_equal(scaled.columns, twin.columns)


def test_where_columns_begin_does_not_matter_to_a_scaled_search():
    """Means that are a hundred deviations from 0 change no choice of columns.

    Both columns that matter want a positive weight, so that their means do not cancel.
    """
    X, _, _ = make_data(3)
    y = np.where(X[:, 2] + X[:, 9] > 0.5, 1.0, -1.0)
    for each in (X, X + 100.0 * X.std(axis=0)):
        [path] = found(each, y, 0.3, ks=(2,), is_scaled=True)
        assert path.columns.tolist() == [2, 9]


def test_columns_that_were_fetched_before_are_those_of_x():
    """A search of X itself, then of scaled columns, shares what was fetched."""
    X, y, units = make_data(2)
    loss = get_loss("squared_hinge")
    selections = [Selection(loss, 1.0), Selection(loss, 0.3, is_scaled=True)]
    clock = start_clock(None)
    _, second = paths(selections, sp.csr_array(X * units), y, (2, 5), clock, intercept_scaling=1.0)
    for one, other in zip(second, found(X * units, y, 0.3, is_scaled=True), strict=True):
        assert_array_equal(one.columns, other.columns)
        assert_allclose(one.w, other.w)


def test_a_panel_gives_the_means_of_its_judges():
    rng = np.random.default_rng(0)
    y, measure = np.where(np.arange(60) % 4, -1.0, 1.0), get_measure("f1")
    judges = [Judge(measure, y, None, rng.permutation(60) % 3) for _ in range(2)]
    scores = rng.normal(size=(2, 1, 3, 2, 60)) + y
    panel = Panel(judges)
    judged = panel.judged(scores)
    for place in np.ndindex(2, 1, 3):
        pairs = list(zip(judges, scores[place], strict=True))
        assert judged.scores[place] == np.mean([j.at_best(s) for j, s in pairs])
        assert judged.errors[place] == np.mean([j.jackknife_error(s) for j, s in pairs])
    one = scores[0, 0, 0]
    expected = np.mean([j.threshold(s) for j, s in zip(judges, one, strict=True)])
    assert panel.threshold(one) == expected
    assert panel.sigmoid(one[:1].repeat(2, axis=0)).slope == pytest.approx(
        Panel(judges[:1]).sigmoid(one[:1]).slope, rel=1e-3
    )
