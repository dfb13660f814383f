"""Kernels of the budget norm on unit norms: sorting, thresholds, multipliers. No columns here."""

from __future__ import annotations

import numpy as np

from scoresieve.regularizers._units import FloatArray, IntArray


def split_norms(norms: FloatArray, budget: int) -> tuple[FloatArray, int, float]:
    """The ``budget`` largest norms ascending, how many of them have d = 1, and the rest's sum.

    ``r`` is the first index with ``sum_{i>r} z_(i) >= (B - r) z_(r+1)``. The difference of the two
    sides never decreases with r and is not negative at r = B - 1, so counting the negative ones
    finds it. Sums run from small to large: no cancellation, and no r out of range by rounding.
    """
    n_rest = norms.size - budget
    parted = np.partition(norms, n_rest)
    top = parted[n_rest:]
    top.sort()
    tails = np.cumsum(top)
    tails += parted[:n_rest].sum()
    # Entry k belongs to r = budget - 1 - k, hence the factor B - r = k + 1.
    r = int(np.count_nonzero(tails < top * np.arange(1, budget + 1)))
    return top, r, float(tails[budget - 1 - r])


def largest_positions(values: FloatArray, count: int) -> IntArray:
    """Sorted positions of the ``count`` largest positive values, ties to the lower position."""
    if count >= values.size:
        return np.flatnonzero(values > 0.0)
    threshold = np.partition(values, values.size - count)[values.size - count]
    if threshold <= 0.0:
        return np.flatnonzero(values > 0.0)
    found = np.flatnonzero(values >= threshold)
    surplus = found.size - count
    if surplus:
        tied = np.flatnonzero(values[found] == threshold)
        found = np.delete(found, tied[tied.size - surplus :])
    return found


def prox_weights(norms: FloatArray, step: float, budget: int) -> FloatArray:
    """``d_j = clip(theta z_j - step, 0, 1)`` with ``sum_j d_j = B``, for norms scaled to max 1.

    ``sum_j d_j`` is increasing and piecewise linear in theta, with breaks at ``step / z_j`` and
    ``(1 + step) / z_j``. Bisection over the sorted breaks finds the piece, one division the theta.
    """
    # Below this a unit cannot matter in float64, and its breaks would overflow.
    positive = norms[norms > 1e-200]
    if positive.size <= budget:
        return (norms > 1e-200).astype(np.float64)
    breaks = np.sort(np.concatenate([step / positive, (1.0 + step) / positive]))
    low, high = 0, breaks.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(breaks[middle] * positive - step, 0.0, 1.0).sum() <= budget:
            low = middle
        else:
            high = middle
    inside = 0.5 * (breaks[low] + breaks[high]) * positive
    ones = inside >= 1.0 + step
    active = positive[(inside > step) & ~ones]
    theta = breaks[low]
    if active.size:
        theta = (budget - np.count_nonzero(ones) + step * active.size) / active.sum()
        theta = min(max(theta, breaks[low]), breaks[high])
    return np.clip(theta * norms - step, 0.0, 1.0)
