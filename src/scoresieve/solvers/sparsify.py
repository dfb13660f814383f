"""Set to zero the weights that do not matter, within what the certificate allows.

An interior-point master leaves tiny weights on columns that the optimum does not use, and the line
search averages points. Dropping the smallest weights costs next to nothing in the objective.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scoresieve.design import Columns
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.problem import Problem

FloatArray = NDArray[np.float64]

#: The objective may rise by this share of the gap.
ALLOWANCE = 0.003


def drop_small_weights(
    problem: Problem,
    block: Columns,
    norm: BudgetNorm,
    w: FloatArray,
    *,
    primal: float,
    dual: float,
    tol: float,
) -> tuple[FloatArray, float]:
    """The sparsest prefix of w by size whose objective is almost that of w; w and its objective.

    Parameters
    ----------
    problem : Problem
    block : Columns
        The working columns.
    norm : BudgetNorm
        On the working columns.
    w : ndarray of shape (n_working,)
    primal, dual : float
        ``J(w)`` and the lower bound. J may rise by 0.3 % of their difference, and not so far that a
        gap within ``tol`` leaves it.
    tol : float
    """
    limit = primal + ALLOWANCE * (primal - dual)
    if primal - dual <= tol * primal:
        limit = min(limit, max(primal, dual / (1.0 - tol) if tol < 1.0 else np.inf))
    order = np.argsort(norm.units.norms(w), kind="stable")

    def without(n_dropped: int) -> tuple[FloatArray, float]:
        keep = np.ones(order.size)
        keep[order[:n_dropped]] = 0.0
        kept = w * norm.units.spread(keep, always=1.0, excluded=0.0)
        scores = block.scores(kept)
        risk = max(0.0, problem.cut(scores).value(scores))
        return kept, 0.5 * norm.value_squared(kept) + problem.C * risk

    low, high = 0, order.size + 1
    best = without(0)
    while high - low > 1:
        middle = (low + high) // 2
        candidate = without(middle)
        if candidate[1] <= limit:
            low, best = middle, candidate
        else:
            high = middle
    return best
