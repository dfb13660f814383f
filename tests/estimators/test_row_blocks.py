"""The same fit from every kind of X: in memory, in blocks on disk, on the workers of a cluster."""

from __future__ import annotations

import os
import pickle
import signal
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from scoresieve import (
    BudgetClassifier,
    BudgetRegressor,
    MeasureSVC,
    ScoreSieve,
    budget_path,
    certify,
    selection_frequency,
    solve,
)
from scoresieve.baselines import L1SVM, SVMPerf
from scoresieve.design import RowBlocks, dask_blocks, open_blocks, write_blocks

N_SAMPLES, N_COLUMNS = 260, 40
MODELS = {
    "f1": MeasureSVC("f1", budget=4),
    "prbep": MeasureSVC("prbep", budget=4),
    "roc_auc": MeasureSVC("roc_auc", budget=4),
    "loss": BudgetClassifier(budget=4),
    "regression": BudgetRegressor(budget=4),
    "hard": MeasureSVC("f1", n_features_to_select=3),
    "hard-loss": BudgetClassifier("logistic", n_features_to_select=3, certificate=False),
    "sieve": ScoreSieve("f1", n_features_to_select=2, Cs=[1.0], cv=2),
}
FORMS = ["csc", "dense", "blocks-1", "blocks-2", "dense-blocks", "dask", "dask-other", "dask-array"]


@pytest.fixture(scope="module")
def data():
    """Sparse rows and labels that two columns decide about, with noise."""
    rng = np.random.default_rng(3)
    X = sp.random_array((N_SAMPLES, N_COLUMNS), density=0.2, format="csr", random_state=rng)
    signal = X[:, [3]].toarray() + X[:, [7]].toarray()
    y = signal.ravel() + 0.2 * rng.standard_normal(N_SAMPLES) > 0.6
    return X, y.astype(int)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    place = tmp_path_factory.mktemp("blocks") / "X"
    write_blocks(data[0], place, block_bytes=8000, y=data[1])
    return place


@pytest.fixture(scope="module")
def reference(data):
    """The fits on a CSR matrix, each made once."""
    made = {}

    def of(name):
        if name not in made:
            made[name] = clone(MODELS[name]).fit(*data)
        return made[name]

    return of


def delayed_rows(X):
    from dask.delayed import delayed

    ends = [0, 7, 150, 151, X.shape[0]]
    return [delayed(X[a:b]) for a, b in pairwise(ends)]


def in_form(form, X, folder, tmp_path, request):
    if form == "csc":
        return X.tocsc()
    if form == "dense":
        return X.toarray()
    if form.startswith("blocks"):
        return open_blocks(folder, n_jobs=int(form[-1]))
    if form == "dense-blocks":
        return write_blocks(X.toarray(), tmp_path / "dense", block_bytes=20_000)
    client = request.getfixturevalue("other_client" if form == "dask-other" else "client")
    if form == "dask-array":
        import dask.array

        return dask.array.from_array(X.toarray(), chunks=((200, 60), (N_COLUMNS,)))
    return dask_blocks(delayed_rows(X), client=client)


def as_given(form, y):
    """The labels beside a dask array are one, too."""
    if form != "dask-array":
        return y
    import dask.array

    return dask.array.from_array(y, chunks=100)


def expected(name, form):
    """Whether the pair is worth its time.

    Dense chunks see a measure and a loss, a client that is not the one of this process a measure
    and a search.
    """
    if form == "dask-array":
        return name in ("roc_auc", "regression")
    if form == "dask-other":
        return name in ("f1", "hard-loss")
    return True


def pairs():
    for name in MODELS:
        for form in FORMS:
            if expected(name, form):
                is_slow = name == "sieve" and form.startswith("dask")
                yield pytest.param(name, form, marks=[pytest.mark.slow] if is_slow else [])


@pytest.mark.parametrize(("name", "form"), list(pairs()))
def test_the_same_fit_from_every_form(name, form, data, folder, reference, tmp_path, request):
    X, y = data
    given = in_form(form, X, folder, tmp_path, request)
    wanted, model = reference(name), clone(MODELS[name]).fit(given, as_given(form, y))
    assert_array_equal(model.support_, wanted.support_)
    assert_allclose(model.coef_, wanted.coef_, rtol=1e-7, atol=1e-9)
    if name == "sieve":
        for table in ("mean_test_score", "std_test_score"):
            assert_allclose(model.cv_results_[table], wanted.cv_results_[table], rtol=1e-9)
    else:
        assert_allclose(model.primal_, wanted.primal_, rtol=1e-9)
        assert_allclose(model.dual_, wanted.dual_, rtol=1e-9)
    assert_allclose(model.predict(given), wanted.predict(X), rtol=1e-7, atol=1e-9)
    assert model.score(given, as_given(form, y)) == pytest.approx(wanted.score(X, y), rel=1e-9)
    selected = model.transform(given)
    selected = selected.toarray() if sp.issparse(selected) else selected
    assert_array_equal(selected, X[:, wanted.support_].toarray())


