"""Hard budgets: at most k units, certified, and near the best of all supports on tiny problems."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import Status, solve
from scoresieve.design import DenseDesign
from scoresieve.solvers import engines
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.subset import splice
from scoresieve.solvers.subset.hard_budget import choose_units
from scoresieve.solvers.subset.refits import NEWTON_TOL, Refitter
from scoresieve.solvers.working import WarmStart
from studies.common.internals import solve_hard_budget

F1, LOGISTIC, HINGE = {"measure": "f1"}, {"loss": "logistic"}, {"loss": "hinge"}
#: With its price given: the same problem for every budget.
PRICED = {"measure": "f1", "price": 0.5}
kinds = pytest.mark.parametrize("kind", [F1, LOGISTIC, HINGE], ids=str)


def solve_hard(X, y, *, budget, tol=0.02, max_iter=500, **arguments):
    return solve(X, y, n_features_to_select=budget, tol=tol, max_iter=max_iter, **arguments)


def units_used(w, always_features=(), feature_groups=None):
    """The columns or groups with a non-zero weight, besides those always in."""
    groups = np.arange(w.size) if feature_groups is None else np.asarray(feature_groups)
    free = np.setdiff1d(np.flatnonzero(w), list(always_features))
    return np.unique(groups[free])


@pytest.mark.parametrize(("budget", "C"), [(1, 5.0), (3, 0.3)])
@kinds
def test_at_most_k_units_and_a_certificate(data, certified, columns, budget, C, kind):
    X, y = data(0, n_samples=40)
    arguments = {**kind, "budget": budget, "C": C, **columns}
    result = solve_hard(X, y, **arguments)
    names = ("always_features", "feature_groups")
    sets = {name: columns[name] for name in names if name in columns}
    assert units_used(result.w, **sets).size <= budget
    assert not np.any(result.w[columns.get("excluded_features", [])])
    assert_array_equal(result.support, np.flatnonzero(result.w))
    assert result.l0_gap == result.gap == pytest.approx(1 - result.dual / result.primal)
    check = certified(X, y, result, **arguments)
    assert_allclose(
        [check.primal, check.dual, check.gap], [result.primal, result.dual, result.gap], rtol=1e-9
    )


def every_support(m, k, sets):
    """The columns of every choice of k units, with those always in."""
    groups = sets["feature_groups"]
    groups = np.arange(m) if groups is None else np.asarray(groups)
    free = np.setdiff1d(np.arange(m), [*sets["always_features"], *sets["excluded_features"]])
    for chosen in itertools.combinations(np.unique(groups[free]), k):
        inside = free[np.isin(groups[free], chosen)]
        yield np.concatenate([inside, sets["always_features"]]).astype(int)


def best_of_all_supports(brute, X, y, k, C, measure, columns, price):
    """The l0 optimum: the least conic optimum over all sets of k units, each with the l2 norm."""
    A, losses, sets = brute.enumerated(X, y, measure, price=price, **columns)
    return min(
        brute.optimum(A[:, kept], losses, C, kept.size)[0]
        for kept in every_support(A.shape[1], k, sets)
    )


def best_ridge_of_all_supports(brute, X, y, k, C, columns):
    """The same for squared losses, where each support has a closed form."""
    _, _, sets = brute.enumerated(X, np.where(np.arange(y.size) < 2, 1.0, -1.0), "f1", **columns)
    if "intercept_scaling" in columns:
        X = np.column_stack([X, np.full(y.size, columns["intercept_scaling"])])
    values = []
    for kept in every_support(X.shape[1], k, sets):
        part = X[:, kept]
        w = np.linalg.solve(part.T @ part + np.eye(kept.size) / C, part.T @ y)
        values.append(0.5 * w @ w + 0.5 * C * np.sum((y - part @ w) ** 2))
    return min(values)


some_columns = pytest.mark.parametrize(
    "columns",
    [
        {},
        {"intercept_scaling": 2.0},
        {"always_features": [1]},
        {"excluded_features": [0]},
        {"feature_groups": [0, 0, 1, 2, 2]},
        {"intercept_scaling": 1.0, "always_features": [3], "feature_groups": [0, 0, 1, 2, 3]},
    ],
    ids=["plain", "intercept", "always", "excluded", "groups", "all"],
)


@pytest.mark.parametrize(
    ("measure", "price", "seed"),
    [
        *(
            (measure, *rest)
            for measure in ("f1", "prbep", "accuracy")
            for rest in ((0.2, 0), ("auto", 1), ("paper", 0))
        ),
        *(("hinge", None, seed) for seed in (0, 1)),
    ],
)
@some_columns
def test_between_the_bounds_of_all_supports(data, brute, measure, columns, seed, price):
    """J_k >= the best of all supports >= D, and J_k is within a few percent of it."""
    X, y = data(seed, n_samples=8, n_features=5)
    kind = HINGE if measure == "hinge" else {"measure": measure, "price": price}
    if price == "paper":
        kind = {"measure": measure, "bound": "paper"}
    elif price == 0.2 and not brute.takes_price(measure, "intercept_scaling" in columns):
        kind["price"] = 1.0
    result = solve_hard(X, y, budget=2, C=0.7, tol=1e-3, **kind, **columns)
    # The sum of the hinge losses is the risk of the accuracy.
    enumerated = "accuracy" if measure == "hinge" else measure
    price = None if "bound" in kind or kind is HINGE else result.price
    best = best_of_all_supports(brute, X, y, 2, 0.7, enumerated, columns, price)
    assert result.dual <= best * (1 + 1e-7)
    assert result.primal >= best * (1 - 1e-7)
    assert result.primal <= best * 1.15


@some_columns
@pytest.mark.parametrize("seed", range(4))
def test_between_the_bounds_of_all_ridge_regressions(data, brute, columns, seed):
    X, y = data(seed, n_samples=8, n_features=5)
    y = X[:, 0] - X[:, 2] + 0.5 * y
    result = solve_hard(X, y, loss="squared", budget=2, C=0.7, tol=1e-3, **columns)
    best = best_ridge_of_all_supports(brute, X, y, 2, 0.7, columns)
    assert result.dual <= best * (1 + 1e-7)
    assert result.primal >= best * (1 - 1e-7)
    assert result.primal <= best * 1.15


@settings(derandomize=True, deadline=None, database=None, max_examples=20)
@given(
    seed=st.integers(0, 10_000),
    budget=st.integers(1, 8),
    C=st.sampled_from([0.1, 1.0, 10.0]),
    kind=st.sampled_from([F1, LOGISTIC, HINGE]),
)
def test_never_more_than_k(seed, budget, C, kind):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(20, 8)).astype(float)
    y = np.where(rng.random(20) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    result = solve_hard(X, y, budget=budget, C=C, tol=0.1, **kind)
    assert result.support.size <= budget
    assert result.dual <= result.primal * (1 + 1e-9)


priced_kinds = pytest.mark.parametrize("kind", [PRICED, LOGISTIC, HINGE], ids=str)


@priced_kinds
def test_swaps_never_worsen_and_sometimes_help(data, monkeypatch, kind):
    limits = Limits(0.02, 500)
    problems = [
        make_problem(*data(seed, n_samples=60, n_features=30, noise=1.5), **kind, budget=4, C=0.5)
        for seed in range(3)
    ]
    with_swaps = np.array([choose_units(problem, limits, []).primal for problem in problems])
    monkeypatch.setattr(splice, "MAX_REFITS", 0)
    without = np.array([choose_units(problem, limits, []).primal for problem in problems])
    assert np.all(with_swaps <= without)
    assert np.any(with_swaps < (1 - splice.LEAST_GAIN) * without)


@priced_kinds
def test_swaps_find_the_better_column(kind):
    """From a start that keeps a column of noise, one swap gets to the column that decides."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = np.where(X[:, 2] > 0.5, 1.0, -1.0)
    refitter = Refitter(make_problem(X, y, **kind, budget=1, C=5.0), Limits(0.01, 200))
    start = refitter.refit(np.array([4]))
    best = splice.splice(refitter, start, 1)
    assert best.units.tolist() == [2]
    assert best.primal < start.primal


