"""``ScoreSieve``: what is chosen, by which scores, and what the fitted model says."""

from __future__ import annotations

import pickle
import re
import sys
from time import perf_counter, process_time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, LeaveOneOut, StratifiedKFold

from scoresieve import ScoreSieve, load
from scoresieve._checks import check_X
from scoresieve.estimators.sieve import run
from scoresieve.estimators.sieve.cross_fitting import held_out_scores
from scoresieve.estimators.sieve.results import feature_curve
from scoresieve.estimators.sieve.searches import LossSearch
from scoresieve.losses import get_loss
from tests.helpers import selected_by

#: What a number of parts stands for.
SHUFFLED = StratifiedKFold(3, shuffle=True, random_state=0)

QUICK = {"candidates": ["squared_hinge"], "Cs": [1.0], "cv": 3}


def noisy(seed, n_samples=240, n_features=12, noise=0.6, share=0.25):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    signal = X[:, 3] - X[:, 7] + noise * rng.normal(size=n_samples)
    return X, signal > np.quantile(signal, 1.0 - share)


@pytest.fixture(scope="module")
def binary():
    X, y = noisy(0)
    return X, y, ScoreSieve("f1", n_features_to_select=2, Cs=[1.0], cv=3).fit(X, y)


def test_the_columns_that_decide_are_found(binary):
    X, y, model = binary
    assert model.get_support(indices=True).tolist() == [3, 7]
    assert model.transform(X).shape == (240, 2)
    assert model.score(X, y) == pytest.approx(f1_score(y, model.predict(X)))


def test_the_best_row_of_the_table_is_chosen(binary):
    _, _, model = binary
    table = model.cv_results_
    row = table["params"].index(model.best_params_)
    assert model.best_score_ == table["mean_test_score"][row]
    top = int(np.argmax(table["mean_test_score"]))
    allowed = 0.25 * table["std_test_score"][top]
    assert model.best_score_ >= table["mean_test_score"][top] - allowed
    # Three ways to look at one column, the bound, the measure itself, one loss with one C,
    # once since all columns have one scale; nine final models.
    assert len(table["params"]) == (3 + 1 + 1 + 1) * 9


def test_the_score_of_the_table_is_that_of_rows_no_model_has_seen():
    """Fitted by hand, part by part, with the threshold that is best for all parts together."""
    X, y = noisy(1)
    model = ScoreSieve("f1", n_features_to_select=2, **QUICK).fit(X, y)
    labels, unseen = np.where(y, 1.0, -1.0), np.zeros(y.size)
    for train, test in SHUFFLED.split(X, y):
        [[found]] = selected_by(searches(1.0), X[train], labels[train], [2])
        unseen[test] = X[test][:, found.columns] @ found.weights + found.intercept
    own = [point["final_model"] for point in model.cv_results_["params"]].index("own")
    best = max(f1_score(y, unseen > t, zero_division=0) for t in [-np.inf, *unseen])
    assert model.cv_results_["mean_test_score"][own] == pytest.approx(best)


def test_labels_of_held_out_rows_do_not_reach_the_model_that_scores_them():
    X, y = noisy(2)
    labels = np.where(y, 1.0, -1.0)
    train, test = next(iter(StratifiedKFold(3).split(X, y)))
    changed = labels.copy()
    changed[test] = -changed[test]
    [[first]], [[second]] = (
        selected_by(searches(1.0), X[train], each[train], [2]) for each in (labels, changed)
    )
    assert first.columns.tolist() == second.columns.tolist()
    assert np.array_equal(first.weights, second.weights)


def test_fits_without_one_part_are_counted_for_every_number_of_features():
    """Up to the chosen number by the chosen way, above it by the best for the number."""
    X, y = noisy(5, noise=1.5)
    labels, ks = np.where(y, 1.0, -1.0), [1, 2, 6]
    model = ScoreSieve("f1", n_features_to_select=ks, candidates=["squared_hinge"], cv=SHUFFLED)
    model.set_params(Cs=[0.001, 1.0]).fit(X, y)
    (selections,), table = model.fold_selections_, model.cv_results_
    chosen = ks.index(model.best_params_["n_features_to_select"])
    assert selections.n_folds == 3
    assert selections.rows[: chosen + 1].tolist() == [
        smaller.choice.row for smaller in model.smaller_models_[0]
    ]
    assert table["param_n_features_to_select"][selections.rows].tolist() == ks
    of_folds = [
        selected_by(searches(0.001, 1.0), X[train], labels[train], ks)
        for train, _ in SHUFFLED.split(X, y)
    ]
    names = [search.name for search in searches(0.001, 1.0)]
    for at_k, row in enumerate(selections.rows):
        of_size = table["param_n_features_to_select"] == ks[at_k]
        if at_k > chosen:
            top = table["mean_test_score"][of_size].max()
            slack = table["std_test_score"][of_size].max() / 4
            assert table["mean_test_score"][row] >= top - slack
        way = names.index(table["param_selection"][row])
        expected = np.zeros(12, dtype=int)
        for path in of_folds:
            expected[path[way][at_k].columns] += 1
        assert selections.counts[[at_k]].toarray()[0].tolist() == expected.tolist()
    assert chosen < 2  # both kinds of numbers are there
    assert {*selections.counts.data.tolist()} != {3}  # and the fits do not all agree


