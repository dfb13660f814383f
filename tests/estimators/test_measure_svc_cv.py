"""``MeasureSVCCV``: held-out scores, the choice that they lead to, and the final model."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scoresieve import MeasureSVC, MeasureSVCCV
from scoresieve.estimators.selection.choice import choose
from scoresieve.measures import get_measure
from tests.helpers import solve_path

#: At a price that is given: what is chosen, and how, does not depend on the way to the price.
QUICK = {"price": 0.5, "tol": 0.2}
GRID = {"budgets": [3, 1, 8], "Cs": [5.0, 0.5], "cv": 3, **QUICK}


@pytest.fixture(scope="module")
def fitted(binary):
    return MeasureSVCCV(**GRID).fit(*binary)


def split_scores(model):
    """Scores of shape (n_points, n_splits)."""
    columns = [model.cv_results_[f"split{split}_test_score"] for split in range(model.n_splits_)]
    return np.transpose(columns)


def by_cross_val_score(X, y, cv, points, **settings):
    """Every point of the grid fitted alone, in each split, by scikit-learn."""
    return [cross_val_score(MeasureSVC(**settings, **point), X, y, cv=cv) for point in points]


def test_scores_are_those_of_paths_that_never_saw_the_part(binary):
    """The table, written out as a loop over splits, C and the models of ``solve_path``.

    Their prices are found without the part, too.
    """
    X, y = binary
    model = MeasureSVCCV(budgets=[8, 1, 3], Cs=[5.0, 0.5], cv=2, tol=0.2).fit(X, y)
    signs = np.where(y == "yes", 1.0, -1.0)
    expected = {}
    for split, (train, test) in enumerate(StratifiedKFold(2).split(X, y)):
        for C in (0.5, 5.0):
            arguments = {"measure": "f1", "C": C, "tol": 0.2, "intercept_scaling": 1.0}
            path = solve_path(X[train], signs[train], [1, 3, 8], **arguments)
            for budget, result in zip([1, 3, 8], path, strict=True):
                # The threshold of the rows that it was fitted on.
                scores = X[train] @ result.w
                threshold = get_measure("f1").threshold(signs[train], scores, -result.intercept)
                decision = X[test] @ result.w - threshold
                score = f1_score(signs[test], np.where(decision > 0, 1.0, -1.0))
                expected[budget, C, split] = score, result.support.size
    results, scores = model.cv_results_, split_scores(model)
    points = list(zip(results["param_budget"], results["param_C"], strict=True))
    assert points == [(1, 0.5), (1, 5.0), (3, 0.5), (3, 5.0), (8, 0.5), (8, 5.0)]
    for row, point in enumerate(points):
        found = [expected[(*point, split)] for split in range(2)]
        assert_allclose(scores[row], [score for score, _ in found], rtol=1e-12)
        assert results["mean_n_features"][row] == np.mean([size for _, size in found])


def test_the_table_has_the_form_of_a_grid_search(fitted):
    results, scores = fitted.cv_results_, split_scores(fitted)
    table = pytest.importorskip("pandas").DataFrame(results)
    assert len(table) == 6
    assert_allclose(table["mean_test_score"], scores.mean(axis=1))
    assert_allclose(table["std_test_score"], scores.std(axis=1))
    ranks = table["mean_test_score"].rank(method="min", ascending=False)
    assert_array_equal(table["rank_test_score"], ranks)
    assert np.all(table["mean_fit_time"] > 0)
    assert results["params"][3] == {"budget": 3, "C": 5.0}
    assert MeasureSVC(**results["params"][3]).budget == 3
    assert results["rank_test_score"][fitted.best_index_] == 1
    assert fitted.best_params_ == results["params"][fitted.best_index_]
    assert fitted.best_score_ == results["mean_test_score"].max()


def test_a_single_budget_is_a_plain_search(binary):
    X, y = binary
    model = MeasureSVCCV("prbep", budgets=[3], Cs=[0.5, 5.0], cv=2, tol=0.2).fit(X, y)
    points = [{"budget": 3, "C": C} for C in (0.5, 5.0)]
    assert_array_equal(
        split_scores(model), by_cross_val_score(X, y, 2, points, measure="prbep", tol=0.2)
    )


def test_hard_budgets_of_the_papers_solver_are_single_fits(binary):
    X, y = binary[0][:50, :8], binary[1][:50]
    plain = {"solver": "two_layer", "price": 0.5, "tol": 0.1}
    model = MeasureSVCCV(n_features_to_select=[2, 1], Cs=[2.0], cv=2, **plain).fit(X, y)
    points = [{"n_features_to_select": k, "C": 2.0} for k in (1, 2)]
    assert_array_equal(split_scores(model), by_cross_val_score(X, y, 2, points, **plain))
    assert_array_equal(model.cv_results_["param_n_features_to_select"], [1, 2])


def test_hard_budgets_hold_in_every_split(binary):
    """They start from a path, so that they agree with single fits where the choice is clear."""
    X, y = binary
    plain = {"price": 0.5, "tol": 0.05}
    model = MeasureSVCCV(n_features_to_select=[1, 3], Cs=[2.0], cv=2, **plain).fit(X, y)
    points = [{"n_features_to_select": k, "C": 2.0} for k in (1, 3)]
    expected = by_cross_val_score(X, y, 2, points, **plain)
    assert_allclose(split_scores(model), expected, atol=0.06)
    assert np.all(model.cv_results_["mean_n_features"] <= [1, 3])
    assert model.best_params_ == {"n_features_to_select": 3, "C": 2.0}
    assert_array_equal(model.support_, [0, 1, 2])
    assert_array_equal(model.l0_gap_, model.estimator_.l0_gap_)


@pytest.mark.parametrize(("kind", "price"), [("three_classes", "auto"), ("indicators", 0.5)])
def test_one_choice_for_all_classes(kind, price, request):
    X, y = request.getfixturevalue(kind)
    plain = {"price": price, "tol": 0.2}
    model = MeasureSVCCV(budgets=[2], Cs=[0.3, 3.0], cv=2, **plain).fit(X, y)
    points = [{"budget": 2, "C": C} for C in (0.3, 3.0)]
    expected = by_cross_val_score(X, y, 2, points, **plain)
    assert_allclose(split_scores(model), expected, rtol=1e-12)
    assert_array_equal(model.coef_, MeasureSVC(**model.best_params_, **plain).fit(X, y).coef_)
    if kind == "indicators":
        sparse = clone(model).set_params(Cs=[3.0]).fit(X, sp.csr_matrix(y))
        assert_array_equal(split_scores(sparse)[0], split_scores(model)[1])


@pytest.mark.parametrize(("cv", "k_train", "k_test"), [(4, 15, 5), (KFold(10), 18, 2)])
def test_a_number_of_alarms_is_shared_out_over_the_parts(binary, cv, k_train, k_test):
    """20 of 80 rows are 15 of the 60 that train and 5 of the 20 that are held out."""
    X, y = binary
    model = MeasureSVCCV("prec@20", budgets=[3], Cs=[2.0], cv=cv, tol=0.2).fit(X, y)
    assert model.measure_.name == "prec@20"
    splitter = StratifiedKFold(4) if cv == 4 else cv
    expected = []
    for train, test in splitter.split(X, y):
        part = MeasureSVC(f"prec@{k_train}", budget=3, C=2.0, tol=0.2).fit(X[train], y[train])
        highest = test[np.argsort(-part.decision_function(X[test]))[:k_test]]
        expected.append(np.mean(y[highest] == "yes"))
    assert_allclose(split_scores(model)[0], expected)


def test_a_share_of_less_than_one_alarm_is_one(binary):
    X, y = binary
    model = MeasureSVCCV("prec@2", budgets=[2], Cs=[2.0], cv=8, tol=0.2).fit(X, y)
    assert set(split_scores(model)[0]) <= {0.0, 1.0}


def test_no_score_is_of_rows_that_a_selection_has_seen():
    """Labels without any relation to X: perfect in training, chance in every held-out part."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 400)), np.tile([0, 1], 30)
    plain = {"measure": "roc_auc", "tol": 0.1}
    model = MeasureSVCCV(budgets=[5, 20], Cs=[10.0], cv=4, **plain).fit(X, y)
    assert model.score(X, y) == 1.0
    assert_allclose(model.cv_results_["mean_test_score"], 0.5, atol=0.15)
    # The same splits after a selection on all rows: what a leak looks like.
    selected = MeasureSVC(**model.best_params_, **plain).fit(X, y).transform(X)
    leak = cross_val_score(MeasureSVC(budget=20, **plain), selected, y, cv=4)
    assert leak.mean() > 0.8


