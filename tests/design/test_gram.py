"""Weighted Gram matrices, blocks of blocks, and norms of columns where numbers are odd."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import as_design, sparse

FORMS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
#: By a dense block, and by a product of two sparse ones.
shares = pytest.mark.parametrize("dense_share", [0.0, 2.0], ids=["dense", "sparse"])


def mixed(seed=0, n_samples=30):
    """Columns of zeros, without zeros, of one entry, and with a few."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n_samples, 7)) < 0.2, rng.normal(size=(n_samples, 7)), 0.0)
    X[:, 1], X[:, 4] = 0.0, 0.0
    X[:, [2, 6]] = rng.uniform(0.5, 2.0, size=(n_samples, 2))
    X[11, 4] = -3.0
    return X, rng.random(n_samples)


def gram(X, d):
    return sum(each * np.outer(row, row) for row, each in zip(X, d, strict=True))


@pytest.fixture
def by_share(dense_share, monkeypatch):
    monkeypatch.setattr(sparse, "DENSE_SHARE", dense_share)


@pytest.mark.usefixtures("by_share")
@shares
@forms
@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_columns_without_zeros_and_of_zeros_alone(form, constant):
    X, d = mixed()
    design = as_design(form(X), constant=constant)
    twin = np.column_stack([X, np.full(X.shape[0], constant)])[:, : design.n_columns]
    for idx in ([0, 1, 2, 3, 4, 5, 6], [2, 6], [1], [1, 4], [5, 2, 0], [design.n_columns - 1, 1]):
        found = design.columns(np.array(idx)).gram(d)
        assert_allclose(found, gram(twin[:, idx], d), atol=1e-12)
        assert_allclose(found, found.T, atol=1e-14)


@pytest.mark.usefixtures("by_share")
@shares
@forms
def test_rows_of_weight_zero_have_no_say(form):
    X, d = mixed(1)
    d[::3] = 0.0
    spoilt = X.copy()
    spoilt[::3] = 77.0 * (X[::3] != 0.0)
    one, two = (as_design(form(each)).columns(np.arange(7)).gram(d) for each in (X, spoilt))
    assert_array_equal(one, two)
    assert_array_equal(as_design(form(X)).columns(np.arange(7)).gram(np.zeros(30)), 0.0)


@pytest.mark.usefixtures("by_share")
@shares
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
def test_repeated_entries_add_up(kind):
    """Also where a column with zeros has as many entries as there are rows."""
    rows, columns = np.array([0, 0, 1, 1, 2, 3, 3]), np.array([0, 0, 0, 0, 1, 1, 1])
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, -6.0, 1.0])
    by_line = (rows, columns) if kind is sp.csr_array else (columns, rows)
    order = np.argsort(by_line[0], kind="stable")
    n_lines = 4 if kind is sp.csr_array else 2
    ends = np.append(0, np.cumsum(np.bincount(by_line[0], minlength=n_lines)))
    X = kind((values[order], by_line[1][order], ends), shape=(4, 2))
    assert X.nnz == 7
    twin = np.array([[3.0, 0.0], [7.0, 0.0], [0.0, 5.0], [0.0, -5.0]])
    d = np.array([1.0, 0.5, 2.0, 3.0])
    assert_allclose(as_design(X).columns(np.arange(2)).gram(d), twin.T @ np.diag(d) @ twin)


@forms
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool"])
def test_other_types_become_float64_first(form, dtype):
    """Products of 200 and 200 would not fit into eight bits."""
    rng = np.random.default_rng(2)
    X = (rng.integers(0, 2, size=(25, 4)) * rng.integers(100, 255, size=(25, 4))).astype(dtype)
    d, exact = rng.random(25), X.astype(np.float64)
    design = as_design(form(X))
    assert_allclose(design.columns(np.arange(4)).gram(d), gram(exact, d), rtol=1e-12)
    assert_allclose(design.column_norms(), np.sqrt(np.sum(exact**2, axis=0)), rtol=1e-12)


@forms
@pytest.mark.parametrize("scale", [1e150, 1e75, 1e-75, 1e-150])
def test_scales(form, scale):
    X, d = mixed(3)
    design = as_design(form(scale * X), constant=scale)
    expected = np.append(np.linalg.norm(X, axis=0), np.sqrt(30.0))
    assert_allclose(design.column_norms() / scale, expected, rtol=1e-12)
    found = design.columns(np.arange(7)).gram(d)
    assert_allclose(found / scale / scale, gram(X, d), atol=1e-12)


@forms
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_norms_whose_squares_are_no_numbers(form, scale):
    X, _ = mixed(4)
    found = as_design(form(scale * X)).column_norms()
    assert_allclose(found / scale, np.linalg.norm(X, axis=0), rtol=1e-12)


@forms
def test_norms_of_large_and_small_columns_together(form):
    X, _ = mixed(5)
    scales = 10.0 ** np.array([0.0, 0.0, 100.0, -40.0, 0.0, -20.0, 50.0])
    found = as_design(form(X * scales)).column_norms()
    assert_allclose(found / scales, np.linalg.norm(X, axis=0), rtol=1e-12)


@forms
def test_a_part_of_a_block_is_a_block(form):
    X, d = mixed(6)
    block = as_design(form(X), constant=2.0).columns(np.array([5, 7, 0, 2]))
    twin = np.column_stack([X, np.full(30, 2.0)])[:, [5, 7, 0, 2]]
    for places in ([], [3], [2, 0], [0, 1, 2, 3], [1, 3, 2]):
        part = block.take(np.array(places, dtype=np.int64))
        assert part.n_columns == len(places)
        assert_allclose(part.scores(np.ones(len(places))), twin[:, places].sum(axis=1))
        assert_allclose(part.gram(d), gram(twin[:, places], d), atol=1e-12)
        longer = part.append(block.take(np.array([1])))
        assert_allclose(longer.correlate(d), twin[:, [*places, 1]].T @ d)
    assert block.n_columns == 4


@forms
def test_the_matrix_may_be_changed(form):
    X, d = mixed(7)
    block = as_design(form(X), constant=1.0).columns(np.arange(8))
    first = block.gram(d)
    expected = first.copy()
    first += 1.0
    assert_array_equal(block.gram(d), expected)
