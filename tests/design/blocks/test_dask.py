"""Row blocks on a cluster: what comes to the driver, and what is refused."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from scoresieve import BudgetClassifier
from scoresieve.design import as_design, dask_blocks, open_blocks, write_blocks

delayed = pytest.importorskip("dask.delayed").delayed
MEGABYTE = 2**20


def random_rows(seed, n_rows=500, n_columns=2000, per_row=200):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, n_columns, n_rows * per_row)
    ends = np.arange(0, columns.size + 1, per_row)
    return sp.csr_array((rng.random(columns.size), columns, ends), shape=(n_rows, n_columns))


def test_only_vectors_and_few_columns_come_to_the_driver(client):
    blocks = dask_blocks([delayed(random_rows)(seed) for seed in range(20)])
    design = as_design(blocks)
    n, m = blocks.shape
    design.correlate(np.ones(n))
    tracemalloc.start()
    try:
        design.correlate(np.ones(n))
        norms = design.column_norms()
        design.columns(np.arange(3))
        design.scores(np.ones(5), np.arange(5))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert norms.shape == (m,)
    assert 12 * blocks.n_entries > 20 * MEGABYTE
    assert peak < 6 * MEGABYTE


def test_a_damaged_block_is_named_by_its_worker(client, tmp_path):
    write_blocks(np.eye(50), tmp_path / "X", block_bytes=4000)
    blocks = open_blocks(tmp_path / "X", client=client)
    content = bytearray((tmp_path / "X" / "000002.data.npy").read_bytes())
    content[-5] ^= 1
    (tmp_path / "X" / "000002.data.npy").write_bytes(content)
    blocks = open_blocks(tmp_path / "X", client=client)
    with pytest.raises(ValueError, match="block 2 is damaged: the checksum of"):
        as_design(blocks).correlate(np.ones(50))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([np.eye(2), np.eye(3)], r"block 1 of X differs from block 0 \(columns: 3 against 2\)"),
        ([np.eye(2), sp.eye_array(2)], r"block 1 .* \(sparse: True against False\)"),
        ([np.eye(2), np.eye(2, dtype=np.float32)], "dtype: float32 against float64"),
        ([np.ones(3)], "X must be 2-D"),
        ([np.array([["a"]])], "X must hold real numbers"),
    ],
)
def test_blocks_that_are_no_rows_of_one_matrix(client, parts, message):
    with pytest.raises(ValueError, match=message):
        dask_blocks([delayed(part) for part in parts])


def test_dask_arrays_have_two_dimensions(client):
    import dask.array

    with pytest.raises(ValueError, match=r"X must be 2-D; got a dask array of shape \(3,\)"):
        BudgetClassifier().fit(dask.array.ones(3), [0, 1, 0])


def test_a_client_is_needed():
    with pytest.raises(ValueError, match=r"has no client of a cluster; make one with distributed"):
        dask_blocks([delayed(np.eye(2))])


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'scoresieve\[dask\]'"):
        dask_blocks([delayed(np.eye(2))])


def test_the_extra_of_parquet_is_named(monkeypatch, tmp_path):
    from scoresieve.design import blocks_from_parquet

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'scoresieve\[parquet\]'"):
        blocks_from_parquet(tmp_path / "a", tmp_path / "b")
