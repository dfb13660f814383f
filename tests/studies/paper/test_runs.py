"""The quick form of every experiment on generated data, through the command line's function."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

pytest.importorskip("matplotlib", reason="the studies draw figures")

from studies.paper import claims, cli, documents, runner

ROOT = Path(__file__).resolve().parents[3]
VERDICTS = (claims.HOLDS, claims.PARTLY, claims.FAILS, claims.OPEN)


def run(name, out, *options):
    return cli.main([name, "--quick", "--jobs", "1", "--out", str(out), *options])


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module", autouse=True)
def few_rounds():
    """And few budgets in the longest experiment: what is written, and where, is the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(documents.QUICK, "max_iter", 8)
        patch.setitem(documents.QUICK, "budgets", [2, 10])
        yield


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """``first_run(name)`` gives the folder of an experiment, which is done once."""
    folders = {}

    def get(name):
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp(name)
            assert run(name, folders[name], "--data", "generated") == 0
        return folders[name]

    return get


@pytest.mark.slow
@pytest.mark.parametrize("name", cli.NAMES)
def test_experiment_writes_tables_figures_and_claims_and_resumes(name, first_run, monkeypatch):
    out = first_run(name)
    section = json.loads((out / "raw" / f"{name}.section.json").read_text())
    assert section["tables"]
    assert section["figures"]
    assert section["claims"]
    for claim in section["claims"]:
        assert claim["verdict"] in VERDICTS
        assert claim["reason"]
    page = (out / "README.md").read_text()
    for target in re.findall(r"\]\(([^)]*)\)", page):
        assert (out / target).is_file(), target
    before = contents(out / "tables") | contents(out / "figures")

    def never(*args):
        raise AssertionError("a stored unit was done again")

    monkeypatch.setattr(runner, "do", never)
    assert run(name, out, "--data", "generated") == 0
    assert contents(out / "tables") | contents(out / "figures") == before


@pytest.mark.slow
@pytest.mark.parametrize(("name", "jobs"), [("sensitivity", "1"), ("sparsity", "2")])
def test_another_run_and_more_processes_make_the_same_tables(name, jobs, first_run, tmp_path):
    run(name, tmp_path, "--data", "generated", "--jobs", jobs)
    assert contents(tmp_path / "tables") == contents(first_run(name) / "tables")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="groups of processes are those of POSIX")
def test_a_stopped_run_keeps_what_it_has_and_leaves_no_process(tmp_path):
    command = [sys.executable, "-m", "studies.paper", "documents", "--quick", "--data", "generated"]
    command += ["--out", str(tmp_path), "--jobs", "2"]
    with subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as group:
        for line in group.stderr:
            if "documents 3/" in line:
                break
        group.terminate()
        assert group.wait(timeout=60) == 143
    assert ends_soon(group.pid)
    stored = (tmp_path / "raw" / "documents.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in stored]) >= 3


def ends_soon(group):
    """Whether no process of the group is left, at once or after a moment."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        sleep(0.1)
    return False


@pytest.mark.parametrize("name", cli.NAMES)
def test_missing_data_are_named_and_the_rest_goes_on(name, tmp_path, capsys):
    assert run(name, tmp_path / "out", "--data", str(tmp_path / "nowhere")) == 2
    written = capsys.readouterr().err
    assert "is missing. It is" in written
    page = (tmp_path / "out" / "README.md").read_text()
    assert "is left out" in page
    assert "verdict" not in page.split("## ")[-1]


def test_bad_options_are_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main(["nothing"])
    with pytest.raises(SystemExit):
        cli.main(["sparsity", "--jobs", "0"])
    assert "--jobs must be at least 1" in capsys.readouterr().err