def test_jobs_do_not_matter(binary, fitted):
    two = MeasureSVCCV(**GRID, n_jobs=2).fit(*binary)
    assert_array_equal(split_scores(two), split_scores(fitted))
    assert_array_equal(two.cv_results_["mean_n_features"], fitted.cv_results_["mean_n_features"])
    assert_array_equal(two.coef_, fitted.coef_)


def test_the_final_model_is_that_of_all_rows(binary, fitted):
    X, y = binary
    plain = MeasureSVC(**fitted.best_params_, **QUICK).fit(X, y)
    assert fitted.C_ == fitted.best_params_["C"] == fitted.estimator_.C
    assert fitted.budget_ == fitted.best_params_["budget"]
    for name in ("coef_", "intercept_", "classes_", "support_", "gap_", "primal_", "n_iter_"):
        assert_array_equal(getattr(fitted, name), getattr(plain, name))
    assert fitted.status_ == plain.status_
    assert fitted.certify(X, y) == plain.certify(X, y)
    assert fitted.score(X, y) == plain.score(X, y)
    assert_array_equal(fitted.predict(X), plain.predict(X))
    assert_array_equal(fitted.decision_function(X), plain.decision_function(X))
    assert_array_equal(fitted.transform(X), X[:, plain.support_])
    assert_array_equal(fitted.get_support(), plain.get_support())
    assert_array_equal(fitted.l0_gap_, [np.nan])


