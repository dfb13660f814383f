"""``make test-oldest`` installs the lower bound of everything that the package may need."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def matrix():
    spec = importlib.util.spec_from_file_location("test_matrix", ROOT / "tools" / "test_matrix.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_requirement_and_extra_is_tried_at_its_lower_bound(matrix):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = dict(pin.split("==") for pin in matrix.lower_bounds())
    assert pins["numpy"] == "1.26.*"
    assert pins["rich"] == "13.0.*"  # written as >=13
    extras = project["optional-dependencies"]
    wanted = {*project["dependencies"], *(each for name in extras for each in extras[name])}
    names = {each.split(">=")[0].split("[")[0] for each in wanted}
    assert set(pins) == names - {"scoresieve"}


def test_old_libraries_are_for_the_oldest_python(matrix):
    assert matrix.chosen_pairs(["3.11", "3.13"], None) == [
        ("3.11", "oldest"),
        ("3.11", "newest"),
        ("3.13", "scikit-learn-1.6"),
        ("3.13", "newest"),
    ]
    assert matrix.chosen_pairs(["3.11", "3.13"], "oldest") == [("3.11", "oldest")]
    assert matrix.pins("newest") == []


def test_the_tests_ask_for_no_newer_extras_than_users_need(matrix):
    """Else the lower bounds could not be installed beside what the tests need."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    needed = dict(each.split(">=") for each in groups["test"])
    needed = {name.split("[")[0]: bound for name, bound in needed.items()}
    pins = dict(pin.split("==") for pin in matrix.lower_bounds())
    shared = set(pins) & set(needed)
    assert {"matplotlib", "click", "pandas", "pyarrow", "dask", "rich"} <= shared
    for name in shared:
        major, _, minor = needed[name].partition(".")
        assert pins[name] == f"{major}.{minor or 0}.*"
