"""What a solver returns: weights, bounds, how it went, and the dual point that proves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Status(Enum):
    """Why a solver stopped; the value is the sentence for the user."""

    CONVERGED = (
        "Converged: the certified gap is within the tolerance (with a hard budget, the gaps of the "
        "relaxed problem and of the refit are)."
    )
    ZERO_MODEL = (
        "Converged to w = 0: at this C no model is better than the empty one by more than the "
        "tolerance. Raise C to at least smallest_C for a non-zero model."
    )
    EMPTY_CHOICE = (
        "Ended at w = 0: none of the choices of at most k features that were tried is better than "
        "the empty model, though the relaxed problem has features. Allow more of them."
    )
    MAX_ITER = "Stopped at max_iter before the gap reached the tolerance; raise max_iter or tol."
    MAX_TIME = "Stopped at max_time before the gap reached the tolerance; raise max_time or tol."
    CALLBACK = "Stopped by the callback before the gap reached the tolerance."
    STALLED = (
        "Stopped because no cut or column improves the bounds any further in double precision; "
        "the gap is the best that can be certified. Rescale X or raise tol."
    )

    @property
    def reached_tolerance(self) -> bool:
        """Whether the gap is within the tolerance; with a hard budget, the gaps of its parts."""
        return self in (Status.CONVERGED, Status.ZERO_MODEL, Status.EMPTY_CHOICE)


@dataclass(frozen=True)
class Progress:
    """One row of the history, and what a callback receives.

    Attributes
    ----------
    iteration : int
        Rounds so far.
    time : float
        Seconds since the start.
    primal, dual : float
        Best certified bounds so far.
    n_cuts, n_working, n_support : int
        Cuts in the master, columns in the working set, non-zero weights of the best point.
    """

    iteration: int
    time: float
    primal: float
    dual: float
    n_cuts: int
    n_working: int
    n_support: int

    @property
    def gap(self) -> float:
        """``(primal - dual) / primal``."""
        return relative_gap(self.primal, self.dual)


@dataclass(frozen=True, eq=False)
class DualPoint:
    """``alpha >= 0``, ``sum alpha <= C``, and the labellings (or rankings) it weighs.

    Attributes
    ----------
    alpha : ndarray of shape (n_cuts,)
    cuts : ndarray
        For labellings, uint8 of shape (n_cuts, ceil(n_samples / 8)): bit i of row k says whether
        labelling k flips example i. For rankings, float64 of shape (n_cuts, n_samples): delta_k.
    """

    alpha: FloatArray
    cuts: NDArray

    def delta(self, k: int, flip_values: FloatArray) -> FloatArray:
        """``delta_k`` of shape (n_samples,); ``flip_values`` is y, or ``c * y`` with weights c."""
        return unpack_delta(self.cuts[k], flip_values)

    def combined(self, flip_values: FloatArray) -> FloatArray:
        """``sum_k alpha_k delta_k``; ``flip_values`` is y, or ``c * y`` with weights c."""
        return combine_deltas(self.alpha, self.cuts, flip_values)


def pack_delta(delta: FloatArray, *, as_bits: bool) -> NDArray:
    """A cut as it is kept: one bit an example for a labelling, else the numbers."""
    return np.packbits(delta != 0) if as_bits else delta


def unpack_delta(packed: NDArray, flip_values: FloatArray) -> FloatArray:
    """The inverse of :func:`pack_delta`: ``delta_i = flip_values_i`` where a labelling flips i."""
    if packed.dtype != np.uint8:
        return packed
    return np.where(np.unpackbits(packed, count=flip_values.size), flip_values, 0.0)


def combine_deltas(alpha: FloatArray, packed: NDArray, flip_values: FloatArray) -> FloatArray:
    """``sum_k alpha_k delta_k``, one cut at a time, so that no K x n array is made."""
    if packed.dtype != np.uint8:
        return alpha @ packed
    total = np.zeros(flip_values.size)
    for weight, bits in zip(alpha, packed, strict=True):
        if weight > 0.0:
            total += weight * np.unpackbits(bits, count=flip_values.size)
    return total * flip_values


def relative_gap(primal: float, dual: float) -> float:
    """``(primal - dual) / primal``; the primal is positive unless the data are degenerate."""
    return (primal - dual) / primal if primal > 0 else 0.0


def split_intercept(w: FloatArray, intercept: float) -> tuple[FloatArray, float]:
    """Weights of the features, and the weight of the constant last column times its value."""
    return (w[:-1], float(w[-1] * intercept)) if intercept > 0 else (w, 0.0)


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
    status : Status
        Its value is the sentence for the user.
    n_iter : int
        Rounds, that is solved master problems.
    history : list of Progress
    dual_point : DualPoint, or LossDualPoint of a general loss
        Proves ``dual``; :func:`scoresieve.certify` recomputes the bounds from it.
    timings : dict of str to float
        Seconds by part of the solver.
    n_fallbacks : int
        How many master problems the conic solver had to take over.
    smallest_C : float or None
        Only with ``Status.ZERO_MODEL``: the smallest C, to about 10 %, at which a fit to the same
        tolerance has features; inf if none has, None if it was not found in time or not looked for.
    l0_gap : float or None
        Only with a hard budget of k: ``(primal - dual) / primal``, where ``primal`` is the l2
        objective of this model and ``dual`` bounds that of every model with at most k features.
    """

    w: FloatArray
    intercept: float
    support: NDArray[np.int64]
    primal: float
    dual: float
    gap: float
    status: Status
    n_iter: int
    history: list[Progress]
    dual_point: Any
    timings: dict[str, float] = field(default_factory=dict)
    n_fallbacks: int = 0
    smallest_C: float | None = None
    l0_gap: float | None = None
