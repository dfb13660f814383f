"""Keeps the bounds and the history of a run, and says when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoresieve._checks import check_count, check_positive
from scoresieve.solvers.problem import Clock
from scoresieve.solvers.result import (
    DualPoint,
    Progress,
    SolveResult,
    Status,
    relative_gap,
    split_intercept,
)

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """When a solver stops: relative gap, rounds, seconds, or a callback that returns True.

    With ``find_smallest_C`` a fit without features goes on to look for the C that gives some, which
    takes several fits; what tries many settings anyway has no use for it.
    """

    tol: float
    max_iter: int
    max_time: float | None = None
    callback: Callable[[Progress], object] | None = None
    find_smallest_C: bool = True

    def __post_init__(self) -> None:
        check_positive(self.tol, "tol")
        check_count(self.max_iter, "max_iter")
        if self.max_time is not None:
            check_positive(self.max_time, "max_time")
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be a function or None; got {self.callback!r}.")


class Tracker:
    """The best certified bounds, the history, and the reason to stop.

    Parameters
    ----------
    limits : Limits
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.clock = Clock()
        self.history: list[Progress] = []
        self.primal, self.dual = np.inf, 0.0  # alpha = 0 proves that min J >= 0
        self.dual_point = DualPoint(np.zeros(0), np.zeros((0, 0), dtype=np.uint8))
        self.n_fallbacks = 0

    @property
    def gap(self) -> float:
        """Relative gap of the best bounds."""
        return relative_gap(self.primal, self.dual)

    def lower_bound(self, value: float, point: Callable[[], DualPoint]) -> None:
        """Take a certified lower bound if it is the best; ``point`` gives what proves it."""
        if value > self.dual:
            self.dual, self.dual_point = value, point()

    def result(
        self,
        w: FloatArray,
        primal: float,
        status: Status,
        *,
        intercept: float,
        smallest_C: float | None = None,
        l0_gap: float | None = None,
    ) -> SolveResult:
        """What the run found, with the best lower bound and all that was recorded.

        Parameters
        ----------
        w : ndarray of shape (n_columns of the design,)
        primal : float
            Objective of w.
        status : Status
        intercept : float
            Value of the constant last column of the design; 0 if it has none.
        smallest_C, l0_gap : float, optional
            See :class:`SolveResult`.
        """
        w, bias = split_intercept(w, intercept)
        return SolveResult(
            w=w,
            intercept=bias,
            support=np.flatnonzero(w),
            primal=primal,
            dual=self.dual,
            gap=relative_gap(primal, self.dual),
            status=status,
            n_iter=len(self.history),
            history=self.history,
            dual_point=self.dual_point,
            timings=dict(self.clock.parts),
            n_fallbacks=self.n_fallbacks,
            smallest_C=smallest_C,
            l0_gap=l0_gap,
        )

    def record(self, *, n_cuts: int, n_working: int, n_support: int) -> Status | None:
        """Write one row of the history; the reason to stop, or None."""
        limits = self.limits
        row = Progress(
            iteration=len(self.history) + 1,
            time=self.clock.elapsed,
            primal=self.primal,
            dual=self.dual,
            n_cuts=n_cuts,
            n_working=n_working,
            n_support=n_support,
        )
        self.history.append(row)
        stop = limits.callback is not None and limits.callback(row) is True
        if self.gap <= limits.tol:
            return Status.CONVERGED
        if stop:
            return Status.CALLBACK
        if limits.max_time is not None and row.time >= limits.max_time:
            return Status.MAX_TIME
        return Status.MAX_ITER if row.iteration >= limits.max_iter else None
