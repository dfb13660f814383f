"""What the cases of a program came to, and the clock that ends it."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

#: Failures that are kept in words; all are counted.
MOST_KEPT = 50


@dataclass(frozen=True)
class Run:
    """Which cases to do: numbers from ``first`` on, of a seed, until the seconds are over."""

    cases: int
    seed: int = 0
    seconds: float = float("inf")
    first: int = 0

    def source(self, number: int) -> random.Random:
        """The random numbers of one case."""
        return random.Random(f"{self.seed}:{number}")


@dataclass
class Tally:
    """Counts by outcome, and failures with the numbers of their cases."""

    program: str
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)
    n_failures: int = 0
    notes: dict[str, Any] = field(default_factory=dict)

    def count(self, outcome: str) -> None:
        """One more case with this outcome."""
        self.outcomes[outcome] += 1

    def fail(self, case: int, what: str, **details: Any) -> None:
        """One more case that did what must not happen."""
        self.outcomes["FAILED"] += 1
        self.n_failures += 1
        if len(self.failures) < MOST_KEPT:
            self.failures.append({"case": case, "what": what[:500], **details})

    def add(self, other: Tally) -> None:
        """Take over what another process has counted."""
        self.outcomes.update(other.outcomes)
        self.n_failures += other.n_failures
        self.failures += other.failures[: MOST_KEPT - len(self.failures)]

    def line(self, run: Run, seconds: float) -> dict[str, Any]:
        """The result of a run as plain data."""
        return {
            "program": self.program,
            "seed": run.seed,
            "cases": sum(self.outcomes.values()),
            "outcomes": dict(sorted(self.outcomes.items())),
            "failures": self.n_failures,
            "kept": self.failures,
            "notes": self.notes,
            "seconds": round(seconds),
        }


class Clock:
    """The seconds that are left of a run."""

    def __init__(self, run: Run) -> None:
        self._run, self._begin = run, time.monotonic()

    def spent(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._begin

    def numbers(self) -> Iterator[int]:
        """The cases, until the seconds are over."""
        for number in range(self._run.first, self._run.first + self._run.cases):
            if self.spent() > self._run.seconds:
                return
            yield number
