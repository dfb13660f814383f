"""The price of a false alarm: found with models of parts of the rows, or given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scoresieve import solve
from scoresieve.measures import Contingency, get_measure
from scoresieve.solvers import prices
from scoresieve.solvers.hard_budget.search import solve_hard_budget
from scoresieve.solvers.limits import Deadline, Limits
from scoresieve.solvers.prices import (
    balance,
    held_out_parts,
    squared_hinge,
    unseen_scores,
    with_lower_price,
    with_own_price,
    within_reason,
    without_rows,
)
from scoresieve.solvers.problem import PriceIs, make_problem
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.splicing.splice import exchange_many
from tests.helpers import solve_path

LIMITS = Limits(0.05, 500)
INTERCEPT = {"intercept_scaling": 1.0}


def overlapping(n_samples=400, seed=0):
    """Rare positives among normal columns: two tell something, none tells all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 5))
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=n_samples) > 2.2, 1.0, -1.0)
    return X, y


def open_problem(X, y, measure="f1", **changes):
    return make_problem(X, y, **{"measure": measure, "budget": 2, "C": 3.0, **INTERCEPT, **changes})


def by_hand(problem):
    """Labels and scores of rows by the models that ``with_own_price`` looks at."""
    seen = unseen_scores(problem, LIMITS)
    return seen.y, seen.scores


class TestParts:
    def test_rows_are_spread_class_by_class(self):
        y = np.where(np.arange(50) % 7 == 0, 1.0, -1.0)
        parts = held_out_parts(y)
        assert len(parts) == 3
        assert_array_equal(np.sort(np.concatenate([out for _, out in parts])), np.arange(50))
        for kept, out in parts:
            assert_array_equal(np.union1d(kept, out), np.arange(50))
            assert np.intersect1d(kept, out).size == 0
            assert 2 <= np.sum(y[out] > 0) <= 3
            assert 14 <= np.sum(y[out] < 0) <= 15

    @pytest.mark.parametrize("n_few", [1, 2])
    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_few_of_a_class_are_in_one_part_with_all(self, n_few, sign):
        y = np.repeat([sign, -sign], [n_few, 20])
        ((kept, out),) = held_out_parts(y)
        assert kept is None
        assert_array_equal(out, np.arange(y.size))

    def test_with_many_positives_one_part_is_enough(self):
        y = np.repeat([1.0, -1.0], [prices.MANY_POSITIVES, 500])
        ((kept, out),) = held_out_parts(y)
        assert np.sum(y[kept] > 0) == prices.MANY_POSITIVES - np.sum(y[out] > 0) > 0
        assert_array_equal(np.union1d(kept, out), np.arange(y.size))


