"""The study of the search beside all supports: a few problems of its own."""

from __future__ import annotations

import pytest

from studies.quality import exhaustive

#: Of the squared hinge, squares, Huber's loss, which a search of pairs alone missed; and of F1.
SEEDS = (0, 69, 299, 5)


@pytest.fixture(scope="module")
def rows():
    return [exhaustive.examine(seed) for seed in SEEDS]


def test_near_the_best_of_all(rows):
    assert exhaustive.share_near(rows) == 1.0
    assert min(row["excess"] for row in rows) > -1e-3
    assert exhaustive.n_above(rows, "above_start") == 0
    assert exhaustive.n_above(rows, "above_fewer") == 0


def test_the_report(rows, capsys):
    exhaustive.report(rows)
    printed = capsys.readouterr().out
    assert "| squared_hinge " in printed
    assert "| all " in printed
    assert printed.count("PASS") == 2
    exhaustive.report([row | {"excess": 0.02, "above_start": 0.1} for row in rows])
    assert capsys.readouterr().out.count("FAIL") == 2
