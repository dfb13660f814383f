"""One file of plain data: a zip of ``model.json`` and of the ``.npy`` arrays that it refers to.

    model.json   {"format": "scoresieve-model", "format_version": 4, "sha256": "...", ...}
    a.b.npy      the array that stands as {"$": "array"} at ["a"]["b"] of model.json

Other values that JSON does not have are ``{"$": "tuple", "items": [...]}``, ``{"$": "float",
"value": "inf"}`` and so on. Nothing in a file is executed, imported or unpickled, and no member is
compressed, so that whatever is read is at most as large as the file. Equal trees give equal bytes.

The checksum covers all members together; the zip's own CRC-32 finds what disks and wires do to one
of them. It is no signature, since whoever writes a file can compute it.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import struct
import sys
import zipfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import IO, Any

import numpy as np

from scoresieve._arrays import Array
from scoresieve._files import replaced

FORMAT = "scoresieve-model"
FORMAT_VERSION = 4
#: The entry of ``model.json`` that holds the checksum.
CHECKSUM = "sha256"

_JSON = "model.json"
#: Lists and records inside of each other, at most: deeper ones would stop whoever prints a model.
_MOST_DEPTH = 50
_MEMBER = re.compile(r"model\.json|[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*\.npy")
_BROKEN_ZIP = (zipfile.BadZipFile, struct.error, EOFError, OverflowError, RuntimeError)

#: dtypes as NumPy spells them: booleans, integers, floats, text, dates and spans of time. It knows
#: no text of a thousand million letters.
DTYPE = re.compile(
    r"\|b1|\|[iu]1|[<>][iuf][248]|[<>]U[1-9]\d{0,7}|\|S[1-9]\d{0,7}"
    r"|[<>][mM]8\[(?:Y|M|W|D|h|m|s|ms|us|ns)\]"
)

_KEY = re.compile(r"[A-Za-z0-9_]+")
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([^']+)', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n",
    re.DOTALL,
)
_LONGEST = 2**31 - 1
_COLLECTIONS = {"tuple": tuple, "set": set, "frozenset": frozenset, "dict": dict}


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

    A ValueError names what differs from this format, but not the file.
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
        raise ValueError(f"{', '.join(sorted(members))}: unused, {_JSON} does not refer to it.")
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
    if not stream.read().startswith(b"PK\x05\x06"):
        raise ValueError("it is not a model file, or it is truncated: the end of a zip is missing.")
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
        if not _MEMBER.fullmatch(name):
            raise ValueError(f"it has a member named {name!r}, which no model file has.")
        if name in seen:
            raise ValueError(f"the member {name} occurs twice.")
        seen.add(name)
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError(f"the member {name} is compressed, which model files never are.")
        if info.flag_bits & 0x1:
            raise ValueError(f"the member {name} is encrypted, which model files never are.")
    if sum(info.file_size for info in infos) > size:
        raise ValueError(f"its members claim to be larger than the file of {size} bytes.")
    if min((info.header_offset for info in infos), default=0) != 0:
        raise ValueError("it does not begin with its first member.")


def _check_header(packed: Any, members: dict[str, bytes]) -> None:
    """Take the format, its version, the versions of the writer and the checksum from the JSON."""
    if not isinstance(packed, dict) or packed.get("format") != FORMAT:
        raise ValueError(f"the format in {_JSON} is not {FORMAT!r}.")
    number, versions = packed.get("format_version"), packed.get("versions")
    if not isinstance(versions, dict) or not all(type(v) is str for v in versions.values()):
        raise ValueError(f"{_JSON} does not name the versions that wrote it.")
    if type(number) is not int or number < 1:
        raise ValueError(f"{_JSON} has the format version {number!r}, which does not exist.")
    if number != FORMAT_VERSION:
        writer = f"scoresieve {versions.get('scoresieve', 'unknown')}"
        raise ValueError(
            f"it has format version {number}, written by {writer}; the installed scoresieve "
            f"{installed_version('scoresieve')} reads version {FORMAT_VERSION}. "
            + ("Upgrade scoresieve." if number > FORMAT_VERSION else f"Fit again, or use {writer}.")
        )
    if packed.get(CHECKSUM) != checksum_of(packed, members):
        raise ValueError("it is damaged: its checksum differs. Copy or save it again.")
    for name in ("format", "format_version", "versions", CHECKSUM):
        del packed[name]


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"{_JSON} repeats a key, one of {', '.join(map(repr, found))}.")
    return found


def _refuse_number(text: str) -> float:
    raise ValueError(f"{_JSON} holds the number {text}, which is not valid JSON.")


def _finite(text: str) -> float:
    return float(text) if math.isfinite(float(text)) else _refuse_number(text)


def checksum_of(described: Mapping[str, Any], members: Mapping[str, bytes]) -> str:
    """Hexadecimal digits for ``model.json``, less its own checksum, and for all other members.

    The layout of ``model.json`` in its file does not affect it.
    """
    rest = {key: value for key, value in described.items() if key != CHECKSUM}
    parts = {"": json.dumps(rest, sort_keys=True).encode("ascii"), **members}
    found = hashlib.sha256()
    for name in sorted(parts):
        found.update(f"{name}:{len(parts[name])}:".encode())
        found.update(parts[name])
    return found.hexdigest()


def pack(value: Any, name: str, arrays: dict[str, Array]) -> Any:
    """A value as JSON; arrays go to ``arrays`` under the name of their place."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$": "float", "value": repr(value)}
    if kind is dict and all(type(key) is str and _KEY.fullmatch(key) for key in value):
        return {key: pack(item, f"{name}.{key}", arrays) for key, item in value.items()}
    if kind is range:
        return {"$": "range", "items": [value.start, value.stop, value.step]}
    if kind in (np.ndarray, np.memmap) or isinstance(value, np.generic):
        return _pack_array(value, name, arrays)
    if kind in (list, *_COLLECTIONS.values()):
        items = sorted(value, key=repr) if kind in (set, frozenset) else value
        items = map(list, value.items()) if kind is dict else items
        packed = [pack(item, f"{name}.{i}", arrays) for i, item in enumerate(items)]
        return packed if kind is list else {"$": kind.__name__, "items": packed}
    raise TypeError(
        f"{name} is of type {kind.__module__}.{kind.__qualname__}, which cannot be saved as plain "
        "data; use numbers, strings, lists or NumPy arrays, or pickle the model."
    )


