"""The working columns of a problem with a general loss, and points on them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scoresieve.design import Columns
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.loss_problem import LossProblem

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Random signs that estimate the squared lengths of columns: they are right to about a quarter,
#: which is as good as exact for scaling a Newton system.
N_PROBES = 32
#: Numbers of random signs that are in memory at a time (4 MB).
PROBE_NUMBERS = 2**19


@dataclass(frozen=True, eq=False)
class LossPoint:
    """Weights on the working columns, their scores, and the objective there."""

    w: FloatArray
    scores: FloatArray
    value: float

    def padded(self, n_columns: int) -> LossPoint:
        """The same point after columns entered the working set, with weight 0."""
        return replace(self, w=np.append(self.w, np.zeros(n_columns - self.w.size)))


class WorkingSet:
    """``X_S`` in memory, the norm on S, and the sizes of its columns.

    Conventions
    -----------
    ``columns`` are numbers of columns of the design in the order in which they entered; the columns
    that are always in are the first ones.

    Parameters
    ----------
    problem : LossProblem

    Attributes
    ----------
    columns : ndarray of int
    block : Columns
    norm : BudgetNorm
        Restricted to the columns.
    lengths : ndarray of shape (n_columns,)
        ``sum_i c_i x_ij^2``, estimated.
    """

    def __init__(self, problem: LossProblem) -> None:
        self.problem = problem
        self.columns: IntArray = problem.norm.always
        self.block: Columns = problem.design.columns(self.columns)
        self.norm: BudgetNorm = problem.norm.restrict(self.columns)
        self.lengths = self._squared_lengths(self.block)

    def add(self, columns: IntArray) -> int:
        """Add those of the columns that are not in yet; how many those are."""
        new = np.setdiff1d(columns, self.columns)
        if new.size == 0:
            return 0
        block = self.problem.design.columns(new)
        self.columns = np.concatenate([self.columns, new])
        self.block = self.block.append(block)
        self.norm = self.problem.norm.restrict(self.columns)
        self.lengths = np.concatenate([self.lengths, self._squared_lengths(block)])
        return int(new.size)

    def _squared_lengths(self, block: Columns) -> FloatArray:
        """``E (sum_i sqrt(c_i) x_ij z_i)^2 = sum_i c_i x_ij^2`` for random signs z."""
        if block.n_columns == 0:
            return np.zeros(0)
        roots, rng = np.sqrt(self.problem.weights), np.random.default_rng(0)
        at_once = max(1, PROBE_NUMBERS // roots.size)
        total = np.zeros(block.n_columns)
        for start in range(0, N_PROBES, at_once):
            shape = (roots.size, min(at_once, N_PROBES - start))
            signs = rng.choice([-1.0, 1.0], size=shape) * roots[:, None]
            total += np.sum(np.square(block.correlate(signs)), axis=1)
        return total / N_PROBES

    def point(self, w: FloatArray, scores: FloatArray | None = None) -> LossPoint:
        """The point with the weights w; its scores are computed unless they are given."""
        scores = self.block.scores(w) if scores is None else scores
        value = 0.5 * self.norm.value_squared(w) + self.problem.risk(scores)
        return LossPoint(w, scores, value)
