"""Scores against scikit-learn, and against all orders of tied scores."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from sklearn import metrics

from scoresieve.measures import PRBEP, PrecisionAtK, RecallAtK, get_measure
from scoresieve.measures.decomposable import PricedErrors
from tests.measures.definitions import DETERMINISTIC, labels_and_scores


def recall_floor_08(y, y_pred):
    if metrics.recall_score(y, y_pred) < 0.8:
        return 0.0
    return metrics.precision_score(y, y_pred, zero_division=0)


def precision_floor_07(y, y_pred):
    if metrics.precision_score(y, y_pred, zero_division=0) < 0.7:
        return 0.0
    return metrics.recall_score(y, y_pred)


OF_LABELS = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1": lambda y, p: metrics.f1_score(y, p, zero_division=0),
    "f2": lambda y, p: metrics.fbeta_score(y, p, beta=2, zero_division=0),
    "f0.5": lambda y, p: metrics.fbeta_score(y, p, beta=0.5, zero_division=0),
    "jaccard": lambda y, p: metrics.jaccard_score(y, p, zero_division=0),
    "precision@recall>=0.8": recall_floor_08,
    "recall@precision>=0.7": precision_floor_07,
    "mcc": metrics.matthews_corrcoef,
    "gmean": lambda y, p: np.sqrt(
        metrics.recall_score(y, p) * metrics.recall_score(y, p, pos_label=-1)
    ),
}
OF_SCORES = {
    "roc_auc": metrics.roc_auc_score,
    "average_precision": metrics.average_precision_score,
}


def problems(max_samples=12):
    return labels_and_scores(max_samples, ranges=[(-2, 2, 1.0)])


@pytest.mark.parametrize("name", OF_LABELS)
@DETERMINISTIC
@given(problem=problems())
def test_score_of_labels_is_scikit_learns(name, problem):
    y, scores = problem
    y_pred = np.where(scores > 0, 1.0, -1.0)
    expected = OF_LABELS[name](y, y_pred)
    measure = get_measure(name)
    assert measure.score(y, scores) == pytest.approx(expected, abs=1e-12)
    loss = (1 - expected) / 2 if name == "mcc" else 1 - expected  # between 0 and 1
    if not (name.startswith("precision") and not np.any(y_pred > 0)):
        assert measure.loss(y, y_pred) == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize("rate", [0.25, 1.0, 3.0])
@DETERMINISTIC
@given(problem=problems())
def test_priced_errors_are_those_of_scikit_learns_table(rate, problem):
    """Scores of 0 are labelled -1, and many alarms bring the score below 0."""
    y, scores = problem
    y_pred = np.where(scores > 0, 1.0, -1.0)
    (_, alarms), (misses, hits) = metrics.confusion_matrix(y, y_pred)
    expected = 1 - (misses + rate * alarms) / (misses + hits)
    assert PricedErrors(rate).score(y, scores) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", OF_SCORES)
@DETERMINISTIC
@given(problem=problems())
def test_score_of_rankings_is_scikit_learns(name, problem):
    y, scores = problem
    measure = get_measure(name)
    assert measure.score(y, scores) == OF_SCORES[name](y, scores)
    assert measure.loss(y, scores) == 1 - measure.score(y, scores)


def mean_over_orders(y, scores, k):
    """Mean of positives among the first k, over every order that the scores allow."""
    counts = [
        np.sum(y[list(order[:k])] > 0)
        for order in itertools.permutations(range(y.size))
        if all(scores[i] >= scores[j] for i, j in itertools.pairwise(order))
    ]
    return np.mean(counts)


@DETERMINISTIC
@given(problem=problems(max_samples=6))
def test_top_k_scores_are_means_over_orders_of_ties(problem):
    y, scores = problem
    n_positive = int(np.sum(y > 0))
    for k in range(1, y.size + 1):
        expected = mean_over_orders(y, scores, k)
        assert PrecisionAtK(k=k).score(y, scores) == pytest.approx(expected / k)
        assert RecallAtK(k=k).score(y, scores) == pytest.approx(expected / n_positive)
    k = max(1, y.size * 4 // 10)
    expected = mean_over_orders(y, scores, k)
    assert PrecisionAtK(k="40%").score(y, scores) == pytest.approx(expected / k)
    assert RecallAtK(k="40%").score(y, scores) == pytest.approx(expected / n_positive)
    expected = mean_over_orders(y, scores, n_positive) / n_positive
    assert PRBEP().score(y, scores) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "factor"), [("f1", 7.0), ("accuracy", 10.0), ("roc_auc", 7.0), ("prec@2", 7.0)]
)
def test_units(name, factor):
    y = np.repeat([1.0, -1.0], [7, 3])
    assert get_measure(name).loss_scale(y) == factor
