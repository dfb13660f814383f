"""Rows of any number, a block at a time, into a folder that is whole or not there."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import Array, IntArray
from scoresieve._checks import check_count
from scoresieve._files import new_folder, synced
from scoresieve.design._base import check_matrix
from scoresieve.design.blocks.manifest import MANIFEST, Manifest, StoredArray, StoredBlock
from scoresieve.design.sparse import SHORT

#: Bytes of a block: large enough that its overhead is small beside reading it.
BLOCK_BYTES = 2**26


@dataclass(frozen=True)
class Conversion:
    """Progress of a conversion; ``progress`` is called with it after each block.

    Attributes
    ----------
    n_rows, n_entries, n_blocks : int
        Written so far.
    share : float or None
        Of the source, if its size is known.
    """

    n_rows: int
    n_entries: int
    n_blocks: int
    share: float | None = None


Progress = Callable[[Conversion], object]


class BlockWriter:
    """Takes rows in pieces of any size and writes them in blocks of about the same size.

    Parameters
    ----------
    folder : Path
        An empty folder that nobody reads yet.
    block_bytes : int
    progress : callable, optional
        Called with a :class:`Conversion` after each block.
    name : str, optional
        Of the folder when it is complete, for messages.
    """

    def __init__(
        self,
        folder: Path,
        block_bytes: int = BLOCK_BYTES,
        progress: Progress | None = None,
        *,
        name: str = "",
    ) -> None:
        self._folder, self._progress, self._name = folder, progress, name or os.fspath(folder)
        self._block_bytes = check_count(block_bytes, "block_bytes")
        self._waiting: list[Any] = []
        self._n_waiting = 0
        self._blocks: list[StoredBlock] = []
        self._labels: list[Array] = []
        self._kind: tuple[bool, np.dtype] | None = None
        self._widths: set[int] = set()
        #: Of the source that has been read, if the source knows; or how many rows there will be.
        self.share: float | None = None
        self.n_expected: int | None = None

    def add(self, rows: Any, labels: Any = None) -> None:
        """Take further rows: a dense array, or a sparse one of any format; and their labels."""
        rows = rows.tocsr() if sp.issparse(rows) else np.asarray(rows)
        check_matrix(rows)
        kind = (sp.issparse(rows), storable_type(rows.dtype))
        if self._kind is not None and kind != self._kind:
            names = ["sparse " * one[0] + str(one[1]) for one in (self._kind, kind)]
            raise ValueError(
                f"X begins with {names[0]} rows and goes on with {names[1]} rows; give all of them "
                "the same dtype and format."
            )
        self._kind = kind
        self._widths.add(rows.shape[1])
        if not kind[0]:
            self._width()
        if labels is not None:
            self.add_labels(labels)
        ends = np.cumsum(_bytes_of_rows(rows, kind[1].itemsize))
        first = 0
        while first < rows.shape[0]:
            last = self._how_far(ends, first)
            self._waiting.append(rows[first:last].astype(kind[1], copy=False))
            self._n_waiting += int(ends[last - 1] - (ends[first - 1] if first else 0))
            if last < rows.shape[0]:
                self._write_block()
            first = last

    def _how_far(self, ends: IntArray, first: int) -> int:
        """The row before which a block is full, or the last one; some row fits into every block."""
        room = self._block_bytes - self._n_waiting + (ends[first - 1] if first else 0)
        last = int(np.searchsorted(ends, room, side="right"))
        if last <= first and self._waiting:
            self._write_block()
            return self._how_far(ends, first)
        return max(last, first + 1)

    def add_labels(self, labels: Any) -> None:
        """Take the labels of further rows."""
        self._labels.append(np.asarray(labels))

    def finish(self, n_columns: int | None = None, feature_names: Any = None) -> None:
        """Write the last block, the labels, and the manifest.

        Parameters
        ----------
        n_columns : int, optional
            By default that of the pieces; sparse pieces may be narrower than X.
        """
        if self._waiting:
            self._write_block()
        if self._kind is None:
            raise ValueError("there are no rows to write; give at least one.")
        n_columns = self._width() if n_columns is None else n_columns
        if feature_names is not None and len(feature_names) != n_columns:
            raise ValueError(
                f"feature_names has {len(feature_names)} names for {n_columns} columns; give one "
                "for each."
            )
        labels = None
        if self._labels:
            labels = self._write("labels.npy", self._checked_labels())
        manifest = Manifest(
            n_columns,
            self._kind[1].str,
            self._kind[0],
            tuple(self._blocks),
            labels,
            None if feature_names is None else tuple(map(str, feature_names)),
        )
        with self._new_file(MANIFEST) as stream:
            stream.write(manifest.to_json())

    def _checked_labels(self) -> Array:
        labels = np.concatenate(self._labels)
        n_rows = sum(block.n_rows for block in self._blocks)
        if labels.shape != (n_rows,) or labels.dtype.kind == "O":
            raise ValueError(
                f"y must be a 1-D array of numbers or texts, one for each of the {n_rows} rows of "
                f"X; got {labels.dtype} of shape {labels.shape}."
            )
        return labels

    def _width(self) -> int:
        """Columns of all pieces; ValueError if they differ, which only sparse ones may."""
        if len(self._widths) > 1:
            few, many = sorted(self._widths)[:2]
            raise ValueError(
                f"pieces of X have {few} and {many} columns; give all of them the same number."
            )
        return next(iter(self._widths))

    def _write_block(self) -> None:
        """Write the rows that wait."""
        number, pieces = len(self._blocks), self._waiting
        self._waiting, self._n_waiting = [], 0
        if sp.issparse(pieces[0]):
            block = _stacked(pieces)
            parts = {"data": block.data, "indices": block.indices, "indptr": block.indptr}
            n_rows, n_entries = block.shape[0], block.data.size
        else:
            parts = {"data": pieces[0] if len(pieces) == 1 else np.concatenate(pieces)}
            n_rows, n_entries = parts["data"].shape[0], parts["data"].size
        files = [self._write(f"{number:06d}.{name}.npy", each) for name, each in parts.items()]
        self._blocks.append(StoredBlock(n_rows, n_entries, tuple(files)))
        if self._progress is not None:
            n_rows = sum(block.n_rows for block in self._blocks)
            n_entries = sum(block.n_entries for block in self._blocks)
            share = n_rows / self.n_expected if self.n_expected else self.share
            self._progress(Conversion(n_rows, n_entries, len(self._blocks), share))

    def _write(self, name: str, array: Array) -> StoredArray:
        """One ``.npy`` file, with the checksum of what was handed to the disk."""
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        with self._new_file(name) as stream:
            counted = _Counted(stream)
            header = np.lib.format.header_data_from_array_1_0(array)
            np.lib.format.write_array_header_1_0(counted, header)
            counted.write(array.reshape(-1).view(np.uint8).data)
        return StoredArray(name, counted.n_bytes, counted.crc32)

    @contextmanager
    def _new_file(self, name: str) -> Iterator[IO[bytes]]:
        """A file that is on the disk at the end, or an error that names the folder."""
        try:
            with open(self._folder / name, "xb") as stream:
                yield stream
                synced(stream)
        except OSError as error:
            message = (
                f"cannot write row blocks: {error.strerror}. Nothing is left of them. Free space, "
                "or choose another disk"
            )
            raise OSError(error.errno, message, self._name) from error


class _Counted:
    """A stream that remembers size and checksum; numpy's own writer hides why a write failed."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.n_bytes, self.crc32 = stream, 0, 0

    def write(self, content: Any) -> None:
        self._stream.write(content)
        self.n_bytes += len(content)
        self.crc32 = zlib.crc32(content, self.crc32)


