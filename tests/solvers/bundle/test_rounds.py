"""The bundle: certified gaps, known optima, monotone bounds, and the same bits every time."""

from __future__ import annotations

import itertools
from dataclasses import replace

import clarabel
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC

from scoresieve import Status, solve
from scoresieve.solvers.bundle import rounds
from scoresieve.solvers.bundle.rounds import run_bundle
from scoresieve.solvers.limits import Limits, Tracker
from scoresieve.solvers.master import solve as master
from scoresieve.solvers.problem import make_problem
from studies.common.internals import solve_by


def without_time(history):
    return [replace(row, time=0.0) for row in history]


def test_gap_is_certified_for_every_measure_and_column_set(data, certified, measure, columns):
    X, y = data(0)
    problem = {"measure": measure, "budget": 3, "C": 1.0, **columns}
    result = solve(X, y, tol=1e-3, **problem)
    check = certified(X, y, result, **problem)
    assert result.status is Status.CONVERGED
    assert result.n_fallbacks == 0
    assert check.gap <= 1e-3
    assert check.primal == pytest.approx(result.primal, rel=1e-9)
    assert check.dual == pytest.approx(result.dual, rel=1e-9)
    assert_array_equal(result.support, np.flatnonzero(result.w))
    assert np.all(result.w[columns.get("excluded_features", [])] == 0.0)
    assert result.intercept == 0.0 or "intercept_scaling" in columns


@pytest.mark.parametrize("bound", ["auto", 0.1, 2.0, "paper"])
def test_optimum_equals_the_enumeration_of_all_labellings(data, brute, measure, columns, bound):
    """n = 6: every labelling (or ranking) and every column in one conic programme."""
    X, y = data(11, n_samples=6, noise=2.0)
    if isinstance(bound, float) and not brute.takes_price(measure, "intercept_scaling" in columns):
        bound = 1.0
    form = {"bound": bound} if bound == "paper" else {"price": bound}
    result = solve(X, y, measure=measure, budget=2, C=2.0, tol=1e-5, **form, **columns)
    price = None if bound == "paper" else result.price
    assert bound in ("auto", "paper") or price == bound
    cuts, losses, sets = brute.enumerated(X, y, measure, price=price, **columns)
    expected, _ = brute.optimum(cuts, losses, 2.0, 2, **sets)
    assert result.dual <= expected * (1 + 1e-7)
    assert result.primal >= expected * (1 - 1e-7)
    assert result.primal - result.dual <= 1e-5 * result.primal
    w = result.w
    if "intercept_scaling" in columns:
        w = np.append(w, result.intercept / columns["intercept_scaling"])
    true = brute.objective(cuts, losses, w, 2.0, 2, **sets)
    assert result.primal == pytest.approx(true, rel=1e-9)


@pytest.mark.parametrize("measure", ["f1", "prbep", "roc_auc"])
def test_bounds_never_get_worse(data, measure):
    X, y = data(1, n_samples=60, n_features=40)
    result = solve(X, y, measure=measure, budget=5, C=3.0, tol=1e-3)
    primal = np.array([row.primal for row in result.history])
    dual = np.array([row.dual for row in result.history])
    assert primal.size == result.n_iter > 5
    assert np.all(np.diff(primal) <= 0)
    assert np.all(np.diff(dual) >= 0)
    assert np.all(dual <= primal[-1])
    assert result.dual == dual[-1]
    assert [row.iteration for row in result.history] == list(range(1, primal.size + 1))
    assert np.all(np.diff([row.time for row in result.history]) >= 0)
    assert all(row.n_support <= row.n_working <= 40 for row in result.history)


@pytest.mark.parametrize("measure", ["f1", "average_precision"])
def test_identical_inputs_give_identical_bits(data, measure):
    X, y = data(2, n_samples=50, n_features=30)
    arguments = {"measure": measure, "budget": 4, "C": 2.0, "tol": 1e-3, "intercept_scaling": 1.0}
    first, second = solve(X, y, **arguments), solve(X.copy(), y.copy(), **arguments)
    assert_array_equal(first.w, second.w)
    assert (first.intercept, first.primal, first.dual) == (
        second.intercept,
        second.primal,
        second.dual,
    )
    assert_array_equal(first.dual_point.alpha, second.dual_point.alpha)
    assert_array_equal(first.dual_point.cuts, second.dual_point.cuts)
    assert without_time(first.history) == without_time(second.history)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(2))
