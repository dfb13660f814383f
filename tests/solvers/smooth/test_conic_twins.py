"""General losses as conic programmes in the weights, written out without the library's losses."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest

from scoresieve import Status, certify, solve
from scoresieve.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    Squared,
    SquaredHinge,
)
from scoresieve.solvers.smooth import restricted

LOSSES = [
    SquaredHinge(),
    Logistic(),
    HuberHinge(),
    HuberHinge(0.05),
    Squared(),
    Huber(0.5),
    Hinge(),
    EpsilonInsensitive(0.2),
]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def make(loss, n_features):
    """25 rows of normal columns, of which three count."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, n_features))
    values = X[:, :3].sum(axis=1) + rng.normal(size=25)
    return X, (values + 0.5 if loss.task == "regression" else np.where(values > 0.3, 1.0, -1.0))


def conic_optimum(
    solve,
    X,
    y,
    loss,
    C,
    budget,
    *,
    weights=None,
    intercept_scaling=0.0,
    always_features=(),
    excluded_features=(),
    feature_groups=None,
):
    """``min_w 1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)`` in (w, s, d, variables of the loss).

    ``||w_u||^2 <= s_u d_u`` for every unit, and the norm is the sum of the s.
    """
    always = list(always_features)
    groups = np.arange(X.shape[1]) if feature_groups is None else np.asarray(feature_groups)
    if intercept_scaling:
        always.append(X.shape[1])
        X = np.column_stack([X, np.full(y.size, intercept_scaling)])
        groups = np.append(groups, groups.max() + 1)
    m = X.shape[1]
    free = np.setdiff1d(np.arange(m), [*always, *excluded_features])
    units = [free[groups[free] == g] for g in np.unique(groups[free])]
    n_units = len(units)
    at_s, at_d = m + np.arange(n_units), m + n_units + np.arange(n_units)
    start = m + 2 * n_units
    weights = np.ones(y.size) if weights is None else weights
    size, P_loss, q_loss, blocks = loss_rows(loss, X, y, C * weights, start)
    P, q = np.zeros((size, size)), np.zeros(size)
    P[always, always] = 1.0
    q[at_s] = 0.5
    P[np.arange(start, size), np.arange(start, size)] = P_loss
    q[start:] = q_loss
    bounds, sides = np.zeros((2 * n_units + 1, size)), np.zeros(2 * n_units + 1)
    rows = np.arange(n_units)
    bounds[rows, at_d], sides[rows], bounds[rows + n_units, at_d] = 1.0, 1.0, -1.0
    bounds[-1, at_d], sides[-1] = 1.0, budget
    blocks.append((bounds, sides, clarabel.NonnegativeConeT(sides.size)))
    if len(excluded_features):
        out = np.eye(size)[list(excluded_features)]
        blocks.append((out, np.zeros(len(out)), clarabel.ZeroConeT(len(out))))
    for u, unit in enumerate(units):
        cone = np.zeros((unit.size + 2, size))
        cone[0, [at_s[u], at_d[u]]], cone[1, [at_s[u], at_d[u]]] = -1.0, (-1.0, 1.0)
        cone[2 + np.arange(unit.size), unit] = -2.0
        blocks.append((cone, np.zeros(unit.size + 2), clarabel.SecondOrderConeT(unit.size + 2)))
    return solve(P, q, blocks)[1]


def squared_l1_optimum(solve, X, y, loss, C):
    """``min 1/2 (sum_j w+_j + w-_j)^2 + C sum_i l`` with ``w = w+ - w- `` and both not negative."""
    m = X.shape[1]
    both = np.hstack([X, -X])
    size, P_loss, q_loss, blocks = loss_rows(loss, both, y, np.full(y.size, C), 2 * m)
    P, q = np.zeros((size, size)), np.zeros(size)
    P[: 2 * m, : 2 * m] = 1.0
    P[np.arange(2 * m, size), np.arange(2 * m, size)] = P_loss
    q[2 * m :] = q_loss
    signs = -np.eye(size)[: 2 * m]
    blocks.append((signs, np.zeros(2 * m), clarabel.NonnegativeConeT(2 * m)))
    return solve(P, q, blocks)[1]


def loss_rows(loss, X, y, scale, start):
    """Variables of the loss from ``start`` on: how many in all, their P and q, and the cones."""
    n, m = X.shape
    if loss.task == "classification":
        return margin_rows(loss, X * y[:, None], scale, start)
    if loss.name == "squared":
        # r = X w - y
        rows = np.zeros((n, start + n))
        rows[:, :m], rows[:, start:] = X, -np.eye(n)
        return start + n, scale, np.zeros(n), [(rows, y, clarabel.ZeroConeT(n))]
    if loss.name == "huber":
        # X w - y = a + b, with a^2 / 2 + epsilon |b| and |b| <= t
        size = start + 3 * n
        equal = np.zeros((n, size))
        equal[:, :m], equal[:, start : start + n] = X, -np.eye(n)
        equal[:, start + n : start + 2 * n] = -np.eye(n)
        sizes = np.zeros((2 * n, size))
        sizes[:n, start + n : start + 2 * n] = np.eye(n)
        sizes[n:, start + n : start + 2 * n] = -np.eye(n)
        sizes[:n, start + 2 * n :] = sizes[n:, start + 2 * n :] = -np.eye(n)
        blocks = [
            (equal, y, clarabel.ZeroConeT(n)),
            (sizes, np.zeros(2 * n), clarabel.NonnegativeConeT(2 * n)),
        ]
        P = np.concatenate([scale, np.zeros(2 * n)])
        return size, P, np.concatenate([np.zeros(2 * n), loss.epsilon * scale]), blocks
    # epsilon-insensitive: xi >= |X w - y| - epsilon, xi >= 0
    size = start + n
    rows, sides = np.zeros((3 * n, size)), np.zeros(3 * n)
    rows[:n, :m], rows[n : 2 * n, :m] = X, -X
    rows[:n, start:] = rows[n : 2 * n, start:] = rows[2 * n :, start:] = -np.eye(n)
    sides[:n], sides[n : 2 * n] = y + loss.epsilon, -y + loss.epsilon
    return size, np.zeros(n), scale, [(rows, sides, clarabel.NonnegativeConeT(3 * n))]


