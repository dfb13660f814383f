"""The price of a false alarm: found with models of parts of the rows, or given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC

from scoresieve import solve
from scoresieve.design import as_design
from scoresieve.measures import Contingency, get_measure
from scoresieve.solvers import prices
from scoresieve.solvers.engines import balance, with_lower_price
from scoresieve.solvers.limits import Deadline, Limits
from scoresieve.solvers.prices import (
    enough_rows,
    held_out_parts,
    squared_hinge,
    unseen_scores,
    with_own_price,
    within_reason,
)
from scoresieve.solvers.problem import FIRST_PRICE, PriceIs, make_problem
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.subset.refits import Refitter
from studies.common.internals import solve_hard_budget
from tests.helpers import solve_path

LIMITS = Limits(0.05, 500)
INTERCEPT = {"intercept_scaling": 1.0}
OPEN = ["f1", "f2", "jaccard", "mcc", "gmean", "precision@recall>=0.6", "recall@precision>=0.6"]


def overlapping(n_samples=400, seed=0):
    """Rare positives among normal columns: two tell something, none tells all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 5))
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=n_samples) > 2.2, 1.0, -1.0)
    return X, y


def noisy(seed, n_samples=300):
    """Twice the noise, and fewer positives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 5))
    y = np.where(X[:, 0] + X[:, 1] + 2 * rng.normal(size=n_samples) > 3, 1.0, -1.0)
    return X, y


def open_problem(X, y, measure="f1", **changes):
    return make_problem(X, y, **{"measure": measure, "budget": 2, "C": 3.0, **INTERCEPT, **changes})


@pytest.fixture
def noted(monkeypatch):
    """The models of parts of the rows, in the order in which they are fitted."""
    fits, exchange_many = [], prices.exchange_many

    def keep(*arguments):
        fit, model = exchange_many(*arguments)
        fits.append(fit)
        return fit, model

    monkeypatch.setattr(prices, "exchange_many", keep)
    return fits


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


class TestModels:
    def test_they_are_squared_hinges_of_the_rows_that_are_kept(self, noted):
        X, y = overlapping()
        seen = unseen_scores(open_problem(X, y, budget=3), LIMITS)
        assert len(noted) == 3
        assert_array_equal(np.sort(seen.y), np.sort(y))
        assert seen.has_units
        at = 0
        for fit, (kept, out) in zip(noted, held_out_parts(y), strict=True):
            support = fit.columns[fit.columns < 5]
            assert 1 <= support.size <= 3
            svm = LinearSVC(C=3.0, tol=1e-8, max_iter=10**6, random_state=0)
            svm.fit(X[np.ix_(kept, support)], y[kept])
            assert_allclose(fit.scattered(6)[support], svm.coef_[0], rtol=1e-2)
            part = slice(at, at + out.size)
            assert_array_equal(seen.y[part], y[out])
            decision = svm.decision_function(X[np.ix_(out, support)])
            assert_allclose(seen.scores[part], decision, atol=1e-2)
            at += out.size

    def test_rows_that_are_held_out_have_no_say(self, noted, monkeypatch):
        """Neither their labels nor their features; of these only the sizes of columns are seen."""
        X, y = overlapping()
        parts = held_out_parts(y)
        monkeypatch.setattr(prices, "held_out_parts", lambda y: parts[:1])
        kept, out = parts[0]
        other_y, other_X = y.copy(), X.copy()
        other_y[out] = -y[out]
        other_X[out] = X[np.random.default_rng(1).permutation(out)]
        unseen_scores(open_problem(X, y), LIMITS)
        unseen_scores(open_problem(X, other_y), LIMITS)
        unseen_scores(open_problem(other_X, other_y), LIMITS)
        first, relabelled, mixed = noted
        assert_array_equal(relabelled.w, first.w)
        assert_array_equal(mixed.units, first.units)
        assert_allclose(mixed.w, first.w, rtol=1e-9)
        # Those that are kept do have one.
        kept_y = y.copy()
        kept_y[kept[::7]] *= -1.0
        unseen_scores(open_problem(X, kept_y), LIMITS)
        assert not np.allclose(noted[-1].w, first.w)

    def test_no_more_units_than_the_budget_and_the_limit(self, noted, monkeypatch):
        X, y = overlapping()
        unseen_scores(open_problem(X, y, budget=1), LIMITS)
        assert all(fit.units.size == 1 for fit in noted)
        monkeypatch.setattr(prices, "MOST_UNITS", 2)
        unseen_scores(open_problem(X, y, budget=4), LIMITS)
        assert all(fit.units.size <= 2 for fit in noted)

    def test_few_of_a_class_are_judged_with_all_rows(self, noted):
        X, y = overlapping(100)
        y[:] = -1.0
        y[[3, 50]] = 1.0
        seen = unseen_scores(open_problem(X, y), LIMITS)
        assert len(noted) == 1
        assert_array_equal(seen.y, y)

    def test_the_squared_hinge_of_the_same_rows(self):
        X, y = overlapping()
        problem = open_problem(X, y, "accuracy", budget=2, C=0.1)
        fit = squared_hinge(problem, LIMITS).refit(np.array([0, 1]))
        svm = LinearSVC(C=0.1, tol=1e-8, max_iter=10**6, random_state=0).fit(X[:, :2], y)
        assert_allclose(fit.w[1:], svm.coef_[0], rtol=1e-2)


class TestSearch:
    @pytest.mark.parametrize("measure", OPEN)
    def test_the_price_is_the_rate_of_scores_that_no_fit_has_seen(self, measure):
        X, y = overlapping()
        problem = open_problem(X, y, measure)
        seen, found = unseen_scores(problem, LIMITS), with_own_price(problem, LIMITS)
        rate = get_measure(measure).exchange_rate(seen.y, seen.scores)
        assert found.risk.price == within_reason(rate, y)
        assert (problem.price_is, found.price_is) == (PriceIs.OPEN, PriceIs.FOUND)
        assert found.reopened().price_is is PriceIs.OPEN
        if measure == "f1":
            # By hand: the largest F of all thresholds, and F / (2 - F).
            F = max(
                2
                * np.sum((seen.scores > t) & (seen.y > 0))
                / (np.sum(seen.scores > t) + np.sum(y > 0))
                for t in (seen.scores.min() - 1, *seen.scores)
            )
            assert found.risk.price == pytest.approx(F / (2 - F))

    @pytest.mark.parametrize("measure", ["f1", "gmean", "precision@recall>=0.6"])
    def test_every_solver_takes_it(self, measure):
        X, y = overlapping(150)
        problem = open_problem(X, y, measure, C=1.0)
        found = with_own_price(problem, LIMITS).risk.price
        assert solve_problem(problem, LIMITS).price == found
        assert solve_hard_budget(problem, LIMITS).price == found
        assert solve_hard_budget(problem, LIMITS, certificate=False).price == found

    @pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
    def test_formats_have_the_same_price(self, form):
        X, y = overlapping()
        X = np.where(np.abs(X) > 0.7, X, 0.0)
        one, two = (with_own_price(open_problem(each, y), LIMITS) for each in (X, form(X)))
        assert one.risk.price == pytest.approx(two.risk.price)

    def test_nobody_is_told_of_its_fits(self):
        X, y = overlapping()

        def fail(row):
            raise AssertionError

        limits = replace(LIMITS, callback=fail)
        assert with_own_price(open_problem(X, y), limits).price_is is PriceIs.FOUND

    @pytest.mark.parametrize("deadline", [None, Deadline(0.0)], ids=["", "late"])
    def test_a_few_refits_are_enough(self, deadline, monkeypatch):
        X, y = overlapping()
        refit, n_refits = Refitter.refit, []

        def counted(self, *arguments, **options):
            n_refits.append(self.limits.deadline)
            return refit(self, *arguments, **options)

        monkeypatch.setattr(Refitter, "refit", counted)
        limits = replace(LIMITS, deadline=deadline)
        found = with_own_price(open_problem(X, y, budget=3), limits)
        assert 0.0 < found.risk.price < 1.0
        # The constant model, that of the most promising units, and the exchanges, for each part.
        assert len(n_refits) <= 3 * (2 + (prices.FEW_REFITS if deadline is None else 0))
        if deadline is not None:
            assert all(each is deadline for each in n_refits)

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
    def test_columns_of_zeros_have_the_balance_of_the_classes(self):
        y = np.repeat([1.0, -1.0], [10, 90])
        for measure in OPEN:
            found = with_own_price(open_problem(np.zeros((100, 3)), y, measure), LIMITS)
            assert found.risk.price == balance(y)

    @pytest.mark.parametrize(
        ("price_is", "may_fall"),
        [
            (PriceIs.GIVEN, False),
            (PriceIs.FIXED, True),
            (PriceIs.OPEN, False),
            (PriceIs.FOUND, True),
        ],
    )
    def test_a_found_or_a_fixed_price_is_halved_down_to_the_balance(self, price_is, may_fall):
        X, y = overlapping()
        problem = open_problem(X, y)
        problem = replace(problem, risk=problem.risk.with_price(0.9), price_is=price_is)
        seen = [0.9]
        while (problem := with_lower_price(problem)) is not None:
            assert problem.price_is is price_is
            seen.append(problem.risk.price)
        if not may_fall:
            assert seen == [0.9]
            return
        assert seen[1] == 0.45
        assert seen[-1] == balance(y)
        assert seen[:-1] == [0.9 * 0.5**step for step in range(len(seen) - 1)]

    def test_losses_have_no_price_to_fall(self):
        X, y = overlapping()
        problem = make_problem(X, y, loss="hinge", budget=2, C=1.0)
        assert with_lower_price(replace(problem, price_is=PriceIs.FOUND)) is None

    @pytest.mark.parametrize("measure", ["accuracy", "prbep", "rec@2p", "f1", OPEN[-1]])
    def test_overlapping_classes_always_have_features(self, measure):
        """At any C, by every solver: a price that may fall does so until there are some."""
        for seed, C in ((0, 0.01), (1, 0.1), (2, 3.0)):
            X, y = noisy(seed)
            problem, limits = open_problem(X, y, measure, C=C), replace(LIMITS, tol=0.1)
            for result in (
                solve_problem(problem, limits),
                solve_hard_budget(problem, limits),
                solve_hard_budget(problem, limits, certificate=False),
            ):
                assert result.support.size
                assert result.price >= balance(y) * (1 - 1e-9) or measure in OPEN

    @pytest.mark.parametrize("measure", ["accuracy", "f1"])
    def test_a_given_price_stays_even_if_there_are_none(self, measure):
        X, y = overlapping(200)
        problem = open_problem(X, y, measure, price=50.0, C=0.01)
        limits = replace(LIMITS, find_smallest_C=False)
        for result in (
            solve_problem(problem, limits),
            solve_hard_budget(problem, limits),
            solve_hard_budget(problem, limits, certificate=False),
        ):
            assert result.price == 50.0
            assert not result.support.size

    def test_out_of_time_a_price_does_not_fall(self):
        """Each price is one more fit."""
        problem = open_problem(*noisy(2), "accuracy", C=0.01)
        late = replace(LIMITS, deadline=Deadline(0.0), find_smallest_C=False)
        for solve_one in (solve_problem, solve_hard_budget):
            assert solve_one(problem, LIMITS).price < 1.0
            assert solve_one(problem, late).price == 1.0

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
    def test_the_models_own_threshold_is_near_the_floor(self, name):
        X, y = overlapping(2000)
        result = solve(X, y, measure=name, budget=2, C=3.0, tol=0.01, **INTERCEPT)
        alarms = X @ result.w + result.intercept > 0
        hits = np.count_nonzero(alarms & (y > 0))
        out_of = np.sum(y > 0) if name.startswith("precision") else np.sum(alarms)
        assert hits / out_of == pytest.approx(0.6, abs=0.15)

    def test_a_higher_floor_of_recall_makes_alarms_cheaper(self):
        X, y = overlapping(1000)
        found = [
            with_own_price(open_problem(X, y, f"precision@recall>={floor}"), LIMITS).risk.price
            for floor in (0.3, 0.6, 0.9)
        ]
        assert found[0] > found[1] > found[2] > 0.0

    def test_a_higher_floor_of_precision_makes_alarms_dearer(self):
        X, y = overlapping(1000)
        found = [
            with_own_price(open_problem(X, y, f"recall@precision>={floor}"), LIMITS).risk.price
            for floor in (0.3, 0.5, 0.7)
        ]
        assert found[0] < found[1] < found[2]


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
        [("accuracy", 1.0), ("prec@1", 1.0), ("rec@2p", 0.5), ("prbep", 1.0), ("roc_auc", 1.0)],
    )
    def test_measures_that_know_theirs_need_no_search(self, measure, price):
        X, y = overlapping(100)
        problem = open_problem(X, y, measure)
        assert problem.price_is is (PriceIs.GIVEN if measure == "roc_auc" else PriceIs.FIXED)
        assert problem.risk.price == price
        assert with_own_price(problem, LIMITS) is problem
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
        problem = open_problem(X, y, intercept_scaling=0.0)
        assert problem.price_is is PriceIs.OPEN
        assert problem.risk.price == FIRST_PRICE

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
    assert balance(y, np.where(y > 0, 3.0, 0.5)) == pytest.approx(0.06)


def test_many_positives_are_not_all_looked_at(monkeypatch):
    y = np.repeat([1.0, -1.0], [20, 60])
    assert_array_equal(enough_rows(y), np.arange(80))
    monkeypatch.setattr(prices, "MOST_POSITIVES", 6)
    rows = enough_rows(y)
    assert (np.sum(y[rows] > 0), np.sum(y[rows] < 0)) == (5, 15)
    X, y = overlapping()
    monkeypatch.setattr(prices, "MOST_POSITIVES", np.count_nonzero(y > 0) // 2)
    seen = unseen_scores(open_problem(X, y), LIMITS)
    assert_array_equal(np.sort(seen.y), np.sort(y[enough_rows(y)]))


def test_rows_of_designs():
    X = np.random.default_rng(0).normal(size=(9, 4)) * (np.arange(36).reshape(9, 4) % 3 > 0)
    rows = np.array([1, 4, 8])
    for form in (np.asarray, sp.csr_matrix, sp.csc_matrix):
        for constant in (0.0, 2.0):
            part = as_design(form(X), constant=constant).rows(rows)
            expected = np.column_stack([X[rows], np.full((3, int(constant > 0)), constant)])
            found = part.columns(np.arange(part.n_columns)).correlate(np.eye(3)).T
            assert_array_equal(found, expected)
