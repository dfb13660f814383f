"""A smooth loss that stands in for a risk with kinks near one of its refits.

    R(s) = max_k q_k - <delta_k, s>  ~  sum_i c_i psi(y_i s_i) ,    -psi' = share of cuts that flip

A cut flips the examples of each class whose margins are below some threshold. At a refit the cuts
have weights, by which the share ``y_i v_i / (C c_i)`` of them flips row i: it falls from 1 to 0
as the margin grows. With the thresholds held where they are, the risk is a sum of hinges, one loss
for each class. A little rounded it is what Newton's method refits in milliseconds, so that
exchanges are tried on it, and only what they end with is refitted by cuts.
"""

from __future__ import annotations

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.risks import LossRisk
from scoresieve.solvers.splicing.ramps import Ramp, RampLoss
from scoresieve.solvers.splicing.refits import Refit, Refitter

#: Steps that the shares are seen in, and how far each is rounded: losses are counts of errors, so
#: that margins are about 1.
N_STEPS, WIDTH = 4, 0.5
#: Halvings of the range of margins.
BISECTIONS = 30
#: Digits of a step's margin: knots that are closer would have slopes made of rounding errors.
DIGITS = 6


def stand_in(refitter: Refitter, fit: Refit) -> LossRisk | None:
    """The smooth risk near the fit; None where cuts do not flip examples."""
    risk, C = refitter.problem.risk, refitter.problem.C
    if risk.flip_values is None:
        return None
    y, weights = risk.y, np.abs(risk.flip_values)
    margins, shares = y * refitter.scores(fit), np.zeros(y.size)
    np.divide(y * fit.v, C * weights, out=shares, where=weights > 0.0)
    ramps = [ramp_of(margins[side], shares[side], weights[side]) for side in (y > 0, y < 0)]
    return LossRisk(RampLoss(*ramps), y, weights)


def ramp_of(margins: FloatArray, shares: FloatArray, weights: FloatArray) -> Ramp:
    """The ramp that has, step by step, the same sum of shares over a class.

    Sums, because most rows of text have the same margin, just where the share falls.
    """
    steps = np.arange(N_STEPS)[:, None]
    wanted = np.clip(N_STEPS * shares - steps, 0.0, 1.0) @ weights
    at, place = np.unique(margins, return_inverse=True)
    total = np.bincount(place, weights=weights)
    below, moments = (np.append(0.0, np.cumsum(each)) for each in (total, total * at))
    low, high = np.full(N_STEPS, at[0] - WIDTH), np.full(N_STEPS, at[-1] + WIDTH)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        # Rows before the width of the step count in full, those inside it by their place.
        start, end = (np.searchsorted(at, middle + side * WIDTH) for side in (-0.5, 0.5))
        inside = (middle / WIDTH + 0.5) * (below[end] - below[start])
        found = below[start] + inside - (moments[end] - moments[start]) / WIDTH
        low, high = np.where(found < wanted, middle, low), np.where(found < wanted, high, middle)
    return Ramp.of_steps(np.round(low, DIGITS), WIDTH)