class TestSearch:
    def test_the_price_is_the_rate_of_scores_that_no_fit_has_seen(self):
        X, y = overlapping()
        problem = open_problem(X, y)
        found = with_own_price(problem, LIMITS)
        labels, scores = by_hand(problem)
        assert labels.size == y.size
        # By hand: the largest F of all thresholds, and F / (2 - F).
        F = max(
            2 * np.sum((scores > t) & (labels > 0)) / (np.sum(scores > t) + np.sum(y > 0))
            for t in (scores.min() - 1, *scores)
        )
        assert found.risk.price == pytest.approx(F / (2 - F))
        assert found.risk.price == problem.risk.kind.exchange_rate(labels, scores)
        assert problem.price_is is PriceIs.OPEN
        assert found.price_is is PriceIs.FOUND
        assert solve_problem(problem, LIMITS).price == found.risk.price
        assert solve_hard_budget(problem, LIMITS).price == found.risk.price

    def test_rows_that_are_held_out_have_no_say_in_their_scores(self):
        """Other labels and features of a part change nothing of the model that scores it."""
        X, y = overlapping()
        (kept, out), *_ = held_out_parts(y)
        refitter = squared_hinge(open_problem(X, y), LIMITS)
        changed, flipped = X.copy(), y.copy()
        changed[out], flipped[out] = 7.0, -flipped[out]
        other = squared_hinge(open_problem(changed, flipped), LIMITS)
        fits = [
            each.with_risk(without_rows(each.problem.risk, kept)).refit(np.array([0, 1]))
            for each in (refitter, other)
        ]
        assert_array_equal(fits[0].w, fits[1].w)
        assert not np.any(fits[0].v[out])

    def test_models_have_as_many_features_as_the_budget(self, monkeypatch):
        X, y = overlapping()
        seen = []

        def noted(refitter, best, k, end):
            fit, model = exchange_many(refitter, best, k, end)
            seen.append(fit.units.size)
            return fit, model

        monkeypatch.setattr(prices, "exchange_many", noted)
        with_own_price(open_problem(X, y, budget=1), LIMITS)
        with_own_price(open_problem(X, y, budget=3), LIMITS)
        assert seen == [1, 1, 1, 3, 3, 3]

    @pytest.mark.parametrize("measure", ["f1", "mcc", "precision@recall>=0.6"])
    def test_it_is_the_same_every_time(self, measure):
        X, y = overlapping(200)
        arguments = {"measure": measure, "budget": 2, "C": 3.0, **INTERCEPT}
        one, two = solve(X, y, **arguments), solve(X.copy(), y.copy(), **arguments)
        assert one.price == two.price
        assert_array_equal(one.w, two.w)

    @pytest.mark.parametrize("measure", ["f1", "f2", "jaccard", "mcc"])
    def test_prices_of_a_good_and_of_a_bad_model(self, measure):
        """The better the model, the more an alarm costs."""
        X, y = overlapping()
        bad = solve(X, y, measure=measure, budget=2, C=3.0, **INTERCEPT)
        clean = np.where(X[:, 0] + X[:, 1] > 2.2, 1.0, -1.0)
        good = solve(X, clean, measure=measure, budget=2, C=30.0, **INTERCEPT)
        assert 0.0 < bad.price < good.price * (1 + 1e-9) < np.inf
        if measure in ("f1", "jaccard"):
            assert bad.price < 0.7 < good.price <= 1.0

    def test_a_users_function(self):
        X, y = overlapping(200)
        own = Contingency(lambda tp, fp, fn, tn: 2 * tp / np.maximum(2 * tp + fp + fn, 1))
        found = solve(X, y, measure=own, budget=2, C=3.0, **INTERCEPT).price
        expected = solve(X, y, measure="f1", budget=2, C=3.0, **INTERCEPT).price
        assert found == pytest.approx(expected, rel=0.2)

    def test_each_budget_of_a_path_has_its_own(self):
        X, y = overlapping()
        arguments = {"measure": "f1", "C": 3.0, **INTERCEPT}
        path = solve_path(X, y, [1, 5], **arguments)
        assert path[1].price == solve(X, y, budget=5, **arguments).price
        assert 0.0 < path[0].price < path[1].price
        given = solve_path(X, y, [1, 5], price=0.3, **arguments)
        assert [each.price for each in given] == [0.3, 0.3]


