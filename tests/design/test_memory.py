"""Designs share the memory of X: temporary arrays are bounded, and nothing is made dense."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from scoresieve.design import as_design

MEGABYTE = 2**20
BLOCK = 16 * MEGABYTE


def peak_of(call):
    """The most memory held at once by a call, in bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def large_sparse(dtype, index_type, form):
    """8 million entries in 4,000 rows and 50,000 columns: 64 MB in float64."""
    rng = np.random.default_rng(0)
    n_rows, n_columns, per_row = 4_000, 50_000, 2_000
    indices = rng.integers(0, n_columns, n_rows * per_row).astype(index_type)
    indptr = np.arange(0, n_rows * per_row + 1, per_row, dtype=index_type)
    data = np.ones(indices.size, dtype=dtype)
    X = (sp.csr_array if form == "csr" else sp.csc_array)(
        (n_rows, n_columns) if form == "csr" else (n_columns, n_rows)
    )
    X.data, X.indices, X.indptr = data, indices, indptr
    return X


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_index_arrays_of_two_types_are_not_converted_in_every_pass(form):
    X = large_sparse(np.float64, np.int32, form)
    X.indptr = X.indptr.astype(np.int64)
    design = as_design(X)
    limit = MEGABYTE + 4 * 8 * (X.shape[0] + X.shape[1])
    assert 4 * X.indices.size > 5 * limit
    assert peak_of(lambda: as_design(X)) < limit
    assert peak_of(lambda: design.correlate(np.ones(X.shape[0]))) < limit


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_passes_are_bounded(dtype, index_type, form):
    X = large_sparse(dtype, index_type, form)
    design = as_design(X)
    dense_rows = np.ones(X.shape[0])
    few_rows = np.where(np.arange(X.shape[0]) % 4 == 0, 1.0, 0.0)
    vectors = 4 * 8 * (X.shape[0] + X.shape[1])
    limit = vectors + (MEGABYTE if dtype == np.float64 else BLOCK)
    assert peak_of(lambda: as_design(X, constant=1.0)) < vectors
    assert peak_of(lambda: design.correlate(dense_rows)) < limit
    # Rows that are copied bring their indices along.
    assert peak_of(lambda: design.correlate(few_rows)) < vectors + 3 * BLOCK
    idx = np.arange(0, X.shape[1], X.shape[1] // 10)
    block = X[:, idx].nnz * 16
    assert peak_of(lambda: design.columns(idx)) < vectors + 3 * block + MEGABYTE
    assert peak_of(lambda: design.scores(np.ones(idx.size), idx)) < limit + 3 * block


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_dense_passes_are_bounded(dtype, order):
    X = np.ones((4_000, 2_000), dtype=dtype, order=order)
    design, limit = as_design(X), 1.2 * BLOCK + MEGABYTE
    assert 8 * X.size > 3 * limit
    limit_direct = MEGABYTE if dtype == np.float64 else limit
    assert peak_of(lambda: design.correlate(np.ones(4_000))) < limit_direct
    few = np.where(np.arange(4_000) % 4 == 0, 1.0, 0.0)
    assert peak_of(lambda: design.correlate(few)) < 1.5 * limit
    idx = np.arange(0, 2_000, 2)
    assert peak_of(lambda: design.scores(np.ones(idx.size), idx)) < 2 * limit
    assert peak_of(design.sum_of_squares) < limit_direct
    assert peak_of(design.max_abs) < MEGABYTE


def test_a_slice_of_a_dense_array_is_not_copied():
    X = np.ones((4_000, 2_001))[:, :-1]
    design = as_design(X)
    assert peak_of(lambda: design.correlate(np.ones(4_000))) < MEGABYTE
    assert peak_of(lambda: design.columns(np.arange(3))) < MEGABYTE


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_million_sparse_columns_are_never_made_dense(dtype, form):
    """Dense, these 3,000 rows would take 24 GB; a few vectors of length 10^6 are 8 MB each."""
    rng = np.random.default_rng(0)
    n, m, n_entries = 3_000, 1_000_000, 30_000
    rows, columns = rng.integers(0, n, n_entries), rng.integers(0, m, n_entries)
    X = sp.coo_array((np.ones(n_entries, dtype=dtype), (rows, columns)), shape=(n, m)).asformat(
        form
    )
    v = rng.standard_normal(n)
    expected = np.zeros(m + 1)
    np.add.at(expected, columns, v[rows])
    expected[-1] = v.sum()
    results = []

    def every_call():
        design = as_design(X, constant=1.0)
        results.append(design.correlate(v))
        results.append(design.correlate(np.where(np.arange(n) < 100, v, 0.0)))
        block = design.columns(np.array([0, 77, m])).append(design.columns(np.arange(500, 600)))
        results.append(block.correlate(block.scores(np.ones(103))))
        results.append(design.scores(np.ones(103), np.arange(103)))
        results.append(design.sum_of_squares())

    assert peak_of(every_call) < 8 * 8 * m
    np.testing.assert_allclose(results[0], expected, atol=1e-9)
