"""The smallest C that gives a model with features, for a fit that ended without any.

``J*(C) / C`` never increases with C, so the empty model is within the tolerance of the optimum
below some C and never again above it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scoresieve.solvers.bundle import run_bundle
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.tracker import Limits, Tracker

#: The answer is at most this factor above the smallest C.
PRECISION = 1.1
#: C is raised at most so far.
LARGEST_FACTOR = 2.0**30
#: Below this relative gap the empty model is optimal, and then it is for every C.
EXACT = 1e-9


def smallest_useful_C(problem: Problem, limits: Limits, tracker: Tracker) -> float | None:
    """The smallest C (to 10 %) whose fit has a feature; inf if none has, None if time ran out.

    By doubling, then bisection, with fits to the same tolerance.
    """
    if tracker.gap <= EXACT:
        return np.inf
    low, high = problem.C, None
    while high is None or high > low * PRECISION:
        trial = 2.0 * low if high is None else float(np.sqrt(low * high))
        if trial > LARGEST_FACTOR * problem.C:
            return np.inf
        left = None if limits.max_time is None else limits.max_time - tracker.clock.elapsed
        if left is not None and left <= 0:
            return high
        if _has_features(replace(problem, C=trial), replace(limits, max_time=left, callback=None)):
            high = trial
        else:
            low = trial
    return high


def _has_features(problem: Problem, limits: Limits) -> bool:
    """Whether the fit uses a column that is not always in."""
    state, _ = run_bundle(problem, Tracker(limits))
    return bool(np.any(state.best.w[problem.norm.always.size :]))
