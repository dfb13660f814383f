"""From any X to a design, with a constant column for the intercept if wanted."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design._base import Columns, Design, WrappedDesign, check_matrix
from scoresieve.design.blocks.block_design import BlockDesign
from scoresieve.design.blocks.dask_blocks import dask_blocks
from scoresieve.design.blocks.row_blocks import RowBlocks
from scoresieve.design.dense import DenseDesign
from scoresieve.design.sparse import SparseDesign


def as_design(X: Any, *, constant: float = 0.0) -> Design:
    """``X``, or ``[X, constant * 1]`` if ``constant`` is not 0, as a design.

    Parameters
    ----------
    X : array-like or sparse matrix or array of shape (n_samples, n_columns), RowBlocks, or Design
        Any real type, any memory order, read-only or memory-mapped. CSR and CSC are used as they
        are; other sparse formats are converted to CSR. Dask collections become row blocks.
    constant : float, default=0
        Value of a constant column to append (the intercept's), or 0 for none.

    Examples
    --------
    >>> import numpy as np
    >>> design = as_design(np.array([[1.0, 2.0], [3.0, 4.0]]), constant=5.0)
    >>> design.correlate(np.array([1.0, 1.0]))
    array([ 4.,  6., 10.])
    """
    blocks = as_row_blocks(X)
    if blocks is not None:
        design: Design = BlockDesign(blocks)
    elif isinstance(X, Design):
        design = X
    elif sp.issparse(X):
        check_matrix(X)
        design = SparseDesign(X if X.format in ("csr", "csc") else X.tocsr())
    else:
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise ValueError(f"X cannot be read as a numeric 2-D array: {error}") from error
        check_matrix(X)
        design = DenseDesign(X)
    if not isinstance(constant, numbers.Real) or not np.isfinite(constant):
        raise ValueError(f"constant must be a finite number; got {constant!r}.")
    return ConstantDesign(design, float(constant)) if constant else design


def as_row_blocks(X: Any) -> RowBlocks | None:
    """X as row blocks if it is that, or a dask collection; None otherwise."""
    if isinstance(X, RowBlocks):
        return X
    return dask_blocks(X) if is_of_dask(X) else None


def is_of_dask(X: Any) -> bool:
    """Whether X is a collection of dask, or a list of delayed objects or futures; dask unused."""
    if isinstance(X, list | tuple):
        return bool(X) and all(_is_delayed(each) for each in X)
    return _module(X) in ("dask.array.core", "dask.bag.core")


def _is_delayed(block: Any) -> bool:
    return _module(block) in ("dask.delayed", "distributed.client") and hasattr(block, "key")


def _module(X: Any) -> str:
    return type(X).__module__


class ConstantDesign(WrappedDesign):
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
        super().__init__(design)
        self._constant = constant
        self.n_columns = design.n_columns + 1

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

    def rows(self, idx: IntArray) -> ConstantDesign:
        """The rows with the constant column."""
        return ConstantDesign(self._design.rows(idx), self._constant)

    def scores(self, w: FloatArray, idx: IntArray) -> FloatArray:
        """``X[:, idx] w``."""
        before, after = self._around_constant(idx)
        if after is None:
            return self._design.scores(w, before)
        w = np.asarray(w, dtype=np.float64)
        rest = np.concatenate([before, after])
        inner = self._design.scores(np.delete(w, before.size), rest)
        return inner + self._constant * w[before.size]

    def total(
        self,
        function: Callable[..., float],
        w: FloatArray,
        idx: IntArray,
        bias: float,
        *per_row: FloatArray,
    ) -> float:
        """``sum_i f(<w, x_i> + bias, t_i, ...)``."""
        if self._around_constant(idx)[1] is None:
            return super().total(function, w, idx, bias, *per_row)
        return Design.total(self, function, w, idx, bias, *per_row)

    def sum_of_squares(self) -> float:
        """``sum_ij x_ij^2``, the constant column included."""
        with np.errstate(over="ignore"):
            return self._design.sum_of_squares() + self.n_samples * float(
                np.square(np.float64(self._constant))
            )

    def column_norms(self) -> FloatArray:
        """``sqrt(sum_i x_ij^2)``, the constant column's last."""
        return np.append(self._design.column_norms(), abs(self._constant) * np.sqrt(self.n_samples))

    def column_counts(self) -> FloatArray:
        """How many numbers of every column are not 0, the constant column's last."""
        return np.append(self._design.column_counts(), float(self.n_samples))

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
