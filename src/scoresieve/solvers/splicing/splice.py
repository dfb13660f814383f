"""Splicing: a model with at most k units, improved by exchanging units as long as J falls.

1. Exchange the s units that are worth least for the s that promise most, refit, and keep what is
   better; else halve s. (Zhu, Wen, Zhu, Zhang and Wang 2020 call this splicing; their ``abess``
   does it for subset regression.)
2. Then one by one: the pairs whose exchange is best by the quadratic model, which sees what the
   units have in common, each tried by a refit, until a number of them have failed. Where the
   problem is small more of them are tried, also those that the model does not think much of.

A refit by Newton's method costs milliseconds, a pass over X follows each success. Where the risk
has kinks a refit costs ten times as much, so that a smooth loss stands in for it, see
:mod:`scoresieve.solvers.splicing.stand_in`: it finds the units, and one refit says what they are
worth.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from scoresieve._arrays import IntArray
from scoresieve.regularizers.units import largest_positions
from scoresieve.risks import LossRisk
from scoresieve.solvers.splicing.refits import (
    FEW_PAIRS,
    REFIT_TOL,
    Refit,
    Refitter,
    columns_of_units,
)
from scoresieve.solvers.splicing.stand_in import stand_in
from scoresieve.solvers.splicing.swaps import SwapModel

#: A swap must lower the objective by this share of the tolerance to be kept, and by how much at
#: least and at most.
GAIN_SHARE, LEAST_GAIN, MOST_GAIN = 0.1, 1e-3, 1e-2
#: Pairs that are tried in vain before the search ends: with refits by Newton's method and by cuts.
VAIN_PAIRS, VAIN_PAIRS_BY_CUTS = 8, 3
#: The same for a loss that stands in.
VAIN_PAIRS_OF_STAND_IN = 3
#: With refits by cuts at the end of the search, where the problem is small.
MORE_PAIRS_BY_CUTS = 12
#: Most refits of one search.
MAX_REFITS = 100


def start_at_constant(refitter: Refitter) -> Refit:
    """The model without units: the columns that are always in, the intercept's among them."""
    return refitter.refit(np.zeros(0, dtype=np.int64))


def most_promising(refitter: Refitter, fit: Refit, k: int, **options: float) -> Refit:
    """The refit on the units inside, filled up to k by those that promise most."""
    model = SwapModel(refitter, fit)
    entering = largest_positions(model.promises, k - fit.units.size)
    units = np.sort(np.concatenate([fit.units, entering]))
    beside = columns_of_units(refitter.norm, model.candidates(k))
    return refitter.refit(units, fit, beside=beside, **options)


def fewer_of_all(refitter: Refitter, k: int) -> Refit:
    """All units, less the one that is worth least, one by one until k are left."""
    fit = refitter.refit(np.arange(refitter.norm.n_units))
    while fit.units.size > k:
        least = np.argmin(SwapModel(refitter, fit).worths)
        fit = refitter.refit(np.delete(fit.units, least), fit)
    return fit


def splice(refitter: Refitter, best: Refit, k: int) -> Refit:
    """The model with at most k units after the exchanges that pay.

    Parameters
    ----------
    best : Refit
        With at most k units.
    """
    smooth = None if refitter.problem.risk.is_smooth else stand_in(refitter, best)
    if smooth is not None:
        return _by_stand_in(refitter, best, k, smooth)
    n_pairs = VAIN_PAIRS if refitter.problem.risk.is_smooth else VAIN_PAIRS_BY_CUTS
    return _exchanged(refitter, best, k, n_pairs)


def try_more_pairs(refitter: Refitter, best: Refit, k: int) -> Refit:
    """For small problems: some more pairs by cuts; all by Newton's method, and two at once."""
    if not refitter.problem.risk.is_smooth:
        return _exchanged(refitter, best, k, MORE_PAIRS_BY_CUTS)
    better: Refit | None = best
    while better is not None:
        best = _exchanged(refitter, better, k, FEW_PAIRS)
        better = _two_for_two(refitter, best, k)
    return best


