"""The point of a grid that held-out scores lead to, by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoresieve.estimators.selection.choice import choose, default_budgets


def table_of(scores, sizes, Cs, n_features):
    means = scores.mean(axis=1)
    return {
        "param_budget": np.array(sizes),
        "param_C": np.array(Cs),
        "mean_test_score": means,
        "mean_n_features": np.array(n_features),
        **{f"split{number}_test_score": column for number, column in enumerate(scores.T)},
    }


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=6, max_size=6),
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
)
@settings(derandomize=True, deadline=None, database=None, max_examples=200)
def test_the_choice_by_enumeration(rows, n_features):
    scores = np.array(rows) / 4
    sizes, Cs = [1, 1, 2, 2, 5, 5], [1.0, 10.0] * 3
    results = table_of(scores, sizes, Cs, n_features)
    means = results["mean_test_score"]

    def preferred(points):
        return min(points, key=lambda p: (-means[p], n_features[p], sizes[p], Cs[p]))

    best = preferred(range(6))
    assert choose(results, "budget", "best") == best
    error = np.sqrt(np.sum((scores[best] - means[best]) ** 2) / 2) / np.sqrt(3)
    close = [point for point in range(6) if means[point] >= means[best] - error]
    smallest = min(sizes[point] for point in close)
    wanted = preferred([point for point in range(6) if sizes[point] == smallest])
    assert choose(results, "budget", "1se") == wanted


@pytest.mark.parametrize(
    ("n_units", "budgets"),
    [
        (1, [1]),
        (2, [2]),
        (4, [2, 4]),
        (50, [2, 5, 10, 20, 50]),
        (200, [2, 5, 10, 20, 50, 100, 200]),
        (10**6, [2, 5, 10, 20, 50, 100, 200]),
    ],
)
def test_default_budgets(n_units, budgets):
    assert default_budgets(n_units) == budgets
