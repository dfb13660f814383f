"""Values that JSON does not have, as values of JSON; arrays as members in NumPy's format.

a value at ["a"]["b"]   {"$": "array"}, and the array in the member a.b.npy
                        {"$": "tuple", "items": [...]}, {"$": "float", "value": "inf"}, ...
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from scoresieve._arrays import Array

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
_LARGEST_CODE_POINT = 0x10FFFF
_LONGEST = 2**31 - 1
_COLLECTIONS = {"tuple": tuple, "set": set, "frozenset": frozenset, "dict": dict}
_NON_FINITE = ("inf", "-inf", "nan")


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
        f"{name} is of the type {kind.__module__}.{kind.__qualname__}, which cannot be saved as "
        "plain data; use numbers, text, lists or NumPy arrays, or pickle the model."
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
            "booleans, integers, floats of at most 64 bits, or text."
        )
    arrays[name] = array
    return {"$": "scalar" if isinstance(value, np.generic) else "array"}


def unpack(value: Any, name: str, members: dict[str, bytes]) -> Any:
    """The inverse of :func:`pack`, which takes from ``members`` what it uses."""
    if isinstance(value, list):
        return [unpack(item, f"{name}.{i}", members) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if "$" not in value:
        return {key: unpack(item, f"{name}.{key}", members) for key, item in value.items()}
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
        items = [unpack(item, f"{name}.{i}", members) for i, item in enumerate(items)]
        if tag in _COLLECTIONS and keys == {"items"}:
            try:
                return _COLLECTIONS[tag](items)
            except TypeError:
                raise ValueError(f"{name} of model.json holds what cannot be in a {tag}.") from None
        if tag == "objects" and keys == {"shape", "items"}:
            return _objects(items, value["shape"], name)
    raise ValueError(f"{name} of model.json is a special value of an unknown kind: {tag!r}.")


def _objects(items: list, shape: Any, name: str) -> Array:
    """An array of Python objects."""
    lengths: list[Any] = shape if isinstance(shape, list) else [None]
    fits = all(type(n) is int and 0 <= n <= _LONGEST for n in lengths)
    if not fits or math.prod(lengths) != len(items):
        raise ValueError(f"{name} of model.json has the shape {shape!r} and {len(items)} items.")
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(lengths)


def _read_array(content: bytes, name: str) -> Array:
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
