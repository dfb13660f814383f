"""What every classifier of the package has in common: the meaning of its score and its gap."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logit
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

import scoresieve
from scoresieve import (
    BudgetClassifier,
    BudgetRegressor,
    MeasureSVC,
    baselines,
    budget_path,
    certify,
    mil,
    solve,
)

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


def labels_by_class(model, y):
    """The labels of each class against the rest, and its sign in the decision."""
    if np.ndim(y) == 2:
        return list(np.asarray(y).T)
    classes = model.classes_[1:] if model.classes_.size == 2 else model.classes_
    return [y == label for label in classes]


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


def above_thresholds(model, kind, decision):
    """A sieve's decisions for several classes are log-odds, each with a threshold of its own."""
    if kind == "three_classes" and hasattr(model, "thresholds_"):
        return decision - logit(model.thresholds_)
    return decision


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETTINGS)
def test_the_score_is_the_measure_or_the_accuracy(name, kind, fitted):
    """A measure is the mean over the classes against the rest; the accuracy is scikit-learn's."""
    model, form, X, y = fitted(name, kind)
    decision = above_thresholds(model, kind, model.decision_function(form(X)))
    decision = np.reshape(decision, (len(X), -1))
    if hasattr(model, "measure"):
        metric = METRICS[model.measure_.name]
        columns = zip(labels_by_class(model, y), decision.T, strict=True)
        expected = np.mean([metric(labels, column) for labels, column in columns])
    else:
        assert not hasattr(model, "measure_")
        expected = accuracy_score(y, model.predict(form(X)))
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
    found = model.score(form(X[some]), y[some])
    labels = (y[some, np.newaxis] == model.classes_).T
    decision = model.decision_function(form(X[some]))
    decision = above_thresholds(model, "three_classes", decision).T
    if not hasattr(model, "measure"):
        expected = accuracy_score(y[some], model.predict(form(X[some])))
    elif model.measure == "accuracy":  # it is defined for labels of one kind
        expected = np.mean(labels == (decision > 0))
    else:
        metric = METRICS[model.measure]
        expected = np.mean([metric(labels[c], decision[c]) for c in (0, 1)])
        with pytest.raises(ValueError, match="one class only"):
            clone(model).fit(form(X[some]), y[some]).score(form(X[y == 3]), y[y == 3])
    assert found == pytest.approx(expected)


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