def some_starts(n_units, k, seed=0, n_starts=2):
    rng = np.random.default_rng(seed)
    return [np.sort(rng.permutation(n_units)[: 1 + place % k]) for place in range(n_starts)]


@priced_kinds
def test_no_start_is_better_than_the_end(data, columns, kind):
    """But for the accuracy of refits, which is finer by Newton's method than by cuts."""
    X, y = data(1, n_samples=40, noise=1.5)
    problem = make_problem(X, y, **kind, budget=2, C=1.0, **columns)
    limits = Limits(0.01, 500)
    refitter = Refitter(problem, limits)
    for units in some_starts(problem.norm.n_units, 2):
        start = refitter.refit(units)
        is_certified = units.size == 1
        result = solve_hard_budget(problem, limits, certificate=is_certified, starts=[units])
        assert result.primal <= start.primal * (1 + (1e-6 if problem.risk.is_smooth else 0.01))


def test_a_start_that_is_best_is_where_it_ends():
    """Two columns whose difference decides, and which promise nothing one by one."""
    X, y = opposites()
    X = np.column_stack([X, X[:, 0] * 0.5 + 30.0 * np.random.default_rng(3).normal(size=(200))])
    problem = make_problem(X, y, loss="squared_hinge", budget=2, C=1.0)
    result = solve_hard_budget(problem, Limits(0.01, 500), starts=[np.array([0, 1])])
    assert_array_equal(result.support, [0, 1])


