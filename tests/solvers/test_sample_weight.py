"""``solve`` and ``certify`` with sample weights: repeated rows, scaled C, scikit-learn, errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC

from scoresieve import Status, certify, solve
from scoresieve.design import as_design
from scoresieve.measures import get_measure
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.subset.refits import Refitter
from scoresieve.solvers.subset.splice import splice
from studies.common.internals import solve_hard_budget
from tests.helpers import both_solvers

TOL = 1e-3
MEASURES = ["accuracy", "balanced_accuracy", "roc_auc"]
each = pytest.mark.parametrize("measure", MEASURES)
NO_SUMS = ["f1", "prec@5", "rec@2p", "prbep", "average_precision"]


@pytest.fixture
def weighted(data):
    """Data, whole weights from 0 to 3 and the numbers of the repeated rows."""

    def make(seed, n_samples=40):
        X, y = data(seed, n_samples=n_samples, noise=1.5)
        weights = np.random.default_rng(seed).integers(0, 4, size=n_samples)
        return X, y, weights, np.repeat(np.arange(n_samples), weights)

    return make


def objective_by_sums(brute, X, y, c, result, measure, budget, C, **sets):
    """``J`` of a result in the weighted problem, by sums over examples or pairs."""
    scores = X @ result.w + result.intercept
    if measure == "roc_auc":
        margins = 1 - scores[y > 0][:, None] + scores[y < 0]
        pairs = np.outer(c[y > 0], c[y < 0]) * np.maximum(0.0, margins)
        risk = pairs.sum() / c[y < 0].sum()
    else:
        P, N = c[y > 0].sum(), c[y < 0].sum()
        # The class-weighted hinge.
        cost = 0.5 if measure == "balanced_accuracy" else 1.0
        price = P / N if measure == "balanced_accuracy" else 1.0
        risk = c * np.where(y > 0, 1.0, price) @ np.maximum(0.0, cost - y * scores)
    return 0.5 * brute.norm_squared(result.w, budget, **sets) + C * risk


@each
@both_solvers
@pytest.mark.parametrize("intercept", [0.0, 1.5])
def test_whole_weights_are_repeated_rows(weighted, certified, measure, solver, intercept):
    X, y, c, rows = weighted(0)
    arguments = {"measure": measure, "budget": 3, "C": 0.7, "intercept_scaling": intercept}
    one = solver(X, y, sample_weight=c, tol=TOL, **arguments)
    two = solver(X[rows], y[rows], tol=TOL, **arguments)
    assert one.status is two.status is Status.CONVERGED
    assert one.support.size
    # Both intervals hold the same optimum.
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) * (1 + 1e-9)
    # Either solution has the same objective in both problems, whoever computes it.
    for result in (one, two):
        here = certify(
            X, y, result.w, one.dual_point, intercept=result.intercept, sample_weight=c, **arguments
        )
        there = certify(
            X[rows], y[rows], result.w, two.dual_point, intercept=result.intercept, **arguments
        )
        assert here.primal == pytest.approx(there.primal, rel=1e-12)
        assert here.primal == pytest.approx(result.primal, rel=1e-9)
    assert certified(X, y, one, sample_weight=c, **arguments).dual == pytest.approx(one.dual)


@each
@pytest.mark.parametrize("seed", range(3))
def test_whole_weights_take_the_same_path(weighted, measure, seed):
    """Round by round, so that even an early stop gives the model of the repeated rows."""
    X, y, c, rows = weighted(20 + seed)
    arguments = {"measure": measure, "budget": 3, "C": 0.7, "intercept_scaling": 1.0, "tol": 0.05}
    one = solve(X, y, sample_weight=c, **arguments)
    two = solve(X[rows], y[rows], **arguments)
    assert one.n_iter == two.n_iter
    assert_allclose(one.w, two.w, atol=1e-6)


@each
@both_solvers
def test_real_weights(weighted, brute, certified, measure, solver):
    X, y, c, _ = weighted(1)
    c = c * np.random.default_rng(5).uniform(0.2, 2.0, size=c.size)
    problem = {"measure": measure, "budget": 3, "C": 1.3}
    result = solver(X, y, sample_weight=c, tol=TOL, **problem)
    assert result.gap <= TOL
    expected = objective_by_sums(brute, X, y, c, result, **problem)
    assert result.primal == pytest.approx(expected, rel=1e-9)
    check = certified(X, y, result, sample_weight=c, **problem)
    assert check.primal == pytest.approx(result.primal, rel=1e-9)
    assert check.dual == pytest.approx(result.dual, rel=1e-9)
    # The bound is below the objective of other points, too.
    rng = np.random.default_rng(6)
    for _ in range(20):
        other = result.w + 0.05 * rng.normal(size=result.w.size)
        value = certify(X, y, other, result.dual_point, sample_weight=c, **problem).primal
        assert value >= result.dual


@each
def test_the_optimum_is_that_of_all_labellings(data, brute, measure):
    """A conic programme over every labelling (or ranking) of the repeated rows."""
    X, y = data(12, n_samples=5, n_features=4, noise=2.0)
    c = np.array([1.0, 2.0, 1.0, 0.0, 2.0])
    rows = np.repeat(np.arange(5), c.astype(int))
    assert np.unique(y[rows]).size == 2
    result = solve(X, y, measure=measure, budget=2, C=0.8, tol=1e-6, sample_weight=c)
    cuts, losses, sets = brute.enumerated(X[rows], y[rows], measure, price=result.price)
    expected, _ = brute.optimum(cuts, losses, 0.8, 2, **sets)
    assert result.dual <= expected * (1 + 1e-7)
    assert result.primal == pytest.approx(expected, rel=2e-6)


@each
@pytest.mark.parametrize("factor", [0.25, 3.0, 1e6])
def test_scaled_weights_are_a_scaled_C(weighted, measure, factor):
    X, y, c, _ = weighted(2)
    c = c * np.random.default_rng(7).uniform(0.2, 2.0, size=c.size)
    C = 0.5
    one = solve(X, y, measure=measure, budget=3, C=C / factor, sample_weight=factor * c, tol=TOL)
    two = solve(X, y, measure=measure, budget=3, C=C, sample_weight=c, tol=TOL)
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) * (1 + 1e-9)
    assert one.gap <= TOL
    assert_allclose(one.w, two.w, atol=1e-4)


@each
def test_equal_weights_are_a_larger_C(weighted, measure):
    X, y, _, _ = weighted(3)
    one = solve(X, y, measure=measure, budget=3, C=0.4, sample_weight=np.full(40, 2.5), tol=TOL)
    two = solve(X, y, measure=measure, budget=3, C=1.0, tol=TOL)
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) * (1 + 1e-9)
    assert_allclose(one.w, two.w, atol=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_linear_svc_with_weights_is_a_special_case(weighted, form):
    X, y, c, _ = weighted(4)
    c = c * np.random.default_rng(8).uniform(0.2, 2.0, size=c.size)
    C = 0.6
    result = solve(form(X), y, measure="accuracy", budget=10, C=C, tol=1e-5, sample_weight=c)
    model = LinearSVC(loss="hinge", fit_intercept=False, C=C, tol=1e-8, max_iter=10**6)
    w = model.fit(X, y, sample_weight=c).coef_[0]
    expected = 0.5 * w @ w + C * c @ np.maximum(0.0, 1 - y * (X @ w))
    assert result.primal == pytest.approx(expected, rel=2e-5)
    assert result.dual <= expected * (1 + 1e-6)


@each
@both_solvers
def test_rows_of_weight_zero_have_no_influence(weighted, measure, solver):
    """Not even with values a thousand times as large as the others."""
    X, y, c, _ = weighted(5)
    kept = c > 0
    problem = {"measure": measure, "budget": 3, "C": 0.7}
    alone = solver(X[kept], y[kept], sample_weight=c[kept], tol=0.05, **problem)
    for factor in (1.0, 1e3):
        spoilt, labels = np.where(kept[:, None], X, factor * X), np.where(kept, y, -y)
        result = solver(spoilt, labels, sample_weight=c, tol=0.05, **problem)
        assert_allclose(result.w, alone.w, atol=1e-6)
        assert result.primal == pytest.approx(alone.primal, rel=1e-6)
    # Near the optimum scores are tied, so that rounding decides about rankings; the optimum stays.
    alone = solver(X[kept], y[kept], sample_weight=c[kept], tol=TOL, **problem)
    result = solver(spoilt, labels, sample_weight=c, tol=TOL, **problem)
    assert max(result.dual, alone.dual) <= min(result.primal, alone.primal) * (1 + 1e-9)
    point = result.dual_point
    for w in (result.w, alone.w):
        here = certify(spoilt, labels, w, point, sample_weight=c, **problem).primal
        there = certify(X[kept], y[kept], w, alone.dual_point, sample_weight=c[kept], **problem)
        assert here == pytest.approx(there.primal, rel=1e-12)


@each
def test_hard_budget_with_weights(weighted, measure):
    """From a bad start, refits and swaps lead where they lead for the repeated rows."""
    X, y, c, rows = weighted(6)
    settings = {"measure": measure, "budget": 3, "C": 0.5}
    bests = []
    for part in ({"X": X, "y": y, "sample_weight": c}, {"X": X[rows], "y": y[rows]}):
        problem, limits = make_problem(**part, **settings), Limits(TOL, 1000)
        refitter = Refitter(problem, limits)
        bad = refitter.refit(np.array([7, 8, 9]))
        best = splice(refitter, bad, 3)
        assert best.units.size <= 3
        assert best.primal < bad.primal
        assert best.primal >= solve_problem(problem, limits).dual
        bests.append(best)
    assert np.any(bests[0].units < 2)
    assert_array_equal(bests[0].units, bests[1].units)
    assert bests[0].primal == pytest.approx(bests[1].primal, rel=2 * TOL)


@each
def test_a_whole_hard_budget_with_weights(weighted, measure):
    """The same units and price, whatever way the rows are repeated."""
    X, y, c, rows = weighted(9)
    settings = {"measure": measure, "budget": 2, "C": 0.5, "intercept_scaling": 1.0}
    one, two = (
        solve_hard_budget(make_problem(**part, **settings), Limits(TOL, 1000))
        for part in ({"X": X, "y": y, "sample_weight": c}, {"X": X[rows], "y": y[rows]})
    )
    assert one.support.size
    assert_array_equal(one.support, two.support)
    assert one.primal == pytest.approx(two.primal, rel=2 * TOL)
    assert one.price == pytest.approx(two.price)


def test_prices_fall_as_they_do_for_repeated_rows():
    """Down to the balance of the weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] + 2.0 * rng.normal(size=300) > 2.0, 1.0, -1.0)
    c = np.where(y > 0, 1, rng.integers(2, 5, size=300))
    rows = np.repeat(np.arange(300), c)
    arguments = {"measure": "accuracy", "budget": 2, "C": 0.01, "intercept_scaling": 1.0}
    one = solve(X, y, sample_weight=c, **arguments)
    two = solve(X[rows], y[rows], **arguments)
    assert one.price == two.price < 1.0
    assert_array_equal(one.support, two.support)


