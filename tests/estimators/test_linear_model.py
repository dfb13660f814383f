"""What every classifier of the package has in common: the meaning of its score and its gap."""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logit
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    fbeta_score,
    jaccard_score,
    matthews_corrcoef,
    roc_auc_score,
)

import scoresieve
from scoresieve import (
    BudgetClassifier,
    BudgetRegressor,
    Contingency,
    MeasureSVC,
    baselines,
    budget_path,
    certify,
    mil,
    solve,
)
from scoresieve.estimators.linear_model import margins

#: A quick fit of each classifier; its score is no matter of how the price was found.
SETTINGS = {
    "MeasureSVC": {"C": 3.0, "price": 0.5},
    "ScoreSieve": {
        "n_features_to_select": 3,
        "candidates": ["squared_hinge"],
        "Cs": [1.0],
        "cv": 2,
    },
    "BudgetClassifier": {"budget": 3},
    "BagMeasureSVC": {"budget": 50, "C": 3.0, "sigma": 1.5, "price": 0.5},
    "BagScoreSieve": {
        "n_instances_to_select": 3,
        "candidates": ["squared_hinge"],
        "Cs": [1.0],
        "sigmas": [1.5],
        "cv": 2,
    },
    "FGM": {"budget": 3},
    "FSMulti": {"C": 0.5, "tol": 0.3, "inner_tol": 0.1, "fit_intercept": True},
    "L0SVM": {"n_features_to_select": 3},
    "L1BundleSVM": {"C": 3.0},
    "L1SVM": {},
    "MILES": {"sigma": 1.5, "tol": 0.1},
    "MeanInstanceSVM": {},
    "NMMKL": {"budget": 3},
    "SVMPerf": {"C": 3.0},
    "SVMRFE": {"n_features_to_select": 3},
    "SquaredL1SVM": {"C": 3.0},
}
CLASSIFIERS = {
    name: each
    for package in (scoresieve, mil, baselines)
    for name, each in ((name, getattr(package, name)) for name in package.__all__)
    if inspect.isclass(each) and issubclass(each, ClassifierMixin)
}
#: Measures as scikit-learn computes them, from labels and decisions.
METRICS = {
    "f1": lambda y, decision: f1_score(y, decision > 0),
    "accuracy": lambda y, decision: accuracy_score(y, decision > 0),
    "roc_auc": roc_auc_score,
}
KINDS = ["binary", "three_classes", "indicators"]


def as_bags(X):
    """Each row as a bag of two instances."""
    return [np.vstack([row[:4], row[4:8]]) for row in X]


def made(name, **params):
    """The classifier, and what it takes as X."""
    kind = CLASSIFIERS[name]
    takes_bags = not kind().__sklearn_tags__().input_tags.two_d_array
    return kind(**SETTINGS[name] | params), as_bags if takes_bags else np.asarray


@pytest.fixture(scope="module")
def fitted(request):
    """``fitted(name, kind)`` gives the classifier, fitted once, what it takes as X, X and y."""
    known = {}

    def get(name, kind):
        X, y = request.getfixturevalue(kind)
        model, form = made(name)
        if (name, kind) not in known:
            known[name, kind] = model.fit(form(X), y)
        return known[name, kind], form, X, y

    return get


def test_every_classifier_is_here():
    assert set(SETTINGS) == set(CLASSIFIERS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETTINGS)
def test_the_score_is_that_of_predict(name, kind, fitted):
    """F1 is the mean over the classes; the accuracy is scikit-learn's."""
    model, form, X, y = fitted(name, kind)
    predicted = model.predict(form(X))
    if not hasattr(model, "measure"):
        assert not hasattr(model, "measure_")
        expected = accuracy_score(y, predicted)
    elif model.measure == "accuracy" and kind == "indicators":
        expected = np.mean(y == predicted)
    else:
        of_two = {"average": "binary", "pos_label": "yes"}
        average = of_two if kind == "binary" else {"average": "macro"}
        expected = {"f1": partial(f1_score, **average), "accuracy": accuracy_score}[model.measure](
            y, predicted
        )
    assert model.score(form(X), y) == pytest.approx(expected)
    assert 0.4 < expected <= 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETTINGS)
