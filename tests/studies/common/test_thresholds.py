"""The best threshold against all thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.common.thresholds import best_threshold


@settings(derandomize=True, deadline=None, database=None)
@given(
    st.lists(st.tuples(st.sampled_from([-1.0, 1.0]), st.integers(-3, 3)), min_size=2, max_size=12)
)
def test_best_threshold_has_the_best_f1_of_all(rows):
    y, scores = np.array(rows, dtype=float).T
    if not np.any(y > 0):
        return
    cuts = np.arange(-3.5, 4.0)
    found = f1(y > 0, scores > best_threshold(y, scores))
    assert found == pytest.approx(max(f1(y > 0, scores > cut) for cut in cuts))


def f1(truth, alarms):
    return 2.0 * np.sum(truth & alarms) / (np.sum(truth) + np.sum(alarms))
