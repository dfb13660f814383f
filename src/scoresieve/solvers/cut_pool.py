"""The cuts of the master problem, restricted to a growing set of working columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scoresieve.design import Columns
from scoresieve.measures import Cut
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.master import MasterProblem
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.result import DualPoint, combine_deltas, pack_delta, unpack_delta

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Numbers of a dense block of cuts that is unpacked at a time (16 MB).
_BLOCK_NUMBERS = 2**21


class CutPool:
    """``A = [X_S^T delta_k]_k`` and ``q``, with the labellings kept to fill in new columns.

    Conventions
    -----------
    * ``columns`` are numbers of columns of the design in the order in which they entered; the
      columns that are always in are the first ones.
    * The Gram matrix on the columns with d_j = 1 for certain is kept up to date: those that are
      always in, or all of them if the budget covers every unit of the problem.
    * Memory is O(K (n/8 + S)) for labellings: one bit an example and cut.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.columns: IntArray = problem.norm.always
        self.block: Columns = problem.design.columns(self.columns)
        self.norm: BudgetNorm = problem.norm.restrict(self.columns)
        self._rows = np.empty((16, self.columns.size))
        self.losses = np.zeros(0)
        #: Whether the budget covers every unit of the problem, so that nothing is selected out.
        self.covers_all = problem.norm.n_units <= problem.norm.budget
        self.gram = np.zeros((0, 0))
        self._packed: list[NDArray] = []
        self._seen: set[bytes] = set()
        self._idle = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return self.losses.size

    @property
    def matrix(self) -> FloatArray:
        """``A``, of shape (n_cuts, n_columns); a view that the next change may invalidate."""
        return self._rows[: len(self)]

    @property
    def master(self) -> MasterProblem:
        """The master problem of the present cuts and columns."""
        known = self.covers_all or self.norm.n_units > self.norm.budget
        gram = self.gram if known else None
        return MasterProblem(self.matrix, self.losses, self._problem.C, self.norm, gram)

    def _fixed_part(self, rows: FloatArray) -> FloatArray:
        """The columns of the Gram matrix: all, or those always in, which stand first."""
        return rows if self.covers_all else rows[:, : self._problem.norm.always.size]

    def add(self, cut: Cut) -> bool:
        """Add a cut; False if it bounds nothing new: a zero cut, or one that is in already."""
        if cut.loss == 0.0 and not np.any(cut.delta):
            return False
        packed = pack_delta(cut.delta, as_bits=self._problem.measure.flips_examples)
        key = packed.tobytes()
        if key in self._seen:
            return False
        self._seen.add(key)
        self._packed.append(packed)
        n_cuts = len(self)
        if n_cuts == self._rows.shape[0]:
            self._rows = np.vstack([self._rows, np.empty_like(self._rows)])
        self._rows[n_cuts] = self.block.correlate(cut.delta)
        self.losses = np.append(self.losses, cut.loss)
        products = self._fixed_part(self.matrix) @ self._fixed_part(self.matrix[-1:])[0]
        gram = np.empty((n_cuts + 1, n_cuts + 1))
        gram[:-1, :-1], gram[-1], gram[:, -1] = self.gram, products, products
        self.gram = gram
        self._idle = np.append(self._idle, 0)
        return True

    def add_columns(self, columns: IntArray) -> int:
        """Add those of the columns that are not in yet; how many those are."""
        new = np.setdiff1d(columns, self.columns)
        if new.size == 0:
            return 0
        block = self._problem.design.columns(new)
        self.columns = np.concatenate([self.columns, new])
        self.block = self.block.append(block)
        self.norm = self._problem.norm.restrict(self.columns)
        part = self._correlate_all(block)
        if self.covers_all:
            self.gram = self.gram + part @ part.T
        spare = np.empty((16, self.columns.size))
        self._rows = np.vstack([np.hstack([self.matrix, part]), spare])
        return int(new.size)

    def _correlate_all(self, block: Columns) -> FloatArray:
        """``X_new^T delta_k`` for every cut, some cuts at a time."""
        flips = self._problem.flip_values
        at_once = max(1, _BLOCK_NUMBERS // flips.size)
        parts = [np.zeros((0, block.n_columns))]
        for start in range(0, len(self), at_once):
            some = self._packed[start : start + at_once]
            deltas = [unpack_delta(packed, flips) for packed in some]
            parts.append(block.correlate(np.column_stack(deltas)).T)
        return np.vstack(parts)

    def combine(self, alpha: FloatArray) -> FloatArray:
        """``sum_k alpha_k delta_k``, of shape (n_samples,)."""
        return combine_deltas(alpha, np.array(self._packed), self._problem.flip_values)

    def dual_point(self, alpha: FloatArray) -> DualPoint:
        """The cuts with a positive weight, to be kept."""
        used = np.flatnonzero(alpha > 0.0)
        return DualPoint(alpha[used], np.array([self._packed[k] for k in used]))

    def lines(self, w: FloatArray, dw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``R >= offsets + t * slopes`` on the segment w + t dw, one line a cut."""
        return self.losses - self.matrix @ w, -(self.matrix @ dw)

    def weights_of(self, dual_point: DualPoint) -> FloatArray:
        """The weight of each cut in a dual point, 0 for those that are not in it."""
        weights = {
            packed.tobytes(): float(weight)
            for packed, weight in zip(dual_point.cuts, dual_point.alpha, strict=True)
        }
        return np.array([weights.get(packed.tobytes(), 0.0) for packed in self._packed])

    def drop_idle(self, alpha: FloatArray, patience: int) -> FloatArray:
        """Drop cuts without weight for ``patience`` rounds; the weights of those that stay."""
        used = alpha > 1e-6 * max(float(alpha.max()), np.finfo(float).tiny)
        self._idle = np.where(used, 0, self._idle + 1)
        keep = np.flatnonzero(self._idle < patience)
        self.keep_cuts(keep)
        return alpha[keep]

    def keep_cuts(self, keep: IntArray) -> None:
        """Drop all cuts but these, given by their sorted numbers."""
        if keep.size == len(self):
            return
        self._packed = [self._packed[k] for k in keep]
        self._seen = {packed.tobytes() for packed in self._packed}
        self._rows[: keep.size] = self._rows[keep]
        self.losses, self._idle = self.losses[keep], self._idle[keep]
        self.gram = self.gram[np.ix_(keep, keep)]

    def keep_columns(self, places: IntArray) -> None:
        """Drop all working columns but those at these sorted places.

        The columns that are always in must be among them.
        """
        self.columns = self.columns[places]
        self.block = self.block.as_design().columns(places)
        self.norm = self._problem.norm.restrict(self.columns)
        self._rows = np.ascontiguousarray(self._rows[:, places])
        self._renew_gram()

    def turn_to(self, problem: Problem) -> None:
        """Go over to a problem that differs from the present one in its budget alone."""
        self._problem = problem
        self.norm = problem.norm.restrict(self.columns)
        self.covers_all = problem.norm.n_units <= problem.norm.budget
        self._renew_gram()

    def _renew_gram(self) -> None:
        fixed = self._fixed_part(self.matrix)
        self.gram = fixed @ fixed.T
