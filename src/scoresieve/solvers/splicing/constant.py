"""The best constant model of a risk with kinks, by cuts of one variable.

    min_t  1/2 t^2 + C R(c t, ..., c t) ,     R(c t, ...) >= q - a t ,   a = c sum_i delta_i

c is the value of the constant column and t its weight. Two cuts are kept, one whose objective falls
at the point where it was taken and one whose objective rises there. The minimum of the larger of
the two is a lower bound and the next point, in closed form: a few evaluations of R, where a bundle
would set up its master for each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.measures import Cut
from scoresieve.risks import Risk

#: Most evaluations of R.
MAX_CUTS = 50


class Line(NamedTuple):
    """A cut as a function of t: ``q - a t``."""

    cut: Cut
    a: float

    @property
    def q(self) -> float:
        """Its value at 0."""
        return self.cut.loss


class ConstantFit(NamedTuple):
    """The weight of the constant column, the objective, and the cuts that bound it.

    Attributes
    ----------
    alpha : ndarray of shape (len(cuts),)
        Their weights, which sum to C.
    """

    w: float
    primal: float
    alpha: FloatArray
    cuts: list[Cut]


def constant_fit(risk: Risk, C: float, value: float, tol: float) -> ConstantFit | None:
    """The best constant model to a relative gap of tol; None if that takes too many cuts.

    Parameters
    ----------
    value : float
        Of the constant column.
    """
    ones = np.ones(risk.y.size)
    lines: dict[bool, Line] = {}
    t, best = 0.0, (0.0, np.inf)
    for _ in range(MAX_CUTS):
        cut = risk.cut(value * t * ones)
        line = Line(cut, value * float(cut.delta.sum()))
        primal = 0.5 * t * t + C * max(0.0, line.q - line.a * t)
        best = (t, primal) if primal < best[1] else best
        lines[t - C * line.a <= 0.0] = line
        alpha, t = lowest(list(lines.values()), C)
        cuts = list(lines.values())
        dual = float(alpha @ [each.q for each in cuts]) - 0.5 * t * t
        if best[1] - dual <= tol * best[1]:
            return ConstantFit(*best, alpha, [each.cut for each in cuts])
    return None


def lowest(lines: list[Line], C: float) -> tuple[FloatArray, float]:
    """The minimum of ``1/2 t^2 + C max_k (q_k - a_k t)`` over one or two lines: their weights, t.

    At the minimum ``t = sum_k alpha_k a_k``: the slopes of the weighted lines and of the square add
    up to 0.
    """
    if len(lines) == 1:
        return np.array([C]), C * lines[0].a
    first, second = lines
    if first.a == second.a:
        share = float(first.q >= second.q)
    else:
        # Where the lines meet; outside of what one of them alone wants, that one decides.
        meeting = (first.q - second.q) / (first.a - second.a)
        share = float(np.clip((meeting / C - second.a) / (first.a - second.a), 0.0, 1.0))
    alpha = C * np.array([share, 1.0 - share])
    return alpha, float(alpha @ [first.a, second.a])
