"""Row blocks on the workers of a ``distributed`` cluster, from dask collections.

A block is a future with a recipe: dask recomputes blocks lost with a worker, from the folder or the
graph of the user's collection. Scattered data has no recipe, so nothing is scattered here: vectors
travel as arguments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve.design._base import check_matrix
from scoresieve.design.blocks.disk import DiskBlocks, load_intact_block
from scoresieve.design.blocks.memory import MemoryLimit
from scoresieve.design.blocks.passes import BlockStore, Call, Description, describe
from scoresieve.design.blocks.row_blocks import RowBlocks

#: Results that the driver asks for at a time: enough for every worker to have some to do.
RESULTS_AT_ONCE = 256


class DaskBlocks(BlockStore):
    """Futures of blocks, each processed where it is.

    Parameters
    ----------
    client : distributed.Client
    blocks : list of Future
        Each of a CSR or a dense array.
    described : list of Description
        Of the blocks.
    """

    def __init__(self, client: Any, blocks: list[Any], described: list[Description]) -> None:
        check_alike(described)
        self._client, self._blocks = client, blocks
        self.sizes = np.array([each.n_rows for each in described], dtype=np.int64)
        self.n_entries = sum(each.n_entries for each in described)
        first = described[0]
        self.n_columns, self.dtype, self.is_sparse = first.n_columns, first.dtype, first.is_sparse

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            "row blocks on a cluster cannot be pickled: they belong to the client of this process. "
            "Fit with n_jobs=None, or open blocks on disk with open_blocks(folder), which joblib's "
            "dask backend can send to the workers."
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
            self._client.submit(
                work, self._blocks[call.part.block], call.part.rows, *call.arguments, pure=False
            )
            for call in calls
        ]

    def summed(self, work: Callable[..., Any], calls: Sequence[Call]) -> Any:
        """The sum in a tree, neighbours first, on the workers; its root alone comes back.

        No result is changed, since a worker that takes over from another one asks for them.
        """
        level = self._started(work, calls)
        while len(level) > 1:
            pairs = [
                self._client.submit(add, *level[at : at + 2], pure=False)
                for at in range(0, len(level) - 1, 2)
            ]
            level = pairs + level[2 * len(pairs) :]
        return self._client.gather(level[0]) if level else None


def check_alike(described: list[Description]) -> None:
    """Refuse blocks that cannot be rows of one X."""
    if not described:
        raise ValueError("X has no blocks; give at least one.")
    for name, value in (
        ("columns", "n_columns"),
        ("dtype", "dtype"),
        ("sparse", "is_sparse"),
    ):
        found = [getattr(each, value) for each in described]
        other = next((place for place, each in enumerate(found) if each != found[0]), None)
        if other is not None:
            raise ValueError(
                f"block {other} of X differs from block 0 ({name}: {found[other]} against "
                f"{found[0]}); give all blocks the same columns, dtype and format."
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
    """The blocks that futures stand for, described by the workers."""
    described = client.gather(client.map(describe, blocks, pure=False))
    return DaskBlocks(client, blocks, described)


def _module(X: Any) -> str:
    return type(X).__module__


def dask_blocks(X: Any, *, client: Any = None, max_memory: int | None = None) -> RowBlocks:
    """Row blocks on the workers of a ``distributed`` cluster.

    Conventions
    -----------
    * Blocks are computed once and kept by the workers. Blocks lost with a worker are computed again
      from the graph of X, so X should begin with data that can be read again.
    * Only vectors come to this process: X^T v, scores, and the few columns of the working set.

    Parameters
    ----------
    X : dask array, dask bag of blocks, or list of delayed blocks or futures
        Blocks are dense arrays or scipy.sparse matrices, rows of the same columns.
    client : distributed.Client, optional
        By default that of this process.
    max_memory : int, optional
        Bytes that this process may hold, as for :func:`open_blocks`.

    Returns
    -------
    RowBlocks
    """
    distributed = _import_distributed()
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError as error:
            raise ValueError(
                f"X is a {type(X).__name__} of dask, but this process has no client of a cluster; "
                "make one with distributed.Client(...) first."
            ) from error
    futures = client.compute(_delayed_blocks(X))
    futures = [client.submit(as_block, future, pure=False) for future in futures]
    return RowBlocks(blocks_of_futures(client, futures), MemoryLimit(max_memory))


def _delayed_blocks(X: Any) -> list[Any]:
    """One delayed object for each block of rows."""
    if _module(X) == "dask.bag.core":
        return X.to_delayed()
    if isinstance(X, list | tuple):
        from dask.delayed import delayed

        return [delayed(block) for block in X]
    if X.ndim != 2:
        raise ValueError(f"X must be 2-D; got a dask array of shape {X.shape}.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return [row[0] for row in X.to_delayed()]


def as_block(found: Any) -> Any:
    """A computed chunk, or the blocks of a partition of a bag, as one CSR or dense array."""
    if isinstance(found, list | tuple) or hasattr(found, "__next__"):
        pieces = [each.tocsr() if sp.issparse(each) else np.atleast_2d(each) for each in found]
        if not pieces:
            raise ValueError("a partition of X holds no blocks; drop empty partitions.")
        found = sp.vstack(pieces) if sp.issparse(pieces[0]) else np.concatenate(pieces)
    # Dense rows are read in this order, see design_of.
    block = sp.csr_array(found) if sp.issparse(found) else np.asarray(found, order="C")
    check_matrix(block)
    return block


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            "blocks on a cluster need the package distributed; install it with "
            "pip install 'scoresieve[dask]'."
        ) from error
    return distributed
