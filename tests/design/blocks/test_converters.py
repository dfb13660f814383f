"""Converters to row blocks: what scikit-learn, scipy and pyarrow read, never all at once."""

from __future__ import annotations

import bz2
import gzip
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from scoresieve.design import blocks_from_npz, blocks_from_parquet, blocks_from_svmlight
from scoresieve.design.blocks import from_npz, from_svmlight

pa = pytest.importorskip("pyarrow")


def matrix(n_rows=300, n_columns=50):
    X = sp.random_array(
        (n_rows, n_columns), density=0.1, format="csr", random_state=np.random.default_rng(1)
    )
    # Rows without entries at both ends and in between.
    X = sp.csr_array(np.where(np.isin(np.arange(n_rows), [0, 7, n_rows - 1]), 0, 1)[:, None] * X)
    # Old releases of scipy draw 64-bit indices, which old ones of scikit-learn do not write.
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


Y = np.random.default_rng(2).integers(0, 3, 300).astype(float)


def whole(blocks):
    found = blocks[:, np.arange(blocks.shape[1])]
    return found.toarray() if sp.issparse(found) else found


@pytest.fixture
def small_chunks(monkeypatch):
    """Pieces that end inside of lines and rows."""
    monkeypatch.setattr(from_svmlight, "CHUNK", 1000)
    monkeypatch.setattr(from_npz, "ENTRIES_AT_ONCE", 37)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("compress", [None, gzip, bz2])
def test_svmlight(tmp_path, compress, zero_based):
    path = tmp_path / "data.txt"
    dump_svmlight_file(matrix(), Y, str(path), zero_based=zero_based, comment="two\nlines")
    X, y = load_svmlight_file(path, n_features=50, zero_based=zero_based)
    if compress is not None:
        path.write_bytes(compress.compress(path.read_bytes()))
    shares = []
    blocks = blocks_from_svmlight(
        path,
        tmp_path / "X",
        zero_based=zero_based,
        n_features=50,
        block_bytes=2000,
        progress=lambda done: shares.append(done.share),
    )
    assert_array_equal(whole(blocks), X.toarray())
    assert_array_equal(blocks.labels, y)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_svmlight_without_a_last_newline(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("1 1:0.5 3:2 # with a comment\n\n-1 qid:4 2:1")
    blocks = blocks_from_svmlight(path, tmp_path / "X", dtype=np.float32)
    assert blocks.dtype == np.float32
    assert_array_equal(whole(blocks), [[0.5, 0, 2], [0, 1, 0]])
    assert_array_equal(blocks.labels, [1, -1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0:1\n", r"counted from 0 here: pass zero_based=True"),
        ("1 a:1\n", r"cannot read '.*data.txt' as svmlight"),
        ("1 2:1 1:1\n", r"cannot read '.*data.txt' as svmlight"),
        ("", "it has no rows"),
        ("1 4:1\n", r"n_features=3, but '.*data.txt' has 4 columns"),
    ],
)
def test_svmlight_that_is_refused_leaves_nothing(tmp_path, text, message):
    path = tmp_path / "data.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        blocks_from_svmlight(path, tmp_path / "X", n_features=3)
    assert list(tmp_path.iterdir()) == [path]


def test_a_truncated_archive_leaves_nothing(tmp_path):
    path = tmp_path / "data.gz"
    dump_svmlight_file(matrix(), Y, str(path))
    path.write_bytes(gzip.compress(path.read_bytes())[:-100])
    with pytest.raises(ValueError, match=r"data\.gz.*ended before the end"):
        blocks_from_svmlight(path, tmp_path / "X")
    assert list(tmp_path.iterdir()) == [path]


def test_svmlight_is_never_in_memory_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "data.txt"
    line = b"1 " + b" ".join(b"%d:0.5" % (3 * j + 1) for j in range(200)) + b"\n"
    path.write_bytes(1500 * line)
    monkeypatch.setattr(from_svmlight, "CHUNK", 2**16)
    (tmp_path / "first.txt").write_bytes(line)
    blocks_from_svmlight(tmp_path / "first.txt", tmp_path / "first")  # imports what it needs
    tracemalloc.start()
    try:
        blocks = blocks_from_svmlight(path, tmp_path / "X", block_bytes=2**16)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert blocks.n_entries == 300_000
    assert peak < 12 * blocks.n_entries / 2


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_npz(tmp_path, compressed, dtype):
    X = matrix().astype(dtype)
    sp.save_npz(tmp_path / "X.npz", X, compressed=compressed)
    seen = []
    blocks = blocks_from_npz(
        tmp_path / "X.npz", tmp_path / "X", y=Y, block_bytes=2000, progress=seen.append
    )
    assert blocks.dtype == dtype
    assert_array_equal(whole(blocks), X.toarray())
    assert_array_equal(blocks.labels, Y)
    assert seen[-1].share == 1.0


def test_npz_that_is_refused_leaves_nothing(tmp_path):
    path = tmp_path / "X.npz"
    sp.save_npz(path, matrix().tocsc())
    with pytest.raises(ValueError, match=r"in csc format, .*save X.tocsr\(\) instead"):
        blocks_from_npz(path, tmp_path / "X")
    np.savez(path, a=np.eye(2))
    with pytest.raises(
        ValueError, match=r"not a CSR matrix of scipy.sparse.save_npz: it holds a.npy"
    ):
        blocks_from_npz(path, tmp_path / "X")
    sp.save_npz(path, matrix())
    with pytest.raises(ValueError, match="one for each of the 300 rows"):
        blocks_from_npz(path, tmp_path / "X", y=[1.0])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("sparse", [False, True])
def test_parquet(tmp_path, sparse):
    from pyarrow import parquet

    X = matrix().toarray()
    names = [f"x{j}" for j in range(50)]
    table = pa.table({**dict(zip(names, X.T, strict=True)), "kind": Y.astype(int).astype(str)})
    parquet.write_table(table, tmp_path / "X.parquet")
    blocks = blocks_from_parquet(
        *(tmp_path / "X.parquet", tmp_path / "X"),
        label="kind",
        sparse=sparse,
        batch_rows=70,
        block_bytes=9000,
    )
    assert blocks.is_sparse == sparse
    assert_array_equal(whole(blocks), X)
    assert_array_equal(blocks.labels, Y.astype(int).astype(str))
    assert blocks.feature_names.tolist() == names
    some = blocks_from_parquet(
        tmp_path / "X.parquet", tmp_path / "few", columns=["x7", "x2"], dtype=np.float32
    )
    assert some.labels is None
    assert_array_equal(whole(some), X[:, [7, 2]].astype(np.float32))


def test_parquet_that_is_refused_leaves_nothing(tmp_path):
    from pyarrow import parquet

    path = tmp_path / "X.parquet"
    parquet.write_table(pa.table({"a": [1.0, 2.0], "b": ["u", "v"]}), path)
    with pytest.raises(ValueError, match=r"no column 'c'; it has \['a', 'b'\]"):
        blocks_from_parquet(path, tmp_path / "X", columns=["c"])
    with pytest.raises(ValueError, match="column 'b' holds string, not numbers"):
        blocks_from_parquet(path, tmp_path / "X")
    assert list(tmp_path.iterdir()) == [path]
