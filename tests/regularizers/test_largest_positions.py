"""The largest of many numbers, most of which may be 0."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scoresieve.regularizers.units import largest_positions


@pytest.mark.parametrize("size", [5, 6, 40])
def test_the_largest_units(size):
    """By a full sort, ties to the lower number, zeros left out."""
    rng = np.random.default_rng(size)
    for _ in range(20):
        norms = rng.integers(0, 5, size=size).astype(float)
        for k in range(size + 3):
            order = sorted(range(size), key=lambda unit: (-norms[unit], unit))
            expected = sorted(unit for unit in order[:k] if norms[unit] > 0.0)
            assert_array_equal(largest_positions(norms, k), expected)


def test_no_units_are_largest_of_none():
    assert largest_positions(np.zeros(0), 2).size == 0
    assert largest_positions(np.array([3.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 3).tolist() == [0, 1]
