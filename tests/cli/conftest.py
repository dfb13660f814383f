"""Runs of the command line in this process, in an empty folder with small files."""

from __future__ import annotations

import io
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "command_line"
#: A fit of a moment.
QUICK = "--cv 2 -C 1 -k 3"


class Done(NamedTuple):
    """Exit code, stdout and stderr of a run."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with the tables of the examples."""
    for path in EXAMPLES.glob("*.csv"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(folder, capsys, monkeypatch):
    """``cli("fit data.csv -k 3")``: as typed in a shell, without the name of the program."""
    from scoresieve.cli.app import run

    def call(line: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run(shlex.split(line))
        return Done(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Models of the messages, by the name of their method, fitted once."""
    from scoresieve.cli.app import run

    made = tmp_path_factory.mktemp("models")
    data = EXAMPLES / "messages.csv"
    assert run([*shlex.split(f"fit {data} {QUICK} --positive refund -o {made / 'sieve'}")]) == 0
    options = "--method measure -k 3 --positive refund"
    for name, more in (("measure", "--certificate"), ("lean", "")):
        assert run(shlex.split(f"fit {data} {options} {more} -o {made / name}")) == 0
    all_columns = (
        f"fit {data} --drop text --positive refund --method measure --budget 7 -o {made / 'all'}"
    )
    assert run(shlex.split(all_columns)) == 0
    return made
