"""Where blocks are: what a pass over them needs to know, and how it is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import IntArray


class Call(NamedTuple):
    """A function's further arguments for one block."""

    block: int
    arguments: tuple[Any, ...]


class BlockStore(ABC):
    """An ordered list of row blocks, and passes over it.

    Conventions
    -----------
    * ``work(block, *arguments)`` is a function of a module, since it may travel to other machines,
      and changes nothing.
    * Results come in the order of the calls, and are combined as :func:`pairwise` does, whoever
      works on them and when.

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
