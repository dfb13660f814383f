"""Functions that users write, good and bad."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from scoresieve.measures import Contingency, FBeta
from scoresieve.measures import user_function as module
from tests.measures.definitions import values_of_tables

Y = np.repeat([1.0, -1.0], [4, 6])


def f1(tp, fp, fn, tn):
    return 2 * tp / (2 * tp + fp + fn)


def error_rate(tp, fp, fn, tn):
    return (fp + fn) / (tp + fp + fn + tn)


def test_score_and_loss_of_both_directions():
    scores = np.array([1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0])
    assert Contingency(f1).score(Y, scores) == pytest.approx(4 / 7)
    assert Contingency(f1).loss(Y, scores) == pytest.approx(3 / 7)
    loss = Contingency(error_rate, greater_is_better=False)
    assert loss.score(Y, scores) == pytest.approx(0.7)
    assert loss.loss(Y, scores) == pytest.approx(0.3)


def test_settings_compare_and_name():
    assert Contingency(f1) == Contingency(f1)
    assert hash(Contingency(f1)) == hash(Contingency(f1))
    assert Contingency(f1) != Contingency(error_rate)
    assert Contingency(f1, name="mine").name == "mine"
    assert Contingency(f1).name == "f1"
    with pytest.raises(TypeError, match="callable"):
        Contingency("f1")
    with pytest.raises(TypeError, match="positional"):
        Contingency(f1, False)


@pytest.mark.parametrize("chunk", [1, 7, 50, 10**6])
def test_result_does_not_depend_on_the_chunks(monkeypatch, chunk):
    rng = np.random.default_rng(2)
    y = rng.permutation(np.repeat([1.0, -1.0], [30, 45]))
    scores = np.round(rng.normal(size=75), 1)
    expected = FBeta().most_violated(y, scores)
    monkeypatch.setattr(module, "CHUNK_SIZE", chunk)
    cut = Contingency(f1).most_violated(y, scores)
    np.testing.assert_array_equal(cut.delta, expected.delta)
    assert cut.loss == pytest.approx(expected.loss)


def test_skipping_never_changes_the_value():
    def bumpy(tp, fp, fn, tn):
        return np.where((fp == 0) & (fn == 0), 0.0, np.cos(7.0 * tp + 11.0 * fp) ** 2)

    measure = Contingency(bumpy, greater_is_better=False)
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], [40, 60])
    for scale in (0.0, 0.1, 1.0, 10.0):
        scores = scale * (rng.normal(size=100) + y)
        values = values_of_tables(y, scores, lambda a, b: 40 * bumpy(a, b, 40 - a, 60 - b))
        assert measure.most_violated(y, scores).value(scores) == pytest.approx(values.max())


def test_memory_is_bounded():
    y = np.repeat([1.0, -1.0], [1500, 2500])
    scores = np.zeros(4000)
    tracemalloc.start()
    Contingency(f1).most_violated(y, scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1500 * 2500 * 8 / 2


def test_a_number_instead_of_an_array_is_enough_where_it_is_one():
    measure = Contingency(lambda tp, fp, fn, tn: tp / (tp + fn), name="recall")
    cut = measure.most_violated(Y, np.zeros(10))
    assert cut.loss == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda tp, fp, fn, tn: tp / (tp + fp), "is nan for the table tp=0, fp=0, fn=4, tn=6"),
        (lambda tp, fp, fn, tn: 1 + 0.01 * fp, r"is 1.01 for the table tp=0, fp=1, fn=4, tn=5"),
        (lambda tp, fp, fn, tn: 1 - fn, r"is -3.0 for the table tp=0, fp=0, fn=4, tn=6"),
        (lambda tp, fp, fn, tn: 0.5 * tp / (tp + fn), "loss 0.5 for the true table tp=4, fp=0"),
        (lambda tp, fp, fn, tn: fp / (fp + tn), "greater_is_better=True"),
        (lambda tp, fp, fn, tn: np.ones(17), "shape"),
        (lambda tp, fp, fn, tn: "high", "must return numbers"),
        (lambda tp, fp, fn, tn: None, "must return numbers|is nan"),
        (lambda tp, fp, fn, tn: 1.0, "no loss for any table"),
    ],
)
def test_bad_functions_are_refused(function, message):
    with pytest.raises(ValueError, match=message):
        Contingency(function, name="mine").most_violated(Y, np.zeros(10))


def test_check_looks_at_the_true_table():
    Contingency(f1).check(Y)
    with pytest.raises(ValueError, match="true table"):
        Contingency(f1, greater_is_better=False).check(Y)


def test_rounding_is_forgiven():
    def rounded(tp, fp, fn, tn):
        return f1(tp, fp, fn, tn) + 1e-10

    cut = Contingency(rounded).most_violated(Y, np.zeros(10))
    assert cut.loss == pytest.approx(4.0, abs=1e-8)
    assert Contingency(rounded).loss(Y, Y) == 0.0
