"""The largest of many numbers, most of which may be 0."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.regularizers.units import largest_positions


@pytest.mark.parametrize("share", [1.0, 0.3], ids=["many", "mostly zeros"])
@pytest.mark.parametrize("size", [5, 6, 40])
def test_the_largest_units(size, share):
    """By a full sort, ties to the lower number, zeros left out."""
    rng = np.random.default_rng(size)
    for _ in range(20):
        norms = 0.4 * rng.integers(0, 5, size=size) * (rng.random(size) < share)
        for k in range(size + 3):
            order = sorted(range(size), key=lambda unit: (-norms[unit], unit))
            expected = sorted(unit for unit in order[:k] if norms[unit] > 0.0)
            assert largest_positions(norms, k).tolist() == expected


def test_no_units_are_largest_of_none():
    assert largest_positions(np.zeros(0), 2).size == 0
    assert largest_positions(np.array([3.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 3).tolist() == [0, 1]
