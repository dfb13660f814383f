"""Row blocks on the workers of a ``distributed`` cluster.

A block is a future with a recipe: what dask loses with a worker it makes again, from the folder or
from the graph of the collection that the user gave. Data that was scattered has no recipe, so that
nothing is scattered here: vectors travel as arguments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from scoresieve.design.blocks.disk import DiskBlocks, load_intact_block
from scoresieve.design.blocks.grouping import (
    Cut,
    groups_of_blocks,
    rows_between,
    sizes_of_groups,
    stacked,
)
from scoresieve.design.blocks.products import Description, describe
from scoresieve.design.blocks.store import BlockStore, Call

#: Results that the driver asks for at a time: enough for every worker to have some to do.
RESULTS_AT_ONCE = 256


class DaskBlocks(BlockStore):
    """Futures of groups of rows, each worked on where it is.

    Blocks are cut, and brought together where several of them make a group, once: passes over the
    groups move nothing but vectors.

    Parameters
    ----------
    client : distributed.Client
    blocks : list of Future
        Each of a CSR or a dense array.
    described : list of Description
        Of the blocks.
    are_maps : bool
        Whether they are around maps of files, of which no copies should be made.
    """

    keeps_results = True  # a worker that takes over from another one asks for them

    def __init__(
        self, client: Any, blocks: list[Any], described: list[Description], *, are_maps: bool
    ) -> None:
        check_alike(described)
        self._client, self.n_blocks = client, len(blocks)
        rows = np.array([each.n_rows for each in described], dtype=np.int64)
        self.n_entries = sum(each.n_entries for each in described)
        first = described[0]
        self.n_columns, self.dtype, self.is_sparse = first.n_columns, first.dtype, first.is_sparse
        groups = groups_of_blocks(rows, self.n_columns, self.n_entries, is_sparse=self.is_sparse)
        self.sizes = self.block_sizes = sizes_of_groups(groups)
        gather = as_pieces if are_maps else as_one_piece
        self._groups = [
            client.submit(gather, [self._piece(blocks, rows, cut) for cut in group], pure=False)
            for group in groups
        ]

    def _piece(self, blocks: list[Any], rows: Any, cut: Cut) -> Any:
        """A future of the rows, made where their block is."""
        block, start, stop = cut
        if start == 0 and stop == rows[block]:
            return blocks[block]
        return self._client.submit(rows_between, blocks[block], start, stop, pure=False)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            "row blocks on a cluster belong to the client of this process and cannot be sent to "
            "another one: fit with n_jobs=None, or let joblib's dask backend send blocks on disk, "
            "opened with open_blocks(folder), to the workers."
        )

    def place(self) -> str:
        """The cluster."""
        return "on the workers of a cluster"

    def each(self, work: Callable[..., Any], calls: Sequence[Call]) -> Iterator[Any]:
        """The results in order, some at a time."""
        for start in range(0, len(calls), RESULTS_AT_ONCE):
            yield from self._client.gather(self._started(work, calls[start:][:RESULTS_AT_ONCE]))

    def _started(self, work: Callable[..., Any], calls: Sequence[Call]) -> list[Any]:
        return [
            self._client.submit(work, self._groups[call.number], *call.arguments, pure=False)
            for call in calls
        ]

    def summed(
        self,
        work: Callable[..., Any],
        calls: Sequence[Call],
        combine: Callable[[Any, Any], Any],
    ) -> Any:
        """The tree of :func:`pairwise`, level by level, on the workers; its root comes back."""
        if not calls:
            return None
        futures = self._started(work, calls)
        level = {call.number: future for call, future in zip(calls, futures, strict=True)}
        while max(level):
            above: dict[int, Any] = {}
            for place, future in level.items():
                beside = above.get(place // 2)
                above[place // 2] = (
                    future
                    if beside is None
                    else self._client.submit(combine, beside, future, pure=False)
                )
            level = above
        return self._client.gather(level[0])


def as_pieces(pieces: list[Any]) -> list[Any]:
    """The rows of a group around the memory in which they are."""
    return pieces


def as_one_piece(pieces: list[Any]) -> list[Any]:
    """The rows of a group, copied where they are of several blocks."""
    return [stacked(pieces)]


def check_alike(described: list[Description]) -> None:
    """Refuse blocks that are no rows of one X."""
    if not described:
        raise ValueError("X has no blocks; give at least one.")
    for name, value in (
        ("columns", "n_columns"),
        ("a dtype of", "dtype"),
        ("sparse", "is_sparse"),
    ):
        found = [getattr(each, value) for each in described]
        other = next((place for place, each in enumerate(found) if each != found[0]), None)
        if other is not None:
            raise ValueError(
                f"block {other} of X differs from block 0 ({name}: {found[other]} against "
                f"{found[0]}); give all blocks the same columns, type and form."
            )


def blocks_of_folder(client: Any, local: DiskBlocks) -> DaskBlocks:
    """The blocks of a folder that the workers of a cluster see under the same path."""
    folder, stored = os.fspath(local.folder), local.manifest.blocks
    blocks = [
        client.submit(
            load_intact_block, folder, block, local.n_columns, local.dtype, number, pure=False
        )
        for number, block in enumerate(stored)
    ]
    described = [
        Description(block.n_rows, local.n_columns, block.n_entries, local.dtype, local.is_sparse)
        for block in stored
    ]
    return DaskBlocks(client, blocks, described, are_maps=True)


def blocks_of_futures(client: Any, blocks: list[Any]) -> DaskBlocks:
    """The blocks that futures stand for; the workers say what they are."""
    described = client.gather(client.map(describe, blocks, pure=False))
    return DaskBlocks(client, blocks, described, are_maps=False)
