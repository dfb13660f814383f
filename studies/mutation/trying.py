"""One mutant against the tests that run its lines."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import sys
import tempfile
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import pytest

from studies.mutation.children import in_child
from studies.mutation.mutants import Mutant, mutated_code
from studies.mutation.tracing import QUIET, Trace

#: CPU seconds that a mutant may take beyond three times those of its tests.
LEAST_SECONDS = 10.0


class Verdict(NamedTuple):
    """What became of a mutant: killed, timeout, survived, or untested where no test runs it."""

    outcome: str
    #: The test that noticed it.
    by: str
    cpu_seconds: float


class _MutatedLoader(importlib.machinery.SourceFileLoader):
    """Loads a file with its fault of one number."""

    number = 0

    def get_code(self, fullname: str) -> CodeType:
        return mutated_code(Path(self.path), self.number)


class _Finder(importlib.abc.MetaPathFinder):
    """Answers for one module only."""

    def __init__(self, source: Path, mutant: Mutant) -> None:
        self.source, self.mutant = source, mutant

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != self.mutant.module:
            return None
        file = str(self.source / self.mutant.path)
        loader = _MutatedLoader(fullname, file)
        loader.number = self.mutant.number
        return importlib.util.spec_from_file_location(fullname, file, loader=loader)


class _Chosen:
    """A pytest plugin: runs the tests of a list in its order, and writes down the first failure."""

    def __init__(self, tests: list[str], report: Path) -> None:
        self.rank = {test: rank for rank, test in enumerate(tests)}
        self.report = report

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.rank),
            key=lambda item: self.rank[item.nodeid],
        )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.report.write_text(nodeid)


def tests_for(mutant: Mutant, source: Path, traces: list[Trace]) -> dict[str, float]:
    """The tests that run a mutant's lines, and their seconds; the quick ones first.

    Lines that run when a test file is loaded may matter to all of its tests that run some line of
    the module.
    """
    path, found = str(source / mutant.path), {}
    for each in traces:
        of_line = each.tests_of.get(path, {})
        tests = {test for line in mutant.all_lines for test in of_line.get(line, [])}
        if "" in tests:
            tests.update(*of_line.values())
        found.update({test: each.seconds[test] for test in tests if test in each.seconds})
    return dict(sorted(found.items(), key=lambda entry: (entry[1], entry[0])))


def quickest(tests: dict[str, float], seconds: float) -> dict[str, float]:
    """As many of the tests, the first ones, as take so long together; one at least."""
    totals = itertools.accumulate(tests.values())
    return dict(
        entry
        for entry, total in zip(tests.items(), totals, strict=True)
        if total <= seconds or total == entry[1]
    )


def try_mutant(mutant: Mutant, source: Path, tests: dict[str, float]) -> Verdict:
    """Run the tests until one fails."""
    if not tests:
        return Verdict("untested", "", 0.0)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "test"
        limit = LEAST_SECONDS + 3.0 * sum(tests.values())
        end = in_child(lambda: _run(mutant, source, list(tests), report), limit)
        last = report.read_text() if report.exists() else "at import"
    if end.ran_out:
        return Verdict("timeout", last, end.cpu_seconds)
    if end.code == pytest.ExitCode.OK:
        return Verdict("survived", "", end.cpu_seconds)
    return Verdict("killed", last, end.cpu_seconds)


def _run(mutant: Mutant, source: Path, tests: list[str], report: Path) -> int:
    import hypothesis

    # A failure is all that counts; nobody reads the smallest example.
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutation", phases=phases, database=None)
    hypothesis.settings.load_profile("mutation")
    sys.meta_path.insert(0, _Finder(source, mutant))
    files = dict.fromkeys(test.split("::")[0] for test in tests)
    return int(pytest.main([*QUIET, "-x", *files], plugins=[_Chosen(tests, report)]))
