"""A design with one more column that is constant: the intercept's."""

from __future__ import annotations

import numpy as np

from scoresieve.design._base import Columns, Design, FloatArray, IntArray


class ConstantDesign(Design):
    """``[X, constant * 1]``: X with a last column that has the same value in every row.

    Conventions
    -----------
    The constant column is number ``n_columns - 1``. It is stored nowhere; only blocks hold it.

    Parameters
    ----------
    design : Design
        X without the constant column.
    constant : float
        Value of the column, finite and not 0.
    """

    def __init__(self, design: Design, constant: float) -> None:
        self._design = design
        self._constant = constant

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self._design.n_samples

    @property
    def n_columns(self) -> int:
        """Number of columns, the constant one included."""
        return self._design.n_columns + 1

    def correlate(self, v: FloatArray) -> FloatArray:
        """``[X^T v, constant * sum_i v_i]``."""
        v = np.asarray(v, dtype=np.float64)
        return np.append(self._design.correlate(v), self._constant * v.sum())

    def columns(self, idx: IntArray) -> Columns:
        """The block of the columns, the constant one at its place in ``idx``."""
        before, after = self._around_constant(idx)
        if after is None:
            return self._design.columns(before)
        block = self._design.filled(self._constant)
        if before.size:
            block = self._design.columns(before).append(block)
        return block.append(self._design.columns(after)) if after.size else block

    def scores(self, w: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] w``."""
        before, after = self._around_constant(idx)
        if after is None:
            return self._design.scores(w, before)
        w = np.asarray(w, dtype=np.float64)
        rest = np.concatenate([before, after])
        inner = self._design.scores(np.delete(w, before.size), rest)
        return inner + self._constant * w[before.size]

    def filled(self, value: float) -> Columns:
        """A block of one column that is ``value`` in every row."""
        return self._design.filled(value)

    def sum_of_squares(self) -> float:
        """``sum_ij x_ij^2``, the constant column included."""
        with np.errstate(over="ignore"):
            return self._design.sum_of_squares() + self.n_samples * float(
                np.square(np.float64(self._constant))
            )

    def max_abs(self) -> float:
        """``max_ij |x_ij|``, the constant column included."""
        return float(np.maximum(self._design.max_abs(), abs(self._constant)))

    def _around_constant(self, idx: IntArray) -> tuple[IntArray, IntArray | None]:
        """``idx`` before and after the constant column; None if it is not in ``idx``."""
        idx = np.asarray(idx, dtype=np.int64)
        place = np.flatnonzero(idx == self._design.n_columns)
        if place.size == 0:
            return idx, None
        return idx[: place[0]], idx[place[0] + 1 :]