def test_another_fit_leaves_nothing_behind(binary):
    X, y = binary
    model = MeasureSVCCV(n_features_to_select=[2], Cs=[2.0], cv=2, **QUICK).fit(X, y)
    assert model.l0_gap_.shape == (1,)
    assert np.isfinite(model.l0_gap_[0])
    model.set_params(n_features_to_select=None, budgets=[2]).set_output(transform="pandas")
    model.fit(X, y)
    assert_array_equal(model.l0_gap_, [np.nan])
    assert list(model.transform(X).columns) == [f"x{column}" for column in model.support_]


def test_sparsify_and_densify(binary, fitted):
    model = pickle.loads(pickle.dumps(fitted))
    assert model.sparsify() is model
    assert sp.issparse(model.coef_)
    assert sp.issparse(model.estimator_.coef_)
    assert_allclose(model.decision_function(binary[0]), fitted.decision_function(binary[0]))
    assert_array_equal(model.densify().estimator_.coef_, fitted.coef_)


def size_on_parts_that_differ(model, X, y):
    """The more features the better, by less than the difference between the parts."""
    return 0.01 * model.n_features_selected_ + X[0, 0]


def test_one_standard_error_gives_a_smaller_model(binary):
    best, smaller = (
        MeasureSVCCV(**GRID, scoring=size_on_parts_that_differ, refit=refit).fit(*binary)
        for refit in ("best", "1se")
    )
    assert_array_equal(split_scores(smaller), split_scores(best))
    assert smaller.best_index_ == choose(best.cv_results_, "budget", "1se")
    assert smaller.best_params_["budget"] == smaller.estimator_.budget == 1
    assert best.best_params_["budget"] == best.estimator_.budget == 8
    assert smaller.best_score_ == smaller.cv_results_["mean_test_score"][smaller.best_index_]