class TestEmptyModels:
    def test_columns_of_zeros_end_at_the_balance(self):
        y = np.repeat([1.0, -1.0], [10, 90])
        found = with_own_price(open_problem(np.zeros((100, 3)), y), LIMITS)
        assert found.risk.price == balance(y)

    def test_a_found_price_is_halved_down_to_the_balance_and_a_given_one_stays(self):
        X, y = overlapping()
        problem = open_problem(X, y)
        assert with_lower_price(problem) is None
        assert with_lower_price(open_problem(X, y, price=0.9)) is None
        found = replace(problem, risk=problem.risk.with_price(0.9), price_is=PriceIs.FOUND)
        seen = [0.9]
        while (found := with_lower_price(found)) is not None:
            seen.append(found.risk.price)
        assert seen[1] == 0.45
        assert seen[-1] == balance(y)
        assert seen[:-1] == [0.9 * 0.5**step for step in range(len(seen) - 1)]
        losses = make_problem(X, y, loss="hinge", budget=2, C=1.0)
        assert with_lower_price(replace(losses, price_is=PriceIs.FOUND)) is None

    def test_a_price_that_the_measure_fixes_falls_where_the_model_would_be_empty(self):
        """Ten positives that one column hints at: with the price 1 "no" for all has less risk."""
        rng = np.random.default_rng(3)
        y = np.repeat([1.0, -1.0], [10, 190])
        X = rng.normal(size=(200, 4))
        X[:10, 2] += 0.6
        arguments = {"measure": "accuracy", "budget": 1, "C": 0.1, **INTERCEPT}
        for solve_one in (solve_problem, solve_hard_budget):
            limits = replace(LIMITS, find_smallest_C=False)
            at_1 = solve_one(make_problem(X, y, price=1.0, **arguments), limits)
            auto = solve_one(make_problem(X, y, **arguments), limits)
            assert not at_1.support.size
            assert auto.support.size
            assert balance(y) <= auto.price < 1.0

    @pytest.mark.parametrize("measure", ["f1", "jaccard", "prbep", "rec@2p", "balanced_accuracy"])
    def test_overlapping_classes_have_features_where_the_papers_bound_has_none(self, measure):
        """The example of the design: 2,000 x 5 normal columns, y = [x0 + x1 + noise > 3]."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(2000, 5))
        y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=2000) > 3, 1.0, -1.0)
        arguments = {"measure": measure, "budget": 2, "C": 30.0, **INTERCEPT}
        result = solve(X, y, **arguments)
        assert {0, 1} <= set(result.support)
        assert get_measure(measure).score(y, X @ result.w + result.intercept) > 0.2
        paper = make_problem(X, y, bound="paper", **arguments)
        limits = Limits(0.05, 500, find_smallest_C=False)
        if measure != "balanced_accuracy":
            assert not solve_problem(paper, limits).support.size


class TestFloors:
    @pytest.mark.parametrize("name", ["precision@recall>=0.6", "recall@precision>=0.6"])
    def test_the_price_is_what_the_threshold_trades_there(self, name):
        X, y = overlapping()
        problem = open_problem(X, y, name)
        labels, scores = by_hand(problem)
        rate = problem.risk.kind.exchange_rate(labels, scores)
        assert with_own_price(problem, LIMITS).risk.price == within_reason(rate, y)

    def test_more_recall_wants_a_lower_price(self):
        X, y = overlapping()
        low, high = (
            with_own_price(open_problem(X, y, f"precision@recall>={floor}"), LIMITS).risk.price
            for floor in (0.3, 0.9)
        )
        assert high < low

    def test_out_of_time_takes_what_is_there(self):
        X, y = overlapping(60)
        problem = open_problem(X, y, "precision@recall>=0.6")
        late = replace(LIMITS, deadline=Deadline(1e-9))
        assert with_own_price(problem, late).price_is is PriceIs.FOUND


class TestGiven:
    @pytest.mark.parametrize("price", [0.05, 1.0, 3.0])
    @pytest.mark.parametrize("measure", ["f1", "accuracy", "prbep", "recall@precision>=0.6"])
    def test_a_number_sets_it(self, measure, price):
        X, y = overlapping(100)
        problem = open_problem(X, y, measure, price=price)
        assert problem.price_is is PriceIs.GIVEN
        assert with_own_price(problem, LIMITS) is problem
        for solve_one in (solve_problem, solve_hard_budget):
            assert solve_one(problem, LIMITS).price == price

    @pytest.mark.parametrize(
        ("measure", "price"),
        [("accuracy", 1.0), ("prec@9", 1.0), ("rec@2p", 1.0), ("prbep", 1.0), ("roc_auc", 1.0)],
    )
    def test_measures_that_know_theirs_need_no_search(self, measure, price):
        X, y = overlapping(100)
        problem = open_problem(X, y, measure)
        ranks = measure == "roc_auc"
        assert problem.price_is is (PriceIs.GIVEN if ranks else PriceIs.FIXED)
        assert problem.risk.price == price
        balanced = open_problem(X, y, "balanced_accuracy")
        assert balanced.risk.price == balance(y)
        weights = np.where(y > 0, 3.0, 0.5)
        weighted = open_problem(X, y, "balanced_accuracy", sample_weight=weights)
        assert weighted.risk.price == pytest.approx(6.0 * balance(y))

    def test_the_papers_bound_has_the_price_1(self):
        X, y = overlapping(100)
        for measure in ("f1", "balanced_accuracy", "prbep", "precision@recall>=0.6"):
            problem = open_problem(X, y, measure, bound="paper")
            assert (problem.risk.price, problem.risk.is_tight) == (1.0, False)
            assert problem.risk.measure == problem.risk.kind
            assert problem.price_is is PriceIs.GIVEN

    def test_without_an_intercept_the_highest_scores_have_the_papers_bound(self):
        X, y = overlapping(100)
        for measure in ("prec@9", "rec@2p", "prbep"):
            problem = open_problem(X, y, measure, intercept_scaling=0.0)
            assert (problem.risk.price, problem.risk.is_tight) == (1.0, False)
        assert open_problem(X, y, intercept_scaling=0.0).price_is is PriceIs.OPEN

    def test_a_loss_has_none(self):
        X, y = overlapping(100)
        assert np.isnan(solve(X, y, loss="hinge", budget=2).price)


def test_prices_stay_within_reason():
    y = np.repeat([1.0, -1.0], [10, 1000])
    assert within_reason(0.3, y) == 0.3
    assert within_reason(np.inf, y) == 1e3
    assert within_reason(0.0, y) == pytest.approx(1e-5)
    assert within_reason(np.inf, -y) == pytest.approx(1e5)
    assert balance(y) == 0.01
