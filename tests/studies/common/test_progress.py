"""The estimate of the time left."""

from __future__ import annotations

import pytest

from studies.common.progress import Progress, duration


def test_progress_estimates_from_what_was_done(capsys):
    progress = Progress("name", [10.0, 30.0], jobs=2, n_stored=1)
    assert progress.seconds_left() == pytest.approx(20.0, rel=0.05)
    progress.step(10.0, "unit", 0.1)
    assert 0.0 < progress.seconds_left() < 15.0
    written = capsys.readouterr().err
    assert "2 units, 1 stored before" in written
    assert "1/2: unit" in written
    assert (duration(59.6), duration(125)) == ("1 min 0 s", "2 min 5 s")