def test_the_grid(binary):
    X, y = binary
    plain = {"cv": 2, **QUICK}
    model = MeasureSVCCV(Cs=1, excluded_features=list(range(4, 20)), **plain).fit(X, y)
    assert [(p["budget"], p["C"]) for p in model.cv_results_["params"]] == [(2, 1.0), (4, 1.0)]
    model = MeasureSVCCV(budgets=[3, 3], Cs=3, **plain).fit(X, y)
    assert_allclose(model.cv_results_["param_C"], [1.0, 10.0, 100.0])
    assert_array_equal(model.cv_results_["param_budget"], [3, 3, 3])
    with pytest.warns(UserWarning, match=r"budgets up to 90 .* 20 columns") as caught:
        model = MeasureSVCCV(budgets=[30, 90, 2], Cs=[1.0], **plain).fit(X, y)
    assert caught[0].filename == __file__
    assert_array_equal(model.cv_results_["param_budget"], [2, 20])
    groups = np.repeat([0, 1, 2, 3], 5)
    model = MeasureSVCCV(n_features_to_select=[1, 9], Cs=[1.0], feature_groups=groups, **plain).fit(
        X, y
    )
    assert_array_equal(model.cv_results_["param_n_features_to_select"], [1, 4])


def test_scoring_as_in_scikit_learn(binary):
    X, y = binary
    plain = {"budgets": [2], "Cs": [0.5, 5.0], "cv": 2, **QUICK}
    model = MeasureSVCCV(scoring="roc_auc", **plain).fit(X, y)
    expected = [
        cross_val_score(MeasureSVC(budget=2, C=C, **QUICK), X, y, cv=2, scoring="roc_auc")
        for C in (0.5, 5.0)
    ]
    assert_array_equal(split_scores(model), expected)
    assert model.score(X, y) == cross_val_score(
        model.estimator_, X, y, cv=[(np.arange(80), np.arange(80))], scoring="roc_auc"
    )
    fewest = MeasureSVCCV(scoring=lambda model, X, y: -model.n_features_selected_, **plain)
    fewest.fit(X, y)
    assert_array_equal(
        fewest.cv_results_["mean_test_score"], -fewest.cv_results_["mean_n_features"]
    )
    with pytest.raises(ValueError, match="scoring gave nan"):
        MeasureSVCCV(scoring=lambda model, X, y: np.nan, **plain).fit(X, y)
    with pytest.raises(ValueError, match=r"scoring gave \{'a': 1\}"):
        MeasureSVCCV(scoring=lambda model, X, y: {"a": 1}, **plain).fit(X, y)


def test_groups_of_rows_stay_together(binary):
    X, y = binary
    groups = np.arange(80) % 3
    splitter = GroupKFold(3)
    model = MeasureSVCCV(budgets=[2], Cs=[2.0], cv=splitter, **QUICK).fit(X, y, groups=groups)
    expected = cross_val_score(
        MeasureSVC(budget=2, C=2.0, **QUICK), X, y, cv=splitter, groups=groups
    )
    assert model.n_splits_ == 3
    assert_array_equal(split_scores(model)[0], expected)
    masks = [(groups != each, groups == each) for each in range(3)]
    by_mask = MeasureSVCCV(budgets=[2], Cs=[2.0], cv=masks, **QUICK).fit(X, y)
    assert sorted(split_scores(by_mask)[0]) == sorted(expected)


@pytest.mark.parametrize(("measure", "tol"), [("f1", 0.2), ("accuracy", 1e-5), ("prec@30", 0.2)])
def test_weights_are_repetitions_that_stay_together(binary, measure, tol):
    X, y = binary
    weights = np.random.default_rng(0).integers(0, 3, size=80)
    splits = list(StratifiedKFold(2).split(X, y))
    repeated = np.repeat(np.arange(80), weights)
    same = [
        (np.flatnonzero(np.isin(repeated, train)), np.flatnonzero(np.isin(repeated, test)))
        for train, test in splits
    ]
    plain = {"measure": measure, "budgets": [2], "Cs": [0.5], "tol": tol}
    weighted = MeasureSVCCV(**plain, cv=splits).fit(X, y, weights)
    copies = MeasureSVCCV(**plain, cv=same).fit(X[repeated], y[repeated])
    assert_allclose(split_scores(weighted), split_scores(copies), atol=1e-12)
    assert_allclose(weighted.primal_, copies.primal_, rtol=1e-4)
    assert weighted.score(X, y, weights) == pytest.approx(copies.score(X[repeated], y[repeated]))


