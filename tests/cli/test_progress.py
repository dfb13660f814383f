"""The line on stderr: how far a command is, and gone at the end."""

from __future__ import annotations

import io

import numpy as np
import pytest

from scoresieve import MeasureSVC, ScoreSieve
from scoresieve.cli import output
from scoresieve.cli.output import ProgressLine, TaskCounter, state_of_fit, time_left


def test_time_left_in_words():
    assert time_left(0.25, 10.0) == "25 %, 30 s left"
    assert time_left(0.0, 7.2) == "7 s so far"
    assert time_left(1.0, 5.0) == "100 %, 0 s left"


def test_lines_of_a_fit_in_words():
    assert state_of_fit([], 3.0) == "3 s so far"
    assert state_of_fit(["total 4", "done"], 6.0) == "25 %, 18 s left"
    assert state_of_fit(["total 1", "gap 0.5", "gap 0.2"], 6.0) == "6 s so far, gap 0.2"


def test_a_line_writes_over_itself_and_goes_away(monkeypatch):
    monkeypatch.setattr(output, "PAUSE", 0.0)
    stream = io.StringIO()
    line = ProgressLine("reading", stream)
    line.share(0.5)
    line.show("x")
    line.clear()
    shown = stream.getvalue().split("\r")
    assert shown[1].startswith("reading: 50 %")
    assert shown[2] == "reading: x".ljust(len(shown[1]))
    assert shown[3].strip() == shown[4] == ""


def test_ends_of_tasks_are_counted(tmp_path):
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    path = tmp_path / "lines"
    model = ScoreSieve(n_features_to_select=1, cv=2, Cs=[1.0])
    model.set_callbacks(TaskCounter(str(path))).fit(X, X[:, 0] > 0.5)
    lines = path.read_text().splitlines()
    assert lines == ["total 3", "done", "done", "done"]  # two parts, and the choice
    path.unlink()
    model = MeasureSVC(budget=2).set_callbacks(TaskCounter(str(path))).fit(X, X[:, 0] > 0.5)
    lines = path.read_text().splitlines()
    assert lines[0] == "total 1"
    assert [line for line in lines if line.startswith("gap ")] == [
        f"gap {row.gap:.2g}" for row in model.history_[0]
    ]


def test_a_terminal_sees_progress_and_a_quiet_one_does_not(cli, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr(output, "PAUSE", 0.0)
    assert "\rreading messages.csv: 100 %, 0 s left" in cli("convert messages.csv a.npz").err
    monkeypatch.setattr(output, "PAUSE", 0.01)
    options = "messages.csv --positive refund -k 1 --cv 2 -C 1"
    done = cli(f"fit {options}")
    assert "\rfitting: " in done.err
    assert done.err.endswith("\r")
    assert done.err.split("\r")[-2].strip() == ""
    assert cli(f"fit {options} --quiet").err == ""
    assert "\rfitting: " in cli(f"path {options}").err
