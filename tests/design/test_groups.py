"""Sums over rows: in an order that nothing but X decides, and the same bits for all forms of it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from scoresieve.design import as_design, dask_blocks, lines, open_blocks, write_blocks
from scoresieve.design.blocks.writer import roundest_below
from scoresieve.design.groups import RowGroups, rows_of_group
from scoresieve.design.lines import RunningSum, lines_between, power_below
from tests.helpers import use_small_groups, write_cut_blocks

N_SAMPLES, N_COLUMNS = 203, 31
EVERY = np.arange(N_COLUMNS)


def rows(dtype=np.float64, seed=0):
    """Numbers whose sums are rounded, and differently in every order."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_SAMPLES, N_COLUMNS)) * np.exp(3 * rng.standard_normal(N_COLUMNS))
    return np.where(rng.random(X.shape) < 0.4, X, 0.0).astype(dtype)


def vectors():
    """All numbers, half of them 0, and most of them, some whole groups among those."""
    rng = np.random.default_rng(1)
    v = rng.standard_normal(N_SAMPLES)
    few = np.where(rng.random(N_SAMPLES) < 0.1, v, 0.0)
    few[40:90] = 0.0
    return [v, np.where(rng.random(N_SAMPLES) < 0.5, v, 0.0), few, 0.0 * v]


def sums(design):
    """Everything that is summed over rows, one after another."""
    w = np.linspace(-1.0, 1.0, N_COLUMNS)
    weights = np.linspace(0.1, 2.0, design.n_samples)
    found = [design.correlate(v[: design.n_samples]) for v in vectors()]
    found += [design.column_norms(), design.scores(w, EVERY)]
    found += [[design.total(weighted_squares, w, EVERY, 0.3, weights)]]
    return np.concatenate(found)


def weighted_squares(scores, weights):
    return float(weights @ np.square(scores))


def cut_in(n_parts, seed):
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(np.arange(1, N_SAMPLES), n_parts - 1, replace=False))
    return np.diff([0, *places, N_SAMPLES]).tolist()


def test_groups_have_a_power_of_two_of_rows_that_X_decides():
    size = rows_of_group(10**6, 1000, 10**8, is_sparse=True)
    assert size == 2**15  # 3.3 million entries, and 4.2 million are allowed
    assert rows_of_group(10**6, 10**7, 10**8, is_sparse=True) == 2**18  # four entries a column
    assert rows_of_group(10**6, 1000, 10**9, is_sparse=False) == 2**11
    assert rows_of_group(5, 3, 0, is_sparse=True) >= 5
    assert rows_of_group(3, 10**9, 3 * 10**9, is_sparse=False) == 1


def test_chosen_rows_stay_in_their_groups():
    groups = RowGroups.of_size(20, 8)
    assert groups.starts.tolist() == [0, 8, 16, 20]
    few = groups.of_rows(np.array([1, 7, 17, 19, 19]))
    assert (few.starts.tolist(), few.numbers.tolist()) == ([0, 2, 5], [0, 2])
    again = few.of_rows(np.array([2, 4]))
    assert (again.starts.tolist(), again.numbers.tolist()) == ([0, 2], [2])
    assert groups.of_rows(np.array([9, 3])).numbers.tolist() == [0]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("room", [1, 100, 10**6])
def test_a_running_sum_has_the_bits_of_one_product(dtype, room, monkeypatch):
    """Pieces of one row or of many, that fill the buffer or do not, empty ones among them."""
    monkeypatch.setattr(lines, "BLOCK_NUMBERS", room)
    X = sp.csr_array((100 * rows()).astype(dtype))
    v = vectors()[0]
    wanted = X.astype(np.float64).T @ v
    for n_parts in (1, 2, 5, 60, N_SAMPLES):
        total, first = RunningSum(N_COLUMNS), 0
        for size in cut_in(n_parts, seed=n_parts):
            total.add(lines_between(X, first, first), v[:0])
            total.add(lines_between(X, first, first + size), v[first : first + size])
            first += size
        assert_array_equal(total.result(), wanted)
    assert_array_equal(RunningSum(3).result(), np.zeros(3))


