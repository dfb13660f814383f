"""Row blocks in a folder: memory maps, compared with their checksums when they are first used."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from scoresieve._arrays import Array
from scoresieve.design._base import check_matrix
from scoresieve.design.blocks.manifest import (
    ADVICE,
    DamagedBlocksError,
    Manifest,
    StoredBlock,
    check_content,
    load_array,
    read_manifest,
)
from scoresieve.design.blocks.memory import MemoryLimit
from scoresieve.design.blocks.passes import BlockStore, Call
from scoresieve.design.sparse import matrix_around

#: Blocks that stay mapped: a system allows some ten thousand maps, and a block has three.
MOST_OPEN = 4096


class DiskBlocks(BlockStore):
    """Blocks in a folder, processed by threads, some at a time.

    scipy's products release the GIL, so threads are enough, and share the memory maps.

    Parameters
    ----------
    n_threads : int
        Blocks that are processed at a time.
    """

    def __init__(self, folder: Path, manifest: Manifest, n_threads: int) -> None:
        self.folder, self.manifest, self.n_threads = folder, manifest, n_threads
        self.n_columns, self.is_sparse = manifest.n_columns, manifest.is_sparse
        self.n_entries = sum(block.n_entries for block in manifest.blocks)
        self.sizes = np.array([block.n_rows for block in manifest.blocks], dtype=np.int64)
        self.dtype = np.dtype(manifest.dtype)
        self._open: dict[int, Any] = {}
        self._intact: set[int] = set()

    def __getstate__(self) -> dict[str, Any]:
        # Another process may be on another machine, with another copy of the files.
        return self.__dict__ | {"_open": {}, "_intact": set()}

    def place(self) -> str:
        """The folder."""
        return f"in {os.fspath(self.folder)!r}"

    def block(self, number: int) -> Any:
        """The block as an array or a CSR array around maps."""
        found = self._open.get(number)
        if found is not None:
            return found
        stored = self.manifest.blocks[number]
        if len(self._open) >= MOST_OPEN:
            self._open.clear()
        if number in self._intact:
            found = load_block(self.folder, stored, self.n_columns)
        else:
            found = load_intact_block(self.folder, stored, self.n_columns, self.dtype, number)
            self._intact.add(number)
        self._open[number] = found
        return found

    def each(self, work: Callable[..., Any], calls: Sequence[Call]) -> Iterator[Any]:
        """The results in order, a few blocks ahead."""

        def answer(call: Call) -> Any:
            return work(self.block(call.part.block), call.part.rows, *call.arguments)

        if self.n_threads == 1 or len(calls) < 2:
            yield from map(answer, calls)
            return
        with ThreadPoolExecutor(self.n_threads) as threads:
            ahead: deque[Future[Any]] = deque()
            try:
                for call in calls:
                    if len(ahead) == self.n_threads:
                        yield ahead.popleft().result()
                    ahead.append(threads.submit(answer, call))
                while ahead:
                    yield ahead.popleft().result()
            finally:
                for future in ahead:
                    future.cancel()

    def summed(self, work: Callable[..., Any], calls: Sequence[Call]) -> Any:
        """The sum in the order of the blocks, in the memory of the first result."""
        found = self.each(work, calls)
        total = next(found, None)
        for each in found:
            total += each
        return total


def load_block(folder: Path, stored: StoredBlock, n_columns: int) -> Any:
    """The block around maps of its files."""
    return _around([load_array(folder, file) for file in stored.files], stored, n_columns)


def load_intact_block(
    folder: str | Path, stored: StoredBlock, n_columns: int, dtype: np.dtype, number: int
) -> sp.csr_array | Array:
    """The block, once it agrees with its checksums and with the manifest.

    Checksums find accidents. That indices stay inside X is checked besides, since products would
    read foreign memory, and the writer of a folder can make its checksums right.
    """
    folder = Path(folder)
    for file in stored.files:
        check_content(folder, file, f"block {number}")
    arrays = [load_array(folder, file) for file in stored.files]
    try:
        _check_arrays(arrays, stored, n_columns, dtype)
        block = _around(arrays, stored, n_columns)
        check_matrix(block)
    except ValueError as error:
        raise DamagedBlocksError(
            f"block {number} in {os.fspath(folder)!r} is damaged: {error} {ADVICE}"
        ) from error
    return block


def _around(arrays: list[Array], stored: StoredBlock, n_columns: int) -> Any:
    if len(arrays) == 1:
        return arrays[0]
    data, indices, indptr = arrays
    return matrix_around(data, indices, indptr, "csr", (stored.n_rows, n_columns))


def _check_arrays(
    arrays: list[Array], stored: StoredBlock, n_columns: int, dtype: np.dtype
) -> None:
    """Shapes and types as the manifest has them; two index arrays of one type."""
    expected: list[tuple[tuple[int, ...], Any]] = [((stored.n_rows, n_columns), dtype)]
    if len(arrays) == 3:
        index = np.dtype(np.int64 if arrays[1].dtype == np.int64 else np.int32)
        n = stored.n_entries
        expected = [((n,), dtype), ((n,), index), ((stored.n_rows + 1,), index)]
    for array, file, (shape, kind) in zip(arrays, stored.files, expected, strict=True):
        if array.shape != shape or array.dtype != kind:
            raise ValueError(
                f"{file.name} holds {array.dtype} of shape {array.shape}, not {kind} of {shape}."
            )


def open_folder(folder: str | os.PathLike, n_jobs: int | None, memory: MemoryLimit) -> DiskBlocks:
    """The blocks of a folder, whose manifest and file sizes are checked now."""
    path = Path(folder).absolute()
    manifest = read_manifest(path)
    n_threads = memory.n_at_once(effective_n_jobs(n_jobs), manifest.n_columns)
    return DiskBlocks(path, manifest, n_threads)
