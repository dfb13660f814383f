"""Where blocks are: what a pass over them needs to know, and how it is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import IntArray


class Call(NamedTuple):
    """A function's further arguments for one group of rows, or for one block."""

    number: int
    arguments: tuple[Any, ...]


class BlockStore(ABC):
    """Row blocks as an ordered list of groups of rows, and passes over it.

    Conventions
    -----------
    * What is added up is worked on by groups, the same ones however X is cut into blocks:
      ``work(pieces, *arguments)`` gets the rows of one as a list, of one matrix for each block that
      has some of them. What is done row by row may be done block by block.
    * ``work`` is a function of a module, since it may travel to other machines, and changes
      nothing.
    * Results come in the order of the calls, and are combined as :func:`pairwise` does, each at the
      place of its group, whoever works on them and when.

    Attributes
    ----------
    sizes : ndarray of int of shape (n_groups,)
        Rows of each group.
    block_sizes : ndarray of int
        Rows of each block, for :meth:`each_block`.
    n_blocks : int
    keeps_results : bool
        Whether it may need a result again after it was combined, so that nobody changes it.
    n_columns : int
    n_entries : int
        Numbers that are stored.
    dtype : dtype
    is_sparse : bool
    """

    sizes: IntArray
    block_sizes: IntArray
    n_blocks: int
    keeps_results: bool = False
    n_columns: int
    n_entries: int
    dtype: np.dtype
    is_sparse: bool

    @abstractmethod
    def each(self, work: Callable[..., Any], calls: Sequence[Call]) -> Iterator[Any]:
        """The results of the calls for groups, in their order."""

    def each_block(self, work: Callable[..., Any], calls: Sequence[Call]) -> Iterator[Any]:
        """The results of the calls for blocks; by default these are the groups."""
        return self.each(work, calls)

    @abstractmethod
    def summed(
        self,
        work: Callable[..., Any],
        calls: Sequence[Call],
        combine: Callable[[Any, Any], Any],
    ) -> Any:
        """All results combined; None if there are no calls."""

    @abstractmethod
    def place(self) -> str:
        """Where the blocks are, for people."""