@priced_kinds
@pytest.mark.parametrize("certificate", [True, False])
def test_more_features_are_never_dearer(data, kind, certificate):
    """Each budget starts from the units of the last one."""
    X, y = data(2, n_samples=40, n_features=10, noise=1.5)
    limits = Limits(2e-3, 1000)
    values, starts = [], []
    for k in (1, 2, 5):
        problem = make_problem(X, y, **kind, budget=k, C=1.0)
        result = solve_hard_budget(problem, limits, certificate=certificate, starts=starts)
        values.append(result.primal)
        assert result.support.size <= k
        starts = [result.support]
    assert np.all(np.diff(values) <= limits.tol * np.array(values[:-1]))
    assert values[-1] < 0.8 * values[0]


@kinds
def test_never_above_a_start(data, kind):
    X, y = data(8, n_samples=60, n_features=12, noise=1.5)
    problem = make_problem(X, y, **kind, budget=3, C=0.5)
    limits = Limits(0.02, 500)
    for units in ([0, 1, 2], [9, 10, 11], [4]):
        start = Refitter(problem, limits).refit(np.array(units))
        best = choose_units(problem, limits, [np.array(units)])
        assert best.primal <= start.primal * (1 + 1e-12)


@kinds
def test_a_budget_of_all_columns_is_the_relaxed_problem(data, kind):
    X, y = data(3)
    arguments = {**kind, "budget": 10, "C": 2.0}
    hard = solve_hard(X, y, tol=1e-4, **arguments)
    relaxed = solve_problem(make_problem(X, y, **arguments), Limits(1e-4, 500))
    assert hard.primal == pytest.approx(relaxed.primal, rel=2e-4)
    assert hard.l0_gap <= 1e-4
    assert hard.status is Status.CONVERGED


@pytest.mark.parametrize("kind", [F1, HINGE], ids=str)
def test_a_tiny_C_gives_the_zero_model_and_the_smallest_useful_C(data, kind):
    X, y = data(5)
    arguments = {**kind, "budget": 3, "tol": 0.05}
    result = solve_hard(X, y, C=1e-6, **arguments)
    if kind == LOGISTIC:
        # Tiny weights of the k best columns lower a smooth objective a little.
        assert result.support.size == 3
        return
    assert result.status is Status.ZERO_MODEL
    assert result.support.size == 0
    assert not np.any(result.w)
    assert 1e-6 < result.smallest_C < np.inf
    assert solve_hard(X, y, C=1.2 * result.smallest_C, **arguments).support.size > 0


