"""Figures: the same bytes each time."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="the studies draw figures")

from studies.common.figures import HOLLOW, Line, Panels


def test_figures_are_the_same_bytes_each_time(tmp_path):
    for folder in ("a", "b"):
        panels = Panels(3, 2)
        lines = [
            Line("SVM-RFE", [1, 10, 100], [1.0, 2.0, 3.0], [None, "rounds", None]),
            Line("new", [2, 20], [2.0, 1.0]),
        ]
        panels.lines(0, lines, "title", "x", "y", xscale="log")
        panels.level(0, 2.5, "level")
        panels.write(tmp_path / folder, "f")
    for ending in ("png", "svg"):
        first, second = ((tmp_path / folder / f"f.{ending}").read_bytes() for folder in "ab")
        assert first == second
        assert len(first) > 5000
    assert b"<dc:date>" not in second


def test_points_at_a_limit_are_hollow_and_the_legend_says_so():
    panels = Panels(1)
    limits = [None, "groups", "seconds"]
    lines = [Line("FGM", [1, 2, 3], [4, 5, 6], limits), Line("l1-SVM", [1], [2])]
    panels.lines(0, lines, "title", "x", "y")
    drawn = panels.axes[0].get_lines()
    hollow = [line for line in drawn if line.get_markerfacecolor() == "white"]
    assert [line.get_xydata().tolist() for line in hollow] == [[[2.0, 5.0], [3.0, 6.0]]]
    assert list(panels.legend()) == ["FGM", "l1-SVM", HOLLOW]


def test_without_limits_nothing_is_hollow():
    panels = Panels(1)
    panels.lines(0, [Line("FGM", [1, 2], [3, 4], [None, None])], "title", "x", "y")
    assert list(panels.legend()) == ["FGM"]
