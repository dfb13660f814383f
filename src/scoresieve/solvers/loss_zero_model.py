"""The smallest C that gives a model with features, for a smooth loss whose fit ended without any.

The first round of a fit sees the columns that are always in and nothing else. If its certified gap
is within the tolerance, the fit ends there, so that one round tells whether a C has features.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scoresieve._checks import MAX_C
from scoresieve.solvers.loss_problem import LossProblem
from scoresieve.solvers.smooth import Smooth
from scoresieve.solvers.tracker import Limits, Tracker

#: The answer is at most this factor above the smallest C.
PRECISION = 1.1
#: Jumps stay this factor below what the dual point allows: a round elsewhere may certify less.
CAUTION = 0.5


def smallest_C_with_features(
    problem: LossProblem, limits: Limits, tracker: Tracker
) -> float | None:
    """The smallest C (to 10 %) whose fit has a feature; inf if none has, None if it is not known.

    It is not known if the time ran out, or if the limits say not to look for it. The search goes by
    jumps that the dual point proves and doubling, then bisection.

    Parameters
    ----------
    problem : LossProblem
    limits : Limits
    tracker : Tracker
        Of the fit that ended without features.
    """
    if not limits.find_smallest_C:
        return None
    low, high = _last_in_vain(problem, tracker), None
    while high is None or high > low * PRECISION:
        trial = 2.0 * low if high is None else float(np.sqrt(low) * np.sqrt(high))
        if not trial <= MAX_C:
            return np.inf
        left = None if limits.max_time is None else limits.max_time - tracker.clock.elapsed
        if left is not None and left <= 0:
            return high
        at_trial = replace(problem, C=trial)
        first = Tracker(replace(limits, max_time=left, max_iter=1, callback=None))
        Smooth(at_trial, first).round()
        if first.gap > limits.tol:
            high = trial
        else:
            low = trial if high is not None else _last_in_vain(at_trial, first)
    return high


def _last_in_vain(problem: LossProblem, tracker: Tracker) -> float:
    """A C without features: the problem's, or a larger one that its dual point rules out.

    With C times f the same slopes have the value ``f gain - f^2/2 ||X^T v||_(B)^2``, and the model
    without features has at most f times its objective.
    """
    slopes = tracker.dual_point.slopes
    correlations = problem.design.correlate(problem.pull(slopes))
    strength = problem.norm.dual_squared(correlations)
    spare = problem.gain(slopes) - (1.0 - tracker.limits.tol) * tracker.primal
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return problem.C * float(np.fmax(1.0, CAUTION * np.divide(2.0 * spare, strength)))
