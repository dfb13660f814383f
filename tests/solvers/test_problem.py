"""A problem holds what its arguments say, and each of them is checked in this one place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scoresieve.losses import Squared
from scoresieve.measures import get_measure
from scoresieve.risks import LossRisk, MeasureRisk
from scoresieve.solvers.problem import FIRST_PRICE, PriceIs, make_problem, make_problems

X = np.arange(20.0).reshape(4, 5)
y = (0, 1, 1, 0)

both_kinds = pytest.mark.parametrize("kind", [{"measure": "f1"}, {"loss": "logistic"}], ids=str)


def make(kind, X=X, y=y, **changes):
    return make_problem(X, y, **{"budget": 2, "C": 1.0, **kind, **changes})


@both_kinds
class TestArguments:
    def test_plain(self, kind):
        problem = make(kind)
        assert (problem.norm.budget, problem.C, problem.constant) == (2, 1.0, 0.0)
        assert not problem.norm.has_groups
        assert problem.norm.always.size == problem.norm.excluded.size == 0
        assert isinstance(problem.risk, MeasureRisk if "measure" in kind else LossRisk)
        assert problem.risk.weights is None
        assert_array_equal(problem.risk.y, [-1.0, 1.0, 1.0, -1.0])

    def test_the_intercept_is_always_in_and_in_no_group(self, kind):
        problem = make(
            kind,
            intercept_scaling=2.0,
            always_features=[0],
            excluded_features=[4],
            feature_groups=[9, 3, 3, 2, 1],
        )
        assert_array_equal(problem.norm.unit_of, [-1, 0, 0, 1, -2, -1])
        assert (problem.n_features, problem.design.n_columns, problem.constant) == (5, 6, 2.0)

    @pytest.mark.parametrize(
        ("changes", "n_units"),
        [
            ({}, 5),
            ({"intercept_scaling": 1.0}, 5),
            ({"always_features": [0, 1]}, 3),
            ({"always_features": [0], "excluded_features": [1, 4]}, 2),
            ({"feature_groups": [[0, 1, 2]]}, 3),
            ({"feature_groups": [1, 1, 2, 2, 2], "excluded_features": [0, 1]}, 1),
        ],
    )
    def test_the_budget_is_lowered_to_what_can_be_selected(self, kind, changes, n_units):
        assert make(kind, **changes, budget=n_units).norm.budget == n_units
        with pytest.warns(UserWarning, match=f"more than the {n_units} columns or groups"):
            assert make(kind, **changes, budget=9).norm.budget == n_units
        limit = {"budget": 9, "C": 1.0, **kind, **changes}
        assert make_problems(X, [y], at_most=True, **limit)[0].norm.budget == n_units

    def test_everything_always_in_needs_no_warning(self, kind):
        assert make(kind, always_features=range(5)).norm.budget == 2

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"budget": 0}, "budget must be"),
            ({"C": 1e300}, "C must be at most 1e.100; got 1e.300"),
            ({"C": -1}, "C must be a positive finite number; got -1"),
            ({"intercept_scaling": -1}, "intercept_scaling must be 0 or a positive.*got -1"),
            ({"always_features": [5]}, "always_features holds 5"),
            ({"excluded_features": [5]}, "excluded_features holds 5"),
            ({"always_features": [1], "excluded_features": [1]}, "column 1 is in always_features"),
            ({"feature_groups": [1]}, "feature_groups must be 5 integers"),
            ({"sample_weight": [1.0, 1.0, 1.0]}, "sample_weight has 3 weights"),
            ({"sample_weight": [-1.0, 1.0, 1.0, 1.0]}, r"sample_weight\[0\] is -1"),
        ],
    )
    def test_each_argument_is_checked(self, kind, changes, message):
        with pytest.raises(ValueError, match=message):
            make(kind, **changes)

    def test_X_and_y_are_checked(self, kind):
        with pytest.raises(ValueError, match="X contains NaN"):
            make(kind, X=X * np.nan)
        with pytest.raises(ValueError, match="y has one class only"):
            make(kind, y=np.ones(4))

    def test_they_make_the_problem_again(self, kind, columns):
        X = np.random.default_rng(0).normal(size=(4, 10))
        first = make(kind, X=X, C=0.7, **columns)
        again = make_problem(X, y, **first.arguments())
        assert_array_equal(again.norm.unit_of, first.norm.unit_of)
        assert (again.norm.budget, again.C, again.constant) == (2, 0.7, first.constant)
        assert again.risk.kind == first.risk.kind
        scores = np.array([0.3, -0.2, 1.0, 0.1])
        assert again.risk.value(scores) == first.risk.value(scores)

    def test_weights_and_intercept_are_split_and_joined(self, kind):
        w = np.arange(6.0)
        with_constant = make(kind, intercept_scaling=2.0)
        weights, intercept = with_constant.split(w)
        assert_array_equal(weights, w[:5])
        assert intercept == 10.0
        assert_array_equal(with_constant.joined(weights, intercept), w)
        weights, intercept = make(kind).split(w[:5])
        assert intercept == 0.0
        assert_array_equal(make(kind).joined(weights, intercept), w[:5])

    def test_other_budgets(self, kind):
        problem = make(kind, intercept_scaling=2.0, always_features=[1])
        assert problem.with_budget(4).norm.budget == 4
        assert problem.with_budget(4).design is problem.design


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ({}, "pass a measure or a loss, one of them; got measure=None and loss=None"),
        ({"measure": "f1", "loss": "hinge"}, "one of them; got measure='f1' and loss='hinge'"),
        ({"measure": "hinge"}, "unknown measure 'hinge'"),
        ({"loss": "f1"}, "unknown loss 'f1'"),
    ],
)
def test_one_of_measure_and_loss(kind, message):
    with pytest.raises(ValueError, match=message):
        make(kind)


def test_measures_and_losses_with_settings_of_their_own():
    f2 = get_measure("f2")
    assert make({"measure": f2}).risk.kind is f2
    loss = Squared()
    problem = make({"loss": loss}, y=[0.5, 2.0, -1.0, 7.0])
    assert problem.risk.kind is loss
    assert_array_equal(problem.risk.y, [0.5, 2.0, -1.0, 7.0])


def test_several_targets_share_the_design():
    problems = make_problems(X, [(0, 1, 1, 0), (1, 0, 0, 0)], measure="f1", budget=2, C=1.0)
    assert problems[0].design is problems[1].design
    assert_array_equal(problems[1].risk.y, [1.0, -1.0, -1.0, -1.0])


def test_whole_weights_repeat_rows_where_the_measure_takes_none():
    ys = [(0, 1, 1, 0), (1, 0, 0, 0)]
    first, second = make_problems(
        X, ys, measure="f1", budget=2, C=1.0, sample_weight=[2.0, 1.0, 0.0, 1.0]
    )
    assert_array_equal(first.risk.y, [-1.0, -1.0, 1.0, -1.0])
    assert_array_equal(second.risk.y, [1.0, 1.0, -1.0, -1.0])
    assert first.risk.weights is None
    rows = X[[0, 0, 1, 3]]
    assert_array_equal(first.design.scores(np.ones(5), np.arange(5)), rows.sum(axis=1))
    weighted = make({"measure": "accuracy"}, sample_weight=[2.0, 1.0, 0.0, 1.0])
    assert weighted.design.n_samples == 4
    assert_array_equal(weighted.risk.weights, [2.0, 1.0, 0.0, 1.0])


class TestBoundAndPrice:
    @pytest.mark.parametrize("bound", ["loose", None, 1, "Paper"])
    def test_a_bound_that_there_is_not(self, bound):
        with pytest.raises(ValueError, match=r"bound must be 'tight' or 'paper'; got ") as caught:
            make({"measure": "f1"}, bound=bound)
        assert repr(bound) in str(caught.value)

    @pytest.mark.parametrize("price", ["cheap", "1", ""])
    def test_a_price_that_is_a_text(self, price):
        message = f"price must be 'auto' or a positive number; got {price!r}"
        with pytest.raises(ValueError, match=message):
            make({"measure": "f1"}, price=price)

    @pytest.mark.parametrize("price", [0.0, -1.0, np.nan, np.inf, None, [0.5], True])
    def test_a_price_that_is_no_positive_number(self, price):
        with pytest.raises(ValueError, match="price must be a positive finite number; got"):
            make({"measure": "f1"}, price=price)

    @pytest.mark.parametrize(
        ("kind", "reason"),
        [
            (
                {"loss": "hinge"},
                "the loss 'hinge' has no price; pass class weights as sample_weight",
            ),
            ({"measure": "f1", "bound": "paper"}, "bound='paper' has the price 1"),
            ({"measure": "roc_auc"}, "'roc_auc' ranks the rows and has no false alarms"),
            ({"measure": "average_precision"}, "'average_precision' ranks the rows"),
            ({"measure": "prbep"}, "'prbep' without an intercept has the price 1"),
            ({"measure": "prec@2"}, "'prec@2' without an intercept has the price 1"),
        ],
        ids=str,
    )
    def test_a_price_where_there_is_none(self, kind, reason):
        """The message names the argument and its value, says why, and what to do."""
        message = rf"price=0\.5 cannot be set: {reason}.*\. Leave price='auto'"
        with pytest.raises(ValueError, match=message):
            make(kind, price=0.5)
        assert make(kind).C == make(kind, price=1.0).C == 1.0

    @pytest.mark.parametrize("kind", [{"measure": "prbep"}, {"measure": "f1"}], ids=str)
    def test_with_an_intercept_measures_of_labellings_take_any(self, kind):
        problem = make(kind, price=np.float32(0.5), intercept_scaling=1.0)
        assert problem.risk.price == 0.5
        assert isinstance(problem.risk.price, float)

    def test_arguments_hold_the_bound_and_a_price_makes_the_risk_again(self):
        for bound in ("tight", "paper"):
            first = make({"measure": "f1"}, bound=bound, price=1.0, intercept_scaling=1.0)
            assert first.arguments()["bound"] == bound
            again = make_problem(X, y, price=first.risk.price, **first.arguments())
            assert again.risk.is_tight == first.risk.is_tight == (bound == "tight")
        assert make({"loss": "hinge"}).arguments()["bound"] == "tight"

    def test_a_found_price_can_be_opened_again(self):
        problem = make({"measure": "f1"})
        assert problem.price_is is PriceIs.OPEN
        assert problem.risk.price == FIRST_PRICE
        found = replace(problem, price_is=PriceIs.FOUND)
        assert found.reopened().price_is is PriceIs.OPEN
        given = make({"measure": "f1"}, price=0.2)
        assert given.reopened() is given
