"""A pass over row blocks: who makes it, over which rows, and what is done with one block.

A block is a CSR array or a dense array that nobody changes; its arrays may be memory maps. What is
done with it is a function of this module, in this process or on a worker of a cluster.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.design._base import Design
from scoresieve.design.dense import DenseDesign
from scoresieve.design.sparse import SparseDesign, power_below


class Part(NamedTuple):
    """The rows of one block that are in a view.

    Attributes
    ----------
    numbers : ndarray of int or None
        Of these rows in X, sorted, some perhaps twice; None for all of the block.
    start : int
        The number of the first row of the block.
    places : slice or ndarray of int
        Where these rows stand in the view.
    """

    block: int
    numbers: IntArray | None
    start: int
    places: slice | IntArray

    @property
    def rows(self) -> IntArray | None:
        """The numbers inside the block; those in X are in memory once for all parts of a view."""
        return None if self.numbers is None else self.numbers - self.start


def parts_of(sizes: IntArray, rows: IntArray | None) -> list[Part]:
    """The blocks with rows in a view, in order.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_blocks,)
        Rows of each block.
    rows : ndarray of int, optional
        Numbers of the rows of the view in any order, some perhaps twice; None for all rows.
    """
    ends = np.append(0, np.cumsum(sizes)).tolist()
    if rows is None:
        pairs = enumerate(itertools.pairwise(ends))
        return [Part(block, None, a, slice(a, b)) for block, (a, b) in pairs if b > a]
    order = None if np.all(rows[1:] >= rows[:-1]) else np.argsort(rows, kind="stable")
    rows = rows if order is None else rows[order]
    cuts = itertools.pairwise(np.searchsorted(rows, ends).tolist())
    return [
        Part(block, rows[a:b], ends[block], slice(a, b) if order is None else order[a:b])
        for block, (a, b) in enumerate(cuts)
        if b > a
    ]


class Call(NamedTuple):
    """One block with the rows that are wanted of it, and further arguments."""

    part: Part
    arguments: tuple[Any, ...]


class BlockStore(ABC):
    """Row blocks as an ordered list, and passes over it.

    Conventions
    -----------
    * ``work(block, rows, *arguments)`` is a function of a module, since it may travel to other
      machines, and changes nothing; ``rows`` are numbers inside the block, or None for all.
    * Results come, and are added, in an order that the calls alone decide, whoever works on them
      and when.

    Attributes
    ----------
    sizes : ndarray of int of shape (n_blocks,)
        Rows of each block.
    n_columns : int
    n_entries : int
        Numbers that are stored.
    dtype : dtype
    is_sparse : bool
    """

    sizes: IntArray
    n_columns: int
    n_entries: int
    dtype: np.dtype
    is_sparse: bool

    @abstractmethod
    def each(self, work: Callable[..., Any], calls: Sequence[Call]) -> Iterator[Any]:
        """The results of the calls, in their order."""

    @abstractmethod
    def summed(self, work: Callable[..., Any], calls: Sequence[Call]) -> Any:
        """The sum of all results; None if there are no calls."""

    @abstractmethod
    def place(self) -> str:
        """Where the blocks are, for people."""


class Description(NamedTuple):
    """Of one block: its shape, how many numbers it stores, their type, and whether it is sparse."""

    n_rows: int
    n_columns: int
    n_entries: int
    dtype: np.dtype
    is_sparse: bool


@dataclass(frozen=True, eq=False)
class Statistics:
    """What one pass tells about the columns; the sum of two is that of the rows of both.

    Attributes
    ----------
    sum_of_squares, max_abs : float
        Of all entries; inf or NaN where these are.
    norms : ndarray of shape (n_columns,)
        ``sqrt(sum_i x_ij^2)``; NaN if X is not finite.
    counts : ndarray of shape (n_columns,)
        Entries other than 0.
    """

    sum_of_squares: float
    max_abs: float
    norms: FloatArray
    counts: FloatArray

    def __add__(self, other: Statistics) -> Statistics:
        largest = float(np.maximum(self.max_abs, other.max_abs))
        scale = power_below(largest)  # squares of these do not overflow
        squares = np.square(self.norms / scale) + np.square(other.norms / scale)
        return Statistics(
            self.sum_of_squares + other.sum_of_squares,
            largest,
            scale * np.sqrt(squares),
            self.counts + other.counts,
        )


def design_of(block: Any) -> Design:
    """The block as a design.

    Arrays that have come from another worker may begin at an odd byte, where numpy does not use
    BLAS; they are copied.
    """
    if sp.issparse(block):
        return SparseDesign(block)
    return DenseDesign(np.require(block, requirements=["C", "A"]))


def describe(block: Any) -> Description:
    """Shape and type of a block."""
    n_entries = block.nnz if sp.issparse(block) else block.size
    n_rows, n_columns = map(int, block.shape)
    dtype = np.dtype(block.dtype)
    return Description(n_rows, n_columns, int(n_entries), dtype, sp.issparse(block))


def count_rows(block: Any, _: IntArray | None) -> int:
    """How many rows there are; to ask is to open them."""
    return int(block.shape[0])


def correlate(block: Any, rows: IntArray | None, v: FloatArray) -> FloatArray:
    """``X_b[rows]^T v``; where a row comes twice, its numbers add up."""
    if rows is not None:
        v = np.bincount(rows, v, block.shape[0]).astype(np.float64, copy=False)
    return design_of(block).correlate(v)


def scores(block: Any, rows: IntArray | None, W: FloatArray, idx: IntArray) -> FloatArray:
    """``X_b[:, idx] W^T``, of shape (n_rows, n_models), for W of shape (n_models, len(idx))."""
    design = design_of(block)
    found = np.column_stack([design.scores(w, idx) for w in W])
    return found if rows is None else found[rows]


def total(
    block: Any,
    rows: IntArray | None,
    function: Callable[..., float],
    w: FloatArray,
    idx: IntArray,
    bias: float,
    *per_row: FloatArray,
) -> float:
    """``sum_i f(<w, x_i> + bias, t_i, ...)`` over the block, or over some rows of it."""
    return float(function(scores(block, rows, w[np.newaxis], idx)[:, 0] + bias, *per_row))


def columns(block: Any, rows: IntArray | None, idx: IntArray, dtype: Any) -> Any:
    """``X_b[:, idx]``, or those of some rows, as a CSR or a dense array of its own."""
    part = block[:, idx]
    part = part if rows is None else part[rows]
    return part.astype(dtype, copy=False)


def by_columns(block: Any, rows: IntArray | None, idx: IntArray) -> sp.csc_array:
    """``X_b[:, idx]`` of sparse rows, or those of some, in float64 and without zeros."""
    part = columns(block, rows, idx, np.float64).tocsc()
    part.eliminate_zeros()
    return part


def take(block: Any, rows: IntArray | None) -> Any:
    """``X_b[rows]``."""
    return block if rows is None else block[rows]


def statistics(block: Any, rows: IntArray | None) -> Statistics:
    """Of the columns of the block, or of some rows of it, with bounded memory beyond those."""
    design = design_of(take(block, rows))
    return Statistics(
        design.sum_of_squares(), design.max_abs(), design.column_norms(), design.column_counts()
    )
