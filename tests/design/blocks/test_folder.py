"""Folders of row blocks: whole or not there, and never wrong without a word."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import BudgetClassifier, MeasureSVC
from scoresieve.design import DamagedBlocksError, as_design, open_blocks, write_blocks
from scoresieve.design.blocks import disk, memory
from scoresieve.design.blocks.manifest import StoredArray, load_array
from scoresieve.design.blocks.memory import in_words


def matrix(n_rows=400, n_columns=60, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n_rows, n_columns), density=0.1, format="csr", random_state=rng)
    # Old releases of scipy draw 64-bit indices, and so more bytes.
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


@pytest.fixture
def folder(tmp_path):
    write_blocks(matrix(), tmp_path / "X", block_bytes=6000, y=np.arange(400) % 2)
    return tmp_path / "X"


def use(folder):
    """A pass over all blocks."""
    return as_design(open_blocks(folder)).correlate(np.ones(400))


def flip_last_byte(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_what_is_in_a_folder(folder):
    blocks = open_blocks(folder)
    assert (blocks.shape, len(blocks), blocks.dtype) == ((400, 60), 400, np.float64)
    assert blocks.n_entries == matrix().nnz
    assert "sparse float64, 6 blocks in" in repr(blocks)
    assert_array_equal(blocks.labels, np.arange(400) % 2)
    manifest = json.loads((folder / "manifest.json").read_text())
    sizes = [sum(file["n_bytes"] for file in block["files"]) for block in manifest["blocks"]]
    # Beyond its rows a block has three heads, and the first entry of indptr.
    assert max(sizes) <= 6000 + 3 * 128 + 4
    assert_allclose(use(folder), matrix().sum(axis=0))
    blocks.verify()


@pytest.mark.parametrize("name", ["000003.data.npy", "000003.indices.npy", "000003.indptr.npy"])
@pytest.mark.parametrize("damage", ["truncate", "flip", "remove", "append"])
def test_a_damaged_block_is_named(folder, name, damage):
    path = folder / name
    content = bytearray(path.read_bytes())
    if damage == "truncate":
        path.write_bytes(content[:-8])
    elif damage == "append":
        path.write_bytes(content + b"\0")
    elif damage == "flip":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    else:
        path.unlink()
    with pytest.raises(DamagedBlocksError, match=f"block 3 .*{name}"):
        use(folder)
    y = np.arange(400) % 2
    with pytest.raises(DamagedBlocksError, match="block 3"):
        BudgetClassifier(budget=3).fit(open_blocks(folder), y)


def test_every_flipped_bit_of_a_block_is_seen(folder):
    path = folder / "000001.indptr.npy"
    content = path.read_bytes()
    for place in range(0, len(content), 37):
        changed = bytearray(content)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        with pytest.raises(DamagedBlocksError, match="block 1"):
            open_blocks(folder).verify()
    path.write_bytes(content)
    open_blocks(folder).verify()


def test_a_damaged_manifest_is_refused(folder):
    path = folder / "manifest.json"
    content = path.read_text()
    path.write_text(content.replace('"n_columns": 60', '"n_columns": 61'))
    with pytest.raises(DamagedBlocksError, match=r"manifest\.json.*checksum differs"):
        open_blocks(folder)
    path.write_text(content[:-30])
    with pytest.raises(DamagedBlocksError, match=r"manifest\.json.* is damaged"):
        open_blocks(folder)
    path.write_text(content.replace('"format_version": 1', '"format_version": 9'))
    with pytest.raises(DamagedBlocksError, match=r"version 9; this release reads .* version 1"):
        open_blocks(folder)
    path.unlink()
    with pytest.raises(FileNotFoundError, match="is not a folder of row blocks"):
        open_blocks(folder)


def test_labels_have_a_checksum_too(folder):
    flip_last_byte(folder / "labels.npy")
    with pytest.raises(DamagedBlocksError, match="labels is damaged"):
        open_blocks(folder)


def test_blocks_are_compared_once(folder, monkeypatch):
    seen, compare = [], disk.check_content
    monkeypatch.setattr(disk, "check_content", lambda *a: (seen.append(a[1].name), compare(*a)))
    blocks = open_blocks(folder)
    for _ in range(3):
        as_design(blocks).correlate(np.ones(400))
    assert len(seen) == len(set(seen)) == 3 * 6
    travelled = pickle.loads(pickle.dumps(blocks))
    assert_array_equal(travelled[:, [3]].toarray(), matrix()[:, [3]].toarray())
    assert len(seen) == 2 * 3 * 6


@pytest.mark.parametrize("error", [RuntimeError("no more rows"), KeyboardInterrupt()])
def test_an_interrupted_conversion_leaves_nothing(tmp_path, error):
    def rows():
        yield matrix()
        raise error

    with pytest.raises(type(error)):
        write_blocks(rows(), tmp_path / "X", block_bytes=2000)
    assert list(tmp_path.iterdir()) == []


KILLED = """
import sys, time
import scipy.sparse as sp
from scoresieve.design import write_blocks

