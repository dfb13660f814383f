"""Thresholds of scores, and the tables above them, against a look at every threshold."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scoresieve.measures import get_measure
from scoresieve.measures.thresholds import all_tables, top_threshold


@pytest.mark.parametrize("k", [1.0, 2.5, 4.0, 7.0])
def test_threshold_of_weighted_scores(k):
    scores, weights = np.array([0.3, 2.0, -1.0, 0.7, 5.0]), np.array([1.0, 2.0, 2.0, 0.5, 1.5])
    threshold = top_threshold(scores, k, weights)
    reached = np.cumsum(weights[np.argsort(-scores)])
    # Copies of a score are tied, so that all of them are above or none.
    assert weights[scores > threshold].sum() == max([0.0, *reached[reached <= k]])


def test_threshold_with_whole_weights_is_that_of_repeated_scores():
    rng = np.random.default_rng(2)
    scores, weights = rng.integers(0, 6, size=30) / 4.0, rng.integers(0, 4, size=30)
    for k in range(1, weights.sum() + 1):
        expected = top_threshold(np.repeat(scores, weights), k)
        assert top_threshold(scores, float(k), weights.astype(float)) == expected


def tables_by_hand(y, scores, weights):
    """One row for each set of scores that a threshold can leave above it, the smallest first."""
    rows = [(0.0, 0.0)]
    for score in np.unique(scores)[::-1]:
        above = scores >= score
        rows.append((weights[above & (y > 0)].sum(), weights[above & (y < 0)].sum()))
    return np.array(rows)


@pytest.mark.parametrize("kind", ["plain", "ties", "one value", "neighbours", "large"])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_all_tables_against_every_threshold(kind, is_weighted, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(15) < 0.4, 1.0, -1.0)
    scores = {
        "plain": rng.normal(size=15),
        "ties": rng.integers(-2, 3, size=15) / 2.0,
        "one value": np.full(15, -3.0),
        # The numbers next to 1, between which there is none.
        "neighbours": 1.0 + rng.integers(0, 3, size=15) * np.finfo(float).eps,
        "large": 1e300 * rng.normal(size=15),
    }[kind]
    weights = rng.integers(0, 4, size=15).astype(float) if is_weighted else None
    tables = all_tables(y, scores, weights)
    counts = np.ones(15) if weights is None else weights
    assert_allclose(np.column_stack([tables.a, tables.b]), tables_by_hand(y, scores, counts))
    assert np.all(np.diff(tables.thresholds) < 0)
    assert np.all(np.isfinite(tables.thresholds))
    for threshold, a, b in zip(*tables, strict=True):
        above = scores > threshold
        assert (a, b) == (counts[above & (y > 0)].sum(), counts[above & (y < 0)].sum())
    assert (tables.a[0], tables.b[0]) == (0.0, 0.0)
    assert (tables.a[-1], tables.b[-1]) == (counts[y > 0].sum(), counts[y < 0].sum())


@pytest.mark.parametrize("name", ["f1", "jaccard", "mcc", "gmean", "accuracy", "balanced_accuracy",
                                  "precision@recall>=0.6", "recall@precision>=0.6"])  # fmt: skip
@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_has_the_least_loss_with_the_fewest_alarms(name, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(20) < 0.4, 1.0, -1.0)
    scores = (y + 2.0 * rng.normal(size=20)).round(1)
    measure = get_measure(name)
    losses = {
        int(np.sum(scores > t)): measure.loss(y, np.where(scores > t, 1.0, -1.0))
        for t in (scores.min() - 1, *scores)
    }
    least = min(losses.values())
    chosen = int(np.sum(scores > measure.threshold(y, scores)))
    assert losses[chosen] == pytest.approx(least)
    assert chosen == min(k for k, loss in losses.items() if loss == least)


def test_thresholds_of_weighted_measures_count_repetitions():
    rng = np.random.default_rng(6)
    y, scores = np.where(rng.random(25) < 0.5, 1.0, -1.0), rng.integers(-3, 4, size=25) / 2.0
    weights = rng.integers(0, 4, size=25)
    rows = np.repeat(np.arange(25), weights)
    for name in ("accuracy", "balanced_accuracy"):
        measure = get_measure(name)
        weighted = measure.weighted(weights.astype(float))
        thresholds = weighted.threshold(y, scores), measure.threshold(y[rows], scores[rows])
        one, other = (np.where(scores[rows] > threshold, 1.0, -1.0) for threshold in thresholds)
        assert measure.loss(y[rows], one) == pytest.approx(measure.loss(y[rows], other))


def test_thresholds_of_the_highest_and_of_rankings_have_their_number_above():
    rng = np.random.default_rng(7)
    y, scores = np.repeat([1.0, -1.0], [6, 14]), rng.normal(size=20)
    for name, k in {"prec@4": 4, "rec@2p": 12, "prbep": 6, "roc_auc": 6}.items():
        assert np.sum(scores > get_measure(name).threshold(y, scores)) == k


def test_a_steady_threshold_is_in_the_middle_of_the_good_ones():
    y = np.repeat([1.0, -1.0], [60, 340])
    # The best cut is after the 55th; a positive or a negative more is almost as good.
    scores = -np.arange(400.0)
    y[[50, 51, 52, 53]] = -1.0
    y[[70, 72]] = 1.0
    measure = get_measure("f1")
    thresholds = -np.arange(399.0) - 0.5
    found = np.array([measure.score(y, scores - t) for t in thresholds])
    trivial = measure.score(y, np.ones(400))
    good = np.flatnonzero(found >= found.max() - 0.04 * (found.max() - trivial))
    assert good.size > 3
    assert measure.steady_threshold(y, scores) == thresholds[good[(good.size - 1) // 2]]
    assert measure.steady_threshold(y, scores) != measure.threshold(y, scores)
    assert get_measure("prec@7").steady_threshold(y, scores) == -6.5
    assert get_measure("roc_auc").steady_threshold(y, scores) == get_measure("roc_auc").threshold(
        y, scores
    )


@pytest.mark.parametrize("n_positive", [3, 97])
def test_a_steady_threshold_is_better_than_one_class_for_all(n_positive):
    """Where one class is rare its accuracy is high whatever is said, and says little."""
    y = np.where(np.arange(100) < n_positive, 1.0, -1.0)
    scores, measure = -np.arange(100.0), get_measure("accuracy")
    assert measure.score(y, scores - measure.steady_threshold(y, scores)) == 1.0


@pytest.mark.parametrize("name", ["f1", "jaccard", "gmean", "accuracy"])
def test_a_trained_threshold_stays_where_it_is_almost_the_best(name):
    """Scores lower by 3 / U of the best count as good; else it moves to the nearest good one."""
    measure, moved = get_measure(name), 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.where(np.arange(60) < 24, 1.0, -1.0)
        scores = (1.5 * y + 2.0 * rng.normal(size=60)).round(1)
        values = np.unique(scores)
        cuts = np.concatenate([[values[0] - 1.0], (values[1:] + values[:-1]) / 2])
        found = np.array([1.0 - measure.loss(y, np.where(scores > t, 1.0, -1.0)) for t in cuts])
        good = cuts[found >= found.max() * (1.0 - 3.0 / measure.loss_scale(y))]
        trained = float(rng.uniform(values[1], values[-1]))
        own = 1.0 - measure.loss(y, np.where(scores > trained, 1.0, -1.0))
        threshold = measure.threshold(y, scores, trained)
        if own >= found.max() * (1.0 - 3.0 / measure.loss_scale(y)):
            assert threshold == trained
        else:
            moved += 1
            assert abs(threshold - trained) == pytest.approx(np.min(np.abs(good - trained)))
            assert np.min(np.abs(good - threshold)) < 1e-9
    assert 5 <= moved <= 35
