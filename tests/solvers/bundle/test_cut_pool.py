"""The pool: its matrix is X_S^T delta_k whatever was added or dropped, and in which order."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.losses import get_loss
from scoresieve.measures import Cut, get_measure
from scoresieve.risks import LossRisk, MeasureRisk, Slopes
from scoresieve.solvers.bundle.cut_pool import CutPool
from scoresieve.solvers.problem import make_problem

LOSSES = ("hinge", "epsilon_insensitive", "logistic")
#: Of the measures of labellings: what a false alarm costs.
PRICES = {"f1": 0.5, "accuracy": 0.7}


def kind_of(name):
    """The arguments of ``solve`` that this name is for."""
    if name in LOSSES:
        return {"loss": name}
    return {"measure": name, "price": PRICES.get(name, 1.0)}


def risk_of(y, name):
    if name in LOSSES:
        return LossRisk(get_loss(name), y)
    return MeasureRisk(get_measure(name), y, price=PRICES.get(name, 1.0))


def make_pool(X, y, name="f1", budget=3, **sets):
    return CutPool(make_problem(X, y, **kind_of(name), budget=budget, C=1.0, **sets))


def random_cuts(y, name, n_cuts, seed=0):
    rng, risk = np.random.default_rng(seed), risk_of(y, name)
    return [risk.cut(rng.normal(size=y.size)) for _ in range(n_cuts)]


def assert_consistent(pool, X, cuts):
    """Rows, losses, columns, norm and master against the dense computation."""
    deltas = np.array([cut.delta for cut in cuts]).reshape(len(cuts), X.shape[0])
    assert len(pool) == len(cuts)
    assert_allclose(pool.matrix, deltas @ X[:, pool.working.columns], atol=1e-12)
    assert_allclose(pool.losses, [cut.loss for cut in cuts])
    assert np.unique(pool.working.columns).size == pool.working.columns.size
    w = np.arange(1.0, 1.0 + pool.working.columns.size)
    full = np.zeros(X.shape[1])
    full[pool.working.columns] = w
    assert_allclose(pool.working.block.scores(w), X @ full, atol=1e-12)
    whole = pool._problem.norm.value_squared(full)
    assert pool.working.norm.value_squared(w) == pytest.approx(whole)
    master, fixed = pool.master, pool.working.norm.unit_of == -1
    if pool.working.norm.n_units <= pool.working.norm.budget:
        fixed = pool.working.norm.unit_of >= -1
    gram = (deltas @ X[:, pool.working.columns[fixed]]) @ (
        deltas @ X[:, pool.working.columns[fixed]]
    ).T
    assert_allclose(master.fixed_gram(), gram, atol=1e-9)


@pytest.mark.parametrize("name", ["f1", "accuracy", "roc_auc", "average_precision", *LOSSES])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize(
    "sets",
    [
        {},
        {"always_features": [2, 9]},
        {"feature_groups": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4], "always_features": [8, 9]},
    ],
)
def test_rows_are_correlations_in_any_order_of_events(data, name, form, sets):
    X, y = data(0, n_samples=37)
    pool = make_pool(form(X), y, name, **sets)
    assert_array_equal(pool.working.columns, sets.get("always_features", []))
    cuts = random_cuts(y, name, 40)
    events = [*range(5), [3, 1], *range(5, 8), [1, 5, 3], [0, 7, 4], *range(8, 40), [6]]
    added = []
    for event in events:
        if isinstance(event, list):
            known = set(pool.working.columns.tolist())
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


@pytest.mark.parametrize("name", ["f1", "roc_auc"])
def test_combine_and_dual_point_equal_the_dense_sum(data, name):
    X, y = data(6, n_samples=29)
    pool = make_pool(X, y, name)
    cuts = random_cuts(y, name, 6)
    for cut in cuts:
        pool.add(cut)
    alpha = np.array([0.3, 0.0, 1.5, 0.0, 0.1, 0.2])
    dense = sum(weight * cut.delta for weight, cut in zip(alpha, cuts, strict=True))
    assert_allclose(pool.combine(alpha), dense, atol=1e-14)
    point, risk = pool.dual_point(alpha), risk_of(y, name)
    assert_array_equal(point.alpha, [0.3, 1.5, 0.1, 0.2])
    assert_allclose(risk.dual_vector(point, 3.0), dense, atol=1e-14)
    assert_array_equal(risk.unpack(point.cuts[1]), cuts[2].delta)
    assert point.cuts.dtype == (np.float64 if name == "roc_auc" else np.uint8)
    assert point.cuts.shape == ((4, 29) if name == "roc_auc" else (4, 4))
    proving = pool.proving_cuts()
    assert_array_equal(proving.alpha, point.alpha)
    assert_array_equal(proving.cuts, point.cuts)


@pytest.mark.parametrize("name", LOSSES)
def test_the_slopes_of_weighted_cuts_and_the_cuts_themselves(data, name):
    """A loss's dual point holds slopes alone; the cuts that made it can still be handed on."""
    X, y = data(6, n_samples=29)
    pool, risk = make_pool(X, y, name), risk_of(y, name)
    cuts = random_cuts(y, name, 4)
    for cut in cuts:
        pool.add(cut)
    alpha = np.array([0.3, 0.0, 0.5, 0.2])
    dense = sum(weight * cut.delta for weight, cut in zip(alpha, cuts, strict=True))
    assert_allclose(risk.dual_vector(pool.dual_point(alpha), 1.0), dense, atol=1e-14)
    proving = pool.proving_cuts()
    assert_array_equal(proving.alpha, [0.3, 0.5, 0.2])
    assert_allclose(
        [risk.unpack(each) for each in proving.cuts], [cuts[k].delta for k in (0, 2, 3)]
    )


