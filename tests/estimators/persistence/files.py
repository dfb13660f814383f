"""Files that are no models, made from one that is."""

from __future__ import annotations

import io
import json
import warnings
import zipfile

import numpy as np
import pytest

from scoresieve import load
from tests.helpers import with_checksum


def reloaded(model, path, *, with_certificate=True):
    """The model through a file."""
    model.save(path, with_certificate=with_certificate)
    return load(path)


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, members, compression=zipfile.ZIP_STORED, *, checksum=True):
    """A zip of the members; the checksum in ``model.json`` is made right unless it shall not be."""
    if checksum and isinstance(members, dict):
        members = with_checksum(members)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(path, "w", compression) as archive:
            for name, content in members.items() if isinstance(members, dict) else members:
                archive.writestr(name, content)


def npy(value):
    stream = io.BytesIO()
    np.save(stream, value)
    return stream.getvalue()


def put(members, place, value):
    """The members with another value at a place of ``model.json``; ``...`` takes it away.

    An array, or a function of one, stands in a member of its own, which there must be.
    """
    if callable(value) or isinstance(value, np.ndarray):
        old = np.load(io.BytesIO(members[f"{place}.npy"]))
        return members | {f"{place}.npy": npy(value(old) if callable(value) else value)}
    described = json.loads(members["model.json"])
    *way, last = place.split(".")
    tree = described
    for key in way:
        tree = tree[int(key) if isinstance(tree, list) else key]
    last = int(last) if isinstance(tree, list) else last
    if value is ...:
        del tree[last]
    else:
        tree[last] = value
    return members | {"model.json": json.dumps(described).encode()}


def refused(path, message):
    with pytest.raises(ValueError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(f"cannot load {str(path)!r}: ")
