"""The folder ``experiments`` stands beside ``tests`` and is no installed package."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


@pytest.fixture
def context(tmp_path):
    from experiments._context import Context

    return Context(
        data=None, out=tmp_path / "out", cache=tmp_path / "cache", quick=True, generated=True
    )
