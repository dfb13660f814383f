"""Which tests run which lines, and how long each test takes."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest

from studies.common.storing import write_text
from studies.mutation.children import in_child

#: CPU time for the tests of one file.
MOST_SECONDS = 900.0
#: Options of pytest. Plugins that are loaded already cannot have their asserts rewritten.
QUIET = ("-q", "-p", "no:cacheprovider", "--assert=plain", "--tb=no", "--no-header")


@dataclass
class Trace:
    """What the tests of one file do.

    Attributes
    ----------
    seconds : dict of str to float
        CPU time of each test that passed, by its node id.
    tests_of : dict of str to dict of int to list of str
        For each module's file, the tests that run each line; an empty name stands for what runs
        when the tests are loaded: definitions, and objects that several tests share.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    tests_of: dict[str, dict[int, list[str]]] = field(default_factory=dict)


class _Watch:
    """A pytest plugin that tells coverage which test runs."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = {}
        #: Skipped ones among them.
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.measured.switch_context(item.nodeid)
        begin = time.process_time()
        result = yield
        self.seconds[item.nodeid] = time.process_time() - begin
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)


def trace(test_file: str, sources: Iterable[Path], marks: str, kept: Path) -> Trace:
    """The trace of a file's tests, in a process of its own or as it was kept.

    Parameters
    ----------
    test_file : str
        Relative to the root, which is the working directory.
    sources : iterable of Path
        Files of the modules to watch.
    marks : str
        Which tests, as for ``pytest -m``.
    kept : Path
        Folder for traces; each is named by the content of the test file and of the sources.
    """
    files = sorted(sources)
    digest = hashlib.sha256(marks.encode() + test_file.encode())
    for each in (Path(test_file), *files):
        digest.update(each.read_bytes())
    stored = kept / f"trace-{digest.hexdigest()[:16]}.json"
    if not stored.exists():
        kept.mkdir(parents=True, exist_ok=True)
        output = str(stored.with_suffix(".txt"))
        in_child(lambda: _run(test_file, files, marks, stored), MOST_SECONDS, output)
    if not stored.exists():
        raise RuntimeError(f"the tests of {test_file} fail without a mutant; see {output}.")
    content = json.loads(stored.read_text())
    lines = {
        path: {int(line): tests for line, tests in of_line.items()}
        for path, of_line in content["tests_of"].items()
    }
    return Trace(content["seconds"], lines)


def _run(test_file: str, files: list[Path], marks: str, stored: Path) -> int:
    # The settings in pyproject.toml are for all of the package.
    included = [str(each) for each in files]
    measured = coverage.Coverage(data_file=None, config_file=False, include=included)
    watch = _Watch(measured)
    measured.start()
    code = pytest.main([*QUIET, "-m", marks, test_file], plugins=[watch])
    measured.stop()
    data = measured.get_data()
    tests_of = {
        str(each): {
            line: sorted(contexts)
            for line, contexts in data.contexts_by_lineno(str(each.resolve())).items()
        }
        for each in files
    }
    if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        seconds = {test: each for test, each in watch.seconds.items() if test not in watch.failed}
        write_text(stored, json.dumps({"seconds": seconds, "tests_of": tests_of}))
    return int(code)
