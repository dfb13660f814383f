"""One file of plain data: a zip of ``model.json`` and of the ``.npy`` arrays that it refers to.

    model.json   {"format": "scoresieve-model", "format_version": 3, "sha256": "...", ...}
    a.b.npy      the array that stands as {"$": "array"} at ["a"]["b"] of model.json

Nothing in a file is executed, imported or unpickled, and no member is compressed, so that whatever
is read is at most as large as the file. Equal trees give equal bytes.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import struct
import zipfile
from importlib.metadata import PackageNotFoundError, version
from typing import IO, Any

import numpy as np

from scoresieve._arrays import Array
from scoresieve._files import replaced
from scoresieve.estimators.persistence.checksum import CHECKSUM, checksum_of
from scoresieve.estimators.persistence.packing import pack, unpack

FORMAT = "scoresieve-model"
FORMAT_VERSION = 3

_JSON = "model.json"
#: Lists and records inside of each other, at most: deeper ones would stop whoever prints a model.
_MOST_DEPTH = 50
_MEMBER = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*\.(npy|json)")
_END_OF_ZIP = b"PK\x05\x06"
_BROKEN_ZIP = (zipfile.BadZipFile, struct.error, EOFError, OverflowError, RuntimeError)


def write_model(path: str | os.PathLike, tree: dict[str, Any]) -> None:
    """Write a tree of values that :func:`pack` knows, all of it or nothing."""
    names = ("scoresieve", "numpy", "scikit-learn")
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": {name: installed_version(name) for name in names},
    }
    arrays: dict[str, Array] = {}
    packed = header | {key: pack(value, key, arrays) for key, value in tree.items()}
    members = {f"{name}.npy": _npy(array) for name, array in arrays.items()}
    _check_depth(packed)
    packed = {CHECKSUM: checksum_of(packed, members)} | packed
    text = json.dumps(packed, indent=1, allow_nan=False).encode("ascii")
    with replaced(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {_JSON: text, **members}.items():
            _add_member(archive, name, content)


def read_model(path: str | os.PathLike) -> dict[str, Any]:
    """The tree that :func:`write_model` wrote, every member of the file being part of it.

    A ValueError says what is not exactly of this format, without the name of the file.
    """
    with open(path, "rb") as stream:
        members = _read_members(stream)
    if _JSON not in members:
        raise ValueError(f"the member {_JSON} is missing.")
    try:
        packed = json.loads(
            members.pop(_JSON),
            object_pairs_hook=_distinct,
            parse_constant=_refuse_number,
            parse_float=_finite,
        )
        _check_depth(packed)
        _check_header(packed, members)
        tree = {key: unpack(value, key, members) for key, value in packed.items()}
    except RecursionError:
        raise ValueError(f"{_JSON} is nested too deeply.") from None
    if members:
        raise ValueError(f"{', '.join(sorted(members))}: surplus, {_JSON} does not refer to it.")
    return tree


def _check_depth(packed: Any) -> None:
    """Refuse what is nested more deeply than any model is."""
    level = [packed] if isinstance(packed, dict | list) else []
    for _ in range(_MOST_DEPTH):
        inside = [each.values() if isinstance(each, dict) else each for each in level]
        level = [part for parts in inside for part in parts if isinstance(part, dict | list)]
        if not level:
            return
    raise ValueError(f"{_JSON} is nested too deeply.")


def installed_version(package: str) -> str:
    """The version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:  # a source tree on the path
        return "0+unknown"


def _npy(array: Array) -> bytes:
    """The array as NumPy writes it."""
    content = io.BytesIO()
    np.lib.format.write_array(content, array, version=(1, 0), allow_pickle=False)
    return content.getvalue()


def _add_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Without the time and the system of the writer, so that equal models are equal files."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system, info.external_attr = 3, 0o644 << 16
    archive.writestr(info, content)


def _read_members(stream: IO[bytes]) -> dict[str, bytes]:
    """The content of each member, whose sizes have been compared with that of the file."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - 22))
    if not stream.read().startswith(_END_OF_ZIP):
        raise ValueError("it is no model file, or it is truncated: it does not end as a zip does.")
    try:
        with zipfile.ZipFile(stream) as archive:
            infos = archive.infolist()
            _check_members(infos, size)
            return {info.filename: archive.read(info) for info in infos}
    except _BROKEN_ZIP as error:
        raise ValueError(f"it is damaged: {error}") from error


def _check_members(infos: list[zipfile.ZipInfo], size: int) -> None:
    """Plain, distinct, uncompressed members that are not larger than the file."""
    seen: set[str] = set()
    for info in infos:
        name = info.orig_filename
        if not _MEMBER.fullmatch(name) or (name.endswith(".json") and name != _JSON):
            raise ValueError(f"it has a member of the name {name!r}, which no model file has.")
        if name in seen:
            raise ValueError(f"the member {name} is there twice.")
        seen.add(name)
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError(f"the member {name} is compressed, which no model file is.")
        if info.flag_bits & 0x1:
            raise ValueError(f"the member {name} is encrypted, which no model file is.")
    if sum(info.file_size for info in infos) > size:
        raise ValueError(f"its members are said to be larger than the file of {size} bytes.")
    if min((info.header_offset for info in infos), default=0) != 0:
        raise ValueError("it does not begin with its first member.")


def _check_header(packed: Any, members: dict[str, bytes]) -> None:
    """Take the format, its version, the versions of the writer and the checksum from the JSON."""
    if not isinstance(packed, dict) or packed.get("format") != FORMAT:
        raise ValueError(f"{_JSON} does not say that it is of the format {FORMAT!r}.")
    number, versions = packed.get("format_version"), packed.get("versions")
    if not isinstance(versions, dict) or not all(type(v) is str for v in versions.values()):
        raise ValueError(f"{_JSON} does not say by which versions it was written.")
    if type(number) is not int or number < 1:
        raise ValueError(f"{_JSON} has the format version {number!r}, which never was one.")
    if number != FORMAT_VERSION:
        writer = f"scoresieve {versions.get('scoresieve', 'unknown')}"
        raise ValueError(
            f"it has the format version {number} and was written by {writer}; this is scoresieve "
            f"{installed_version('scoresieve')}, which reads version {FORMAT_VERSION}. "
            + ("Upgrade scoresieve." if number > FORMAT_VERSION else f"Fit again, or use {writer}.")
        )
    if packed.get(CHECKSUM) != checksum_of(packed, members):
        raise ValueError("it is damaged: its checksum differs. Copy it again, or save it again.")
    for name in ("format", "format_version", "versions", CHECKSUM):
        del packed[name]


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"{_JSON} has a key twice, among {', '.join(map(repr, found))}.")
    return found


def _refuse_number(text: str) -> float:
    raise ValueError(f"{_JSON} holds the number {text}, which JSON does not have.")


def _finite(text: str) -> float:
    return float(text) if math.isfinite(float(text)) else _refuse_number(text)
