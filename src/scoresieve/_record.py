"""Strict reading of plain data: every entry is asked for, with the type and shape it must have."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from scoresieve._arrays import Array

LARGEST = sys.float_info.max


@dataclass
class Known:
    """The most bytes of dense weights, sizes by name, and the entries checked so far.

    The first array with a size of some name, ``"features"`` for example, fixes that size; all
    others must agree, those of models inside the model included. A name that begins with a dot,
    ``".columns"`` for example, is a size of its own in every record.
    """

    max_bytes: float = float("inf")
    sizes: dict[str, int] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)


class Record:
    """A dict from a file; every entry must be read, with its expected type."""

    def __init__(self, content: Any, name: str, known: Known | None = None) -> None:
        if type(content) is not dict:
            raise ValueError(f"{name} must be an object, not {content!r:.80}.")
        self._content, self.name, self.known = dict(content), name, known or Known()

    def refuse(self, key: Any, why: str) -> NoReturn:
        """Raise the ValueError for an entry."""
        raise ValueError(f"{self.name}.{key} {why}")

    def names(self) -> list[Any]:
        """The entries that were not read yet."""
        return list(self._content)

    def is_null(self, key: Any) -> bool:
        """Whether the entry is null; then it is done with."""
        if self._content.get(key, key) is not None:
            return False
        del self._content[key]
        return True

    def holds(self, key: Any, kind: type) -> bool:
        """Whether the entry is of the type."""
        return type(self._content.get(key)) is kind

    def take(self, key: Any, *types: type) -> Any:
        """The entry, which is of exactly one of the types."""
        if key not in self._content:
            self.refuse(key, "is missing.")
        value = self._content.pop(key)
        if types and type(value) not in types:
            expected = " or ".join(kind.__name__ for kind in types)
            self.refuse(key, f"must be {expected}, not {value!r:.80}.")
        return value

    def choice(self, key: Any, choices: Any) -> Any:
        """The entry, which is one of the choices."""
        value = self.take(key, *{type(choice) for choice in choices})
        if value not in choices:
            self.refuse(key, f"must be one of {list(choices)}, not {value!r:.80}.")
        return value

    def number(self, key: Any, kind: type, low: float = -LARGEST, high: float = LARGEST) -> Any:
        """A finite number in [low, high]."""
        value = self.take(key, kind)
        if not low <= value <= high:
            self.refuse(key, f"must be a number from {low} to {high}, not {value!r:.80}.")
        return value

    def array(
        self, key: Any, dtype: Any, shape: tuple[str | int | None, ...], *, finite: bool = False
    ) -> Array:
        """An array of the dtype, or of a kind in a string of kinds; sizes by name, None is free."""
        array = self.take(key, np.ndarray)
        is_kind = isinstance(dtype, str)
        if array.dtype.kind not in dtype if is_kind else array.dtype != dtype:
            wanted = f"of a kind in {dtype!r}" if is_kind else np.dtype(dtype)
            self.refuse(key, f"has the dtype {array.dtype}; it must be {wanted}.")
        expected = tuple(self.size_of(n) if isinstance(n, str) else n for n in shape)
        if array.ndim != len(shape) or any(
            n not in (None, m) for n, m in zip(expected, array.shape, strict=True)
        ):
            self.refuse(key, f"has the shape {array.shape}; it must be {expected}.")
        if finite and not np.all(np.isfinite(array)):
            self.refuse(key, "holds NaN or infinity.")
        for name, n in zip(shape, array.shape, strict=True):
            if isinstance(name, str):
                self.size(key, name, n)
        return array

    def size(self, key: Any, name: str, size: int) -> int:
        """The size of this name in the entry, which must agree with the one known before."""
        known = self.known.sizes.setdefault(self._own(name), size)
        if known != size:
            self.refuse(key, f"is about {size} {name.lstrip('.')}; there must be {known}.")
        return size

    def size_of(self, name: str) -> int | None:
        """The size of this name, if it is known."""
        return self.known.sizes.get(self._own(name))

    def _own(self, name: str) -> str:
        return f"{self.name}{name}" if name.startswith(".") else name

    def items(self, key: Any, length: int | None = None) -> Record:
        """A list of that many entries, or of any number, as a record by their numbers."""
        items = self.take(key, list)
        if length is not None and len(items) != length:
            self.refuse(key, f"has {len(items)} items; it must be {length}.")
        return Record(dict(enumerate(items)), f"{self.name}.{key}", self.known)

    def record(self, key: Any) -> Record:
        """An entry that is a dict."""
        return Record(self.take(key), f"{self.name}.{key}", self.known)

    def end(self) -> None:
        """Refuse entries that were not read."""
        if self._content:
            raise ValueError(f"{self.name} has surplus entries: {', '.join(self._content)}.")
