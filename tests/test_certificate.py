"""The certificate: right numbers for any feasible point, and a refusal of everything else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoresieve import certify, solve
from scoresieve.losses import get_loss
from scoresieve.measures import get_measure
from scoresieve.risks import CutWeights, Slopes

CHECKED = settings(derandomize=True, deadline=None, database=None, max_examples=40)


def some_dual_point(brute, measure, y, C, seed, share=0.9, **form):
    """Random weights on a few of all labellings, packed as documented: a bit an example."""
    rng = np.random.default_rng(seed)
    deltas, losses = brute.every_cut(measure, y, **form)
    chosen = rng.choice(losses.size, size=min(5, losses.size), replace=False)
    alpha = rng.dirichlet(np.ones(chosen.size)) * share * C
    packed = np.packbits(deltas[chosen] != 0, axis=1)
    if measure in ("roc_auc", "average_precision"):
        packed = deltas[chosen]
    return CutWeights(alpha, packed), chosen


#: Losses and conjugates at (y, s) and (y, u), written out one example at a time.
FORMULAS = {
    get_loss("hinge"): (lambda y, s: max(0, 1 - y * s), lambda y, u: y * u),
    get_loss("squared_hinge"): (
        lambda y, s: max(0, 1 - y * s) ** 2,
        lambda y, u: y * u + u * u / 4,
    ),
    get_loss("logistic"): (
        lambda y, s: np.log(1 + np.exp(-y * s)),
        lambda y, u: -y * u * np.log(-y * u) + (1 + y * u) * np.log(1 + y * u),
    ),
    get_loss("huber_hinge", delta=0.5): (
        lambda y, s: max(0, 1 - y * s) ** 2 if y * s > 0.5 else 0.75 - y * s,
        lambda y, u: y * u + u * u / 4,
    ),
    get_loss("squared"): (lambda y, s: (y - s) ** 2 / 2, lambda y, u: u * u / 2 + u * y),
    get_loss("epsilon_insensitive", epsilon=0.3): (
        lambda y, s: max(0, abs(y - s) - 0.3),
        lambda y, u: 0.3 * abs(u) + u * y,
    ),
    get_loss("huber", epsilon=0.5): (
        lambda y, s: (y - s) ** 2 / 2 if abs(y - s) <= 0.5 else 0.5 * abs(y - s) - 0.125,
        lambda y, u: u * u / 2 + u * y,
    ),
}
every_loss = pytest.mark.parametrize("loss", FORMULAS, ids=repr)


def make_targets(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 10))
    y = X[:, 0] + X[:, 1] + rng.normal(size=30)
    return X, (y if loss.task == "regression" else np.sign(y)), rng.random(30)


@pytest.mark.parametrize("price", [None, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_equal_brute_force(data, brute, measure, columns, seed, price):
    """J over all labellings and D from the dense cuts, at arbitrary w and alpha."""
    X, y = data(31 + seed, n_samples=6, noise=2.0)
    rng = np.random.default_rng(seed)
    has_threshold = "intercept_scaling" in columns
    if price is not None and not brute.takes_price(measure, has_threshold):
        price = 1.0
    bound = {"bound": "paper"} if price is None else {"price": price}
    C, budget = 0.7, 2
    w, bias = rng.normal(size=10), 0.0
    w[columns.get("excluded_features", [])] = 0.0
    cuts, losses, sets = brute.enumerated(X, y, measure, price=price, **columns)
    full = w
    if has_threshold:
        bias = 0.8
        full = np.append(w, bias / columns["intercept_scaling"])
    point, chosen = some_dual_point(
        brute, measure, y, C, seed, price=price, has_threshold=has_threshold
    )
    problem = {"measure": measure, "budget": budget, "C": C, **bound, **columns}
    check = certify(X, y, w, point, intercept=bias, **problem)
    primal = brute.objective(cuts, losses, full, C, budget, **sets)
    assert check.primal == pytest.approx(primal, rel=1e-10)
    c = cuts[chosen].T @ point.alpha
    squares = brute.dual_norm_squared(c, budget, **sets)
    dual = losses[chosen] @ point.alpha - 0.5 * squares
    assert check.dual == pytest.approx(dual, rel=1e-10, abs=1e-10)
    assert check.gap == pytest.approx((primal - dual) / primal)


@CHECKED
@given(
    seed=st.integers(0, 10**6),
    C=st.sampled_from([0.01, 0.3, 3.0, 100.0]),
    price=st.sampled_from([0.1, 0.5, 1.0, 2.0]),
)
def test_every_feasible_alpha_bounds_the_optimum_from_below(data, brute, seed, C, price):
    X, y = data(7, n_samples=6, n_features=4, noise=2.0)
    cuts, losses, sets = brute.enumerated(X, y, "f1", price=price)
    expected, w = brute.optimum(cuts, losses, C, 2, **sets)
    point, _ = some_dual_point(brute, "f1", y, C, seed, price=price)
    check = certify(X, y, w, point, measure="f1", price=price, budget=2, C=C)
    assert check.dual <= expected * (1 + 1e-7)
    assert check.primal == pytest.approx(expected, rel=1e-5)


def at_price_of(result):
    """The price that ``solve`` found, as an argument; none for a loss."""
    return {} if np.isnan(result.price) else {"price": result.price}


@pytest.mark.parametrize("kind", [{"measure": "f1"}, {"loss": "logistic"}], ids=str)
def test_a_worse_w_has_a_larger_gap(data, kind):
    X, y = data(0)
    settings = {**kind, "budget": 3, "C": 1.0}
    result = solve(X, y, tol=1e-4, **settings)
    settings |= at_price_of(result)
    gaps = [
        certify(X, y, factor * result.w, result.dual_point, **settings).gap
        for factor in (1.0, 0.8, 0.5, 0.0)
    ]
    assert gaps == sorted(gaps)
    assert gaps[0] <= 1e-4 < gaps[1] < gaps[3]


def test_a_dual_point_of_zeros_proves_that_nothing_is_negative(data):
    X, y = data(1)
    slopes = certify(X, y, np.zeros(10), Slopes(np.zeros(30)), loss="logistic", budget=3, C=1.0)
    assert (slopes.dual, slopes.gap) == (0.0, 1.0)
    for cuts in (np.zeros((0, 0), dtype=np.uint8), np.zeros((0, 30))):
        point = CutWeights(np.zeros(0), cuts)
        check = certify(X, y, np.zeros(10), point, measure="f1", price=0.4, budget=3, C=2.0)
        assert check.dual == 0.0
        assert check.gap == 1.0
        assert check.primal == pytest.approx(2.0 * np.sum(y > 0))


@pytest.mark.parametrize("kind", [{"measure": "f1"}, {"loss": "logistic"}], ids=str)
def test_labels_and_columns_are_read_as_in_solve(data, kind):
    """0/1 labels, a mask, and lists of groups mean the same to both."""
    X, y = data(2)
    arguments = {
        **kind,
        "budget": 2,
        "C": 1.0,
        "intercept_scaling": 1.0,
        "always_features": np.arange(10) == 3,
        "excluded_features": [9],
        "feature_groups": [[0, 1], [4, 5, 6]],
    }
    result = solve(X, y > 0, tol=1e-3, **arguments)
    arguments |= at_price_of(result)
    check = certify(
        X, (y > 0).astype(int), result.w, result.dual_point, intercept=result.intercept, **arguments
    )
    assert check.primal == pytest.approx(result.primal, rel=1e-9)
    assert check.dual == pytest.approx(result.dual, rel=1e-9)


@every_loss
def test_bounds_of_losses_are_recomputed_from_the_data(loss, columns, brute):
    X, y, weights = make_targets(loss)
    arguments = {"loss": loss, "budget": 2, "C": 1.5, "sample_weight": weights, **columns}
    result = solve(X, y, tol=0.05, **arguments)
    check = certify(X, y, result.w, result.dual_point, intercept=result.intercept, **arguments)
    sets = {name: list(columns.get(name, [])) for name in ("always_features", "excluded_features")}
    groups = columns.get("feature_groups")
    w, value = result.w, columns.get("intercept_scaling", 0.0)
    if value:
        sets["always_features"].append(10)
        X, w = np.column_stack([X, np.full(30, value)]), np.append(w, result.intercept / value)
        groups = None if groups is None else [*groups, max(groups) + 1]
    sets["feature_groups"] = groups
    function, conjugate = FORMULAS[loss]
    losses = [function(a, b) for a, b in zip(y, X @ w, strict=True)]
    primal = 0.5 * brute.norm_squared(w, 2, **sets) + 1.5 * weights @ losses
    u = result.dual_point.slopes
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.nan_to_num([-conjugate(a, b) for a, b in zip(y, u, strict=True)], nan=0.0)
    correlations = X.T @ (-1.5 * weights * u)
    dual = 1.5 * weights @ gains - 0.5 * brute.dual_norm_squared(correlations, 2, **sets)
    assert check.primal == pytest.approx(primal, rel=1e-9)
    assert check.dual == pytest.approx(dual, rel=1e-9)
    assert check.gap == pytest.approx((primal - dual) / primal, rel=1e-6)
    assert (result.primal, result.dual) == pytest.approx((check.primal, check.dual), rel=1e-9)
    assert check.gap <= 0.05


@every_loss
def test_any_slopes_and_weights_bound_the_optimum(loss):
    X, y, _ = make_targets(loss)
    optimum = solve(X, y, loss=loss, budget=3, C=1.0, tol=1e-4)
    rng = np.random.default_rng(1)
    low, high = loss.slope_range(y)
    for _ in range(20):
        slopes = np.clip(rng.normal(size=30), low, high)
        point = Slopes(rng.random() * slopes)
        check = certify(X, y, rng.normal(size=10), point, loss=loss, budget=3, C=1.0)
        assert check.dual <= optimum.primal
        assert check.primal >= optimum.dual


def fitted(data, kind):
    """Data, a result of it, and what it was fitted for."""
    X, y = data(3)
    result = solve(X, y, budget=3, tol=1e-2, **kind)
    return X, y, result, {**kind, **at_price_of(result)}


def certify_with(good, w=None, point=None, **changes):
    """The certificate of a good result with something changed."""
    X, y, result, kind = good
    kind = {} if {"measure", "loss"} & set(changes) else kind
    arguments = {"budget": 3, "C": 1.0, **kind, **changes}
    w = result.w if w is None else w
    return certify(X, y, w, result.dual_point if point is None else point, **arguments)


class TestRefusals:
    @pytest.fixture(params=[{"measure": "f1"}, {"loss": "logistic"}], ids=str)
    def good(self, data, request):
        return fitted(data, request.param)

    def test_the_good_one_passes(self, good):
        assert certify_with(good).gap <= 1e-2

    def test_a_w_of_another_length(self, good):
        with pytest.raises(ValueError, match=r"w has shape \(9,\); X has 10 columns"):
            certify_with(good, w=good[2].w[:9])
        narrow = (good[0][:, :9], *good[1:])
        with pytest.raises(ValueError, match=r"w has shape \(10,\); X has 9 columns"):
            certify_with(narrow)

    def test_a_w_that_is_not_finite(self, good):
        w = good[2].w.copy()
        w[0] = np.nan
        with pytest.raises(ValueError, match="w or intercept contains NaN or infinity"):
            certify_with(good, w=w)
        with pytest.raises(ValueError, match="w or intercept contains NaN or infinity"):
            certify_with(good, intercept=np.inf, intercept_scaling=1.0)

    def test_an_intercept_without_a_constant_column(self, good):
        message = (
            r"intercept=0\.5 needs the value of its constant column: pass the intercept_scaling"
        )
        with pytest.raises(ValueError, match=message):
            certify_with(good, intercept=0.5)

    def test_weight_on_an_excluded_column_is_infinitely_bad(self, good):
        assert certify_with(good, w=np.ones(10), excluded_features=[3]).primal == np.inf

    def test_a_dual_point_of_the_other_kind(self, good):
        other = CutWeights(np.zeros(0), np.zeros((0, 0))) if "loss" in good[3] else Slopes(good[1])
        with pytest.raises(ValueError, match=f"dual_point must hold .*{type(other).__name__}"):
            certify_with(good, point=other)
        with pytest.raises(ValueError, match=r"dual_point must hold .*ndarray"):
            certify_with(good, point=np.zeros(30))

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"C": 0.0}, "C must be a positive finite number"),
            ({"budget": 0}, "budget must be an integer of at least 1"),
            ({"measure": "nope"}, "unknown measure 'nope'"),
            ({"loss": "nope"}, "unknown loss 'nope'"),
            ({"measure": "f1", "loss": "hinge"}, "pass a measure or a loss, one of them"),
            ({"measure": "prec@31"}, "k=31 asks for the 31 highest scores"),
            ({"always_features": [10]}, "always_features holds 10"),
            ({"intercept_scaling": -1.0}, "intercept_scaling must be 0 or a positive"),
        ],
    )
    def test_arguments_are_checked_as_in_solve(self, good, changes, message):
        with pytest.raises(ValueError, match=message):
            certify_with(good, **changes)

    def test_a_price_that_is_not_known(self, data):
        """A certificate at any other price would be right, and not of this model."""
        good = fitted(data, {"measure": "f1"})
        message = (
            r"price='auto' cannot be certified.*Pass that of the fit, SolveResult\.price or price_"
        )
        with pytest.raises(ValueError, match=message):
            certify_with(good, price="auto")
        assert certify_with(good, price=2.0 * good[2].price).gap > 1e-2


class TestWhatProvesNothing:
    """``tests/risks`` tests each refusal; here, that the certificate asks the risk."""

    def test_cuts(self, data):
        good = fitted(data, {"measure": "f1"})
        y, point = good[1], good[2].dual_point
        negative = np.append(-1e-6, point.alpha[1:])
        too_much = point.alpha * (1.001 / point.alpha.sum())
        for wrong, message in (
            (replace(point, alpha=negative), r"dual_point.alpha must be non-negative.*-1e-06"),
            (replace(point, alpha=too_much), r"sum to at most C=1;.*the sum 1\.001"),
            (replace(point, alpha=np.ones(1)), r"dual_point.alpha has shape \(1,\)"),
            (CutWeights(np.array([0.5]), 0.5 * y[None]), r"must be \(K,\) and \(K, 4\)"),
            (CutWeights(np.array([0.5]), np.full((1, 4), 0.5)), "dtype float64; labellings are"),
        ):
            with pytest.raises(ValueError, match=message):
                certify_with(good, point=wrong)
        with pytest.raises(ValueError, match=r"sum to at most C=0\.5"):
            certify_with(good, C=0.5)

    def test_slopes(self, data):
        good = fitted(data, {"loss": "logistic"})
        y = good[1]
        assert certify_with(good, point=Slopes(-y * (1 + 1e-12))).dual > -np.inf
        for changes, message in (
            ({"point": Slopes(-y * 1.001)}, r"slopes\[0\] is .* between"),
            ({"point": Slopes(y)}, "slopes of the logistic loss there lie between"),
            ({"point": Slopes(np.full(30, np.nan)), "loss": "squared"}, r"point.slopes\[0\]"),
        ):
            with pytest.raises(ValueError, match=message):
                certify_with(good, **changes)

    def test_what_does_not_compete_for_another_measure(self, data):
        """Half of the positives labelled +1 is not admissible for the break-even point."""
        good = fitted(data, {"measure": "f1"})
        y = good[1]
        flips = np.zeros(30, dtype=bool)
        flips[np.flatnonzero(y > 0)[:3]] = True
        point = CutWeights(np.array([0.5]), np.packbits(flips)[None])
        assert certify_with(good, point=point).dual <= 0.5 * y.size
        delta = get_measure("roc_auc").most_violated(y, np.zeros(30)).delta
        ranking = CutWeights(np.array([0.5]), delta[None])
        assert certify_with(good, point=ranking, measure="roc_auc").dual > -np.inf
        for measure, wrong, message in (
            ("prbep", point, "not admissible for prbep"),
            ("roc_auc", replace(ranking, cuts=0.77 * delta[None]), "not a multiple of 1/20"),
            ("roc_auc", replace(ranking, cuts=2.0 * delta[None]), "any ranking"),
        ):
            with pytest.raises(ValueError, match=message):
                certify_with(good, point=wrong, measure=measure)


def test_weights_may_be_a_list_and_a_dual_point_must_be_there(data):
    X, y = data(0)
    settings = {"measure": "f1", "budget": 3, "C": 1.0}
    result = solve(X, y, tol=0.1, **settings)
    settings["price"] = result.price
    check = certify(X, y, result.w, result.dual_point, **settings)
    assert certify(X, y, result.w.tolist(), result.dual_point, **settings) == check
    with pytest.raises(ValueError, match=r"no dual point to check.*with_certificate=True"):
        certify(X, y, result.w, None, **settings)
