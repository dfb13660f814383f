"""``blocks_from_svmlight``: text that is nearly svmlight, plain, gz and bz2."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from scoresieve.design import blocks_from_svmlight
from studies.soak.bytes_mutations import NUMBERS, mutated
from studies.soak.tally import Tally

#: Columns up to which the rows are compared.
MOST_COLUMNS = 10**6
#: So few that some files have several blocks.
BLOCK_BYTES = 400


class SvmlightFiles:
    """A ValueError that names the file, or the rows that scikit-learn reads."""

    name = "svmlight"

    def prepare(self, folder: Path) -> None:
        """Where files go."""
        self._path, self._folder = folder / "data.svm", folder / "converted"

    def try_one(self, source: random.Random, number: int, tally: Tally) -> None:
        """Convert a file, and compare with what scikit-learn makes of its text."""
        kind, text, content = _file(source)
        self._path.write_bytes(content)
        shutil.rmtree(self._folder, ignore_errors=True)
        try:
            X = blocks_from_svmlight(self._path, self._folder, block_bytes=BLOCK_BYTES)
        except ValueError as error:
            left = [path.name for path in self._path.parent.iterdir() if path != self._path]
            if str(self._path) not in str(error):
                tally.fail(number, f"{kind}: the message does not name the file: {error}")
            elif left:
                tally.fail(number, f"{kind}: {left} is left over")
            elif text is not None and _is_valid(text):
                tally.fail(number, f"{kind}: scikit-learn reads what was refused: {error}")
            else:
                tally.count(f"{kind}: refused")
            return
        if text is None:
            tally.count(f"{kind}: read")
        elif X.shape[1] > MOST_COLUMNS or _equal(X, text):
            tally.count(f"{kind}: as scikit-learn")
        else:
            tally.fail(number, f"{kind}: other rows than scikit-learn's")


def _is_valid(text: bytes) -> bool:
    """Whether scikit-learn reads it as rows of finite numbers with columns from 1 on."""
    try:
        X, y = load_svmlight_file(io.BytesIO(text), zero_based=False)
    except (ValueError, OverflowError):
        return False
    return bool(X.shape[0] and np.all(np.isfinite(X.data)) and np.all(np.isfinite(y)))


def _equal(X: Any, text: bytes) -> bool:
    expected, y = load_svmlight_file(io.BytesIO(text), zero_based=False)
    found = X[:, np.arange(X.shape[1])].tocsr()
    pairs = [(X.labels, y), (found.data, expected.data), (found.indices, expected.indices)]
    pairs.append((found.indptr, expected.indptr))
    return found.shape == expected.shape and all(
        np.array_equal(one, other, equal_nan=True) for one, other in pairs
    )


def _file(source: random.Random) -> tuple[str, bytes | None, bytes]:
    """A kind, the text if it is known, and the content of the file."""
    text = _text(source)
    kind = source.choice(("valid", "tokens", "tokens", "bytes", "compressed", "packed", "bomb"))
    if kind == "tokens":
        text = _with_odd_tokens(text, source)
    elif kind == "bytes":
        text = mutated(text, source)
    pack = source.choice((gzip.compress, bz2.compress))
    if kind == "compressed":
        return kind, None, mutated(pack(text), source)
    if kind == "bomb":
        odd = source.choice((b"1 1:1\n", b"0", b" ", b"# ", b"\n", b"1 1:1 "))
        return kind, None, pack(text + odd * source.choice((10, 10, 10, 10**4)))
    is_plain = not text.startswith((b"\x1f\x8b", b"BZh"))
    return kind, text if is_plain else None, pack(text) if kind == "packed" else text


def _text(source: random.Random) -> bytes:
    """Some valid lines."""
    lines = []
    for _ in range(source.randint(1, 8)):
        columns = sorted(source.sample(range(1, 30), source.randint(0, 5)))
        cells = [f"{j}:{source.choice(('1', '0.5', '-2e-3', '1e10', '0'))}" for j in columns]
        query = ["qid:7"] if source.random() < 0.2 else []
        line = " ".join([source.choice(("1", "-1", "+1", "0.5")), *query, *cells])
        lines.append(line + source.choice(("", " ", " # words: 3", "\r")))
    return ("\n".join(lines) + source.choice(("", "\n", "\n\n"))).encode()


def _with_odd_tokens(text: bytes, source: random.Random) -> bytes:
    """Labels, columns or values replaced by what programs stumble over."""
    words = text.decode().split(" ")
    for _ in range(source.choice((1, 1, 2))):
        at = source.randrange(len(words))
        parts = words[at].split(":")
        parts[source.randrange(len(parts))] = source.choice(NUMBERS)
        words[at] = source.choice((":", ":", ":", " ", "::")).join(parts)
    return " ".join(words).encode("utf-8", "surrogatepass")
