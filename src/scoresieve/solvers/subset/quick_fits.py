"""Fits of a few columns that need no engine: Newton's method, and constant models by two cuts.

For a smooth loss

    min_w  1/2 ||w||_2^2 + C sum_i c_i l(y_i, <w, x_i>) ,      H = I + X^T diag(C c_i l''_i) X

is strongly convex with the constant 1, so that the gradient g bounds what is left:
``J(w) - min J <= 1/2 ||g||^2``. A few steps of some milliseconds end a refit on text, where a
method for any number of columns takes a hundred times as long.

For a risk with kinks the constant column alone gives a problem of one variable,

    min_t  1/2 t^2 + C R(c t, ..., c t) ,     R(c t, ...) >= q - a t ,   a = c sum_i delta_i

with c the value of the constant column and t its weight. Two cuts are kept, one whose objective
falls at the point where it was taken and one whose objective rises there. The minimum of the larger
of the two is a lower bound and the next point, in closed form: a few evaluations of R, where a
bundle would set up its master for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from scoresieve._arrays import FloatArray
from scoresieve.design import Columns
from scoresieve.measures import Cut
from scoresieve.risks import LossRisk, Risk

#: Most steps of Newton's method, and most halvings of one.
MAX_STEPS, MAX_HALVINGS = 60, 40
#: Share of the decrease that the slope promises which a step must bring.
ARMIJO = 1e-4
#: Most evaluations of R for a constant model.
MAX_CUTS = 50


@dataclass(frozen=True, eq=False)
class NewtonFit:
    """Where Newton's method ended.

    Attributes
    ----------
    w, scores : ndarray
    value : float
        J(w).
    left : float
        ``1/2 ||g||^2``, a bound of ``J(w) - min J``.
    v : ndarray of shape (n_samples,)
        ``-C c_i l'_i``; at the optimum ``w = X^T v``.
    """

    w: FloatArray
    scores: FloatArray
    value: float
    left: float
    v: FloatArray


def newton_fit(
    block: Columns,
    risk: LossRisk,
    C: float,
    start: FloatArray,
    *,
    tol: float,
    give_up_at: float = np.inf,
) -> NewtonFit | None:
    """``min_w 1/2 ||w||_2^2 + C R(X w)`` to the relative gap ``tol``; None where it gets stuck.

    It may end earlier, when no weights on these columns bring J below ``give_up_at``.
    """
    w, scores = start, block.scores(start)
    value = 0.5 * float(w @ w) + C * risk.value(scores)
    for _ in range(MAX_STEPS):
        v = risk.vector(risk.slopes(scores), C)
        gradient = w - block.correlate(v)
        left = 0.5 * float(gradient @ gradient)
        if left <= tol * value or value - left >= give_up_at:
            return NewtonFit(w, scores, value, left, v)
        hessian = block.gram(C * risk.curvatures(scores))
        np.einsum("ii->i", hessian)[:] += 1.0
        # LAPACK itself: what scipy's functions check around it takes longer than ten columns do.
        _, direction, failed = dposv(hessian, -gradient, lower=True)
        if failed or not np.all(np.isfinite(direction)):
            return None
        change, slope = block.scores(direction), float(gradient @ direction)
        step = 1.0
        for _ in range(MAX_HALVINGS):
            trial, there = w + step * direction, scores + step * change
            value_there = 0.5 * float(trial @ trial) + C * risk.value(there)
            if value_there <= value + ARMIJO * step * slope:
                break
            step *= 0.5
        else:
            return None
        w, scores, value = trial, there, value_there
    return None


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
