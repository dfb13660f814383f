"""svmlight files of any size to row blocks, a few megabytes of text at a time."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from scoresieve._arrays import Array
from scoresieve._checks import check_count
from scoresieve.design.blocks.folder import open_blocks
from scoresieve.design.blocks.row_blocks import RowBlocks
from scoresieve.design.blocks.writer import BLOCK_BYTES, Progress, written_folder

#: Bytes of text that are read at a time, and of a line: a few million columns at full length. A
#: compressed file of some kilobytes can unfold to one line without an end.
CHUNK, LONGEST_LINE = 2**24, 2**28


class CountedFromZeroError(ValueError):
    """A file has a column 0, but its columns should be counted from 1."""


def blocks_from_svmlight(
    path: str | os.PathLike,
    folder: str | os.PathLike,
    *,
    zero_based: bool = False,
    n_features: int | None = None,
    dtype: Any = np.float64,
    block_bytes: int = BLOCK_BYTES,
    progress: Progress | None = None,
) -> RowBlocks:
    """Convert a file in svmlight or LIBSVM format, plain, gz or bz2, to a folder of row blocks.

    It is read once and never in memory as a whole. Its labels are in ``labels``.

    Parameters
    ----------
    path : path
    folder : path
        A folder that does not exist yet; it appears when it is complete.
    zero_based : bool, default=False
        Whether the first column has the number 0 in the file; the format's own first number is 1.
    n_features : int, optional
        By default the largest column number in the file.
    dtype : {numpy.float64, numpy.float32}
    block_bytes, progress
        As for :func:`write_blocks`.

    Returns
    -------
    RowBlocks
    """
    with (
        open(path, "rb") as raw,
        written_folder(folder, block_bytes, progress) as writer,
    ):
        size, n_columns = os.fstat(raw.fileno()).st_size, 0
        for X, y in _pieces(raw, path, zero_based, dtype):
            n_columns = max(n_columns, X.shape[1])
            writer.share = raw.tell() / max(1, size)
            if X.shape[0]:
                writer.add(X, y)
        writer.finish(_checked_width(n_features, n_columns, path))
    return open_blocks(folder)


def _pieces(raw: IO[bytes], path: Any, zero_based: bool, dtype: Any) -> Iterator[tuple[Any, Array]]:
    """Rows and labels, some at a time; a ValueError names the fault of the file."""
    n_rows = 0
    with _naming(path):
        for chunk in _chunks_of_lines(_decompressed(raw)):
            X, y = load_svmlight_file(io.BytesIO(chunk), zero_based=zero_based, dtype=dtype)
            n_rows += X.shape[0]
            yield X, y
        if n_rows == 0:
            raise ValueError("it has no rows.")


def _decompressed(raw: IO[bytes]) -> Any:
    """The text of a file, whatever its name is: gz and bz2 are known by how they begin."""
    start = raw.read(3)
    raw.seek(0)
    if start[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=raw)
    return bz2.BZ2File(raw) if start == b"BZh" else raw


def _chunks_of_lines(stream: Any) -> Iterator[bytes]:
    """Some whole lines at a time."""
    while chunk := stream.read(CHUNK):
        rest = stream.readline(LONGEST_LINE)
        if len(rest) == LONGEST_LINE:
            raise ValueError(f"a line is longer than {LONGEST_LINE} bytes.")
        yield chunk + rest


@contextmanager
def _naming(path: Any) -> Iterator[None]:
    """What is wrong with the content as a ValueError that names the file."""
    try:
        yield
    except (ValueError, OverflowError, EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk, not of the content: gzip and bz2 have no number for theirs
        message = f"cannot read {os.fspath(path)!r} as svmlight: {error}"
        if "Invalid index 0" in str(error):
            advice = "Columns are counted from 0 here: pass zero_based=True."
            raise CountedFromZeroError(f"{message} {advice}") from error
        raise ValueError(message) from error


def _checked_width(n_features: int | None, found: int, path: Any) -> int:
    if n_features is None:
        return found
    if check_count(n_features, "n_features") < found:
        raise ValueError(
            f"n_features={n_features}, but {os.fspath(path)!r} has {found} columns; raise it or "
            "pass None."
        )
    return n_features
