"""``write_blocks`` and ``open_blocks``: X to a folder and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve.design.blocks.dask_blocks import blocks_of_folder
from scoresieve.design.blocks.disk import DiskBlocks, open_folder
from scoresieve.design.blocks.manifest import ADVICE, DamagedBlocksError, check_content, load_array
from scoresieve.design.blocks.memory import MemoryLimit
from scoresieve.design.blocks.passes import BlockStore
from scoresieve.design.blocks.row_blocks import RowBlocks
from scoresieve.design.blocks.writer import BLOCK_BYTES, Progress, written_folder


def write_blocks(
    X: Any,
    folder: str | os.PathLike,
    *,
    y: Any = None,
    feature_names: Any = None,
    block_bytes: int = BLOCK_BYTES,
    progress: Progress | None = None,
) -> RowBlocks:
    """Write X to a new folder as row blocks, and open it.

    The folder appears under its name when it is complete. If anything fails, no files are left.

    Parameters
    ----------
    X : array-like, sparse matrix, RowBlocks, or iterator of matrices
        All of X, which may be a memory map or row blocks in their order. Or its rows in pieces, so
        that X is never in memory as a whole: for example a generator of CSR matrices, or of pairs
        of a CSR matrix and its labels.
    folder : path
        A folder that does not exist yet.
    y : array-like of shape (n_samples,), optional
        Stored beside X, to be found in ``labels``.
    feature_names : sequence of str, optional
    block_bytes : int, default=64 MiB
        Size of a block.
    progress : callable, optional
        Called with a :class:`Conversion` after each block.

    Returns
    -------
    RowBlocks

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from scoresieve.design import write_blocks
    >>> place = tempfile.TemporaryDirectory()
    >>> X = write_blocks(np.eye(5), f"{place.name}/X", block_bytes=80)
    >>> X.shape, len(X[[0, 3]])
    ((5, 5), 2)
    >>> X[:, [3]].ravel()
    array([0., 0., 0., 1., 0.])
    >>> place.cleanup()
    """
    n_rows = X.shape[0] if hasattr(X, "shape") else None
    pieces: Iterable[Any] = [X] if sp.issparse(X) or isinstance(X, np.ndarray) else _pieces(X)
    with written_folder(folder, block_bytes, progress) as writer:
        writer.n_expected = n_rows
        for piece in pieces:
            writer.add(*piece if type(piece) is tuple else (piece,))
        if y is not None:
            writer.add_labels(y)
        writer.finish(feature_names=feature_names)
    return open_blocks(folder)


def _pieces(X: Any) -> Iterator[Any]:
    """The rows of an iterable of matrices; of anything else, as one array."""
    if isinstance(X, RowBlocks):
        if not X.is_in_order:
            raise ValueError(
                f"{X!r} has rows in another order than its blocks and cannot be written as it is; "
                "sort the row numbers."
            )
        yield from (rows for _, rows in X.pieces())
    elif isinstance(X, Iterator) or (isinstance(X, list | tuple) and X and np.ndim(X[0]) == 2):
        yield from X
    else:
        yield np.asarray(X)


def open_blocks(
    folder: str | os.PathLike,
    *,
    n_jobs: int | None = -1,
    max_memory: int | None = None,
    client: Any = None,
) -> RowBlocks:
    """``X`` in a folder that :func:`write_blocks` or a converter wrote.

    Blocks are mapped into memory and compared with their checksums when they are first used.

    Parameters
    ----------
    folder : path
    n_jobs : int, default=-1
        Number of threads, each on a block, as in joblib: -1 for all cores. Results do not depend on
        it.
    max_memory : int, optional
        Bytes that products and columns may hold at once, mapped pages aside. Fewer threads are
        used where that is enough. Otherwise a ``MemoryError`` tells how much memory the fit needs.
    client : distributed.Client, optional
        Of a cluster whose workers see the folder under the same path. The workers then process the
        blocks, and ``n_jobs`` has no effect.

    Returns
    -------
    RowBlocks

    Raises
    ------
    DamagedBlocksError
        If a file is missing, truncated or changed; the message names the block.
    """
    memory = MemoryLimit(max_memory)
    local = open_folder(folder, n_jobs, memory)
    store: BlockStore = local if client is None else blocks_of_folder(client, local)
    names = local.manifest.feature_names
    return RowBlocks(
        store,
        memory,
        labels=_labels(local),
        feature_names=None if names is None else np.array(names, dtype=object),
    )


def _labels(local: DiskBlocks) -> Any:
    """The stored y, in memory: what is read in part is not compared with its checksum."""
    if local.manifest.labels is None:
        return None
    check_content(Path(local.folder), local.manifest.labels, "labels")
    labels = np.array(load_array(local.folder, local.manifest.labels))
    if labels.shape != (local.sizes.sum(),) or labels.dtype.kind not in "biufmMUS":
        raise DamagedBlocksError(
            f"labels is damaged: {labels.dtype} of shape {labels.shape} for {local.sizes.sum()} "
            f"rows. {ADVICE}"
        )
    return labels
