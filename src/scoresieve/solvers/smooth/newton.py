"""Proximal gradient and Newton steps for a restricted problem of any size.

    min_w  1/2 ||w||_B^2 + f(X_S w) ,     f(s) = C sum_i c_i l(y_i, s_i)

Each step

1. takes a proximal gradient step, which may bring units in or take them out;
2. takes a Newton step on the units then in use, where the norm is smooth, by truncated conjugate
   gradients. Units that would change their sign leave; where that does not make J fall, the lowest
   point on the way there is taken.

The first kind of step alone converges, the second makes it fast: on news20.binary with B = 250 and
C = 10 about forty steps with some twenty products with X_S each do the work of eight hundred steps
of accelerated proximal gradients, and each further digit costs few more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from scoresieve._arrays import FloatArray
from scoresieve.design import Columns
from scoresieve.regularizers import NormPiece
from scoresieve.risks import LossRisk
from scoresieve.solvers.working import Point, WorkingColumns

#: Conjugate gradients end at this share of the squared residual, or after this many products. A
#: coarse solution is best, because the next step has another piece of the norm: on news20.binary a
#: share of 0.03 needs about a third more products, one of 0.0001 several times as many.
CG_SHARE, CG_STEPS = 0.3, 100
#: Damping of the Newton system relative to the largest curvature: first, least, and its factor.
DAMPING, LEAST_DAMPING, DAMPING_FACTOR = 1e-3, 1e-10, 8.0
#: Lipschitz constants are tried from this share of the last one upwards.
LIPSCHITZ_DECAY = 0.7
#: Times the estimated trace of the risk's Hessian: a larger Lipschitz constant is never needed.
CERTAIN = 16.0
#: Trial points on the way to a Newton step that is too long, and how finely t is searched.
MAX_TRIALS, TRIAL_DISTANCE = 25, 1e-10
#: Rounding of the risk that the test of a Lipschitz constant forgives.
ROUNDING = 1e-13
#: A shorter part of a Newton step calls for more damping.
SHORT_STEP = 0.25
#: Random signs that estimate the squared lengths of columns: they are right to about a quarter,
#: which is as good as exact for scaling a Newton system.
N_PROBES = 32
#: Numbers of random signs that are in memory at a time (4 MB).
PROBE_NUMBERS = 2**19


class NewtonSteps:
    """Steps on a working set, which may grow between them; remembers the step lengths."""

    def __init__(self, working: WorkingColumns, risk: LossRisk) -> None:
        self._working, self._risk, self._C = working, risk, working.problem.C
        self._lengths = np.zeros(0)
        self._lipschitz = 0.0
        self._damping = DAMPING

    def step(self, point: Point, correlations: FloatArray) -> Point:
        """Both steps from the point; never a worse point.

        Parameters
        ----------
        correlations : ndarray of shape (n_columns,)
            Minus the gradient of the risk at the point.
        """
        return self._newton_step(self._proximal_step(point, correlations))

    def _curvature_scale(self) -> FloatArray:
        """``C sup l'' sum_i c_i x_ij^2``: bounds of the diagonal of the risk's Hessian."""
        n_known, working = self._lengths.size, self._working
        if n_known < working.size:
            new = working.block.as_design().columns(np.arange(n_known, working.size))
            self._lengths = np.append(self._lengths, squared_lengths(new, self._risk.row_weights))
        return self._C * self._risk.loss.curvature_bound * self._lengths

    def _proximal_step(self, point: Point, correlations: FloatArray) -> Point:
        """``prox(w + c / L)``, with L doubled until the quadratic bound of the risk holds."""
        working = self._working
        risk = self._C * self._risk.value(point.scores)
        scale = self._curvature_scale()
        lipschitz = self._lipschitz or float(np.max(scale, initial=0.0))
        lipschitz = lipschitz if lipschitz > 0.0 else 1.0
        # The trace of a Hessian bounds it. Where the bound does not hold even so, rounding decides.
        most = max(lipschitz, CERTAIN * float(scale.sum()))
        while np.isfinite(lipschitz) and lipschitz <= most:
            w = working.norm.prox(point.w + correlations / lipschitz, 1.0 / lipschitz)
            moved = w - point.w
            scores = working.block.scores(w)
            bound = risk - correlations @ moved + 0.5 * lipschitz * (moved @ moved)
            if self._C * self._risk.value(scores) <= bound + ROUNDING * abs(risk):
                self._lipschitz = LIPSCHITZ_DECAY * lipschitz
                trial = working.point(w, scores)
                return trial if trial.value < point.value else point
            lipschitz *= 2.0
        return point

    def _newton_step(self, point: Point) -> Point:
        """The point after a damped Newton step, or the same point if none makes J fall."""
        working = self._working
        piece = NormPiece(working.norm, point.w)
        if not piece.free.any():
            return point
        direction = self._newton_direction(piece, point)
        whole = working.point(piece.without_crossings(point.w, point.w + direction))
        if whole.value < point.value:
            self._damping = max(LEAST_DAMPING, self._damping / DAMPING_FACTOR)
            return whole
        lowest, step = self._lowest_on_the_way(point, direction)
        if step < SHORT_STEP:
            self._damping = min(1.0, self._damping * DAMPING_FACTOR)
        return lowest

    def _lowest_on_the_way(self, point: Point, direction: FloatArray) -> tuple[Point, float]:
        """``min_t J(w + t p)``, convex in t, and the t; the scores are linear in t."""
        working = self._working
        change = working.block.scores(direction)

        def at(t: float) -> Point:
            return working.point(point.w + t * direction, point.scores + t * change)

        found = minimize_scalar(
            lambda t: at(t).value,
            bounds=(0.0, 1.0),
            method="bounded",
            options={"maxiter": MAX_TRIALS, "xatol": TRIAL_DISTANCE},
        )
        lowest = at(float(found.x))
        return (lowest, float(found.x)) if lowest.value < point.value else (point, 0.0)

    def _newton_direction(self, piece: NormPiece, point: Point) -> FloatArray:
        """``-(H + damping)^-1 gradient`` on the free columns, by truncated conjugate gradients."""
        block, risk, C = self._working.block, self._risk, self._C
        curvatures = C * risk.curvatures(point.scores)
        correlations = block.correlate(risk.vector(risk.slopes(point.scores), C))
        residual = np.where(piece.free, correlations - piece.gradient, 0.0)
        scale = self._curvature_scale()
        damping = self._damping * scale
        average = float(curvatures.sum()) / (C * float(risk.row_weights.sum()))
        diagonal = (average / risk.loss.curvature_bound) * scale + damping + piece.diagonal
        diagonal = np.where(diagonal > 0.0, diagonal, 1.0)

        def times(p: FloatArray) -> FloatArray:
            product = block.correlate(curvatures * block.scores(p))
            return np.where(piece.free, product + damping * p, 0.0) + piece.hessian_times(p)

        return conjugate_gradients(times, residual, diagonal)