def test_a_smooth_loss_has_features_at_any_C(data):
    """Tiny weights lower it a little, where the slopes at 0 are not 0."""
    X, y = data(5)
    result = solve_hard(X, y, C=1e-6, loss="logistic", budget=3)
    assert result.support.size == 3
    assert result.status is Status.CONVERGED


def test_columns_that_are_all_zero():
    """Nothing to select and nothing to refit on: the zero model, and no C that helps."""
    y = np.array([1.0, 1.0, -1.0, -1.0])
    result = solve_hard(np.zeros((4, 3)), y, measure="f1", budget=2, C=1.0)
    assert result.status is Status.ZERO_MODEL
    assert result.primal == 2.0
    assert 1.96 <= result.dual <= 2.0
    assert result.smallest_C == np.inf


@kinds
def test_limits(data, certified, kind):
    X, y = data(6, n_samples=60, n_features=30, n_informative=6, noise=1.5)
    problem = {**kind, "budget": 4, "C": 5.0}
    short = solve_hard(X, y, max_iter=2, tol=1e-9, **problem)
    assert short.status is Status.MAX_ITER
    assert short.n_iter == len(short.history) == 2
    assert short.support.size <= 4
    late = solve_hard(X, y, max_time=1e-9, tol=1e-9, **problem)
    assert late.status is Status.MAX_TIME
    assert late.n_iter == 1
    assert 1 <= late.support.size <= 4
    assert certified(X, y, late, **problem).gap == pytest.approx(late.gap, rel=1e-9)


@pytest.mark.parametrize("kind", [F1, HINGE], ids=str)
def test_a_warm_start_needs_fewer_rounds(data, kind):
    X, y = data(7, n_samples=60, n_features=30)
    problem = make_problem(X, y, **kind, budget=4, C=0.5)
    limits = Limits(0.01, 500)
    cold = solve_problem(problem, limits)
    warm = WarmStart(cold.support, cold.w[cold.support], cold.dual_point)
    again = solve_problem(problem, limits, warm=warm)
    assert again.n_iter < cold.n_iter
    assert again.gap <= 0.01
    hard = solve_hard_budget(problem, limits, warm=warm)
    assert hard.n_iter < solve_hard_budget(problem, limits).n_iter


def opposites(n_samples=200):
    """Two columns that are noise each and the label in their sum."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n_samples) % 8 == 0, 1.0, -1.0)
    noise = 20.0 * rng.normal(size=n_samples)
    return np.column_stack([y + noise, y - noise]), y


@pytest.mark.parametrize("certificate", [True, False])
def test_no_choice_of_one_when_only_two_together_tell_anything(certificate):
    X, y = opposites()
    limits = Limits(0.05, 500)
    problem = make_problem(X, y, **PRICED, budget=1, C=1.0)
    alone = solve_hard_budget(problem, limits, certificate=certificate)
    assert alone.status is Status.EMPTY_CHOICE
    assert alone.status.reached_tolerance
    assert alone.smallest_C is None
    assert alone.support.size == 0
    assert (alone.gap > limits.tol) == certificate
    both = solve_hard_budget(problem.with_budget(2), limits, certificate=certificate)
    assert both.support.size == 2


def instances(seed, *, n_samples=120, n_kinds=8, n_positive=3):
    """Similarities to every sample: many columns say the same, as with embedded instances."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(n_kinds, size=n_samples)
    points = 3.0 * rng.normal(size=(n_kinds, 3))[kind] + rng.normal(size=(n_samples, 3))
    squares = np.sum((points[:, None] - points[None]) ** 2, axis=2)
    return np.exp(-squares / 4.0), np.where(kind < n_positive, 1.0, -1.0)