def rows():
    while True:
        yield sp.random_array((100, 50), density=0.1, format="csr")
        print("row", flush=True)
        time.sleep(0.01)

write_blocks(rows(), sys.argv[1], block_bytes=1000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
def test_a_killed_conversion_leaves_no_folder_of_that_name(tmp_path):
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "X")], stdout=subprocess.PIPE
    )
    assert run.stdout is not None
    for _ in range(3):
        run.stdout.readline()
    run.send_signal(signal.SIGKILL)
    run.communicate()
    assert not (tmp_path / "X").exists()
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(".tmp")
    with pytest.raises(FileNotFoundError, match="is not a folder of row blocks"):
        open_blocks(left)


FULL = """
import resource, sys
import numpy as np
from scoresieve.design import write_blocks
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_blocks(np.ones((1000, 100)), sys.argv[1], block_bytes=400_000)
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX systems")
def test_a_full_disk_leaves_nothing_and_says_so(tmp_path):
    """A file may have 100 kB here, which the system itself enforces."""
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "X")],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "cannot write row blocks: File too large. Nothing is left of them." in run.stdout
    assert str(tmp_path / "X") in run.stdout
    assert list(tmp_path.iterdir()) == []


def test_no_space_left(tmp_path, monkeypatch):
    """What the system says of a full disk reaches the user, with the name of the folder."""
    n_calls = []

    def no_space(descriptor):
        n_calls.append(descriptor)
        if len(n_calls) == 5:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(
        OSError, match=r"No space left on device\. Nothing is left of them"
    ) as caught:
        write_blocks(matrix(), tmp_path / "X", block_bytes=2000)
    assert (caught.value.errno, caught.value.filename) == (28, str(tmp_path / "X"))
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written(tmp_path):
    (tmp_path / "X").mkdir()
    with pytest.raises(FileExistsError, match="exists; give the name of a new folder"):
        write_blocks(np.eye(2), tmp_path / "X")
    new = tmp_path / "new"
    for given, message in (
        (np.ones(3), "X must be 2-D"),
        (np.array([["a"]]), "X must hold real numbers"),
        (iter([]), "there are no rows to write"),
        (iter([np.eye(2), np.eye(3)]), "pieces of X have 2 and 3 columns"),
        (
            iter([np.eye(2), sp.csr_array(np.eye(2))]),
            "begins with float64 rows and goes on with sparse float64 rows",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            write_blocks(given, new)
    with pytest.raises(ValueError, match="one for each of the 2 rows of X; got int64 of shape"):
        write_blocks(np.eye(2), new, y=[1, 0, 1])
    with pytest.raises(ValueError, match="feature_names has 1 names for 2 columns"):
        write_blocks(np.eye(2), new, feature_names=["a"])
    with pytest.raises(ValueError, match="block_bytes must be an integer of at least 1; got 0"):
        write_blocks(np.eye(2), new, block_bytes=0)
    assert not new.exists()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool", ">f8", "longdouble"])
def test_types_are_kept_as_far_as_every_machine_has_them(tmp_path, dtype):
    X = np.arange(12).reshape(4, 3).astype(dtype)
    blocks = write_blocks(X, tmp_path / "X", block_bytes=24)
    known = {">f8": "float64", "longdouble": "float64"}
    assert blocks.dtype == known.get(dtype, dtype)
    assert_array_equal(blocks[:, [2, 0]], X[:, [2, 0]])


def test_progress(tmp_path):
    seen = []
    write_blocks(matrix(), tmp_path / "X", block_bytes=6000, progress=seen.append)
    assert [each.n_blocks for each in seen] == list(range(1, 7))
    assert (seen[-1].n_rows, seen[-1].n_entries, seen[-1].share) == (400, matrix().nnz, 1.0)
    assert seen[0].share == pytest.approx(seen[0].n_rows / 400)


def test_rows_and_columns_by_index(folder):
    X, blocks = matrix().toarray(), open_blocks(folder)
    rows = np.array([5, 399, 5, 0, 77, -1])
    view = blocks[rows]
    assert_array_equal(view[:, [3, 1]].toarray(), X[rows][:, [3, 1]])
    assert_array_equal(view.labels, (np.arange(400) % 2)[rows])
    assert_array_equal(view[[1, 0]][:, [8]].toarray(), X[rows[[1, 0]]][:, [8]])
    assert_array_equal(blocks[10:20:3, ...][:, 4].toarray(), X[10:20:3, [4]])
    assert_array_equal(blocks[X[:, 5] > 0, :][:, -2:].toarray(), X[X[:, 5] > 0, -2:])
    assert blocks[[]].shape == (0, 60)
    assert blocks[[]][:, [1]].shape == (0, 1)
    assert_array_equal(as_design(blocks[[]]).correlate(np.zeros(0)), np.zeros(60))
    assert "a view of 400 rows" in repr(view)
    for wrong, message in (
        ([400], "X has 400 rows, numbered from 0; 400 is out of range"),
        ([0.5], "rows of X must be a 1-D array of integers"),
        (np.ones(3, dtype=bool), "a boolean mask of length 400"),
        ((0, 0, 0), "X has 2 dimensions"),
        ((slice(None), [60]), "X has 60 columns, numbered from 0; 60 is out of range"),
    ):
        with pytest.raises(IndexError, match=message):
            blocks[wrong]
    with pytest.raises(TypeError, match=r"is not made an array, which would take 188 KiB"):
        np.asarray(blocks)


def test_a_view_can_be_written_again(folder, tmp_path):
    rows = np.arange(3, 400, 7)
    copy = write_blocks(open_blocks(folder)[rows], tmp_path / "copy", y=rows)
    assert_array_equal(copy[:, :9].toarray(), matrix()[rows, :9].toarray())
    assert_array_equal(copy.labels, rows)
    with pytest.raises(ValueError, match="rows in another order than its blocks"):
        write_blocks(open_blocks(folder)[rows[::-1]], tmp_path / "other")


def test_more_maps_than_stay_open(folder, monkeypatch):
    monkeypatch.setattr(disk, "MOST_OPEN", 2)
    assert_allclose(use(folder), matrix().sum(axis=0))


@pytest.mark.parametrize("limit", [0, -1, 2.5, "2GB", True])
def test_max_memory_is_a_number_of_bytes(folder, limit):
    with pytest.raises(ValueError, match="max_memory must be a positive number of bytes"):
        open_blocks(folder, max_memory=limit)


def test_what_cannot_fit_is_refused_with_its_size(folder, monkeypatch):
    with pytest.raises(MemoryError, match=r"a fit on 400 rows and 60 columns .* about 32 MiB"):
        open_blocks(folder, max_memory=40_000)
    monkeypatch.setattr(memory, "BUFFERS", 0)
    blocks = open_blocks(folder, max_memory=60_000)
    with pytest.raises(MemoryError, match=r"59 columns of X need 27.* KiB .* max_memory=60000"):
        blocks[:, 1:]
    assert_array_equal(blocks[:, :5].toarray(), matrix()[:, :5].toarray())


def test_columns_count_while_they_are_in_use(folder, monkeypatch):
    monkeypatch.setattr(memory, "BUFFERS", 0)
    blocks = open_blocks(folder, max_memory=90_000)
    design, idx = as_design(blocks, constant=1.0), np.arange(10)
    first = design.columns(idx)
    held = blocks.memory.held
    assert held == 12 * matrix()[:, idx].nnz + 4 * 11
    both = first.append(design.columns(idx + 10))
    assert blocks[:9].memory.held == held + 12 * matrix()[:, :20].nnz + 4 * 21
    with pytest.raises(MemoryError, match=r"20 columns of X .* beside .* of columns in use"):
        design.columns(np.arange(20, 40))
    del first
    few = both.take(np.arange(3))
    del both
    assert blocks.memory.held == 12 * matrix()[:, :3].nnz + 4 * 4
    assert design.columns(np.arange(20, 40)).n_columns == 20
    assert few.n_columns == 3


@pytest.mark.parametrize("is_in_order", [True, False])
def test_columns_are_gathered_in_about_one_copy(tmp_path, is_in_order):
    rng, n = np.random.default_rng(0), 40_000
    X = sp.random_array((n, 20), density=0.3, random_state=rng, format="csr")
    X.data[::7] = 0.0  # zeros that are stored
    blocks = write_blocks(X, tmp_path / "X", block_bytes=2**17)
    rows = np.arange(n) if is_in_order else np.concatenate([np.arange(n // 2, n), np.arange(9, n)])
    design, idx = as_design(blocks[rows]), np.array([3, 0, 11, 12, 13, 14, 15, 16, 17, 18])
    assert design.column_norms().size == 20  # the pass that counts
    tracemalloc.start()
    try:
        found = design.columns(idx)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    wanted = X[rows][:, idx]
    wanted.eliminate_zeros()
    w = rng.standard_normal(idx.size)
    np.testing.assert_allclose(found.scores(w), wanted @ w, atol=1e-12)
    assert peak < 1.5 * 12 * wanted.nnz


def test_cuts_that_do_not_fit_are_refused(folder, monkeypatch):
    """Those of a ranking are numbers, and more of them come with every round."""
    monkeypatch.setattr(memory, "BUFFERS", 0)
    n, m = 400, 60
    y = np.arange(n) % 3 == 0
    needed = 8 * (memory.N_ROW_VECTORS * n + memory.N_COLUMN_VECTORS * m)
    model = MeasureSVC("roc_auc", budget=1, C=100.0, tol=1e-4)
    blocks = open_blocks(folder, max_memory=needed + 8 * n * 20)
    with pytest.raises(MemoryError, match=r"\d+ cuts need .* of memory, beside .* Raise it"):
        model.fit(blocks, y)
    assert not hasattr(model, "coef_")
    assert model.set_params(C=0.2, tol=0.5).fit(blocks, y).gap_[0] <= 0.5


def test_vectors_of_many_classes_are_foreseen(folder, monkeypatch):
    monkeypatch.setattr(memory, "BUFFERS", 0)
    needed = 8 * (memory.N_ROW_VECTORS * 400 + memory.N_COLUMN_VECTORS * 60)
    blocks = open_blocks(folder, max_memory=2 * needed)
    with pytest.raises(
        MemoryError, match="400 rows and 60 columns and 20 classes needs 88 numbers per"
    ):
        BudgetClassifier(budget=2).fit(blocks, np.arange(400) % 20)


def test_in_words():
    assert in_words(2**31) == "2 GiB"


def test_max_memory_lowers_the_number_of_threads(tmp_path):
    X = sp.csr_array(([1.0, 1.0], ([0, 1], [0, 99_999])), shape=(2, 100_000))
    write_blocks(X, tmp_path / "X", block_bytes=16)
    n_threads = [
        open_blocks(tmp_path / "X", n_jobs=8, max_memory=limit)._store.n_threads
        for limit in (None, 2**29, 2**26, 2**25 + 2**23)
    ]
    assert n_threads == [8, 6, 1, 1]


@pytest.fixture(scope="module")
def large_folder(tmp_path_factory):
    n, m, per_row = 16_000, 10_000, 250
    rng = np.random.default_rng(0)

    def rows():
        for _ in range(20):
            columns = rng.integers(0, m, n // 20 * per_row)
            ends = np.arange(0, columns.size + 1, per_row)
            yield sp.csr_array((rng.random(columns.size), columns, ends), shape=(n // 20, m))

    folder = tmp_path_factory.mktemp("large") / "X"
    write_blocks(rows(), folder, block_bytes=2**22)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        MeasureSVC("f1", budget=5, tol=0.3),
        MeasureSVC("f1", n_features_to_select=5, price=0.5),
        MeasureSVC("roc_auc", budget=5, tol=0.1),
        BudgetClassifier(n_features_to_select=5),
    ],
    ids=["f1", "hard", "roc_auc", "hard-loss"],
)
def test_a_fit_stays_within_max_memory(large_folder, model):
    """48 MB of entries, at most 42 MB beside the maps."""
    limit = 40 * 2**20
    blocks = open_blocks(large_folder, n_jobs=2, max_memory=limit)
    assert 12 * blocks.n_entries > limit
    y = blocks[:, [3, 4, 5, 6]].sum(axis=1) > 0.7
    tracemalloc.start()
    try:
        model.fit(blocks, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit


def test_a_thread_that_fails_ends_the_pass(folder):
    flip_last_byte(folder / "000005.data.npy")
    with pytest.raises(DamagedBlocksError, match="block 5"):
        as_design(open_blocks(folder, n_jobs=3)).correlate(np.ones(400))


@pytest.mark.parametrize(
    "head",
    [
        b"\x93NUMPY\x02\x00" + (2**32 - 1).to_bytes(4, "little"),  # NumPy would ask for 4 GB
        b"\x93NUMPY\x01\x00" + (60).to_bytes(2, "little") + b"{'descr': '<f8', 'shape': (9L,)}",
        b"\x93NUMPY\x01\x00" + (60_000).to_bytes(2, "little") + b"(" * 60_000,
        b"no array at all",
    ],
)
def test_heads_of_arrays_are_those_of_the_writer(tmp_path, head):
    (tmp_path / "000000.data.npy").write_bytes(head)
    stored = StoredArray("000000.data.npy", len(head), 0)
    with pytest.raises(
        DamagedBlocksError, match=r"000000.data.npy' is not an array as NumPy writes"
    ):
        load_array(tmp_path, stored)