def searches(*Cs):
    return [LossSearch(get_loss("squared_hinge"), C) for C in Cs]


def test_numbers_of_features_are_chosen_from():
    X, y = noisy(3, noise=0.1)
    model = ScoreSieve("f1", n_features_to_select=[1, 2, 8], **QUICK).fit(X, y)
    assert model.best_params_["n_features_to_select"] == 2
    assert set(model.cv_results_["param_n_features_to_select"]) == {1, 2, 8}


@pytest.mark.parametrize("measure", ["prbep", "prec@30", "rec@2p", "roc_auc", "mcc", "accuracy"])
def test_every_kind_of_measure(measure):
    X, y = noisy(4)
    model = ScoreSieve(measure, n_features_to_select=2, Cs=[1.0], cv=3).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3, 7]
    assert 0.5 < model.best_score_ <= 1.0


def test_classes_and_indicator_matrices():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 10))
    y = np.argmax(X[:, :3] + 0.3 * rng.normal(size=(200, 3)), axis=1)
    model = ScoreSieve("f1", n_features_to_select=3, **QUICK).fit(X, y)
    assert len(model.best_params_) == len(model.cv_results_) == 3
    assert np.mean(model.predict(X) == y) > 0.8
    proba = model.predict_proba(X)
    assert np.allclose(proba.sum(axis=1), 1.0)
    indicator = np.eye(3, dtype=int)[y]
    several = ScoreSieve("f1", n_features_to_select=3, **QUICK).fit(X, indicator)
    assert several.predict(X).shape == (200, 3)


def test_probabilities_are_those_of_the_positive_class(binary):
    X, y, model = binary
    proba = model.predict_proba(X)
    assert np.allclose(proba.sum(axis=1), 1.0)
    assert proba[y, 1].mean() > 0.5 > proba[~y, 1].mean()
    other = ScoreSieve("f1", n_features_to_select=2, pos_label=False, **QUICK).fit(X, y)
    assert other.predict_proba(X)[y, 1].mean() > other.predict_proba(X)[~y, 1].mean()


def test_calibrated_probabilities_are_near_the_shares():
    X, y = noisy(6, n_samples=2000, noise=1.5)
    model = ScoreSieve("f1", n_features_to_select=2, **QUICK).fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)


def test_sparse_equals_dense():
    X, y = noisy(7)
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    dense, by_rows, by_columns = (
        ScoreSieve("f1", n_features_to_select=2, **QUICK).fit(form(X), y)
        for form in (np.asarray, sp.csr_matrix, sp.csc_matrix)
    )
    for model in (by_rows, by_columns):
        assert model.support_.tolist() == dense.support_.tolist()
        assert np.allclose(model.coef_, dense.coef_, rtol=1e-6)


@pytest.mark.parametrize("candidate", ["squared_hinge", "bound"])
def test_whole_weights_are_repeated_rows(candidate):
    X, y = noisy(8, n_samples=120)
    counts = np.tile([1, 2, 0], 40)
    part = np.arange(120) % 4
    rows = np.repeat(np.arange(120), counts)
    splits = [
        [(np.flatnonzero(p != each), np.flatnonzero(p == each)) for each in range(4)]
        for p in (part, part[rows])
    ]
    arguments = QUICK | {"n_features_to_select": 2, "candidates": [candidate]}
    weighted = ScoreSieve("f1", **arguments | {"cv": splits[0]}).fit(X, y, sample_weight=counts)
    repeated = ScoreSieve("f1", **arguments | {"cv": splits[1]}).fit(X[rows], y[rows])
    assert weighted.support_.tolist() == repeated.support_.tolist()
    assert np.allclose(
        weighted.cv_results_["mean_test_score"], repeated.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("measure", ["f1", "average_precision", "prec@10"])
def test_all_candidates_take_whole_weights(measure):
    X, y = noisy(11, n_samples=150)
    X = X * 2.0 ** (np.arange(X.shape[1]) % 5)
    weights = 1 + np.arange(150) % 3
    model = ScoreSieve(measure, n_features_to_select=2, cv=3).fit(X, y, sample_weight=weights)
    assert model.support_.tolist() == [3, 7]


def test_roles_of_columns():
    X, y = noisy(9)
    model = ScoreSieve(
        "f1", n_features_to_select=1, always_features=[0], excluded_features=[3], **QUICK
    ).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 7]


