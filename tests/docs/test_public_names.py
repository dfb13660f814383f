"""The API page names everything that is public, and nothing else."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: On the API page, a line that changes the module, or an entry of a table.
LINE = re.compile(r"^\.\. currentmodule:: (?P<module>\S+)|^   (?P<name>\w+)$", re.MULTILINE)
MODULES = ["", ".mil", ".measures", ".losses", ".design", ".baselines", ".datasets"]
MODULES += [".plotting", ".report"]


def on_api_page() -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for line in LINE.finditer((ROOT / "docs" / "api.rst").read_text(encoding="utf-8")):
        if line["module"]:
            current = names.setdefault(line["module"], [])
        else:
            current.append(line["name"])
    return names


@pytest.mark.parametrize("module", [f"scoresieve{name}" for name in MODULES])
def test_all_public_names_are_listed(module):
    public = set(importlib.import_module(module).__all__)
    if module != "scoresieve":
        # What the root offers is listed there.
        public -= set(importlib.import_module("scoresieve").__all__)
    assert sorted(on_api_page()[module]) == sorted(public)
