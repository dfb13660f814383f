"""Primal, dual and gap recomputed from (X, y, w, dual point) alone, without any solver's state.

    J(w) = 1/2 ||w||_B^2 + C R(X w)
    D    = gain - 1/2 ||X^T v||_(B)^2 ,    with gain and v as the dual point stands for them; (6)

Weak duality, ``D <= min J <= J(w)``, holds for every w and every dual point, so that whoever trusts
this page, the risk's ``checked_dual`` and the data need not trust the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from scoresieve._arrays import FloatArray
from scoresieve.risks import DualPoint
from scoresieve.solvers.limits import relative_gap
from scoresieve.solvers.problem import PriceIs, Problem, ProblemArguments, make_problem


@dataclass(frozen=True)
class Certificate:
    """``dual <= min J <= primal``.

    Attributes
    ----------
    primal : float
        ``J(w)``.
    dual : float
        Lower bound of ``min J``. It also bounds the objective of every model with at most
        ``budget`` features and the plain l2 norm.
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
    dual_point: DualPoint | None,
    *,
    intercept: float = 0.0,
    **arguments: Unpack[ProblemArguments],
) -> Certificate:
    """Recompute primal, dual and gap in float64 from the data.

    Parameters
    ----------
    X, y
        The data of the fit.
    w : array-like of shape (problem.n_features,)
        Weights.
    dual_point : DualPoint
        ``SolveResult.dual_point``. It is checked, and its value is recomputed.
    intercept : float
        The fitted one, ``SolveResult.intercept``.
    **arguments
        ``measure`` or ``loss``, ``budget``, ``C``, and as far as they were given ``bound``,
        ``intercept_scaling``, ``always_features``, ``excluded_features``, ``feature_groups`` and
        ``sample_weight``, as for :func:`scoresieve.solve`. ``price`` is the number that was used,
        ``SolveResult.price``; the budget of a fit with k features is k.

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        If the dual point is not feasible, if it holds an invalid labelling, ranking or slope, or if
        the price is ``"auto"``.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve import certify, solve
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> y = np.where(X[:, 0] > 0.8, 1, -1)
    >>> result = solve(X, y, measure="f1", budget=3, C=1.0)
    >>> problem = {"measure": "f1", "price": result.price, "budget": 3, "C": 1.0}
    >>> check = certify(X, y, result.w, result.dual_point, **problem)
    >>> abs(check.primal - result.primal) < 1e-9 and abs(check.dual - result.dual) < 1e-9
    True
    """
    if dual_point is None:
        raise ValueError(
            "there is no dual point to check: the model was saved without its certificate; use "
            "save(path, with_certificate=True)."
        )
    problem = make_problem(X, y, **arguments)
    if problem.price_is is PriceIs.OPEN:
        raise ValueError(
            "price='auto' cannot be certified: a certificate holds for one price. Pass that of the "
            "fit, SolveResult.price or price_."
        )
    weights = _all_weights(problem, w, intercept)
    support = np.flatnonzero(weights)
    scores = problem.design.scores(weights[support], support)
    primal = problem.objective(weights, scores)
    gain, v = problem.risk.checked_dual(dual_point, problem.C)
    dual = problem.dual_value(gain, problem.design.correlate(v))
    return Certificate(primal, dual, relative_gap(primal, dual))


def _all_weights(problem: Problem, w: ArrayLike, intercept: float) -> FloatArray:
    """``w`` with the weight of the constant column at the end, if there is one; checked."""
    w = np.asarray(w, dtype=np.float64)
    if w.shape != (problem.n_features,):
        raise ValueError(
            f"w has shape {w.shape}; X has {problem.n_features} columns. Pass a weight for each."
        )
    if not np.all(np.isfinite(w)) or not np.isfinite(intercept):
        raise ValueError(
            "w or intercept contains NaN or infinity; the objective has no value there."
        )
    if not problem.constant and intercept != 0.0:
        raise ValueError(
            f"intercept={intercept} needs the value of its constant column: pass the "
            "intercept_scaling of the fit."
        )
    return problem.joined(w, intercept)
