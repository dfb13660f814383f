"""Line search for the objective on a segment, by cutting planes in one variable.

    min_{0 <= t <= 1}   1/2 ||w + t dw||_B^2 + C R(v + t dv)

Each cut is a line in t, so the cuts of the pool already give a lower model of the risk on the
segment. Its minimiser is tried on the true objective; the cut found there is one line more.

The norm is modelled by the parabola through t = 0, 1/2 and 1, which is exact where the budget
covers every column. Elsewhere the best tried point may miss the minimum; values are always true.
An exact search would save one round in a hundred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.measures import Cut

MAX_TRIALS = 12
#: Most lines that are looked at; a few are enough.
MAX_LINES = 60
#: Places of a segment that are told apart, far more than the objective can.
GRID = 2.0**40


@dataclass(frozen=True, eq=False)
class Trial:
    """A tried point of the segment: its place, the objective there, and the cut found there."""

    t: float
    value: float
    cut: Cut


def search_segment(
    *,
    start: Trial,
    half_norm: Callable[[float], float],
    find_cut: Callable[[float], Cut],
    lines: tuple[FloatArray, FloatArray],
    line_of: Callable[[Cut], tuple[float, float]],
    C: float,
    tol: float,
) -> Trial:
    """The best tried point of the segment; ``start`` if none is better.

    Parameters
    ----------
    start : Trial
        The point at t = 0.
    half_norm : callable
        ``1/2 ||w + t dw||_B^2``.
    find_cut : callable
        The most violated cut at t.
    lines : pair of ndarrays
        ``R(v + t dv) >= offsets + t * slopes``: the cuts known before.
    line_of : callable
        Offset and slope of a new cut.
    tol : float
        Stop when the model promises no more than this below the best tried value.
    """
    offsets, slopes = (list(part) for part in lines)
    for offset, slope in ((0.0, 0.0), line_of(start.cut)):
        offsets.append(offset)
        slopes.append(slope)
    parabola = _parabola(half_norm)
    best = start
    tried = {0.0}
    for _ in range(MAX_TRIALS):
        t, model = _minimise(parabola, C * np.array(offsets), C * np.array(slopes))
        if best.value - model <= tol or t in tried:
            break
        tried.add(t)
        cut = find_cut(t)
        offset, slope = line_of(cut)
        offsets.append(offset)
        slopes.append(slope)
        value = half_norm(t) + C * max(0.0, offset + t * slope)
        if value < best.value:
            best = Trial(t, value, cut)
    return best


def _parabola(half_norm: Callable[[float], float]) -> tuple[float, float, float]:
    """The parabola through the half norm at t = 0, 1/2 and 1: constant, linear, square."""
    at_0, at_half, at_1 = half_norm(0.0), half_norm(0.5), half_norm(1.0)
    square = max(0.0, 2.0 * (at_0 + at_1 - 2.0 * at_half))
    return at_0, at_1 - at_0 - square, square


def _minimise(
    parabola: tuple[float, float, float], offsets: FloatArray, slopes: FloatArray
) -> tuple[float, float]:
    """Where ``parabola(t) + max_k offsets_k + t slopes_k`` is least on [0, 1], and its value there.

    Two lines are enough at a time, the highest at either end of what is left of the segment: where
    the parabola with the higher of them is lowest no other line is above them, or that line takes
    the place of one of the two.
    """
    constant, linear, square = parabola
    low, high = 0.0, 1.0
    left, right = int(np.argmax(offsets)), int(np.argmax(offsets + slopes))
    for _ in range(MAX_LINES):
        t = _lowest(
            (linear, square),
            (float(offsets[left]), float(slopes[left])),
            (float(offsets[right]), float(slopes[right])),
        )
        t = t if low <= t <= high else 0.5 * (low + high)  # by rounding
        heights = offsets + t * slopes
        top = int(np.argmax(heights))
        if heights[top] <= max(heights[left], heights[right]):
            break
        if linear + 2.0 * square * t + slopes[top] > 0.0:
            high, right = t, top
        else:
            low, left = t, top
    t = _just_behind(t)
    return t, constant + linear * t + square * t * t + float(np.max(offsets + t * slopes))


def _just_behind(t: float) -> float:
    """The next place of a fine grid: at a kink itself rounding would decide which cut is found."""
    place = int(t * GRID)
    return min(1.0, (place + 1) / GRID) if place else 0.0


def _lowest(
    parabola: tuple[float, float], left: tuple[float, float], right: tuple[float, float]
) -> float:
    """Where ``linear t + square t^2 + max(left, right)`` is lowest on [0, 1].

    Where they cross, or before it, where left alone is lowest, or behind it, where right is.
    """
    linear, square = parabola
    bottoms = []
    for _, slope in (left, right):
        falls = -(linear + slope)
        if square > 0.0:
            bottoms.append(min(1.0, max(0.0, 0.5 * falls / square)))
        else:
            bottoms.append(1.0 if falls > 0.0 else 0.0)
    if right[1] <= left[1]:  # the same line, or parallel ones
        return bottoms[0]
    crossing = (left[0] - right[0]) / (right[1] - left[1])
    return min(bottoms[0], max(bottoms[1], crossing))
