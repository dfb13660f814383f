"""General losses for the bundle: a sum of losses as a risk with cuts, and back to slopes.

    R(s) = sum_i c_i l(y_i, s_i) >= q - <delta, s> ,   delta_i = -c_i u_i ,   q = -sum_i c_i l*(u_i)

for any slopes u, with equality where ``u_i = l'(y_i, s_i)``. So every convex loss gives the bundle
its cuts. A combination of cuts has slopes, too: ``u_i = -sum_k alpha_k delta_ki / (C c_i)``, and
the conjugate at u bounds at least as well as the cuts did.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scoresieve.losses import Loss
from scoresieve.measures import Cut, Measure, get_measure
from scoresieve.solvers.api import solve_problem
from scoresieve.solvers.loss_problem import LossDualPoint, LossProblem
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.result import SolveResult, Status, relative_gap
from scoresieve.solvers.tracker import Limits

FloatArray = NDArray[np.float64]


class LossRisk(Measure):
    """``R(s) = sum_i c_i l(t_i, s_i)``: a loss as the bundle sees a measure.

    Conventions
    -----------
    * It belongs to the data whose targets and weights it holds: the labels that the methods are
      given are not used, and scores must have their length.
    * Cuts are kept as numbers. Their ``loss`` may be negative, that of the first one, at scores of
      0, is not.

    Parameters
    ----------
    loss : Loss
    targets, weights : ndarray of shape (n_samples,)
    """

    flips_examples = False

    def __init__(self, loss: Loss, targets: FloatArray, weights: FloatArray) -> None:
        self._loss, self._targets, self._weights = loss, targets, weights

    @property
    def name(self) -> str:
        """The name of the loss."""
        return self._loss.name

    def unit(self, y: FloatArray) -> float:
        """``sum_i c_i``, the total weight."""
        return float(self._weights.sum())

    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """``1 - R(s) / R(0)``, or 0 where that is negative: the share of the loss that is saved."""
        empty = self.risk(y, np.zeros_like(scores))
        return max(0.0, 1.0 - self.risk(y, scores) / empty) if empty > 0.0 else 1.0

    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """The tangent of R at the scores.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Not used.
        scores : ndarray of shape (n_samples,)
        """
        slopes = self._loss.derivative(self._targets, scores)
        return Cut(-self._weights * slopes, self._gain(slopes))

    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``-sum_i c_i l*(t_i, -delta_i / c_i)``; ValueError where that is no slope."""
        present = self._weights > 0.0
        slopes = np.zeros_like(delta)
        slopes[present] = -delta[present] / self._weights[present]
        loss = self._gain(slopes)
        if not np.isfinite(loss) or np.any(delta[~present]):
            raise ValueError(f"delta is not made of slopes of the {self.name} loss.")
        return loss

    def _gain(self, slopes: FloatArray) -> float:
        return -float(self._weights @ self._loss.conjugate(self._targets, slopes))


def bundle_problem(problem: LossProblem) -> Problem:
    """The same problem for the bundle.

    For the hinge the risk is that of the measure "accuracy", whose cuts take one bit an example.
    Otherwise the labels say on which side of the median a target lies: the bundle only chooses its
    first columns by them.
    """
    if problem.loss.name == "hinge":
        measure, y = get_measure("accuracy"), problem.y
        if np.any(problem.weights != 1.0):
            measure = measure.weighted(problem.weights)
    else:
        measure = LossRisk(problem.loss, problem.y, problem.weights)
        y = np.where(problem.y > np.median(problem.y), 1.0, -1.0)
    return Problem(problem.design, y, measure, problem.norm, problem.C)


def solve_by_bundle(problem: LossProblem, limits: Limits, *, intercept: float = 0.0) -> SolveResult:
    """Run the bundle, and turn the dual point of its cuts into slopes of the loss.

    Parameters
    ----------
    problem : LossProblem
    limits : Limits
    intercept : float
        Value of the constant last column of the design; 0 if it has none.
    """
    as_cuts = bundle_problem(problem)
    result = solve_problem(as_cuts, limits, intercept=intercept)
    return in_slopes(problem, as_cuts, result, limits.tol)


def in_slopes(
    problem: LossProblem, as_cuts: Problem, result: SolveResult, tol: float
) -> SolveResult:
    """The result of the bundle with the dual point of its cuts as slopes of the loss.

    Parameters
    ----------
    problem : LossProblem
    as_cuts : Problem
        The same problem for the bundle.
    result : SolveResult
    tol : float
    """
    pull = result.dual_point.combined(as_cuts.flip_values)
    scale = problem.row_scale
    slopes = np.divide(-pull, scale, out=np.zeros_like(pull), where=scale > 0.0)
    slopes = problem.clipped(slopes)
    correlations = problem.design.correlate(problem.pull(slopes))
    bound = problem.gain(slopes) - 0.5 * problem.norm.dual_squared(correlations)
    dual = max(result.dual, bound)
    gap = relative_gap(result.primal, dual)
    status = result.status
    if gap <= tol and not status.reached_tolerance:
        status = Status.CONVERGED
    return replace(result, dual=dual, gap=gap, status=status, dual_point=LossDualPoint(slopes))
