"""Blocks of any size: the same rows, sums but for rounding, and the same bits for any threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import as_design, dask_blocks, open_blocks, write_blocks
from scoresieve.design.sparse import power_below
from tests.helpers import write_cut_blocks

N_SAMPLES, N_COLUMNS = 203, 31
EVERY = np.arange(N_COLUMNS)
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def rows(dtype=np.float64, seed=0):
    """Numbers of very different sizes, whose sums are rounded differently in every order."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_SAMPLES, N_COLUMNS)) * np.exp(3 * rng.standard_normal(N_COLUMNS))
    return np.where(rng.random(X.shape) < 0.4, X, 0.0).astype(dtype)


def vectors():
    """All numbers, half of them 0, and most of them, some whole blocks among those."""
    rng = np.random.default_rng(1)
    v = rng.standard_normal(N_SAMPLES)
    few = np.where(rng.random(N_SAMPLES) < 0.1, v, 0.0)
    few[40:90] = 0.0
    return [v, np.where(rng.random(N_SAMPLES) < 0.5, v, 0.0), few, 0.0 * v]


def sums(design):
    """Everything that is summed over rows, as shares of the size of each column."""
    w = np.linspace(-1.0, 1.0, N_COLUMNS)
    weights = np.linspace(0.1, 2.0, design.n_samples)
    norms = design.column_norms()
    found = [design.correlate(v[: design.n_samples]) / norms for v in vectors()]
    found += [np.log(norms), design.scores(w, EVERY) / norms.max(), design.column_counts()]
    total = design.total(weighted_squares, w, EVERY, 0.3, weights)
    return np.concatenate([*found, np.log([total, design.sum_of_squares()])])


def weighted_squares(scores, weights):
    return float(weights @ np.square(scores))


def cut_in(n_parts, seed):
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(np.arange(1, N_SAMPLES), n_parts - 1, replace=False))
    return np.diff([0, *places, N_SAMPLES]).tolist()


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("form", [sp.csr_array, np.array], ids=["sparse", "dense"])
def test_sums_are_those_of_X_in_memory(form, dtype, tmp_path, monkeypatch):
    """And to the last bit, whatever the number of threads is."""
    X = form(rows(dtype))
    chosen = np.flatnonzero(np.arange(N_SAMPLES) % 5 < 3)
    expected, of_chosen = sums(as_design(X)), sums(as_design(X).rows(chosen))
    for n_parts in (1, 4, 30, N_SAMPLES):
        folder = write_cut_blocks(X, tmp_path / f"{n_parts}", cut_in(n_parts, seed=n_parts))
        found = [sums(as_design(open_blocks(folder, n_jobs=n_jobs))) for n_jobs in (1, 3)]
        assert_allclose(found[0], expected, **CLOSE)
        assert_array_equal(found[1], found[0])
        # A copy in memory, or a view where memory is short.
        blocks = open_blocks(folder)
        assert_allclose(sums(as_design(blocks).rows(chosen)), of_chosen, **CLOSE)
        monkeypatch.setattr(blocks.memory, "may_copy", lambda n_bytes: False)
        assert_allclose(sums(as_design(blocks).rows(chosen)), of_chosen, **CLOSE)


@pytest.mark.parametrize("form", [sp.csr_array, np.asfortranarray], ids=["sparse", "dense"])
def test_blocks_of_a_cluster_agree_with_those_on_disk(form, client, tmp_path):
    """Cut otherwise, and in an order of memory in which no block on disk is."""
    from dask.delayed import delayed

    X = form(rows())
    folder = write_cut_blocks(X, tmp_path / "X", cut_in(9, seed=0))
    here = sums(as_design(open_blocks(folder)))
    ends = np.cumsum([0, *cut_in(6, seed=6)])
    cut = dask_blocks([delayed(X[a:b]) for a, b in pairwise(ends)])
    for blocks in (open_blocks(folder, client=client), cut):
        assert blocks.n_blocks > 5
        there = sums(as_design(blocks))
        assert_allclose(there, here, **CLOSE)
        assert_array_equal(sums(as_design(blocks)), there)


def test_pieces_are_all_rows_in_their_order(tmp_path):
    X = rows()
    blocks = open_blocks(write_cut_blocks(sp.csr_array(X), tmp_path / "X", cut_in(20, seed=3)))
    order = np.random.default_rng(4).permutation(N_SAMPLES)
    for view, wanted in ((blocks, X), (blocks[5:150], X[5:150]), (blocks[order], X[order])):
        found = np.full(wanted.shape, np.nan)
        for places, piece in view.pieces():
            found[places] = piece.toarray()
        assert_array_equal(found, wanted)


@pytest.mark.parametrize("form", [sp.csr_array, np.array], ids=["sparse", "dense"])
def test_pieces_of_any_size_are_written_in_blocks_of_one_size(form, tmp_path):
    X = form(rows())
    pieces = (X[a:b] for a, b in pairwise(np.cumsum([0, *cut_in(30, seed=2)])))
    for name, given in (("whole", X), ("pieces", pieces)):
        blocks = write_blocks(given, tmp_path / name, block_bytes=6000)
        sizes = [sum(f.n_bytes for f in block.files) for block in blocks._store.manifest.blocks]
        assert max(sizes) <= 6000 + 3 * 132
        assert min(sizes[:-1]) > 5000
        everything = blocks[:, EVERY]
        assert_array_equal(everything.toarray() if sp.issparse(everything) else everything, rows())


@pytest.mark.parametrize("number", [0.75, 1.0, 3.0, 1.7e308, 5e-324])
def test_the_power_below(number):
    power = power_below(number)
    assert power <= number < 2 * power or number / power == 1.0
    assert np.frexp(power)[0] == 0.5
