"""Zip files as an enemy writes them: members of any content, with every checksum right."""

from __future__ import annotations

import io
import json
import random
import warnings
import zipfile
from typing import Any

import numpy as np

from studies.common.internals import model_checksum
from studies.soak.bytes_mutations import mutated
from studies.soak.json_mutations import mutated_tree

JSON = "model.json"
NAMES = (
    *("a/b.npy", "/etc/passwd", "../x.npy", "..\\x.npy", "C:\\x.npy", "x.pkl", "y.json", "", "."),
    *("\x00.npy", "é.npy", "a" * 300 + ".npy", "fitted.coef_.data.npy", "model.json", "con.npy"),
)


def members_of(content: bytes) -> dict[str, bytes]:
    """The members of a zip by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members: Any, compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip of (name, content) in this order; its CRC-32 are right."""
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(stream, "w", compression) as archive:
            for name, content in members:
                archive.writestr(zipfile.ZipInfo(name), content, compress_type=compression)
    return stream.getvalue()


def repaired(members: dict[str, bytes]) -> dict[str, bytes]:
    """The members with the checksum of a model file made right, if there is an object of JSON."""
    others = {name: content for name, content in members.items() if name != JSON}
    try:
        tree = json.loads(members[JSON])
        tree["sha256"] = model_checksum(tree, others)
        text = json.dumps(tree).encode()
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return members
    return {JSON: text, **others}


def hostile_archive(content: bytes, source: random.Random) -> tuple[str, bytes]:
    """A kind of mutation, and the model file after it."""
    members = members_of(content)
    kind = source.choice(("bytes", "member", "json", "json", "array", "array", "zip"))
    if kind == "bytes":
        return kind, mutated(content, source)
    if kind == "zip":
        return kind, _hostile_zip(members, source)
    if kind == "json":
        tree = mutated_tree(json.loads(members[JSON]), source)
        try:
            members[JSON] = json.dumps(tree).encode()
        except (RecursionError, ValueError):
            members[JSON] = b"[" * 10**5
    else:
        arrays = [name for name in members if kind == "member" or name != JSON]
        name = source.choice(arrays)
        change = hostile_array if kind == "array" else mutated
        members[name] = change(members[name], source)
    return kind, archive_of(repaired(members).items())


def hostile_array(content: bytes, source: random.Random) -> bytes:
    """A ``.npy`` file with other numbers, another type, another shape or another head."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    change = source.randrange(6)
    if change == 0:
        return mutated(content[:128], source) + content[128:]
    if change == 1:
        kinds = ("<f8", "<f4", "<i8", "|b1", "<U3", "|S5", ">f8", "<M8[D]", "<c16", "|V4", "<f2")
        array = np.zeros(array.shape, dtype=source.choice(kinds))
    elif change == 2:
        shape = source.choice(((), (0,), (1,), (3,), (0, 5), (7, 1), (2, 2, 2), (array.size + 1,)))
        array = np.zeros(shape, dtype=array.dtype)
    elif change == 3:
        claimed = source.choice(("(1000000000000,)", "(-3,)", "(3.0,)", "(999999999999999999, 0)"))
        return content[:128].replace(str(array.shape).encode(), claimed.encode()) + content[128:]
    elif array.size and array.dtype.kind in "biuf":
        values = np.array([np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, 2.0**62, 255.0, 3.0])
        flat = array.copy().reshape(-1)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flat[source.randrange(flat.size)] = values[source.randrange(values.size)].astype(
                flat.dtype
            )
        array = flat.reshape(array.shape)
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _hostile_zip(members: dict[str, bytes], source: random.Random) -> bytes:
    """Bombs, names of other folders, members that are there twice, and directories that lie."""
    change = source.randrange(7)
    items = list(members.items())
    if change == 0:
        bomb = bytes(source.choice((10**5, 10**7)))
        items.append((source.choice(("bomb.npy", items[-1][0])), bomb))
        return archive_of(items, source.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)))
    if change == 1:
        items.insert(source.randint(0, len(items)), (source.choice(NAMES), source.choice(items)[1]))
        return archive_of(items)
    if change == 2:
        at = source.randrange(len(items))
        items[at] = (source.choice(NAMES), items[at][1])
        return archive_of(items)
    if change == 3:
        source.shuffle(items)
        return archive_of(items[: source.randint(0, len(items))])
    if change == 4:
        tree = json.loads(members[JSON])
        tree["format_version"] = source.choice((1, 2, 4, 99, 10**30, -1, 3.0, "3", None, True))
        return archive_of(repaired(members | {JSON: json.dumps(tree).encode()}).items())
    whole = bytearray(archive_of(items))
    at = whole.rindex(b"PK\x01\x02") if change == 5 else whole.rindex(b"PK\x05\x06")
    width, value = source.choice((1, 2, 4)), source.choice((0, 1, 2**7, 2**31 - 1, 2**32 - 1))
    at += source.randrange(4, 40 if change == 5 else 20)
    whole[at : at + width] = (value % 256**width).to_bytes(width, "little")
    return bytes(whole[: len(members) * 10**9])
