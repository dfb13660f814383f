"""The smallest C that gives a model with features, for a fit that ended without any.

``J*(C) / C`` never increases with C, so the empty model is within the tolerance of the optimum
below some C and never again above it.

A dual point of one C serves for another: with C times f its gain is f times and its v is f times
what they were, and the empty model's objective is at most f times what it was. So a fit without
features shows how far C can be raised in vain.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scoresieve._checks import MAX_C
from scoresieve.solvers.engines import SolveResult
from scoresieve.solvers.prices import run_at_own_price
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.working import Ended

#: The answer is at most this factor above the smallest C.
PRECISION = 1.1
#: How fast C is raised. Fits are dear at a large C, and one bisection halves a fourfold step.
STEP = 4.0
#: After this many steps in vain each is the square of the last: C may be far too small.
SMALL_STEPS = 8
#: How far C is raised beyond the first C or, if that is larger, the one that suits the data.
LARGEST_FACTOR = 2.0**30
#: A fit may find features although the empty model is within its tolerance, so that jumps stay
#: this factor below what they could be.
CAUTION = 2.0**-10


def with_smallest_C(result: SolveResult, ended: Ended) -> SolveResult:
    """The result of a run without features, with the smallest C that gives some, if wanted."""
    tracker = ended.tracker
    if not tracker.limits.find_smallest_C or tracker.is_stopped:
        return result
    with tracker.clock.part("smallest C"):
        smallest_C = find_smallest_C(ended)
    return replace(result, smallest_C=smallest_C, timings=dict(tracker.clock.parts))


def find_smallest_C(ended: Ended) -> float | None:
    """The smallest C (to 10 %) whose fit has a feature; inf if none has, None if time ran out.

    The search goes by jumps that the dual point proves and fourfold steps, then ever larger ones,
    and bisection, with fits to the same tolerance, each at a price of its own.
    """
    problem, deadline = ended.problem.reopened(), ended.tracker.deadline
    low, high = _last_in_vain(ended), None
    ceiling = min(MAX_C, LARGEST_FACTOR * max(problem.C, _typical_C(problem)))
    limits = replace(ended.tracker.limits, deadline=deadline, callback=None, enough=None)
    if problem.risk.is_smooth:
        # The first round sees the columns that are always in and nothing else, so that a fit ends
        # there or goes on with features. The first ones tell.
        n_always = problem.norm.always.size
        limits = replace(limits, enough=lambda row: row.n_support > n_always)
    step, n_vain = STEP, 0
    while high is None or high > low * PRECISION:
        trial = low * step if high is None else float(np.sqrt(low) * np.sqrt(high))
        if high is None and not STEP * low <= ceiling:
            return np.inf
        if deadline.is_over:
            return high
        trial = min(trial, ceiling)
        fit = run_at_own_price(replace(problem, C=trial), limits)
        if fit.working.n_selected(fit.best.w):
            high = trial
        else:
            low = trial if high is not None else _last_in_vain(fit)
            n_vain += high is None
            step = step if n_vain < SMALL_STEPS else step * step
    return high


def _last_in_vain(ended: Ended) -> float:
    """A C without features: the run's, or a larger one that its dual point rules out."""
    problem, tracker = ended.problem, ended.tracker
    v = problem.risk.dual_vector(tracker.dual_point, problem.C)
    curvature = 0.5 * problem.norm.dual_squared(problem.design.correlate(v))
    spare = tracker.dual + curvature - (1.0 - tracker.limits.tol) * tracker.primal
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return problem.C * float(np.fmax(1.0, CAUTION * np.divide(spare, curvature)))


def _typical_C(problem: Problem) -> float:
    """``1 / (R(0) ||m||^2)``, m the largest mean of a unit over high or low y: C's scale in X."""
    contrast = problem.risk.contrast()
    means = [
        problem.design.correlate(part) for part in (np.fmax(contrast, 0.0), np.fmin(contrast, 0.0))
    ]
    strength = max(float(problem.norm.unit_sums(c * c).max(initial=0.0)) for c in means)
    scale = problem.risk.value(np.zeros(problem.risk.y.size)) * strength
    return 1.0 / scale if scale > np.finfo(float).tiny else 0.0
