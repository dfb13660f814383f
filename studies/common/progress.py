"""Progress and the time left, on stderr."""

from __future__ import annotations

import sys
from time import perf_counter

#: Share of the given costs in the estimate, as seconds of work, until units have been timed.
PRIOR_SECONDS = 5.0


def log(text: str) -> None:
    """One line on stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


class Progress:
    """``time left = (cost left) * (seconds so far + prior) / (cost done + prior)``.

    Parameters
    ----------
    name : str
        Of the experiment.
    costs : list of float
        Expected seconds of the units to be done, on one core.
    jobs : int
        Units done at a time.
    n_stored : int
        Units that an earlier run has done.
    """

    def __init__(self, name: str, costs: list[float], jobs: int, n_stored: int = 0) -> None:
        self.name, self.jobs = name, jobs
        self.n_units, self.n_done = len(costs), 0
        self.cost_left, self.cost_done = sum(costs), 0.0
        self.begin = perf_counter()
        stored = f", {n_stored} stored before" if n_stored else ""
        log(f"{name}: {len(costs)} units{stored}, about {duration(self.seconds_left())}")

    def seconds_left(self) -> float:
        """The estimate from what the units so far took."""
        prior = PRIOR_SECONDS * self.jobs
        spent = (perf_counter() - self.begin) * self.jobs
        pace = (spent + prior) / (self.cost_done + prior)
        return self.cost_left * pace / self.jobs

    def step(self, cost: float, text: str, seconds: float) -> None:
        """Report that a unit is done.

        Parameters
        ----------
        cost : float
            What had been expected.
        text : str
            What the unit was.
        seconds : float
            What it took.
        """
        self.n_done += 1
        self.cost_left -= cost
        self.cost_done += cost
        left = duration(self.seconds_left())
        log(f"{self.name} {self.n_done}/{self.n_units}: {text}, {seconds:.1f} s; {left} left")


def duration(seconds: float) -> str:
    """``75`` as "1 min 15 s"."""
    seconds = round(max(0.0, seconds))
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60} s"
