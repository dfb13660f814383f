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

from collections.abc import Callable, Sequence

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Design
from scoresieve.design.scaled import norms_and_spreads
from scoresieve.regularizers.units import largest_positions
from scoresieve.risks import LossRisk
from scoresieve.solvers.splicing.refits import Refit, Refitter

#: The k units that are strongest one at a time, the strongest first, from the model without units.
Filter = Callable[[Refitter, Refit, int], IntArray]


def correlated(refitter: Refitter, start: Refit, k: int) -> IntArray:
    """The k units with the largest r."""
    return by_strength(refitter.norm.units.norms(correlations_at(refitter, start)), k)


def refits_in_order(
    refitter: Refitter, ks: Sequence[int], start: Refit, order: IntArray
) -> list[Refit]:
    """The refits on the first k units, for each k in ascending order."""
    refits: list[Refit] = []
    for k in ks:
        refits.append(refitter.refit(np.sort(order[:k]), refits[-1] if refits else start))
    return refits


def correlations_at(refitter: Refitter, fit: Refit) -> FloatArray:
    """``r`` of every column at the model without units."""
    risk = refitter.problem.risk
    assert isinstance(risk, LossRisk)
    return correlations(refitter.problem.design, fit.v, risk.row_weights)


def correlations(design: Design, v: FloatArray, weights: FloatArray) -> FloatArray:
    """``r`` of every column, 0 for those that are constant.

    The sum of v is that of the rounding and of an intercept that costs a little: it is taken off.
    """
    v = v - weights * (v.sum() / weights.sum())
    norms, spreads = norms_and_spreads(design)
    varies = spreads > 0.0
    strength = np.abs(design.correlate(v)) / np.where(varies, norms, 1.0)
    return np.where(varies, strength / np.where(varies, spreads, 1.0), 0.0)


def by_strength(strength: FloatArray, k: int) -> IntArray:
    """The k strongest, the strongest first, of equal ones the first; never one without any."""
    found = largest_positions(strength, k)
    return found[np.argsort(-strength[found], kind="stable")]