def _two_for_two(refitter: Refitter, best: Refit, k: int) -> Refit | None:
    """The first exchange of two units for two others that pays."""
    model, n_inside = SwapModel(refitter, best), best.units.size
    newcomers = list(combinations(model.candidates(k), 2))
    for places in combinations(range(n_inside), 2):
        stay = np.delete(best.units, places)
        for pair in newcomers:
            if refitter.time_is_over:
                return None
            trial = _tried(refitter, best, np.sort(np.append(stay, pair)), model, k)
            if trial is not None:
                return trial
    return None


def _by_stand_in(refitter: Refitter, best: Refit, k: int, smooth: LossRisk) -> Refit:
    """The better of the model and of the refit on the units that the smooth risk ends with."""
    if refitter.time_is_over:
        return best
    other = refitter.with_risk(smooth, REFIT_TOL)
    start = other.refit(best.units, replace(best, point=smooth.no_dual_point()))
    found = _exchanged(other, start, k, VAIN_PAIRS_OF_STAND_IN)
    found = try_more_pairs(other, found, k) if refitter.is_small else found
    if np.array_equal(found.units, best.units):
        return best
    wanted = (1.0 - LEAST_GAIN) * best.primal
    trial = refitter.refit(found.units, best.with_weights_of(found), give_up_at=wanted)
    return trial if trial.primal < wanted else best


def _exchanged(refitter: Refitter, best: Refit, k: int, n_pairs: int) -> Refit:
    """Exchanges of many units, then of pairs until ``n_pairs`` of them were in vain."""
    end = refitter.n_refits + MAX_REFITS
    best, model = exchange_many(refitter, best, k, end)
    while model is not None:
        better = _one_for_one(refitter, best, model, k, n_pairs, end)
        if better is None:
            break
        best = better
        is_over = refitter.time_is_over or refitter.n_refits >= end
        model = None if is_over else SwapModel(refitter, best)
    return best


def exchange_many(
    refitter: Refitter, best: Refit, k: int, end: float = np.inf
) -> tuple[Refit, SwapModel | None]:
    """Exchanges of k / 2 units, then fewer; and the model at the last refit, if time is left.

    Parameters
    ----------
    end : float
        Refits of the refitter after which it ends.
    """
    n_swapped, model = max(1, k // 2), None
    while n_swapped >= 1:
        if refitter.time_is_over or refitter.n_refits >= end:
            return best, None
        model = model or SwapModel(refitter, best)
        units, n_swapped = model.exchange(k, n_swapped)
        if n_swapped == 0:
            break
        trial = _tried(refitter, best, units, model, k)
        if trial is not None:
            best, model = trial, None
        else:
            n_swapped //= 2
    return best, model or SwapModel(refitter, best)


def _one_for_one(
    refitter: Refitter, best: Refit, model: SwapModel, k: int, n_pairs: int, end: int
) -> Refit | None:
    """The first of the best pairs that pays."""
    for swap in model.pairs(k, n_pairs):
        is_hopeless = swap.gain <= 0.0 and not refitter.is_small
        if is_hopeless or refitter.time_is_over or refitter.n_refits >= end:
            return None
        trial = _tried(refitter, best, swap.units, model, k)
        if trial is not None:
            return trial
    return None


def _tried(
    refitter: Refitter, best: Refit, units: IntArray, model: SwapModel, k: int
) -> Refit | None:
    """The refit on the units if it is better."""
    share = np.clip(GAIN_SHARE * refitter.limits.tol, LEAST_GAIN, MOST_GAIN)
    share = LEAST_GAIN if refitter.is_small else share
    wanted = (1.0 - float(share)) * best.primal
    beside = columns_of_units(refitter.norm, model.candidates(k))
    trial = refitter.refit(units, best, beside=beside, give_up_at=wanted)
    return trial if trial.primal < wanted else None
