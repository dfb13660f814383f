"""What a solver returns: weights, bounds, how it went, and the dual point that proves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.risks import DualPoint
from scoresieve.solvers.limits import Progress, Status


@dataclass(frozen=True, eq=False)
class SolveResult:
    """A fitted model with its certificate.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
        Weights; ``scores = X @ w + intercept``.
    intercept : float
        The weight of the constant column times its value; 0 without one.
    support : ndarray of int
        Sorted numbers of the columns with a non-zero weight.
    primal, dual : float
        ``J(w)`` and the best lower bound of ``min J``.
    gap : float
        ``(primal - dual) / primal``.
    l0_gap : float
        With a hard budget of k the same number, where ``primal`` is the l2 objective of this model
        and ``dual`` bounds that of every model with at most k features; NaN without one.
    status : Status
        Its value is the sentence for the user.
    n_iter : int
        Rounds.
    dual_point : DualPoint
        Proves ``dual``; :func:`scoresieve.certify` recomputes the bounds from it.
    refit_gap : float
        With a hard budget: by how much other weights of the same features could lower ``primal``,
        as a share of it, at most; NaN without one.
    price : float
        Of a false alarm in the risk of a measure; NaN for a loss.
    timings : dict of str to float
        Seconds by part of the solver.
    n_fallbacks : int
        How many master problems the conic solver had to take over.
    smallest_C : float or None
        Only with ``Status.ZERO_MODEL``: the smallest C, to about 10 %, at which a fit to the same
        tolerance has features; inf if none has, None if it was not found in time or not looked for.
    """

    w: FloatArray
    intercept: float
    support: IntArray
    primal: float
    dual: float
    gap: float
    status: Status
    n_iter: int
    history: list[Progress]
    dual_point: DualPoint
    l0_gap: float = nan
    refit_gap: float = nan
    price: float = nan
    timings: dict[str, float] = field(default_factory=dict)
    n_fallbacks: int = 0
    smallest_C: float | None = None
