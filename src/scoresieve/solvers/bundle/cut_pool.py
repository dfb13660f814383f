"""The cuts of a bundle: kept as long as they serve, and searched along a segment as lines.

    min_{0 <= t <= 1}   1/2 ||w + t dw||_B^2 + C R(v + t dv)

Each cut is a line in t, so the cuts of the pool already give a lower model of the risk on the
segment. Its minimiser is tried on the true objective; the cut found there is one line more.

The norm is modelled by the parabola through t = 0, 1/2 and 1, which is exact where the budget
covers every column. Elsewhere the best tried point may miss the minimum; values are always true.
An exact search would save one round in a hundred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve.design import Columns
from scoresieve.measures import Cut
from scoresieve.risks import CutWeights, DualPoint
from scoresieve.solvers.master.problem import MasterProblem
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
        """Add a cut; False if it is zero or in already."""
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
        """Add the columns that are not in yet; their number."""
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
        """Drop cuts without weight for ``patience`` rounds; the weights of the others."""
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
        """Switch to a problem that differs from the present one only in its budget."""
        self._problem = problem
        self.working.turn_to(problem)
        self.covers_all = problem.norm.n_units <= problem.norm.budget
        self._renew_gram()

    def _renew_gram(self) -> None:
        fixed = self._fixed_part(self.matrix)
        self.gram = fixed @ fixed.T


MAX_TRIALS = 12
#: Most lines that are looked at; a few are enough.
MAX_LINES = 60
#: Places of a segment that are told apart, far more than the objective can.
GRID = 2.0**40


@dataclass(frozen=True, eq=False)
class Trial:
    """A tried point of the segment: its place, the objective there, and the cut found there."""

    t: float
    value: float
    cut: Cut


def search_segment(
    *,
    start: Trial,
    half_norm: Callable[[float], float],
    find_cut: Callable[[FloatArray], Cut],
    scores: tuple[FloatArray, FloatArray],
    lines: tuple[FloatArray, FloatArray],
    line_of: Callable[[Cut], tuple[float, float]],
    C: float,
    tol: float,
) -> Trial:
    """The best tried point of the segment; ``start`` if none is better.

    Parameters
    ----------
    start : Trial
        The point at t = 0.
    half_norm : callable
        ``1/2 ||w + t dw||_B^2``.
    find_cut : callable
        The most violated cut at some scores.
    scores : pair of ndarrays
        v and dv: those of t are ``v + t dv``.
    lines : pair of ndarrays
        ``R(v + t dv) >= offsets + t * slopes``: the cuts known before.
    line_of : callable
        Offset and slope of a new cut.
    tol : float
        Stop when the model promises no more than this below the best tried value.
    """
    offsets, slopes = (list(part) for part in lines)
    for offset, slope in ((0.0, 0.0), line_of(start.cut)):
        offsets.append(offset)
        slopes.append(slope)
    parabola = _parabola(half_norm)
    best = start
    tried = {0.0}
    for _ in range(MAX_TRIALS):
        t, model = _minimise(parabola, C * np.array(offsets), C * np.array(slopes))
        if best.value - model <= tol or t in tried:
            break
        tried.add(t)
        cut = find_cut(scores[0] + t * scores[1])
        offset, slope = line_of(cut)
        offsets.append(offset)
        slopes.append(slope)
        value = half_norm(t) + C * max(0.0, offset + t * slope)
        if value < best.value:
            best = Trial(t, value, cut)
    return best


def _parabola(half_norm: Callable[[float], float]) -> tuple[float, float, float]:
    """The parabola through the half norm at t = 0, 1/2 and 1: constant, linear, square."""
    at_0, at_half, at_1 = half_norm(0.0), half_norm(0.5), half_norm(1.0)
    square = max(0.0, 2.0 * (at_0 + at_1 - 2.0 * at_half))
    return at_0, at_1 - at_0 - square, square


def _minimise(
    parabola: tuple[float, float, float], offsets: FloatArray, slopes: FloatArray
) -> tuple[float, float]:
    """Where ``parabola(t) + max_k offsets_k + t slopes_k`` is least on [0, 1], and its value there.

    Two lines are enough at a time, the highest at either end of what is left of the segment: where
    the parabola with the higher of them is lowest no other line is above them, or that line takes
    the place of one of the two.
    """
    constant, linear, square = parabola
    low, high = 0.0, 1.0
    left, right = int(np.argmax(offsets)), int(np.argmax(offsets + slopes))
    for _ in range(MAX_LINES):
        t = _lowest(
            (linear, square),
            (float(offsets[left]), float(slopes[left])),
            (float(offsets[right]), float(slopes[right])),
        )
        t = t if low <= t <= high else 0.5 * (low + high)  # by rounding
        heights = offsets + t * slopes
        top = int(np.argmax(heights))
        if heights[top] <= max(heights[left], heights[right]):
            break
        if linear + 2.0 * square * t + slopes[top] > 0.0:
            high, right = t, top
        else:
            low, left = t, top
    t = _just_behind(t)
    return t, constant + linear * t + square * t * t + float(np.max(offsets + t * slopes))


def _just_behind(t: float) -> float:
    """The next place of a fine grid: at a kink itself rounding would decide which cut is found."""
    place = int(t * GRID)
    return min(1.0, (place + 1) / GRID) if place else 0.0


def _lowest(
    parabola: tuple[float, float], left: tuple[float, float], right: tuple[float, float]
) -> float:
    """Where ``linear t + square t^2 + max(left, right)`` is lowest on [0, 1].

    Where they cross, or before it, where left alone is lowest, or behind it, where right is.
    """
    linear, square = parabola
    bottoms = []
    for _, slope in (left, right):
        falls = -(linear + slope)
        if square > 0.0:
            bottoms.append(min(1.0, max(0.0, 0.5 * falls / square)))
        else:
            bottoms.append(1.0 if falls > 0.0 else 0.0)
    if right[1] <= left[1]:  # the same line, or parallel ones
        return bottoms[0]
    crossing = (left[0] - right[0]) / (right[1] - left[1])
    return min(bottoms[0], max(bottoms[1], crossing))
