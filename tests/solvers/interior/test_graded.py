"""The columns' side of the Newton system: its second-order terms."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.interior.graded import ColumnStep, GradedColumns


@pytest.mark.parametrize(
    "sets",
    [{}, {"always_features": [3]}, {"feature_groups": [0, 0, 1, 2, 1, 3]}],
    ids=["single", "always", "groups"],
)
def test_second_order_terms_are_what_a_step_leaves(sets):
    """Conditions are quadratic: (F(x + s) + F(x - s)) / 2 is F(x) and the second order of s."""
    rng = np.random.default_rng(4)
    columns = GradedColumns(rng.normal(size=(3, 6)), BudgetNorm(2, 6, **sets))
    n_units = columns.n_units
    a, w, c = rng.normal(size=3), rng.normal(size=6), rng.normal(size=6)
    pairs = rng.uniform(0.3, 0.7, size=(2, 2 * n_units))
    step = ColumnStep(
        rng.uniform(-0.2, 0.2, size=n_units), 0.4, rng.normal(size=6), rng.normal(size=6)
    )

    def residuals(share):
        moved = pairs.copy()
        moved[0, :n_units] += share * step.d
        columns.linearise(a, w + share * step.w, c + share * step.c, share * step.level, moved)
        return np.concatenate([columns.of_w, columns.of_d])

    ahead, behind, here = residuals(1.0), residuals(-1.0), residuals(0.0)
    second = (ahead + behind) / 2 - here
    assert np.abs(second[:6]).max() > 0.01
    assert np.abs(second[6:]).max() > 0.01
    for weight in (0.0, 0.3, 1.0):
        found = np.concatenate(columns.with_second_order(step, weight))
        assert found == pytest.approx(here + weight * second, rel=1e-12, abs=1e-12)
