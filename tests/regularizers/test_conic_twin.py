"""The budget norm and its prox against the same problems written as cones for Clarabel."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from numpy.testing import assert_allclose

from scoresieve.regularizers import BudgetNorm


def budget_cones(norm, n):
    """Constraints on (w, s, d): w_j^2 <= s_j d_unit(j), 0 <= d <= 1, sum d <= B; one s a column.

    A column that is always in has the number 1 for d_j; an excluded one has w_j = s_j = 0.
    """
    n_variables, blocks = 2 * n + norm.n_units, []
    w, s, d = np.split(np.eye(n_variables), [n, 2 * n])
    for j in range(n):
        unit = norm.unit_of[j]
        if unit == -2:
            blocks.append((np.array([w[j], s[j]]), np.zeros(2), clarabel.ZeroConeT(2)))
            continue
        # (s + d, s - d, 2 w) in the second-order cone; Clarabel's slack is side - rows @ x.
        of_d, one = (d[unit], 0.0) if unit >= 0 else (np.zeros(n_variables), 1.0)
        rows = -np.array([s[j] + of_d, s[j] - of_d, 2.0 * w[j]])
        blocks.append((rows, np.array([one, -one, 0.0]), clarabel.SecondOrderConeT(3)))
    rows = np.vstack([-d, d, d.sum(axis=0)])
    sides = np.concatenate([np.zeros(norm.n_units), np.ones(norm.n_units), [float(norm.budget)]])
    return [*blocks, (rows, sides, clarabel.NonnegativeConeT(sides.size))]


def conic_value(brute, norm, w):
    n, n_variables = w.size, 2 * w.size + norm.n_units
    same = (np.eye(n, n_variables), w, clarabel.ZeroConeT(n))
    of_s = np.repeat([0.0, 1.0, 0.0], [n, n, norm.n_units])
    blocks = [*budget_cones(norm, n), same]
    return brute.clarabel_solve(np.zeros((n_variables, n_variables)), of_s, blocks, 1e-11)[1]


def conic_prox(brute, norm, v, step):
    n = v.size
    quadratic = np.repeat([1.0, 0.0], [n, n + norm.n_units])
    linear = np.concatenate([-v, np.full(n, step / 2), np.zeros(norm.n_units)])
    blocks = budget_cones(norm, n)
    x, objective = brute.clarabel_solve(np.diag(quadratic), linear, blocks, 1e-11)
    return x[:n], objective + 0.5 * v @ v


def cases():
    rng = np.random.default_rng(11)
    plain = rng.standard_normal(9)
    ties = np.array([2.0, -2.0, 2.0, 1.0, 1.0, -1.0, 0.0, 0.0, 3.0])
    sparse = np.array([0.0, 5.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0])
    groups = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4])
    for name, vector in (("plain", plain), ("ties", ties), ("sparse", sparse)):
        for budget in (1, 2, 4, 8, 9):
            yield pytest.param(BudgetNorm(budget, 9), vector, id=f"{name}-B{budget}")
        for budget in (1, 3, 5):
            norm = BudgetNorm(budget, 9, feature_groups=groups)
            yield pytest.param(norm, vector, id=f"{name}-groups-B{budget}")
        outside = {"always_features": [0, 1], "excluded_features": [5]}
        norm = BudgetNorm(2, 9, feature_groups=groups, **outside)
        yield pytest.param(norm, vector, id=f"{name}-all")
        norm = BudgetNorm(3, 9, always_features=[8], excluded_features=[1, 2])
        yield pytest.param(norm, vector, id=f"{name}-outside")


@pytest.mark.parametrize(("norm", "w"), list(cases()))
def test_value(brute, norm, w):
    w = w.copy()
    w[norm.excluded] = 0.0
    assert_allclose(norm.value_squared(w), conic_value(brute, norm, w), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("step", [0.05, 1.0, 20.0])
@pytest.mark.parametrize(("norm", "v"), list(cases()))
def test_prox(brute, norm, v, step):
    """Equal objectives; the minimisers only to the accuracy that strong convexity then gives."""
    w = norm.prox(v, step)
    objective = 0.5 * (w - v) @ (w - v) + 0.5 * step * norm.value_squared(w)
    conic_w, conic_objective = conic_prox(brute, norm, v, step)
    assert_allclose(objective, conic_objective, rtol=1e-6)
    assert_allclose(w, conic_w, atol=np.sqrt(2e-6 * conic_objective))
