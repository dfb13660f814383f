"""One file of plain data: a zip of ``model.json`` and of the ``.npy`` arrays that it refers to.

    model.json   {"format": "scoresieve-model", "format_version": 1, "versions": {...}, ...}
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
import secrets
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = "scoresieve-model"
FORMAT_VERSION = 1

_JSON = "model.json"
_KEY = re.compile(r"[A-Za-z0-9_]+")
_MEMBER = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*\.(npy|json)")
#: dtypes as NumPy spells them: booleans, integers, floats, text, dates and spans of time.
DTYPE = re.compile(
    r"\|b1|\|[iu]1|[<>][iuf][248]|[<>]U[1-9]\d{0,8}|\|S[1-9]\d{0,8}"
    r"|[<>][mM]8\[(?:Y|M|W|D|h|m|s|ms|us|ns)\]"
)
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([^']+)', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n",
    re.DOTALL,
)
_LARGEST_CODE_POINT = 0x10FFFF
_LONGEST = 2**31 - 1
_END_OF_ZIP = b"PK\x05\x06"
_BROKEN_ZIP = (
    zipfile.BadZipFile,
    struct.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
)
_SEQUENCES = {"tuple": tuple, "set": set, "frozenset": frozenset}
_NON_FINITE = ("inf", "-inf", "nan")


def write_model(path: str | os.PathLike, tree: dict[str, Any]) -> None:
    """Write a tree of plain values, all of it or nothing.

    Parameters
    ----------
    path : path
        Replaced only once the new file is complete and on the disk.
    tree : dict
        With text as keys; of None, bool, int, float, str, list, tuple, set, range, arrays and
        scalars of NumPy, and dicts again.
    """
    names = ("scoresieve", "numpy", "scikit-learn")
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": {name: installed_version(name) for name in names},
    }
    arrays: dict[str, NDArray] = {}
    packed = header | {key: _pack(value, key, arrays) for key, value in tree.items()}
    text = json.dumps(packed, indent=1, allow_nan=False).encode("ascii")

    def write(stream: Any) -> None:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            _add_member(archive, _JSON, text)
            for name, array in arrays.items():
                content = io.BytesIO()
                np.lib.format.write_array(content, array, version=(1, 0), allow_pickle=False)
                _add_member(archive, f"{name}.npy", content.getvalue())

    replace_file(path, write)


def read_model(path: str | os.PathLike) -> dict[str, Any]:
    """The tree that :func:`write_model` wrote, every member of the file being part of it.

    Raises
    ------
    ValueError
        If the file is not exactly of this format; without the name of the file, see
        :func:`naming_file`.
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
        _check_header(packed)
        tree = {key: _unpack(value, key, members) for key, value in packed.items()}
    except RecursionError:
        raise ValueError(f"{_JSON} is nested too deeply.") from None
    if members:
        raise ValueError(f"{', '.join(sorted(members))}: surplus, {_JSON} does not refer to it.")
    return tree


@contextmanager
def naming_file(path: str | os.PathLike) -> Iterator[None]:
    """Put the name of the file before each complaint about its content."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"cannot load {os.fspath(path)!r}: {error}") from error


def installed_version(package: str) -> str:
    """The version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:  # a source tree on the path
        return "0+unknown"


def replace_file(path: str | os.PathLike, write: Callable[[Any], None]) -> None:
    """Call ``write`` with a new file beside ``path``, and then put it in the place of ``path``.

    If anything fails, the old file is as it was and the new one is gone.
    """
    path = os.path.realpath(path)
    unfinished = f"{path}.{secrets.token_hex(8)}.tmp"
    # A plain open, unlike mkstemp, gives the permissions that every other file of the user has.
    with open(unfinished, "xb") as stream:
        try:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()
            os.replace(unfinished, path)
        except BaseException:
            stream.close()
            os.unlink(unfinished)
            raise


def _add_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Without the time and the system of the writer, so that equal models are equal files."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system, info.external_attr = 3, 0o644 << 16
    archive.writestr(info, content)


