"""Mutants are what they say, and a test that notices one is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studies.mutation.cli import sample
from studies.mutation.groups import GROUPS
from studies.mutation.mutants import Mutant, mutants_of, mutated_code
from studies.mutation.page import BEGIN, END, renewed, tables_of
from studies.mutation.tracing import Trace
from studies.mutation.trying import quickest
from studies.mutation.trying import tests_for as chosen_tests
from tests.helpers import run_python

ROOT = Path(__file__).parents[3]
SOURCE = '''"""A module."""

LIMIT = 3


def clip(value, least=0):
    """Not a mutant."""
    if value < least:
        raise ValueError(f"below {least + 1}")
    value = min(value, LIMIT)
    return value + 1
'''
CHANGES = {
    "LIMIT: 3 -> 4": lambda clip: clip(9) == 5,
    "least: 0 -> 1": lambda clip: _is_refused(clip, 0),
    "value < least -> value <= least": lambda clip: _is_refused(clip, 0),
    "value < least -> value >= least": lambda clip: _is_refused(clip, 2),
    "raise -> pass": lambda clip: clip(-5) == -4,
    "value = min(value, LIMIT) -> pass": lambda clip: clip(9) == 10,
    "min -> max": lambda clip: clip(9) == 10,
    "return value + 1 -> return None": lambda clip: clip(1) is None,
    "value + 1 -> value - 1": lambda clip: clip(1) == 0,
    "1 -> 2": lambda clip: clip(1) == 3,
}


def _is_refused(clip, value):
    with pytest.raises(ValueError, match="below"):
        clip(value)
    return True


@pytest.fixture
def module(tmp_path):
    (tmp_path / "clip.py").write_text(SOURCE)
    return tmp_path


def load(code):
    namespace = {}
    exec(code, namespace)
    return namespace["clip"]


def test_every_fault_changes_the_function_as_it_says(module):
    mutants = mutants_of(module, "clip.py")
    assert len(mutants) == len(CHANGES)
    original = load(compile(SOURCE, "clip.py", "exec"))
    assert (original(0), original(2), original(9)) == (1, 3, 4)
    for mutant, (name, is_changed) in zip(mutants, CHANGES.items(), strict=True):
        assert is_changed(load(mutated_code(module / "clip.py", mutant.number))), (name, mutant)


def test_labels_name_one_mutant_each():
    for group in GROUPS.values():
        for path in group.paths(ROOT / "src"):
            labels = [mutant.label for mutant in mutants_of(ROOT / "src", path)]
            assert len(set(labels)) == len(labels)


def test_groups_have_modules_and_tests():
    for group in GROUPS.values():
        assert len(group.paths(ROOT / "src")) >= len(group.modules)
        assert len(group.test_files(ROOT)) >= len(group.tests)


def test_a_sample_is_a_part_of_larger_ones(module):
    mutants = mutants_of(module, "clip.py")
    assert set(sample(mutants, 0.3, 99, seed=1)) < set(sample(mutants, 0.8, 99, seed=1))
    assert len(sample(mutants, 1.0, 4, seed=1)) == 4
    assert sample(mutants, 0.5, 99, seed=1) != sample(mutants, 0.5, 99, seed=2)


def test_tests_are_those_that_run_the_lines_the_quick_ones_first():
    path = "src/a.py"
    lines = {1: [""], 4: ["t::slow", "t::quick"], 9: ["t::other"]}
    traces = [Trace({"t::slow": 2.0, "t::quick": 0.1, "t::other": 0.5}, {path: lines})]

    def at(line):
        mutant = Mutant("a.py", 0, "constant", (line, line), "", "1", "2", 1)
        return list(chosen_tests(mutant, Path("src"), traces))

    assert at(4) == ["t::quick", "t::slow"]
    assert at(1) == ["t::quick", "t::other", "t::slow"]  # what runs when the module is loaded
    assert at(7) == []


def test_the_quickest_tests_fill_the_time():
    tests = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert list(quickest(tests, 3.5)) == ["a", "b"]
    assert list(quickest(tests, 0.5)) == ["a"]
    assert quickest({}, 1.0) == {}


def test_the_page_keeps_its_text_and_shows_survivors(tmp_path):
    line = {"group": "g", "mutants": 9, "tried": 3, "percent": 66.7, "outcomes": {"killed": 2}}
    survivor = {"label": "a.py: f: x | y -> x & y", "line": 3, "outcome": "survived"}
    (tmp_path / "g.json").write_text(json.dumps({**line, "survivors": [survivor]}))
    tables = tables_of(tmp_path, {survivor["label"]: "both are flags"})
    page = renewed(f"before\n{BEGIN}old\n{END}after\n", tables)
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "old" not in page
    assert r"| `a.py: f: x \| y -> x & y` | both are flags" in page
    assert "66.7" in page


TINY_RUN = """
import sys
from studies.mutation import cli
from studies.mutation.groups import GROUPS, Group

GROUPS["tiny"] = Group(("regularizers/units.py",), ("regularizers/test_largest_positions.py",))
options = ["tiny", "--label", "largest_positions: count ==", "--state", sys.argv[1]]
assert cli.main([*options, "--least", "100"]) == 0
print("again", flush=True)
options[2] = "largest_positions: c"
assert cli.main([*options, "--least", "100"]) == 1
"""


@pytest.mark.slow
def test_a_run_tells_who_notices_and_goes_on_where_it_was(tmp_path):
    """Bounds of a count are noticed; a shortcut that only saves time is not."""
    first, second = run_python("-c", TINY_RUN, tmp_path, cwd=ROOT).split("again\n")
    assert "survived:" not in first
    assert "count >= n_positive -> count > n_positive" in second
    stored = [json.loads(line) for line in (tmp_path / "tiny.jsonl").read_text().splitlines()]
    labels = [line["key"]["label"].split(": ", 2)[2] for line in stored]
    assert len(set(labels)) == len(labels), "what was done before is not done again"
    results = dict(zip(labels, (line["result"] for line in stored), strict=True))
    assert results["count >= n_positive -> count < n_positive"]["outcome"] == "killed"
    by = results["count >= n_positive -> count < n_positive"]["by"]
    assert by.startswith("tests/regularizers/test_largest_positions.py::")