def conjugate_gradients(
    times: Callable[[FloatArray], FloatArray], side: FloatArray, diagonal: FloatArray
) -> FloatArray:
    """``H x = side``, to ``CG_SHARE`` of the squared residual in the norm of ``1 / diagonal``.

    Parameters
    ----------
    times : callable
        ``H p``, H positive semidefinite.
    side : ndarray of shape (n,)
    diagonal : ndarray of shape (n,)
        Positive, near that of H.
    """
    x, residual = np.zeros_like(side), side.copy()
    scaled = residual / diagonal
    direction, size = scaled, float(residual @ scaled)
    wanted = CG_SHARE * size
    for _ in range(CG_STEPS):
        if not size > wanted:
            break
        image = times(direction)
        curvature = float(direction @ image)
        if not curvature > 0.0:
            break
        step = size / curvature
        x += step * direction
        residual -= step * image
        scaled = residual / diagonal
        size, last = float(residual @ scaled), size
        direction = scaled + (size / last) * direction
    return x


def squared_lengths(block: Columns, weights: FloatArray) -> FloatArray:
    """``E (sum_i sqrt(c_i) x_ij z_i)^2 = sum_i c_i x_ij^2`` for random signs z, estimated.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,)
        c.
    """
    if block.n_columns == 0:
        return np.zeros(0)
    roots, rng = np.sqrt(weights), np.random.default_rng(0)
    at_once = max(1, PROBE_NUMBERS // roots.size)
    total = np.zeros(block.n_columns)
    for start in range(0, N_PROBES, at_once):
        shape = (roots.size, min(at_once, N_PROBES - start))
        signs = rng.choice([-1.0, 1.0], size=shape) * roots[:, None]
        total += np.sum(np.square(block.correlate(signs)), axis=1)
    return total / N_PROBES
