"""What dask users have, as row blocks: arrays, bags and lists of delayed blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve.design.blocks.dask_store import blocks_of_futures
from scoresieve.design.blocks.grouping import stacked
from scoresieve.design.blocks.memory import MemoryLimit
from scoresieve.design.blocks.row_blocks import RowBlocks
from scoresieve.design.checks import check_matrix


def as_row_blocks(X: Any) -> RowBlocks | None:
    """X as row blocks if it is that, or something of dask; None if it is anything else."""
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


def dask_blocks(X: Any, *, client: Any = None, max_memory: int | None = None) -> RowBlocks:
    """Row blocks on the workers of a ``distributed`` cluster.

    Conventions
    -----------
    * Blocks are computed once and kept by the workers. What is lost with a worker is computed again
      from the graph of X, so that X should begin with something that can be read again.
    * Only vectors come to this process: X^T v, scores, and the few columns that are worked on.

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
        found = stacked(pieces)
    # Products of dense rows depend on the order of memory, which chunks of one array may differ in.
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
