"""A disk that is full, a folder that may not be written to: one clear error, and nothing left."""

from __future__ import annotations

import json
import os
import sys

import pytest

from tests.helpers import run_python

#: In an interpreter of its own: limits of the system hold for all of a process.
WRITE = """
import ctypes, json, os, signal, sys
from pathlib import Path
import numpy as np
from scoresieve import MeasureSVC
from scoresieve.design import blocks_from_svmlight, write_blocks

folder, kind = Path(sys.argv[1]), sys.argv[2]
X = np.random.default_rng(0).normal(size=(60, 2000))
y = (X[:, 0] > 0).astype(int)
model = MeasureSVC("f1", budget=5).fit(X, y)
source, old = folder.parent / "data.svm", folder / "old"
source.write_text("".join(f"{i % 2} " + "1:0.5 2:1.5\\n" for i in range(4000)))
old.write_bytes(b"old")
model.report(folder.parent / "page.html", X, y)  # what is imported late comes first
work = {
    "save": lambda path: model.save(path, with_certificate=True),
    "save over": lambda path: model.save(old, with_certificate=True),
    "report": lambda path: model.report(path, X, y),
    "write_blocks": lambda path: write_blocks(X, path, y=y),
    "blocks_from_svmlight": lambda path: blocks_from_svmlight(source, path),
}
if kind == "full":
    import resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
else:
    os.chmod(folder, 0o555)
    if os.geteuid() == 0:  # may write everywhere, by CAP_DAC_OVERRIDE: give it up
        system = ctypes.CDLL(None)
        version_3, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        assert system.capget(version_3, rights) == 0
        rights[0] &= ~(1 << 1)
        assert system.capset(version_3, rights) == 0
found = {}
for name, write in work.items():
    try:
        write(folder / "new")
    except OSError as error:
        found[name] = [error.errno, str(error)]
    left = sorted(path.name for path in folder.iterdir())
    if left != ["old"] or old.read_bytes() != b"old":
        found[name] = ["left", left]
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits and rights of POSIX systems")
@pytest.mark.parametrize(("kind", "number"), [("full", 27), ("read-only", 13)])
def test_what_cannot_be_written_is_said_and_leaves_nothing(kind, number, tmp_path):
    folder = tmp_path.resolve() / "folder"
    folder.mkdir()
    found = json.loads(run_python("-W", "ignore", "-c", WRITE, folder, kind))
    os.chmod(folder, 0o755)
    assert found.keys() == {"save", "save over", "report", "write_blocks", "blocks_from_svmlight"}
    advice = "space, or choose another disk" if kind == "full" else "a folder that you may write to"
    for name, (code, message) in found.items():
        assert code == number, (name, message)
        assert advice in message, name
        assert message.endswith(repr(str(folder / ("old" if name == "save over" else "new")))), name
