"""The cuts of the master problem, restricted to a growing set of working columns."""

from __future__ import annotations

import numpy as np

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve.design import Columns
from scoresieve.measures import Cut
from scoresieve.risks import CutWeights, DualPoint
from scoresieve.solvers.bundle.scaled import MasterProblem
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.working import WorkingColumns

#: Numbers of a dense block of cuts that is unpacked at a time (16 MB).
_BLOCK_NUMBERS = 2**21
#: Rows that the matrix of cuts has room for at first.
_FIRST_ROWS = 16
#: Share of the largest weight below which a cut counts as unused.
_UNUSED = 1e-6


class CutPool:
    """``A = [X_S^T delta_k]_k`` and ``q``, with the cuts kept packed to fill in new columns.

    Conventions
    -----------
    * The Gram matrix on the columns with d_j = 1 for certain is kept up to date: those that are
      always in, or all of them if the budget covers every unit of the problem.
    * Memory is O(K (n/8 + S)) for labellings: one bit an example and cut.

    Attributes
    ----------
    working : WorkingColumns
        S.
    losses : ndarray of shape (n_cuts,)
        q.
    gram : ndarray of shape (n_cuts, n_cuts)
    covers_all : bool
        Whether the budget covers every unit of the problem, so that nothing is selected out.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem, self._risk = problem, problem.risk
        self.working = WorkingColumns(problem)
        self._rows = np.empty((_FIRST_ROWS, self.working.size))
        self.losses = np.zeros(0)
        self.covers_all = problem.norm.n_units <= problem.norm.budget
        self.gram = np.zeros((0, 0))
        self._packed: list[Array] = []
        self._seen: set[bytes] = set()
        self._idle = np.zeros(0, dtype=np.int64)
        self._proving = np.zeros(0)

    def __len__(self) -> int:
        return self.losses.size

    @property
    def matrix(self) -> FloatArray:
        """``A``, of shape (n_cuts, n_columns); a view that the next change may invalidate."""
        return self._rows[: len(self)]

    @property
    def master(self) -> MasterProblem:
        """The master problem of the present cuts and columns."""
        norm = self.working.norm
        known = self.covers_all or norm.n_units > norm.budget
        gram = self.gram if known else None
        return MasterProblem(self.matrix, self.losses, self._problem.C, norm, gram)

    def _fixed_part(self, rows: FloatArray) -> FloatArray:
        """The columns of the Gram matrix: all, or those always in, which stand first."""
        return rows if self.covers_all else rows[:, : self._problem.norm.always.size]

    def add(self, cut: Cut) -> bool:
        """Add a cut; False if it bounds nothing new: a zero cut, or one that is in already."""
        if cut.loss == 0.0 and not np.any(cut.delta):
            return False
        packed = self._risk.pack(cut.delta)
        key = packed.tobytes()
        if key in self._seen:
            return False
        n_cuts = len(self)
        self._problem.design.check_room((n_cuts + 1) * packed.nbytes, f"{n_cuts + 1} cuts")
        self._seen.add(key)
        self._packed.append(packed)
        if n_cuts == self._rows.shape[0]:
            self._rows = np.vstack([self._rows, np.empty_like(self._rows)])
        self._rows[n_cuts] = self.working.block.correlate(cut.delta)
        self.losses = np.append(self.losses, cut.loss)
        products = self._fixed_part(self.matrix) @ self._fixed_part(self.matrix[-1:])[0]
        gram = np.empty((n_cuts + 1, n_cuts + 1))
        gram[:-1, :-1], gram[-1], gram[:, -1] = self.gram, products, products
        self.gram = gram
        self._idle = np.append(self._idle, 0)
        self._proving = np.append(self._proving, 0.0)
        return True

    def add_cuts_of(self, point: DualPoint | None) -> None:
        """Add the cuts of a dual point on the same y, if it has any; its weights are not used."""
        for packed in getattr(point, "cuts", ()):
            delta = self._risk.unpack(packed)
            self.add(Cut(delta, self._risk.cut_loss(delta)))

    def add_columns(self, columns: IntArray) -> int:
        """Add those of the columns that are not in yet; how many those are."""
        block = self.working.add(columns)
        if block is None:
            return 0
        part = self._correlate_all(block)
        if self.covers_all:
            self.gram = self.gram + part @ part.T
        spare = np.empty((_FIRST_ROWS, self.working.size))
        self._rows = np.vstack([np.hstack([self.matrix, part]), spare])
        return block.n_columns

    def _correlate_all(self, block: Columns) -> FloatArray:
        """``X_new^T delta_k`` for every cut, some cuts at a time."""
        at_once = max(1, _BLOCK_NUMBERS // self._risk.y.size)
        parts = [np.zeros((0, block.n_columns))]
        for start in range(0, len(self), at_once):
            deltas = [self._risk.unpack(each) for each in self._packed[start : start + at_once]]
            parts.append(block.correlate(np.column_stack(deltas)).T)
        return np.vstack(parts)

    def combine(self, alpha: FloatArray) -> FloatArray:
        """``sum_k alpha_k delta_k``, of shape (n_samples,)."""
        return self._risk.combine(alpha, np.array(self._packed))

    def dual_point(self, alpha: FloatArray) -> DualPoint:
        """The dual point of these weights, to be kept; its cuts are those that prove the bound."""
        self._proving = alpha
        used = np.flatnonzero(alpha > 0.0)
        packed = np.array([self._packed[k] for k in used])
        return self._risk.dual_point(alpha[used], packed, self._problem.C)

    def proving_cuts(self) -> CutWeights:
        """Those of the cuts that prove the best bound."""
        used = np.flatnonzero(self._proving > 0.0)
        return CutWeights(self._proving[used], np.array([self._packed[k] for k in used]))

    def lines(self, w: FloatArray, dw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``R >= offsets + t * slopes`` on the segment w + t dw, one line a cut."""
        return self.losses - self.matrix @ w, -(self.matrix @ dw)

    def drop_idle(self, alpha: FloatArray, patience: int) -> FloatArray:
        """Drop cuts without weight for ``patience`` rounds; the weights of those that stay."""
        used = alpha > _UNUSED * max(float(alpha.max()), np.finfo(float).tiny)
        self._idle = np.where(used, 0, self._idle + 1)
        keep = np.flatnonzero(self._idle < patience)
        self.keep_cuts(keep)
        return alpha[keep]

    def keep_heavy_cuts(self, share: float) -> None:
        """Drop the cuts beyond those with this share of the weight that proves the best bound."""
        order = np.argsort(-self._proving, kind="stable")
        total = np.cumsum(self._proving[order])
        if total.size and total[-1] > 0.0:
            n_heavy = int(np.searchsorted(total, share * total[-1])) + 1
            self.keep_cuts(np.sort(order[:n_heavy]))

    def keep_cuts(self, keep: IntArray) -> None:
        """Drop all cuts but these, given by their sorted numbers."""
        if keep.size == len(self):
            return
        self._packed = [self._packed[k] for k in keep]
        self._seen = {packed.tobytes() for packed in self._packed}
        self._rows[: keep.size] = self._rows[keep]
        self.losses, self._idle = self.losses[keep], self._idle[keep]
        self._proving = self._proving[keep]
        self.gram = self.gram[np.ix_(keep, keep)]

    def keep_columns(self, places: IntArray) -> None:
        """Drop all working columns but those at these sorted places, those always in among them."""
        self.working.keep(places)
        self._rows = np.ascontiguousarray(self._rows[:, places])
        self._renew_gram()

    def turn_to(self, problem: Problem) -> None:
        """Go over to a problem that differs from the present one in its budget alone."""
        self._problem = problem
        self.working.turn_to(problem)
        self.covers_all = problem.norm.n_units <= problem.norm.budget
        self._renew_gram()

    def _renew_gram(self) -> None:
        fixed = self._fixed_part(self.matrix)
        self.gram = fixed @ fixed.T
