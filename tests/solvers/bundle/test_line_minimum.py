"""The lowest point of a parabola with the highest of some lines, against every candidate for it."""

from itertools import combinations

import numpy as np
import pytest

from scoresieve.solvers.bundle.cut_pool import _minimise


def lowest_of_all(parabola, offsets, slopes):
    """The least value at the ends, at all crossings, and at the bottom with each line alone."""
    constant, linear, square = parabola
    places = [0.0, 1.0]
    for a, b in combinations(range(offsets.size), 2):
        if slopes[a] != slopes[b]:
            places.append((offsets[a] - offsets[b]) / (slopes[b] - slopes[a]))
    if square > 0.0:
        places.extend(-0.5 * (linear + slopes) / square)
    places = np.clip(places, 0.0, 1.0)
    tops = np.max(offsets + places[:, None] * slopes, axis=1)
    return float(np.min(constant + linear * places + square * places**2 + tops))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", ["any", "whole", "no curve", "one slope"])
def test_the_minimum_is_the_least_of_all_candidates(kind, seed):
    rng = np.random.default_rng(seed)
    n_lines = int(rng.integers(1, 12))
    offsets, slopes = rng.normal(size=(2, n_lines)) * 10.0 ** rng.uniform(-2, 2, size=(2, 1))
    constant, linear, square = rng.normal(), rng.normal(), abs(rng.normal())
    if kind == "whole":  # ties
        offsets, slopes, linear = np.round(offsets), np.round(slopes), round(linear)
    if kind == "one slope":
        slopes[:] = slopes[0]
    parabola = constant, linear, 0.0 if kind == "no curve" else square
    t, value = _minimise(parabola, offsets, slopes)
    assert 0.0 <= t <= 1.0
    assert value == pytest.approx(lowest_of_all(parabola, offsets, slopes), rel=1e-9, abs=1e-9)
