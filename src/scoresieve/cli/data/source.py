"""A file or standard input: what it holds, found from its first bytes, and a stream of it."""

from __future__ import annotations

import bz2
import enum
import gzip
import io
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from scoresieve.cli.errors import BadData, WrongUse, one_line
from scoresieve.design.blocks.manifest import MANIFEST

#: Bytes at the start of a file that its format is recognised from.
HEAD = 65536
STANDARD_INPUT = "-"

Watch = Callable[[float], object]


class Kind(enum.Enum):
    """What a file holds."""

    SVMLIGHT = "svmlight"
    CSV = "CSV"
    NPZ = "npz"
    PARQUET = "parquet"
    BLOCKS = "row blocks"


_PACKED = {".gz": b"\x1f\x8b", ".bz2": b"BZh"}
_UNPACK: dict[str, Callable[[Any], Any]] = {
    "": lambda stream: stream,
    ".gz": lambda stream: gzip.GzipFile(fileobj=stream),
    ".bz2": bz2.BZ2File,
}
_OTHERS = {b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstandard", b"7z\xbc\xaf": "7z"}
_LABEL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?(,[-+]?\d+(\.\d+)?)*")
_PAIR = re.compile(r"(qid|-?\d+):\S+")


@dataclass(frozen=True)
class Choices:
    """Options about a file; ``names`` is a file with the names of numbered columns."""

    label: str | None = None
    positive: str | None = None
    bag: str | None = None
    text: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    names: str | None = None
    unit_rows: bool = False


@dataclass(frozen=True)
class Source:
    """Where rows come from: a file, standard input, or a folder of row blocks.

    Attributes
    ----------
    name : str
        For messages.
    kind : Kind
    packing : str
        ".gz", ".bz2" or "".
    content : bytes, optional
        All of standard input, which can be read only once.
    """

    name: str
    kind: Kind
    packing: str = ""
    content: bytes | None = None

    @contextmanager
    def open(self, watch: Watch | None = None) -> Iterator[IO[bytes]]:
        """The unpacked bytes from the beginning; errors name the file.

        Parameters
        ----------
        watch : callable, optional
            Told the share of the file that has been read.
        """
        with reading(self.name), _raw(self.name, self.content) as raw:
            stream: Any = raw if watch is None else io.BufferedReader(_Watched(raw, watch), HEAD)
            yield _UNPACK[self.packing](stream)


class _Watched(io.RawIOBase):
    """A stream that reports how far it has been read."""

    def __init__(self, stream: IO[bytes], watch: Watch) -> None:
        self._stream, self._watch = stream, watch
        self._size = max(stream.seek(0, os.SEEK_END), 1)
        stream.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: Any) -> int:
        chunk = self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._watch(self._stream.tell() / self._size)
        return len(chunk)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Whatever fails while a file is read becomes one sentence that names it."""
    try:
        yield
    except (BadData, WrongUse):
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadData(
            f"{name}: the compressed file is damaged or truncated ({one_line(error)}); copy or "
            "download it again."
        ) from error
    except UnicodeDecodeError as error:
        raise BadData(
            f"{name}: byte {error.start} is not valid UTF-8; save the file in that encoding."
        ) from error
    except OSError as error:
        raise BadData(
            f"{name}: cannot be read ({error.strerror or one_line(error)}); check the file."
        ) from error
    except (ValueError, OverflowError, zipfile.BadZipFile, RuntimeError) as error:
        raise BadData(f"{name}: cannot be read ({one_line(error)}); correct the file.") from error


def _raw(path: str, content: bytes | None) -> IO[bytes]:
    return open(path, "rb") if content is None else io.BytesIO(content)


def find_source(path: str) -> Source:
    """What the file, or the folder of row blocks, holds; ``-`` is standard input."""
    content = sys.stdin.buffer.read() if path == STANDARD_INPUT else None
    name = "standard input" if content is not None else path
    if content is None:
        _check_file(path)
        if os.path.isdir(path):
            return Source(name, Kind.BLOCKS)
    with reading(name), _raw(path, content) as raw:
        start = raw.read(HEAD)
        packing = _packing(name, start)
        raw.seek(0)
        head: bytes = _UNPACK[packing](raw).read(HEAD)
        if not head.strip():
            raise BadData(f"{name}: the file is empty; give one with at least one row.")
        kind = _kind(name, head, raw)
    # Standard input is named as such in messages, and read from memory.
    return Source(name, kind, packing, content)


def _check_file(path: str) -> None:
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, MANIFEST)):
        raise BadData(
            f"{path}: this is a folder without row blocks; give a file, or a folder written by "
            "scoresieve convert."
        )
    if not os.path.exists(path):
        raise BadData(f"{path}: there is no such file; check the name and the folder.")


def _packing(name: str, start: bytes) -> str:
    """How a file is compressed: its name and its content must not contradict each other."""
    found = next((suffix for suffix, magic in _PACKED.items() if start.startswith(magic)), "")
    suffix = os.path.splitext(name)[1].lower()
    if suffix in _PACKED and suffix != found and start:
        raise BadData(
            f"{name}: the name ends in {suffix}, but the content is not in that format; rename the "
            "file, or compress it again."
        )
    for magic, other in _OTHERS.items():
        if start.startswith(magic):
            raise BadData(f"{name}: {other} files are not supported; unpack it, or use gz or bz2.")
    return found


def _kind(name: str, head: bytes, raw: IO[bytes]) -> Kind:
    """By content alone: names are often uninformative."""
    if head.startswith(b"PAR1"):
        return Kind.PARQUET
    if head.startswith(b"PK"):
        raw.seek(0)
        members = zipfile.ZipFile(raw).namelist()
        if "model.json" in members:
            raise BadData(f"{name}: this is a model, not data; give the model before the data.")
        if not members or not all(member.endswith(".npy") for member in members):
            raise BadData(f"{name}: this zip file is not an npz file; unpack it first.")
        return Kind.NPZ
    if b"\0" in head:
        raise BadData(
            f"{name}: the binary content is neither npz nor parquet; convert it to one of these, "
            "CSV or svmlight."
        )
    return Kind.SVMLIGHT if _is_svmlight(_lines(head)) else Kind.CSV


def _lines(head: bytes) -> list[str]:
    """Whole lines of the beginning, without comments; the last of a long file is cut off."""
    text = head.decode("utf-8-sig", errors="replace")
    lines = text.splitlines()
    lines = lines[:-1] if len(head) == HEAD and len(lines) > 1 else lines
    return [line for line in (each.split("#")[0].strip() for each in lines) if line][:50]


def _is_svmlight(lines: list[str]) -> bool:
    """``label index:value ...`` in most lines; an error can then name the damaged ones."""
    rows = [line.split() for line in lines]
    pairs = [len(row) > 1 and bool(_PAIR.fullmatch(row[1])) for row in rows]
    bare = [len(row) == 1 and bool(_LABEL.fullmatch(row[0])) for row in rows]
    return any(pairs) and 2 * (sum(pairs) + sum(bare)) > len(rows)
