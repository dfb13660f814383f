"""Bytes that were a valid file once, and are changed as disks, wires and enemies change them."""

from __future__ import annotations

import random
import struct
from typing import Any

#: Numbers that programs stumble over, as text and as bytes.
NUMBERS = (
    *("0", "-0", "-1", "1e400", "-1e400", "nan", "inf", "-inf", "1e-320", "0x10", "1_0", "१", ""),
    *("2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808"),
    *("99999999999999999999999999", "1.5", "+3", "1e5", "true", "None", "1,5", " 1", "\x00"),
    "\ufeff1",
)
PATTERNS = (
    *(b"\x00", b"\xff", b"\x80", b"\n", b"\r\n", b"'", b'"', b"{", b"}", b"[", b"]", b":", b","),
    *(b"\x00" * 8, b"\xff" * 8, b"\x7f\xff\xff\xff", struct.pack("<d", float("nan"))),
    *(struct.pack("<d", float("inf")), struct.pack("<q", -1), struct.pack("<q", 2**62)),
    *(b"__import__('os').system('true')", b"cos\nsystem\n(S'true'\ntR.", b"../../../etc/passwd"),
)


def mutated(content: bytes, source: random.Random, others: tuple[bytes, ...] = ()) -> bytes:
    """The content after one to four changes."""
    for _ in range(source.choice((1, 1, 1, 2, 4))):
        content = source.choice(_CHANGES)(content, source, others)
    return content


def _flipped(content: bytes, source: random.Random, _: Any) -> bytes:
    changed = bytearray(content)
    for _ in range(source.choice((1, 1, 2, 16))):
        if changed:
            changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
    return bytes(changed)


def _replaced(content: bytes, source: random.Random, _: Any) -> bytes:
    at, pattern = source.randint(0, len(content)), source.choice(PATTERNS)
    return content[:at] + pattern + content[at + len(pattern) :]


def _inserted(content: bytes, source: random.Random, _: Any) -> bytes:
    at = source.randint(0, len(content))
    return content[:at] + source.choice(PATTERNS) * source.choice((1, 1, 3, 100)) + content[at:]


def _cut_out(content: bytes, source: random.Random, _: Any) -> bytes:
    start, stop = sorted((source.randint(0, len(content)), source.randint(0, len(content))))
    return content[:start] + content[min(stop, start + source.choice((1, 4, 64, 10**6))) :]


def _truncated(content: bytes, source: random.Random, _: Any) -> bytes:
    return content[: source.randint(0, len(content))]


def _repeated(content: bytes, source: random.Random, _: Any) -> bytes:
    start, stop = sorted((source.randint(0, len(content)), source.randint(0, len(content))))
    return content[:stop] + content[start:stop] + content[stop:]


def _spliced(content: bytes, source: random.Random, others: tuple[bytes, ...]) -> bytes:
    other = source.choice(others) if others else content[::-1]
    return content[: source.randint(0, len(content))] + other[source.randint(0, len(other)) :]


_CHANGES = (_flipped, _flipped, _replaced, _inserted, _cut_out, _truncated, _repeated, _spliced)