def _pack_array(value: Any, name: str, arrays: dict[str, Array]) -> Any:
    """Arrays of Python objects item by item, all others as they are."""
    array = np.asarray(value)
    if array.dtype.kind == "O":
        items = [pack(item, f"{name}.{i}", arrays) for i, item in enumerate(array.ravel())]
        return {"$": "objects", "shape": list(array.shape), "items": items}
    if not DTYPE.fullmatch(array.dtype.str):
        raise TypeError(
            f"{name} has the dtype {array.dtype}, which cannot be saved as plain data; use "
            "booleans, integers, floats of at most 64 bits, or strings."
        )
    arrays[name] = array
    return {"$": "scalar" if isinstance(value, np.generic) else "array"}


def unpack(value: Any, name: str, members: dict[str, bytes]) -> Any:
    """The inverse of :func:`pack`; removes the members it uses."""
    if isinstance(value, list):
        return [unpack(item, f"{name}.{i}", members) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if "$" not in value:
        return {key: unpack(item, f"{name}.{key}", members) for key, item in value.items()}
    match value:
        case {"$": "array" | "scalar" as tag} if len(value) == 1:
            if f"{name}.npy" not in members:
                raise ValueError(f"the member {name}.npy is missing.")
            array = _read_array(members.pop(f"{name}.npy"), f"{name}.npy")
            return array if tag == "array" else array[()]
        case {"$": "float", "value": "inf" | "-inf" | "nan" as text} if len(value) == 2:
            return float(text)
        case {"$": "range", "items": [int(), int(), int()] as items} if len(value) == 2:
            return range(*items)
        case {"$": "objects", "items": [*items], "shape": [*shape]} if len(value) == 3:
            return _objects(unpack(items, name, members), shape, name)
        case {"$": str(tag), "items": [*items]} if len(value) == 2 and tag in _COLLECTIONS:
            try:
                return _COLLECTIONS[tag](unpack(items, name, members))
            except TypeError:
                raise ValueError(f"{name} of model.json is not a valid {tag}.") from None
    raise ValueError(f"{name} of model.json is a special value of unknown kind: {value['$']!r}.")


def _objects(items: list, shape: list, name: str) -> Array:
    """An array of Python objects."""
    fits = all(type(n) is int and 0 <= n <= _LONGEST for n in shape)
    if not fits or math.prod(shape) != len(items):
        raise ValueError(f"{name} of model.json has the shape {shape!r} and {len(items)} items.")
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(shape)


def _read_array(content: bytes, name: str) -> Array:
    """An array, once dtype and shape are known to need just the bytes that are there."""
    head = _NPY.match(content)
    descr = head[1].decode("latin-1") if head else ""
    if not head or int.from_bytes(content[8:10], "little") != head.end() - 10:
        raise ValueError(f"the member {name} does not begin like a NumPy array.")
    if not DTYPE.fullmatch(descr):
        raise ValueError(f"the member {name} has dtype {descr!r}, which no model file has.")
    dtype, shape = np.dtype(descr), tuple(int(n) for n in re.findall(rb"\d+", head[3]))
    needed, there = math.prod(shape) * dtype.itemsize, len(content) - head.end()
    if needed != there:
        raise ValueError(
            f"the member {name} has {there} bytes; {dtype} of shape {shape} needs {needed}."
        )
    flat = np.frombuffer(content, dtype=dtype, offset=head.end()).copy()
    if dtype.kind == "b" and flat.view(np.uint8).max(initial=0) > 1:
        raise ValueError(f"the member {name} holds booleans other than 0 and 1.")
    if dtype.kind == "U":
        codes = flat.view(np.dtype("u4").newbyteorder(dtype.byteorder))
        if codes.max(initial=0) > sys.maxunicode:
            raise ValueError(f"the member {name} holds invalid text.")
    return flat.reshape(shape, order="F" if head[2] == b"True" else "C")
