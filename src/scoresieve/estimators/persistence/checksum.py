"""SHA-256 of all that a model file says, so that a changed weight is an error.

The zip's own CRC-32 finds what disks and wires do to a file, member by member. This one covers all
members together and is longer; it is no signature, since whoever writes a file can compute it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

#: The entry of ``model.json`` that holds it.
CHECKSUM = "sha256"


def checksum_of(described: Mapping[str, Any], members: Mapping[str, bytes]) -> str:
    """Hexadecimal digits for ``model.json``, less its own checksum, and for all other members.

    Parameters
    ----------
    described : mapping
        The content of ``model.json``; how it was laid out in its file has no part in it.
    members : mapping of bytes
        By name, in any order.
    """
    rest = {key: value for key, value in described.items() if key != CHECKSUM}
    parts = {"": json.dumps(rest, sort_keys=True).encode("ascii"), **members}
    found = hashlib.sha256()
    for name in sorted(parts):
        found.update(f"{name}:{len(parts[name])}:".encode())
        found.update(parts[name])
    return found.hexdigest()
