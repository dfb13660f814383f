"""What a swap of units would bring, by the quadratic model of J at a refit.

    J(w + d) ~ J(w) - <c, d>_outside + 1/2 d^T H d ,      H = I + X^T diag(kappa) X

with ``c = X^T v``, which at the optimum is w inside. With ``M = (H_AA)^-1`` on the columns A that
are in:

* unit j leaves: J rises by ``w_j^2 / (2 M_jj)``;
* column i enters: J falls by ``c_i^2 / (2 s_i)``, with ``s_i = H_ii - H_iA M H_Ai``;
* both: J falls by ``(c_i + r_j w_j / M_jj)^2 / (2 (s_i + r_j^2 / M_jj)) - w_j^2 / (2 M_jj)``, with
  ``r = M H_Ai``.

The last line sees what columns have in common: of two that say the same one may leave for nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.regularizers.units import largest_positions
from scoresieve.solvers.splicing.refits import Refit, Refitter, columns_of_units

#: Candidates to enter that a pair is looked for among: as many times the units inside, and more.
CANDIDATES_PER_UNIT, MORE_CANDIDATES = 2, 20
#: The square of a larger number may overflow.
HUGE = 1e150


class Swap(NamedTuple):
    """Units after a swap, and by how much the model says that J falls."""

    units: IntArray
    gain: float


class SwapModel:
    """The quadratic model at a refit.

    Attributes
    ----------
    promises : ndarray of shape (n_units,)
        How much each unit outside promises, as the square root of twice the fall of J if it came
        in alone, what it has in common with those inside left out; 0 for units inside.
    worths : ndarray of shape (len(fit.units),)
        What each unit inside is worth, likewise: the rise of J if it left.
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
        # Of ten million columns most may have no entry in any row that has a say.
        at = np.flatnonzero(self._correlations)
        scale = mean * self._refitter.fetched.column_norms[at]
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

        Those that promise most for those that are worth least, as long as they promise more.
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
        """The swaps of one unit for another that promise most, the best first."""
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