def _pack(value: Any, name: str, arrays: dict[str, NDArray]) -> Any:
    """A value as JSON; arrays go to ``arrays`` under the name of their place."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$": "float", "value": repr(value)}
    if kind is dict and all(type(key) is str and _KEY.fullmatch(key) for key in value):
        return {key: _pack(item, f"{name}.{key}", arrays) for key, item in value.items()}
    if kind is range:
        return {"$": "range", "items": [value.start, value.stop, value.step]}
    if kind in (np.ndarray, np.memmap) or isinstance(value, np.generic):
        return _pack_array(value, name, arrays)
    if kind in (list, tuple, set, frozenset):
        items = sorted(value, key=repr) if kind in (set, frozenset) else value
        packed = [_pack(item, f"{name}.{i}", arrays) for i, item in enumerate(items)]
        return packed if kind is list else {"$": kind.__name__, "items": packed}
    raise TypeError(
        f"{name} is of the type {kind.__module__}.{kind.__qualname__}, which cannot be saved as "
        "plain data; use numbers, text, lists or NumPy arrays, or pickle the model."
    )


def _pack_array(value: Any, name: str, arrays: dict[str, NDArray]) -> Any:
    """Arrays of Python objects item by item, all others as they are."""
    array = np.asarray(value)
    if array.dtype.kind == "O":
        items = [_pack(item, f"{name}.{i}", arrays) for i, item in enumerate(array.ravel())]
        return {"$": "objects", "shape": list(array.shape), "items": items}
    if not DTYPE.fullmatch(array.dtype.str):
        raise TypeError(
            f"{name} has the dtype {array.dtype}, which cannot be saved as plain data; use "
            "booleans, integers, floats of at most 64 bits, or text."
        )
    arrays[name] = array
    return {"$": "scalar" if isinstance(value, np.generic) else "array"}


def _unpack(value: Any, name: str, members: dict[str, bytes]) -> Any:
    """The inverse of ``_pack``, which takes from ``members`` what it uses."""
    if isinstance(value, list):
        return [_unpack(item, f"{name}.{i}", members) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if "$" not in value:
        return {key: _unpack(item, f"{name}.{key}", members) for key, item in value.items()}
    tag, keys = str(value["$"]), set(value) - {"$"}
    if tag in ("array", "scalar") and not keys:
        if f"{name}.npy" not in members:
            raise ValueError(f"the member {name}.npy is missing.")
        array = _read_array(members.pop(f"{name}.npy"), f"{name}.npy")
        return array if tag == "array" else array[()]
    if tag == "float" and keys == {"value"} and value["value"] in _NON_FINITE:
        return float(value["value"])
    items = value.get("items")
    if isinstance(items, list):
        if tag == "range" and keys == {"items"} and [type(item) for item in items] == [int] * 3:
            return range(*items)
        items = [_unpack(item, f"{name}.{i}", members) for i, item in enumerate(items)]
        if tag in _SEQUENCES and keys == {"items"}:
            return _sequence(tag, items, name)
        if tag == "objects" and keys == {"shape", "items"}:
            return _objects(items, value["shape"], name)
    raise ValueError(f"{name} of {_JSON} is a special value of an unknown kind: {tag!r}.")


def _sequence(tag: str, items: list, name: str) -> Any:
    try:
        return _SEQUENCES[tag](items)
    except TypeError:
        raise ValueError(f"{name} of {_JSON} is a set of what cannot be in a set.") from None


def _objects(items: list, shape: Any, name: str) -> NDArray:
    """An array of Python objects."""
    lengths = shape if isinstance(shape, list) else [None]
    fits = all(type(n) is int and 0 <= n <= _LONGEST for n in lengths)
    if not fits or math.prod(lengths) != len(items):
        raise ValueError(f"{name} of {_JSON} has the shape {shape!r} and {len(items)} items.")
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(lengths)


def _read_members(stream: Any) -> dict[str, bytes]:
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
        raise ValueError(
            f"its members are said to be larger than the file, which has {size} bytes."
        )
    if min((info.header_offset for info in infos), default=0) != 0:
        raise ValueError("it does not begin with its first member.")


def _read_array(content: bytes, name: str) -> NDArray:
    """An array, once dtype and shape are known to need just the bytes that are there."""
    head = _NPY.match(content)
    descr = head[1].decode("latin-1") if head else ""
    if not head or int.from_bytes(content[8:10], "little") != head.end() - 10:
        raise ValueError(f"the member {name} does not begin as an array of NumPy does.")
    if not DTYPE.fullmatch(descr):
        raise ValueError(f"the member {name} has the dtype {descr!r}, which no model file has.")
    dtype, shape = np.dtype(descr), tuple(int(n) for n in re.findall(rb"\d+", head[3]))
    needed, there = math.prod(shape) * dtype.itemsize, len(content) - head.end()
    if needed != there:
        raise ValueError(
            f"the member {name} should have {needed} bytes for {dtype} of shape {shape}, and has "
            f"{there}."
        )
    flat = np.frombuffer(content, dtype=dtype, offset=head.end()).copy()
    if dtype.kind == "b" and flat.view(np.uint8).max(initial=0) > 1:
        raise ValueError(f"the member {name} holds booleans that are neither 0 nor 1.")
    if dtype.kind == "U":
        codes = flat.view(np.dtype("u4").newbyteorder(dtype.byteorder))
        if codes.max(initial=0) > _LARGEST_CODE_POINT:
            raise ValueError(f"the member {name} holds what is no text.")
    return flat.reshape(shape, order="F" if head[2] == b"True" else "C")


def _check_header(packed: Any) -> None:
    """Take the format, its version and the versions of the writer from the JSON."""
    if not isinstance(packed, dict) or packed.pop("format", None) != FORMAT:
        raise ValueError(f"{_JSON} does not say that it is of the format {FORMAT!r}.")
    number, versions = packed.pop("format_version", None), packed.pop("versions", None)
    if not isinstance(versions, dict) or not all(type(v) is str for v in versions.values()):
        raise ValueError(f"{_JSON} does not say by which versions it was written.")
    if type(number) is not int or number < 1:
        raise ValueError(f"{_JSON} has the format version {number!r}, which never was one.")
    if number > FORMAT_VERSION:
        raise ValueError(
            f"it has the format version {number} and was written by scoresieve "
            f"{versions.get('scoresieve', 'unknown')}; this is scoresieve "
            f"{installed_version('scoresieve')}, which reads versions up to {FORMAT_VERSION}. "
            "Upgrade scoresieve."
        )


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"{_JSON} has a key twice, among {', '.join(map(repr, found))}.")
    return found


def _refuse_number(text: str) -> float:
    raise ValueError(f"{_JSON} holds the number {text}, which JSON does not have.")


def _finite(text: str) -> float:
    return float(text) if math.isfinite(float(text)) else _refuse_number(text)