def test_the_rows_of_the_highest_scores(name, kind, fitted):
    """Of one class each, by decisions in Python; a tie goes to the first row."""
    model, form, X, _ = fitted(name, kind)
    X = np.vstack([X[::-1], X])  # each row twice
    decision = np.reshape(model.decision_function(form(X)), (len(X), -1))
    labels = model.classes_[1:] if kind == "binary" else model.classes_
    for label, scores in zip(labels, decision.T, strict=True):
        expected = sorted(range(len(X)), key=lambda row: (-scores[row], row))
        assert model.predict_top(form(X), 7, label=label).tolist() == expected[:7]
        assert model.predict_top(form(X), len(X), label=label).tolist() == expected
    if kind == "binary":
        assert model.predict_top(form(X), 7).tolist() == expected[:7]


def test_the_highest_scores_of_the_class_that_was_named_positive(binary):
    X, y = binary
    model = MeasureSVC("f1", n_features_to_select=2, pos_label="no").fit(X, y)
    assert np.all(y[model.predict_top(X, 10)] == "no")


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("binary", {"k": 0}, "k must be an integer of at least 1; got 0"),
        ("binary", {"k": 0.01}, "k must be an integer of at least 1; got 0.01"),
        ("binary", {"k": 81}, "k=81 is more than the 80 rows of X; lower k"),
        ("binary", {"k": 5, "label": "no"}, r"label='no' is not a class .* give one of \['yes'\]"),
        ("three_classes", {"k": 5}, r"label=None is not a class .* give one of \[3, 5, 8\]"),
        ("indicators", {"k": 5, "label": 4}, r"label=4 is not a class .* \[0, 1, 2, 3\]"),
    ],
)
def test_wrong_calls_for_the_highest_scores(kind, arguments, message, fitted):
    model, form, X, _ = fitted("MeasureSVC", kind)
    with pytest.raises(ValueError, match=message):
        model.predict_top(form(X), **arguments)


#: As scikit-learn has them for the labels of several classes.
OF_PREDICTIONS = {
    "f1": partial(f1_score, average="macro"),
    "f0.5": partial(fbeta_score, beta=0.5, average="macro"),
    "jaccard": partial(jaccard_score, average="macro"),
    "mcc": matthews_corrcoef,
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
}


@pytest.mark.parametrize("measure", OF_PREDICTIONS)
@pytest.mark.parametrize("name", ["MeasureSVC", "ScoreSieve"])
def test_measures_of_labels_of_several_classes(name, measure, three_classes):
    """Of noise as well: there thresholds of each class alone predict several classes or none."""
    X, y = three_classes
    y = np.where(np.arange(90) % 3 == 0, np.roll(y, 1), y)
    model, _ = made(name, measure=measure)
    model.fit(X, y)
    predicted = model.predict(X)
    assert len(np.unique(predicted)) == 3
    assert model.score(X, y) == pytest.approx(OF_PREDICTIONS[measure](y, predicted))
    some = y != 8
    if measure == "balanced_accuracy":  # scikit-learn warns of the class 8 among the predictions
        recalls = [np.mean(predicted[y == label] == label) for label in (3, 5)]
        assert model.score(X[some], y[some]) == pytest.approx(np.mean(recalls))


def test_a_function_of_the_table_is_averaged_over_the_predicted_classes(three_classes):
    X, y = three_classes
    model = MeasureSVC(Contingency(mean_recall), C=3.0, price=0.5, budget=2).fit(X, y)
    predicted = model.predict(X)
    expected = [balanced_accuracy_score(y == c, predicted == c) for c in model.classes_]
    assert model.score(X, y) == pytest.approx(np.mean(expected))


def mean_recall(tp, fp, fn, tn):
    return (tp / (tp + fn) + tn / (tn + fp)) / 2


@pytest.mark.parametrize("measure", ["roc_auc", "average_precision", "prec@10", "prbep"])
def test_measures_of_scores_are_those_of_each_class_alone(measure, three_classes):
    X, y = three_classes
    model, _ = made("ScoreSieve", measure=measure)
    decision = model.fit(X, y).decision_function(X)
    expected = [
        model.measure_.score(np.where(y == c, 1.0, -1.0), column)
        for c, column in zip(model.classes_, decision.T, strict=True)
    ]
    assert model.score(X, y) == pytest.approx(np.mean(expected))


def test_a_floor_is_one_of_each_class_at_its_threshold(three_classes):
    X, y = three_classes
    model, _ = made("ScoreSieve", measure="recall@precision>=0.8")
    alone = model.fit(X, y).decision_function(X) - logit(model.thresholds_)
    expected = [
        model.measure_.score(np.where(y == c, 1.0, -1.0), column)
        for c, column in zip(model.classes_, alone.T, strict=True)
    ]
    assert model.score(X, y) == pytest.approx(np.mean(expected))


