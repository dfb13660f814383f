"""The fresh tasks: how they are made, how leads are judged, and what the stored cells print."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import studies
from studies.common.data import Missing
from studies.quality.fresh import collect, compare, tasks
from studies.quality.fresh.compare import Lead, lead_of, standard_error

WORDS = [f"word{j}" for j in range(40)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two collections of 240 texts with three classes, of which one is too rare."""
    monkeypatch.setattr(tasks, "POSITIVES", (15, 100))
    tasks.load_collection.cache_clear()
    rng = np.random.default_rng(0)
    for name in ("first", "second"):
        rows = []
        for i in range(240):
            label = "rare" if i < 5 else "ab"[int(rng.random() < 0.6)]
            words = [*rng.choice(WORDS, 6), *([f"mark{label}"] if rng.random() < 0.7 else [])]
            rows.append((f"{' '.join(words)} no{i}", [label]))
        assert collect.write(rows, tmp_path / f"{name}.jsonl.gz") == 240
    yield tmp_path
    tasks.load_collection.cache_clear()


def test_a_text_that_comes_twice_counts_once_with_all_labels(tmp_path):
    path = tmp_path / "some.jsonl.gz"
    rows = [("a  b", ["x"]), ("", ["x"]), ("c", ["y"]), ("a b\n", ["w"])]
    assert collect.write(rows, path) == 2
    written = path.read_bytes()
    lines = [json.loads(line) for line in gzip.decompress(written).decode().splitlines()]
    assert lines == [["a b", ["w", "x"]], ["c", ["y"]]]
    collect.write(rows, path)
    assert path.read_bytes() == written


def test_tasks_are_half_and_half_with_words_of_training_rows(folder):
    assert tasks.names_in(folder) == ["first", "second"]
    found = tasks.load_collection(folder, "first")
    assert (found.n_train, found.X.shape[0]) == (120, 240)
    assert found.classes == ["a", "b"]
    task = tasks.load_task(folder, "first", 1)
    assert task.X.shape[0] == task.X_test.shape[0] == 120
    np.testing.assert_allclose(np.sqrt(task.X.multiply(task.X).sum(axis=1)), 1.0)
    assert min(task.X.getnnz(axis=0)) >= tasks.FEWEST_ROWS
    assert task.y.sum() == sum(2 * ("b" in each) - 1 for each in found.labels[:120])
    np.testing.assert_array_equal(task.by_column.toarray(), task.X.toarray())


def test_rows_are_drawn_once_and_no_row_is_on_both_sides():
    train, test = tasks.drawn(20_000)
    assert train.size == test.size == tasks.MOST_ROWS // 2
    assert not set(train) & set(test)
    np.testing.assert_array_equal(train, tasks.drawn(20_000)[0])


def test_classes_are_spread_over_the_order_of_their_sizes():
    labels = [{f"class {n}"} for n in range(20, 61) for _ in range(n)]
    found = [int(each.split()[1]) for each in tasks.chosen_classes(labels)]
    assert len(found) == tasks.N_TASKS
    assert (found[0], found[-1]) == (30, 60)
    assert set(np.diff(found)) <= {3, 4}
    assert tasks.chosen_classes([{"few"}] * 29 + [{"many"}] * 601) == []


def test_errors_of_leads():
    gains = np.array([1.0, 3.0, 2.0, 6.0])
    lead = lead_of(gains, ["x", "x", "y", "y"])
    assert lead.mean == 3.0
    assert lead.over_tasks == pytest.approx(np.std(gains, ddof=1) / 2)
    assert lead.over_collections == pytest.approx(np.sqrt(2.0) / np.sqrt(2))
    assert standard_error([1.0]) == np.inf
    assert Lead(1.0, 0.49, 9.0).is_clear
    assert not Lead(1.0, 0.5, 0.0).is_clear


def test_a_folder_without_collections_is_named(tmp_path):
    with pytest.raises(Missing, match=r"fresh\.collect"):
        compare.main(["--data", str(tmp_path)])


@pytest.mark.slow
def test_a_small_run_is_packed_and_printed_again(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(compare, "OUTSIDERS", ("l1-SVM", "chi2"))
    monkeypatch.setattr(compare, "KS", (3,))
    state, packed = tmp_path / "state.jsonl", tmp_path / "played.jsonl.xz"
    compare.main(["--quick", "--data", str(folder), "--state", str(state), "--pack", str(packed)])
    printed = capsys.readouterr().out
    assert "2 tasks of 2 collections" in printed
    rows = compare.stored_rows(packed)
    assert {(row["set"], row["name"]) for row in rows} == {("first", "a"), ("second", "a")}
    assert {row["rows"] for row in rows} == {120}
    monkeypatch.setattr(compare, "PLAYED", packed)
    compare.main(["--stored"])
    assert capsys.readouterr().out == printed


def test_the_stored_cells_are_all_there_and_give_the_table_of_the_results(capsys):
    rows = compare.stored_rows(compare.PLAYED)
    cells = {(row["set"], row["class"], row["k"], row["method"]) for row in rows}
    n_tasks = len({(row["set"], row["class"]) for row in rows})
    assert len(cells) == n_tasks * len(compare.KS) * (1 + len(compare.OUTSIDERS))
    compare.main(["--stored"])
    printed = capsys.readouterr().out.splitlines()
    results = Path(studies.__file__).with_name("RESULTS.md").read_text("utf-8")
    section = results.split("\n## Text that no choice was made on\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    assert len(table) > 10
    assert set(table) <= set(printed)
