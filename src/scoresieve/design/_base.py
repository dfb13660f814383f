"""What a design is: X seen only through products with vectors and through a few columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._checks import check_structure

#: How many numbers are converted to float64 at a time, where X has another type. That is 8 MB, and
#: two blocks may be alive at once.
BLOCK_NUMBERS = 2**20

#: ``X^T v`` visits only the rows with ``v_i != 0`` if they hold less than this share of X. Copying
#: rows costs about as much as two passes over them, for CSR and for dense rows alike.
ACTIVE_SHARE = 1 / 3


class Entries(NamedTuple):
    """The non-zero entries of some columns, column by column.

    Attributes
    ----------
    starts : ndarray of int of shape (n_columns + 1,)
        Where the entries of each column begin, and where the last ends.
    rows : ndarray of int
    values : ndarray
    """

    starts: IntArray
    rows: IntArray
    values: FloatArray

    @classmethod
    def none(cls) -> Entries:
        """No columns."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(np.zeros(1, dtype=np.int64), nothing, np.zeros(0))

    @classmethod
    def of_column(cls, column: FloatArray) -> Entries:
        """The entries of one dense column."""
        rows = np.flatnonzero(column)
        return cls(np.array([0, rows.size]), rows, column[rows])

    def append(self, other: Entries) -> Entries:
        """The entries of these columns, then of those of ``other``."""
        return Entries(
            np.concatenate([self.starts, self.starts[-1] + other.starts[1:]]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.values, other.values]),
        )


class Columns(ABC):
    """``X_S``: some columns of X, held in float64, for many products with few columns.

    Conventions
    -----------
    The block has ``n_columns`` columns and is never modified; :meth:`append` returns a new one.
    """

    n_columns: int

    @abstractmethod
    def scores(self, w: FloatArray) -> FloatArray:
        """``X_S w``, of shape (n_samples,), for w of shape (n_columns,)."""

    @abstractmethod
    def correlate(self, V: FloatArray) -> FloatArray:
        """``X_S^T V``, for V of shape (n_samples,) or (n_samples, K)."""

    @abstractmethod
    def append(self, other: Columns) -> Columns:
        """The block with the columns of ``other``, of the same design, to the right."""

    @abstractmethod
    def take(self, places: IntArray) -> Columns:
        """The columns of the block at these places, in this order."""

    @abstractmethod
    def scaled(self, factors: FloatArray) -> Columns:
        """``X_S diag(f)``, for f of shape (n_columns,)."""

    @abstractmethod
    def gram(self, d: FloatArray) -> FloatArray:
        """``X_S^T diag(d) X_S``, of shape (n_columns, n_columns), for d >= 0; a new array."""

    @abstractmethod
    def entries(self) -> Entries:
        """The non-zero entries, each row of a column once."""

    def varied_rows(self) -> IntArray | None:
        """Rows outside of which all rows of the block are equal; None if these are too many."""
        return None

    @abstractmethod
    def only_rows(self, rows: IntArray) -> Columns:
        """The block of these sorted rows alone, in the format that suits its size."""

    @abstractmethod
    def as_design(self) -> Design:
        """The block as a design of its own, with columns 0 .. n_columns - 1."""


class Design(ABC):
    """``X`` of shape (n_samples, n_columns): ``X^T v``, ``X w`` and blocks of columns.

    Conventions
    -----------
    * Results are float64 whatever the type of X; sums are accumulated in float64.
    * X is never modified and never copied as a whole; a sparse X is never made dense.
    * ``idx`` holds distinct column numbers, 0 .. n_columns - 1, in any order.

    Attributes
    ----------
    checked_squares : float or None
        A bound of ``sum_ij x_ij^2`` once :func:`~scoresieve._checks.check_X` has passed X, so that
        X and its rows are looked at once.
    """

    n_samples: int
    n_columns: int
    checked_squares: float | None = None

    @abstractmethod
    def correlate(self, v: FloatArray) -> FloatArray:
        """``X^T v``, of shape (n_columns,): the one pass over all of X."""

    @abstractmethod
    def columns(self, idx: IntArray) -> Columns:
        """``X[:, idx]`` as a block in float64."""

    @abstractmethod
    def rows(self, idx: IntArray) -> Design:
        """``X[idx]``, copied, some rows perhaps twice."""

    @abstractmethod
    def scores(self, w: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] w``, of shape (n_samples,), for w of shape (len(idx),)."""

    def total(
        self,
        function: Callable[..., float],
        w: FloatArray,
        idx: IntArray,
        bias: float,
        *per_row: FloatArray,
    ) -> float:
        """``sum_i f(<w, x_i> + bias, t_i, ...)``, without all scores in one place.

        Parameters
        ----------
        function : callable
            The sum over some rows, given their scores and further numbers. It is defined at the top
            level of a module, since it may be pickled.
        *per_row : ndarray of shape (n_samples,)
            The further numbers.
        """
        return float(function(self.scores(w, idx) + bias, *per_row))

    @abstractmethod
    def filled(self, value: float) -> Columns:
        """A block of one column that is ``value`` in every row; it can be appended to others."""

    def check_problems(self, n_problems: int) -> None:
        """Refuse this many problems at a time if X has a limit and their vectors do not fit."""
        return  # it has none

    def check_room(self, n_bytes: int, what: str) -> None:
        """Refuse the memory that a solver asks for if it does not fit under a limit of X.

        Parameters
        ----------
        what : str
            Such as "12 cuts", for the message.
        """
        if not self.has_room(n_bytes):
            raise MemoryError(f"{what} need {n_bytes} bytes of memory, more than X allows.")

    def has_room(self, n_bytes: int) -> bool:
        """Whether a solver may hold this much for a while, where it could also do without."""
        return True

    @abstractmethod
    def sum_of_squares(self) -> float:
        """``sum_ij x_ij^2``; inf or NaN if it overflows or if X is not finite."""

    @abstractmethod
    def column_norms(self) -> FloatArray:
        """``sqrt(sum_i x_ij^2)`` of every column; nothing overflows."""

    @abstractmethod
    def column_counts(self) -> FloatArray:
        """How many numbers of every column are not 0."""

    @abstractmethod
    def max_abs(self) -> float:
        """``max_ij |x_ij|``; NaN if X holds NaN."""

    def _with_check(self, rows: Design, idx: IntArray) -> Design:
        """``rows``, which are ``X[idx]``, as checked as X is."""
        if self.checked_squares is not None and idx.size:
            rows.checked_squares = self.checked_squares * int(np.bincount(idx).max())
        return rows


class WrappedDesign(Design):
    """A wrapper of a design; subclasses override the methods that differ.

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

    def check_problems(self, n_problems: int) -> None:
        """As X itself."""
        self._design.check_problems(n_problems)

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


def check_matrix(X: Any) -> None:
    """Refuse X that is not 2-D or not real, and broken sparse arrays."""
    if X.ndim != 2:
        raise ValueError(
            f"X must be 2-D, one row for each sample; got {X.ndim}-D of shape {X.shape}. "
            "Use X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"X must hold real numbers; got dtype {X.dtype}. Encode text and categories as "
            "numbers, or convert with X.astype(float)."
        )
    if sp.issparse(X):
        check_structure(X)
