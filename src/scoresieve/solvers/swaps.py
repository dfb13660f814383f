"""Swaps: units outside with a large ``||c_u||`` replace units inside with a small ``||w_u||``.

Many at first, then fewer, as long as the refitted objective falls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scoresieve.solvers.refits import Refit, Refitter

IntArray = NDArray[np.int64]

#: A swap must lower the objective by this share to be kept; refits are accurate to 0.01.
LEAST_GAIN = 1e-3
#: Most refits in one search for swaps.
MAX_REFITS = 20


def improve_by_swaps(refitter: Refitter, best: Refit, k: int) -> Refit:
    """The model with at most k units after the swaps that pay.

    Parameters
    ----------
    refitter : Refitter
    best : Refit
        With at most k units.
    k : int
    """
    n_swapped = max(1, k // 2)
    for _ in range(MAX_REFITS):
        if n_swapped < 1 or refitter.time_is_over:
            break
        units, n_swapped = _swapped(refitter, best, k, n_swapped)
        if n_swapped == 0:
            break
        wanted = (1.0 - LEAST_GAIN) * best.primal
        trial = refitter.refit(units, best.w, best.dual_point, give_up_at=wanted)
        if trial.primal < wanted:
            best = trial
        else:
            n_swapped //= 2
    return best


def _swapped(refitter: Refitter, best: Refit, k: int, n_wanted: int) -> tuple[IntArray, int]:
    """The units after the most promising swap of at most ``n_wanted``, and how many it swaps."""
    outside = refitter.promises(best)
    inside = refitter.unit_norms(best.w)[best.units]
    n_free = k - best.units.size
    entering = np.argsort(-outside, kind="stable")[: n_wanted + n_free]
    entering = entering[outside[entering] > 0.0]
    leaving = np.argsort(inside, kind="stable")[: max(0, entering.size - n_free)]
    # Only pairs where the newcomer promises more than the one it replaces.
    pays = outside[entering[n_free:]][: leaving.size] > inside[leaving]
    n_swaps = int(np.count_nonzero(np.logical_and.accumulate(pays)))
    entering = np.concatenate([entering[:n_free], entering[n_free : n_free + n_swaps]])
    if entering.size == 0:
        return best.units, 0
    stay = np.delete(best.units, leaving[:n_swaps])
    return np.sort(np.concatenate([stay, entering])), max(n_swaps, 1)