@pytest.mark.parametrize("number", [0.75, 1.0, 3.0, 1.7e308, 5e-324])
def test_the_power_below(number):
    power = power_below(number)
    assert power <= number < 2 * power or number / power == 1.0
    assert np.frexp(power)[0] == 0.5


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("n_numbers", [100, 10**6])
def test_csr_csc_and_blocks_of_any_size_agree(dtype, n_numbers, tmp_path, monkeypatch):
    use_small_groups(monkeypatch, n_numbers)
    X = rows(dtype)
    csr = sp.csr_array(X)
    expected = sums(as_design(csr))
    chosen = np.flatnonzero(np.arange(N_SAMPLES) % 5 < 3)
    of_chosen = sums(as_design(csr).rows(chosen))
    assert_array_equal(sums(as_design(sp.csc_array(X))), expected)
    assert_array_equal(sums(as_design(sp.csc_array(X)).rows(chosen)), of_chosen)
    for n_parts in (1, 4, 30):
        folder = write_cut_blocks(csr, tmp_path / f"{n_parts}", cut_in(n_parts, seed=n_parts))
        blocks = open_blocks(folder, n_jobs=1 + n_parts % 2)
        assert_array_equal(sums(as_design(blocks)), expected)
        # A copy in memory, or a view where memory is short.
        assert_array_equal(sums(as_design(blocks).rows(chosen)), of_chosen)
        monkeypatch.setattr(blocks.memory, "may_copy", lambda n_bytes: False)
        assert_array_equal(sums(as_design(blocks).rows(chosen)), of_chosen)
        assert blocks.statistics.sum_of_squares == pytest.approx(np.sum(np.square(X, dtype="f8")))


def test_groups_are_what_changes_the_bits(monkeypatch):
    """Else the tests of equal bits would show nothing."""
    csr = sp.csr_array(rows())
    whole = sums(as_design(csr))
    use_small_groups(monkeypatch, 60)
    grouped = sums(as_design(csr))
    assert np.any(grouped != whole)
    np.testing.assert_allclose(grouped, whole, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("n_numbers", [200, 10**6])
def test_dense_blocks_of_any_size_agree(dtype, n_numbers, tmp_path, monkeypatch):
    use_small_groups(monkeypatch, n_numbers)
    X, found = rows(dtype), []
    for n_parts in (1, 4, 30):
        folder = write_cut_blocks(X, tmp_path / f"{n_parts}", cut_in(n_parts, seed=n_parts))
        blocks = open_blocks(folder, n_jobs=1 + n_parts % 2)
        found.append(np.append(sums(as_design(blocks)), blocks.statistics.sum_of_squares))
    for other in found[1:]:
        assert_array_equal(other, found[0])


@pytest.mark.parametrize("form", [sp.csr_array, np.asfortranarray], ids=["sparse", "dense"])
def test_blocks_of_a_cluster_agree_with_those_on_disk(form, client, tmp_path, monkeypatch):
    """Cut otherwise, and in an order of memory in which no block on disk is."""
    from dask.delayed import delayed

    use_small_groups(monkeypatch, 1000)
    X, v = form(rows()), vectors()[1]
    folder = write_cut_blocks(X, tmp_path / "X", cut_in(3, seed=0))
    here = as_design(open_blocks(folder))
    ends = np.cumsum([0, *cut_in(6, seed=6)])
    cut = dask_blocks([delayed(X[a:b]) for a, b in pairwise(ends)])
    for blocks in (open_blocks(folder, client=client), cut):
        assert blocks._store.sizes.size > 3
        there = as_design(blocks)
        assert_array_equal(there.correlate(v), here.correlate(v))
        assert_array_equal(there.column_norms(), here.column_norms())


def test_pieces_are_all_rows_in_their_order(tmp_path, monkeypatch):
    use_small_groups(monkeypatch, 60)
    X = rows()
    blocks = open_blocks(write_cut_blocks(sp.csr_array(X), tmp_path / "X", cut_in(20, seed=3)))
    order = np.random.default_rng(4).permutation(N_SAMPLES)
    for view, wanted in ((blocks, X), (blocks[5:150], X[5:150]), (blocks[order], X[order])):
        found = np.full(wanted.shape, np.nan)
        for places, piece in view.pieces():
            found[places] = piece.toarray()
        assert_array_equal(found, wanted)


@pytest.mark.parametrize("form", [sp.csr_array, np.array], ids=["sparse", "dense"])
def test_blocks_that_are_written_hold_whole_groups(form, tmp_path, monkeypatch):
    """Whatever comes in one piece or in many; then a pass copies nothing."""
    use_small_groups(monkeypatch, 200)
    X = form(rows())
    pieces = (X[a:b] for a, b in pairwise(np.cumsum([0, *cut_in(30, seed=2)])))
    for name, given in (("whole", X), ("pieces", pieces)):
        blocks = write_blocks(given, tmp_path / name, block_bytes=6000)
        assert blocks.n_blocks > 2
        assert all(len(group) == 1 for group in blocks._store._groups)
        sizes = [sum(f.n_bytes for f in block.files) for block in blocks._store.manifest.blocks]
        assert max(sizes) <= 6000 + 3 * 132
        everything = blocks[:, EVERY]
        assert_array_equal(everything.toarray() if sp.issparse(everything) else everything, rows())


def test_the_roundest_number():
    for begin, end in ((0, 1), (0, 1000), (5, 6), (7, 9), (12, 15), (1024, 2047)):
        found = roundest_below(begin, end)
        factors = {n: n & -n for n in range(begin + 1, end + 1)}
        assert factors[found] == max(factors.values())