def test_threads_do_not_change_a_bit(data, folder):
    models = [
        MeasureSVC("f1", budget=4).fit(open_blocks(folder, n_jobs=n_jobs), data[1])
        for n_jobs in (1, 2, 3)
    ]
    for model in models[1:]:
        assert_array_equal(model.coef_, models[0].coef_)
        assert_array_equal(model.dual_, models[0].dual_)


@pytest.fixture
def fetched(monkeypatch):
    """The numbers of the columns that are fetched from row blocks, in their order."""
    found, original = [], RowBlocks.working_columns

    def counted(blocks, idx):
        found.extend(idx.tolist())
        return original(blocks, idx)

    monkeypatch.setattr(RowBlocks, "working_columns", counted)
    return found


@pytest.mark.parametrize(
    "model",
    [
        MeasureSVC("f1", n_features_to_select=3),
        BudgetClassifier("hinge", n_features_to_select=3),
    ],
    ids=["f1", "hinge"],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_relaxed_problem_and_refits_share_what_they_fetch(model, seed, fetched, tmp_path):
    """Among many columns each of them wants some that the other has, and some that it has not."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((N_SAMPLES, 200), density=0.1, format="csr", random_state=rng)
    signal = X[:, [3]].toarray() + X[:, [7]].toarray()
    y = signal.ravel() + 0.2 * rng.standard_normal(N_SAMPLES) > 0.4
    model = clone(model).fit(write_blocks(X, tmp_path / "X"), y)
    assert model.l0_gap_[0] < 1.0
    assert len(fetched) > 40
    assert len(fetched) == len(set(fetched))


def test_a_hard_budget_fetches_no_column_twice(data, folder, fetched):
    blocks = open_blocks(folder, n_jobs=1)
    model = MeasureSVC("f1", n_features_to_select=3).fit(blocks, data[1])
    assert model.l0_gap_[0] < 1.0  # the relaxed problem was solved, too
    assert set(model.support_) <= set(fetched)
    assert len(fetched) == len(set(fetched))


def test_certificates_paths_and_frequencies(data, folder):
    X, y = data
    blocks = open_blocks(folder)
    model = MeasureSVC("f1", budget=4).fit(blocks, blocks.labels)
    assert model.certify(blocks, y).dual == pytest.approx(model.dual_[0], rel=1e-9)
    result = solve(blocks, y, loss="hinge", budget=3, intercept_scaling=1.0)
    proof = certify(
        *(blocks, y, result.w, result.dual_point),
        intercept=result.intercept,
        loss="hinge",
        budget=3,
        intercept_scaling=1.0,
    )
    assert proof.gap == pytest.approx(result.gap, rel=1e-6)
    ours, theirs = (budget_path(each, y, [2, 4]) for each in (blocks, X))
    assert_allclose(ours.primal, theirs.primal, rtol=1e-9)
    assert_allclose(ours.decision_function(blocks), theirs.decision_function(X), atol=1e-8)
    chooser = BudgetClassifier(budget=2)
    found = [selection_frequency(chooser, each, y, n_resamples=3) for each in (blocks, X)]
    assert_array_equal(*found)


@pytest.mark.parametrize("measure", ["f1", "accuracy"])
def test_sample_weights(measure, data, folder):
    """Repeated rows are a view that has them twice."""
    X, y = data
    weights = np.random.default_rng(0).integers(0, 3, N_SAMPLES)
    models = [
        MeasureSVC(measure, budget=3).fit(each, y, sample_weight=weights)
        for each in (X, open_blocks(folder))
    ]
    assert_allclose(models[0].primal_, models[1].primal_, rtol=1e-9)
    assert_array_equal(models[0].support_, models[1].support_)


def test_searches_of_scikit_learn(data, folder):
    X, y = data
    blocks, model = open_blocks(folder), BudgetClassifier(budget=3)
    scores = [cross_val_score(model, each, y, cv=2) for each in (X, blocks)]
    assert_allclose(*scores)
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=2).fit(blocks, y)
    assert search.best_score_ == GridSearchCV(model, {"C": [0.1, 1.0]}, cv=2).fit(X, y).best_score_


def test_other_numbers_of_columns_and_rows_are_refused(data, folder, tmp_path):
    X, y = data
    blocks = open_blocks(folder)
    model = BudgetClassifier(budget=3).fit(blocks, y)
    narrow = write_blocks(X[:, :30], tmp_path / "narrow")
    with pytest.raises(ValueError, match="X has 30 features, but BudgetClassifier is expecting 40"):
        model.predict(narrow)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(blocks, y[:-1])
    with pytest.raises(ValueError, match=r"y is None; the labels .* are in X\.labels"):
        model.fit(blocks, None)


@pytest.mark.parametrize("form", [sp.csr_array, np.array])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(value, form, data, tmp_path):
    X, y = data[0].toarray(), data[1]
    X[-1, -1] = value
    blocks = write_blocks(form(X), tmp_path / "X", block_bytes=8000)
    with pytest.raises(ValueError, match="X contains"):
        BudgetClassifier(budget=3).fit(blocks, y)


def test_baselines_take_blocks_or_say_that_they_do_not(data, folder):
    X, y = data
    blocks = open_blocks(folder)
    models = [SVMPerf("f1", C=1.0).fit(each, y) for each in (X, blocks)]
    assert_allclose(models[0].coef_, models[1].coef_, atol=1e-9)
    with pytest.raises(TypeError, match=r"is not made an array.*in memory only"):
        L1SVM().fit(blocks, y)


def test_feature_names_are_those_of_the_folder(data, tmp_path):
    X, y = data
    names = [f"word{j}" for j in range(N_COLUMNS)]
    blocks = write_blocks(X, tmp_path / "X", feature_names=names)
    model = BudgetClassifier(budget=3, always_features=["word5"]).fit(blocks, y)
    assert 5 in model.support_
    assert model.get_feature_names_out()[0].startswith("word")
    model.predict(blocks)
    other = write_blocks(X, tmp_path / "other", feature_names=names[::-1])
    with pytest.raises(ValueError, match=r"column 0 of X is 'word39', but .* 'word0' there"):
        model.predict(other)


@pytest.mark.parametrize(
    ("model", "has_scores"),
    [
        (BudgetClassifier(budget=4), False),
        (BudgetRegressor(budget=4), False),
        (MeasureSVC("f1", budget=4), True),
    ],
    ids=["loss", "regression", "f1"],
)
def test_losses_ask_for_no_scores(model, has_scores, data, client, monkeypatch):
    """What comes to the driver beside sparse columns: vectors of m numbers, and sums."""
    found, gather = [], type(client).gather

    def counted(client, futures, **options):
        results = gather(client, futures, **options)
        several = results if isinstance(results, list) else [results]
        found.extend(np.size(each) for each in several if not sp.issparse(each))
        return results

    monkeypatch.setattr(type(client), "gather", counted)
    blocks = dask_blocks(delayed_rows(data[0]))
    model = clone(model).fit(blocks, data[1])
    assert N_COLUMNS in found
    assert (143 in found) == has_scores  # rows of a block
    if not has_scores:
        assert model.training_score_ == pytest.approx(model.score(data[0], data[1]), rel=1e-12)


@pytest.mark.slow
def test_a_worker_that_dies_in_a_fit_changes_nothing(data, folder, client, reference):
    """Its blocks are made again by the other one, and by the one that takes its place."""
    _, y = data
    for given in (dask_blocks(delayed_rows(data[0])), open_blocks(folder, client=client)):
        killed = []

        def kill(row, killed=killed):
            if row.iteration == 2:
                process = next(iter(client.run(os.getpid).values()))
                os.kill(process, signal.SIGKILL)
                killed.append(process)

        wanted = solve(data[0], y, measure="f1", budget=4, C=3.0, intercept_scaling=1.0, tol=1e-3)
        result = solve(
            *(given, y),
            measure="f1",
            budget=4,
            C=3.0,
            intercept_scaling=1.0,
            tol=1e-3,
            callback=kill,
        )
        assert killed
        assert result.n_iter > 3
        assert result.primal == pytest.approx(wanted.primal, rel=1e-9)
        assert_array_equal(result.support, wanted.support)
        client.wait_for_workers(2, timeout=300)


@pytest.mark.slow
def test_joblib_sends_classes_and_folds_to_the_workers(data, folder, client):
    from joblib import parallel_config

    X, y = data
    classes = y + (X[:, [11]].toarray().ravel() > 0.5)
    blocks = open_blocks(folder, n_jobs=1)
    alone = MeasureSVC("f1", budget=3).fit(X, classes)
    with parallel_config(backend="dask"):
        together = MeasureSVC("f1", budget=3, n_jobs=2).fit(blocks, classes)
        scores = cross_val_score(BudgetClassifier(budget=3), blocks, y, cv=2, n_jobs=2)
    assert_allclose(together.coef_, alone.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(scores, cross_val_score(BudgetClassifier(budget=3), X, y, cv=2))


def test_blocks_of_a_cluster_stay_with_their_client(data, client):
    with pytest.raises(TypeError, match=r"on a cluster cannot be pickled: .*open_blocks\(folder\)"):
        pickle.dumps(dask_blocks(delayed_rows(data[0])))