def test_the_number_of_jobs_does_not_matter():
    X, y = noisy(10)
    one, two = (
        ScoreSieve("f1", n_features_to_select=2, n_jobs=n, **QUICK).fit(X, y) for n in (1, 2)
    )
    assert np.array_equal(one.coef_, two.coef_)


def test_a_model_that_comes_back(binary, tmp_path):
    X, _, model = binary
    model.save(tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.best_params_ == model.best_params_
        assert again.summary() == model.summary()


def test_the_summary_names_features_and_score(binary):
    _, _, model = binary
    text = str(model.summary())
    assert "2 of 12 features" in text
    assert f"f1 {model.best_score_:.3f}" in text
    by_weight = sorted((3, 7), key=lambda column: -abs(model.coef_[0, column]))
    weights = [line.split() for line in text.splitlines() if line.startswith("   ")]
    assert [line[1] for line in weights if line[0][0] in "+-"] == [str(j) for j in by_weight]


def test_time_is_that_of_all_jobs_from_the_call_of_fit_on(monkeypatch):
    """Deadlines of the folds come after one another, the last before the end of the fit."""
    X, y = noisy(11)
    seen, start = [], perf_counter()

    def spy(reporter, plan, *arguments):
        seen.append(perf_counter() + plan.limits.deadline.left - start)
        return held_out_scores(reporter, plan, *arguments)

    monkeypatch.setattr(run, "held_out_scores", spy)
    ScoreSieve("f1", n_features_to_select=2, max_time=60.0, **QUICK).fit(X, y)
    assert len(seen) == 4  # the first candidate of the first fold is timed before
    assert seen == sorted(seen)
    assert 10.0 < seen[1] < seen[-1] < 65.0


def test_with_time_all_divisions_are_played():
    """Of small data: five rounds, and the choice is that of a fit without limit."""
    X, y = noisy(11)
    arguments = {"n_features_to_select": 2, "candidates": ["squared_hinge", "correlation"]}
    timed = ScoreSieve("f1", max_time=60.0, **arguments).fit(X, y)
    free = ScoreSieve("f1", **arguments).fit(X, y)
    assert timed.fold_selections_[0].n_folds == free.fold_selections_[0].n_folds == 25
    assert timed.best_params_ == free.best_params_
    assert np.array_equal(timed.coef_, free.coef_)
    assert np.array_equal(timed.cv_results_["mean_test_score"], free.cv_results_["mean_test_score"])


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_without_time_a_single_split_and_candidate_are_left(n_jobs, tmp_path):
    X, y = noisy(11)
    sizes = [1, 2, 4]
    model = ScoreSieve("f1", n_features_to_select=sizes, max_time=1e-3, n_jobs=n_jobs).fit(X, y)
    table = model.cv_results_
    is_scored = ~np.isnan(table["mean_test_score"])
    assert is_scored.sum() == 3
    assert table["param_n_features_to_select"][is_scored].tolist() == sizes
    assert set(table["param_selection"][is_scored]) == {"chi2 (logistic, C=1)"}
    assert set(table["param_final_model"][is_scored]) == {"own"}
    assert table["rank_test_score"][is_scored].max() == 3
    assert model.fold_selections_[0].n_folds == 1
    assert model.score(X, y) > 0.7
    assert "best of 3 settings" in str(model.summary())
    assert feature_curve(table, table["params"].index(model.best_params_)).sizes.tolist() == sizes
    model.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.slow
def test_time_is_kept_on_many_rows():
    """284,807 rows, of which 0.17 % are positive; without a limit it takes minutes."""
    rng = np.random.default_rng(0)
    y = rng.permutation(284_807) < 484
    X = rng.normal(size=(y.size, 30))
    X[:, :10] += y[:, np.newaxis] * np.linspace(0.3, 2.5, 10)
    start = process_time()  # the machine may be busy
    model = ScoreSieve("f1", max_time=10.0).fit(X, y)
    assert process_time() - start < 2.0 * (1.2 * 10.0 + 2.0)
    assert model.best_score_ > 0.8
    assert model.score(X, y) == pytest.approx(model.best_score_, abs=0.05)


def test_a_fit_that_is_interrupted_leaves_the_model_before_it(monkeypatch):
    X, y = noisy(16)
    model = ScoreSieve("f1", n_features_to_select=2, **QUICK).fit(X, y)
    before, decision = dict(vars(model)), model.decision_function(X)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "held_out_scores", interrupted)
    fresh = clone(model)
    for each in (model, fresh):
        with pytest.raises(KeyboardInterrupt):
            each.fit(X[:, :5], y)
    assert vars(model) == before
    assert np.array_equal(model.decision_function(X), decision)
    assert vars(fresh) == vars(clone(model))