def test_accuracy_and_all_columns_is_a_linear_svm(data, seed, C):
    X, y = data(seed, n_samples=60, n_features=8, noise=2.0)
    svm = LinearSVC(
        loss="hinge", fit_intercept=False, C=C, tol=1e-10, max_iter=2_000_000, random_state=0
    )
    w = svm.fit(X, y).coef_[0]
    expected = 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w)).sum()
    result = solve(X, y, measure="accuracy", budget=8, C=C, tol=1e-6)
    assert result.primal == pytest.approx(expected, rel=2e-6)
    assert result.dual <= expected * (1 + 1e-9)


def quadratic_programme(brute, quadratic, cuts, losses, C, *, signed):
    """``min 1/2 x'Qx + C xi`` with ``<a_k, x> >= q_k - xi``, ``xi >= 0``, and x >= 0 if signed."""
    n_cuts, n = cuts.shape
    P = np.zeros((n + 1, n + 1))
    P[:n, :n] = quadratic
    positive = np.eye(n + 1)[0 if signed else n :]
    rows = np.vstack([np.column_stack([-cuts, -np.ones(n_cuts)]), -positive])
    sides = np.append(-losses, np.zeros(positive.shape[0]))
    cone = clarabel.NonnegativeConeT(sides.size)
    return brute.clarabel_solve(P, np.append(np.zeros(n), C), [(rows, sides, cone)])[1]


@pytest.mark.parametrize("measure", ["f1", "rec@3", "roc_auc"])
def test_a_budget_of_all_columns_is_the_plain_l2_problem(data, brute, measure):
    X, y = data(12, n_samples=6, n_features=4, noise=2.0)
    result = solve(X, y, measure=measure, budget=4, C=2.0, tol=1e-6)
    cuts, losses, _ = brute.enumerated(X, y, measure, price=result.price)
    expected = quadratic_programme(brute, np.eye(4), cuts, losses, 2.0, signed=False)
    assert result.primal == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("measure", ["f1", "rec@3", "roc_auc"])
def test_a_budget_of_one_is_the_squared_l1_problem(data, brute, measure):
    """1/2 (sum_j w+_j + w-_j)^2, with w = w+ - w-."""
    X, y = data(13, n_samples=6, n_features=5, noise=2.0)
    result = solve(X, y, measure=measure, budget=1, C=2.0, tol=1e-6)
    cuts, losses, _ = brute.enumerated(X, y, measure, price=result.price)
    both = np.hstack([cuts, -cuts])
    expected = quadratic_programme(brute, np.ones((10, 10)), both, losses, 2.0, signed=True)
    assert result.primal == pytest.approx(expected, rel=2e-6)
    assert result.primal >= 0.5 * np.abs(result.w).sum() ** 2 * (1 - 1e-12)


@pytest.mark.parametrize("measure", ["f1", "accuracy", "roc_auc"])
@pytest.mark.parametrize("budget", [1, 2, 5])
def test_dual_bounds_the_best_model_with_few_features(data, brute, measure, budget):
    """Every support of B columns, each with the plain l2 norm; equal where B is all of them."""
    X, y = data(14, n_samples=6, n_features=5, noise=2.0)
    result = solve(X, y, measure=measure, budget=budget, C=2.0, tol=1e-6)
    cuts, losses, _ = brute.enumerated(X, y, measure, price=result.price)
    best = min(
        brute.optimum(cuts[:, list(support)], losses, 2.0, budget)[0]
        for support in itertools.combinations(range(5), budget)
    )
    assert 0 < result.dual <= best * (1 + 1e-7)
    if budget == 5:
        assert result.dual == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("C", [1e-2, 1e2, 1e4])
