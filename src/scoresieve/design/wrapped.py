"""Designs that stand before another one: what they do not change is its own."""

from __future__ import annotations

from collections.abc import Callable

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design._base import Columns, Design


class WrappedDesign(Design):
    """The design that is wrapped, in all that a subclass does not define anew.

    Parameters
    ----------
    design : Design
    """

    def __init__(self, design: Design) -> None:
        self._design = design
        self.n_samples, self.n_columns = design.n_samples, design.n_columns

    def correlate(self, v: FloatArray) -> FloatArray:
        """``X^T v``."""
        return self._design.correlate(v)

    def columns(self, idx: IntArray) -> Columns:
        """``X[:, idx]`` as a block."""
        return self._design.columns(idx)

    def rows(self, idx: IntArray) -> Design:
        """``X[idx]``."""
        return self._design.rows(idx)

    def scores(self, w: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] w``."""
        return self._design.scores(w, idx)

    def total(
        self,
        function: Callable[..., float],
        w: FloatArray,
        idx: IntArray,
        bias: float,
        *per_row: FloatArray,
    ) -> float:
        """``sum_i f(<w, x_i> + bias, t_i, ...)``."""
        return self._design.total(function, w, idx, bias, *per_row)

    def filled(self, value: float) -> Columns:
        """A block of one column that is ``value`` in every row."""
        return self._design.filled(value)

    def check_room(self, n_bytes: int, what: str) -> None:
        """As X itself."""
        self._design.check_room(n_bytes, what)

    def has_room(self, n_bytes: int) -> bool:
        """As X itself."""
        return self._design.has_room(n_bytes)

    def sum_of_squares(self) -> float:
        """``sum_ij x_ij^2``."""
        return self._design.sum_of_squares()

    def column_norms(self) -> FloatArray:
        """``sqrt(sum_i x_ij^2)``."""
        return self._design.column_norms()

    def column_counts(self) -> FloatArray:
        """How many numbers of every column are not 0."""
        return self._design.column_counts()

    def max_abs(self) -> float:
        """``max_ij |x_ij|``."""
        return self._design.max_abs()
