"""The manifest of a folder of row blocks, and what is wrong with a folder that does not fit it.

    manifest.json          {"format": "scoresieve-blocks", "format_version": 1, "shape": ..., ...}
    000000.data.npy        numbers of block 0; if sparse, 000000.indices.npy and 000000.indptr.npy
    labels.npy             y, if there is one

Arrays are little-endian ``.npy`` files. The manifest holds the size and the CRC-32 of each, and a
CRC-32 of its own content.
"""

from __future__ import annotations

import ast
import json
import os
import re
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from scoresieve._record import Record

FORMAT, FORMAT_VERSION = "scoresieve-blocks", 1
MANIFEST = "manifest.json"
#: Bytes that are read at a time for a checksum.
CHUNK = 2**20
#: How a ``.npy`` file of version 1.0 begins; the next two bytes are the length of its header.
START = b"\x93NUMPY\x01\x00"
#: What reading a head as Python may raise.
NOT_PYTHON = (ValueError, SyntaxError, RecursionError, MemoryError)
#: Names without a way to another folder, types that X may have, and the largest count.
_NAME = re.compile(r"\d{6,}\.(data|indices|indptr)\.npy|labels\.npy")
_DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]")
_MOST = 2**62


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
            f"{os.fspath(folder)!r} is not a folder of row blocks: it has no {MANIFEST}. Make one "
            "with scoresieve.design.write_blocks."
        )
    try:
        manifest = _manifest_of(json.loads(path.read_bytes()))
    except (ValueError, RecursionError) as error:
        raise DamagedBlocksError(
            f"{os.fspath(path)!r} is no manifest, or it is damaged: {error} {ADVICE}"
        ) from error
    for number, block in enumerate(manifest.blocks):
        for file in block.files:
            check_size(folder, file, f"block {number}")
    if manifest.labels is not None:
        check_size(folder, manifest.labels, "labels")
    return manifest


def _manifest_of(content: Any) -> Manifest:
    """The manifest in a JSON value, once format, version and checksum are what they should be."""
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object.")
    said = content.pop("crc32", None)
    checksum = checksum_of(content)
    found, version = content.pop("format", None), content.pop("format_version", None)
    if found != FORMAT or version != FORMAT_VERSION:
        raise ValueError(
            f"its format is {found!r:.80}, version {version!r:.80}; this release reads {FORMAT!r}, "
            f"version {FORMAT_VERSION}."
        )
    if checksum != said:
        raise ValueError("its checksum differs.")
    return _from_record(Record(content, "manifest"))


def _from_record(record: Record) -> Manifest:
    """The dataclasses again, all of them checked: anybody can write a checksum that is right."""
    n_columns, dtype = record.number("n_columns", int, 0, _MOST), record.take("dtype", str)
    if not _DTYPE.fullmatch(dtype):
        record.refuse("dtype", f"is {dtype!r:.40}, which X does not have.")
    is_sparse = record.take("is_sparse", bool)
    entries = record.items("blocks")
    blocks = tuple(
        _block_from_record(entries.record(number), n_files=3 if is_sparse else 1)
        for number in entries.names()
    )
    labels = None if record.is_null("labels") else _file_from_record(record.record("labels"))
    names = None
    if not record.is_null("feature_names"):
        found = record.items("feature_names", n_columns)
        names = tuple(found.take(number, str) for number in found.names())
    record.end()
    return Manifest(n_columns, dtype, is_sparse, blocks, labels, names)


def _block_from_record(record: Record, n_files: int) -> StoredBlock:
    n_rows, n_entries = (record.number(name, int, 0, _MOST) for name in ("n_rows", "n_entries"))
    files = record.items("files", n_files)
    record.end()
    stored = tuple(_file_from_record(files.record(number)) for number in range(n_files))
    return StoredBlock(n_rows, n_entries, stored)


def _file_from_record(record: Record) -> StoredArray:
    name = record.take("name", str)
    if not _NAME.fullmatch(name):
        record.refuse("name", f"is {name!r:.80}, which no file of row blocks has.")
    n_bytes, crc32 = (record.number(entry, int, 0, _MOST) for entry in ("n_bytes", "crc32"))
    record.end()
    return StoredArray(name, n_bytes, crc32)


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


def check_head(path: Path) -> None:
    """Refuse a header that the writer would not write, by a ValueError or an error of Python.

    NumPy would allocate what a header of version 2 claims, up to 4 GB, and warn of the numbers of
    Python 2.
    """
    with open(path, "rb") as stream:
        start = stream.read(len(START) + 2)
        if not start.startswith(START):
            raise ValueError("its header is not that of version 1.0 of the npy format.")
        ast.literal_eval(
            stream.read(int.from_bytes(start[len(START) :], "little")).decode("latin1")
        )


def load_array(folder: Path, file: StoredArray) -> np.ndarray:
    """The array as a memory map; one without numbers, which cannot be mapped, is read."""
    path = folder / file.name
    try:
        check_head(path)
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    # NumPy reads the head of a file as Python, and lets through what that has against it.
    except (*NOT_PYTHON, TypeError, EOFError, OverflowError, TokenError) as error:
        raise DamagedBlocksError(
            f"{os.fspath(path)!r} is not an array as NumPy writes them: {error} {ADVICE}"
        ) from error
    if not isinstance(array, np.ndarray):
        raise DamagedBlocksError(f"{os.fspath(path)!r} is not an array. {ADVICE}")
    return np.asarray(array)


ADVICE = "Copy the folder again, or convert the data again."
