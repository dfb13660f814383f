"""The path of a direct search: one unit after the other, all weights set anew after each.

1. The units that promise most, see :mod:`scoresieve.solvers.direct.screening`.
2. Exact line searches along them; the best enters. Where none raises the measure, along lines that
   move the intercept, too.
3. Line searches along all weights, again and again, until none raises the measure.

It starts without units and without alarms. It ends early where no line raises the measure, so that
the model may have fewer than k units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.measures import Measure
from scoresieve.risks import LossRisk
from scoresieve.solvers.direct.line_search import LEAST_GAIN, best_steps
from scoresieve.solvers.direct.screening import Candidates, Screening
from scoresieve.solvers.direct.target import Target
from scoresieve.solvers.limits import Deadline
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.splicing.fetched import FetchedColumns
from scoresieve.solvers.splicing.refits import columns_of_units

#: Rounds over all weights after each unit, at most.
MAX_ROUNDS = 20


class DirectModel(NamedTuple):
    """Weights of all columns of the design, and the measure of the training rows."""

    w: FloatArray
    value: float


def direct_path(
    problem: Problem,
    measure: Measure,
    ks: Sequence[int],
    deadline: Deadline | None = None,
    fetched: FetchedColumns | None = None,
) -> list[DirectModel]:
    """The models with at most k units, for ascending k; each has the units of the one before.

    Parameters
    ----------
    problem : Problem
        For its design, with a constant column, its units, and its rows: the risk of a loss.
    measure : Measure
        What is raised, or what a :func:`table_measure` stands in for.
    deadline : Deadline, optional
        After it no unit enters.
    """
    assert problem.constant > 0.0
    search = DirectSearch(problem, measure, fetched or FetchedColumns(problem.design))
    found = []
    for k in ks:
        while search.n_units < k and not (deadline and deadline.is_over):
            if not search.enter():
                break
        found.append(search.model())
    return found


class DirectSearch:
    """A model that grows by the unit that raises the measure most."""

    def __init__(self, problem: Problem, measure: Measure, fetched: FetchedColumns) -> None:
        risk = problem.risk
        assert isinstance(risk, LossRisk)
        self._problem, self._target = problem, Target.of_rows(measure, risk.y, risk.row_weights)
        self._fetched = fetched
        self._screening = Screening(problem, self._target, fetched)
        self._units = np.zeros(0, dtype=np.int64)
        self._columns = columns_of_units(problem.norm, self._units)
        self._entries = fetched.block(self._columns).entries()
        self._w = np.where(self._columns == problem.n_features, -1.0 / problem.constant, 0.0)
        self._alarms = self._target.alarms(np.full(problem.design.n_samples, -1.0))
        if self._columns.size > 1:
            self._ascend()

    @property
    def n_units(self) -> int:
        """Units that have entered."""
        return self._units.size

    def model(self) -> DirectModel:
        """The model as it is now."""
        w = np.zeros(self._problem.design.n_columns)
        w[self._columns] = self._w
        return DirectModel(w, self._value)

    def enter(self) -> bool:
        """Let one unit more in, and set all weights anew; False if none raises the measure."""
        for screened in (self._screening.candidates, self._screening.centred_candidates):
            lines = screened(self._alarms, self._units)
            found = best_steps(lines.entries, self._alarms, self._target)
            if np.any(found.steps):
                best = int(np.argmax(found.values))
                self._let_in(lines, best, found.steps[best])
                self._ascend()
                return True
        return False

    def _let_in(self, lines: Candidates, number: int, step: float) -> None:
        """Make a step along a line."""
        columns, weights = lines.columns[number], step * lines.directions[number]
        shift, block = step * lines.shifts[number], self._fetched.block(columns)
        self._w[self._columns == self._problem.n_features] += shift / self._problem.constant
        self._units = np.append(self._units, lines.units[number])
        self._columns = np.concatenate([self._columns, columns])
        self._w = np.concatenate([self._w, weights])
        self._entries = self._entries.append(block.entries())
        scores = self._alarms.scores + (block.scores(weights) + shift)
        self._alarms = self._target.alarms(scores)

    def _ascend(self) -> None:
        """Line searches along every weight until none raises the measure.

        All lines are searched from one point. Of the steps that are found the best is made, then
        of the others those that still raise the measure.
        """
        for _ in range(MAX_ROUNDS):
            found = best_steps(self._entries, self._alarms, self._target)
            order = np.argsort(-found.values, kind="stable")
            moved = [self._move(at, found.steps[at]) for at in order if found.steps[at] != 0.0]
            if not any(moved):
                return

    def _move(self, place: int, step: float) -> bool:
        """Change one weight if that raises the measure."""
        one = slice(*self._entries.starts[place : place + 2])
        rows, alarms = self._entries.rows[one], self._alarms
        before = alarms.scores[rows]
        after = before + step * self._entries.values[one]
        turned = (after > 0.0).astype(np.float64) - (before > 0.0)
        a = float(alarms.a + turned @ alarms.positives[rows])
        b = float(alarms.b + turned @ alarms.negatives[rows])
        if self._target.value(a, b) <= self._value + LEAST_GAIN:
            return False
        alarms.scores[rows] = after
        self._alarms = alarms._replace(a=a, b=b)
        self._w[place] += step
        return True

    @property
    def _value(self) -> float:
        return self._target.value(self._alarms.a, self._alarms.b)
