"""What ``import scoresieve`` gives, and what it leaves for later."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import scoresieve
from tests.helpers import run_python

#: They take most of the time of an import.
SLOW = ("numpy", "scipy", "sklearn", "pandas", "clarabel")


def names_for_type_checkers() -> set[str]:
    tree = ast.parse(Path(scoresieve.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    return {alias.name for node in block.body for alias in node.names}


def test_names_for_type_checkers_are_those_that_exist():
    assert names_for_type_checkers() == set(scoresieve.__all__) == set(scoresieve._MODULE_OF)


@pytest.mark.parametrize("name", scoresieve.__all__)
def test_every_public_name_is_found_where_it_is_defined(name):
    module = importlib.import_module(f"scoresieve.{scoresieve._MODULE_OF[name]}")
    assert getattr(scoresieve, name) is getattr(module, name)
    assert name in dir(scoresieve)


def test_parts_need_no_import_of_their_own():
    assert scoresieve.mil.Bags is importlib.import_module("scoresieve.mil").Bags
    assert "mil" in dir(scoresieve)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'ScoreSeive'"):
        scoresieve.ScoreSeive  # noqa: B018
    with pytest.raises(ImportError, match="ScoreSeive"):
        from scoresieve import ScoreSeive  # noqa: F401


def test_import_loads_nothing_slow():
    code = f"import sys, scoresieve; print([m for m in {SLOW} if m in sys.modules])"
    assert run_python("-c", code).strip() == "[]"
