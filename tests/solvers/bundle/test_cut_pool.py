"""The pool: its matrix is X_S^T delta_k whatever was added or dropped, and in which order."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import as_design
from scoresieve.measures import Cut, get_measure
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.bundle.cut_pool import CutPool
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.result import combine_deltas, pack_delta, unpack_delta

CHECKED = settings(derandomize=True, deadline=None, database=None, max_examples=60)


def make_pool(X, y, measure="f1", budget=3, **sets):
    norm = BudgetNorm(budget, X.shape[1], **sets)
    return CutPool(Problem(as_design(X), y, get_measure(measure), norm, 1.0))


def random_cuts(y, measure, n_cuts, seed=0):
    rng = np.random.default_rng(seed)
    measure = get_measure(measure)
    return [measure.most_violated(y, rng.normal(size=y.size)) for _ in range(n_cuts)]


def assert_consistent(pool, X, cuts):
    """Rows, losses, columns, norm and master against the dense computation."""
    deltas = np.array([cut.delta for cut in cuts]).reshape(len(cuts), X.shape[0])
    assert len(pool) == len(cuts)
    assert_allclose(pool.matrix, deltas @ X[:, pool.columns], atol=1e-12)
    assert_allclose(pool.losses, [cut.loss for cut in cuts])
    assert np.unique(pool.columns).size == pool.columns.size
    w = np.arange(1.0, 1.0 + pool.columns.size)
    full = np.zeros(X.shape[1])
    full[pool.columns] = w
    assert_allclose(pool.block.scores(w), X @ full, atol=1e-12)
    whole = pool._problem.norm.value_squared(full)
    assert pool.norm.value_squared(w) == pytest.approx(whole)
    master, fixed = pool.master, pool.norm.unit_of == -1
    if pool.norm.n_units <= pool.norm.budget:
        fixed = pool.norm.unit_of >= -1
    gram = (deltas @ X[:, pool.columns[fixed]]) @ (deltas @ X[:, pool.columns[fixed]]).T
    assert_allclose(master.fixed_gram(), gram, atol=1e-9)


@pytest.mark.parametrize("measure", ["f1", "accuracy", "roc_auc", "average_precision"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize(
    "sets", [{}, {"always": [2, 9]}, {"groups": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4], "always": [8, 9]}]
)
def test_rows_are_correlations_in_any_order_of_events(data, measure, form, sets):
    X, y = data(0, n_samples=37)
    pool = make_pool(form(X), y, measure, **sets)
    assert_array_equal(pool.columns, sets.get("always", []))
    cuts = random_cuts(y, measure, 40)
    events = [*range(5), [3, 1], *range(5, 8), [1, 5, 3], [0, 7, 4], *range(8, 40), [6]]
    added = []
    for event in events:
        if isinstance(event, list):
            known = set(pool.columns.tolist())
            assert pool.add_columns(np.array(event)) == len(set(event) - known)
        else:
            assert pool.add(cuts[event])
            added.append(cuts[event])
        assert_consistent(pool, X, added)


def test_a_budget_for_all_columns_keeps_the_gram_matrix(data):
    X, y = data(1, n_features=4)
    pool = make_pool(X, y, budget=4)
    cuts = random_cuts(y, "f1", 20)
    for cut in cuts[:3]:
        pool.add(cut)
    pool.add_columns(np.array([2]))
    for cut in cuts[3:]:
        pool.add(cut)
    pool.add_columns(np.array([0, 1, 3]))
    assert_consistent(pool, X, cuts)


def test_many_cuts_are_filled_in_by_blocks(data, monkeypatch):
    """New columns for more cuts than fit in one block."""
    X, y = data(2)
    monkeypatch.setattr("scoresieve.solvers.bundle.cut_pool._BLOCK_NUMBERS", 3 * y.size)
    pool = make_pool(X, y)
    cuts = random_cuts(y, "f1", 10)
    for cut in cuts:
        pool.add(cut)
    pool.add_columns(np.arange(10))
    assert_consistent(pool, X, cuts)


def test_duplicates_and_zero_cuts_are_refused(data):
    X, y = data(3)
    pool = make_pool(X, y)
    cut = random_cuts(y, "f1", 1)[0]
    assert pool.add(cut) is True
    assert pool.add(Cut(cut.delta.copy(), cut.loss)) is False
    assert pool.add(Cut(np.zeros(y.size), 0.0)) is False
    assert len(pool) == 1


def test_idle_cuts_are_dropped_and_may_come_back(data):
    X, y = data(4)
    pool = make_pool(X, y)
    pool.add_columns(np.array([0, 5]))
    cuts = random_cuts(y, "f1", 5)
    for cut in cuts:
        pool.add(cut)
    weights = np.array([0.5, 0.0, 0.2, 1e-9, 0.0])
    for _ in range(2):
        assert_array_equal(pool.drop_idle(weights, 3), weights)
    kept = pool.drop_idle(weights, 3)
    assert_array_equal(kept, [0.5, 0.2])
    assert_consistent(pool, X, [cuts[0], cuts[2]])
    assert pool.add(cuts[4]) is True
    assert pool.add(cuts[0]) is False
    assert_consistent(pool, X, [cuts[0], cuts[2], cuts[4]])


def test_weight_resets_the_patience(data):
    X, y = data(5)
    pool = make_pool(X, y)
    for cut in random_cuts(y, "f1", 2):
        pool.add(cut)
    idle, used = np.array([1.0, 0.0]), np.array([1.0, 1.0])
    for weights in (idle, used, idle):
        pool.drop_idle(weights, 2)
    assert len(pool) == 2
    assert pool.drop_idle(idle, 2).size == 1


@pytest.mark.parametrize("measure", ["f1", "roc_auc"])
def test_combine_and_dual_point_equal_the_dense_sum(data, measure):
    X, y = data(6, n_samples=29)
    pool = make_pool(X, y, measure)
    cuts = random_cuts(y, measure, 6)
    for cut in cuts:
        pool.add(cut)
    alpha = np.array([0.3, 0.0, 1.5, 0.0, 0.1, 0.2])
    dense = sum(weight * cut.delta for weight, cut in zip(alpha, cuts, strict=True))
    assert_allclose(pool.combine(alpha), dense, atol=1e-14)
    point = pool.dual_point(alpha)
    assert_array_equal(point.alpha, [0.3, 1.5, 0.1, 0.2])
    assert_allclose(point.combined(y), dense, atol=1e-14)
    assert_array_equal(point.delta(1, y), cuts[2].delta)
    assert point.cuts.dtype == (np.float64 if measure == "roc_auc" else np.uint8)
    assert point.cuts.shape == ((4, 29) if measure == "roc_auc" else (4, 4))


def test_the_dual_point_is_a_copy(data):
    """A proof that was handed out does not change when the pool goes on."""
    X, y = data(7)
    pool = make_pool(X, y)
    for cut in random_cuts(y, "f1", 3):
        pool.add(cut)
    alpha = np.array([0.5, 0.25, 0.1])
    point = pool.dual_point(alpha)
    before = point.combined(y)
    alpha[:] = 0.0
    pool.drop_idle(np.array([1.0, 0.0, 0.0]), 1)
    assert_array_equal(point.combined(y), before)


def test_lines_bound_the_risk_on_the_segment(data):
    X, y = data(8)
    pool = make_pool(X, y)
    pool.add_columns(np.arange(10))
    for cut in random_cuts(y, "f1", 8):
        pool.add(cut)
    rng = np.random.default_rng(0)
    w, dw = rng.normal(size=10), rng.normal(size=10)
    offsets, slopes = pool.lines(w, dw)
    deltas = np.array([pool.dual_point(np.ones(8)).delta(k, y) for k in range(8)])
    for t in (0.0, 0.3, 1.0):
        scores = X[:, pool.columns] @ (w + t * dw)
        assert_allclose(offsets + t * slopes, pool.losses - deltas @ scores, atol=1e-12)
        assert np.max(offsets + t * slopes) <= get_measure("f1").risk(y, scores) + 1e-12


@CHECKED
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_bits_round_trip(entries):
    """Any length, multiple of eight or not."""
    y = np.array([1.0 if positive else -1.0 for positive, _ in entries])
    flipped = np.array([flip for _, flip in entries])
    delta = np.where(flipped, y, 0.0)
    packed = pack_delta(delta, as_bits=True)
    assert packed.dtype == np.uint8
    assert packed.size == -(-y.size // 8)
    assert_array_equal(unpack_delta(packed, y), delta)
    assert_allclose(combine_deltas(np.array([2.5]), packed[None], y), 2.5 * delta)
    as_numbers = pack_delta(delta / 3, as_bits=False)
    assert_array_equal(unpack_delta(as_numbers, y), delta / 3)
