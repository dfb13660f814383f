"""Every number on the page, worked out again from the model, the rows and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_curve

from scoresieve import BudgetRegressor, ScoreSieve, baselines
from scoresieve.estimators.operating_point import point_of_scores
from scoresieve.report.contents import MOST_POINTS, page_contents, point_contents
from tests.helpers import sieve_of_bags


@pytest.fixture(scope="module")
def page(looked_at):
    return page_contents(looked_at.sieve, looked_at.X, looked_at.y, looked_at.names)


def test_one_size_for_each_number_that_was_tried(page, looked_at):
    (part,) = page["parts"]
    assert [each["size"] for each in part["sizes"]] == [1, 3, 12]
    chosen = part["sizes"][part["chosen"]]
    assert chosen["size"] == looked_at.sieve.best_params_["n_features_to_select"]
    assert chosen["best"]["score"] == looked_at.sieve.best_score_
    table = looked_at.sieve.cv_results_
    for each in part["sizes"]:
        of_size = table["param_n_features_to_select"] == each["size"]
        assert each["best"]["score"] in table["mean_test_score"][of_size]
        assert each["best"]["error"] in table["std_test_score"][of_size]
    best = np.argmax([each["best"]["score"] for each in part["sizes"]])
    top = part["sizes"][best]["best"]
    assert part["floor"] == pytest.approx(top["score"] - top["error"])


def test_features_of_the_chosen_size_are_those_of_the_model(page, looked_at):
    (part,) = page["parts"]
    features = part["sizes"][part["chosen"]]["model"]["features"]
    w = looked_at.sieve.coef_[0]
    order = sorted(looked_at.sieve.support_, key=lambda j: -abs(w[j]))
    assert features == [[looked_at.names[j], w[j]] for j in order]


def test_confusion_and_curve_are_those_of_scikit_learn(page, looked_at):
    (part,) = page["parts"]
    point = part["sizes"][part["chosen"]]["model"]["point"]
    predicted = looked_at.sieve.predict(looked_at.X)
    assert point["confusion"] == confusion_matrix(looked_at.y, predicted).tolist()
    assert np.sum(point["confusion"]) == looked_at.y.size
    precisions, recalls, _ = precision_recall_curve(
        looked_at.y, looked_at.sieve.decision_function(looked_at.X)
    )
    expected = np.column_stack([recalls, precisions])
    assert len(point["curve"]) <= MOST_POINTS
    assert np.allclose(point["curve"], expected, atol=1e-5)
    assert point["share"] == np.mean(looked_at.y)
    assert page["test"]["score"] == pytest.approx(f1_score(looked_at.y, predicted))


def test_calibration_in_groups_of_equal_size(page, looked_at):
    """Ten of sixteen rows, by hand; scikit-learn's own plot of the model has the same points."""
    (part,) = page["parts"]
    chances = looked_at.sieve.predict_proba(looked_at.X)[:, 1]
    groups = np.array_split(np.argsort(chances), 10)
    expected = [[chances[rows].mean(), looked_at.y[rows].mean()] for rows in groups]
    assert np.allclose(part["calibration"], expected, atol=1e-5)
    pytest.importorskip("matplotlib").use("Agg")
    display = CalibrationDisplay.from_estimator(
        looked_at.sieve, looked_at.X, looked_at.y, n_bins=10, strategy="quantile"
    )
    assert np.allclose(display.prob_pred, [mean for mean, _ in expected])
    assert np.allclose(display.prob_true, [share for _, share in expected])
    display.figure_.clear()


def test_models_without_probabilities_have_no_calibration(looked_at):
    (part,) = page_contents(looked_at.svc, looked_at.X, looked_at.y)["parts"]
    assert part["calibration"] is None
    (part,) = page_contents(looked_at.sieve)["parts"]
    assert part["calibration"] is None
    rows = looked_at.classes != "c"
    found = page_contents(looked_at.several, looked_at.X[rows], looked_at.classes[rows])
    assert [part["calibration"] is None for part in found["parts"]] == [False, False, True]


def test_long_curves_lose_points_but_none_is_moved():
    scores = np.random.default_rng(0).normal(size=2000)
    is_positive = np.arange(2000) % 3 == 0
    found = np.array(point_contents(point_of_scores(is_positive, scores))["curve"])
    precisions, recalls, _ = precision_recall_curve(is_positive, scores)
    expected = np.column_stack([recalls, precisions])
    assert len(found) == MOST_POINTS
    assert np.allclose(found[[0, -1]], expected[[0, -1]], atol=1e-5)
    assert all(np.abs(expected - pair).max(axis=1).min() < 1e-5 for pair in found)


def test_smaller_models_are_worked_out_for_the_test_rows(page, looked_at):
    """The model of one feature, by hand: one column, its weight, its intercept."""
    (part,) = page["parts"]
    smaller = looked_at.sieve.smaller_models_[0][0]
    first = part["sizes"][0]["model"]
    (column,), (weight,) = smaller.columns, smaller.weights
    scores = looked_at.X[:, column] * weight + smaller.decision_intercept
    assert first["features"][0][0] == looked_at.names[column]
    assert first["point"]["confusion"] == confusion_matrix(looked_at.y, scores > 0).tolist()
    assert first["threshold"] == pytest.approx(expit(smaller.threshold))


def test_every_size_has_the_features_of_the_fits_without_one_part(page, looked_at):
    (part,), (selections,) = page["parts"], looked_at.sieve.fold_selections_
    for size, counts in zip(part["sizes"], selections.counts.toarray(), strict=True):
        folds = size["folds"]
        assert folds["n_fits"] == 3
        found = dict(zip(folds["columns"], folds["counts"], strict=True))
        assert found == {j: counts[j] for j in np.flatnonzero(counts)}
        assert folds["names"] == [looked_at.names[j] for j in folds["columns"]]
        assert folds["counts"] == sorted(folds["counts"], reverse=True)


