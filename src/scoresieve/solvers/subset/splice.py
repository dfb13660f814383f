"""Splicing: a model with at most k units, improved by exchanging units as long as J falls.

1. Exchange the s least valuable units for the s most promising ones, refit, and keep the better
   model; else halve s. (Zhu, Wen, Zhu, Zhang and Wang 2020 call this splicing; their ``abess``
   does it for subset regression.)
2. Then exchange single pairs, the best first by the quadratic model, which sees correlations of
   units. Each is tried by a refit, until a number of them have failed. Where the problem is small,
   less promising pairs are tried as well.

A refit by Newton's method costs milliseconds, a pass over X follows each success. Where the risk
has kinks a refit costs ten times as much, so that a smooth surrogate finds the units, see
:mod:`scoresieve.solvers.subset.surrogate`, and one refit gives their worth.

The quadratic model of J at a refit is

    J(w + d) ~ J(w) - <c, d>_outside + 1/2 d^T H d ,      H = I + X^T diag(kappa) X

with ``c = X^T v``, which at the optimum is w inside. With ``M = (H_AA)^-1`` on the columns A that
are in:

* unit j leaves: J rises by ``w_j^2 / (2 M_jj)``;
* column i enters: J falls by ``c_i^2 / (2 s_i)``, with ``s_i = H_ii - H_iA M H_Ai``;
* both: J falls by ``(c_i + r_j w_j / M_jj)^2 / (2 (s_i + r_j^2 / M_jj)) - w_j^2 / (2 M_jj)``, with
  ``r = M H_Ai``.

The last line sees what columns have in common: of two equal ones one may leave at no cost.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.regularizers.units import largest_positions
from scoresieve.solvers.subset.refits import (
    FEW_PAIRS,
    REFIT_TOL,
    Refit,
    Refitter,
    columns_of_units,
)
from scoresieve.solvers.subset.surrogate import surrogate_near

#: Candidates to enter that a pair is looked for among: as many times the units inside, and more.
CANDIDATES_PER_UNIT, MORE_CANDIDATES = 2, 20
#: The square of a larger number may overflow.
HUGE = 1e150


class Swap(NamedTuple):
    """Units after a swap, and the fall of J that the model predicts."""

    units: IntArray
    gain: float


class SwapModel:
    """The quadratic model at a refit.

    Attributes
    ----------
    promises : ndarray of shape (n_units,)
        For each unit outside, the square root of twice the fall of J if it came in alone, without
        its correlation with those inside; 0 for units inside.
    worths : ndarray of shape (len(fit.units),)
        For each unit inside, the same of the rise of J if it left.
    """

    def __init__(self, refitter: Refitter, fit: Refit) -> None:
        self._refitter, self._fit = refitter, fit
        self._norm = refitter.norm
        self._correlations = refitter.problem.design.correlate(fit.v)
        self.promises = self._promises()
        self._inverse = self._inverse_hessian()
        self.worths = self._worths()

    def _promises(self) -> FloatArray:
        """``|c_j| / sqrt(1 + kappa ||x_j||^2)``, kappa the mean curvature."""
        mean = float(np.sqrt(np.mean(self._fit.curvatures)))
        # Of ten million columns most may have no entry in any row with a slope.
        at = np.flatnonzero(self._correlations)
        scale = mean * self._refitter.fetched.column_norms()[at]
        # np.hypot does the same for numbers of any size, but takes six times as long.
        is_huge = scale.max(initial=0.0) > HUGE
        scale = np.hypot(1.0, scale) if is_huge else np.sqrt(1.0 + scale * scale)
        scaled = np.zeros(self._correlations.size)
        scaled[at] = self._correlations[at] / scale
        promise = self._norm.units.norms(scaled)
        promise = promise.copy() if not promise.flags.owndata else promise
        promise[self._fit.units] = 0.0
        return promise

    def _inverse_hessian(self) -> FloatArray | None:
        """``M``; None if it is not finite, or not positive on its diagonal, by rounding."""
        fit = self._fit
        if not fit.columns.size:
            return np.zeros((0, 0))
        hessian = self._refitter.fetched.block(fit.columns).gram(fit.curvatures)
        hessian[np.diag_indices_from(hessian)] += 1.0
        try:
            inverse = np.asarray(np.linalg.inv(hessian), dtype=np.float64)
        except LinAlgError:
            return None
        is_sound = np.all(np.isfinite(inverse)) and np.all(np.diag(inverse) > 0.0)
        return inverse if is_sound else None

    @property
    def _n_always(self) -> int:
        return self._norm.always.size

    def _worths(self) -> FloatArray:
        w, M = self._fit.w, self._inverse
        if M is None:
            M = np.eye(w.size)
        if not self._norm.has_groups:
            return (np.abs(w) / np.sqrt(np.diag(M)))[self._n_always :]
        members = self._norm.unit_of[self._fit.columns]
        worths = []
        for unit in self._fit.units:
            inside = np.flatnonzero(members == unit)
            part = np.linalg.solve(M[np.ix_(inside, inside)], w[inside])
            worths.append(np.sqrt(max(0.0, float(w[inside] @ part))))
        return np.array(worths)

    def candidates(self, k: int) -> IntArray:
        """The most promising units outside."""
        return largest_positions(self.promises, CANDIDATES_PER_UNIT * k + MORE_CANDIDATES)

    def exchange(self, k: int, n_wanted: int) -> tuple[IntArray, int]:
        """The units after up to ``n_wanted`` swaps at once, and how many there are.

        The most promising units for the least valuable ones, as long as J falls by the model.
        """
        units, promises = self._fit.units, self.promises
        n_free = k - units.size
        entering = largest_positions(promises, n_wanted + n_free)
        entering = entering[np.argsort(-promises[entering], kind="stable")]
        leaving = np.argsort(self.worths, kind="stable")[: max(0, entering.size - n_free)]
        pays = promises[entering[n_free:]][: leaving.size] > self.worths[leaving]
        n_swaps = int(np.count_nonzero(np.logical_and.accumulate(pays)))
        entering = np.concatenate([entering[:n_free], entering[n_free : n_free + n_swaps]])
        if entering.size == 0:
            return units, 0
        stay = np.delete(units, leaving[:n_swaps])
        return np.sort(np.concatenate([stay, entering])), max(n_swaps, 1)

    def pairs(self, k: int, n_wanted: int) -> list[Swap]:
        """The most promising swaps of one unit for another, the best first."""
        entering, units = self.candidates(k), self._fit.units
        if entering.size == 0 or units.size == 0:
            return []
        if self._norm.has_groups or self._inverse is None:
            gains = 0.5 * (self.promises[entering] ** 2 - self.worths[:, None] ** 2)
        else:
            gains = self._pair_gains(entering)
        order = np.argsort(-gains, axis=None, kind="stable")[:n_wanted]
        found = []
        for place in order:
            leaver, newcomer = divmod(int(place), entering.size)
            swapped = np.append(np.delete(units, leaver), entering[newcomer])
            found.append(Swap(np.sort(swapped), float(gains[leaver, newcomer])))
        return found

    def _pair_gains(self, entering: IntArray) -> FloatArray:
        """The fall of J for every unit inside (rows) and candidate (columns)."""
        fit, M = self._fit, self._inverse
        assert M is not None
        columns = columns_of_units(self._norm, entering)[self._n_always :]
        every = np.concatenate([fit.columns, columns])
        gram = self._refitter.fetched.block(every).gram(fit.curvatures)
        n_in = fit.columns.size
        across = gram[:n_in, n_in:]
        r = M @ across
        # What a column has of its own is never less than the 1 of the norm, but rounding is not so.
        own = np.maximum(1.0, 1.0 + np.diag(gram)[n_in:] - np.einsum("ij,ij->j", across, r))
        diagonal = np.diag(M)[:, None]
        alone = fit.w[:, None] / diagonal
        with np.errstate(over="ignore", invalid="ignore"):
            entered = (self._correlations[columns] + r * alone) ** 2 / (own + r * r / diagonal)
            gains = 0.5 * (entered - fit.w[:, None] * alone)
        return np.nan_to_num(gains[self._n_always :], nan=-np.inf)


#: A swap must lower the objective by this share of the tolerance to be kept, and by how much at
#: least and at most.
GAIN_SHARE, LEAST_GAIN, MOST_GAIN = 0.1, 1e-3, 1e-2
#: Pairs that are tried in vain before the search ends: with refits by Newton's method and by cuts.
VAIN_PAIRS, VAIN_PAIRS_BY_CUTS = 8, 3
#: The same for a surrogate.
VAIN_PAIRS_OF_SURROGATE = 3
#: With refits by cuts at the end of the search, where the problem is small.
MORE_PAIRS_BY_CUTS = 12
#: Most refits of one search.
MAX_REFITS = 100


def start_at_constant(refitter: Refitter) -> Refit:
    """The model without units: the columns that are always in, the intercept's among them."""
    return refitter.refit(np.zeros(0, dtype=np.int64))


