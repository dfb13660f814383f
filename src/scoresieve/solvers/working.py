"""The working columns: the few that an engine looks at, in memory, and points on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design import Columns
from scoresieve.measures import Cut
from scoresieve.risks import DualPoint
from scoresieve.solvers.limits import Status, Tracker
from scoresieve.solvers.problem import Problem


@dataclass(frozen=True, eq=False)
class Point:
    """A primal point on the working columns: weights, scores, objective; and the cut there."""

    w: FloatArray
    scores: FloatArray
    value: float
    cut: Cut | None = None

    def padded(self, n_columns: int) -> Point:
        """The same point after columns entered the working set, with weight 0."""
        return replace(self, w=np.append(self.w, np.zeros(n_columns - self.w.size)))


def known_cut(point: Point) -> Cut:
    """The cut at a point that was made with it."""
    assert point.cut is not None
    return point.cut


@dataclass(frozen=True, eq=False)
class WarmStart:
    """A start for a fit of any C and budget.

    Attributes
    ----------
    columns : ndarray of int
        Columns of the new problem's design for the first working set.
    w : ndarray of shape (len(columns),)
        A point to start from; w = 0 is taken if that is better.
    dual_point : DualPoint or None
        Its cuts, if it has any, are used, their weights are not.
    memory : object or None
        State of an engine for its next run on the same X and y; only that engine can read it.
    """

    columns: IntArray
    w: FloatArray
    dual_point: DualPoint | None = None
    memory: Any = None


class DualSide(NamedTuple):
    """The proof of a run, for the next one: cuts or slopes to start from, and the vector v."""

    point: DualPoint
    v: FloatArray


class Ended(Protocol):
    """An engine that has run, as whoever makes a result of it sees it."""

    problem: Problem
    tracker: Tracker
    working: WorkingColumns
    best: Point
    status: Status


class Resumable(Ended, Protocol):
    """An engine that has run, ``engine(problem, tracker, warm)``, and may go on from there."""

    def dual_side(self) -> DualSide:
        """What belongs to the best point."""

    def hand_over(self, problem: Problem, w: FloatArray) -> WarmStart:
        """The start of a run on the same data with another budget.

        Parameters
        ----------
        problem : Problem
            The next one.
        w : ndarray of shape (n_columns of the design,)
            The weights that were made of the best point.
        """


class WorkingColumns:
    """``X_S`` in memory, the norm on S, and the way back to all columns.

    Conventions
    -----------
    ``columns`` are numbers of columns of the design in the order in which they entered; the columns
    that are always in are the first ones.

    Attributes
    ----------
    norm : BudgetNorm
        Restricted to the columns.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.columns: IntArray = problem.norm.always
        self.block: Columns = problem.design.columns(self.columns)
        self.norm = problem.norm.restrict(self.columns)

    @property
    def size(self) -> int:
        """How many columns there are."""
        return self.columns.size

    def add(self, columns: IntArray) -> Columns | None:
        """Add those of the columns that are not in yet; their block, or None if there are none."""
        new = np.setdiff1d(columns, self.columns)
        if new.size == 0:
            return None
        block = self.problem.design.columns(new)
        self.columns = np.concatenate([self.columns, new])
        self.block = self.block.append(block)
        self.norm = self.problem.norm.restrict(self.columns)
        return block

    def keep(self, places: IntArray) -> None:
        """Drop all columns but those at these sorted places, those always in among them."""
        self.columns = self.columns[places]
        self.block = self.block.take(places)
        self.norm = self.problem.norm.restrict(self.columns)

    def turn_to(self, problem: Problem) -> None:
        """Switch to a problem that differs from the present one only in its budget."""
        self.problem = problem
        self.norm = problem.norm.restrict(self.columns)

    def places(self, columns: IntArray) -> IntArray:
        """Where columns that are in stand in the working set."""
        order = np.argsort(self.columns, kind="stable")
        return order[np.searchsorted(self.columns, columns, sorter=order)]

    def gathered(self, columns: IntArray, w: FloatArray) -> FloatArray:
        """Weights of these columns, which are in, as weights of the working set."""
        out = np.zeros(self.size)
        out[self.places(columns)] = w
        return out

    def scattered(self, w: FloatArray) -> FloatArray:
        """Weights of the working set as weights of all columns of the design."""
        out = np.zeros(self.problem.design.n_columns)
        out[self.columns] = w
        return out

    def point(self, w: FloatArray, scores: FloatArray | None = None) -> Point:
        """The point with the weights w; its scores are computed unless they are given."""
        scores = self.block.scores(w) if scores is None else scores
        return Point(w, scores, self.problem.objective(w, scores, self.norm))

    def point_with_cut(self, w: FloatArray) -> Point:
        """The point with the weights w, and the cut there."""
        scores, problem = self.block.scores(w), self.problem
        cut = problem.risk.cut(scores)
        risk = problem.C * max(0.0, cut.value(scores))
        return Point(w, scores, 0.5 * self.norm.value_squared(w) + risk, cut)

    def n_selected(self, w: FloatArray) -> int:
        """How many units have a weight."""
        return int(np.count_nonzero(self.norm.units.norms(w)))
