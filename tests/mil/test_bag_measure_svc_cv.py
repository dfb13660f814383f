"""``BagMeasureSVCCV``: no held-out instance is a prototype, the table, the choice, the model."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score

from scoresieve.mil import BagMeasureSVC, BagMeasureSVCCV, MILESEmbedding
from scoresieve.mil.bags import as_bags

#: At a price that is given: what is chosen, and how, does not depend on the way to the price.
QUICK = {"price": 0.5, "tol": 0.2}
GRID = {
    "sigmas": ["0.5*median", 2.0],
    "n_instances_to_select": [2, 1],
    "Cs": [5.0, 0.5],
    "cv": 3,
    **QUICK,
}


@pytest.fixture(scope="module")
def fitted(bags, binary):
    return BagMeasureSVCCV(**GRID).fit(bags, binary)


def split_scores(model):
    """Scores of shape (n_points, n_splits)."""
    columns = [model.cv_results_[f"split{split}_test_score"] for split in range(model.n_splits_)]
    return np.transpose(columns)


def by_cross_val_score(bags, y, cv, points, **settings):
    """Every point of the grid as a whole model of bags, by scikit-learn."""
    return [cross_val_score(BagMeasureSVC(**settings, **point), bags, y, cv=cv) for point in points]


@pytest.mark.parametrize(
    ("kind", "price"), [("binary", "auto"), ("three_classes", 0.5), ("indicators", 0.5)]
)
def test_scores_are_those_of_whole_models_in_each_split(bags, kind, price, request):
    """One budget, so that a path is a single fit: equal to models that embed training bags only."""
    y = request.getfixturevalue(kind)
    plain = {"price": price, "tol": 0.2}
    model = BagMeasureSVCCV(sigmas=["median", 1.0], budgets=[2], Cs=[1.0, 8.0], cv=3, **plain)
    model.fit(bags, y)
    points = [{"sigma": s, "budget": 2, "C": C} for s in ("median", 1.0) for C in (1.0, 8.0)]
    assert [point | {"budget": 2} for point in model.cv_results_["params"]] == points
    expected = by_cross_val_score(bags, y, 3, points, **plain)
    assert_allclose(split_scores(model), expected, rtol=1e-12)
    single = BagMeasureSVC(**model.best_params_, **plain).fit(bags, y)
    assert_array_equal(model.coef_, single.coef_)
    assert_array_equal(model.decision_function(bags), single.decision_function(bags))


def test_no_held_out_instance_is_seen_before_the_score(bags, binary, monkeypatch):
    seen = []
    fit = MILESEmbedding.fit

    def spy(self, part, y=None):
        seen.append(as_bags(part).names.tolist())
        return fit(self, part, y)

    monkeypatch.setattr(MILESEmbedding, "fit", spy)
    BagMeasureSVCCV(**GRID).fit(bags, binary)
    parts = [train.tolist() for train, _ in StratifiedKFold(3).split(bags, binary)]
    assert seen == [*parts, *parts, list(range(48))]


def test_the_table_has_the_form_of_a_grid_search(fitted):
    results, scores = fitted.cv_results_, split_scores(fitted)
    table = pytest.importorskip("pandas").DataFrame(results)
    assert len(table) == 8
    assert table["param_sigma"].tolist() == ["0.5*median"] * 4 + [2.0] * 4
    assert_array_equal(table["param_n_instances_to_select"], [1, 1, 2, 2] * 2)
    assert_array_equal(table["param_C"], [0.5, 5.0] * 4)
    assert_allclose(table["mean_test_score"], scores.mean(axis=1))
    assert_allclose(table["std_test_score"], scores.std(axis=1))
    ranks = table["mean_test_score"].rank(method="min", ascending=False)
    assert_array_equal(table["rank_test_score"], ranks)
    assert np.all(table["mean_n_instances"] <= table["param_n_instances_to_select"])
    assert results["params"][5] == {"sigma": 2.0, "n_instances_to_select": 1, "C": 5.0}
    assert results["rank_test_score"][fitted.best_index_] == 1
    assert fitted.best_params_ == results["params"][fitted.best_index_]
    assert fitted.best_score_ == results["mean_test_score"].max()
    assert fitted.best_params_["C"] == fitted.C_


def test_the_final_model_is_that_of_the_chosen_point(bags, binary, fitted):
    plain = BagMeasureSVC(**fitted.best_params_, **QUICK).fit(bags, binary)
    assert_array_equal(fitted.predict(bags), plain.predict(bags))
    assert fitted.score(bags, binary) == plain.score(bags, binary) > 0.9
    assert_array_equal(fitted.instance_scores(bags[0]), plain.instance_scores(bags[0]))
    assert fitted.certify(bags, binary).primal == pytest.approx(plain.primal_[0])
    assert [key.bag for key in fitted.key_instances_] == [key.bag for key in plain.key_instances_]
    assert fitted.embedding_.sigma_ == plain.embedding_.sigma_


def size_on_parts_that_differ(model, X, y):
    """The more columns of the embedding the better, by less than what the parts differ by."""
    return 1e-6 * model.n_features_selected_ + X[0, 0]


def test_the_rule_of_one_standard_error(bags, binary, fitted):
    """Of all points within one standard error of the best, the smallest number of instances."""
    model = clone(fitted).set_params(refit="1se", scoring=size_on_parts_that_differ)
    model.fit(bags, binary)
    results, scores = model.cv_results_, split_scores(model)
    best = np.argmax(results["mean_test_score"])
    assert results["param_n_instances_to_select"][best] == 2
    error = np.std(scores[best], ddof=1) / np.sqrt(3)
    near = results["mean_test_score"] >= results["mean_test_score"][best] - error
    smallest = results["param_n_instances_to_select"][near].min()
    assert model.best_params_["n_instances_to_select"] == smallest == 1
    same = near & (results["param_n_instances_to_select"] == smallest)
    assert model.best_score_ == results["mean_test_score"][same].max()


def test_two_jobs_give_the_same_bits(bags, binary, fitted):
    model = clone(fitted).set_params(n_jobs=2).fit(bags, binary)
    assert_array_equal(split_scores(model), split_scores(fitted))
    assert_array_equal(model.coef_, fitted.coef_)
    assert_array_equal(model.key_instances_[0].vector, fitted.key_instances_[0].vector)


@pytest.mark.parametrize("sparse", [False, True])
def test_formats(bags, binary, sparse):
    grid = {"sigmas": [1.5], "budgets": [2], "Cs": [5.0], "cv": 2, **QUICK}
    other = [sp.csr_array(bag) for bag in bags] if sparse else as_bags(bags)
    model, same = BagMeasureSVCCV(**grid).fit(other, binary), BagMeasureSVCCV(**grid)
    assert_allclose(split_scores(model), split_scores(same.fit(bags, binary)), atol=1e-9)
    assert_allclose(model.decision_function(other), same.decision_function(bags), atol=1e-4)


def test_sparse_indicators(bags, indicators):
    grid = GRID | {"sigmas": [1.5], "Cs": [5.0]}
    model = BagMeasureSVCCV(**grid).fit(bags, indicators)
    sparse = BagMeasureSVCCV(**grid).fit(bags, sp.csr_array(indicators))
    assert_array_equal(split_scores(sparse), split_scores(model))
    assert model.predict(bags).shape == (48, 2)


def test_scoring_chooses(bags, binary, fitted):
    model = clone(fitted).set_params(scoring="accuracy").fit(bags, binary)
    points = model.cv_results_["params"][:1]
    expected = [
        accuracy_score(
            binary[test],
            BagMeasureSVC(**points[0], **QUICK)
            .fit(as_bags(bags)[train], binary[train])
            .predict(as_bags(bags)[test]),
        )
        for train, test in StratifiedKFold(3).split(bags, binary)
    ]
    assert_allclose(split_scores(model)[0], expected, atol=0.07)
    assert model.score(bags, binary) == accuracy_score(binary, model.predict(bags))


def test_weights_and_groups(bags, binary, fitted):
    weights = np.ones(48)
    weights[:6] = 0
    small = {"sigmas": [1.5], "Cs": [5.0]}
    fitted = clone(fitted).set_params(**small).fit(bags, binary, weights)
    assert not {key.bag for key in fitted.key_instances_} & set(range(6))
    groups = np.arange(48) // 4
    grouped = clone(fitted).set_params(cv=GroupKFold(3)).fit(bags, binary, groups=groups)
    cv = list(GroupKFold(3).split(bags, binary, groups))
    listed = clone(fitted).set_params(cv=cv).fit(bags, binary)
    assert_array_equal(split_scores(grouped), split_scores(listed))


def test_cosine_has_no_sigma(bags, binary):
    model = BagMeasureSVCCV(
        metric="cosine", n_instances_to_select=[2], Cs=[5.0], cv=2, tol=0.2, sigmas=[1.0, 2.0]
    ).fit(bags, binary)
    assert len(model.cv_results_["params"]) == 1
    assert model.embedding_.sigma_ is None


def test_budgets_above_the_instances_of_a_part_are_lowered(bags, binary):
    """All bags have more than 100 instances, two thirds of them fewer."""
    n_instances = as_bags(bags).n_instances
    model = BagMeasureSVCCV(sigmas=[1.5], budgets=[2, n_instances], Cs=[1.0], cv=3, tol=0.3)
    model.fit(bags, binary)
    assert_array_equal(model.cv_results_["param_budget"], [2, n_instances])
    with pytest.warns(UserWarning, match=f"budgets up to 1000 are more than the {n_instances}"):
        model.set_params(budgets=[2, 1000]).fit(bags, binary)


def test_progress_is_a_line_for_each_path(bags, binary, capsys):
    BagMeasureSVCCV(**GRID | {"verbose": 1, "Cs": [5.0]}).fit(bags, binary)
    lines = [line for line in capsys.readouterr().err.splitlines() if "split" in line]
    assert len(lines) == 6
    assert lines[0].startswith("[BagMeasureSVCCV] sigma=0.5*median, split 0, C=5: scores ")


def test_one_warning_for_open_gaps(bags, binary):
    model = BagMeasureSVCCV(sigmas=[1.5], budgets=[2], Cs=[500.0], cv=2, max_iter=2, tol=1e-4)
    with pytest.warns(ConvergenceWarning) as caught:
        model.set_params(pos_label="telling").fit(bags, binary)
    of_search, of_model = [str(each.message) for each in caught]
    assert of_search.startswith("2 of the 2 fits of the cross-validation stopped before tol=0.0001")
    assert "at C=500" in of_search
    assert of_model.startswith("class 'telling': the certified gap is")
    assert caught[0].filename == __file__


def test_clone_and_pickle(bags, fitted):
    assert clone(fitted).get_params() == fitted.get_params()
    copy = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copy.decision_function(bags), fitted.decision_function(bags))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigmas": []}, "sigmas is empty"),
        ({"sigmas": "median"}, "sigmas must be a list .* got 'median'"),
        ({"sigmas": 1.0}, "sigmas must be a list"),
        ({"sigmas": [1.0, -2.0]}, r"sigmas\[1\] must be a positive"),
        ({"sigmas": ["mode"]}, r"sigmas\[0\] must be a positive number, 'median'"),
        ({"n_instances_to_select": [0]}, r"n_instances_to_select\[0\] must be an integer"),
        ({"budgets": [2]}, "are both given; give one of them"),
        ({"Cs": [0.0]}, r"Cs\[0\] must be a positive"),
        ({"refit": "worst"}, "refit must be 'best'"),
        ({"cv": KFold(48)}, "test part of split 0 holds no"),
        ({"tol": 0}, "tol must be"),
    ],
)
def test_wrong_parameters_are_refused(bags, binary, parameters, message):
    with pytest.raises(ValueError, match=message):
        BagMeasureSVCCV(**(GRID | parameters)).fit(bags, binary)


def test_wrong_data_is_refused(bags, binary):
    model = BagMeasureSVCCV(**GRID)
    with pytest.raises(ValueError, match="y has 47 labels, but there are 48 bags"):
        model.fit(bags, binary[1:])
    with pytest.raises(ValueError, match="bag 0 is empty"):
        model.fit([np.empty((0, 3)), *bags[1:]], binary)
    with pytest.raises(ValueError, match="sample_weight has 1 weights"):
        model.fit(bags, binary, [1.0])
    with pytest.raises(ValueError, match="one class only"):
        model.fit(bags, np.ones(48))
    with pytest.raises(NotFittedError):
        model.predict(bags)