def margin_rows(loss, Z, scale, start):
    """The same for losses of the margins ``Z w``."""
    n, m = Z.shape
    if loss.name == "logistic":
        return logistic_rows(Z, scale, start)
    if loss.name == "huber_hinge":
        # min over a of (1 - m - a)_+ + a^2 / (2 delta)
        size = start + 2 * n
        rows = np.zeros((2 * n, size))
        rows[:n, :m] = -Z
        rows[:n, start : start + n] = rows[:n, start + n :] = -np.eye(n)
        rows[n:, start : start + n] = -np.eye(n)
        sides = np.concatenate([-np.ones(n), np.zeros(n)])
        P = np.concatenate([np.zeros(n), scale / loss.delta])
        q = np.concatenate([scale, np.zeros(n)])
        return size, P, q, [(rows, sides, clarabel.NonnegativeConeT(2 * n))]
    # xi >= 1 - m, xi >= 0
    size = start + n
    rows = np.zeros((2 * n, size))
    rows[:n, :m], rows[:n, start:], rows[n:, start:] = -Z, -np.eye(n), -np.eye(n)
    sides = np.concatenate([-np.ones(n), np.zeros(n)])
    blocks = [(rows, sides, clarabel.NonnegativeConeT(2 * n))]
    if loss.name == "squared_hinge":
        return size, 2.0 * scale, np.zeros(n), blocks
    return size, np.zeros(n), scale, blocks


def logistic_rows(Z, scale, start):
    """``t >= log(1 + exp(-m))``: ``exp(-t) <= a``, ``exp(-m - t) <= b``, ``a + b <= 1``."""
    n, m = Z.shape
    size = start + 3 * n
    at_t, at_a, at_b = (start + k * n + np.arange(n) for k in range(3))
    sums = np.zeros((n, size))
    sums[np.arange(n), at_a] = sums[np.arange(n), at_b] = 1.0
    blocks = [(sums, np.ones(n), clarabel.NonnegativeConeT(n))]
    for i in range(n):
        for at, row in ((at_a, np.zeros(m)), (at_b, Z[i])):
            cone, side = np.zeros((3, size)), np.array([0.0, 1.0, 0.0])
            cone[0, :m], cone[0, at_t[i]], cone[2, at[i]] = row, 1.0, -1.0
            blocks.append((cone, side, clarabel.ExponentialConeT()))
    return size, np.zeros(3 * n), np.concatenate([scale, np.zeros(2 * n)]), blocks


def check_against(X, y, expected, **arguments):
    tol = 1e-6 if arguments["loss"].is_smooth else 1e-5
    result = solve(X, y, tol=tol, **arguments)
    check = certify(X, y, result.w, result.dual_point, intercept=result.intercept, **arguments)
    assert result.status is Status.CONVERGED
    assert check.gap <= tol
    assert check.primal == pytest.approx(result.primal, rel=1e-9)
    assert check.dual == pytest.approx(result.dual, rel=1e-9)
    assert result.primal == pytest.approx(expected, rel=2 * tol)
    assert result.dual <= expected * (1 + 1e-7)
    return result


@every_loss
@pytest.mark.parametrize("budget", [1, 4])
@pytest.mark.parametrize("is_dense", [True, False], ids=["interior", "newton"])
def test_any_budget(loss, budget, is_dense, brute, monkeypatch):
    """By the interior-point method, or by Newton steps alone."""
    if not is_dense:
        monkeypatch.setattr(restricted, "FEW_PRODUCTS", 0)
        monkeypatch.setattr(restricted, "DENSE_NUMBERS", 0)
    X, y = make(loss, 12)
    expected = conic_optimum(brute.clarabel_solve, X, y, loss, 1.5, budget)
    check_against(X, y, expected, loss=loss, budget=budget, C=1.5)


@every_loss
def test_a_budget_of_one_is_the_squared_l1_problem(loss, brute):
    X, y = make(loss, 8)
    expected = squared_l1_optimum(brute.clarabel_solve, X, y, loss, 1.5)
    result = check_against(X, y, expected, loss=loss, budget=1, C=1.5)
    assert result.primal >= 0.5 * np.abs(result.w).sum() ** 2 * (1 - 1e-12)


@every_loss
def test_columns_and_weights(loss, columns, brute):
    X, y = make(loss, 10)
    weights = np.random.default_rng(1).integers(0, 4, size=25) / 2.0
    expected = conic_optimum(brute.clarabel_solve, X, y, loss, 0.8, 2, weights=weights, **columns)
    arguments = {"loss": loss, "budget": 2, "C": 0.8, "sample_weight": weights, **columns}
    result = check_against(X, y, expected, **arguments)
    assert np.all(result.w[columns.get("excluded_features", [])] == 0.0)
    assert result.intercept == 0.0 or "intercept_scaling" in columns
