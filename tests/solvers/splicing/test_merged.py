"""Rows that are equal, merged: the same sums and the same model from fewer rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import DenseColumns, SparseColumns, as_design, sparse
from scoresieve.losses import get_loss
from scoresieve.risks import LossRisk
from scoresieve.solvers.splicing.merged import merge_equal_rows
from scoresieve.solvers.splicing.newton import newton_fit


def sparse_block():
    """Most rows have nothing but the constant."""
    rng = np.random.default_rng(4)
    X = sp.random_array((200, 5), density=0.03, random_state=rng, format="csc")
    y = np.where(rng.random(200) < 0.3, 1.0, -1.0)
    return as_design(X, constant=1.0).columns(np.array([5, 0, 1, 2, 3, 4])), y, rng


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("most_dense", [sparse.BLOCK_NUMBERS, 20])
def test_merged_rows_give_the_same_model(is_weighted, most_dense, monkeypatch):
    monkeypatch.setattr(sparse, "BLOCK_NUMBERS", most_dense)
    block, y, rng = sparse_block()
    risk = LossRisk(get_loss("squared_hinge"), y, rng.random(200) if is_weighted else None)
    few = merge_equal_rows(block, risk)
    assert few.risk.y.size < 60
    assert isinstance(few.block, DenseColumns if most_dense > 20 else SparseColumns)
    assert_array_equal(few.risk.y[few.places], y)
    w = rng.normal(size=6)
    assert_allclose(few.block.scores(w)[few.places], block.scores(w), atol=1e-12)
    assert few.risk.value(few.block.scores(w)) == pytest.approx(risk.value(block.scores(w)))
    fits = [
        newton_fit(part, its, 2.0, np.zeros(6), tol=1e-10)
        for part, its in ((block, risk), (few.block, few.risk))
    ]
    assert_allclose(fits[1].w, fits[0].w, atol=1e-5)


def test_nothing_is_merged_where_rows_differ():
    block, y, _ = sparse_block()
    targets = LossRisk(get_loss("squared"), y)
    assert merge_equal_rows(block, targets).block is block
    full = as_design(sp.csc_array(np.arange(1.0, 201.0)[:, None])).columns(np.array([0]))
    assert merge_equal_rows(full, LossRisk(get_loss("logistic"), y)).block is full


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_derivatives_are_those_of_all_rows(loss, constant):
    rng = np.random.default_rng(0)
    X = sp.random_array((80, 6), density=0.05, random_state=rng, format="csc")
    design = as_design(X, constant=constant)
    block = design.columns(np.arange(design.n_columns))
    y = np.where(rng.random(80) < 0.3, 1.0, -1.0)
    risk = LossRisk(get_loss(loss), y, rng.integers(1, 4, 80).astype(float))
    few, merged, _ = merge_equal_rows(block, risk)
    w = rng.normal(size=block.n_columns)
    scores, there = block.scores(w), few.scores(w)
    gradients = (
        part.correlate(its.vector(its.slopes(at), 2.0))
        for part, its, at in ((few, merged, there), (block, risk, scores))
    )
    assert_allclose(*gradients, atol=1e-12)
    hessian = block.gram(risk.curvatures(scores))
    assert_allclose(few.gram(merged.curvatures(there)), hessian, atol=1e-12)


def test_one_class_alone_among_the_rows_without_entries():
    X = sp.csc_array(np.array([[1.0], [2.0], [0.0], [0.0]]))
    risk = LossRisk(get_loss("logistic"), np.array([1.0, -1.0, -1.0, -1.0]))
    few, merged, places = merge_equal_rows(as_design(X).columns(np.array([0])), risk)
    assert merged.y.tolist() == [1.0, -1.0, -1.0]
    assert merged.row_weights.tolist() == [1.0, 1.0, 2.0]
    assert few.scores(np.ones(1)).tolist() == [1.0, 2.0, 0.0]
    assert places.tolist() == [0, 1, 2, 2]


def test_repeated_entries_add_up():
    X = sp.csc_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 2]), np.array([0, 3])), (4, 1))
    block = as_design(X).columns(np.array([0]))
    assert block.only_rows(np.array([0, 2, 3])).scores(np.ones(1)).tolist() == [3.0, 5.0, 0.0]
