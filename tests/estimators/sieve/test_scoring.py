"""Cross-validated scores, their errors, and the choice by them."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.estimators.sieve.scoring import (
    CVScorer,
    RepeatedCVScorer,
    best_setting,
    one_standard_error,
)
from scoresieve.measures import get_measure

ROWS = np.arange(60)


def test_scores_of_several_rounds_are_their_means():
    rng = np.random.default_rng(0)
    y, measure = np.where(np.arange(60) % 4, -1.0, 1.0), get_measure("f1")
    scorers = [CVScorer(measure, y, None, rng.permutation(60) % 3) for _ in range(2)]
    scores = rng.normal(size=(2, 1, 3, 2, 60)) + y
    repeated = RepeatedCVScorer(scorers)
    found = repeated.cv_scores(scores)
    for place in np.ndindex(2, 1, 3):
        pairs = list(zip(scorers, scores[place], strict=True))
        assert found.scores[place] == np.mean([j.at_best(s, ROWS) for j, s in pairs])
        assert found.errors[place] == np.mean([j.jackknife_error(s, ROWS) for j, s in pairs])
    one = scores[0, 0, 0]
    expected = np.mean([j.threshold(s) for j, s in zip(scorers, one, strict=True)])
    assert repeated.threshold(one) == expected
    assert repeated.sigmoid(one[:1].repeat(2, axis=0)).slope == pytest.approx(
        RepeatedCVScorer(scorers[:1]).sigmoid(one[:1]).slope, rel=1e-3
    )


@pytest.mark.parametrize("measure", ["f1", "prec@9", "roc_auc", "accuracy", "average_precision"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_rows_may_come_in_any_order(measure, is_weighted):
    """Scores in order are what :meth:`CVScorer.cv_scores` asks for; ties are common in text."""
    rng = np.random.default_rng(3)
    y, scores = np.where(np.arange(60) % 3, -1.0, 1.0), rng.normal(size=60).round(1)
    weights = rng.integers(1, 4, size=60).astype(float) if is_weighted else None
    scorer = CVScorer(get_measure(measure), y, weights, rng.permutation(60) % 4)
    found = scorer.cv_scores(scores.reshape(1, 1, 1, -1))
    assert found.scores == pytest.approx(scorer.at_best(scores, ROWS), rel=1e-12)
    assert found.errors == pytest.approx(scorer.jackknife_error(scores, ROWS), rel=1e-9)


def test_a_share_of_the_rows_is_that_of_the_rows_scored():
    """As in a fold, so without a part: 10 % of 60 rows are 6, of 40 rows 4."""
    rng = np.random.default_rng(4)
    y, scores = np.where(np.arange(60) % 3, -1.0, 1.0), rng.normal(size=60)
    share = CVScorer(get_measure("prec@10%"), y, None, np.arange(60) % 3)
    for n_rows, k in ((60, 6), (40, 4), (4, 1)):
        top = np.argsort(-scores[:n_rows])[:k]
        assert share.at_best(scores, ROWS[:n_rows]) == pytest.approx(np.mean(y[top] > 0))
    assert np.count_nonzero(scores > share.threshold(scores)) == 6


def test_the_standard_error_is_that_of_leaving_parts_out():
    rng = np.random.default_rng(14)
    y, scores = np.where(rng.random(90) < 0.4, 1.0, -1.0), rng.normal(size=90)
    part_of = np.arange(90) % 3
    scorer = CVScorer(get_measure("roc_auc"), y, None, part_of)
    without = [
        get_measure("roc_auc").score(y[part_of != p], scores[part_of != p]) for p in range(3)
    ]
    expected = np.sqrt(2.0 / 3.0 * np.sum((without - np.mean(without)) ** 2))
    assert scorer.jackknife_error(scores, np.arange(90)) == pytest.approx(expected)


def test_of_settings_that_are_equally_good_the_first_is_chosen():
    scores = np.array([[0.72, 0.795], [0.78, 0.80], [0.795, 0.60]])
    errors = np.full((3, 2), 0.04)
    # The highest is 0.80; a quarter of its error below are 0.795 twice, once of an own model.
    assert best_setting(scores, errors) == (2, 0)
    assert best_setting(scores, 0.1 * errors) == (1, 1)
    assert best_setting(scores, 10.0 * errors) == (0, 0)


def test_the_smallest_number_within_one_standard_error():
    scores, errors = np.array([0.5, 0.7, 0.75, 0.74]), np.array([0.0, 0.0, 0.1, 0.0])
    assert one_standard_error(scores, errors) == 1
    assert one_standard_error(scores, np.full(4, 0.01)) == 2
    assert one_standard_error(scores, np.zeros(4)) == 2