@priced_kinds
def test_giving_up_changes_nothing_but_the_time(monkeypatch, kind):
    """A refit that is given up was too dear, so that it would not have been taken."""
    problems = [make_problem(*instances(seed), **kind, budget=3, C=1.0) for seed in range(3)]
    limits = Limits(0.05, 500)
    given_up, patient = [], Refitter.refit

    def noted(self, *arguments, **settings):
        fit = patient(self, *arguments, **settings)
        given_up.append(fit.gap > (NEWTON_TOL if self.problem.risk.is_smooth else self.tol))
        return fit

    monkeypatch.setattr(Refitter, "refit", noted)
    quick = [choose_units(problem, limits, []).w for problem in problems]
    assert any(given_up)
    monkeypatch.setattr(
        Refitter,
        "refit",
        lambda self, *arguments, give_up_at=None, **settings: patient(self, *arguments, **settings),
    )
    for problem, w in zip(problems, quick, strict=True):
        assert_array_equal(choose_units(problem, limits, []).w, w)


class TestWithoutACertificate:
    @kinds
    def test_no_gap_to_all_models_of_that_size(self, data, columns, kind):
        X, y = data(0, n_samples=40)
        problem = make_problem(X, y, **kind, budget=2, C=0.5, **columns)
        result = solve_hard_budget(problem, Limits(0.02, 500), certificate=False)
        assert np.isnan(result.l0_gap)
        assert result.status is Status.CONVERGED
        assert 0.0 <= result.gap <= 0.02
        assert result.dual == pytest.approx(result.primal * (1 - result.gap))
        assert result.n_iter >= 1
        assert result.history == []
        # The bound is that of the chosen columns, whose l2 model this is.
        roles = problem.norm.unit_of
        units = np.unique(roles[result.support])
        refit = Refitter(replace(problem, risk=priced_as(problem, result)), Limits(1e-4, 1000))
        assert result.primal == pytest.approx(refit.refit(units[units >= 0]).primal, rel=0.02)

    @kinds
    def test_the_relaxed_problem_is_not_solved(self, data, monkeypatch, kind):
        def fail(*_, **__):
            raise AssertionError

        X, y = data(0, n_samples=40)
        problem = make_problem(X, y, **kind, budget=2, C=0.5, intercept_scaling=1.0)
        monkeypatch.setattr(engines, "engine_for", fail)
        assert solve_hard_budget(problem, Limits(0.02, 500), certificate=False).support.size
        # Nor where the model ends without features.
        late = make_problem(X, y, measure="f1", price=1e3, budget=2, C=1e-6)
        assert not solve_hard_budget(late, Limits(0.02, 500), certificate=False).support.size
        with pytest.raises(AssertionError):
            solve_hard_budget(problem, Limits(0.02, 500))

    @priced_kinds
    def test_it_passes_less_often_over_x(self, data, monkeypatch, kind):
        X, y = data(3, n_samples=60, n_features=30, noise=1.5)
        problem = make_problem(X, y, **kind, budget=4, C=0.5)
        passes, correlate = [], DenseDesign.correlate

        def noted(self, v):
            passes[-1] += self.n_columns == 30
            return correlate(self, v)

        monkeypatch.setattr(DenseDesign, "correlate", noted)
        results = []
        for certificate in (True, False):
            passes.append(0)
            results.append(solve_hard_budget(problem, Limits(1e-3, 500), certificate=certificate))
        assert passes[1] < passes[0]
        assert results[1].primal == pytest.approx(results[0].primal, rel=0.02)

    @priced_kinds
    def test_the_time(self, data, kind):
        X, y = data(6, n_samples=60, n_features=30, noise=1.5)
        problem = make_problem(X, y, **kind, budget=4, C=5.0)
        limits = Limits(1e-9, 500, max_time=1e-9)
        late = solve_hard_budget(problem, limits, certificate=False)
        assert 1 <= late.support.size <= 4
        assert np.isnan(late.l0_gap)
        assert late.status is (Status.CONVERGED if kind == LOGISTIC else Status.MAX_TIME)


def priced_as(problem, result):
    """The risk at the price that the result has."""
    risk = problem.risk
    return risk if np.isnan(result.price) else risk.with_price(result.price)