@each
def test_smallest_C_of_repeated_rows(weighted, measure):
    X, y, c, rows = weighted(7)
    one = solve(X, y, measure=measure, budget=3, C=1e-6, sample_weight=c)
    two = solve(X[rows], y[rows], measure=measure, budget=3, C=1e-6)
    assert one.status is two.status is Status.ZERO_MODEL
    assert one.smallest_C == pytest.approx(two.smallest_C, rel=0.1)
    for factor, C in ((1e6, 1e-12), (1e-20, 1.0)):
        scaled = solve(X, y, measure=measure, budget=3, C=C, sample_weight=factor * c)
        assert scaled.smallest_C * factor == pytest.approx(one.smallest_C, rel=0.2)


@pytest.mark.parametrize("measure", ["accuracy", "balanced_accuracy"])
def test_labellings_are_certified_with_the_weights_that_are_given(weighted, measure):
    """Bits stay labellings under other weights, and give another bound of another optimum."""
    X, y, c, _ = weighted(8)
    problem = {"measure": measure, "budget": 3, "C": 0.7}
    result = solve(X, y, sample_weight=c, tol=TOL, **problem)
    for other in (np.ones(40), c + 0.5, 2.0 * c):
        check = certify(X, y, result.w, result.dual_point, sample_weight=other, **problem)
        optimum = solve(X, y, sample_weight=other, tol=TOL, **problem)
        assert check.dual <= optimum.primal
        assert check.primal >= optimum.dual
        assert check.dual != pytest.approx(result.dual, rel=1e-3)


