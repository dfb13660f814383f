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
from scoresieve.design.blocks.manifest import (
    Manifest,
    StoredBlock,
    check_content,
    load_array,
    read_manifest,
)
from scoresieve.design.blocks.memory import MemoryLimit
from scoresieve.design.blocks.pairwise import pairwise
from scoresieve.design.blocks.store import BlockStore, Call
from scoresieve.design.sparse import matrix_around

#: Blocks that stay mapped: a system allows some ten thousand maps, and a block has three.
MOST_OPEN = 4096


class DiskBlocks(BlockStore):
    """Blocks in a folder, on which some threads work at a time.

    scipy's products let other threads run, so that threads are enough, and share the maps.

    Parameters
    ----------
    n_threads : int
        Blocks that are worked on at a time.
    """

    def __init__(self, folder: Path, manifest: Manifest, n_threads: int) -> None:
        self.folder, self.manifest, self.n_threads = folder, manifest, n_threads
        self.sizes = np.array([block.n_rows for block in manifest.blocks], dtype=np.int64)
        self.n_columns, self.is_sparse = manifest.n_columns, manifest.is_sparse
        self.n_entries = sum(block.n_entries for block in manifest.blocks)
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
        if number not in self._intact:
            check_block(self.folder, stored, number)
            self._intact.add(number)
        if len(self._open) >= MOST_OPEN:
            self._open.clear()
        found = self._open[number] = load_block(self.folder, stored, self.n_columns)
        return found

    def each(self, work: Callable[..., Any], calls: Sequence[Call]) -> Iterator[Any]:
        """The results in order, a few blocks ahead."""
        if self.n_threads == 1 or len(calls) < 2:
            for call in calls:
                yield self._one(work, call)
            return
        with ThreadPoolExecutor(self.n_threads) as threads:
            ahead: deque[Future[Any]] = deque()
            try:
                for call in calls:
                    if len(ahead) == self.n_threads:
                        yield ahead.popleft().result()
                    ahead.append(threads.submit(self._one, work, call))
                while ahead:
                    yield ahead.popleft().result()
            finally:
                for future in ahead:
                    future.cancel()

    def _one(self, work: Callable[..., Any], call: Call) -> Any:
        return work(self.block(call.block), *call.arguments)

    def summed(
        self,
        work: Callable[..., Any],
        calls: Sequence[Call],
        combine: Callable[[Any, Any], Any],
    ) -> Any:
        """The results, combined as they come."""
        return pairwise(self.each(work, calls), combine)


def check_block(folder: Path, stored: StoredBlock, number: int) -> None:
    """Refuse a block that is not as it was written."""
    for file in stored.files:
        check_content(folder, file, f"block {number}")


def load_block(folder: Path, stored: StoredBlock, n_columns: int) -> Any:
    """The block around maps of its files."""
    arrays = [load_array(folder, file) for file in stored.files]
    if len(arrays) == 1:
        return arrays[0]
    data, indices, indptr = arrays
    return matrix_around(data, indices, indptr, "csr", (stored.n_rows, n_columns))


def load_intact_block(
    folder: str, stored: StoredBlock, n_columns: int, number: int
) -> sp.csr_array | Array:
    """The block, compared with its checksums first: what a worker of a cluster does once."""
    check_block(Path(folder), stored, number)
    return load_block(Path(folder), stored, n_columns)


def open_folder(folder: str | os.PathLike, n_jobs: int | None, memory: MemoryLimit) -> DiskBlocks:
    """The blocks of a folder, whose manifest and file sizes are checked now."""
    path = Path(folder).absolute()
    manifest = read_manifest(path)
    n_threads = memory.n_at_once(effective_n_jobs(n_jobs), manifest.n_columns)
    return DiskBlocks(path, manifest, n_threads)