def test_wide_data_of_any_C(data, certified, C):
    X, y = data(3, n_samples=40, n_features=300)
    problem = {"measure": "f1", "budget": 5, "C": C}
    result = solve(X, y, tol=0.02, **problem)
    assert result.status.reached_tolerance
    assert certified(X, y, result, **problem).gap <= 0.02


def test_planted_features_are_found(data):
    X, y = data(4, n_samples=200, n_features=100, noise=0.1)
    result = solve(X, y, measure="f1", budget=3, C=10.0, intercept_scaling=1.0, tol=0.01)
    assert_array_equal(np.sort(np.argsort(-np.abs(result.w))[:3]), [0, 1, 2])


def test_fallbacks_are_counted_and_leave_the_optimum(data, monkeypatch, caplog):
    X, y = data(5)
    # With its price given there are no other fits.
    arguments = {"measure": "f1", "price": 0.5, "budget": 3, "C": 1.0, "tol": 1e-3}
    expected = solve(X, y, **arguments)

    def broken(system, start, **_):
        raise np.linalg.LinAlgError("not positive definite")

    monkeypatch.setattr(master, "predictor_corrector", broken)
    result = solve(X, y, **arguments)
    assert expected.n_fallbacks == 0
    assert result.n_fallbacks == result.n_iter == len(caplog.records)
    assert result.status is Status.CONVERGED
    assert result.dual <= expected.primal
    assert expected.dual <= result.primal


