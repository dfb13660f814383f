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
from scoresieve.design.blocks.products import Description, describe
from scoresieve.design.blocks.store import BlockStore, Call

#: Results that the driver asks for at a time: enough for every worker to have some to do.
RESULTS_AT_ONCE = 256


class DaskBlocks(BlockStore):
    """Futures of blocks, each worked on where it is.

    Parameters
    ----------
    client : distributed.Client
    blocks : list of Future
        Each of a CSR or a dense array.
    described : list of Description
        Of the blocks.
    """

    def __init__(self, client: Any, blocks: list[Any], described: list[Description]) -> None:
        self._client, self._blocks = client, blocks
        check_alike(described)
        self.sizes = np.array([each.n_rows for each in described], dtype=np.int64)
        self.n_entries = sum(each.n_entries for each in described)
        first = described[0]
        self.n_columns, self.dtype, self.is_sparse = first.n_columns, first.dtype, first.is_sparse

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
            self._client.submit(work, self._blocks[call.block], *call.arguments, pure=False)
            for call in calls
        ]

    def summed(
        self,
        work: Callable[..., Any],
        calls: Sequence[Call],
        combine: Callable[[Any, Any], Any],
    ) -> Any:
        """The tree of :func:`pairwise`, level by level, on the workers; its root comes back."""
        level = self._started(work, calls)
        while len(level) > 1:
            pairs = [
                self._client.submit(combine, *level[at : at + 2], pure=False)
                for at in range(0, len(level) - 1, 2)
            ]
            level = pairs + level[len(level) - len(level) % 2 :]
        return self._client.gather(level[0]) if level else None


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
    return DaskBlocks(client, blocks, described)


def blocks_of_futures(client: Any, blocks: list[Any]) -> DaskBlocks:
    """The blocks that futures stand for; the workers say what they are."""
    described = client.gather(client.map(describe, blocks, pure=False))
    return DaskBlocks(client, blocks, described)