def test_scorers_get_the_weights(binary):
    X, y = binary
    weights = np.where(y == "yes", 3.0, 1.0)
    plain = {"measure": "accuracy", "budgets": [2], "Cs": [0.5], "tol": 0.1, "cv": 2}
    by_measure = MeasureSVCCV(**plain).fit(X, y, weights)
    by_scorer = MeasureSVCCV(scoring="accuracy", **plain).fit(X, y, weights)
    assert_allclose(split_scores(by_scorer), split_scores(by_measure))
    assert by_scorer.score(X, y, weights) == pytest.approx(by_measure.score(X, y, weights))


def test_fits_that_stop_early_are_summed_up_in_one_warning(binary):
    X, y = binary
    model = MeasureSVCCV(budgets=[1, 3], Cs=[1.0, 50.0], cv=2, tol=1e-6, max_iter=2)
    with pytest.warns(ConvergenceWarning) as caught:
        model.set_params(pos_label="yes").fit(X, y)
    messages = [str(each.message) for each in caught]
    assert len(messages) == 2  # the other one is about the final model
    assert messages[0].startswith(
        "8 of the 8 fits of the cross-validation stopped before tol=1e-06"
    )
    assert "the largest gap is " in messages[0]
    assert messages[1].startswith("class 'yes'")
    assert caught[0].filename == __file__


def test_models_without_features_are_points_of_the_grid(binary):
    """At C = 1e-6 no model has features; its scores are there, and nothing is said of it."""
    model = MeasureSVCCV(budgets=[2], Cs=[1e-6, 2.0], cv=2, tol=0.2).fit(*binary)
    assert model.cv_results_["mean_n_features"][0] == 0.0
    assert model.best_params_ == {"budget": 2, "C": 2.0}
    assert model.cv_results_["mean_test_score"][0] < model.best_score_


def test_progress_goes_to_stderr(binary, capsys):
    model = MeasureSVCCV(budgets=[2], Cs=[1.0, 2.0], cv=2, tol=0.2, verbose=1).fit(*binary)
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.splitlines() if line.startswith("[MeasureSVCCV]")]
    assert [line.split(":")[0] for line in lines] == [
        "[MeasureSVCCV] split 0, C=1",
        "[MeasureSVCCV] split 0, C=2",
        "[MeasureSVCCV] split 1, C=1",
        "[MeasureSVCCV] split 1, C=2",
    ]
    assert len(err.splitlines()) == len(lines) + model.n_iter_[0]


def test_copies_and_pipelines(binary, fitted):
    X, y = binary
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.certify(X, y) == fitted.certify(X, y)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(X)
    plain = {"budgets": [3], "Cs": [2.0], "cv": 2, **QUICK}
    pipeline = make_pipeline(StandardScaler(), MeasureSVCCV(**plain), MeasureSVC(C=2.0, **QUICK))
    assert pipeline.fit(X, y)[-1].n_features_in_ == pipeline[1].n_features_selected_
    nested = cross_val_score(MeasureSVCCV(**plain), sp.csr_matrix(X), y, cv=2)
    assert nested.shape == (2,)
    assert nested.min() > 0.5


