"""Strict reading of plain data: every entry is asked for, with the type it must have."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray


class Record:
    """A dict from a file, every entry of which must be asked for, with the type it must have."""

    def __init__(self, content: Any, name: str) -> None:
        if type(content) is not dict:
            raise ValueError(f"{name} must be an object, not {content!r:.80}.")
        self._content, self.name = dict(content), name

    def refuse(self, key: str, why: str) -> NoReturn:
        """Raise the ValueError for an entry."""
        raise ValueError(f"{self.name}.{key} {why}")

    def is_null(self, key: str) -> bool:
        """Whether the entry is null; then it is done with."""
        if self._content.get(key, key) is not None:
            return False
        del self._content[key]
        return True

    def holds(self, key: str, kind: type) -> bool:
        """Whether the entry is of the type."""
        return type(self._content.get(key)) is kind

    def take(self, key: str, *types: type) -> Any:
        """The entry, which is of exactly one of the types."""
        if key not in self._content:
            self.refuse(key, "is missing.")
        value = self._content.pop(key)
        if types and type(value) not in types:
            expected = " or ".join(kind.__name__ for kind in types)
            self.refuse(key, f"must be {expected}, not {value!r:.80}.")
        return value

    def choice(self, key: str, choices: Any) -> Any:
        """The entry, which is one of the choices."""
        value = self.take(key, *{type(choice) for choice in choices})
        if value not in choices:
            self.refuse(key, f"must be one of {list(choices)}, not {value!r:.80}.")
        return value

    def number(self, key: str, kind: type, low: float, high: float = sys.float_info.max) -> Any:
        """A number in [low, high]."""
        value = self.take(key, kind)
        if not low <= value <= high:
            self.refuse(key, f"must be a number from {low} to {high}, not {value!r:.80}.")
        return value

    def array(
        self, key: str, dtype: Any, shape: tuple[int | None, ...], *, finite: bool = False
    ) -> NDArray:
        """An array of the dtype, or of a kind in a string of kinds; None in the shape is free."""
        array = self.take(key, np.ndarray)
        fits = array.dtype.kind in dtype if isinstance(dtype, str) else array.dtype == dtype
        if not fits:
            self.refuse(key, f"has the dtype {array.dtype}; it must be {_spelled(dtype)}.")
        if array.ndim != len(shape) or any(
            n not in (None, m) for n, m in zip(shape, array.shape, strict=True)
        ):
            self.refuse(key, f"has the shape {array.shape}; it must be {shape}.")
        if finite and not np.all(np.isfinite(array)):
            self.refuse(key, "holds NaN or infinity.")
        return array

    def items(self, key: str, length: int) -> list[Record]:
        """A list of that many dicts."""
        items = self.take(key, list)
        if len(items) != length:
            self.refuse(key, f"has {len(items)} items; it must be {length}.")
        return [Record(item, f"{self.name}.{key}.{i}") for i, item in enumerate(items)]

    def record(self, key: str) -> Record:
        """An entry that is a dict."""
        return Record(self.take(key), f"{self.name}.{key}")

    def end(self) -> None:
        """Refuse entries that nobody asked for."""
        if self._content:
            raise ValueError(f"{self.name} has surplus entries: {', '.join(self._content)}.")


def _spelled(dtype: Any) -> str:
    return f"of a kind in {dtype!r}" if isinstance(dtype, str) else str(np.dtype(dtype))
