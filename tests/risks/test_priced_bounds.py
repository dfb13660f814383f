"""Bounds with prices, against an enumeration of all labellings and against what they bound.

A positive has the price 1 and a negative the price rho in the joint score of a labelling.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
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
from tests.measures.definitions import (
    DETERMINISTIC,
    MEASURES,
    Definition,
    hits_at,
    labels_and_scores,
    prec_at,
    rec_at,
    values_of_labellings,
)

PRICES = (0.1, 0.5, 1.0, 2.0)
FLOORS = ("precision@recall>=0.6", "recall@precision>=0.6")
#: Measures that all labellings compete for.
NAMES = ("accuracy", "balanced_accuracy", "f1", "f2", "f0.5", "jaccard", *FLOORS, "mcc", "gmean")
every_price = pytest.mark.parametrize("price", PRICES)
every_name = pytest.mark.parametrize("name", NAMES)


def test_the_tables_here_know_every_name():
    """A measure that is new needs a definition; rankings have no labellings."""
    families = {"f<beta>", "precision@recall>=<floor>", "recall@precision>=<floor>", "hamming"}
    rest = {"prec@<k>", "rec@<k>", "prbep", "roc_auc", "average_precision"}
    assert set(known_names()) - families - rest <= set(NAMES)


def assert_largest(risk, scores, definition, **limits):
    """Its value is that of the best labelling or 0, and so is that of its cut, a labelling."""
    values = values_of_labellings(risk.y, scores, definition, price=risk.price, **limits)
    expected = pytest.approx(np.max(values, initial=0.0), rel=1e-12, abs=1e-9)
    assert risk.value(scores) == expected
    cut = risk.cut(scores)
    assert cut.value(scores) == expected
    assert risk.cut_loss(cut.delta) == pytest.approx(cut.loss)
    assert set(np.unique(cut.delta[risk.y < 0])) <= {0.0, -risk.price}
    assert set(np.unique(cut.delta[risk.y > 0])) <= {0.0, 1.0}


@every_name
@DETERMINISTIC
@given(problem=labels_and_scores())
def test_the_risk_is_the_largest_of_all_labellings(name, problem):
    y, scores = problem
    for price in PRICES:
        risk = MeasureRisk(get_measure(name), y, price=price)
        assert risk.price == price
        assert_largest(risk, scores, MEASURES[name])


@pytest.mark.parametrize("name", FLOORS)
@DETERMINISTIC
@given(problem=labels_and_scores())
def test_floors_have_the_class_weighted_hinge_in_their_tight_form(name, problem):
    y, scores = problem
    for price in PRICES:
        risk = MeasureRisk(get_measure(name), y, price=price, is_tight=True)
        errors = Definition(lambda tp, fp, P, N, price=price: 1 - (tp - price * fp) / P)
        assert_largest(risk, scores, errors)
        weights = np.where(y > 0, 1.0, price)
        hinges = weights @ np.maximum(0.0, 1 - y * scores)
        assert risk.value(scores) == pytest.approx(hinges, abs=1e-9)


def measures_of_highest(k, P):
    return [PrecisionAtK(k), RecallAtK(k)] + ([PRBEP()] if k == P else [])


@DETERMINISTIC
@given(problem=labels_and_scores())
def test_two_hinge_sums_are_the_largest_of_all_labellings(problem):
    """Below, at and above the number of positives; every labelling competes, the true one too."""
    y, scores = problem
    for price, k in itertools.product(PRICES, range(1, y.size + 1)):
        for measure in measures_of_highest(k, np.sum(y > 0)):
            risk = MeasureRisk(measure, y, price=price, is_tight=True)
            assert risk.measure == TopHits(k)
            assert_largest(risk, scores, hits_at(k), least_loss=-np.inf)
        priced = np.where(y > 0, 1.0, price) * scores
        assert TopHits(k).risk(y, priced) == pytest.approx(risk.value(scores), rel=1e-12, abs=1e-9)


@DETERMINISTIC
@given(problem=labels_and_scores())
def test_highest_scores_without_a_stand_in_are_the_largest_of_their_labellings(problem):
    """Of labellings with as many positives as the measure allows."""
    y, scores = problem
    for price, k in itertools.product(PRICES, range(1, y.size + 1)):
        number = partial(lambda k, P, N: k, k)
        of_number = {PrecisionAtK: prec_at(number), RecallAtK: rec_at(number)}
        definitions = {PRBEP: MEASURES["prbep"], **of_number}
        for measure in measures_of_highest(k, np.sum(y > 0)):
            risk = MeasureRisk(measure, y, price=price)
            assert_largest(risk, scores, definitions[type(measure)])


def thresholds_of(scores):
    """Below all, between neighbours, and above all."""
    ordered = np.unique(scores)
    middles = (ordered[1:] + ordered[:-1]) / 2
    return np.concatenate([[ordered[0] - 1], middles, [ordered[-1] + 1]])


@every_name
@DETERMINISTIC
@given(problem=labels_and_scores(max_samples=12))
def test_the_risk_is_never_below_the_loss_at_any_threshold(name, problem):
    (y, scores), definition = problem, MEASURES[name]
    risks = [MeasureRisk(get_measure(name), y, price=price) for price in PRICES]
    P, N = int(np.sum(y > 0)), int(np.sum(y < 0))
    for threshold in thresholds_of(scores):
        above = scores > threshold
        tp, fp = int(np.sum(above & (y > 0))), int(np.sum(above & (y < 0)))
        loss = definition.loss_scale(P, N) * definition.loss(tp, fp, P, N)
        assert min(risk.value(scores - threshold) for risk in risks) >= loss - 1e-9


@DETERMINISTIC
@given(problem=labels_and_scores(max_samples=12))
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
    for name in (*NAMES, "prec@2", "rec@p", "prbep", "roc_auc", "average_precision"):
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