def test_the_dual_point_is_a_copy(data):
    """A proof that was handed out does not change when the pool goes on."""
    X, y = data(7)
    pool, risk = make_pool(X, y), risk_of(y, "f1")
    for cut in random_cuts(y, "f1", 3):
        pool.add(cut)
    alpha = np.array([0.5, 0.25, 0.1])
    point = pool.dual_point(alpha)
    before = risk.dual_vector(point, 1.0)
    alpha[:] = 0.0
    pool.drop_idle(np.array([1.0, 0.0, 0.0]), 1)
    assert_array_equal(risk.dual_vector(point, 1.0), before)


@pytest.mark.parametrize("name", ["f1", "roc_auc", "hinge"])
def test_cuts_of_another_run_are_taken_over_with_their_losses(data, name):
    X, y = data(9)
    cuts = random_cuts(y, name, 4)
    first, second = make_pool(X, y, name), make_pool(X, y, name)
    for cut in cuts:
        first.add(cut)
    second.add(cuts[0])
    first.dual_point(np.array([0.1, 0.0, 0.2, 0.3]))
    second.add_cuts_of(first.proving_cuts())
    second.add_columns(np.arange(10))
    assert_consistent(second, X, [cuts[0], cuts[2], cuts[3]])
    second.add_cuts_of(None)
    second.add_cuts_of(Slopes(np.zeros(y.size)))
    assert len(second) == 3


def test_pool_after_a_change_equals_one_made_anew(data, columns):
    X, y = data(7)
    problem = make_problem(X, y, **kind_of("f1"), budget=3, C=1.0, **columns)
    full = problem.with_budget(problem.norm.n_units)
    cuts = random_cuts(y, "f1", 5)
    pool = CutPool(full)
    pool.add_columns(np.flatnonzero(full.norm.unit_of >= 0))
    for cut in cuts:
        assert pool.add(cut)
    pool.turn_to(problem)
    fresh = CutPool(problem)
    fresh.add_columns(pool.working.columns)
    for cut in cuts:
        fresh.add(cut)
    assert_array_equal(pool.working.columns, fresh.working.columns)
    assert_allclose(pool.matrix, fresh.matrix)
    assert_allclose(pool.gram, fresh.gram, atol=1e-12)
    assert pool.covers_all == fresh.covers_all
    assert pool.working.norm.budget == fresh.working.norm.budget
    pool.turn_to(full)
    assert pool.covers_all
    assert_allclose(pool.gram, pool.matrix @ pool.matrix.T)


@pytest.mark.parametrize("sets", [{}, {"always_features": [2, 9]}])
def test_another_budget_and_fewer_columns(data, sets):
    X, y = data(10)
    pool = make_pool(X, y, budget=10 - len(sets.get("always_features", ())), **sets)
    pool.add_columns(np.array([1, 4, 5, 0]))
    cuts = random_cuts(y, "f1", 5)
    for cut in cuts:
        pool.add(cut)
    assert_consistent(pool, X, cuts)
    smaller = make_problem(X, y, **kind_of("f1"), budget=2, C=1.0, **sets)
    pool.turn_to(smaller)
    assert not pool.covers_all
    assert_consistent(pool, X, cuts)
    n_always = len(sets.get("always_features", ()))
    kept = pool.working.columns[[*range(n_always), n_always + 1, n_always + 3]]
    pool.keep_columns(np.array([*range(n_always), n_always + 1, n_always + 3]))
    assert_array_equal(pool.working.columns, kept)
    assert_consistent(pool, X, cuts)
    pool.add_columns(np.array([1, 7]))
    assert_consistent(pool, X, cuts)


def test_heavy_cuts_prove_most_of_the_bound(data):
    X, y = data(7)
    cuts = random_cuts(y, "f1", 4)

    def kept_with(share, alpha):
        pool = make_pool(X, y, always_features=range(10))
        for cut in cuts:
            assert pool.add(cut)
        rows = pool.matrix.copy()
        pool.dual_point(np.array(alpha))
        pool.keep_heavy_cuts(share)
        assert pool.gram.shape == (len(pool), len(pool))
        return [k for k, row in enumerate(rows) if row.tolist() in pool.matrix.tolist()]

    assert kept_with(0.9, [0.05, 0.5, 0.0, 0.45]) == [1, 3]
    assert kept_with(0.96, [0.05, 0.5, 0.0, 0.45]) == [0, 1, 3]
    assert kept_with(0.4, [0.05, 0.5, 0.0, 0.45]) == [1]
    assert kept_with(0.9, [0.0, 0.0, 0.0, 0.0]) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["f1", "hinge", "epsilon_insensitive"])
def test_lines_bound_the_risk_on_the_segment(data, name):
    X, y = data(8)
    pool = make_pool(X, y, name)
    pool.add_columns(np.arange(10))
    cuts = random_cuts(y, name, 8)
    for cut in cuts:
        pool.add(cut)
    rng = np.random.default_rng(0)
    w, dw = rng.normal(size=10), rng.normal(size=10)
    offsets, slopes = pool.lines(w, dw)
    deltas = np.array([cut.delta for cut in cuts])
    risk = make_problem(X, y, **kind_of(name), budget=3, C=1.0).risk
    for t in (0.0, 0.3, 1.0):
        scores = X[:, pool.working.columns] @ (w + t * dw)
        assert_allclose(offsets + t * slopes, pool.losses - deltas @ scores, atol=1e-12)
        assert np.max(offsets + t * slopes) <= risk.value(scores) + 1e-12