@kinds
def test_formats_have_the_same_model(data, kind):
    X, y = data(8, n_samples=40, n_features=12, noise=1.0)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    arguments = {**kind, "budget": 3, "C": 0.5, "intercept_scaling": 1.0}
    found = [
        solve_hard(form(X), y, **arguments)
        for form in (np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array)
    ]
    for other in found[1:]:
        assert_array_equal(other.support, found[0].support)
        assert_allclose(other.w, found[0].w, atol=1e-4)
        assert other.primal == pytest.approx(found[0].primal, rel=1e-5)


@pytest.mark.parametrize(
    ("kind", "form"),
    [(F1, sp.csr_array), (LOGISTIC, sp.csc_array), (HINGE, np.asarray), (LOGISTIC, np.asarray)],
    ids=str,
)
def test_a_column_of_zeros_may_always_be_in(data, kind, form):
    X, y = data(9)
    X[:, 4] = 0.0
    result = solve_hard(form(X), y, **kind, budget=2, C=1.0, always_features=[4])
    assert 1 <= result.support.size <= 2
    assert result.w[4] == 0.0


@pytest.mark.parametrize("certificate", [True, False])
def test_targets_that_are_no_labels_and_a_loss_with_kinks(data, certificate):
    """No squared hinge helps there."""
    X, _ = data(2, n_samples=60)
    y = 2.0 * X[:, 3] - X[:, 7]
    problem = make_problem(X, y, loss="epsilon_insensitive", budget=2, C=1.0)
    result = solve_hard_budget(problem, Limits(0.01, 500), certificate=certificate)
    assert_array_equal(result.support, [3, 7])
    losses = np.maximum(0.0, np.abs(y - X @ result.w) - problem.risk.kind.epsilon)
    assert result.primal == pytest.approx(0.5 * result.w @ result.w + losses.sum())


@kinds
def test_features_are_kept_when_the_relaxed_problem_took_all_the_time(data, kind):
    X, y = data(6, n_samples=60, n_features=30, noise=1.5)
    problem = make_problem(X, y, **kind, budget=4, C=5.0, intercept_scaling=1.0)
    late = solve_hard_budget(problem, Limits(1e-9, 500, max_time=1e-9))
    assert late.status is Status.MAX_TIME
    assert 1 <= late.support.size <= 4
    given = solve_hard_budget(problem, Limits(1e-9, 500, max_time=1e-9), starts=[np.array([0, 2])])
    assert_array_equal(given.support, [0, 2])


class TestArguments:
    """Of ``solve``: a budget, or a number of features."""

    @kinds
    def test_k_is_a_budget_that_no_model_exceeds(self, data, kind):
        X, y = data(1)
        problem = make_problem(X, y, budget=3, C=1.0, **kind)
        for certificate in (True, False):
            found = solve(X, y, n_features_to_select=3, certificate=certificate, tol=0.05, **kind)
            same = solve(X, y, n_features_to_select=3, budget=3, tol=0.05, **kind)
            expected = solve_hard_budget(problem, Limits(0.05, 1000), certificate=certificate)
            assert_array_equal(found.w, expected.w)
            assert_array_equal([found.dual, found.l0_gap], [expected.dual, expected.l0_gap])
            assert_array_equal(same.w, found.w)

    def test_more_than_there_are_is_all_of_them(self, data, recwarn):
        X, y = data(1)
        assert solve(X, y, measure="f1", n_features_to_select=99, C=10.0).support.size <= 10
        assert not recwarn.list

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({}, "neither budget nor n_features_to_select is given.*pass one of them"),
            (
                {"n_features_to_select": 3, "budget": 4},
                "budget=4 and n_features_to_select=3",
            ),
            ({"n_features_to_select": 0}, "n_features_to_select must be an integer of at least 1"),
            ({"n_features_to_select": 2.5}, "n_features_to_select must be an integer of at least"),
            ({"n_features_to_select": 3, "certificate": "no"}, "certificate must be True or False"),
        ],
    )
    def test_what_is_refused(self, data, changes, message):
        with pytest.raises(ValueError, match=message):
            solve(*data(1), measure="f1", **changes)
