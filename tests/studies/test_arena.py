"""The arena: selectors give exactly k columns, choices see held-out scores only, runs go on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.svm import LinearSVC

from scoresieve import get_measure
from scoresieve.baselines import SVMRFE
from studies.common.data import DataFolder, Split
from studies.common.storing import Store
from studies.common.thresholds import best_threshold
from studies.quality.arena import cells, cli, known_support, outsiders, sets
from studies.quality.arena.crossfit import choose, parts_of, refit, refit_candidates, select_all
from studies.quality.arena.filters import N_BINS, information
from studies.quality.arena.methods import ALL_FEATURES, METHODS, Method
from studies.quality.arena.packed import pack, unpack
from studies.quality.arena.picks import Pick
from studies.quality.arena.refits import LOSSES, balanced, fit_path, merge_rows
from studies.quality.arena.sets import Task
from studies.quality.arena.stability import resample
from studies.quality.quiet import quiet_thread

KS = (3, 8, 5)


def make_task(X, y, n_train):
    by_column = X.tocsc() if sparse.issparse(X) else X
    train, test = slice(n_train), slice(n_train, None)
    parts = (X[train], y[train], X[test], y[test], by_column[train], by_column[test])
    return Task("words", 1, *parts)


def make_words(rng, n_samples):
    """Rows of 60 rare words, six of which tell the class."""
    X = rng.random((n_samples, 60)) * (rng.random((n_samples, 60)) < 0.2)
    signal = X[:, :6].sum(axis=1) + 0.2 * rng.normal(size=n_samples)
    return X, np.where(signal > np.quantile(signal, 0.75), 1.0, -1.0)


@pytest.fixture(scope="module")
def words():
    X, y = make_words(np.random.default_rng(0), 300)
    return make_task(sparse.csr_matrix(X), y, 200)


@pytest.fixture(scope="module")
def dense(words):
    X = np.vstack([words.X.toarray(), words.X_test.toarray()])
    return make_task(X, np.append(words.y, words.y_test), 200)


@pytest.mark.parametrize("name", [name for name in METHODS if name != ALL_FEATURES])
def test_a_selector_gives_exactly_k_columns(name, words, dense, monkeypatch):
    monkeypatch.setattr(outsiders, "N_TREES", 20)
    method = METHODS[name]
    task = words if method.can_run(words.X) else dense
    ks = (3,) if method.main_ks_only else KS
    with quiet_thread():
        picks = method.select(task.X, task.y, ks, method.settings[0], "f1")
    assert [pick.columns.size for pick in picks] == list(ks)
    for pick in picks:
        assert np.all(np.diff(pick.columns) > 0)
        block = pick.block(task.test_by_column)
        assert isinstance(block, np.ndarray)
        assert pick.own is None or pick.own(block).shape == task.y_test.shape
    found = np.isin(picks[0].columns, np.arange(6)).sum()
    assert found == 3


def test_all_features_have_an_own_model_only(words):
    method = METHODS[ALL_FEATURES]
    (pick,) = method.select(words.X, words.y, [0], method.settings[0], "f1")
    assert pick.columns is None
    assert pick.own(pick.block(words.test_by_column)).shape == words.y_test.shape


@pytest.mark.parametrize("weight", [None, "balanced"])
def test_one_elimination_serves_all_k(words, weight):
    picks = outsiders.by_rfe(weight, words.X, words.y, KS, 1.0, "f1")
    for k, pick in zip(KS, picks, strict=True):
        alone = SVMRFE(n_features_to_select=k, class_weight=weight, tol=outsiders.RFE_TOL)
        alone.fit(words.X, words.y)
        np.testing.assert_array_equal(pick.columns, alone.support_)
        np.testing.assert_allclose(
            pick.own(pick.block(words.by_column)), alone.decision_function(words.X), rtol=1e-6
        )


@pytest.mark.parametrize("make", [outsiders.l1_svm, outsiders.l1_logistic])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_l1_paths_begin_without_features(words, make, weight):
    first = outsiders.smallest_C(words.X, words.y, weight)
    assert not np.any(make(first, weight).fit(words.X, words.y).coef_)
    with quiet_thread():
        (pick,) = outsiders.by_l1(make, weight, words.X, words.y, [60], None, "f1")
    assert 30 < pick.columns.size <= 60  # all that have a weight at the last C, if not 60


def test_information_is_that_of_the_tables(words, dense):
    present = words.X.toarray() > 0
    expected = [mutual_info_score(column, words.y) for column in present.T]
    np.testing.assert_allclose(information(words.X, words.y), expected, atol=1e-12)
    X = dense.X + np.random.default_rng(1).normal(size=dense.X.shape)
    edges = np.quantile(X, np.arange(1, N_BINS) / N_BINS, axis=0)
    bins = (edges[:, None] < X).sum(axis=0)
    expected = [mutual_info_score(column, dense.y) for column in bins.T]
    np.testing.assert_allclose(information(X, dense.y), expected, atol=1e-12)


@pytest.mark.parametrize("n_columns", [3, 40])
@pytest.mark.parametrize("weight", [None, "balanced"])
@pytest.mark.parametrize("loss", LOSSES)
def test_refits_are_those_of_scikit_learn(dense, loss, weight, n_columns):
    block, y, Cs = dense.X[:, :n_columns], dense.y, (0.1, 10.0)
    rows = merge_rows(block, y)
    assert rows.Z.shape[0] == 2 + np.sum(np.any(block, axis=1))
    models = fit_path(balanced(rows) if weight else rows, LOSSES[loss], Cs)
    for C, model in zip(Cs, models, strict=True):
        if loss == "logistic":
            other = LogisticRegression(C=C, class_weight=weight, tol=1e-8, max_iter=5000)
        else:
            # liblinear regularises the intercept; a large constant column leaves it free.
            other = LinearSVC(
                C=C, class_weight=weight, intercept_scaling=1e3, tol=1e-9, max_iter=100_000
            )
            other.set_params(dual=False)
        expected = other.fit(block, y).decision_function(block)
        np.testing.assert_allclose(model(block), expected, atol=5e-3)


def test_a_refit_without_columns_has_an_intercept(dense):
    model = refit(np.zeros((200, 0)), dense.y, [0])[0][-1]
    share = np.mean(dense.y > 0)
    assert model.intercept == pytest.approx(np.log(share / (1 - share)), abs=1e-3)


def memorise(X, y, ks, setting, target):
    """A selector whose own model knows the rows that it has seen, and nothing else."""
    known = {row.tobytes() for row in X[y > 0]}
    own = lambda block: np.array([float(row.tobytes() in known) for row in block])  # noqa: E731
    return [Pick(np.arange(X.shape[1]), own) for _ in ks]


def test_own_models_are_judged_by_rows_they_have_not_seen(dense):
    unit = cells.Unit("words", 1, "memory", (60,), "f1", 5)
    method = Method(memorise, one_run=True, has_refit=False)
    (row,) = cells.cells(dense, method, unit)
    nothing = get_measure("f1").score(dense.y, np.ones(dense.y.size))
    assert row["cv"] == pytest.approx(100.0 * nothing)
    assert row["form"] == "own"
    assert row["n_features"] == 60


def test_columns_are_selected_inside_the_parts():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 3000)), np.where(np.arange(80) < 20, 1.0, -1.0)
    task = make_task(X, y, 80)
    parts = parts_of(y, 5)
    honest = select_all(task, METHODS["ANOVA F"], (10,), "f1", parts)
    seen = [honest[0].of_all for _ in parts]
    dishonest = [type(honest[0])(seen, honest[0].of_all, None, 0.0, 0.0)]
    scores = [
        choose(refit_candidates(task, each, 0, parts), y, "f1").score
        for each in (honest, dishonest)
    ]
    assert scores[0] < 0.6 < 0.8 < scores[1]


def test_the_threshold_is_that_of_cross_fitted_scores(words):
    parts = parts_of(words.y, 4)
    assert sorted(np.concatenate([held for _, held in parts])) == list(range(200))
    selections = select_all(words, METHODS["chi2"], (5,), "f1", parts)
    candidates = refit_candidates(words, selections, 0, parts)
    assert len(candidates) == 16
    first = candidates[0]
    for learned, held in parts:
        pick = METHODS["chi2"].select(words.X[learned], words.y[learned], (5,), None, "f1")[0]
        block = pick.block(words.by_column)
        model = refit(block[learned], words.y[learned])[0][0]
        np.testing.assert_array_equal(first.scores[held], model(block[held]))
    best = choose(candidates, words.y, "f1")
    assert best.threshold == best_threshold(words.y, best.candidate.scores)
    f1 = get_measure("f1")
    all_scores = [
        f1.score(words.y, c.scores - best_threshold(words.y, c.scores)) for c in candidates
    ]
    assert best.score == max(all_scores)
    row = cells.chosen_row(words, candidates, "f1")
    test = best.candidate.test() - best.threshold
    assert row["f1"] == 100.0 * f1.score(words.y_test, test)
    assert row["support"] == " ".join(map(str, best.candidate.pick.columns))


def test_generated_labels_come_from_the_true_columns(monkeypatch):
    monkeypatch.setattr(known_support, "N_FEATURES", 200)
    split = known_support.make_split()
    assert split.X.shape == split.X_test.shape == (2000, 200)
    np.testing.assert_allclose((split.y > 0).mean(axis=0), 0.05, atol=0.01)
    for level in range(2):
        columns = known_support.true_columns(level)
        correlations = np.abs(split.X.T @ (split.y[:, level] > 0))
        assert np.isin(np.argsort(-correlations)[:10], columns).sum() >= 9


def test_small_sets_are_split_again_into_parts_of_the_same_sizes():
    rows = np.arange(10.0).reshape(-1, 1)
    y = np.arange(10)
    split = Split(sparse.csr_matrix(rows[:6]), y[:6], sparse.csr_matrix(rows[6:]), y[6:])
    assert sets.split_again(split, 0) is split
    one, other = (sets.split_again(split, number) for number in (1, 2))
    for again in (one, other):
        np.testing.assert_array_equal(np.sort(np.r_[again.y, again.y_test]), y)
        np.testing.assert_array_equal(again.X.toarray().ravel(), again.y)
        assert again.y.size == 6
    assert set(one.y) != set(other.y)


@pytest.fixture
def small_sets(monkeypatch):
    """Two sets of generated words."""
    X, y = make_words(np.random.default_rng(3), 240)
    split = Split(sparse.csr_matrix(X[:160]), y[:160], sparse.csr_matrix(X[160:]), y[160:])
    monkeypatch.setattr(cli, "SETS", {"reuters120": None, "dexter": None})
    monkeypatch.setattr(sets, "N_SPLITS", {"dexter": 1})
    monkeypatch.setattr(sets, "SETS", dict.fromkeys(("reuters120", "dexter"), lambda *_: split))
    sets.load_set.cache_clear()
    yield
    sets.load_set.cache_clear()


OPTIONS = [
    *("--sets", "reuters120", "dexter", "--methods", "chi2", "SVM-RFE", "FGM", "FSMulti"),
    *("--ks", "3", "10", "--folds", "3", "--reference", "SVM-RFE", "--no-stability"),
]


@pytest.mark.slow
def test_a_run_goes_on_where_it_was(small_sets, tmp_path, capsys, monkeypatch):
    for name in ("FGM", "FSMulti"):  # which take long
        quick = replace(METHODS[name], select=METHODS["ANOVA F"].select)
        monkeypatch.setitem(METHODS, name, quick)
    played = []
    original = cli.play
    monkeypatch.setattr(cli, "play", lambda *args: played.append(args[1]) or original(*args))
    options = [*OPTIONS, "--state", str(tmp_path / "state.jsonl"), "--data", str(tmp_path)]
    cli.main([*options, "--methods", "chi2"])
    assert [unit.ks for unit in played] == [(3, 10)] * 2
    capsys.readouterr()
    cli.main([*options, "--figure", str(tmp_path / "ranks.png")])
    # In each set all k at once but for FGM; for other measures FSMulti on one set with k = 10.
    assert len(played) == 2 * (1 + 1 + 2 + 1) + 2
    text = capsys.readouterr().out
    assert "| SVM-RFE " in text
    assert "### Claims, for SVM-RFE" in text
    assert (tmp_path / "ranks.png").stat().st_size > 10_000
    cli.main([*options, "--stored"])
    assert len(played) == 12
    assert capsys.readouterr().out == text
    cli.main([*options, "--again", "chi2"])
    assert [unit.method for unit in played[12:]] == ["chi2", "chi2"]


def test_what_was_played_comes_back_without_supports(tmp_path):
    state, cells, again = (tmp_path / name for name in ("state.jsonl", "cells.xz", "again.jsonl"))
    row = {"kind": "cell", "method": "chi2", "f1": 51.23456, "k": 5, "support": "1 2 3"}
    store = Store(state)
    for key in ('["b", [null]]', '["a", 2]'):
        store.append(key, [row], 1.5, [])
    pack(state, cells)
    unpack(cells, again)
    found = Store(again)
    assert list(found.lines) == ['["a", 2]', '["b", [null]]']
    assert found.result('["a", 2]') == [{"kind": "cell", "method": "chi2", "f1": 51.235, "k": 5}]
    unpack(cells, state)
    assert Store(state).result('["a", 2]') == [row]


def test_packed_cells_need_a_state_file(capsys):
    for options in (["--played"], ["--pack", "cells.xz"]):
        with pytest.raises(SystemExit):
            cli.parse(options)
        assert "give --state FILE" in capsys.readouterr().err


def test_the_order_of_work():
    args = cli.parse(["--sets", "reuters120", "--methods", "FGM", "chi2", "FSMulti"])
    units = sorted(cli.units_of(args, "reuters120", [7]), key=cli.stage)
    done = [(unit.method, unit.ks, unit.target) for unit in units]
    assert done[:2] == [("FGM", (10,), "f1"), ("FGM", (50,), "f1")]
    assert done[2:4] == [("chi2", cli.KS, "f1"), ("FSMulti", cli.KS, "f1")]
    assert done[4] == ("FSMulti", (10, 50), "prbep")
    assert [ks for _, ks, _ in done[-3:]] == [(5,), (20,), (100,)]
    assert cli.spread(range(6)) == [0, 4, 1, 5, 2, 3]


def test_stability_of_half_samples(small_sets, tmp_path):
    unit = cells.Unit("dexter", 1, "chi2", (3, 10), "f1", 3)
    rows = resample(DataFolder(tmp_path), unit)
    assert [row["k"] for row in rows] == [3, 10]
    for row in rows:
        assert 0.2 < row["jaccard"] <= 1.0
        assert -0.1 < row["kuncheva"] <= 1.0


def test_a_rival_that_fails_does_not_stop_the_others(small_sets, monkeypatch, tmp_path):
    def fail(*args):
        raise FloatingPointError("no luck")

    monkeypatch.setitem(METHODS, "chi2", Method(fail))
    unit = cells.Unit("dexter", 1, "chi2", (3,), "f1", 3)
    (row,) = cells.play(DataFolder(tmp_path), unit)
    assert row["kind"] == "failure"
    assert "no luck" in row["text"]
