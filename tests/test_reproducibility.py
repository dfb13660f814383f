"""What is equal to the last bit, and what within the certified gap: docs/reproducibility.md."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from scoresieve import BudgetClassifier, MeasureSVC, ScoreSieve, solve
from scoresieve.design import open_blocks, write_blocks
from tests.helpers import run_python, write_cut_blocks

MODELS = {
    "MeasureSVC": lambda: MeasureSVC("f1", budget=5, C=3.0, tol=0.01),
    "k features": lambda: MeasureSVC("rec@2p", n_features_to_select=3),
    "BudgetClassifier": lambda: BudgetClassifier("logistic", budget=5, tol=1e-4),
    "ScoreSieve": lambda: ScoreSieve("f1", n_features_to_select=3, cv=2, Cs=[1.0]),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def planted(seed, n_samples=90, n_features=30):
    """Three columns that matter, and nothing else that does: a clear optimum."""
    rng = np.random.default_rng(seed)
    X = np.where(
        rng.random((n_samples, n_features)) < 0.4, rng.normal(size=(n_samples, n_features)), 0
    )
    X[:, :3] = rng.normal(size=(n_samples, 3))
    scores = X[:, :3] @ np.array([2.0, 1.5, -1.5])
    return X, (scores + 0.5 * rng.normal(size=n_samples) > 1.0).astype(int)


def unsorted(X):
    """The same matrix with the entries of each row, or column, in another order."""
    X, rng = X.copy(), np.random.default_rng(1)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order = start + rng.permutation(stop - start)
        X.indices[start:stop], X.data[start:stop] = X.indices[order], X.data[order]
    X.has_sorted_indices = False
    return X


def with_zero(X):
    """The same matrix with a zero that is stored."""
    column = np.flatnonzero(X.toarray()[-1] == 0)[0]
    data, indices = np.append(X.data, 0.0), np.append(X.indices, column)
    return sp.csr_array((data, indices, np.append(X.indptr[:-1], data.size)), shape=X.shape)


def int64(X):
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def weights(model, X, y):
    model = model.fit(X, y)
    return np.append(model.coef_.ravel(), model.intercept_)


@each_model
def test_sparse_formats_give_the_same_bits(make, tmp_path):
    X, y = planted(0)
    csr = sp.csr_array(X)
    expected = weights(make(), csr, y)
    write_blocks(csr, tmp_path / "blocks", y=y)
    others = {
        "int64 indices": int64(csr),
        "csc": sp.csc_array(X),
        "coo": sp.coo_array(X),
        "csr_matrix": sp.csr_matrix(X),
        "unsorted": unsorted(csr),
        "a stored zero": with_zero(csr),
        "one block": open_blocks(tmp_path / "blocks"),
    }
    for name, other in others.items():
        assert_array_equal(weights(make(), other, y), expected, err_msg=name)


CUT_MODELS = {
    "f1": lambda: MeasureSVC("f1", budget=5, C=1.0, tol=0.1),
    "f1 k": lambda: MeasureSVC("f1", n_features_to_select=3),
    "logistic": lambda: BudgetClassifier("logistic", budget=5, tol=1e-4),
    "squared_hinge": lambda: BudgetClassifier("squared_hinge", n_features_to_select=3),
    "ScoreSieve": lambda: ScoreSieve("f1", n_features_to_select=3, cv=2, Cs=[1.0]),
}


def cuts(n_rows):
    """Sizes of blocks: every row, few of them, many, any number, all."""
    rng = np.random.default_rng(8)
    places = np.sort(rng.choice(np.arange(1, n_rows), 9, replace=False))
    return {
        "1": [1] * n_rows,
        "7": [7] * (n_rows // 7) + [n_rows % 7] * (n_rows % 7 > 0),
        "64": [64] * (n_rows // 64) + [n_rows % 64] * (n_rows % 64 > 0),
        "uneven": np.diff([0, *places, n_rows]).tolist(),
        "all": [n_rows],
    }


def objectives(model):
    """Of a sieve, which has none, the score of every setting on rows that are held out."""
    if isinstance(model, ScoreSieve):
        return model.cv_results_["mean_test_score"]
    return np.concatenate([np.ravel(model.primal_), np.ravel(model.dual_)])


@pytest.fixture(scope="module")
def cut_folders(tmp_path_factory):
    """The same rows, sparse and dense, in folders of blocks of all these sizes."""
    X, y = planted(3, n_samples=72)
    place = tmp_path_factory.mktemp("cut")
    folders = {
        form: {
            name: write_cut_blocks(rows, place / f"{form}-{name}", sizes)
            for name, sizes in cuts(len(X)).items()
        }
        for form, rows in (("sparse", sp.csr_array(X)), ("dense", X))
    }
    return X, y, folders


@pytest.mark.parametrize("name", CUT_MODELS)
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_blocks_of_any_size_give_the_same_model(form, name, cut_folders):
    """The support of X in memory and its objective to 1e-9; the same bits for any threads."""
    X, y, folders = cut_folders
    make, in_memory = CUT_MODELS[name], {"dense": [X], "sparse": [sp.csr_array(X), sp.csc_array(X)]}
    expected, *others = [make().fit(each, y) for each in in_memory[form]]
    fits = {
        (cut, n_jobs): make().fit(open_blocks(folder, n_jobs=n_jobs), y)
        for cut, folder in folders[form].items()
        for n_jobs in ((1, 2) if cut in ("7", "uneven") else (1,))
    }
    for model in (*others, *fits.values()):
        assert_array_equal(model.support_, expected.support_)
        assert_allclose(objectives(model), objectives(expected), rtol=1e-9, atol=1e-9)
        assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
    for cut in ("7", "uneven"):
        assert_array_equal(fits[cut, 2].coef_, fits[cut, 1].coef_)
        assert_array_equal(objectives(fits[cut, 2]), objectives(fits[cut, 1]))


@each_model
def test_what_changes_sums_changes_no_selection(make, tmp_path):
    """Orders of dense memory, dense blocks, columns that are not sorted."""
    X, y = planted(1)
    csr = sp.csr_array(X)
    write_blocks(X, tmp_path / "dense", y=y, block_bytes=9000)
    expected = weights(make(), csr, y)
    others = {
        "C": X,
        "F": np.asfortranarray(X),
        "strides": np.repeat(X, 2, axis=1)[:, ::2],
        "unsorted csc": unsorted(sp.csc_array(X)),
        "dense blocks": open_blocks(tmp_path / "dense"),
    }
    for name, other in others.items():
        found = weights(make(), other, y)
        assert_array_equal(found != 0, expected != 0, err_msg=name)
        assert_allclose(found, expected, rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    ("measure", "seed"),
    [("f1", 0), ("f1", 1), ("prbep", 0), ("rec@2p", 1), ("roc_auc", 0), ("accuracy", 1)],
)
def test_another_order_of_rows_and_columns_keeps_a_clear_choice(measure, seed):
    X, y = planted(seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    arguments = {"measure": measure, "budget": 3, "C": 1.0, "intercept_scaling": 1.0, "tol": 1e-3}
    first = solve(X, y, **arguments)
    # The price is found by parts of the rows in their order, and another price is another problem.
    arguments |= {"price": first.price} if measure == "f1" else {}
    second = solve(X[rows][:, columns], y[rows], **arguments)
    assert max(first.dual, second.dual) <= min(first.primal, second.primal) * (1 + 1e-9)
    settings = {"n_features_to_select": 3, "C": 1.0, "tol": 0.01}
    model = MeasureSVC(measure, **settings).fit(X, y)
    settings |= {"price": float(model.price_[0])} if measure == "f1" else {}
    again = MeasureSVC(measure, **settings).fit(X[rows][:, columns], y[rows])
    assert model.get_support(indices=True).tolist() == [0, 1, 2]
    assert_array_equal(np.sort(columns[again.get_support(indices=True)]), [0, 1, 2])


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_another_order_keeps_a_clear_choice_of_losses(loss):
    X, y = planted(4)
    rng = np.random.default_rng(4)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    model = BudgetClassifier(loss, n_features_to_select=3).fit(X, y)
    again = BudgetClassifier(loss, n_features_to_select=3).fit(X[rows][:, columns], y[rows])
    assert model.get_support(indices=True).tolist() == [0, 1, 2]
    assert_array_equal(np.sort(columns[again.get_support(indices=True)]), [0, 1, 2])


COMPARED = ("MeasureSVC", "BudgetClassifier")
FITS = """
import numpy as np, sys
sys.path.insert(0, sys.argv[1])
from test_reproducibility import COMPARED, MODELS, planted, weights
for name in COMPARED:
    print(name, weights(MODELS[name](), *planted(2)).tobytes().hex())
"""


@pytest.mark.slow
def test_runs_and_threads_of_BLAS_give_the_same_bits():
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    folder = os.path.dirname(__file__)
    printed = run_python("-W", "ignore", "-c", FITS, folder, env=os.environ | threads)
    with threadpool_limits(1):
        here = [(name, weights(MODELS[name](), *planted(2))) for name in COMPARED]
    assert printed == "".join(f"{name} {found.tobytes().hex()}\n" for name, found in here)