def test_rankings_are_refused_with_other_weights(weighted):
    X, y, c, _ = weighted(8)
    problem = {"measure": "roc_auc", "budget": 3, "C": 0.7}
    result = solve(X, y, sample_weight=c, tol=TOL, **problem)
    for other in (0.1 * c, np.ones(40), None):
        with pytest.raises(ValueError, match="delta"):
            certify(X, y, result.w, result.dual_point, sample_weight=other, **problem)


@pytest.mark.parametrize("measure", NO_SUMS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_measures_that_are_no_sums_repeat_rows(weighted, certified, measure, form):
    """The same bits, because it is the same problem: weights are nothing but repetitions there."""
    X, y, c, rows = weighted(9)
    arguments = {"measure": measure, "budget": 3, "C": 2.0, "intercept_scaling": 1.0}
    one = solve(form(X), y, sample_weight=c.tolist(), **arguments)
    two = solve(form(X[rows]), y[rows], **arguments)
    assert_array_equal(one.w, two.w)
    assert (one.primal, one.dual, one.price) == (two.primal, two.dual, two.price)
    check = certified(X, y, one, sample_weight=c, **arguments)
    assert check.gap == pytest.approx(one.gap, abs=1e-9)


class TestErrors:
    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (np.ones(29), "sample_weight has 29 weights, but y has 30 entries"),
            (np.ones((30, 1)), r"sample_weight must be a 1-D array"),
            (np.r_[-1.0, np.ones(29)], r"sample_weight\[0\] is -1"),
            (np.r_[np.ones(29), np.nan], r"sample_weight\[29\] is nan"),
            (np.r_[np.inf, np.ones(29)], r"sample_weight\[0\] is inf"),
            (np.zeros(30), "sample_weight is zero for all positives"),
        ],
    )
    @each
    def test_weights(self, data, measure, weights, message):
        X, y = data(0)
        with pytest.raises(ValueError, match=message):
            solve(X, y, measure=measure, budget=3, sample_weight=weights)
        point = solve(X, y, measure=measure, budget=3).dual_point
        with pytest.raises(ValueError, match=message):
            certify(
                X, y, np.zeros(10), point, measure=measure, budget=3, C=1.0, sample_weight=weights
            )

    def test_a_class_without_weight(self, data):
        X, y = data(0)
        with pytest.raises(ValueError, match="sample_weight is zero for all negatives"):
            solve(X, y, measure="accuracy", budget=3, sample_weight=(y > 0).astype(float))

    @pytest.mark.parametrize("measure", NO_SUMS)
    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (
                np.r_[np.ones(29), 0.5],
                r"sample_weight\[29\] is 0.5, but .* takes whole weights",
            ),
            (np.full(30, 11), "sample_weight sums to 330, .* up to 10 times the 30 rows"),
            (np.zeros(30), "sample_weight is zero for all rows"),
            (np.ones(31), "sample_weight has 31 weights, but y has 30 labels"),
            (np.full(30, -1), r"sample_weight\[0\] is -1"),
        ],
    )
    def test_weights_that_are_no_repetitions(self, data, measure, weights, message):
        X, y = data(0)
        with pytest.raises(ValueError, match=message):
            solve(X, y, measure=measure, budget=3, sample_weight=weights)

    def test_repeated_rows_do_not_hide_a_wrong_length(self, data):
        X, y = data(0)
        with pytest.raises(ValueError, match="y has 30 labels and X has 20 rows"):
            solve(X[:20], y, measure="f1", budget=3, sample_weight=np.full(30, 2))

    def test_a_design_repeats_its_rows(self, data):
        X, y = data(0)
        for weights in ([1] * 30, [2] * 30, [0, 3, 1] * 10):
            found = [
                solve(each, y, measure="f1", budget=3, sample_weight=weights)
                for each in (X, as_design(X))
            ]
            assert found[0].primal == found[1].primal
            assert_array_equal(found[0].w, found[1].w)

    def test_a_weighted_measure_brings_its_weights(self, data):
        X, y = data(0)
        c = np.linspace(0.1, 2.0, 30)
        measure = get_measure("accuracy").weighted(c)
        one = solve(X, y, measure=measure, budget=3)
        two = solve(X, y, measure="accuracy", budget=3, sample_weight=c)
        assert one.primal == two.primal
        with pytest.raises(ValueError, match="given its weights already"):
            solve(X, y, measure=measure, budget=3, sample_weight=c)
