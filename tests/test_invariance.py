"""The same problem in another guise has the same optimum: order, copies, scales, types."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import solve
from tests.helpers import both_solvers

TOL = 1e-4
several = pytest.mark.parametrize("measure", ["f1", "accuracy", "prec@5", "prbep", "roc_auc"])


def assert_same_optimum(first, second, factor=1.0):
    """``[dual, primal]`` of both hold one number, and both are narrow."""
    assert first.gap <= TOL
    assert second.gap <= TOL
    low = max(factor * first.dual, second.dual)
    high = min(factor * first.primal, second.primal)
    assert low <= high * (1 + 1e-9)


@pytest.fixture(scope="module")
def case(data):
    return data(0)


@pytest.fixture(scope="module")
def plain(case):
    """``plain(measure, solver)`` gives the fit of the case as it is, done once."""
    known = {}

    def get(measure="f1", solver=solve):
        if (measure, solver) not in known:
            known[measure, solver] = fit(*case, measure=measure, solver=solver)
        return known[measure, solver]

    return get


def fit(X, y, solver=solve, **changes):
    """A fit of F1 at one price: that it would find is its own for each guise."""
    arguments = {"measure": "f1", "budget": 3, "C": 1.0, "tol": TOL} | changes
    if arguments["measure"] == "f1":
        arguments.setdefault("price", 0.6)
    return solver(X, y, **arguments)


@both_solvers
@several
def test_order_of_rows(case, plain, measure, solver):
    X, y = case
    order = np.random.default_rng(0).permutation(30)
    second = fit(X[order], y[order], measure=measure, solver=solver)
    assert_same_optimum(plain(measure, solver), second)


@both_solvers
@several
def test_order_of_columns(case, plain, measure, solver):
    X, y = case
    order = np.random.default_rng(1).permutation(10)
    first = plain(measure, solver)
    second = fit(X[:, order], y, measure=measure, solver=solver)
    assert_same_optimum(first, second)
    # J is not strongly convex in general, but it is here: all of w follows the columns.
    assert_allclose(first.w[order], second.w, atol=0.05 * np.abs(first.w).max())


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared", "epsilon_insensitive"])
def test_orders_signs_and_stacks_for_losses(case, loss):
    """Rows and columns in another order, columns turned over, and all rows twice."""
    X, y = case
    y = X[:, 0] + 0.3 * y if loss in ("squared", "epsilon_insensitive") else y
    rng = np.random.default_rng(1)
    rows, columns, signs = rng.permutation(30), rng.permutation(10), rng.choice([-1.0, 1.0], 10)
    first = fit(X, y, measure=None, loss=loss)
    assert_same_optimum(first, fit(X[rows], y[rows], measure=None, loss=loss))
    second = fit((X * signs)[:, columns], y, measure=None, loss=loss)
    assert_same_optimum(first, second)
    expected = (signs * first.w)[columns]
    assert_allclose(second.w, expected, atol=0.05 * np.abs(first.w).max())
    stacked = fit(np.vstack([X, X]), np.append(y, y), measure=None, loss=loss, C=0.5)
    assert_same_optimum(first, stacked)


@both_solvers
def test_signs_of_columns(case, plain, solver):
    """Turning a column over turns its weight over."""
    X, y = case
    signs = np.resize([1.0, -1.0], 10)
    first, second = plain(solver=solver), fit(X * signs, y, solver=solver)
    assert_same_optimum(first, second)
    assert_allclose(second.w, signs * first.w, atol=0.05 * np.abs(first.w).max())


@pytest.mark.parametrize("measure", ["accuracy", "prec@p/2", "balanced_accuracy"])
def test_swapped_classes(case, measure):
    """Accuracy does not know which class is positive; a measure of the positives does."""
    X, y = case
    first, second = fit(X, y, measure=measure), fit(-X, -y, measure=measure)
    if measure == "accuracy":
        assert_same_optimum(first, second)
    elif measure == "balanced_accuracy":
        # U is 10, then 20, and the price 1/2, then 2: R' = 2 R.
        assert_same_optimum(fit(X, y, measure=measure, C=2.0), second)
        # At the price 1 R'(s) = 2 R(s/2), hence J'(2w) with C is 4 J(w) with C/2.
        first = fit(X, y, measure=measure, bound="paper", C=0.5)
        second = fit(-X, -y, measure=measure, bound="paper")
        assert_same_optimum(first, second, factor=4.0)
    else:
        assert max(first.dual, second.dual) > min(first.primal, second.primal)


@both_solvers
@pytest.mark.parametrize(("measure", "factor"), [("accuracy", 2.0), ("roc_auc", 2.0)])
def test_rows_twice_is_C_twice(case, measure, factor, solver):
    """Sum of hinges, and (1/N) sum over pairs of hinges: both risks double exactly."""
    X, y = case
    twice = fit(np.vstack([X, X]), np.append(y, y), measure=measure, solver=solver)
    assert_same_optimum(fit(X, y, measure=measure, C=factor, solver=solver), twice)


@pytest.mark.parametrize("measure", ["f1", "rec@2p", "prbep", "average_precision"])
def test_rows_twice_is_at_least_C_twice(case, measure):
    """Copies of the worst labelling have twice the value; copies may also be split."""
    X, y = case
    once = fit(X, y, measure=measure, C=2.0)
    twice = fit(np.vstack([X, X]), np.append(y, y), measure=measure, tol=1e-3)
    assert twice.primal >= once.dual


@both_solvers
def test_columns_twice_in_groups(case, solver):
    """Column j beside itself in one group is one column of sqrt(2) x_j."""
    X, y = case
    pairs = fit(np.hstack([X, X]), y, feature_groups=np.tile(np.arange(10), 2), solver=solver)
    single = fit(np.sqrt(2.0) * X, y, solver=solver)
    assert_same_optimum(single, pairs)
    assert_allclose(pairs.w[:10], pairs.w[10:], atol=0.02 * np.abs(pairs.w).max())


@both_solvers
def test_padding_with_useless_columns(case, plain, solver):
    X, y = case
    padded = fit(np.hstack([np.zeros((30, 4)), X, np.zeros((30, 3))]), y, solver=solver)
    assert_same_optimum(plain(solver=solver), padded)
    assert_same_optimum(
        fit(X[:, 2:], y, solver=solver), fit(X, y, excluded_features=[0, 1], solver=solver)
    )


def test_a_rotation_within_a_group(case):
    """Groups count by their l2 norm, so an orthogonal change of columns inside one is free."""
    X, y = case
    turn, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))
    turned = X.copy()
    turned[:, :3] = X[:, :3] @ turn
    groups = [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]
    first = fit(X, y, feature_groups=groups)
    assert_same_optimum(first, fit(turned, y, feature_groups=groups))


def test_more_budget_or_more_columns_never_hurt(case):
    X, y = case
    by_budget = [fit(X, y, budget=budget) for budget in (1, 2, 4, 7, 10)]
    by_columns = [fit(X[:, :n], y) for n in (3, 5, 8, 10)]
    for fits in (by_budget, by_columns):
        for smaller, larger in pairwise(fits):
            assert larger.dual <= smaller.primal
    assert by_budget[0].dual > by_budget[-1].primal


def test_the_optimum_is_concave_in_C(case):
    """J*(C) is a minimum of linear functions of C, so it is concave and J*/C falls."""
    X, y = case
    fits = {C: fit(X, y, C=C) for C in (0.5, 1.0, 1.5)}
    assert fits[1.0].primal >= 0.5 * (fits[0.5].dual + fits[1.5].dual)
    assert fits[0.5].primal / 0.5 >= fits[1.0].dual >= fits[1.5].dual / 1.5 * (1 - 1e-9)


def forms(X):
    """The same numbers in every form that ``solve`` takes without conversion."""
    wide = sp.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return {
        "fortran": np.asfortranarray(X),
        "csr": sp.csr_array(X),
        "csc": sp.csc_matrix(X),
        "coo": sp.coo_array(X),
        "int64 indices": wide,
        "list": X.tolist(),
    }


@pytest.mark.parametrize("intercept", [0.0, 1.0])
def test_sparse_and_dense_give_one_optimum(case, intercept):
    X, y = case
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = fit(X, y, intercept_scaling=intercept)
    for form in forms(X).values():
        other = fit(form, y, intercept_scaling=intercept)
        assert_same_optimum(dense, other)
        assert_allclose(other.w, dense.w, atol=0.05 * np.abs(dense.w).max())


def test_float32_is_close(case, plain):
    X, y = case
    double, single = plain(), fit(X.astype(np.float32), y)
    assert single.primal == pytest.approx(double.primal, rel=1e-3)
    exact = fit(X.astype(np.float32).astype(np.float64), y)
    assert_same_optimum(single, exact)


def test_integers_are_their_floats(case):
    X, y = case
    X = np.rint(2 * X)
    assert_same_optimum(fit(X, y), fit(X.astype(np.int8), y))
    assert_same_optimum(fit(X > 0, y), fit((X > 0).astype(float), y))


def test_labels_of_either_coding(case, plain):
    X, y = case
    expected = plain().w
    for labels in ((y > 0), (y > 0).astype(int), y.astype(np.int8), y.tolist()):
        assert_array_equal(fit(X, labels).w, expected)
