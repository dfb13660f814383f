"""The certificate: right numbers for any feasible point, and a refusal of everything else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoresieve import DualPoint, certify, solve
from scoresieve.measures import get_measure

CHECKED = settings(derandomize=True, deadline=None, database=None, max_examples=40)


def some_dual_point(brute, measure, y, C, seed, share=0.9):
    """Random weights on a few of all labellings, packed as documented: a bit an example."""
    rng = np.random.default_rng(seed)
    deltas, losses = brute.every_cut(measure, y)
    chosen = rng.choice(losses.size, size=min(5, losses.size), replace=False)
    alpha = rng.dirichlet(np.ones(chosen.size)) * share * C
    packed = np.packbits(deltas[chosen] != 0, axis=1)
    if measure in ("roc_auc", "average_precision"):
        packed = deltas[chosen]
    return DualPoint(alpha, packed), chosen


@pytest.mark.parametrize("seed", range(3))
def test_numbers_equal_brute_force(data, brute, measure, columns, seed):
    """J over all labellings and D from the dense cuts, at arbitrary w and alpha."""
    X, y = data(31 + seed, n_samples=6, noise=2.0)
    rng = np.random.default_rng(seed)
    C, budget = 0.7, 2
    w, bias = rng.normal(size=10), 0.0
    w[columns.get("excluded", [])] = 0.0
    cuts, losses, sets = brute.enumerated(X, y, measure, **columns)
    full = w
    if "intercept" in columns:
        bias = 0.8
        full = np.append(w, bias / columns["intercept"])
    point, chosen = some_dual_point(brute, measure, y, C, seed)
    check = certify(X, y, w, point, measure=measure, budget=budget, C=C, intercept=bias, **columns)
    primal = brute.objective(cuts, losses, full, C, budget, **sets)
    assert check.primal == pytest.approx(primal, rel=1e-10)
    c = cuts[chosen].T @ point.alpha
    squares = brute.dual_norm_squared(c, budget, **sets)
    dual = losses[chosen] @ point.alpha - 0.5 * squares
    assert check.dual == pytest.approx(dual, rel=1e-10, abs=1e-10)
    assert check.gap == pytest.approx((primal - dual) / primal)


@CHECKED
@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.01, 0.3, 3.0, 100.0]))
def test_every_feasible_alpha_bounds_the_optimum_from_below(data, brute, seed, C):
    X, y = data(7, n_samples=6, n_features=4, noise=2.0)
    cuts, losses, sets = brute.enumerated(X, y, "f1")
    expected, w = brute.optimum(cuts, losses, C, 2, **sets)
    point, _ = some_dual_point(brute, "f1", y, C, seed)
    check = certify(X, y, w, point, measure="f1", budget=2, C=C)
    assert check.dual <= expected * (1 + 1e-7)
    assert check.primal == pytest.approx(expected, rel=1e-5)


def test_a_worse_w_has_a_larger_gap(data):
    X, y = data(0)
    result = solve(X, y, measure="f1", budget=3, tol=1e-4)
    settings = {"measure": "f1", "budget": 3, "C": 1.0}
    gaps = [
        certify(X, y, factor * result.w, result.dual_point, **settings).gap
        for factor in (1.0, 0.8, 0.5, 0.0)
    ]
    assert gaps == sorted(gaps)
    assert gaps[0] <= 1e-4 < gaps[1] < gaps[3]


def test_an_empty_dual_point_proves_that_nothing_is_negative(data):
    X, y = data(1)
    for cuts in (np.zeros((0, 0), dtype=np.uint8), np.zeros((0, 30))):
        point = DualPoint(np.zeros(0), cuts)
        check = certify(X, y, np.zeros(10), point, measure="f1", budget=3, C=2.0)
        assert check.dual == 0.0
        assert check.gap == 1.0
        assert check.primal == pytest.approx(2.0 * np.sum(y > 0))


def test_labels_and_columns_are_read_as_in_solve(data):
    """0/1 labels, a mask, and lists of groups mean the same to both."""
    X, y = data(2)
    arguments = {
        "measure": "f1",
        "budget": 2,
        "C": 1.0,
        "intercept": 1.0,
        "always": np.arange(10) == 3,
        "excluded": [9],
        "feature_groups": [[0, 1], [4, 5, 6]],
    }
    result = solve(X, y > 0, tol=1e-3, **arguments)
    check = certify(
        X, (y > 0).astype(int), result.w, result.dual_point, intercept=result.intercept, **arguments
    )
    assert check.primal == pytest.approx(result.primal, rel=1e-9)
    assert check.dual == pytest.approx(result.dual, rel=1e-9)


class TestRefusals:
    @pytest.fixture
    def good(self, data):
        X, y = data(3)
        result = solve(X, y, measure="f1", budget=3, tol=1e-2)
        return X, y, result

    def certify(self, good, w=None, point=None, **changes):
        X, y, result = good
        arguments = {"measure": "f1", "budget": 3, "C": 1.0} | changes
        w = result.w if w is None else w
        return certify(X, y, w, result.dual_point if point is None else point, **arguments)

    def test_the_good_one_passes(self, good):
        assert self.certify(good).gap <= 1e-2

    def test_a_negative_weight(self, good):
        alpha = good[2].dual_point.alpha.copy()
        alpha[0] = -1e-6
        with pytest.raises(ValueError, match=r"dual_point.alpha must be non-negative.*-1e-06"):
            self.certify(good, point=replace(good[2].dual_point, alpha=alpha))

    def test_weights_that_sum_to_more_than_C(self, good):
        point = good[2].dual_point
        alpha = point.alpha * (1.001 / point.alpha.sum())
        with pytest.raises(ValueError, match=r"sum to at most C=1;.*the sum 1\.001"):
            self.certify(good, point=replace(point, alpha=alpha))
        with pytest.raises(ValueError, match=r"sum to at most C=0\.5"):
            self.certify(good, C=0.5)

    @pytest.mark.parametrize("wrong", [np.nan, np.inf])
    def test_weights_that_are_no_numbers(self, good, wrong):
        alpha = good[2].dual_point.alpha.copy()
        alpha[0] = wrong
        with pytest.raises(ValueError, match=r"dual_point\.alpha"):
            self.certify(good, point=replace(good[2].dual_point, alpha=alpha))

    @pytest.mark.parametrize("n_weights", [1, 100])
    def test_weights_and_labellings_of_different_number(self, good, n_weights):
        point = replace(good[2].dual_point, alpha=np.full(n_weights, 1e-3))
        with pytest.raises(ValueError, match="dual_point"):
            self.certify(good, point=point)

    def test_labellings_of_another_length(self, good):
        point = good[2].dual_point
        with pytest.raises(ValueError, match="dual_point"):
            self.certify(good, point=replace(point, cuts=point.cuts[:, :2]))

    def test_a_labelling_that_does_not_compete(self, good):
        """Half of the positives labelled +1 is not admissible for the break-even point."""
        y = good[1]
        flips = np.zeros(30, dtype=bool)
        flips[np.flatnonzero(y > 0)[:3]] = True
        point = DualPoint(np.array([0.5]), np.packbits(flips)[None])
        assert self.certify(good, point=point).dual <= 0.5 * y.size
        with pytest.raises(ValueError, match="not admissible for prbep"):
            self.certify(good, point=point, measure="prbep")

    def test_numbers_that_are_no_ranking(self, good):
        delta = get_measure("roc_auc").most_violated(good[1], np.zeros(30)).delta
        fine = DualPoint(np.array([0.5]), delta[None])
        assert self.certify(good, point=fine, measure="roc_auc").dual > -np.inf
        with pytest.raises(ValueError, match="not a multiple of 1/20"):
            self.certify(good, point=replace(fine, cuts=0.77 * delta[None]), measure="roc_auc")
        with pytest.raises(ValueError, match="any ranking"):
            self.certify(good, point=replace(fine, cuts=2.0 * delta[None]), measure="roc_auc")

    def test_fractions_are_no_labelling(self, good):
        point = DualPoint(np.array([0.5]), 0.5 * good[1][None])
        with pytest.raises(ValueError, match="must be 0 or y"):
            self.certify(good, point=point)

    def test_a_w_of_another_length(self, good):
        with pytest.raises(ValueError, match=r"w has shape \(9,\); X has 10 columns"):
            self.certify(good, w=good[2].w[:9])
        narrow = (good[0][:, :9], *good[1:])
        with pytest.raises(ValueError, match=r"w has shape \(10,\); X has 9 columns"):
            self.certify(narrow)

    def test_a_w_that_is_not_finite(self, good):
        w = good[2].w.copy()
        w[0] = np.nan
        with pytest.raises(ValueError, match="w or bias contains NaN or infinity"):
            self.certify(good, w=w)

    def test_a_bias_without_an_intercept(self, good):
        with pytest.raises(
            ValueError, match=r"intercept=0\.5 needs the value of the constant column"
        ):
            self.certify(good, intercept=0.5)

    def test_weight_on_an_excluded_column_is_infinitely_bad(self, good):
        w = np.ones(10)
        assert self.certify(good, w=w, excluded_features=[3]).primal == np.inf

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"C": 0.0}, "C must be a positive finite number"),
            ({"budget": 0}, "budget must be an integer of at least 1"),
            ({"measure": "nope"}, "unknown measure 'nope'"),
            ({"measure": "prec@31"}, "k=31 asks for the 31 highest scores"),
            ({"always": [10]}, "always holds 10"),
            ({"intercept": -1.0}, "intercept must be 0 or a positive"),
        ],
    )
    def test_arguments_are_checked_as_in_solve(self, good, changes, message):
        with pytest.raises(ValueError, match=message):
            self.certify(good, **changes)
