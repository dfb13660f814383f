"""Files of ``scipy.sparse.save_npz`` to row blocks, without the matrix in memory."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array
from scoresieve.design.blocks.folder import open_blocks
from scoresieve.design.blocks.row_blocks import RowBlocks
from scoresieve.design.blocks.writer import BLOCK_BYTES, Progress, written_folder

#: Entries that are read at a time.
ENTRIES_AT_ONCE = 2**21


def blocks_from_npz(
    path: str | os.PathLike,
    folder: str | os.PathLike,
    *,
    y: Any = None,
    block_bytes: int = BLOCK_BYTES,
    progress: Progress | None = None,
) -> RowBlocks:
    """Convert a file of ``scipy.sparse.save_npz`` to a folder of row blocks.

    A CSR matrix is read once, some rows at a time, with one number per row in memory. Other formats
    cannot be read row by row and are refused.

    Parameters
    ----------
    path : path
    folder : path
        A folder that does not exist yet; it appears when it is complete.
    y : array-like of shape (n_samples,), optional
        Stored beside X.
    block_bytes, progress
        As for :func:`write_blocks`.

    Returns
    -------
    RowBlocks
    """
    with (
        zipfile.ZipFile(path) as archive,
        written_folder(folder, block_bytes, progress) as writer,
    ):
        shape, indptr = _read_head(archive, path)
        writer.n_expected = shape[0]
        for rows in _row_pieces(archive, shape, indptr):
            writer.add(rows)
        if y is not None:
            writer.add_labels(y)
        writer.finish(shape[1])
    return open_blocks(folder)


def _read_head(archive: zipfile.ZipFile, path: Any) -> tuple[tuple[int, int], Array]:
    """Shape and row ends of a CSR matrix; ValueError if it is something else."""
    names = set(archive.namelist())
    if not {"format.npy", "shape.npy", "data.npy", "indices.npy", "indptr.npy"} <= names:
        raise ValueError(
            f"{os.fspath(path)!r} is not a CSR matrix of scipy.sparse.save_npz: it holds "
            f"{', '.join(sorted(names)) or 'nothing'}. Write it with save_npz(path, X.tocsr())."
        )
    form = _whole(archive, "format").item()
    form = form.decode() if isinstance(form, bytes) else form
    if form != "csr":
        raise ValueError(
            f"{os.fspath(path)!r} holds a matrix in {form} format, which cannot be read row by "
            "row; save X.tocsr() instead."
        )
    n_rows, n_columns = (int(size) for size in _whole(archive, "shape"))
    return (n_rows, n_columns), _whole(archive, "indptr")


def _whole(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(f"{name}.npy") as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _row_pieces(
    archive: zipfile.ZipFile, shape: tuple[int, int], indptr: Array
) -> Iterator[sp.csr_array]:
    """The rows in pieces of about as many entries, read from both members side by side."""
    with archive.open("data.npy") as numbers, archive.open("indices.npy") as places:
        types = [_dtype_of(stream) for stream in (numbers, places)]
        start = 0
        while start < shape[0]:
            wanted = indptr[start] + ENTRIES_AT_ONCE
            stop = max(start + 1, int(np.searchsorted(indptr, wanted, side="right")) - 1)
            n_entries = int(indptr[stop] - indptr[start])
            data, indices = (
                np.frombuffer(_read(stream, n_entries * dtype.itemsize), dtype=dtype)
                for stream, dtype in zip((numbers, places), types, strict=True)
            )
            ends = indptr[start : stop + 1] - indptr[start]
            yield sp.csr_array((data, indices, ends), shape=(stop - start, shape[1]))
            start = stop


def _dtype_of(stream: Any) -> np.dtype:
    """The type of a ``.npy`` stream, which is left at its first number."""
    major, _ = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0
    _, _, dtype = (read if major == 1 else np.lib.format.read_array_header_2_0)(stream)
    return dtype


def _read(stream: Any, n_bytes: int) -> bytes:
    content = stream.read(n_bytes)
    if len(content) != n_bytes:
        raise ValueError(f"the npz file is truncated: {n_bytes - len(content)} bytes are missing.")
    return content
