"""The columns that say most about y one at a time.

    r_j = |sum_i v_i x_ij| / sqrt(sum_i (x_ij - m_j)^2) ,     v_i = c_i (y_i - p_i)

with p the probabilities of the model without units and c the weights of the rows. Without weights
and without columns that are always in, these are the columns with the largest F of an analysis of
variance. Weights enter what a column says, not how far it spreads: the norms of columns are known
without them. Rows of weight 0 never come here.

A search compares sets of columns, and with thousands of columns and a few dozen rows it finds sets
that are good by chance. One column at a time there is less to find.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Design
from scoresieve.regularizers.units import largest_positions
from scoresieve.risks import LossRisk
from scoresieve.solvers.splicing.refits import Refit, Refitter
from scoresieve.solvers.splicing.splice import start_at_constant

#: A column is constant if its spread is a smaller share than this of its norm.
LEAST_SPREAD = 1e-7


def correlated_refits(refitter: Refitter, ks: Sequence[int]) -> list[Refit]:
    """The refits on the k units with the largest r, for each k in ascending order."""
    start = start_at_constant(refitter)
    risk = refitter.problem.risk
    assert isinstance(risk, LossRisk)
    strength = correlations(refitter.problem.design, start.v, risk.row_weights)
    order = by_strength(refitter.norm.units.norms(strength), ks[-1])
    refits: list[Refit] = []
    for k in ks:
        refits.append(refitter.refit(np.sort(order[:k]), refits[-1] if refits else start))
    return refits


def correlations(design: Design, v: FloatArray, weights: FloatArray) -> FloatArray:
    """``r`` of every column, 0 for those that are constant.

    The sum of v is that of the rounding and of an intercept that costs a little: it is taken off.
    """
    v = v - weights * (v.sum() / weights.sum())
    norms, n_samples = design.column_norms(), design.n_samples
    known = np.where(norms > 0.0, norms, 1.0)
    # Squares of numbers of any size overflow; of their shares they do not.
    share_of_mean = design.correlate(np.ones(n_samples)) / known / np.sqrt(n_samples)
    spread = np.sqrt(np.maximum(1.0 - share_of_mean * share_of_mean, 0.0))
    varies = spread > LEAST_SPREAD
    strength = np.abs(design.correlate(v)) / known
    return np.where(varies, strength / np.where(varies, spread, 1.0), 0.0)


def by_strength(strength: FloatArray, k: int) -> IntArray:
    """The k strongest, the strongest first, of equal ones the first; never one without any."""
    found = largest_positions(strength, k)
    return found[np.argsort(-strength[found], kind="stable")]
