"""One test for all designs: products equal those of a dense float64 twin, and X is left alone."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.design import (
    DenseDesign,
    SparseDesign,
    _base,
    as_design,
    dask_blocks,
    dense,
    open_blocks,
    sparse,
    write_blocks,
)

N_SAMPLES, N_COLUMNS = 37, 23
DTYPES = ["float64", "float32", "int64", "int8", "uint16", "bool", ">f8"]


def truth():
    """Entries that every type above can hold; columns 4 and 11 and row 9 are zero."""
    rng = np.random.default_rng(5)
    X = np.where(rng.random((N_SAMPLES, N_COLUMNS)) < 0.3, rng.integers(1, 9, (1, N_COLUMNS)), 0)
    X[:, [4, 11]] = 0
    X[9] = 0
    return X.astype(np.float64)


def read_only(X):
    for array in (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,):
        array.setflags(write=False)
    return X


def with_index_type(X, dtype):
    X.indices, X.indptr = X.indices.astype(dtype), X.indptr.astype(dtype)
    return X


def split_entries(X):
    """Each entry stored as two that add up, columns of a row in falling order."""
    indices = np.concatenate([np.tile(row.indices[::-1], 2) for row in X])
    data = np.concatenate([np.concatenate([row.data[::-1] - 1.5, 0 * row.data + 1.5]) for row in X])
    return type(X)((data, indices, 2 * X.indptr), shape=X.shape)


def spare_room(X):
    """Arrays longer than what indptr refers to, as some programs leave them."""
    X.data = np.append(X.data, [1e300, np.nan])
    X.indices = np.append(X.indices, np.zeros(2, dtype=X.indices.dtype))
    return X


def mixed_index_types(X):
    X.indptr = X.indptr.astype(np.int64)
    return X


def strided(X, order):
    """Every second row and column of a larger array."""
    big = np.full((2 * N_SAMPLES, 2 * N_COLUMNS), 77.0, order=order)
    big[::2, ::2] = X
    return big[::2, ::2]


def inputs():
    """Name and maker of every kind of X. A maker gets the truth and a folder."""
    made = {
        f"dense-{order}-{dtype}": lambda X, _, o=order, d=dtype: np.array(X, dtype=d, order=o)
        for order in "CF"
        for dtype in [*DTYPES, "float16", "longdouble"]
    }
    for flavour in ("csr_matrix", "csr_array", "csc_matrix", "csc_array"):
        types = [(dtype, "int32") for dtype in [*DTYPES[:-1], "longdouble"]]
        for dtype, index in [*types, ("float64", "int64"), ("float32", "int64")]:
            made[f"{flavour}-{dtype}-{index}"] = lambda X, _, f=flavour, d=dtype, i=index: (
                with_index_type(getattr(sp, f)(X.astype(d)), i)
            )
    for other in ("coo_matrix", "coo_array", "lil_matrix", "dok_array", "bsr_array", "dia_matrix"):
        made[other] = lambda X, _, f=other: getattr(sp, f)(X)
    made |= {
        "list": lambda X, _: X.tolist(),
        "strided-C": lambda X, _: strided(X, "C"),
        "strided-F": lambda X, _: strided(X, "F"),
        "reversed": lambda X, _: np.ascontiguousarray(X[::-1])[::-1],
        "without-last-column": lambda X, _: np.column_stack([X, X[:, 0]])[:, :-1],
        "unaligned": lambda X, _: unaligned(X),
        "memmap-C": lambda X, folder: on_disk(X, folder),
        "memmap-F-float32": lambda X, folder: on_disk(np.asfortranarray(X, np.float32), folder),
        "split-csr": lambda X, _: split_entries(sp.csr_array(X)),
        "split-csr-float32": lambda X, _: split_entries(sp.csr_matrix(X)).astype(np.float32),
        "split-csc": lambda X, _: split_entries(sp.csr_array(X.T)).T,
        "spare-csr": lambda X, _: spare_room(sp.csr_array(X)),
        "spare-csc": lambda X, _: spare_room(sp.csc_matrix(X)),
        "mixed-csr": lambda X, _: mixed_index_types(sp.csr_array(X)),
        "mixed-csc": lambda X, _: mixed_index_types(sp.csc_array(X.astype(np.float32))),
        "design": lambda X, _: as_design(X),
    }
    return made | block_inputs()


def block_inputs():
    """Row blocks on disk and on a cluster, and views of some of their rows."""
    forms = {"dense": np.array, "csr": sp.csr_array, "csr-float32": single, "csc": sp.csc_matrix}
    made = {}
    for name, form in forms.items():
        for n_jobs in (1, 2):
            made[f"blocks-{name}-{n_jobs}"] = lambda X, folder, f=form, j=n_jobs: on_blocks(
                f(X), folder, j
            )
    for name, form in (("dense", np.array), ("csr", sp.csr_array)):
        made |= {
            f"blocks-{name}-one": lambda X, folder, f=form: on_blocks(f(X), folder, 2, 2**20),
            f"view-{name}": lambda X, folder, f=form: as_view(f, X, folder),
            f"view-{name}-shuffled": lambda X, folder, f=form: as_view(f, X, folder, seed=1),
            f"dask-{name}": lambda X, _, f=form: dask_blocks(delayed_parts(f(X))),
        }
    made["dask-view"] = lambda X, _: dask_blocks(delayed_parts(sp.csr_array(mixed(X))))[ours(X)]
    made["dask-array"] = lambda X, _: dask_array(X)
    made["dask-sparse-array"] = lambda X, _: sparse_dask_array(X)
    made["dask-bag"] = lambda X, _: dask_bag(X)
    made["dask-folder"] = lambda X, folder: on_blocks(sp.csr_array(X), folder, client=True)
    return made


def single(X):
    return sp.csr_array(X.astype(np.float32))


def on_blocks(X, folder, n_jobs=1, block_bytes=700, client=False):
    if not (folder / "X").exists():
        write_blocks(X, folder / "X", block_bytes=block_bytes)
    return open_blocks(folder / "X", n_jobs=n_jobs, client=get_client() if client else None)


def mixed(X):
    """The rows of X, in another order, among others."""
    out = np.full((2 * len(X), X.shape[1]), 77.0)
    out[ours(X)] = X
    return out


def ours(X):
    return np.random.default_rng(2).permutation(2 * len(X))[: len(X)]


def as_view(form, X, folder, seed=None):
    if seed is not None:
        return on_blocks(form(mixed(X)), folder)[ours(X)]
    larger = np.insert(X, [0, 9, 9, 20, len(X)], 77.0, axis=0)
    return on_blocks(form(larger), folder)[np.all(larger != 77.0, axis=1)]


def delayed_parts(X):
    from dask.delayed import delayed

    ends = [0, 3, 20, 21, X.shape[0]]
    return [delayed(X[start:stop]) for start, stop in pairwise(ends)]


def dask_array(X):
    import dask.array

    return dask.array.from_array(X, chunks=((5, 1, len(X) - 6), (10, X.shape[1] - 10)))


def sparse_dask_array(X):
    return dask_array(X).rechunk((9, -1)).map_blocks(sp.csr_matrix)


def dask_bag(X):
    from dask.bag import from_sequence

    pieces = [sp.csr_matrix(X[start : start + 5]) for start in range(0, len(X), 5)]
    return from_sequence(pieces, npartitions=3)


def get_client():
    from distributed import get_client

    return get_client()


@pytest.fixture(autouse=True)
def _cluster(request):
    """The cluster, for those who need one."""
    if "dask" in request.node.name:
        request.getfixturevalue("client")


def unaligned(X):
    buffer = np.zeros(X.nbytes + 1, dtype=np.uint8)
    view = buffer[1:].view(np.float64).reshape(X.shape)
    view[:] = X
    assert not view.flags.aligned
    return view


def on_disk(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def fingerprint(X):
    """Bytes of everything a caller could see changed."""
    if sp.issparse(X) and X.format in ("csr", "csc", "bsr"):
        arrays = (X.data, X.indices, X.indptr)
    elif isinstance(X, np.ndarray):
        arrays = (X,)
    elif sp.issparse(X):
        return hashlib.sha1(X.toarray().tobytes()).hexdigest()
    else:
        return None
    return [(id(a), a.dtype, a.shape, hashlib.sha1(a.tobytes()).hexdigest()) for a in arrays]


@pytest.fixture
def seven_numbers(monkeypatch):
    """Blocks so small reach every seam: between rows, inside rows, at the ends."""
    for module in (_base, dense, sparse):
        monkeypatch.setattr(module, "BLOCK_NUMBERS", 7)


def blocks_and_constants():
    """Whole blocks without a constant, and tiny ones with it.

    The workers of a cluster have blocks of their own size, and the products of X are in those with
    a constant.
    """
    for name in inputs():
        if "dask" in name:
            yield name, 2.5, "whole"
        else:
            yield name, 0.0, "whole"
            yield name, 2.5, "seven_numbers"


@pytest.mark.parametrize(("name", "constant", "blocks"), list(blocks_and_constants()))
def test_products(name, constant, blocks, tmp_path, request):
    X = truth()
    if "bool" in name:
        X = (X > 0).astype(np.float64)
    if blocks != "whole":
        request.getfixturevalue(blocks)
    given = inputs()[name](X, tmp_path)
    if sp.issparse(given) and given.format in ("csr", "csc"):
        given = read_only(given)
    before = fingerprint(given)
    design = as_design(given, constant=constant)
    twin = np.column_stack([X, np.full(N_SAMPLES, constant)]) if constant else X
    check_against_twin(design, twin)
    assert fingerprint(given) == before


def check_against_twin(design, twin):
    rng = np.random.default_rng(6)
    n, m = twin.shape
    assert (design.n_samples, design.n_columns) == (n, m)
    close = {"rtol": 1e-12, "atol": 1e-12}
    for share in (1.0, 0.5, 0.1, 0.0):
        v = np.where(rng.random(n) < share, rng.standard_normal(n), 0.0)
        result = design.correlate(v)
        assert result.dtype == np.float64
        assert result.shape == (m,)
        assert_allclose(result, twin.T @ v, **close)
    V, d = rng.standard_normal((n, 5)), np.where(rng.random(n) < 0.6, rng.random(n), 0.0)
    every = np.arange(m)
    for idx in (every, every[:0], every[3:4], every[-1:], every[[1, 4, 5, m - 1]],
                rng.permutation(m), every[[7, m - 1, 2]]):  # fmt: skip
        w = rng.standard_normal(idx.size)
        block = design.columns(idx)
        assert block.n_columns == idx.size
        for scores in (block.scores(w), design.scores(w, idx)):
            assert scores.dtype == np.float64
            assert scores.shape == (n,)
            assert_allclose(scores, twin[:, idx] @ w, **close)
        for right in (V[:, 0], V[:, :1], V[:, :2], V, V[:, :0]):
            result = block.correlate(right)
            assert result.dtype == np.float64
            assert_allclose(result, twin[:, idx].T @ right, **close)
        longer = block.append(design.columns(every[:2]))
        assert longer.n_columns == idx.size + 2
        assert_allclose(longer.correlate(V), np.hstack([twin[:, idx], twin[:, :2]]).T @ V, **close)
        assert block.n_columns == idx.size
        assert_allclose(block.gram(d), twin[:, idx].T @ (d[:, None] * twin[:, idx]), **close)
        check_entries(block.entries(), twin[:, idx])
        places = rng.permutation(idx.size)[: (idx.size + 1) // 2]
        part = block.take(places)
        assert part.n_columns == places.size
        assert_allclose(part.correlate(V), twin[:, idx[places]].T @ V, **close)
    assert_allclose(design.filled(3.0).correlate(V), 3.0 * V.sum(axis=0)[None], **close)


def check_entries(entries, twin):
    assert not np.any(entries.values == 0.0)
    columns = np.repeat(np.arange(twin.shape[1]), np.diff(entries.starts))
    assert np.unique(columns * twin.shape[0] + entries.rows).size == entries.rows.size
    rebuilt = np.zeros(twin.shape)
    rebuilt[entries.rows, columns] = entries.values
    assert_allclose(rebuilt, twin, rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in inputs() if not n.startswith(("split", "spare"))])
def test_sums_of_squares_and_largest_entries(name, tmp_path):
    X = (truth() > 0).astype(np.float64) if "bool" in name else truth()
    design = as_design(inputs()[name](X, tmp_path), constant=-10.0)
    assert design.sum_of_squares() == pytest.approx(np.sum(X**2) + 100 * N_SAMPLES)
    assert design.max_abs() == 10.0
    assert as_design(inputs()[name](X, tmp_path)).max_abs() == X.max()


@pytest.mark.parametrize(
    ("name", "blocks"),
    [
        (name, blocks)
        for name, constant, blocks in blocks_and_constants()
        if not name.startswith("split")
    ],
)
def test_norms_of_columns(name, blocks, tmp_path, request):
    if blocks != "whole":
        request.getfixturevalue(blocks)
    X = (truth() > 0).astype(np.float64) if "bool" in name else truth()
    given = inputs()[name](X, tmp_path)
    found = as_design(given, constant=-10.0).column_norms()
    assert found.dtype == np.float64
    assert_allclose(found, [*np.linalg.norm(X, axis=0), 10.0 * np.sqrt(N_SAMPLES)], rtol=1e-12)
    assert_array_equal(as_design(given).column_norms(), found[:-1])
    counts = as_design(given, constant=-10.0).column_counts()
    assert_array_equal(counts, [*np.count_nonzero(X, axis=0), N_SAMPLES])


@pytest.mark.parametrize("form", [np.array, sp.csr_array, sp.csc_matrix])
def test_what_is_not_finite_reaches_the_sum_of_squares(form):
    X = truth()
    for value, sum_is, largest_is in (
        (np.nan, np.isnan, np.isnan),
        (-np.inf, np.isinf, np.isinf),
        (-1e200, np.isinf, lambda largest: largest == 1e200),
    ):
        X[3, 5] = value
        design = as_design(form(X))
        assert sum_is(design.sum_of_squares())
        assert largest_is(design.max_abs())


@pytest.mark.parametrize("kind", ["C", "F", "csr", "csc"])
def test_float32_sums_are_accumulated_in_float64(kind):
    """2^24 + 1 ones: a float32 sum stops counting at 2^24."""
    X = np.ones((1, 3), dtype=np.float32)
    X = np.concatenate([np.full((1, 3), 2.0**24, dtype=np.float32), np.repeat(X, 99, axis=0)])
    given = {"C": X, "F": np.asfortranarray(X), "csr": sp.csr_array(X), "csc": sp.csc_array(X)}[
        kind
    ]
    design = as_design(given)
    assert_array_equal(design.correlate(np.ones(100)), np.full(3, 2.0**24 + 99))
    assert_array_equal(design.columns([1]).correlate(np.ones(100)), [2.0**24 + 99])


def test_float32_is_close_to_float64():
    X = np.random.default_rng(0).standard_normal((200, 50))
    v = np.random.default_rng(1).standard_normal(200)
    for form in (np.array, np.asfortranarray, sp.csr_array, sp.csc_array):
        single = as_design(form(X).astype(np.float32)).correlate(v)
        assert_allclose(single, as_design(form(X)).correlate(v), atol=1e-5)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), r"X must be 2-D.*got 1-D of shape \(3,\)"),
        (np.ones((2, 2, 2)), r"X must be 2-D.*got 3-D"),
        pytest.param(
            *(sp.coo_array(np.ones(3)), "X must be 2-D.*got 1-D"),
            marks=pytest.mark.skipif(
                sp.coo_array(np.ones(3)).ndim == 2, reason="this scipy has no 1-D sparse arrays"
            ),
        ),
        ([["a", "b"]], "X must hold real numbers; got dtype <U1"),
        (np.ones((2, 2), dtype=complex), "X must hold real numbers; got dtype complex128"),
        (sp.csr_array(np.ones((2, 2), dtype=complex)), "X must hold real numbers"),
        ([[1.0, 2.0], [3.0]], "X cannot be read as a numeric 2-D array"),
    ],
)
def test_what_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        as_design(X)


@pytest.mark.parametrize("constant", [np.inf, np.nan, "1", None])
def test_constants_must_be_finite(constant):
    with pytest.raises(ValueError, match=f"constant must be a finite number; got {constant!r}"):
        as_design(np.ones((2, 2)), constant=constant)


def test_other_sparse_formats_are_not_for_the_class_itself():
    with pytest.raises(ValueError, match="X must be in CSR or CSC format; got coo"):
        SparseDesign(sp.coo_array(np.ones((2, 2))))


def test_no_constant_means_no_wrapper():
    assert isinstance(as_design(np.ones((2, 2))), DenseDesign)
