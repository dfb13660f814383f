"""Bounds with prices, against an enumeration of all labellings and against what they bound.

Losses are written down here from their definitions, on counts of true and false positives. A
positive has the price 1 and a negative the price rho in the joint score of a labelling.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.svm import LinearSVC

from scoresieve import solve
from scoresieve.measures import (
    PRBEP,
    HighestScores,
    PrecisionAtK,
    RecallAtK,
    TopHits,
    get_measure,
    known_names,
)
from scoresieve.risks import MeasureRisk

CHECKED = settings(derandomize=True, deadline=None, database=None, max_examples=25)
PRICES = (0.1, 0.5, 1.0, 2.0)
every_price = pytest.mark.parametrize("price", PRICES)


def precision(tp, fp):
    return tp / (tp + fp) if tp + fp else 0.0


def f_beta(beta):
    def loss(tp, fp, P, N):
        p, r = precision(tp, fp), tp / P
        return 1 - (1 + beta**2) * p * r / (beta**2 * p + r) if tp else 1.0

    return loss


def correlation(tp, fp, P, N):
    fn, tn = P - tp, N - fp
    bottom = (tp + fp) * (tn + fn) * P * N
    return (tp * tn - fp * fn) / np.sqrt(bottom) if bottom else 0.0


#: The loss of a table that all labellings compete with.
LOSSES = {
    "accuracy": lambda tp, fp, P, N: (P - tp + fp) / (P + N),
    "balanced_accuracy": lambda tp, fp, P, N: 1 - (tp / P + (N - fp) / N) / 2,
    "f1": f_beta(1.0),
    "f2": f_beta(2.0),
    "f0.5": f_beta(0.5),
    "jaccard": lambda tp, fp, P, N: 1 - tp / (P + fp),
    "precision@recall>=0.6": lambda tp, fp, P, N: 1 - precision(tp, fp) if tp / P >= 0.6 else 1.0,
    "recall@precision>=0.6": lambda tp, fp, P, N: 1 - tp / P if precision(tp, fp) >= 0.6 else 1.0,
    "mcc": lambda tp, fp, P, N: (1 - correlation(tp, fp, P, N)) / 2,
    "gmean": lambda tp, fp, P, N: 1 - np.sqrt(tp / P * (N - fp) / N),
}
every_loss = pytest.mark.parametrize("name", LOSSES)


def unit_of(name, y):
    return y.size if name == "accuracy" else np.sum(y > 0)


@st.composite
def problems(draw, max_samples=10):
    """Labels and scores, with many ties; now and then all scores positive, or all far apart."""
    size = draw(st.just(max_samples) | st.integers(2, max_samples))
    y = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=size, max_size=size))
    assume(len(set(y)) == 2)
    low, high, scale = draw(
        st.sampled_from([(-3, 3, 0.5), (0, 4, 0.25), (1, 5, 1.0), (-9, 9, 0.1), (-40, 40, 0.5)])
    )
    scores = draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
    return np.array(y), scale * np.array(scores, dtype=float)


@functools.cache
def every_flip(n_samples):
    """Ones where a labelling differs from y; a row for each of the 2^n labellings."""
    bits = np.arange(2**n_samples)[:, None] >> np.arange(n_samples)
    return (bits & 1).astype(float)


def largest_value(y, scores, price, scaled_loss, *, with_lossless=False):
    """``max(0, max over y' of U Delta - sum of c_i y_i s_i over the flipped)``, of all labellings.

    Labellings whose loss is None do not compete, nor do those without a loss unless they are asked
    for.
    """
    P, N = int(np.sum(y > 0)), int(np.sum(y < 0))
    tables = [[scaled_loss(tp, fp, P, N) for fp in range(N + 1)] for tp in range(P + 1)]
    flips = every_flip(y.size)
    misses, alarms = (flips @ (y > 0)).astype(int), (flips @ (y < 0)).astype(int)
    losses = np.array(tables, dtype=float)[P - misses, alarms]
    values = losses - flips @ (np.where(y > 0, 1.0, price) * y * scores)
    competes = ~np.isnan(losses) if with_lossless else losses > 1e-12
    return np.max(values[competes], initial=0.0)


def test_the_tables_here_know_every_name():
    """A measure that is new needs a definition above; rankings have no labellings."""
    families = {"f<beta>", "precision@recall>=<floor>", "recall@precision>=<floor>", "hamming"}
    rest = {"prec@<k>", "rec@<k>", "prbep", "roc_auc", "average_precision"}
    assert set(known_names()) - families - rest <= set(LOSSES)


def assert_largest(risk, scores, expected):
    """Its value is the expected one, and so is that of its cut, which is a labelling."""
    assert risk.value(scores) == pytest.approx(expected, rel=1e-12, abs=1e-9)
    cut = risk.cut(scores)
    assert cut.value(scores) == pytest.approx(expected, rel=1e-12, abs=1e-9)
    assert risk.cut_loss(cut.delta) == pytest.approx(cut.loss)
    assert set(np.unique(cut.delta[risk.y < 0])) <= {0.0, -risk.price}
    assert set(np.unique(cut.delta[risk.y > 0])) <= {0.0, 1.0}


@every_loss
@CHECKED
@given(problem=problems())
def test_the_risk_is_the_largest_of_all_labellings(name, problem):
    y, scores = problem
    unit, definition = unit_of(name, y), LOSSES[name]
    for price in PRICES:
        risk = MeasureRisk(get_measure(name), y, price=price)
        expected = largest_value(y, scores, price, lambda *table: unit * definition(*table))
        assert risk.price == price
        assert_largest(risk, scores, expected)


def priced_errors(price):
    return lambda tp, fp, P, N: P - tp + price * fp


@pytest.mark.parametrize("name", ["precision@recall>=0.6", "recall@precision>=0.6"])
@CHECKED
@given(problem=problems())
def test_floors_have_the_class_weighted_hinge_in_their_tight_form(name, problem):
    y, scores = problem
    for price in PRICES:
        risk = MeasureRisk(get_measure(name), y, price=price, is_tight=True)
        expected = largest_value(y, scores, price, priced_errors(price))
        assert_largest(risk, scores, expected)
        weights = np.where(y > 0, 1.0, price)
        assert expected == pytest.approx(weights @ np.maximum(0.0, 1 - y * scores), abs=1e-9)


def hits_loss(k):
    """What the k highest scores miss at most, less what nobody can avoid."""
    return lambda tp, fp, P, N: max(k - tp, fp) - max(k - P, 0)


def measures_of_highest(k, P):
    return [PrecisionAtK(k), RecallAtK(k)] + ([PRBEP()] if k == P else [])


@CHECKED
@given(problem=problems())
def test_two_hinge_sums_are_the_largest_of_all_labellings(problem):
    y, scores = problem
    for price, k in itertools.product(PRICES, range(1, y.size + 1)):
        expected = largest_value(y, scores, price, hits_loss(k), with_lossless=True)
        for measure in measures_of_highest(k, np.sum(y > 0)):
            risk = MeasureRisk(measure, y, price=price, is_tight=True)
            assert risk.measure == TopHits(k)
            assert_largest(risk, scores, expected)
        priced = np.where(y > 0, 1.0, price) * scores
        assert TopHits(k).risk(y, priced) == pytest.approx(expected, rel=1e-12, abs=1e-9)


def loss_of_highest(measure, k):
    """``P Delta`` of labellings with as many positives as the measure allows; None for others."""

    def scaled_loss(tp, fp, P, N):
        if isinstance(measure, PrecisionAtK):
            return P * (1 - precision(tp, fp)) if tp + fp >= k else None
        allowed = tp + fp == P if isinstance(measure, PRBEP) else tp + fp <= k
        return P - tp if allowed else None

    return scaled_loss


@CHECKED
@given(problem=problems())
def test_highest_scores_without_a_stand_in_are_the_largest_of_their_labellings(problem):
    y, scores = problem
    for price, k in itertools.product(PRICES, range(1, y.size + 1)):
        for measure in measures_of_highest(k, np.sum(y > 0)):
            expected = largest_value(y, scores, price, loss_of_highest(measure, k))
            assert_largest(MeasureRisk(measure, y, price=price), scores, expected)


def thresholds_of(scores):
    """Below all, between neighbours, and above all."""
    ordered = np.unique(scores)
    middles = (ordered[1:] + ordered[:-1]) / 2
    return np.concatenate([[ordered[0] - 1], middles, [ordered[-1] + 1]])


@every_loss
@CHECKED
@given(problem=problems(max_samples=12))
def test_the_risk_is_never_below_the_loss_at_any_threshold(name, problem):
    y, scores = problem
    risks = [MeasureRisk(get_measure(name), y, price=price) for price in PRICES]
    P, N = int(np.sum(y > 0)), int(np.sum(y < 0))
    for threshold in thresholds_of(scores):
        above = scores > threshold
        tp, fp = int(np.sum(above & (y > 0))), int(np.sum(above & (y < 0)))
        loss = unit_of(name, y) * LOSSES[name](tp, fp, P, N)
        assert min(risk.value(scores - threshold) for risk in risks) >= loss - 1e-9


@CHECKED
@given(problem=problems(max_samples=12))
def test_the_risk_of_highest_scores_is_never_below_their_misses_at_any_threshold(problem):
    """Tied scores in the worst order, the negatives first; k - P of k are missed by everyone."""
    y, scores = problem
    P = int(np.sum(y > 0))
    worst = np.lexsort((y, -scores))
    for price, k in itertools.product(PRICES, range(1, y.size + 1)):
        misses = int(np.sum(y[worst[:k]] < 0)) - max(k - P, 0)
        for measure in measures_of_highest(k, P):
            risk = MeasureRisk(measure, y, price=price, is_tight=True)
            for threshold in thresholds_of(scores):
                assert risk.value(scores - threshold) >= misses - 1e-9


@every_price
@pytest.mark.parametrize("k", range(1, 8))
def test_classes_far_apart_have_no_risk_for_any_k(price, k):
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    for measure in measures_of_highest(k, 3):
        assert MeasureRisk(measure, y, price=price, is_tight=True).value(20.0 * y) == 0.0


@pytest.mark.parametrize("k", range(1, 8))
def test_the_loss_of_hits_is_that_of_the_measure_where_k_are_labelled(k):
    """At a + b = k the stand-in is Prec@k and Rec@k, up to what nobody can reach."""
    P, N = 3, 4
    hits = TopHits(k)
    for a in range(max(0, k - N), min(k, P) + 1):
        loss = hits.table_loss(a, k - a, P, N)
        assert 1 - loss == pytest.approx(a / min(k, P))


def test_only_measures_of_highest_scores_and_floors_have_stand_ins():
    y = np.array([1.0, -1.0, -1.0, 1.0, -1.0])
    for name in (*LOSSES, "prec@2", "rec@p", "prbep", "roc_auc", "average_precision"):
        measure = get_measure(name)
        stands_in = isinstance(measure, HighestScores) or ">=" in name
        assert (measure.tight(y, 0.3) is not measure) == stands_in


def test_a_price_leaves_rankings_alone():
    y = np.array([1.0, -1.0, -1.0, 1.0, -1.0])
    scores = np.array([0.3, 0.1, -0.4, -0.2, 0.9])
    for name in ("roc_auc", "average_precision"):
        risk = MeasureRisk(get_measure(name), y, price=0.3)
        assert risk.price == 1.0
        assert risk.value(scores) == get_measure(name).risk(y, scores)


def test_weights_and_prices_multiply():
    rng = np.random.default_rng(0)
    y, scores = np.where(rng.random(12) < 0.4, 1.0, -1.0), rng.normal(size=12)
    weights = rng.integers(0, 4, size=12)
    weights[:2], y[:2] = 1, (1.0, -1.0)
    repeated = np.repeat(np.arange(12), weights)
    for name in ("accuracy", "balanced_accuracy"):
        for price in PRICES:
            one = MeasureRisk(get_measure(name), y, weights.astype(float), price=price)
            many = MeasureRisk(get_measure(name), y[repeated], price=price)
            assert one.value(scores) == pytest.approx(many.value(scores[repeated]))
            delta = one.cut(scores).delta
            assert_allclose(np.repeat(delta / np.maximum(weights, 1), weights),
                            many.cut(scores[repeated]).delta)  # fmt: skip


@pytest.mark.parametrize("has_intercept", [False, True])
@pytest.mark.parametrize("C", [0.1, 2.0, 30.0])
def test_balanced_accuracy_is_the_balanced_linear_svm(data, C, has_intercept):
    """With U = P a miss costs 1/2 and an alarm P / (2 N), and at the price P / N the risk is

        sum_pos (1/2 - s)_+ + (P / N) sum_neg (1/2 + s)_+ .

    With s = s' / 2 and w = w' / 2 this makes 4 J = 1/2 |w'|^2 + 2 C [sum_pos (1 - s')_+ + ...], and
    scikit-learn's class weights n / (2 P) and n / (2 N) are C_svc n / (2 P) in front of the same
    bracket: C_svc = 4 C P / n.
    """
    X, y = data(3, n_samples=90, n_features=6, noise=2.0)
    y[np.flatnonzero(y > 0)[:15]] = -1.0
    n_positive = np.sum(y > 0)
    constant = 1.0 if has_intercept else 0.0
    result = solve(
        X, y, measure="balanced_accuracy", budget=6, C=C, tol=1e-6, intercept_scaling=constant
    )
    assert result.price == n_positive / (90 - n_positive)
    svm = LinearSVC(
        loss="hinge",
        class_weight="balanced",
        C=4 * C * n_positive / 90,
        fit_intercept=has_intercept,
        tol=1e-10,
        max_iter=2_000_000,
        random_state=0,
    ).fit(X, y)
    w = np.append(svm.coef_[0], svm.intercept_)
    margins = y * (X @ svm.coef_[0] + svm.intercept_)
    weights = np.where(y > 0, 90 / (2 * n_positive), 90 / (2 * (90 - n_positive)))
    objective = 0.5 * w @ w + svm.C * weights @ np.maximum(0.0, 1 - margins)
    assert 4 * result.primal == pytest.approx(objective, rel=1e-4)
    assert 4 * result.dual <= objective * (1 + 1e-9)
