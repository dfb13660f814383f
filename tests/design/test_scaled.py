"""Columns of one scale: products are those of a dense twin, whose deviations are equal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import as_design, open_blocks, write_blocks
from scoresieve.design.scaled import (
    ScaledDesign,
    equal_factors,
    have_one_scale,
    norms_and_spreads,
)

FORMS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}
BOUNDS = (1e-3, 10.0)


def columns(seed=0):
    """Columns of very different sizes, some constant, one far from 0."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((40, 8)) < 0.5, rng.normal(size=(40, 8)), 0.0)
    X *= 10.0 ** rng.integers(-3, 4, size=8)
    X[:, 2], X[:, 5] = 0.0, 7.0
    X[:, 6] = 1e4 + rng.normal(size=40)
    return X


@pytest.fixture(params=[*FORMS, "blocks", "sparse blocks"])
def design(request, tmp_path):
    X = columns()
    if "blocks" in request.param:
        made = sp.csr_array(X) if "sparse" in request.param else X
        write_blocks(made, tmp_path / "X", block_bytes=700)
        return as_design(open_blocks(tmp_path / "X"))
    return as_design(FORMS[request.param](X))


def test_products_are_those_of_a_dense_twin(design):
    rng = np.random.default_rng(1)
    factors = rng.normal(size=8) * (np.arange(8) != 3)
    scaled, twin = ScaledDesign(design, factors), columns() * factors
    v, idx = rng.normal(size=40), np.array([6, 0, 3])
    w, d = rng.normal(size=3), rng.random(40)
    assert_allclose(scaled.correlate(v), twin.T @ v)
    assert_allclose(scaled.scores(w, idx), twin[:, idx] @ w)
    assert_allclose(scaled.total(summed, w, idx, 0.5, d), summed(twin[:, idx] @ w + 0.5, d))
    assert_allclose(scaled.columns(idx).scores(w), twin[:, idx] @ w)
    assert_allclose(scaled.columns(idx).gram(d), (twin[:, idx].T * d) @ twin[:, idx])
    assert_allclose(scaled.column_norms(), np.linalg.norm(twin, axis=0))
    assert_array_equal(scaled.column_counts(), np.count_nonzero(twin, axis=0))
    assert scaled.max_abs() == pytest.approx(np.abs(twin).max())
    assert scaled.sum_of_squares() == pytest.approx(np.sum(twin**2))
    rows = np.array([3, 17, 30])
    assert_allclose(scaled.rows(rows).scores(w, idx), twin[np.ix_(rows, idx)] @ w)


def summed(scores, weights):
    return float(np.sum(weights * np.square(scores)))


def test_deviations_are_equal(design):
    X = columns()
    norms, spreads = norms_and_spreads(design)
    assert_allclose(norms * spreads, np.sqrt(40) * X.std(axis=0), rtol=1e-6)
    twin = X * equal_factors(design, BOUNDS)
    found = twin.std(axis=0)
    assert_array_equal(found[[2, 5]], 0.0)
    assert_allclose(np.delete(found, [2, 5]), found[0], rtol=1e-6)
    # The mean square of X's entries is far above the bound.
    n_entries = np.count_nonzero(np.delete(X, [2, 5], axis=1))
    assert 40 * np.sum(found**2) / n_entries == pytest.approx(BOUNDS[1])


def test_what_has_one_scale_is_left_as_it_is():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 5))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert have_one_scale(as_design(X))
    assert_allclose(equal_factors(as_design(X), BOUNDS), 1.0)
    assert have_one_scale(as_design(np.column_stack([X, np.ones(60)])))
    assert not have_one_scale(as_design(X * [1.0, 1.0, 1.0, 1.0, 1.25]))
    assert have_one_scale(as_design(np.ones((4, 3))))
    assert_array_equal(equal_factors(as_design(np.ones((4, 3))), BOUNDS), 0.0)


def test_the_mean_square_is_that_of_x_or_the_share_of_entries():
    rng = np.random.default_rng(4)
    dense = rng.normal(size=(2000, 4))
    for unit in (1e-3, 0.1, 1.0):
        scaled = unit * dense * equal_factors(as_design(unit * dense), BOUNDS)
        assert_allclose(scaled.std(axis=0), 1.0, rtol=0.05)
    few = np.where(rng.random((2000, 4)) < 0.02, rng.normal(size=(2000, 4)), 0.0)
    for unit, expected in ((1e-3, 0.02), (0.3, 0.09), (2.0, 4.0)):
        scaled = sp.csr_array(unit * few * equal_factors(as_design(unit * few), BOUNDS))
        assert np.mean(scaled.data**2) == pytest.approx(expected, rel=0.3)


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_squares_do_not_overflow(size):
    X = np.random.default_rng(3).normal(size=(30, 4))
    factors = equal_factors(as_design(X * [size, 1.0, 1.0, 1.0]), BOUNDS)
    found = (X * [size, 1.0, 1.0, 1.0] * factors).std(axis=0)
    assert_allclose(found, found[0])
