"""The manifest of a folder of row blocks, and what is wrong with a folder that does not fit it.

    manifest.json          {"format": "scoresieve-blocks", "format_version": 1, "shape": ..., ...}
    000000.data.npy        numbers of block 0; if sparse, 000000.indices.npy and 000000.indptr.npy
    labels.npy             y, if there is one

Arrays are little-endian ``.npy`` files. Of each the manifest holds size and CRC-32, and its own
CRC-32 is that of all it says.
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

FORMAT, FORMAT_VERSION = "scoresieve-blocks", 1
MANIFEST = "manifest.json"
#: Bytes that are read at a time for a checksum.
CHUNK = 2**20


class DamagedBlocksError(ValueError):
    """A folder of row blocks is not as it was written; the message names the block or file."""


@dataclass(frozen=True)
class StoredArray:
    """One ``.npy`` file: name, size in bytes, and CRC-32 of all of them."""

    name: str
    n_bytes: int
    crc32: int


@dataclass(frozen=True)
class StoredBlock:
    """Rows and stored numbers of a block, and its files: data, and indices and indptr if sparse."""

    n_rows: int
    n_entries: int
    files: tuple[StoredArray, ...]


@dataclass(frozen=True)
class Manifest:
    """All that is known of a folder without reading its blocks."""

    n_columns: int
    dtype: str
    is_sparse: bool
    blocks: tuple[StoredBlock, ...]
    labels: StoredArray | None = None
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)

    def to_json(self) -> bytes:
        """As it is written."""
        content = {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(self)}
        return json.dumps(content | {"crc32": checksum_of(content)}, indent=1).encode("ascii")


def checksum_of(content: dict[str, Any]) -> int:
    """CRC-32 of plain data, however it was laid out in its file."""
    return zlib.crc32(json.dumps(content, sort_keys=True).encode("ascii"))


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder, checked; sizes of all files are compared with it."""
    path = folder / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(
            f"{os.fspath(folder)!r} is no folder of row blocks: it has no {MANIFEST}. "
            "scoresieve.design.write_blocks makes such folders."
        )
    try:
        content = json.loads(path.read_bytes())
        said = content.pop("crc32")
    except (ValueError, KeyError, AttributeError) as error:
        raise DamagedBlocksError(f"{os.fspath(path)!r} is damaged: {error}.") from error
    if content.get("format") != FORMAT or content.get("format_version") != FORMAT_VERSION:
        raise DamagedBlocksError(
            f"{os.fspath(path)!r} is of the format {content.get('format')!r}, version "
            f"{content.get('format_version')!r}; this is for {FORMAT!r}, version {FORMAT_VERSION}."
        )
    if checksum_of(content) != said:
        raise DamagedBlocksError(
            f"{os.fspath(path)!r} is damaged: its checksum differs. Convert the data again."
        )
    manifest = _from_json(content)
    for number, block in enumerate(manifest.blocks):
        for file in block.files:
            check_size(folder, file, f"block {number}")
    if manifest.labels is not None:
        check_size(folder, manifest.labels, "labels")
    return manifest


def _from_json(content: dict[str, Any]) -> Manifest:
    """The dataclasses again; the checksum has shown that nothing is missing."""
    blocks = tuple(
        StoredBlock(
            block["n_rows"],
            block["n_entries"],
            tuple(StoredArray(**file) for file in block["files"]),
        )
        for block in content["blocks"]
    )
    names, labels = content["feature_names"], content["labels"]
    return Manifest(
        content["n_columns"],
        content["dtype"],
        content["is_sparse"],
        blocks,
        None if labels is None else StoredArray(**labels),
        None if names is None else tuple(names),
    )


def check_size(folder: Path, file: StoredArray, what: str) -> None:
    """Refuse a file that is missing or has another size."""
    path = folder / file.name
    try:
        found = path.stat().st_size
    except OSError as error:
        raise DamagedBlocksError(
            f"{what} cannot be read: {os.fspath(path)!r}: {error.strerror}. {ADVICE}"
        ) from error
    if found != file.n_bytes:
        raise DamagedBlocksError(
            f"{what} is damaged: {os.fspath(path)!r} has {found} bytes, not {file.n_bytes}. "
            f"{ADVICE}"
        )


def check_content(folder: Path, file: StoredArray, what: str) -> None:
    """Refuse a file whose bytes are not those that were written."""
    check_size(folder, file, what)
    path, found = folder / file.name, 0
    with open(path, "rb", buffering=0) as stream:
        while chunk := stream.read(CHUNK):
            found = zlib.crc32(chunk, found)
    if found != file.crc32:
        raise DamagedBlocksError(
            f"{what} is damaged: the checksum of {os.fspath(path)!r} differs. {ADVICE}"
        )


def load_array(folder: Path, file: StoredArray) -> np.ndarray:
    """The array as a memory map; one without numbers, which cannot be mapped, is read."""
    path = folder / file.name
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    return np.asarray(array)


ADVICE = "Copy the folder again, or convert the data again."
