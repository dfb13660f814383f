"""Fit each problem, confirm its certificate, and fit it again at another scale."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from scoresieve import solve
from studies.common.internals import (
    Limits,
    counted_masters,
    make_problem,
    solve_hard_budget,
)
from studies.common.progress import log
from studies.soak.numerics.confirm import Unconfirmed, confirm
from studies.soak.numerics.problems import Small, draw
from studies.soak.tally import Clock, Run, Tally

TOL, MAX_ITER = 1e-3, 1000
#: How a refusal of sound arguments begins; anything else is no clear error.
CLEAR = ("X is too large", "k=", "y has one class", "the largest", "sample_weight", "C must be")
#: A certificate with a larger gap than this says little; such ones are counted.
LITTLE = 0.5
WIDE_OPEN = f"relaxed fits with a gap above {LITTLE}"
#: Master problems for each that may be left to the conic solver.
MASTERS_PER_FALLBACK = 1000
REPORT_EVERY = 200
#: Of the processor, for one small problem; rounds are bounded, but their number says little to
#: somebody who waits.
MOST_SECONDS = 20


def run_numerics(run: Run, folder: Path) -> Tally:
    """All problems; what is written to stderr meanwhile is a failure, too."""
    tally = Tally("numerics", notes={WIDE_OPEN: 0})
    with counted_masters() as counts:
        for number in Clock(run).numbers():
            said = try_one(run.source(number), number, tally)
            if said:
                tally.fail(number, f"stderr: {said}")
            if (number + 1) % REPORT_EVERY == 0:
                log(f"numerics: {number + 1} problems, {tally.n_failures} failures")
    if counts.n_fallbacks * MASTERS_PER_FALLBACK > counts.n_solved:
        tally.fail(-1, f"{counts.n_fallbacks} fall-backs of {counts.n_solved} masters")
    tally.notes |= {"masters": counts.n_solved, "fall-backs": counts.n_fallbacks}
    return tally


def try_one(source: random.Random, number: int, tally: Tally) -> str:
    """One problem; what came on stderr."""
    small = draw(source)
    with StandardError() as said, within(MOST_SECONDS), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = fit(small)
            confirm(small, result)
            _check_end(small, result, tally)
            if source.random() < 0.3:
                _check_scale(small, result, source.choice((-300, -60, -9, -1, 1, 7, 50, 200)))
        except ValueError as error:
            if str(error).startswith(CLEAR):
                tally.count(f"refused: {' '.join(str(error).split()[:4])}")
            else:
                tally.fail(number, f"{type(error).__name__}: {error}", **described(small))
        except Exception as error:
            tally.fail(number, f"{type(error).__name__}: {error}", **described(small))
    return said.text


def fit(small: Small) -> Any:
    """By ``solve``, or with at most k features."""
    X = small.as_given()
    if small.n_selected is None:
        return solve(X, small.y, tol=TOL, max_iter=MAX_ITER, **small.arguments)
    problem = make_problem(X, small.y, **small.arguments)
    return solve_hard_budget(problem, Limits(TOL, MAX_ITER))


def _check_end(small: Small, result: Any, tally: Tally) -> None:
    """The gap is what the status says, and the rounds are bounded."""
    kind = "hard" if small.n_selected is not None else "relaxed"
    if result.n_iter > MAX_ITER + 1:
        raise Unconfirmed(f"{result.n_iter} rounds")
    if kind == "relaxed" and result.status.reached_tolerance and result.gap > TOL * (1 + 1e-9):
        raise Unconfirmed(f"{result.status.name} with a gap of {result.gap}")
    if kind == "relaxed" and result.gap > LITTLE:
        tally.notes[WIDE_OPEN] = tally.notes.get(WIDE_OPEN, 0) + 1
    tally.count(f"confirmed, {kind}: {result.status.name}")


def _check_scale(small: Small, result: Any, exponent: int) -> None:
    """X times 2^e and C times 4^-e is the same problem: the same model, down to the bits."""
    other = small.scaled(exponent)
    X, C = other.X, other.arguments["C"]
    exact = np.all(X * 2.0**-exponent == small.X) and np.all(np.abs(X[X != 0]) > 1e-290)
    if not exact or not 1e-290 < C < 1e100 or np.sum(X * X) > 1e150:
        return
    again = fit(other)
    if not np.array_equal(again.w * 2.0**exponent, result.w):
        raise Unconfirmed(
            f"times 2^{exponent}: other weights by "
            f"{np.abs(again.w * 2.0**exponent - result.w).max()} of {np.abs(result.w).max()}"
        )


def described(small: Small) -> dict[str, Any]:
    """The problem in words."""
    arguments = {name: repr(value) for name, value in small.arguments.items()}
    return {
        "shape": list(small.X.shape),
        "form": small.form,
        "traits": small.traits,
        "k": small.n_selected,
        **arguments,
    }


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """A TimeoutError in a block that computes longer; in the main thread of a process."""

    def end(*_: Any) -> None:
        raise TimeoutError(f"it takes more than {seconds} s")

    # The time of the process, so that a busy machine fails no case.
    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class StandardError:
    """Whatever reaches stderr in the block, from any library, in ``text``."""

    text = ""

    def __enter__(self) -> StandardError:
        self._file = tempfile.TemporaryFile()
        self._kept = os.dup(2)
        os.dup2(self._file.fileno(), 2)
        return self

    def __exit__(self, *_: Any) -> None:
        os.dup2(self._kept, 2)
        os.close(self._kept)
        self._file.seek(0)
        self.text = self._file.read().decode(errors="replace")
        self._file.close()