def test_progress_goes_to_stderr(capsys):
    X, y = noisy(17)
    ScoreSieve("f1", n_features_to_select=2, verbose=1, **QUICK).fit(X, y)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert [line.split(":")[0] for line in lines] == [
        *(f"[ScoreSieve] class True, split {number}" for number in range(3)),
        "[ScoreSieve] choice",
    ]
    assert "9 settings" in lines[0]
    assert "class True: 2 columns by squared_hinge, C=1, cross-validated f1 0." in lines[-1]


@pytest.mark.filterwarnings("ignore:.*no better than predicting a constant")
def test_no_score_is_of_rows_that_a_selection_has_seen():
    """Labels without any relation to X: perfect in training, chance on rows that are held out."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 400)), np.tile([0, 1], 30)
    model = ScoreSieve("roc_auc", n_features_to_select=20, **QUICK).fit(X, y)
    assert model.score(X, y) > 0.95
    assert np.all(np.abs(model.cv_results_["mean_test_score"] - 0.5) < 0.2)


def test_groups_of_rows_stay_together():
    X, y = noisy(18)
    groups = np.arange(240) % 6
    arguments = QUICK | {"n_features_to_select": 2}
    by_groups = ScoreSieve("f1", **arguments | {"cv": GroupKFold(3)}).fit(X, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    by_hand = ScoreSieve("f1", **arguments | {"cv": splits}).fit(X, y)
    assert np.array_equal(by_groups.coef_, by_hand.coef_)
    assert by_groups.best_score_ == by_hand.best_score_


def test_a_number_of_alarms_is_about_rows_as_often_as_they_count():
    X, y = noisy(19, n_samples=60)
    arguments = QUICK | {"n_features_to_select": 2}
    model = ScoreSieve("prec@80", **arguments).fit(X, y, sample_weight=np.full(60, 2))
    assert model.measure_.name == "prec@80"
    with pytest.raises(ValueError, match="only 60 examples"):
        ScoreSieve("prec@80", **arguments).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*no better than predicting a constant")
def test_a_row_may_be_a_part():
    X, y = noisy(20, n_samples=24)
    model = ScoreSieve("f1", n_features_to_select=1, **QUICK | {"cv": LeaveOneOut()}).fit(X, y)
    assert 0.0 < model.best_score_ <= 1.0


def test_no_time_still_gives_a_model():
    X, y = noisy(11)
    model = ScoreSieve("f1", n_features_to_select=2, max_time=1e-9, **QUICK).fit(X, y)
    assert model.n_features_selected_ == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"n_features_to_select": []}, "n_features_to_select is empty"),
        ({"candidates": ["squared"]}, "squared"),
        ({"candidates": []}, "candidates is empty"),
        ({"Cs": []}, "Cs is empty"),
        ({"Cs": [-1.0]}, r"Cs\[0\] must be a positive finite number; got -1.0"),
        ({"max_time": "soon"}, "max_time must be a positive finite number; got 'soon'"),
        ({"measure": "prec@61"}, "only 60 examples"),
        ({"multi_class_support": "sum"}, "multi_class_support"),
        ({"cv": [(np.arange(10), np.arange(10, 20))]}, "is held out in no split"),
    ],
)
def test_wrong_parameters_are_refused_by_name(parameters, message):
    X, y = noisy(12, n_samples=60)
    with pytest.raises(ValueError, match=message):
        ScoreSieve(**QUICK | {"n_features_to_select": 2} | parameters).fit(X, y)


def test_weights_that_the_measure_does_not_take_are_refused_before_any_fit(monkeypatch):
    X, y = noisy(13, n_samples=60)
    monkeypatch.setattr(run, "held_out_scores", None)
    model = ScoreSieve("f1", n_features_to_select=2, **QUICK)
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is 0.5, but f1 takes whole weights"):
        model.fit(X, y, sample_weight=np.full(60, 0.5))
    with pytest.raises(ValueError, match="sample_weight is zero for all rows"):
        model.fit(X, y, sample_weight=np.zeros(60))


def test_where_a_certificate_is(binary):
    X, y, model = binary
    told = (
        "ScoreSieve has no certificate; MeasureSVC has one: fit MeasureSVC('f1', "
        "n_features_to_select=10) on the same data, then call its certify."
    )
    with pytest.raises(AttributeError, match=f"^{re.escape(told)}$"):
        model.certify(X, y)
    assert not hasattr(model, "certify")


def test_auto_is_the_default_number_of_features():
    X, y = noisy(21, n_samples=60)
    auto, none = (
        ScoreSieve("f1", n_features_to_select=k, **QUICK).fit(X, y) for k in ("auto", None)
    )
    assert auto.best_params_ == none.best_params_
    assert np.array_equal(auto.coef_, none.coef_)


def test_a_clone_has_the_same_parameters(binary):
    _, _, model = binary
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_the_columns_does_not_matter(scale):
    X, y = noisy(3)
    one, other = (ScoreSieve("f1", n_features_to_select=2).fit(s * X, y) for s in (1e4, scale))
    assert one.support_.tolist() == other.support_.tolist()
    # Half a standard error: the constant column has a unit of its own.
    assert one.best_score_ == pytest.approx(other.best_score_, abs=0.03)


def test_given_Cs_are_taken_as_they_are():
    X, y = noisy(3)
    model = ScoreSieve("f1", n_features_to_select=2, Cs=[0.5], candidates=["logistic"])
    assert {point["C"] for point in model.fit(1e6 * X, y).cv_results_["params"]} == {0.5}


def test_the_measure_itself_as_the_only_candidate():
    X, y = noisy(3)
    options = {"n_features_to_select": [1, 2], "candidates": ["coordinate_ascent"], "cv": 3}
    model = ScoreSieve("f1", **options).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3, 7]
    selections = {point["selection"] for point in model.cv_results_["params"]}
    assert selections == {"coordinate_ascent"}
    assert {point["C"] for point in model.cv_results_["params"]} == {None}
    assert "features: coordinate_ascent" in " ".join(str(model.summary()).split())


def test_the_summary_names_columns_as_told(binary):
    _, _, model = binary
    names = [f"word{j}" for j in range(model.n_features_in_)]
    for column in model.support_:
        assert f"word{column}" in str(model.summary(names))
    with pytest.raises(ValueError, match=r"feature_names has shape \(1,\).*one name for each"):
        model.summary(["word"])


def test_alarms_are_probabilities_above_the_threshold(binary):
    X, _, model = binary
    alarms = model.predict_proba(X)[:, 1] > model.thresholds_[0]
    assert alarms.any()
    assert model.predict(X).astype(bool).tolist() == alarms.tolist()


def test_X_is_checked_once_however_many_fits_there_are(monkeypatch):
    X, y = noisy(21)
    checked = []

    def counting(design, **options):
        checked.append((design.n_samples, design.n_columns))
        check_X(design, **options)

    for name, module in list(sys.modules.items()):
        if name.startswith("scoresieve") and hasattr(module, "check_X"):
            monkeypatch.setattr(module, "check_X", counting)
    weights = np.tile([1, 2, 0], 80)
    for options in ({}, {"sample_weight": weights}):
        ScoreSieve("f1", cv=5).fit(X, y, **options)
        assert checked == [(240, 12)]
        checked.clear()


def test_a_class_of_few_rows_is_told_of_once(recwarn):
    X, _ = noisy(22, n_samples=60)
    y = np.where(np.arange(60) < 3, "rare", "other")
    options = {"candidates": ["correlation"], "n_features_to_select": 1, "pos_label": "rare"}
    ScoreSieve("f1", **options).fit(X, y)
    [told] = recwarn
    assert str(told.message) == (
        "class 'rare' has 3 rows, fewer than the 5 folds of cv: some folds hold none, which makes "
        "its scores imprecise. Pass cv=3, or add rows of the class."
    )
    assert told.filename == __file__
    recwarn.clear()
    ScoreSieve("f1", cv=3, **options).fit(X, y)
    assert not list(recwarn)