def most_promising(refitter: Refitter, fit: Refit, k: int, **options: float) -> Refit:
    """The refit on the units inside, filled up to k by the most promising ones."""
    model = SwapModel(refitter, fit)
    entering = largest_positions(model.promises, k - fit.units.size)
    units = np.sort(np.concatenate([fit.units, entering]))
    beside = columns_of_units(refitter.norm, model.candidates(k))
    return refitter.refit(units, fit, beside=beside, **options)


def fewer_of_all(refitter: Refitter, k: int) -> Refit:
    """Backward elimination: the least valuable unit leaves until k are left."""
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
    is_smooth = refitter.problem.risk.is_smooth
    smooth = None if is_smooth else surrogate_near(refitter, best)
    if smooth is None:
        return _exchanged(refitter, best, k, VAIN_PAIRS if is_smooth else VAIN_PAIRS_BY_CUTS)
    if refitter.time_is_over:
        return best
    other = refitter.with_risk(smooth, REFIT_TOL)
    start = other.refit(best.units, replace(best, point=smooth.no_dual_point()))
    found = _exchanged(other, start, k, VAIN_PAIRS_OF_SURROGATE)
    found = try_more_pairs(other, found, k) if refitter.is_small else found
    if np.array_equal(found.units, best.units):
        return best
    wanted = (1.0 - LEAST_GAIN) * best.primal
    trial = refitter.refit(found.units, best.with_weights_of(found), give_up_at=wanted)
    return trial if trial.primal < wanted else best


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