@contextmanager
def written_folder(
    folder: str | os.PathLike, block_bytes: int = BLOCK_BYTES, progress: Progress | None = None
) -> Iterator[BlockWriter]:
    """A writer whose folder appears under its name when the block has ended without an error."""
    with new_folder(folder) as unfinished:
        yield BlockWriter(unfinished, block_bytes, progress, name=os.fspath(folder))


def storable_type(dtype: np.dtype) -> np.dtype:
    """The type that is written: little-endian, and float64 for what is wider than that."""
    return dtype.newbyteorder("<") if dtype.kind != "f" or dtype.itemsize <= 8 else np.dtype("<f8")


def _bytes_of_rows(rows: Any, itemsize: int) -> IntArray:
    """What each row takes in a file, with the narrowest indices."""
    if not sp.issparse(rows):
        return np.full(rows.shape[0], rows.shape[1] * itemsize)
    index = 4 if rows.shape[1] <= SHORT else 8
    return (itemsize + index) * np.diff(rows.indptr).astype(np.int64) + index


def _stacked(pieces: list[Any]) -> sp.csr_array:
    """The pieces as one CSR block with the narrowest index type; they may differ in width."""
    width = max(piece.shape[1] for piece in pieces)
    for piece in pieces:
        piece.resize(piece.shape[0], width)
    block = sp.csr_array(pieces[0] if len(pieces) == 1 else sp.vstack(pieces, format="csr"))
    n_entries = int(block.indptr[-1])
    small = max(n_entries, width) <= np.iinfo(np.int32).max
    index = np.dtype(np.int32 if small else np.int64)
    block.indices, block.indptr = block.indices.astype(index), block.indptr.astype(index)
    return block
