"""Parquet files to row blocks, a batch of rows at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array
from scoresieve._checks import check_count
from scoresieve.design.blocks.folder import open_blocks
from scoresieve.design.blocks.row_blocks import RowBlocks
from scoresieve.design.blocks.writer import BLOCK_BYTES, Progress, written_folder


def blocks_from_parquet(
    path: str | os.PathLike,
    folder: str | os.PathLike,
    *,
    columns: Sequence[str] | None = None,
    label: str | None = None,
    sparse: bool = False,
    dtype: Any = np.float64,
    batch_rows: int = 2**14,
    block_bytes: int = BLOCK_BYTES,
    progress: Progress | None = None,
) -> RowBlocks:
    """Convert a parquet file, or a folder of them, to a folder of row blocks (extra ``parquet``).

    Parameters
    ----------
    path : path
    folder : path
        A folder that does not exist yet; it appears when it is complete.
    columns : sequence of str, optional
        The features; by default all columns but the label. Their names are kept.
    label : str, optional
        The column that becomes ``labels``.
    sparse : bool, default=False
        Whether zeros are left out.
    dtype : numpy dtype
        Of the features.
    batch_rows : int
        Rows that are in memory as a table at a time.
    block_bytes, progress
        As for :func:`write_blocks`.

    Returns
    -------
    RowBlocks
    """
    check_count(batch_rows, "batch_rows")
    source = _dataset(path)
    features = _features(source.schema.names, columns, label, path)
    wanted = features if label is None else [*features, label]
    with written_folder(folder, block_bytes, progress) as writer:
        writer.n_expected = source.count_rows()
        for batch in source.to_batches(columns=wanted, batch_size=batch_rows):
            if batch.num_rows:
                X = np.column_stack(list(_numbers(batch, features, dtype)))
                y = None if label is None else _labels(batch.column(label))
                writer.add(sp.csr_array(X) if sparse else X, y)
        writer.finish(feature_names=features)
    return open_blocks(folder)


def _dataset(path: str | os.PathLike) -> Any:
    try:
        from pyarrow import dataset
    except ImportError as error:
        raise ImportError(
            "parquet files need the package pyarrow; install it with "
            "pip install 'scoresieve[parquet]'."
        ) from error
    return dataset.dataset(os.fspath(path), format="parquet")


def _features(
    names: list[str], columns: Sequence[str] | None, label: str | None, path: Any
) -> list[str]:
    """The columns that are features, in the order that was asked for."""
    features = [name for name in names if name != label] if columns is None else list(columns)
    for name in features if label is None else [*features, label]:
        if name not in names:
            raise ValueError(f"{os.fspath(path)!r} has no column {name!r}; it has {names[:10]}.")
    if not features:
        raise ValueError(f"{os.fspath(path)!r} has no column beside the label {label!r}.")
    return features


def _numbers(batch: Any, features: list[str], dtype: Any) -> Iterator[Array]:
    for name in features:
        values = batch.column(name).to_numpy(zero_copy_only=False)
        if values.dtype.kind not in "biuf":
            raise ValueError(
                f"column {name!r} holds {batch.column(name).type}, not numbers; encode it, or "
                "leave it out of columns."
            )
        yield values.astype(dtype, copy=False)


def _labels(column: Any) -> Array:
    values = column.to_numpy(zero_copy_only=False)
    return values.astype(str) if values.dtype.kind == "O" else values