def test_data_frames_and_sparse_matrices(binary):
    X, y = binary
    X = np.where(abs(X) > 0.3, X, 0.0)
    names = [f"gene{number}" for number in range(20)]
    frame = pytest.importorskip("pandas").DataFrame(X, columns=names)
    plain = {"n_features_to_select": [2], "Cs": [2.0], "cv": 2, "price": 0.5, "tol": 0.05}
    model = MeasureSVCCV(always_features=["gene19"], **plain).fit(frame, y)
    assert "gene19" in model.get_feature_names_out()
    assert_array_equal(model.feature_names_in_, names)
    assert_array_equal(model.estimator_.feature_names_in_, names)
    by_number = MeasureSVCCV(always_features=[19], **plain).fit(X, y)
    assert_array_equal(split_scores(model), split_scores(by_number))
    for version in (sp.csr_matrix(X), sp.csc_array(X)):
        sparse = MeasureSVCCV(always_features=[19], **plain).fit(version, y)
        assert_allclose(split_scores(sparse), split_scores(by_number), atol=0.1)
        assert sp.issparse(sparse.transform(version))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"refit": True}, "refit must be 'best'.*got True"),
        ({"refit": "1se", "cv": ShuffleSplit(1, random_state=0)}, "at least two splits"),
        ({"budgets": 3}, r"budgets must be a list; got 3\. Put a single value in a list"),
        ({"budgets": []}, "budgets is empty"),
        ({"budgets": [2, 0]}, r"budgets\[1\] must be an integer of at least 1; got 0"),
        ({"n_features_to_select": [1]}, "both given"),
        ({"budgets": None, "n_features_to_select": 4}, "n_features_to_select must be a list"),
        ({"Cs": 0}, "Cs must be an integer of at least 1"),
        ({"Cs": [1.0, -1.0]}, r"Cs\[1\] must be a positive finite number"),
        ({"Cs": [1e200]}, "C must be at most"),
        ({"Cs": 1.5}, "Cs must be a list"),
        ({"scoring": "f3"}, "f3"),
        ({"solver": "magic"}, "solver must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"multi_class_support": "most"}, "multi_class_support must be"),
        ({"measure": "prec@81"}, "only 80 examples"),
        ({"cv": LeaveOneOut()}, r"test part of split 0 holds no .* 'f1' needs positives and neg"),
        ({"cv": [([0, 1, 2], [2, 3])]}, "row 2 is in the training part and in the test part"),
        ({"cv": [([0, 1, 2], [])]}, "test part of split 0 has no rows"),
        ({"cv": iter(())}, "gives no split"),
    ],
)
def test_bad_parameters(binary, change, message):
    with pytest.raises(ValueError, match=message):
        MeasureSVCCV(**({"budgets": [2], "Cs": [1.0]} | change)).fit(*binary)


def test_a_class_that_is_not_in_every_part(binary, three_classes):
    X, y = binary
    rare = np.repeat(["yes", "no"], [2, 78])
    plain = {"budgets": [2], "Cs": [1.0], "tol": 0.2}
    with (
        pytest.warns(UserWarning, match="least populated class in y has only 2 members"),
        pytest.raises(ValueError, match=r"test part of split 2 holds no .* 'yes' \(y has 2\)"),
    ):
        MeasureSVCCV(**plain, cv=5).fit(X, rare)
    with pytest.raises(ValueError, match=r"training part of split 0 holds no .* 'yes' \(y has 2\)"):
        MeasureSVCCV(**plain, cv=KFold(2)).fit(X, rare)
    with pytest.raises(ValueError, match=r"holds no example of a class other than 'yes'"):
        MeasureSVCCV(**plain, cv=[(np.arange(2), np.arange(2, 80))]).fit(X, rare)
    with pytest.raises(ValueError, match="sample_weight is zero for all rows"):
        MeasureSVCCV(**plain).fit(X, y, np.zeros(80))
    # One of three classes that a part does not hold is left out of its mean score.
    X, y = three_classes
    train = np.arange(60)
    test = np.setdiff1d(np.flatnonzero(y != 8), train)
    model = MeasureSVCCV(**plain, cv=[(train, test)]).fit(X, y)
    single = MeasureSVC(budget=2, C=1.0, tol=0.2).fit(X[train], y[train])
    assert model.best_score_ == single.score(X[test], y[test])


def test_leave_one_out_is_possible_where_the_score_is(binary):
    X, y = binary[0][:20, :6], binary[1][:20]
    plain = {"budgets": [2], "Cs": [1.0], "tol": 0.2, "cv": LeaveOneOut()}
    model = MeasureSVCCV("accuracy", **plain).fit(X, y)
    assert set(split_scores(model)[0]) <= {0.0, 1.0}
    scored = MeasureSVCCV("f1", scoring="accuracy", **plain).fit(X, y)
    assert scored.n_splits_ == 20


@pytest.mark.parametrize("form", [{"bound": "paper"}, {"price": 0.3}], ids=str)
@pytest.mark.parametrize("sizes", ["budgets", "n_features_to_select"])
def test_the_bound_and_the_price_are_those_of_every_fit(binary, form, sizes):
    X, y = binary
    model = MeasureSVCCV(**{sizes: [2, 3]}, Cs=[2.0], cv=2, tol=0.2, **form).fit(X, y)
    assert_array_equal(model.price_, [form.get("price", 1.0)])
    assert model.estimator_.get_params() | form == model.estimator_.get_params()
    assert model.certify(X, y).gap == pytest.approx(model.gap_[0], abs=1e-9)
