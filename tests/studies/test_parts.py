"""The parts of the experiments: store, runner, data, tables, figures, comparisons, page."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from sklearn.datasets import dump_svmlight_file

from studies.common import figures, progress, storing, tables
from studies.paper import (
    cli,
    compare,
    data,
    report,
    runner,
    selectors,
    sensitivity,
    sparsity,
)
from studies.paper import (
    context as contexts,
)


def test_store_keeps_results_and_forgets_half_a_line(tmp_path):
    store = storing.Store(tmp_path / "raw" / "a.jsonl")
    key = contexts.Unit("fit", {"c": 0.1}).key(type("C", (), {"generated": False}))
    store.append(key, {"score": np.float64(1.5), "bad": np.nan}, 0.25, ["slow"])
    with store.path.open("a") as file:
        file.write('{"key": {"task"')
    again = storing.Store(store.path)
    assert list(again.lines) == [key]
    assert again.result(key) == {"score": 1.5, "bad": None}
    assert again.lines[key]["warnings"] == ["slow"]
    assert "numpy" in again.lines[key]["versions"]
    again.append(key.replace("0.1", "0.2"), 3, 0.1, [])
    assert len(storing.Store(store.path).lines) == 2


def test_plain_has_no_numpy_left():
    value = storing.plain({"a": np.arange(2), 3: (np.int64(4), np.inf)})
    assert json.loads(json.dumps(value)) == {"a": [0, 1], "3": [4, None]}


def test_units_are_done_once(context, monkeypatch):
    calls = []

    def task(given, *, x):
        calls.append(x)
        return 10 * x

    monkeypatch.setitem(sensitivity.TASKS, "task", task)
    store = storing.Store(context.out / "raw" / "s.jsonl")
    units = [contexts.Unit("task", {"x": x}) for x in (1, 2)]
    runner.run_units("sensitivity", context, units[:1], store)
    store = storing.Store(store.path)
    runner.run_units("sensitivity", context, units, store)
    assert calls == [1, 2]
    results = runner.Results(context, units, store)
    assert results.values("task") == [10, 20]
    assert results.values("task", x=2) == [20]
    assert results.values("other") == []


def test_an_error_keeps_what_was_done(context, monkeypatch):
    def task(given, *, x):
        if x == 2:
            raise RuntimeError("stopped")
        return x

    monkeypatch.setitem(sensitivity.TASKS, "task", task)
    store = storing.Store(context.out / "raw" / "s.jsonl")
    units = [contexts.Unit("task", {"x": x}) for x in (1, 2, 3)]
    with pytest.raises(RuntimeError, match="stopped"):
        runner.run_units("sensitivity", context, units, store)
    assert runner.Results(context, units, storing.Store(store.path)).values("task") == [1]


def test_generated_and_file_results_have_different_keys(context):
    unit = contexts.Unit("fit", {"c": 1.0})
    assert unit.key(context) != unit.key(replace(context, generated=False))


@pytest.mark.parametrize("name", data.FILES)
def test_missing_files_are_named_with_their_origin(context, tmp_path, name):
    files = replace(context, generated=False, data=tmp_path)
    text = " ".join(data.missing_files(files, name))
    for file, origin in data.FILES[name].items():
        assert file in text
        assert origin in text
    with pytest.raises(data.Missing, match="missing"):
        data.load(files, name)
    assert "--data" in data.missing_files(replace(files, data=None), name)[0]


@pytest.mark.parametrize("name", data.FILES)
def test_generated_sets_are_like_the_files(context, name):
    split = data.load(context, name)
    assert split.X.shape[1] == split.X_test.shape[1]
    assert split.X.shape[0] == split.y.shape[0]
    label = 0 if name == "image" else 1
    for y in split.labels(label):
        assert set(np.unique(y)) == {-1.0, 1.0}
    if name != "image":
        lengths = np.sqrt(split.X.multiply(split.X).sum(axis=1))
        np.testing.assert_allclose(lengths, 1.0)


def test_files_are_split_as_the_data_folder_says_and_cached(context, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((20, 6)) * (rng.random((20, 6)) < 0.6)
    X[:, 0] += 1.0
    path = tmp_path / next(iter(data.FILES["sector12"]))
    path.parent.mkdir()
    dump_svmlight_file(X, np.arange(20), str(path.with_suffix("")), zero_based=False)
    path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    files = replace(context, generated=False, data=tmp_path)
    split = data.load(files, "sector12")
    order = np.random.default_rng(0).permutation(20)
    np.testing.assert_array_equal(split.y, order[:12])
    np.testing.assert_array_equal(split.y_test, order[12:])
    rows = X[order[:12]] / np.linalg.norm(X[order[:12]], axis=1, keepdims=True)
    np.testing.assert_allclose(split.X[:, :6].toarray(), rows, atol=1e-12)
    (cached,) = files.cache.iterdir()
    stamp = cached.stat().st_mtime_ns
    data.load.cache_clear()
    assert data.load(files, "sector12").X.nnz == split.X.nnz
    assert cached.stat().st_mtime_ns == stamp


def test_tables_agree_in_both_forms(tmp_path):
    table = tables.Table("t", "Caption", ("name", "x"), [["a, b", 1.5], ["c", None]])
    table.write(tmp_path)
    assert (tmp_path / "t.csv").read_text() == 'name,x\n"a, b",1.5\nc,\n'
    text = (tmp_path / "t.md").read_text()
    assert text.startswith("Caption\n\n| name |")
    assert "| a, b | 1.5 |" in text


def test_figures_are_the_same_bytes_each_time(tmp_path):
    for folder in ("a", "b"):
        panels = figures.Panels(3, 2)
        lines = [("SVM-RFE", [1, 10, 100], [1.0, 2.0, 3.0]), ("new", [2, 20], [2.0, 1.0])]
        panels.lines(0, lines, "title", "x", "y", xscale="log")
        panels.level(0, 2.5, "level")
        panels.write(tmp_path / folder, "f")
    for ending in ("png", "svg"):
        first, second = ((tmp_path / folder / f"f.{ending}").read_bytes() for folder in "ab")
        assert first == second
        assert len(first) > 5000
    assert b"<dc:date>" not in second


def test_points_ahead_interpolates_over_the_logarithm():
    rival = ([100, 1], [4.0, 0.0])
    np.testing.assert_allclose(
        compare.points_ahead(([10, 100, 1000], [5.0, 5.0, 5.0]), rival), [3.0, 1.0]
    )
    assert compare.points_ahead(([1000], [1.0]), rival).size == 0


def test_p_value_is_that_of_the_paired_test():
    first, second = np.array([1.0, 2.0, 3.0, 4.5]), np.array([0.5, 1.0, 2.8, 3.0])
    difference = first - second
    t = difference.mean() / (difference.std(ddof=1) / 2.0)
    assert compare.p_value(first, second) == pytest.approx(2.0 * student.sf(t, 3))
    assert compare.p_value(first, first) == 1.0
    assert compare.p_value(first[:1], second[:1]) == 1.0


@settings(derandomize=True, deadline=None, database=None)
@given(
    st.lists(st.tuples(st.sampled_from([-1.0, 1.0]), st.integers(-3, 3)), min_size=2, max_size=12)
)
def test_best_threshold_has_the_best_f1_of_all(rows):
    y, scores = np.array(rows, dtype=float).T
    if not np.any(y > 0):
        return
    cuts = np.arange(-3.5, 4.0)
    found = f1(y > 0, scores > selectors.best_threshold(y, scores))
    assert found == pytest.approx(max(f1(y > 0, scores > cut) for cut in cuts))


def f1(truth, alarms):
    return 2.0 * np.sum(truth & alarms) / (np.sum(truth) + np.sum(alarms))


@pytest.mark.filterwarnings("ignore:.*no features:UserWarning")
def test_selectors_return_k_columns_and_the_telling_one(context):
    split = data.load(context, "news20_binary")
    y, y_test = split.labels(1)
    for select in (selectors.by_chi2, selectors.by_l1):
        one, five = select(split.X, y, [1, 5])
        assert (one.size, five.size) == (1, 5)
        assert one[0] in five
        score = selectors.tuned_f1(split.X, y, split.X_test, y_test, five, 0)
        worse = selectors.tuned_f1(split.X, y, split.X_test, y_test, np.array([], dtype=int), 0)
        assert score > 60.0
        assert worse == 0.0
    np.testing.assert_array_equal(selectors.largest(np.array([1.0, -3.0, 2.0]), 2), [1, 2])


def test_linear_trend_and_nested_shares():
    rows = [{"budget": b, "n_features": 3 * b + 1} for b in (1, 2, 5)]
    trend = sensitivity.linear_trend(rows)
    assert trend["slope"] == pytest.approx(3.0)
    assert trend["r2"] == pytest.approx(1.0)
    supports = [{"support": [1, 2]}, {"support": [2, 3, 4]}, {"support": [2, 3, 4, 5]}]
    assert sparsity.nested_shares(supports) == [0.5, 1.0]


def test_verdicts_and_page(context):
    assert report.verdict([True, True]) == report.HOLDS
    assert report.verdict([True, False]) == report.PARTLY
    assert report.verdict([False]) == report.FAILS
    assert report.verdict([]) == report.OPEN
    claim = report.Claim("a claim", "12.3", "45.6", report.PARTLY, "because")
    section = report.Section(
        "A title", [claim], [tables.Table("t", "Cap", ("a",), [["b"]])], [], ["note"]
    )
    report.write_section(context, "sparsity", section, 60.0)
    text = report.write_page(context, cli.NAMES).read_text()
    for part in ("1 claims: 0 holds, 1 holds partly", "a claim", "12.3", "45.6", "because", "note"):
        assert part in text
    assert "Not run yet: sensitivity" in text
    assert "Quick form" in text
    assert (context.out / "tables" / "t.csv").is_file()


def test_progress_estimates_from_what_was_done(capsys):
    shown = progress.Progress("name", [10.0, 30.0], jobs=2, n_stored=1)
    assert shown.seconds_left() == pytest.approx(20.0, rel=0.05)
    shown.step(10.0, "unit", 0.1)
    assert 0.0 < shown.seconds_left() < 15.0
    written = capsys.readouterr().err
    assert "2 units, 1 stored before" in written
    assert "1/2: unit" in written
    assert (progress.duration(59.6), progress.duration(125)) == ("1 min 0 s", "2 min 5 s")
