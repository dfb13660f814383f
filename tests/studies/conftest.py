"""A small run on generated data."""

from __future__ import annotations

import pytest

from studies.paper.context import Context


@pytest.fixture
def context(tmp_path):
    return Context(
        data=None, out=tmp_path / "out", cache=tmp_path / "cache", quick=True, generated=True
    )
