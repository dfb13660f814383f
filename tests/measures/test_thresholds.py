"""Thresholds of scores, and the tables above them, against a look at every threshold."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.measures.thresholds import top_threshold


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