@pytest.mark.parametrize(
    ("measure", "n_samples", "n_features", "seed", "noise", "tol"),
    [
        ("prbep", 3000, 10, 0, 2.0, 0.05),
        ("accuracy", 3000, 20, 2, 2.0, 0.05),
        ("prbep", 1000, 10, 0, 3.0, 0.003),
        ("prbep", 1000, 20, 3, 2.5, 0.003),
    ],
)
def test_more_cuts_than_columns_need_no_other_solver(
    caplog, measure, n_samples, n_features, seed, noise, tol
):
    """Overlapping classes on a few dense columns: the master ended early near its floor."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    y = np.where(X[:, 0] + X[:, 1] + noise * rng.normal(size=n_samples) > noise, 1.0, -1.0)
    problem = {"measure": measure, "price": 1.0, "budget": 4, "C": 30.0, "intercept_scaling": 1.0}
    result = solve(X, y, tol=tol, **problem)
    assert result.status is Status.CONVERGED
    assert result.history[-1].n_cuts > result.history[-1].n_working
    assert result.n_fallbacks == 0
    assert not caplog.records


def test_a_master_that_nobody_can_solve_ends_the_run(data, certified, monkeypatch, caplog):
    """The bounds found so far come back with a status that says so, not an exception."""
    X, y = data(6)
    systems = []

    def breaks_later(system, start, **options):
        systems.append(system)
        if len(systems) > 3:
            raise np.linalg.LinAlgError("singular")
        return working(system, start, **options)

    def refuses(problem, **_):
        raise np.linalg.LinAlgError("DualInfeasible")

    working = master.predictor_corrector
    monkeypatch.setattr(master, "predictor_corrector", breaks_later)
    monkeypatch.setattr(master, "solve_master_conic", refuses)
    # With its price given there are no other fits.
    result = solve(X, y, measure="f1", price=1.0, budget=3, tol=1e-6)
    assert result.status is Status.STALLED
    assert result.n_iter == 3
    assert "cannot go on: DualInfeasible" in caplog.text
    check = certified(X, y, result, measure="f1", budget=3, C=1.0)
    assert (check.primal, check.dual) == pytest.approx((result.primal, result.dual))


class TestHandingOver:
    """What the bundle of one budget leaves to that of the next."""

    @pytest.fixture
    def problem(self, data):
        X, y = data(8, n_features=30)
        return make_problem(
            X, y, measure="f1", budget=3, C=1.0, intercept_scaling=1.0, always_features=[4]
        )

    def ended(self, problem, max_iter=5):
        return run_bundle(
            problem, Tracker(Limits(1e-6, max_iter), problem.risk.no_dual_point()), None
        )

    def test_the_largest_units_and_those_always_in(self, data, problem, monkeypatch):
        X, y = data(8, n_features=30)
        monkeypatch.setattr(rounds, "UNITS_PER_BUDGET", 2)
        monkeypatch.setattr(rounds, "MORE_UNITS", 1)
        bundle = self.ended(problem)
        bundle.pool.add_columns(np.arange(30))
        w = np.zeros(31)
        w[[0, 7, 12, 13, 20, 25, 29]] = [0.01, 0.1, 5.0, -6.0, 7.0, 8.0, 0.2]
        smaller = problem.with_budget(2)
        before = bundle.pool.proving_cuts()
        warm = bundle.hand_over(smaller, w)
        pool, working = warm.memory, warm.memory.working
        assert pool is bundle.pool
        assert_array_equal(np.sort(working.columns[2:]), [12, 13, 20, 25, 29])
        assert_array_equal(working.columns[:2], [4, 30])
        assert_array_equal(warm.columns, working.columns)
        assert_array_equal(warm.w, w[working.columns])
        values = np.column_stack([X, np.ones(y.size)])[:, working.columns]
        heavy = pool.proving_cuts()
        assert 0 < heavy.alpha.size == len(pool) <= before.alpha.size
        assert heavy.alpha.sum() >= rounds.SHARE_OF_CUTS * before.alpha.sum() * (1 - 1e-12)
        for row, packed in zip(pool.matrix, heavy.cuts, strict=True):
            assert_allclose(row, values.T @ problem.risk.unpack(packed), atol=1e-12)
        assert_allclose(working.block.scores(np.arange(7.0)), values @ np.arange(7.0))
        assert (working.norm.n_columns, working.norm.budget) == (7, 2)
        assert_array_equal(working.norm.always, [0, 1])

    def test_nothing_is_left_out_where_there_is_nothing_to_choose_by(self, problem, monkeypatch):
        monkeypatch.setattr(rounds, "UNITS_PER_BUDGET", 2)
        monkeypatch.setattr(rounds, "MORE_UNITS", 1)
        bundle = self.ended(problem)
        bundle.pool.add_columns(np.arange(30))
        warm = bundle.hand_over(problem.with_budget(2), np.zeros(31))
        assert warm.columns.size == 31

    @pytest.mark.parametrize("kind", [{"measure": "f1", "price": 1.0}, {"loss": "hinge"}], ids=str)
    def test_a_run_from_there_starts_better_and_ends_at_the_same_optimum(self, data, kind):
        X, y = data(9, n_samples=60, n_features=40)
        problem = make_problem(X, y, **kind, budget=8, C=0.1)
        smaller = problem.with_budget(3)
        first = self.ended(problem, max_iter=200)
        warm = first.hand_over(smaller, first.working.scattered(first.best.w))
        trackers = [Tracker(Limits(1e-4, 500), problem.risk.no_dual_point()) for _ in range(2)]
        run_bundle(smaller, trackers[0], warm)
        run_bundle(smaller, trackers[1], None)
        again, cold = trackers
        assert max(again.gap, cold.gap) <= 1e-4
        assert max(again.dual, cold.dual) <= min(again.primal, cold.primal) * (1 + 1e-12)
        assert again.history[0].primal < cold.history[0].primal
        assert again.history[0].dual > cold.history[0].dual


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared", "epsilon_insensitive", "huber"])
def test_the_bundle_minimises_every_convex_loss(data, certified, loss):
    """Also where the smooth engine would be the quicker one."""
    X, y = data(4)
    arguments = {"loss": loss, "budget": 3, "C": 0.5, "intercept_scaling": 1.0}
    result = solve_by(run_bundle, X, y, tol=1e-4, **arguments)
    usual = solve(X, y, tol=1e-4, **arguments)
    assert result.history[-1].n_cuts > 0
    assert result.status is usual.status is Status.CONVERGED
    assert certified(X, y, result, **arguments).gap <= 1e-4
    assert max(result.dual, usual.dual) <= min(result.primal, usual.primal) * (1 + 1e-12)
