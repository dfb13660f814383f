"""Seconds of a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np


def timed(
    function: Callable[[], Any], clock: Callable[[], float] = perf_counter
) -> tuple[float, Any]:
    """Seconds of one call, and what it returned.

    Parameters
    ----------
    function : callable
    clock : callable
        ``process_time`` for work with one thread that others may disturb.
    """
    begin = clock()
    answer = function()
    return clock() - begin, answer


def median_time(function: Callable[[], Any], n_repeats: int) -> float:
    """Median seconds of a call, after one call as warm-up."""
    function()
    return float(np.median([timed(function)[0] for _ in range(n_repeats)]))


def geometric_mean(values: Sequence[float]) -> float:
    """``exp(mean(log(values)))``."""
    return float(np.exp(np.mean(np.log(values))))
