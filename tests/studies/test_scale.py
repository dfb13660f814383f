"""The study of scale: its text, its passes, its memory, and its model on paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scoresieve import BudgetClassifier
from scoresieve.design import as_design
from studies.common.internals import counted_passes
from studies.speed.large_text import LargeText, TextSize, make_text
from studies.speed.scale import AnonymousPeak, by_pieces, extrapolated
from studies.speed.scale_model import Bandwidths, ProblemSize, pass_seconds, round_parts


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return make_text(TextSize(200_000), tmp_path_factory.mktemp("text"))


def test_text_has_the_size_that_was_asked_for(parts):
    train, test = parts
    assert train.n_entries == pytest.approx(200_000, rel=0.05)
    assert train.shape == (2000, int(350 * 2000**0.5))
    assert test.shape == train.shape
    assert train.labels.mean() == pytest.approx(0.02, abs=0.001)
    assert 0.005 < test.labels.mean() < 0.04
    rows = next(iter(train.pieces()))[1]
    assert np.asarray(rows.multiply(rows).sum(axis=1)) == pytest.approx(1.0, rel=1e-5)


def test_text_is_always_the_same(parts):
    X, y = LargeText(TextSize(200_000)).rows(2000)
    assert np.array_equal(y, parts[0].labels)
    assert (next(iter(parts[0].pieces()))[1] != X).nnz == 0


def test_passes_are_counted(parts):
    train = parts[0]
    with counted_passes() as counts:
        design = as_design(train)
        design.correlate(np.ones(2000))
        design.correlate(np.ones(2000))
        design.columns(np.array([3, 5]))
    # Entries are counted once before columns are gathered.
    assert counts.n_passes == {"correlate": 2, "statistics": 1, "by_columns": 1}
    assert counts.seconds > 0.0


def test_decisions_by_pieces_are_those_of_all_rows(parts):
    train = parts[0]
    model = BudgetClassifier(budget=5).fit(train, train.labels)
    decide = by_pieces(model.decision_function)
    assert np.allclose(decide(train), model.decision_function(train))


def test_memory_is_seen():
    with AnonymousPeak() as before:
        before._ended.wait(0.1)
    with AnonymousPeak() as after:
        held = np.ones(2**24)
        after._ended.wait(0.1)
    assert after.peak - before.peak > 0.9 * held.nbytes


def test_lines_go_on():
    entries = [
        {"n_nonzeros": size, "scoresieve": dict.fromkeys(NAMES, 2.0 * size + 1.0)}
        for size in (5, 10, 20)
    ]
    assert extrapolated(entries, 200.0) == dict.fromkeys(NAMES, 401.0)


NAMES = ("fit_seconds", "pass_seconds", "anonymous_bytes")
SPEED = Bandwidths(entries=1e8, added=1e8, network=1e9, tasks=1e3, rows=1e7)


def test_the_model_by_hand():
    parts = round_parts(ProblemSize(1e6, 1e5, 1e8, 10), SPEED, 4)
    assert parts["compute"] == pytest.approx(3 * 1e7 / 1e8)  # ten blocks in three waves
    assert parts["v out"] == pytest.approx(8e6 / 1e9)
    assert parts["adding"] == pytest.approx(3 * 1e5 / 1e8)  # nine sums of pairs, four at a time
    assert parts["moving"] == pytest.approx(9 * 0.75 / 4 * 8e5 / 1e9)
    assert parts["sums back"] == pytest.approx(8e5 / 1e9)
    assert parts["tasks"] == pytest.approx((10 + 9 + 6.75) / 1e3)
    assert parts["oracle"] == pytest.approx(0.4)
    assert pass_seconds(parts) == pytest.approx(sum(parts.values()) - 0.4)


def test_more_workers_than_blocks_or_cores_do_not_help():
    size = ProblemSize.of_text(2e8)
    assert size.n_blocks == 24
    times = [round_parts(size, SPEED, w)["compute"] for w in (1, 2, 24, 256)]
    assert times == pytest.approx([2.0, 1.0, 2.0 / 24, 2.0 / 24])
    assert round_parts(size, SPEED, 1)["moving"] == 0.0
    shared = replace(SPEED, cores=2)
    assert round_parts(size, shared, 4)["compute"] == round_parts(size, shared, 2)["compute"]
