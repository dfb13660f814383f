"""Primal, dual and gap of a general loss, recomputed from (X, y, w, u) without any solver's state.

    J(w) = 1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)
    D(u) = -C sum_i c_i l*(y_i, u_i) - 1/2 ||X^T v||_(B)^2 ,     v_i = -C c_i u_i

Weak duality, ``D(u) <= min J <= J(w)``, holds for every w and all slopes u.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoresieve.certificate import Certificate, all_weights
from scoresieve.losses import Loss
from scoresieve.solvers.loss_problem import LossDualPoint, LossProblem, make_loss_problem
from scoresieve.solvers.result import relative_gap

#: How far, relative to its range, a slope may lie outside by rounding; it is moved inside.
ROUNDING = 1e-9


def certify_loss(
    X: Any,
    y: ArrayLike,
    w: ArrayLike,
    dual_point: LossDualPoint,
    *,
    loss: str | Loss,
    budget: int,
    C: float,
    intercept: float = 0.0,
    bias: float = 0.0,
    always: ArrayLike | None = None,
    excluded: ArrayLike | None = None,
    feature_groups: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Certificate:
    """Recompute primal, dual and gap in float64 from the data.

    Parameters
    ----------
    X, y, loss, budget, C, intercept, always, excluded, feature_groups, sample_weight
        As for ``solve_loss``.
    w : array-like of shape (n_features,)
        Weights.
    dual_point : LossDualPoint
        ``SolveResult.dual_point``. Its slopes are checked to be in the domain of the conjugate.
    bias : float
        The fitted intercept (``SolveResult.intercept``), if ``intercept > 0``.

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        If the dual point holds what is no slope of the loss.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.loss_certificate import certify_loss
    >>> from scoresieve.solvers.loss_api import solve_loss
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> y = np.where(X[:, 0] > 0.8, 1, -1)
    >>> result = solve_loss(X, y, loss="logistic", budget=3)
    >>> check = certify_loss(X, y, result.w, result.dual_point, loss="logistic", budget=3, C=1.0)
    >>> abs(check.primal - result.primal) < 1e-9 and abs(check.dual - result.dual) < 1e-9
    True
    """
    problem = make_loss_problem(
        X,
        y,
        loss=loss,
        budget=budget,
        C=C,
        intercept=intercept,
        always=always,
        excluded=excluded,
        feature_groups=feature_groups,
        sample_weight=sample_weight,
    )
    design, norm = problem.design, problem.norm
    weights = all_weights(w, bias, intercept, design.n_columns)
    support = np.flatnonzero(weights)
    primal = 0.5 * norm.value_squared(weights)
    primal += problem.risk(design.scores(weights[support], support))
    slopes = _checked_slopes(dual_point, problem)
    strength = norm.dual_squared(design.correlate(problem.pull(slopes)))
    dual = problem.gain(slopes) - 0.5 * strength
    return Certificate(primal, dual, relative_gap(primal, dual))


def _checked_slopes(dual_point: LossDualPoint, problem: LossProblem) -> np.ndarray:
    """The slopes, in the domain of the conjugate to the last digit."""
    slopes = np.asarray(dual_point.slopes, dtype=np.float64)
    if slopes.shape != problem.y.shape:
        raise ValueError(
            f"dual_point.slopes has shape {slopes.shape}; there are {problem.y.size} rows."
        )
    low, high = problem.loss.slope_range(problem.y)
    margin = ROUNDING * np.maximum(1.0, np.abs(slopes))
    fine = np.isfinite(slopes) & (slopes >= low - margin) & (slopes <= high + margin)
    wrong = np.flatnonzero(~fine)
    if wrong.size:
        i = wrong[0]
        raise ValueError(
            f"dual_point.slopes[{i}] is {slopes[i]:g}, but slopes of the {problem.loss.name} loss "
            f"there lie between {low[i]:g} and {high[i]:g}."
        )
    return np.clip(slopes, low, high)
