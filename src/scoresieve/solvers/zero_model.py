"""The smallest C that gives a model with features, for a fit that ended without any.

``J*(C) / C`` never increases with C, so the empty model is within the tolerance of the optimum
below some C and never again above it.

A dual point of one C serves for another: with alpha scaled by f its value is
``f <q, alpha> - f^2/2 ||X^T sum_k alpha_k delta_k||_(B)^2``, and the empty model's objective is at
most f times what it was. So a fit without features shows how far C can be raised in vain.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scoresieve.solvers.bundle import run_bundle
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.tracker import Limits, Tracker

#: The answer is at most this factor above the smallest C.
PRECISION = 1.1
#: How fast C is raised. Fits are dear at a large C, and one bisection halves a fourfold step.
STEP = 4.0
#: How far C is raised beyond the first C or, if that is larger, the one that suits the data.
LARGEST_FACTOR = 2.0**30
#: A fit may find features although the empty model is within its tolerance, so that jumps stay
#: this factor below what they could be.
CAUTION = 2.0**-10


def smallest_useful_C(problem: Problem, limits: Limits, tracker: Tracker) -> float | None:
    """The smallest C (to 10 %) whose fit has a feature; inf if none has, None if it is not known.

    It is not known if the time ran out, or if the limits say not to look for it. The search goes by
    jumps that the dual point proves and fourfold steps, then bisection, with fits to the same
    tolerance.

    Parameters
    ----------
    problem : Problem
    limits : Limits
    tracker : Tracker
        Of the fit that ended without features.
    """
    if not limits.find_smallest_C:
        return None
    low, high = _last_in_vain(problem, tracker), None
    ceiling = LARGEST_FACTOR * max(problem.C, _typical_C(problem))
    while high is None or high > low * PRECISION:
        trial = STEP * low if high is None else float(np.sqrt(low) * np.sqrt(high))
        if trial > ceiling or not np.isfinite(trial):
            return np.inf
        left = None if limits.max_time is None else limits.max_time - tracker.clock.elapsed
        if left is not None and left <= 0:
            return high
        at_trial = replace(problem, C=trial)
        fit = Tracker(replace(limits, max_time=left, callback=None))
        state, _ = run_bundle(at_trial, fit)
        if np.any(state.best.w[problem.norm.always.size :]):
            high = trial
        else:
            low = trial if high is not None else _last_in_vain(at_trial, fit)
    return high


def _last_in_vain(problem: Problem, tracker: Tracker) -> float:
    """A C without features: the problem's, or a larger one that its dual point rules out."""
    correlations = problem.design.correlate(tracker.dual_point.combined(problem.flip_values))
    curvature = 0.5 * problem.norm.dual_squared(correlations)
    spare = tracker.dual + curvature - (1.0 - tracker.limits.tol) * tracker.primal
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return problem.C * float(np.fmax(1.0, CAUTION * np.divide(spare, curvature)))


def _typical_C(problem: Problem) -> float:
    """The loss at w = 0 over the largest squared class sum of a unit: the scale of C in X."""
    y, flips = problem.y, problem.flip_values
    sums = [problem.design.correlate(np.where(y == label, flips, 0.0)) for label in (1.0, -1.0)]
    strength = max(float(problem.norm.unit_sums(c * c).max(initial=0.0)) for c in sums)
    loss = problem.cut(np.zeros(y.size)).loss
    return loss / strength if strength > np.finfo(float).tiny * loss else 0.0
