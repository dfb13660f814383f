"""Rows that are the same, taken together: the same sums from fewer rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from scoresieve.design import as_design
from scoresieve.losses import get_loss
from scoresieve.risks import LossRisk
from scoresieve.solvers.splicing.newton import newton_fit, newton_steps
from scoresieve.solvers.splicing.packing import pack_rows


def sparse_problem(seed, loss, *, constant=1.0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((80, 6), density=0.05, rng=rng, format="csc")
    y = np.where(rng.random(80) < 0.3, 1.0, -1.0)
    design = as_design(X, constant=constant)
    block = design.columns(np.arange(design.n_columns))
    return block, LossRisk(get_loss(loss), y, rng.integers(1, 4, 80).astype(float))


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_sums_and_their_derivatives_are_those_of_all_rows(loss, constant):
    block, risk = sparse_problem(0, loss, constant=constant)
    few, packed = pack_rows(block, risk)
    w = np.random.default_rng(1).normal(size=block.n_columns)
    scores, there = block.scores(w), few.scores(w)
    assert there.size < 40
    assert packed.value(there) == pytest.approx(risk.value(scores))
    gradient = block.correlate(risk.vector(risk.slopes(scores), 2.0))
    np.testing.assert_allclose(
        few.correlate(packed.vector(packed.slopes(there), 2.0)), gradient, atol=1e-12
    )
    np.testing.assert_allclose(
        few.gram(packed.curvatures(there)), block.gram(risk.curvatures(scores)), atol=1e-12
    )


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_a_fit_is_that_of_all_rows(loss):
    block, risk = sparse_problem(2, loss)
    start = np.zeros(block.n_columns)
    one = newton_fit(block, risk, 3.0, start, tol=1e-10)
    other = newton_steps(block, risk, 3.0, start, 1e-10, np.inf)
    np.testing.assert_allclose(one.w, other.w, atol=1e-7)
    np.testing.assert_allclose(one.v, other.v, atol=1e-7)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-7)
    assert one.value == pytest.approx(other.value)


def test_one_class_alone_among_the_rows_without_entries():
    X = sp.csc_array(np.array([[1.0], [2.0], [0.0], [0.0]]))
    design = as_design(X, constant=0.0)
    risk = LossRisk(get_loss("logistic"), np.array([1.0, -1.0, -1.0, -1.0]))
    few, packed = pack_rows(design.columns(np.array([0])), risk)
    assert packed.y.tolist() == [1.0, -1.0, -1.0]
    assert packed.row_weights.tolist() == [1.0, 1.0, 2.0]
    assert few.scores(np.ones(1)).tolist() == [1.0, 2.0, 0.0]


def test_repeated_entries_add_up():
    X = sp.csc_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 2]), np.array([0, 3])), (4, 1))
    block = as_design(X, constant=0.0).columns(np.array([0]))
    assert block.dense_rows(np.array([0, 2, 3])).scores(np.ones(1)).tolist() == [3.0, 5.0, 0.0]


def test_rows_stay_where_nothing_is_gained():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    risk = LossRisk(get_loss("logistic"), y)
    varied = sp.csc_array(np.column_stack([np.arange(1.0, 5.0), [0.0, 0.0, 1.0, 0.0]]))
    assert pack_rows(as_design(varied, constant=0.0).columns(np.arange(2)), risk) is None
    dense = as_design(np.ones((4, 2)), constant=0.0)
    assert pack_rows(dense.columns(np.arange(2)), risk) is None
    targets = LossRisk(get_loss("squared"), y)
    assert pack_rows(as_design(varied, constant=0.0).columns(np.array([1])), targets) is None
