"""The API page names everything that is public, and nothing else."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

API = Path(__file__).resolve().parents[2] / "docs" / "api.rst"
#: A line that changes the module, or an entry of a table.
LINE = re.compile(r"^\.\. currentmodule:: (?P<module>\S+)|^   (?P<name>\w+)$", re.MULTILINE)
MODULES = ["", ".mil", ".measures", ".losses", ".design", ".baselines", ".datasets", ".plotting"]


def listed() -> dict[str, list[str]]:
    """The names on the page by module."""
    names: dict[str, list[str]] = {}
    for line in LINE.finditer(API.read_text(encoding="utf-8")):
        if line["module"]:
            current = names.setdefault(line["module"], [])
        else:
            current.append(line["name"])
    return names


@pytest.mark.parametrize("module", [f"scoresieve{name}" for name in MODULES])
def test_page_names_what_is_public(module):
    public = set(importlib.import_module(module).__all__)
    if module != "scoresieve":
        # What the root offers has its page there.
        public -= set(importlib.import_module("scoresieve").__all__)
    assert sorted(listed()[module]) == sorted(public)
