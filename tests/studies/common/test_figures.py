"""Figures: the same bytes each time."""

from __future__ import annotations

from studies.common.figures import Panels


def test_figures_are_the_same_bytes_each_time(tmp_path):
    for folder in ("a", "b"):
        panels = Panels(3, 2)
        lines = [("SVM-RFE", [1, 10, 100], [1.0, 2.0, 3.0]), ("new", [2, 20], [2.0, 1.0])]
        panels.lines(0, lines, "title", "x", "y", xscale="log")
        panels.level(0, 2.5, "level")
        panels.write(tmp_path / folder, "f")
    for ending in ("png", "svg"):
        first, second = ((tmp_path / folder / f"f.{ending}").read_bytes() for folder in "ab")
        assert first == second
        assert len(first) > 5000
    assert b"<dc:date>" not in second