def test_columns_are_those_of_the_names(page, looked_at):
    for size in page["parts"][0]["sizes"]:
        if size["model"] is not None:
            names = [name for name, _ in size["model"]["features"]]
            assert names == [looked_at.names[j] for j in size["model"]["columns"]]


def test_models_that_choose_nothing_know_of_no_fits(looked_at):
    (part,) = page_contents(looked_at.svc)["parts"]
    assert [size["folds"] for size in part["sizes"]] == [None]


def test_sizes_above_the_chosen_one_have_no_model(looked_at):
    model = looked_at.sieve
    (part,) = page_contents(model)["parts"]
    n_kept = len(model.smaller_models_[0])
    assert [each["model"] is not None for each in part["sizes"]] == [
        place < n_kept for place in range(3)
    ]
    assert part["chosen"] == n_kept - 1 < 2


def test_without_rows_there_is_nothing_about_them(looked_at):
    found = page_contents(looked_at.svc)
    assert found["test"] is None
    (part,) = found["parts"]
    assert part["sizes"][0]["model"]["point"] is None
    assert part["sizes"][0]["best"] is None
    assert dict(part["facts"])["certificate"].startswith("the best model with at most 3 features")


def test_each_class_has_its_own_point(looked_at):
    found = page_contents(looked_at.several, looked_at.X, looked_at.classes)
    for label, part in zip("abc", found["parts"], strict=True):
        model = part["sizes"][part["chosen"]]["model"]
        assert np.sum(model["point"]["confusion"][1]) == np.sum(looked_at.classes == label)
        sizes = [each["model"] for each in part["sizes"] if each["model"]]
        assert all(np.sum(each["point"]["confusion"]) == looked_at.y.size for each in sizes)


def test_several_classes_begin_with_an_overview(looked_at):
    model, X, y = looked_at.several, looked_at.X, looked_at.classes
    found, predicted = page_contents(model, X, y), model.predict(X)
    test, columns = found["test"], dict(found["overview"]["columns"])
    assert test["score"] == pytest.approx(f1_score(y, predicted, average="macro"))
    assert test["confusion"]["labels"] == columns["class"] == ["a", "b", "c"]
    assert test["confusion"]["counts"] == confusion_matrix(y, predicted).tolist()
    assert columns["score"] == [f"{each:.3f}" for each in model.best_score_]
    own = f1_score(y, predicted, average=None)
    for label, part, score in zip("abc", found["parts"], own, strict=True):
        point = part["sizes"][part["chosen"]]["model"]["point"]
        assert point["score"] == pytest.approx(score)
        assert point["confusion"] == confusion_matrix(y == label, predicted == label).tolist()


def test_a_smaller_model_of_one_class_is_compared_with_the_others(looked_at):
    model, X, y = looked_at.several, looked_at.X, looked_at.classes
    number = next(n for n, kept in enumerate(model.smaller_models_) if len(kept) > 1)
    one, decision = model.smaller_models_[number][0], model.decision_function(X).copy()
    decision[:, number] = X[:, one.columns] @ one.weights + one.intercept
    is_it, found = y == "abc"[number], page_contents(model, X, y)["parts"][number]
    expected = confusion_matrix(is_it, np.argmax(decision, axis=1) == number).tolist()
    assert found["sizes"][0]["model"]["point"]["confusion"] == expected


def test_two_classes_have_no_overview(page):
    assert page["overview"] is None
    assert page["test"]["confusion"] is None


def test_a_class_that_the_rows_lack_has_no_point(looked_at):
    rows = looked_at.classes != "c"
    found = page_contents(looked_at.several, looked_at.X[rows], looked_at.classes[rows])
    points = [part["sizes"][part["chosen"]]["model"]["point"] for part in found["parts"]]
    assert [point is None for point in points] == [False, False, True]


def test_regressions_rivals_and_bags(looked_at):
    X, target = looked_at.X, looked_at.X[:, 0]
    model = BudgetRegressor(n_features_to_select=1).fit(X, target)
    found = page_contents(model, X, target)
    assert found["test"]["measure"] == "R^2"
    assert found["test"]["score"] == pytest.approx(model.score(X, target))
    rival = baselines.L1SVM(n_features_to_select=2).fit(looked_at.X_train, looked_at.y_train)
    (part,) = page_contents(rival, X, looked_at.y)["parts"]
    assert part["sizes"][0]["model"]["point"]["price"] is None
    (part,) = page_contents(*sieve_of_bags(1.0))["parts"]
    assert part["noun"] == "instances"
    assert all(size["folds"] is None for size in part["sizes"])  # other instances in each fit
    assert part["sizes"][part["chosen"]]["model"]["point"]["confusion"] == [[20, 0], [0, 10]]


def test_the_first_class_may_be_the_positive_one(looked_at):
    model = ScoreSieve("f1", n_features_to_select=[1, 2], pos_label=False, Cs=[1.0], cv=3)
    model.set_params(candidates=["squared_hinge"]).fit(looked_at.X_train, looked_at.y_train)
    (part,) = page_contents(model, looked_at.X, looked_at.y)["parts"]
    point = part["sizes"][part["chosen"]]["model"]["point"]
    assert (
        point["confusion"] == confusion_matrix(~looked_at.y, ~model.predict(looked_at.X)).tolist()
    )
