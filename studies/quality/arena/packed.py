"""What was played, small enough to be kept beside the code: a state file without supports, xz.

    python -m studies.quality.arena --data FOLDER --state FILE --stored --pack CELLS
    python -m studies.quality.arena --data FOLDER --state FILE --played CELLS

The first writes what is in the state file, the second goes on from it.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

from studies.common.storing import Store, write_atomically

#: What is left out, and the digits after the point that are kept.
LEFT_OUT = ("support", "chosen")
DIGITS = 3
#: The cells that the documents are about.
PLAYED = Path(__file__).with_name("played.jsonl.xz")


def pack(state: Path, path: Path) -> None:
    """Write the cells of a state file, sorted by their keys."""
    store = Store(state)
    lines = [json.dumps(packed(store.lines[key])) + "\n" for key in sorted(store.lines)]
    write_atomically(path, lambda file: file.write(lzma.compress("".join(lines).encode())))


def packed(entry: dict[str, Any]) -> dict[str, Any]:
    """One line of a state file without what is left out."""
    rows = [
        {name: shortened(value) for name, value in row.items() if name not in LEFT_OUT}
        for row in entry["result"]
    ]
    return {**entry, "result": rows}


def shortened(value: Any) -> Any:
    """A number with few digits, or the value."""
    return round(value, DIGITS) if isinstance(value, float) else value


def unpack(path: Path, state: Path) -> None:
    """Begin a state file with packed cells, unless there is one."""
    if not state.exists():
        content = lzma.decompress(path.read_bytes())
        write_atomically(state, lambda file: file.write(content))
