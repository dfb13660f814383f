"""``open_blocks`` and the first use of what it opened: folders whose files were changed."""

from __future__ import annotations

import json
import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve.design import DamagedBlocksError, open_blocks, write_blocks
from studies.common.internals import manifest_checksum
from studies.soak.archives import hostile_array
from studies.soak.bytes_mutations import mutated
from studies.soak.json_mutations import mutated_tree
from studies.soak.tally import Tally

MANIFEST = "manifest.json"
#: What products and columns of a folder that lies about its size may take.
MAX_MEMORY = 2**27


class BlockFolders:
    """A DamagedBlocksError, a refusal for want of memory that names how much, or products."""

    name = "row blocks"

    def prepare(self, folder: Path) -> None:
        """A sparse and a dense folder, with labels and names."""
        rng = np.random.default_rng(1)
        X = np.where(rng.random((30, 12)) < 0.3, rng.normal(size=(30, 12)), 0.0)
        names = [f"x{j}" for j in range(12)]
        self._folders: list[tuple[Path, dict[str, bytes]]] = []
        for name, matrix in (("sparse", sp.csr_array(X)), ("dense", X)):
            path = folder / name
            if not path.exists():
                write_blocks(
                    matrix, path, y=np.arange(30) % 2, feature_names=names, block_bytes=900
                )
            files = {each.name: each.read_bytes() for each in path.iterdir()}
            self._folders.append((path, files))

    def try_one(self, source: random.Random, number: int, tally: Tally) -> None:
        """Change files, use the folder, and put the files back."""
        folder, files = source.choice(self._folders)
        kind, changed = _changed(files, source)
        for name, content in changed.items():
            (folder / name).write_bytes(content)
        try:
            tally.count(f"{kind}: {_outcome(folder)}")
        finally:
            for name in changed:
                (folder / name).write_bytes(files[name])


def _outcome(folder: Path) -> str:
    try:
        _use(folder)
    except DamagedBlocksError:
        return "refused"
    except MemoryError as error:
        if type(error) is not MemoryError or "max_memory" not in str(error):
            raise
        return "refused for want of memory"
    return "used"


def _use(folder: Path) -> None:
    """Everything that a fit does with X."""
    X = open_blocks(folder, n_jobs=1, max_memory=MAX_MEMORY)
    repr(X)
    X.verify()
    with np.errstate(all="ignore"):
        X.statistics  # noqa: B018
        X.correlate(np.ones(X.shape[0]))
        X[:, [0, X.shape[1] - 1]] if X.shape[1] else None
        X[[0]] if X.shape[0] else None


def _changed(files: dict[str, bytes], source: random.Random) -> tuple[str, dict[str, bytes]]:
    """A kind of mutation, and the files after it."""
    kind = source.choice(("bytes", "manifest", "array", "array", "member"))
    manifest = json.loads(files[MANIFEST])
    if kind == "manifest":
        tree = mutated_tree(manifest, source)
        return kind, {MANIFEST: _with_checksum(tree)}
    name = source.choice(sorted(files))
    if kind == "bytes" or name == MANIFEST:
        return "bytes", {name: mutated(files[name], source)}
    change = hostile_array if kind == "array" else mutated
    content = change(files[name], source)
    for stored in _stored_arrays(manifest):
        if stored["name"] == name:
            stored |= {"n_bytes": len(content), "crc32": zlib.crc32(content)}
    return kind, {name: content, MANIFEST: _with_checksum(manifest)}


def _stored_arrays(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    return [manifest["labels"], *(file for block in manifest["blocks"] for file in block["files"])]


def _with_checksum(tree: Any) -> bytes:
    """The manifest with the checksum of a writer who knows what he does."""
    try:
        if isinstance(tree, dict):
            rest = {key: value for key, value in tree.items() if key != "crc32"}
            tree = rest | {"crc32": manifest_checksum(rest)}
        return json.dumps(tree).encode()
    except (RecursionError, ValueError):
        return b"[" * 10**5
