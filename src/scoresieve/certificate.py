"""Primal, dual and gap recomputed from (X, y, w, alpha) alone, without any solver's state.

    J(w)     = 1/2 ||w||_B^2 + C R(X w)
    D(alpha) = <q, alpha> - 1/2 ||X^T sum_k alpha_k delta_k||_(B)^2 ,   alpha >= 0, sum alpha <= C

Weak duality, ``D(alpha) <= min J <= J(w)``, holds for every such w and alpha, so that whoever
trusts this page and the data need not trust the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoresieve.measures import Measure
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.result import DualPoint, relative_gap


@dataclass(frozen=True)
class Certificate:
    """``dual <= min J <= primal``.

    Attributes
    ----------
    primal : float
        ``J(w)``.
    dual : float
        ``D(alpha)``. It also bounds the objective of every model with at most ``budget`` features
        and the plain l2 norm.
    gap : float
        ``(primal - dual) / primal``.
    """

    primal: float
    dual: float
    gap: float


def certify(
    X: Any,
    y: ArrayLike,
    w: ArrayLike,
    dual_point: DualPoint,
    *,
    measure: str | Measure,
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
    X, y, measure, budget, C, intercept, always, excluded, feature_groups, sample_weight
        As for :func:`scoresieve.solve`.
    w : array-like of shape (n_features,)
        Weights.
    dual_point : DualPoint
        ``SolveResult.dual_point``. Each of its labellings (or rankings) is checked to be
        admissible, and its loss is recomputed.
    bias : float
        The fitted intercept (``SolveResult.intercept``), if ``intercept > 0``.

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        If the dual point is not feasible or holds what is no labelling.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve import certify, solve
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> y = np.where(X[:, 0] > 0.8, 1, -1)
    >>> result = solve(X, y, measure="f1", budget=3)
    >>> check = certify(X, y, result.w, result.dual_point, measure="f1", budget=3, C=1.0)
    >>> abs(check.primal - result.primal) < 1e-9 and abs(check.dual - result.dual) < 1e-9
    True
    """
    problem = make_problem(
        X,
        y,
        measure=measure,
        budget=budget,
        C=C,
        intercept=intercept,
        always=always,
        excluded=excluded,
        feature_groups=feature_groups,
        sample_weight=sample_weight,
    )
    design, norm, y = problem.design, problem.norm, problem.y
    weights = all_weights(w, bias, intercept, design.n_columns)
    support = np.flatnonzero(weights)
    scores = design.scores(weights[support], support)
    primal = 0.5 * norm.value_squared(weights) + problem.C * problem.measure.risk(y, scores)
    gain = _gain(dual_point, problem)
    correlations = design.correlate(dual_point.combined(problem.flip_values))
    dual = gain - 0.5 * norm.dual_squared(correlations)
    return Certificate(primal, dual, relative_gap(primal, dual))


def all_weights(w: ArrayLike, bias: float, intercept: float, n_columns: int) -> np.ndarray:
    """``w`` with the weight of the constant column at the end, if there is one."""
    w = np.asarray(w, dtype=np.float64)
    n_features = n_columns - (intercept > 0)
    if w.shape != (n_features,):
        raise ValueError(f"w has shape {w.shape}; X has {n_features} columns.")
    if not np.all(np.isfinite(w)) or not np.isfinite(bias):
        raise ValueError("w or bias contains NaN or infinity; the objective has no value there.")
    if intercept > 0:
        return np.append(w, bias / intercept)
    if bias != 0.0:
        raise ValueError(f"bias={bias} needs the value of the constant column: pass intercept.")
    return w


def _gain(dual_point: DualPoint, problem: Problem) -> float:
    """``<q, alpha>`` with each loss recomputed from its labelling, for a feasible alpha."""
    y, C, flips = problem.y, problem.C, problem.flip_values
    alpha, cuts = np.asarray(dual_point.alpha), np.asarray(dual_point.cuts)
    width = -(-y.size // 8) if cuts.dtype == np.uint8 else y.size
    if (
        alpha.ndim != 1
        or cuts.ndim != 2
        or len(cuts) != alpha.size
        or (alpha.size and cuts.shape[1] != width)
    ):
        raise ValueError(
            f"dual_point.alpha has shape {alpha.shape} and dual_point.cuts {cuts.shape}; for "
            f"{y.size} rows they must be (K,) and (K, {width})."
        )
    if not np.all(alpha >= 0) or not alpha.sum() <= C * (1 + 1e-9):
        raise ValueError(
            f"dual_point.alpha must be non-negative and sum to at most C={C:g}; it has the minimum "
            f"{alpha.min():g} and the sum {alpha.sum():g}."
        )
    deltas = (dual_point.delta(k, flips) for k in range(alpha.size))
    return float(np.dot([problem.measure.cut_loss(y, delta) for delta in deltas], alpha))
