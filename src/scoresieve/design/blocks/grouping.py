"""Blocks of any size seen as fixed groups of rows: which rows of which blocks make a group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import IntArray
from scoresieve.design.groups import rows_of_group
from scoresieve.design.lines import lines_between, matrix_around


class Cut(NamedTuple):
    """The rows ``start .. stop - 1`` of a block."""

    block: int
    start: int
    stop: int


def groups_of_blocks(
    sizes: IntArray, n_columns: int, n_entries: int, *, is_sparse: bool
) -> list[list[Cut]]:
    """For each group, in order, what it has of each block.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_blocks,)
        Rows of each block.
    n_entries : int
        Numbers that all blocks store.
    """
    n_rows = int(sizes.sum())
    group_rows = rows_of_group(n_rows, n_columns, n_entries, is_sparse=is_sparse)
    groups: list[list[Cut]] = [[] for _ in range(-(-n_rows // group_rows))]
    end = 0
    for block, size in enumerate(sizes.tolist()):
        begin, end = end, end + size
        first = begin
        while first < end:
            group = first // group_rows
            last = min(end, (group + 1) * group_rows)
            groups[group].append(Cut(block, first - begin, last - begin))
            first = last
    return groups


def sizes_of_groups(groups: list[list[Cut]]) -> IntArray:
    """Rows of each group."""
    sizes = [sum(cut.stop - cut.start for cut in group) for group in groups]
    return np.array(sizes, dtype=np.int64)


def rows_between(block: Any, start: int, stop: int) -> Any:
    """``X_b[start:stop]`` around the same memory."""
    if start == 0 and stop == block.shape[0]:
        return block
    if sp.issparse(block):
        shape = stop - start, block.shape[1]
        return matrix_around(*lines_between(block, start, stop), "csr", shape)
    return block[start:stop]


def stacked(pieces: list[Any]) -> Any:
    """The rows of all pieces as one array; the piece itself if there is one."""
    if len(pieces) == 1:
        return pieces[0]
    return sp.vstack(pieces, format="csr") if sp.issparse(pieces[0]) else np.concatenate(pieces)
