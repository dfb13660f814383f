"""An interior-point method for small restricted problems of smooth losses.

    min_w  1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)      over the working columns

by the saddle point of :mod:`scoresieve.solvers.loss_saddle`, with Mehrotra's predictor and
corrector. No kink of the norm or of the loss is left there: 10 to 20 steps are usual, 20 to 40
where C is large and the sizes of the columns differ by orders of magnitude.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from scoresieve.design import Columns
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.loss_problem import LossProblem
from scoresieve.solvers.loss_saddle import SaddleData, SaddleNewton, SaddlePoint

FloatArray = NDArray[np.float64]

MAX_STEPS = 80
#: Share of the way to the boundary that a step goes.
STEP_FRACTION = 0.99
#: Steps without a smaller gap after which the method has given what it can.
STALL_STEPS = 15
#: Below this a corrector's step is short enough to try a more careful one.
SHORT_STEP = 0.1
#: Columns that are made dense at a time.
COLUMNS_AT_ONCE = 64
#: The start is at least this share of its typical size away from each bound.
DISTANCE = 0.1


def dense_columns(block: Columns) -> FloatArray:
    """``X_S`` as an array of shape (n_samples, n_columns), column by column."""
    design, parts = block.as_design(), []
    for start in range(0, block.n_columns, COLUMNS_AT_ONCE):
        columns = np.arange(start, min(start + COLUMNS_AT_ONCE, block.n_columns))
        part = design.columns(columns)
        parts.append(np.column_stack([part.scores(unit) for unit in np.eye(columns.size)]))
    return np.hstack(parts) if parts else np.zeros((design.n_samples, 0))


@dataclass(frozen=True, eq=False)
class InteriorSolution:
    """The best primal and dual points of the interior-point method.

    Attributes
    ----------
    w : ndarray of shape (n_columns,)
    slopes : ndarray of shape (n_samples,)
    dual : float
        The value of the slopes on the working columns.
    """

    w: FloatArray
    slopes: FloatArray
    dual: float


def _starting_point(data: SaddleData, slopes: FloatArray, open_gap: float) -> SaddlePoint:
    """A point inside every bound, near the given slopes, whose products share the open gap."""
    v = -data.scale * slopes
    size = max(float(np.abs(v).mean()), 1e-12 * float(data.scale.mean()))
    width = data.high - data.low
    room = np.minimum(DISTANCE * size, np.where(np.isfinite(width), 0.4 * width, np.inf))
    v = np.clip(v, data.low + room, data.high - room)
    c = data.X.T @ v
    d = np.full(data.n_units, data.norm.budget / max(data.n_units, 1))
    level = 0.5 * float(data.unit_sums(c * c).mean()) if data.n_units else 0.0
    misfit = data.gradient(v) + data.X @ (data.spread(d, 1.0) * c)
    x = np.concatenate([data.distances(v), d, 1.0 - d])
    z = DISTANCE * open_gap / max(x.size, 1) / x
    box = np.concatenate([misfit[data.has_low], -misfit[data.has_high]])
    z[: data.n_box] = np.maximum(z[: data.n_box], box)
    return SaddlePoint(v, x, z, level)


def _newton_step(data: SaddleData, point: SaddlePoint) -> SaddlePoint | None:
    """One predictor-corrector step; None if it cannot move."""
    newton = SaddleNewton(data, point)
    affine = newton.step(0.0)
    reach = point.longest_step(affine)
    predicted = point.moved(affine, reach)
    n_pairs = max(point.x.size, 1)
    mu = float(point.x @ point.z) / n_pairs
    centring = (max(float(predicted.x @ predicted.z), 0.0) / (max(mu, 1e-300) * n_pairs)) ** 3
    target = min(1.0, centring) * mu
    step = newton.step(target, ahead=affine)
    size = point.longest_step(step)
    if size < SHORT_STEP:
        # Second-order terms of a direction that can hardly be followed mislead.
        careful = newton.step(max(target, 0.1 * mu), ahead=affine, weight=reach * reach)
        careful_size = point.longest_step(careful)
        if careful_size > size:
            step, size = careful, careful_size
    size = STEP_FRACTION * size if point.x.size else 1.0
    moved = point.moved(step, size)
    if size < 1e-10 or not np.all(np.isfinite(moved.v)):
        return None
    return moved


def solve_interior(
    problem: LossProblem,
    norm: BudgetNorm,
    X: FloatArray,
    slopes: FloatArray,
    tol: float,
    start: float = 1.0,
    is_late: Callable[[], bool] = lambda: False,
) -> InteriorSolution:
    """Solve the restricted problem to the relative gap ``tol``, if rounding allows it.

    Parameters
    ----------
    problem : LossProblem
        With a smooth loss.
    norm : BudgetNorm
        On the working columns.
    X : ndarray of shape (n_samples, n_columns)
        The working columns.
    slopes : ndarray of shape (n_samples,)
        A dual point to start near.
    tol : float
    start : float
        How much of the open gap the products ``x z`` of the start share.
    is_late : callable
        Whether the time is over, asked after each step.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the Newton system cannot be factorised in the first step.
    """
    data, best = SaddleData(problem, norm, X), _Best(problem, norm, X)
    strength = norm.dual_squared(X.T @ problem.pull(slopes))
    open_gap = problem.risk(np.zeros(problem.y.size)) - problem.best_multiple(slopes, strength)[1]
    point, n_idle = _starting_point(data, slopes[data.rows], start * open_gap), 0
    for n_steps in range(MAX_STEPS):
        n_idle = 0 if best.update(data, point) else n_idle + 1
        if best.relative_gap <= tol or n_idle >= STALL_STEPS or is_late():
            break
        try:
            moved = _newton_step(data, point)
        except LinAlgError:
            if n_steps == 0:
                raise
            break
        if moved is None:
            break
        point = moved
    return InteriorSolution(best.w, best.slopes, best.dual)


class _Best:
    """The best primal and the best dual value over the iterates."""

    def __init__(self, problem: LossProblem, norm: BudgetNorm, X: FloatArray) -> None:
        self._problem, self._norm, self._X = problem, norm, X
        self.w, self.slopes = np.zeros(X.shape[1]), np.zeros(problem.y.size)
        self.primal, self.dual = np.inf, -np.inf

    @property
    def relative_gap(self) -> float:
        return (self.primal - self.dual) / max(self.primal, np.finfo(float).tiny)

    def update(self, data: SaddleData, point: SaddlePoint) -> bool:
        """Take the values of the point where they are better; whether the gap got smaller."""
        problem = self._problem
        before = self.primal - self.dual
        d = point.x[data.n_box : data.n_box + data.n_units]
        c = data.X.T @ point.v
        w = data.spread(d, 1.0) * c
        value = 0.5 * self._norm.value_squared(w) + problem.risk(self._X @ w)
        if value < self.primal:
            self.primal, self.w = value, w
        slopes = np.zeros(problem.y.size)
        slopes[data.rows] = data.slopes(point.v)
        slopes = problem.clipped(slopes)
        theta, value = problem.best_multiple(slopes, self._norm.dual_squared(c))
        if value > self.dual:
            self.dual, self.slopes = value, problem.clipped(theta * slopes)
        return self.primal - self.dual < 0.99 * before
