"""The parts of the experiments: runner, data, comparisons, selectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

pytest.importorskip("matplotlib", reason="the studies draw figures")

from studies.common.storing import Store
from studies.paper import compare, runner, selectors, sensitivity, sparsity
from studies.paper.context import Unit
from studies.paper.data import load, missing_files
from studies.paper.generated import MAKERS


def test_units_are_done_once(context, monkeypatch):
    calls = []

    def task(given, *, x):
        calls.append(x)
        return 10 * x

    monkeypatch.setitem(sensitivity.TASKS, "task", task)
    store = Store(context.out / "raw" / "s.jsonl")
    units = [Unit("task", {"x": x}) for x in (1, 2)]
    runner.run_units("sensitivity", context, units[:1], store)
    store = Store(store.path)
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
    store = Store(context.out / "raw" / "s.jsonl")
    units = [Unit("task", {"x": x}) for x in (1, 2, 3)]
    with pytest.raises(RuntimeError, match="stopped"):
        runner.run_units("sensitivity", context, units, store)
    assert runner.Results(context, units, Store(store.path)).values("task") == [1]


def test_generated_and_file_results_have_different_keys(context):
    unit = Unit("fit", {"c": 1.0})
    assert unit.key(context) != unit.key(replace(context, generated=False))


def test_a_set_without_its_files_is_left_out(context, tmp_path):
    files = replace(context, generated=False, data=tmp_path)
    (text,) = missing_files(files, "url")
    assert text.startswith("url is left out: ")
    assert missing_files(context, "url") == []


@pytest.mark.parametrize("name", MAKERS)
def test_generated_sets_are_like_the_files(context, name):
    split = load(context, name)
    assert split.X.shape[1] == split.X_test.shape[1]
    assert split.X.shape[0] == split.y.shape[0]
    label = 0 if name == "image" else 1
    for y in split.labels(label):
        assert set(np.unique(y)) == {-1.0, 1.0}
    if name != "image":
        lengths = np.sqrt(split.X.multiply(split.X).sum(axis=1))
        np.testing.assert_allclose(lengths, 1.0)


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


@pytest.mark.filterwarnings("ignore:.*no features:UserWarning")
def test_selectors_return_k_columns_and_the_telling_one(context):
    split = load(context, "news20_binary")
    y, y_test = split.labels(1)
    for select in (selectors.by_chi2, selectors.by_l1):
        choices = select(split.X, y, [1, 5])
        assert [choice.limit for choice in choices] == [None, None]
        one, five = (choice.columns for choice in choices)
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
