"""The budget norm and its prox against the same problems written as cones for Clarabel."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from scoresieve.regularizers import BudgetNorm


def solve_conic(n_variables, quadratic, linear, rows, right, cones):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    matrix = sp.csc_matrix(np.vstack(rows))
    solution = clarabel.DefaultSolver(
        sp.csc_matrix(np.diag(quadratic)), linear, matrix, np.concatenate(right), cones, settings
    ).solve()
    assert str(solution.status) in ("Solved", "AlmostSolved")
    assert matrix.shape[1] == n_variables
    return np.array(solution.x), solution.obj_val


def budget_cones(norm, n):
    """Constraints on (w, s, d): w_j^2 <= s_j d_unit(j), 0 <= d <= 1, sum d <= B; one s a column.

    A column that is always in has the number 1 for d_j; an excluded one has w_j = s_j = 0.
    """
    n_variables = 2 * n + norm.n_units
    rows, right, cones = [], [], []

    def row(**entries):
        out = np.zeros(n_variables)
        for name, value in entries.items():
            kind, number = name.split("_")
            out[{"w": 0, "s": n, "d": 2 * n}[kind] + int(number)] = value
        return out

    for j in range(n):
        unit = norm.unit_of[j]
        if unit == -2:
            rows.append(np.array([row(**{f"w_{j}": 1.0}), row(**{f"s_{j}": 1.0})]))
            right.append([0.0, 0.0])
            cones.append(clarabel.ZeroConeT(2))
            continue
        # (s + d, s - d, 2 w) in the second-order cone; Clarabel's slack is right - rows @ x.
        d = {f"d_{unit}": 1.0} if unit >= 0 else {}
        one = 0.0 if unit >= 0 else 1.0
        minus_d = {name: -value for name, value in d.items()}
        rows.append(
            -np.array([row(**{f"s_{j}": 1.0}, **d), row(**{f"s_{j}": 1.0}, **minus_d),
                       row(**{f"w_{j}": 2.0})])
        )  # fmt: skip
        right.append([one, -one, 0.0])
        cones.append(clarabel.SecondOrderConeT(3))
    box = np.zeros((norm.n_units, n_variables))
    box[:, 2 * n :] = np.eye(norm.n_units)
    rows += [-box, box, box.sum(axis=0)[None]]
    right += [np.zeros(norm.n_units), np.ones(norm.n_units), [float(norm.budget)]]
    cones.append(clarabel.NonnegativeConeT(2 * norm.n_units + 1))
    return n_variables, rows, right, cones


def conic_value(norm, w):
    n = w.size
    n_variables, rows, right, cones = budget_cones(norm, n)
    rows.append(np.eye(n, n_variables))
    right.append(w)
    cones.append(clarabel.ZeroConeT(n))
    linear = np.zeros(n_variables)
    linear[n : 2 * n] = 1.0
    return solve_conic(n_variables, np.zeros(n_variables), linear, rows, right, cones)[1]


def conic_prox(norm, v, step):
    n = v.size
    n_variables, rows, right, cones = budget_cones(norm, n)
    quadratic, linear = np.zeros(n_variables), np.zeros(n_variables)
    quadratic[:n], linear[:n] = 1.0, -v
    linear[n : 2 * n] = step / 2
    x, objective = solve_conic(n_variables, quadratic, linear, rows, right, cones)
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
        norm = BudgetNorm(
            2, 9, feature_groups=groups, always_features=[0, 1], excluded_features=[5]
        )
        yield pytest.param(norm, vector, id=f"{name}-all")
        yield pytest.param(
            BudgetNorm(3, 9, always_features=[8], excluded_features=[1, 2]),
            vector,
            id=f"{name}-outside",
        )


@pytest.mark.parametrize(("norm", "w"), list(cases()))
def test_value(norm, w):
    w = w.copy()
    w[norm.excluded] = 0.0
    assert_allclose(norm.value_squared(w), conic_value(norm, w), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("step", [0.05, 1.0, 20.0])
@pytest.mark.parametrize(("norm", "v"), list(cases()))
def test_prox(norm, v, step):
    """Equal objectives; the minimisers only to the accuracy that strong convexity then gives."""
    w = norm.prox(v, step)
    objective = 0.5 * (w - v) @ (w - v) + 0.5 * step * norm.value_squared(w)
    conic_w, conic_objective = conic_prox(norm, v, step)
    assert_allclose(objective, conic_objective, rtol=1e-6)
    assert_allclose(w, conic_w, atol=np.sqrt(2e-6 * conic_objective))
