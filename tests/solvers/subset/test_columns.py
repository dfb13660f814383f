"""Columns that are kept: the same block whatever was asked for before; equal rows, merged."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import DenseColumns, SparseColumns, as_design, sparse
from scoresieve.losses import get_loss
from scoresieve.risks import LossRisk
from scoresieve.solvers.subset import columns as module
from scoresieve.solvers.subset.columns import (
    FetchedColumns,
    merge_equal_rows,
)
from scoresieve.solvers.subset.quick_fits import newton_fit

N_SAMPLES, N_COLUMNS = 12, 30
FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_array}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


class Noted:
    """A design that keeps the numbers of the columns it was asked for."""

    def __init__(self, design):
        self._design, self.asked = design, []
        self.n_samples, self.n_columns = design.n_samples, design.n_columns

    def columns(self, idx):
        self.asked.append(idx.tolist())
        return self._design.columns(idx)


def made(form=np.asarray, constant=0.0):
    """The columns that are kept, the design that they come from, and a dense twin."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((N_SAMPLES, N_COLUMNS)) < 0.5, rng.normal(size=(1, N_COLUMNS)), 0.0)
    design = Noted(as_design(form(X), constant=constant))
    twin = np.column_stack([X, np.full(N_SAMPLES, constant)])[:, : design.n_columns]
    return FetchedColumns(design), design, twin


def dense(block):
    return block.correlate(np.eye(N_SAMPLES)).T


def check(kept, twin, columns, beside=None):
    beside = None if beside is None else np.array(beside)
    found = dense(kept.block(np.array(columns, dtype=np.int64), beside))
    assert_array_equal(found, twin[:, columns])


@forms
@pytest.mark.parametrize("constant", [0.0, 2.5], ids=["", "constant"])
@pytest.mark.parametrize("most", [1, 4, 9, 100])
def test_the_block_is_that_of_the_design_whatever_was_asked_for_before(
    monkeypatch, form, constant, most
):
    monkeypatch.setattr(module, "FEW_COLUMNS", most)
    monkeypatch.setattr(module, "MOST_NUMBERS", 0)
    kept, design, twin = made(form, constant)
    rng = np.random.default_rng(1)
    for _ in range(25):
        columns = rng.permutation(design.n_columns)[: rng.integers(0, 9)]
        beside = (
            rng.permutation(design.n_columns)[: rng.integers(0, 6)] if rng.random() < 0.6 else None
        )
        check(kept, twin, columns, beside)
        check(kept, twin, np.sort(columns))


def test_what_is_here_is_not_fetched_again():
    kept, design, twin = made()
    design.asked.clear()
    check(kept, twin, [4, 2], beside=[7, 4, 11])
    check(kept, twin, [11, 2, 7], beside=[20, 21])
    assert design.asked == [[2, 4, 7, 11]]
    check(kept, twin, [7, 9], beside=[2, 20])
    assert design.asked == [[2, 4, 7, 11], [9, 20]]


@pytest.mark.parametrize(
    ("columns", "beside", "fetched_anew"),
    [
        ([6, 7], [8], [6, 7, 8]),
        # With those beside them it would be too many, the needed ones counted twice.
        ([6, 7, 8], [9, 10], [6, 7, 8]),
        # What is needed is fetched however much it is.
        ([6, 7, 8, 9, 10, 11, 12], [13], [6, 7, 8, 9, 10, 11, 12]),
    ],
)
def test_too_many_make_room_for_those_that_are_needed(monkeypatch, columns, beside, fetched_anew):
    monkeypatch.setattr(module, "FEW_COLUMNS", 6)
    monkeypatch.setattr(module, "MOST_NUMBERS", 0)
    kept, design, twin = made()
    check(kept, twin, [0, 1, 2, 3, 4])
    design.asked.clear()
    check(kept, twin, columns, beside)
    assert design.asked == [fetched_anew]
    check(kept, twin, columns)
    assert design.asked == [fetched_anew]
    check(kept, twin, [0])
    assert len(design.asked) == 2


@pytest.mark.parametrize(("most_numbers", "most"), [(0, 5), (N_SAMPLES * 4, 5), (N_SAMPLES * 8, 8)])
def test_no_more_than_the_limit_is_kept(monkeypatch, most_numbers, most):
    """So many numbers with their zeros, or a few columns however long they are."""
    monkeypatch.setattr(module, "FEW_COLUMNS", 5)
    monkeypatch.setattr(module, "MOST_NUMBERS", most_numbers)
    kept, _, twin = made()
    rng, sizes = np.random.default_rng(2), []
    for _ in range(60):
        check(
            kept,
            twin,
            rng.permutation(N_COLUMNS)[: rng.integers(1, 4)],
            rng.permutation(N_COLUMNS)[:2],
        )
        sizes.append(kept._block.n_columns)
        assert kept._columns.size == np.unique(kept._columns).size == sizes[-1]
    assert max(sizes) == most


def test_no_columns():
    kept, design, _ = made()
    assert kept.block(np.zeros(0, dtype=np.int64)).n_columns == 0
    assert kept.block(np.zeros(0, dtype=np.int64), np.array([3])).n_columns == 0
    assert design.asked == [[]]


@forms
@pytest.mark.parametrize("constant", [0.0, 2.5], ids=["", "constant"])
def test_the_design_is_asked_only_for_what_is_not_here(form, constant):
    """Some of the columns that are wanted are here, others are not, in any order."""
    kept, design, twin = made(form, constant)
    last = design.n_columns - 1
    check(kept, twin, [4, last, 9, 2])
    design.asked.clear()
    for columns, asked in (
        ([2, 4], []),
        ([7, 9, 1, last, 4], [[7, 1]]),
        ([20, 21], [[20, 21]]),
        ([], []),
    ):
        found = kept.columns(np.array(columns, dtype=np.int64))
        assert_array_equal(dense(found), twin[:, columns])
        assert design.asked == asked
        design.asked.clear()


def test_what_others_have_fetched_is_taken_over_while_there_is_room(monkeypatch):
    monkeypatch.setattr(module, "FEW_COLUMNS", 5)
    monkeypatch.setattr(module, "MOST_NUMBERS", 0)
    kept, design, twin = made()
    check(kept, twin, [4, 2])
    worked_on = np.array([9, 2, 7])
    kept.take_over(worked_on, design.columns(worked_on))
    design.asked.clear()
    check(kept, twin, [7, 4, 9, 2])
    kept.take_over(np.array([11, 12]), design.columns(np.array([11, 12])))
    assert design.asked == [[11, 12]]
    check(kept, twin, [11])
    assert design.asked == [[11, 12], [11]]


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
