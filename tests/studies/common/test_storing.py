"""Lines of results, JSON without numpy, and work that is done once."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from studies.common.saved_runs import run_saved
from studies.common.storing import Store, plain, write_text


def test_store_keeps_results_and_forgets_half_a_line(tmp_path):
    store = Store(tmp_path / "raw" / "a.jsonl")
    key = '{"c": 0.1, "task": "fit"}'
    store.append(key, {"score": np.float64(1.5), "bad": np.nan}, 0.25, ["slow"])
    with store.path.open("a") as file:
        file.write('{"key": {"task"')
    again = Store(store.path)
    assert list(again.lines) == [key]
    assert again.result(key) == {"score": 1.5, "bad": None}
    assert again.lines[key]["warnings"] == ["slow"]
    assert "numpy" in again.lines[key]["versions"]
    again.append(key.replace("0.1", "0.2"), 3, 0.1, [])
    assert len(Store(store.path).lines) == 2


def test_plain_has_no_numpy_left():
    value = plain({"a": np.arange(2), 3: (np.int64(4), np.inf)})
    assert json.loads(json.dumps(value)) == {"a": [0, 1], "3": [4, None]}


def test_a_file_is_written_as_a_whole(tmp_path):
    path = tmp_path / "folder" / "a.txt"
    write_text(path, "first")
    with pytest.raises(AttributeError):
        write_text(path, None)
    assert path.read_text() == "first"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("state", [None, "state.jsonl"])
def test_tasks_of_an_earlier_run_are_not_done_again(tmp_path, state):
    calls = []

    def task(x):
        calls.append(x)
        return [{"x": x}, {"x": 10 * x}]

    state = state if state is None else tmp_path / state
    tasks = [(f"task, {x}", partial(task, x)) for x in (1, 2)]
    run_saved(tasks[1:], state, 1)
    rows = run_saved(tasks, state, 1)
    assert rows == [{"x": 1}, {"x": 10}, {"x": 2}, {"x": 20}]
    assert calls == ([2, 1, 2] if state is None else [2, 1])


def test_old_rows_are_made_again_unless_only_stored_ones_are_wanted(tmp_path):
    answers = iter(["bad", "good", "never"])
    tasks = [("a", lambda: [{"x": next(answers)}]), ("b", lambda: [{"x": "other"}])]
    settings = {"is_old": lambda rows: rows[0]["x"] == "bad", "costs": [2.0, 1.0]}
    state = tmp_path / "state.jsonl"
    assert run_saved(tasks[:1], state, 1) == [{"x": "bad"}]
    assert run_saved(tasks, state, 1, only_stored=True, **settings) == [{"x": "bad"}]
    assert run_saved(tasks, state, 1, **settings) == [{"x": "good"}, {"x": "other"}]
    assert run_saved(tasks, state, 1, **settings) == [{"x": "good"}, {"x": "other"}]
