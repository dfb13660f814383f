"""The limits of a run: gap, rounds, seconds, threads; why it stopped, and its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from time import perf_counter

import numpy as np
from threadpoolctl import ThreadpoolController  # scikit-learn requires it

from scoresieve._checks import check_count, check_positive, check_tol
from scoresieve.risks import DualPoint


class Status(Enum):
    """Why a solver stopped; the value is the sentence for the user."""

    CONVERGED = (
        "Converged: the certified gap is within the tolerance (with a hard budget, the gaps of the "
        "relaxed problem and of the refit are)."
    )
    ZERO_MODEL = (
        "Converged to w = 0: at this C no model has a lower objective than the empty one by more "
        "than the tolerance. From smallest_C on one has, if that is finite."
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


def relative_gap(primal: float, dual: float) -> float:
    """``(primal - dual) / primal``; the primal is positive unless the data are degenerate."""
    return (primal - dual) / primal if primal > 0 else 0.0


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


class Deadline:
    """The moment after which no further round begins; never, without a number of seconds.

    It may be pickled: ``perf_counter`` is one clock for all processes of a machine, so that the
    moment is the same for the jobs of a parallel fit, however late they begin.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = np.inf if seconds is None else perf_counter() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the moment has passed."""
        return perf_counter() >= self._end

    @property
    def left(self) -> float:
        """Seconds until the moment, at least 0."""
        return max(0.0, self._end - perf_counter())

    def within(self, seconds: float) -> Deadline:
        """The earlier of two deadlines, the other that number of seconds from now."""
        return Deadline(min(self.left, seconds))


@dataclass(frozen=True)
class Limits:
    """When a solver stops: relative gap, rounds, seconds, or a callback that returns True.

    A round that has begun is ended, so that a fit whose time is over makes one round.

    Attributes
    ----------
    max_time : float or None
        Seconds from when the run begins.
    callback : callable or None
        Called after each round; once it has returned True no further run begins.
    find_smallest_C : bool
        Whether a fit without features goes on to search for the smallest C with features, which
        takes several fits. Searches over many settings have no use for it.
    thorough : bool
        Whether searches for k units go on where a problem is so small that all pairs can be tried.
        Comparisons of many settings on held-out rows gain nothing from it.
    deadline : Deadline or None
        The common deadline, if the run is part of a larger fit; it replaces ``max_time``.
    enough : callable or None
        Whether a run has reached the aim of its caller before its gap is within ``tol``.
    is_stopped : bool
        Whether the callback has stopped an earlier run of the same fit. Then it is not called
        again, and a run makes one round.
    """

    tol: float
    max_iter: int
    max_time: float | None = None
    callback: Callable[[Progress], object] | None = None
    find_smallest_C: bool = True
    thorough: bool = True
    deadline: Deadline | None = None
    enough: Callable[[Progress], bool] | None = None
    is_stopped: bool = False

    def __post_init__(self) -> None:
        check_tol(self.tol)
        check_count(self.max_iter, "max_iter")
        if self.max_time is not None:
            check_positive(self.max_time, "max_time")
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be a function or None; got {self.callback!r}.")

    def begun(self) -> Limits:
        """The limits of several runs whose common time begins now, if it has not begun before."""
        return replace(self, deadline=self.deadline or Deadline(self.max_time))

    @property
    def time_is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and self.deadline.is_over


class Clock:
    """Seconds since the start, and seconds by part."""

    def __init__(self) -> None:
        self._start = perf_counter()
        self.parts: dict[str, float] = {}

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return perf_counter() - self._start

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time of the block under ``name``."""
        start = perf_counter()
        try:
            yield
        finally:
            self.parts[name] = self.parts.get(name, 0.0) + perf_counter() - start


class Tracker:
    """The best certified bounds, the history, and the reason to stop.

    Parameters
    ----------
    dual_point : DualPoint
        Proof of the first lower bound: the optimum is not negative.

    Attributes
    ----------
    is_stopped : bool
        Whether the callback has asked to stop.
    """

    def __init__(self, limits: Limits, dual_point: DualPoint) -> None:
        self.limits, self.clock = limits, Clock()
        self.deadline = limits.deadline or Deadline(limits.max_time)
        self.history: list[Progress] = []
        self.primal, self.dual = np.inf, 0.0
        self.dual_point = dual_point
        self.n_fallbacks = 0
        self.is_stopped = limits.is_stopped

    @property
    def gap(self) -> float:
        """Relative gap of the best bounds."""
        return relative_gap(self.primal, self.dual)

    def lower_bound(self, value: float, point: Callable[[], DualPoint]) -> None:
        """Take a certified lower bound if it is the best; ``point`` gives what proves it."""
        if value > self.dual:
            self.dual, self.dual_point = value, point()

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
        if limits.callback is not None and not self.is_stopped:
            self.is_stopped = _is_true(limits.callback(row))
        if self.gap <= limits.tol or (limits.enough is not None and limits.enough(row)):
            return Status.CONVERGED
        if self.is_stopped:
            return Status.CALLBACK
        if self.deadline.is_over:
            return Status.MAX_TIME
        return Status.MAX_ITER if row.iteration >= limits.max_iter else None


def _is_true(answer: object) -> bool:
    """Whether a callback asks to stop: only by True, not by another number that it may return."""
    return isinstance(answer, bool | np.bool_) and bool(answer)


@cache
def _controller() -> ThreadpoolController:
    """Looks for the loaded BLAS libraries once: that takes milliseconds, a limit microseconds."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """A context with one BLAS thread; the caller's number is restored at its end.

    The master's matrices are small (a few hundred rows), so threads gain nothing, and on a busy
    machine waiting for each other made fits thirty times as slow. It also makes the result
    independent of the number of threads.
    """
    return _controller().limit(limits=1, user_api="blas")
