"""The search of measures that only fall: blocks of tables, cut up and bounded."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.measures import get_measure
from scoresieve.measures.monotone import _cut_up, lowest_paying
from tests.measures.definitions import values_of_tables


def cells(block):
    c_low, c_high, b_low, b_high = block
    return [(c, b) for c in range(c_low, c_high + 1) for b in range(b_low, b_high + 1)]


@pytest.mark.parametrize("seed", range(5))
def test_blocks_are_cut_into_smaller_ones_that_cover_them_once(seed):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 9, size=(4, 2))
    high = low + rng.integers([0, 1], [3, 20], size=(4, 2))
    blocks = np.column_stack([low[:, 0], high[:, 0], low[:, 1], high[:, 1]])
    for block in blocks:
        parts = _cut_up(block[None])
        covered = [cell for part in parts for cell in cells(part)]
        assert sorted(covered) == cells(block)
        assert max(len(cells(part)) for part in parts) < len(cells(block))
        assert len(parts) <= 16
    together = _cut_up(blocks)
    assert sum(len(cells(part)) for part in together) == sum(map(len, map(cells, blocks)))


def test_no_blocks_are_cut_into_none():
    assert _cut_up(np.zeros((0, 4), dtype=np.int64)).shape == (0, 4)


@pytest.mark.parametrize("name", ["mcc", "gmean"])
@pytest.mark.parametrize(("n_positive", "n_negative"), [(1, 60), (7, 60), (40, 60), (3, 900)])
@pytest.mark.parametrize("shift", [0.5, 2.5])
def test_the_best_of_all_tables(name, n_positive, n_negative, shift):
    """More tables than labellings could be listed for: each with its best examples."""
    rng, measure = np.random.default_rng(n_positive), get_measure(name)
    y = np.repeat([1.0, -1.0], [n_positive, n_negative])
    for scale in (0.0, 0.05, 1.0, 4.0):
        scores = scale * (shift * y + rng.normal(size=y.size))
        best = values_of_tables(
            y, scores, lambda a, b: n_positive * measure.table_loss(a, b, n_positive, n_negative)
        ).max()
        assert measure.most_violated(y, scores).value(scores) == pytest.approx(best, abs=1e-9)


def test_negatives_that_never_pay_are_few_positives_times_their_scores_below():
    negatives = -np.linspace(0.01, 10.0, 1000)
    lowest = lowest_paying(negatives, 2)
    raised = negatives[negatives > lowest]
    assert -raised.sum() > 2 + 0.01
    assert raised.size < 100
    assert lowest_paying(negatives[:50], 2) == -np.inf
    assert lowest_paying(np.zeros(1000), 2) == -np.inf