def test_the_first_of_equal_classes_is_the_predicted_one():
    decision = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]])
    found = margins(decision)
    assert (found > 0).tolist() == [[True, False, False], [False, True, False]]
    assert_allclose(found, [[0, 0, -1], [-2, 1, -1]], atol=1e-300)


@pytest.mark.parametrize("name", SETTINGS)
def test_scores_count_rows_by_their_weights(name, fitted):
    model, form, X, y = fitted(name, "three_classes")
    weights = np.random.default_rng(0).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    expected = model.score(form(X[rows]), y[rows])
    assert model.score(form(X), y, sample_weight=weights) == pytest.approx(expected)
    assert expected != model.score(form(X), y)


@pytest.mark.parametrize("name", SETTINGS)
def test_classes_that_y_does_not_hold_are_left_out_of_a_measure(name, fitted):
    model, form, X, y = fitted(name, "three_classes")
    some = y != 8
    predicted = model.predict(form(X[some]))
    if getattr(model, "measure", "accuracy") == "accuracy":  # defined for labels of one kind
        expected = accuracy_score(y[some], predicted)
    else:
        expected = f1_score(y[some], predicted, labels=[3, 5], average="macro")
        with pytest.raises(ValueError, match="one class only"):
            clone(model).fit(form(X[some]), y[some]).score(form(X[y == 3]), y[y == 3])
    assert model.score(form(X[some]), y[some]) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:.*no better than predicting a constant")
@pytest.mark.parametrize("measure", ["f1", "accuracy", "roc_auc"])
@pytest.mark.parametrize(
    "name", [name for name, kind in CLASSIFIERS.items() if "measure" in kind().get_params()]
)
def test_any_measure_is_the_score(name, measure, binary):
    X, y = binary
    own_price = {"price": "auto"} if "price" in SETTINGS[name] else {}
    model, form = made(name, measure=measure, **own_price)
    model.fit(form(X), y == "yes")
    expected = METRICS[measure](y == "yes", model.decision_function(form(X)))
    assert model.score(form(X), y == "yes") == pytest.approx(expected)


@pytest.mark.parametrize("name", [*SETTINGS, "BudgetRegressor"])
def test_bounds_have_one_name(name, binary, fitted):
    """``primal_``, ``dual_`` and ``gap_``, all or none; a certificate agrees with them."""
    if name == "BudgetRegressor":
        X, form = binary[0], np.asarray
        y = X[:, 0] - X[:, 1]
        model = BudgetRegressor(budget=3).fit(X, y)
    else:
        model, form, X, y = fitted(name, "binary")
    has_bounds = [hasattr(model, bound) for bound in ("primal_", "dual_", "gap_")]
    assert len(set(has_bounds)) == 1
    assert not hasattr(model, "dual_gap_")
    if has_bounds[0]:
        assert_allclose(model.gap_, (model.primal_ - model.dual_) / model.primal_, atol=1e-15)
    if hasattr(model, "certify"):
        certificate = model.certify(form(X), y)
        assert_allclose(certificate.gap, np.ravel(model.gap_)[0], atol=1e-9)
        assert_allclose(certificate.primal, np.ravel(model.primal_)[0], rtol=1e-9)
        assert_allclose(certificate.dual, np.ravel(model.dual_)[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        ({"measure": "f1"}, MeasureSVC("f1", budget=3, C=3.0, tol=0.05)),
        ({"loss": "squared_hinge"}, BudgetClassifier("squared_hinge", budget=3, C=3.0, tol=0.05)),
        ({"loss": "hinge"}, BudgetClassifier("hinge", budget=3, C=3.0, tol=0.05)),
    ],
)
def test_the_gap_is_one_number_everywhere(kind, model, binary):
    """Of a result, a path, an estimator, and recomputed by a certificate."""
    X, y = binary
    signs = np.where(y == "yes", 1.0, -1.0)
    settings = {**kind, "C": 3.0, "intercept_scaling": 1.0}
    result = solve(X, signs, budget=3, tol=0.05, **settings)
    path = budget_path(X, y, [3], tol=0.05, **kind, C=3.0)
    model.fit(X, y)
    assert result.gap == path.gap[0] == path.results[0].gap == model.gap_[0] <= 0.05
    if "measure" in kind:
        settings["price"] = result.price
    found = certify(
        X, signs, result.w, result.dual_point, intercept=result.intercept, budget=3, **settings
    )
    assert found.gap == pytest.approx(result.gap, abs=1e-9)
    assert model.certify(X, y).gap == found.gap
    assert np.isnan(result.l0_gap)
